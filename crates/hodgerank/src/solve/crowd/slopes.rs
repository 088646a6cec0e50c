//! The slopes of the log-likelihood in the scores: one pass over all votes.
//!
//! Each vote counts by the probability that it is honest or contrary, given the probability of each
//! behaviour of its annotator. Where most annotators are certainly careful, sums over pairs give those of
//! all votes as careful ones, and the pass corrects them by the votes of the others.
//!
//! Sums over items are in fixed-point integers: they are exact, so that the result is the same for
//! any number of threads and any order of the votes.

use rayon::prelude::*;

use super::behaviour::{Behaviour, SIDED_POINTS, SYMMETRIC_POINTS, sum_of_points};
use super::blocks::{Blocks, SidedVote};
use super::graded::Residuals;
use super::likelihood::{MIN_PROBABILITY, POINTS, ScoreModel};
use crate::numeric::power_of_two_below;
use crate::solve::bradley_terry::PairPass;

/// Behaviours that are less probable than this do not count.
const MIN_RESPONSIBILITY: f64 = 1e-4;
/// Smallest probability of the other answer to divide by.
const MIN_REST: f64 = 1e-9;
/// Largest unit of fixed-point sums, and the largest sum that fits.
const MAX_UNIT: f64 = 4_294_967_296.0;
const MAX_SUM: f64 = 4_611_686_018_427_387_904.0;
/// Tasks per thread, for balance.
const TASKS_PER_THREAD: usize = 4;
/// With more items, one task per thread: each has sums for all items.
const MANY_ITEMS: usize = 100_000;
/// Largest magnitude of a score whose exponential is taken.
pub(super) const MAX_SCORE: f64 = 300.0;

/// P(answer) = slope · p + offset of each behaviour, p the probability that an honest answer is the
/// same.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    slope: [f64; POINTS],
    /// For answers left and right.
    offset: [[f64; POINTS]; 2],
    honest: [f64; POINTS],
    contrary: [f64; POINTS],
}

impl Lines {
    pub(super) fn new(points: &[Behaviour]) -> Self {
        let mut lines = Self {
            slope: [0.0; POINTS],
            offset: [[0.5; POINTS]; 2],
            honest: [0.0; POINTS],
            contrary: [0.0; POINTS],
        };
        for (k, point) in points.iter().enumerate() {
            lines.slope[k] = point.honest - point.contrary;
            lines.offset[0][k] = point.contrary + point.left;
            lines.offset[1][k] = point.contrary + point.right;
            (lines.honest[k], lines.contrary[k]) = (point.honest, point.contrary);
        }
        lines
    }
}

/// Sums over the votes of an item.
#[derive(Debug, Clone, Copy, Default)]
struct ItemSums {
    gradient: i64,
    information: i64,
}

impl ItemSums {
    fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.information += other.information;
    }
}

/// The result of a pass.
#[derive(Debug, Clone)]
pub(super) struct Slopes {
    /// ∂/∂θ of the log-likelihood.
    pub(super) gradient: Vec<f64>,
    /// The information of each item's votes.
    pub(super) information: Vec<f64>,
    /// The same for the side advantage.
    pub(super) side_gradient: f64,
    pub(super) side_information: f64,
    /// Honest ties, and expected ones.
    pub(super) ties: f64,
    pub(super) expected_ties: f64,
    /// For graded votes, the residuals of each block.
    pub(super) residuals: Vec<Residuals>,
}

impl Slopes {
    /// Adds sums over pairs, which know nothing about sides.
    pub(super) fn add_pairs(&mut self, pass: &PairPass) {
        self.gradient.iter_mut().zip(&pass.gradient).for_each(|(sum, own)| *sum += own);
        self.information.iter_mut().zip(&pass.information).for_each(|(sum, own)| *sum += own);
        self.ties += pass.ties;
        self.expected_ties += pass.expected_ties;
    }
}

