//! Whether annotators divide into two camps.
//!
//! Where the camps are of similar size, the scores are between theirs, and everybody follows them a little. But
//! the annotators then differ from the scores in one direction of all items together: one camp upwards, the
//! other downwards. With g the sum of the slopes of an annotator's votes and D the information of each item, this
//! direction v maximises
//!
//! λ = Σ_annotators (gᵀv)² / vᵀDv,
//!
//! which power iterations find; gᵀv says who is in which camp. Without camps, λ is about φ (1 + √(r/G))², for G
//! annotators, r scores and the mean φ of all directions (the edge of Marchenko and Pastur's distribution).
//!
//! People who prefer one item, whatever it is compared with, are no camp: their direction is that of one item.
//!
//! Cost: [`ITERATIONS`] passes over at most about [`MAX_VOTES`] votes, those of a sample of the annotators.

use super::blocks::SidedVote;
use super::search::Search;

/// Votes that are looked at, on all processes.
const MAX_VOTES: f64 = 50_000.0;
const ITERATIONS: usize = 12;
/// How far λ must exceed what it is without camps.
const MIN_EXCESS: f64 = 1.0;
/// Annotators whose answers follow the scores less than this are in no camp.
const MIN_FOLLOWS: f64 = 0.2;
/// Largest share of a direction that one item may have.
const MAX_ITEM_SHARE: f64 = 0.6;

/// For each block, 1 if its annotator is in the smaller camp, and 0 otherwise; none if there are no camps.
/// Collective.
pub(super) fn find(search: &Search<'_>) -> Option<Vec<f64>> {
    let slopes = AnnotatorSlopes::new(search)?;
    let direction = slopes.direction(search);
    let excess = direction.value / slopes.edge();
    if excess < MIN_EXCESS || direction.largest_share > MAX_ITEM_SHARE {
        return None;
    }
    // Of everybody, not only of the sample.
    let side = |block: usize| match search.follows(block) {
        follows if follows < MIN_FOLLOWS => 0.0,
        follows => follows * along(search, block, &direction.items).signum(),
    };
    let sides: Vec<f64> = (0..search.annotators()).map(side).collect();
    let is_up_smaller = search.communicator().sum_scalar(sides.iter().sum()) < 0.0;
    let is_in = |block: usize| {
        let side = sides.get(block).copied().unwrap_or(0.0);
        side != 0.0 && (side > 0.0) == is_up_smaller
    };
    Some((0..search.blocks.len()).map(|block| f64::from(u8::from(is_in(block)))).collect())
}

/// The direction in which annotators differ most.
struct Direction {
    items: Vec<f64>,
    /// λ.
    value: f64,
    /// The largest share of one item.
    largest_share: f64,
}

/// The annotators of the sample, and the information about each item.
struct AnnotatorSlopes {
    blocks: Vec<usize>,
    information: Vec<f64>,
    /// G.
    annotators: f64,
    /// r.
    rank: f64,
    /// φ.
    mean: f64,
}

impl AnnotatorSlopes {
    /// None if there is nothing to divide.
    fn new(search: &Search<'_>) -> Option<Self> {
        let communicator = search.communicator();
        let votes = communicator.sum_scalar(search.blocks.votes() as f64);
        let share = MAX_VOTES / votes.max(1.0);
        let is_in = |&block: &usize| {
            search.follows(block) >= MIN_FOLLOWS
                && (share >= 1.0 || is_sampled(search, block, share))
        };
        let blocks: Vec<usize> = (0..search.annotators()).filter(is_in).collect();
        let n = search.scores.len();
        // The squares of the slopes at each item behind its information.
        let mut sums = vec![0.0; 2 * n];
        let mut own = vec![0.0; n];
        for &block in &blocks {
            let follows = search.follows(block);
            for vote in search.blocks.block(block) {
                let (slope, information) = slope_of(search, &vote);
                let (i, j) = (vote.left as usize, vote.right());
                own[i] += follows * slope;
                own[j] -= follows * slope;
                sums[i] += follows * follows * information;
                sums[j] += follows * follows * information;
            }
            for vote in search.blocks.block(block) {
                for item in [vote.left as usize, vote.right()] {
                    sums[n + item] += own[item] * own[item];
                    own[item] = 0.0;
                }
            }
        }
        communicator.sum(&mut sums);
        let annotators = communicator.sum_scalar(blocks.len() as f64);
        let squares = sums.split_off(n);
        let known = sums.iter().filter(|own| **own > 0.0).count() as f64;
        let trace: f64 = squares
            .iter()
            .zip(&sums)
            .map(|(square, own)| square / own.max(f64::MIN_POSITIVE))
            .sum();
        let rank = (known - search.graph.components().len() as f64).max(1.0);
        let found = Self { blocks, information: sums, annotators, rank, mean: trace / rank };
        (annotators >= 4.0 && known > 2.0).then_some(found)
    }

    /// λ without camps.
    fn edge(&self) -> f64 {
        self.mean * (1.0 + (self.rank / self.annotators).sqrt()).powi(2)
    }

    fn direction(&self, search: &Search<'_>) -> Direction {
        let n = self.information.len();
        // Any start will do that is not orthogonal to the direction.
        let start = |i: usize| (hash(i as u64) % 2048) as f64 / 1024.0 - 1.0;
        let mut items: Vec<f64> = (0..n).map(start).collect();
        let mut value = 0.0;
        for _ in 0..ITERATIONS {
            let norm: f64 = items.iter().zip(&self.information).map(|(v, own)| own * v * v).sum();
            let per_norm = 1.0 / norm.max(f64::MIN_POSITIVE).sqrt();
            items.iter_mut().for_each(|v| *v *= per_norm);
            // The last entry is λ.
            let mut sums = vec![0.0; n + 1];
            for &block in &self.blocks {
                let along = along(search, block, &items);
                let factor = along * search.follows(block);
                for vote in search.blocks.block(block) {
                    let slope = factor * slope_of(search, &vote).0;
                    sums[vote.left as usize] += slope;
                    sums[vote.right()] -= slope;
                }
                sums[n] += along * along;
            }
            search.communicator().sum(&mut sums);
            value = sums[n];
            for (v, (sum, own)) in items.iter_mut().zip(sums.iter().zip(&self.information)) {
                *v = if *own > 0.0 { sum / own } else { 0.0 };
            }
        }
        let squares = || items.iter().zip(&self.information).map(|(v, own)| own * v * v);
        let largest_share =
            squares().fold(0.0, f64::max) / squares().sum::<f64>().max(f64::MIN_POSITIVE);
        Direction { items, value, largest_share }
    }
}

/// gᵀv of an annotator.
fn along(search: &Search<'_>, block: usize, items: &[f64]) -> f64 {
    let of_vote = |vote: SidedVote| {
        slope_of(search, &vote).0 * (items[vote.left as usize] - items[vote.right()])
    };
    search.follows(block) * search.blocks.block(block).map(of_vote).sum::<f64>()
}

/// The slope of a vote as an honest one, and its information.
fn slope_of(search: &Search<'_>, vote: &SidedVote) -> (f64, f64) {
    let Some(side) = vote.side() else { return (0.0, 0.0) };
    let d = search.scores[vote.left as usize] - search.scores[vote.right()] + search.side_advantage;
    let p = 1.0 / (1.0 + (-d).exp());
    let (slope, count) = (if side == 0 { 1.0 - p } else { -p }, f64::from(vote.count));
    (count * slope, count * p * (1.0 - p))
}

/// Whether an annotator is in the sample: by a hash of their votes, which does not depend on the process or the
/// order of the rows.
fn is_sampled(search: &Search<'_>, block: usize, share: f64) -> bool {
    let of_vote = |vote: SidedVote| {
        let pair = u64::from(vote.left) << 32 | vote.right() as u64;
        hash(pair).wrapping_mul(u64::from(vote.count))
    };
    let sum = search.blocks.block(block).fold(0_u64, |sum, vote| sum.wrapping_add(of_vote(vote)));
    (hash(sum) >> 11) as f64 / (1_u64 << 53) as f64 <= share
}

/// The finaliser of SplitMix64.
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