/// Sums of one task.
pub(super) struct TaskSums {
    /// Fixed-point numbers are multiples of the inverse of this.
    unit: f64,
    items: Vec<ItemSums>,
    side: ItemSums,
    ties: i64,
    expected_ties: i64,
    pub(super) residuals: Vec<Residuals>,
}

impl TaskSums {
    fn new(items: usize, unit: f64) -> Self {
        let items = vec![ItemSums::default(); items];
        let side = ItemSums::default();
        Self { unit, items, side, ties: 0, expected_ties: 0, residuals: Vec::new() }
    }

    /// The blocks of `other` follow.
    fn add(mut self, other: Self) -> Self {
        for (sums, other) in self.items.iter_mut().zip(other.items) {
            sums.add(other);
        }
        self.side.add(other.side);
        self.ties += other.ties;
        self.expected_ties += other.expected_ties;
        self.residuals.extend(other.residuals);
        self
    }

    #[inline]
    pub(super) fn add_vote(&mut self, vote: &SidedVote, slope: &VoteSlope) {
        // Rounded before it is multiplied: a count is the same as so many votes.
        let count = i64::from(vote.count);
        let gradient = count * self.fixed(slope.gradient);
        let information = count * self.fixed(slope.information);
        self.items[vote.left as usize].add(ItemSums { gradient, information });
        self.items[vote.right()].add(ItemSums { gradient: -gradient, information });
        self.side.add(ItemSums { gradient, information });
    }

    /// A number as a fixed-point integer.
    #[inline]
    fn fixed(&self, x: f64) -> i64 {
        /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits.
        const SHIFT: f64 = 6_755_399_441_055_744.0;
        let scaled = x * self.unit;
        // Conversions that check for overflow take a third of the time of a vote.
        match scaled.abs() < (1_u64 << 50) as f64 {
            true => (scaled + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64,
            false => scaled as i64,
        }
    }

    fn real(&self, x: i64) -> f64 {
        x as f64 / self.unit
    }
}

/// Adds up all blocks; the contribution of a vote is at most `bound`.
pub(super) fn sum_blocks(
    blocks: &Blocks<'_>,
    items: usize,
    bound: f64,
    add_block: impl Fn(usize, &mut TaskSums) + Sync,
) -> Slopes {
    let most = (MAX_SUM / (bound * blocks.total().max(1.0))).min(MAX_UNIT);
    let unit = power_of_two_below(most);
    let per_thread = if items > MANY_ITEMS { 1 } else { TASKS_PER_THREAD };
    let tasks = blocks.split(per_thread * rayon::current_num_threads());
    let run = |range: std::ops::Range<usize>| {
        let mut sums = TaskSums::new(items, unit);
        range.for_each(|block| add_block(block, &mut sums));
        sums
    };
    let sums = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(run)
        .reduce_with(TaskSums::add)
        .unwrap_or_else(|| TaskSums::new(items, unit));
    Slopes {
        gradient: sums.items.iter().map(|own| sums.real(own.gradient)).collect(),
        information: sums.items.iter().map(|own| sums.real(own.information)).collect(),
        side_gradient: sums.real(sums.side.gradient),
        side_information: sums.real(sums.side.information),
        ties: sums.real(sums.ties),
        expected_ties: sums.real(sums.expected_ties),
        residuals: sums.residuals,
    }
}

/// What the sums over votes start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Nothing: every vote is added.
    Nothing,
    /// All votes as those of careful annotators, which sums over pairs give: only the votes of others are
    /// visited, and add what is different about them.
    AllCareful,
}

/// Whether an annotator with these probabilities of behaviours counts as careful.
pub(super) fn is_certainly_careful(responsibility: &[f32; POINTS]) -> bool {
    f64::from(responsibility[0]) > 1.0 - MIN_RESPONSIBILITY
}

/// Passes over the votes; `responsibility` has the probability of each behaviour for each block.
pub(super) fn slopes(
    blocks: &Blocks<'_>,
    lines: &Lines,
    responsibility: &[[f32; POINTS]],
    at: &ScoreModel<'_>,
    base: Base,
) -> Slopes {
    let items = at.scores.len();
    let odds = |score: &f64| score.clamp(-MAX_SCORE, MAX_SCORE).exp();
    let pass = Pass {
        odds: at.scores.iter().map(odds).collect(),
        half_advantage: (0.5 * at.side_advantage).exp(),
        tie_odds: at.tie_odds,
        lines,
        base,
    };
    // Gradient and information of a vote are at most one each, and so are those of its tie and of a
    // careful annotator.
    sum_blocks(blocks, items, 3.0, |block, sums| {
        pass.add_block(blocks.block(block), &responsibility[block], sums);
    })
}

/// What a pass needs besides the votes.
struct Pass<'a> {
    /// e^θ of each item.
    odds: Vec<f64>,
    /// e^(b/2): half of the advantage for the left side, half against the right one.
    half_advantage: f64,
    tie_odds: f64,
    lines: &'a Lines,
    base: Base,
}

/// What a vote adds to the sums.
pub(crate) struct VoteSlope {
    /// ∂/∂d of the log-likelihood.
    pub(crate) gradient: f64,
    /// −∂²/∂d², expected.
    pub(crate) information: f64,
}

/// The behaviours that an annotator may have: those that treat both sides alike, those for the left, and
/// those for the right, as in `sum_of_points`.
pub(super) struct ActivePoints {
    points: [ActivePoint; POINTS],
    ends: [usize; 3],
    is_only_careful: bool,
}

impl ActivePoints {
    pub(super) fn new(lines: &Lines, responsibility: &[f32; POINTS]) -> Self {
        let mut points = [ActivePoint::default(); POINTS];
        let (mut number, mut ends) = (0, [0; 3]);
        let mut is_only_careful = true;
        for (k, probability) in likely(responsibility) {
            let Lines { slope, offset, honest, contrary } = lines;
            let (slope, honest, contrary) = (slope[k], honest[k], contrary[k]);
            let offset = [offset[0][k], offset[1][k]];
            points[number] = ActivePoint { probability, slope, offset, honest, contrary };
            number += 1;
            let first = usize::from(k >= SYMMETRIC_POINTS)
                + usize::from(k >= SYMMETRIC_POINTS + SIDED_POINTS);
            ends[first..].fill(number);
            is_only_careful &= k == 0;
        }
        Self { points, ends, is_only_careful }
    }

    fn is_empty(&self) -> bool {
        self.ends[2] == 0
    }

    /// The slope of a vote towards its side; an honest answer is the same with probability `same` and the
    /// other one with probability `other`.
    #[inline]
    pub(super) fn slope(&self, side: usize, same: f64, other: f64) -> VoteSlope {
        if self.is_only_careful {
            let careful = self.points[0].probability;
            return VoteSlope { gradient: careful * other, information: careful * same * other };
        }
        let [both, left, right] = self.ends;
        let parts = [&self.points[..both], &self.points[both..left], &self.points[left..right]];
        mixed(parts, side, same, other)
    }
}

/// A behaviour that an annotator may have.
#[derive(Debug, Clone, Copy, Default)]
struct ActivePoint {
    probability: f64,
    slope: f64,
    /// For answers left and right.
    offset: [f64; 2],
    honest: f64,
    contrary: f64,
}

impl Pass<'_> {
    fn add_block(
        &self,
        votes: impl Iterator<Item = SidedVote>,
        responsibility: &[f32; POINTS],
        sums: &mut TaskSums,
    ) {
        if self.base == Base::AllCareful && is_certainly_careful(responsibility) {
            return;
        }
        let active = ActivePoints::new(self.lines, responsibility);
        // How much the annotator's answers depend on the items, and so which votes are ties.
        let follows: [f64; POINTS] =
            std::array::from_fn(|k| f64::from(responsibility[k]) * self.lines.slope[k].abs());
        let follows = sum_of_points(&follows);
        if active.is_empty() && self.base == Base::Nothing {
            return;
        }
        if active.is_only_careful {
            let careful = active.points[0].probability;
            self.add_votes(votes, follows, sums, |_, same, other| VoteSlope {
                gradient: careful * other,
                information: careful * same * other,
            });
        } else {
            self.add_votes(votes, follows, sums, |side, same, other| {
                active.slope(side, same, other)
            });
        }
    }

    #[inline]
    fn add_votes(
        &self,
        votes: impl Iterator<Item = SidedVote>,
        follows: f64,
        sums: &mut TaskSums,
        slope: impl Fn(usize, f64, f64) -> VoteSlope,
    ) {
        let is_careful = if self.base == Base::AllCareful { 1.0 } else { 0.0 };
        for vote in votes {
            let left = self.odds[vote.left as usize] * self.half_advantage;
            let right = self.odds[vote.right()] / self.half_advantage;
            // Not 1 − p, so that swapped sides give the same bits.
            let per_odds = 1.0 / (left + right);
            let (p, q) = (left * per_odds, right * per_odds);
            let side = vote.side();
            let mut total = match side {
                None => VoteSlope { gradient: 0.0, information: 0.0 },
                Some(side) => {
                    // Selected, not branched on: sides alternate at random.
                    let (same, other) = if side == 0 { (p, q) } else { (q, p) };
                    let sign = if side == 0 { 1.0 } else { -1.0 };
                    let VoteSlope { gradient, information } = slope(side, same, other);
                    VoteSlope { gradient: sign * (gradient - is_careful * other), information }
                }
            };
            let count = i64::from(vote.count);
            if self.tie_odds <= 0.0 {
                total.information -= is_careful * p * q;
            } else {
                // Odds of a tie relative to those of both sides together, and d log odds / dd.
                let odds = self.tie_odds * (p * q).sqrt();
                let (tie, lean) = (odds / (1.0 + odds), 0.5 * (q - p));
                let is_tie = if side.is_none() { 1.0 } else { 0.0 };
                let follows = follows - is_careful;
                total.gradient += follows * (is_tie - tie) * lean;
                // Sums over pairs have the expected information of careful votes, whatever the outcome.
                total.information += follows * tie * (1.0 - tie) * lean * lean;
                total.information -= is_careful * (1.0 - tie) * p * q;
                sums.ties += count * sums.fixed(follows * is_tie);
                sums.expected_ties += count * sums.fixed(follows * tie);
            }
            sums.add_vote(&vote, &total);
        }
    }
}

/// The slope of a vote by an annotator whose behaviour is not certain, towards its side; an honest answer is
/// the same with probability `same` and the other one with probability `other`.
#[inline]
fn mixed(active: [&[ActivePoint]; 3], side: usize, same: f64, other: f64) -> VoteSlope {
    let variance = same * other;
    let sums = |active: &[ActivePoint]| {
        let (mut honest, mut contrary, mut information) = (0.0, 0.0, 0.0);
        for point in active {
            let q = (point.slope * same + point.offset[side]).max(MIN_PROBABILITY);
            // One division gives r / q and r / (q (1 − q)): half of the time is divisions.
            let rest = (1.0 - q).max(MIN_REST);
            let per_variance = point.probability / (q * rest);
            let per_q = per_variance * rest;
            honest += per_q * point.honest * same;
            contrary += per_q * point.contrary * other;
            information += per_variance * point.slope * point.slope * variance;
        }
        [honest, contrary, information]
    };
    let [both, left, right] = active.map(sums);
    let [honest, contrary, information]: [f64; 3] =
        std::array::from_fn(|k| both[k] + (left[k] + right[k]));
    let gradient = honest * other - contrary * same;
    VoteSlope { gradient, information: information.min(1.0) * variance }
}

/// Behaviours that are likely enough to count, with their probabilities.
pub(super) fn likely(responsibility: &[f32; POINTS]) -> impl Iterator<Item = (usize, f64)> + '_ {
    let all = responsibility.iter().map(|&r| f64::from(r)).enumerate();
    all.filter(|(_, r)| *r >= MIN_RESPONSIBILITY)
}
