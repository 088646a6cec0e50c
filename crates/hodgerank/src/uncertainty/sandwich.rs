//! The covariance of the scores: V = H† B H†.
//!
//! H is the information of all votes and of the prior, a Laplacian. B = Σ g gᵀ over clusters: the sum of the
//! slopes of an annotator's votes is one g, and so is the slope of each vote without an annotator. V holds
//! whether or not the votes of an annotator are independent, and whether or not the model is right; what it
//! estimates is then the quantity that the method estimates.
//!
//! Small samples: the slopes of an annotator are divided by 1 − h, h being the annotator's share of the
//! information (the fit follows their votes by as much), and V by 1 − 1/clusters.
//!
//! Cost: a pass over the votes, 4n³ multiply-adds and n² for each annotator with many votes; 24n² bytes. Tiles
//! of the matrices are computed one by one, so that the bits do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::vote_scores::VoteScores;
use crate::annotator_votes::AnnotatorVotes;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::pseudo_inverse;
use crate::numeric::power_of_two_below;
use crate::solve::crowd::VoteSlope;

/// Columns of a tile.
const TILE: usize = 64;
/// Entries of slopes that are kept at a time.
const MAX_ENTRIES: usize = 1 << 22;
/// With more clusters, no annotator has a noticeable share of the information.
const MAX_CORRECTED: usize = 1000;
/// Largest share of the information that an annotator is corrected for.
const MAX_SHARE: f64 = 0.5;

/// The covariance of the scores of all items; those of different components are zero.
#[derive(Debug, Clone)]
pub(super) struct Sandwich {
    pub(super) covariance: Mat<f64>,
    /// Annotators, or votes without one.
    pub(super) clusters: usize,
    pub(super) is_clustered: bool,
}

/// Numbers as multiples of a power of two, whose sums are exact: they depend neither on the order of the votes
/// nor on the number of threads.
#[derive(Debug, Clone, Copy)]
struct FixedPoint {
    unit: f64,
}

impl FixedPoint {
    /// For sums over `votes` numbers up to `bound`.
    fn new(bound: f64, votes: f64) -> Self {
        /// The largest sum, with room for rounding, and the largest number.
        const MAX_SUM: f64 = 2_305_843_009_213_693_952.0;
        const MAX_NUMBER: f64 = 1_125_899_906_842_624.0;
        let most = (MAX_SUM / votes.max(1.0)).min(MAX_NUMBER);
        Self { unit: power_of_two_below(most / bound.max(f64::MIN_POSITIVE)) }
    }

    #[inline]
    fn of(self, x: f64) -> i64 {
        /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits. A conversion that checks for
        /// overflow takes longer than everything else about a vote.
        const SHIFT: f64 = 6_755_399_441_055_744.0;
        (x * self.unit + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64
    }

    fn real(self, x: i64) -> f64 {
        x as f64 / self.unit
    }
}

/// Sums over the votes on each pair.
struct PairSums {
    information: Vec<f64>,
    /// Σ of squared slopes of votes without an annotator.
    squares: Vec<f64>,
}

impl Sandwich {
    pub(super) fn new(
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        scores: &VoteScores<'_>,
    ) -> Result<Self> {
        let votes = votes.filter(|votes| votes.annotators() > 0);
        let (mut sums, mut clusters) = match votes {
            Some(votes) => clustered_sums(graph, votes, scores),
            None => unclustered_sums(graph, scores),
        };
        if let Some(prior) = scores.prior(graph) {
            sums.information.iter_mut().zip(prior).for_each(|(sum, prior)| *sum += prior);
        }
        let n = graph.items();
        let inverse = pseudo_inverse(graph.pairs(), &sums.information, graph.components())?;
        let inverse = Mat::from_fn(n, n, |i, j| inverse[j * n + i]);
        let mut meat = Mat::zeros(n, n);
        add_laplacian(graph, &sums.squares, &mut meat);
        if let Some(votes) = votes {
            let active = add_annotators(graph, votes, scores, &inverse, &mut meat);
            clusters += active;
        }
        let mut covariance = product(&product(&inverse, &meat), &inverse);
        let clusters_less_one = (clusters.max(2) - 1) as f64;
        let factor = if votes.is_some() { clusters.max(2) as f64 / clusters_less_one } else { 1.0 };
        for j in 0..n {
            // Rounding must not make it asymmetric.
            for i in 0..=j {
                let value = 0.5 * factor * (covariance[(i, j)] + covariance[(j, i)]);
                (covariance[(i, j)], covariance[(j, i)]) = (value, value);
            }
        }
        Ok(Self { covariance, clusters, is_clustered: votes.is_some() })
    }
}

/// Sums over votes without annotators, and their number.
fn unclustered_sums(graph: &ComparisonGraph, scores: &VoteScores<'_>) -> (PairSums, usize) {
    let (groups, pairs) = (graph.groups(), graph.pairs());
    let any = scores.of_annotator(None);
    let of_pair = |range: &[u32]| {
        (range[0] as usize..range[1] as usize).fold((0.0, 0.0), |(information, squares), g| {
            let slope = any.of_vote(groups.left[g], groups.right[g], groups.y[g]);
            let weight = groups.weight[g];
            let square = weight * slope.gradient * slope.gradient;
            (information + weight * slope.information, squares + square)
        })
    };
    let (information, squares) = pairs.first_group.windows(2).map(of_pair).unzip();
    (PairSums { information, squares }, graph.votes() as usize)
}

/// The information of all votes, the squares of those of unknown people, and the number of these.
fn clustered_sums(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    scores: &VoteScores<'_>,
) -> (PairSums, usize) {
    let (n, pairs) = (graph.items(), graph.pairs());
    let bound = scores.bound(graph);
    let fixed = FixedPoint::new(bound.information.max(bound.gradient.powi(2)), graph.votes());
    let ranges = votes.split(rayon::current_num_threads());
    let of_range = |range: std::ops::Range<usize>| {
        let mut sums = vec![[0_i64; 2]; n * n];
        let mut unknown = 0;
        for annotator in range {
            let is_known = annotator < votes.annotators();
            let own = scores.of_annotator(is_known.then_some(annotator as u32));
            for vote in votes.unsorted_of(annotator) {
                let VoteSlope { gradient, information } =
                    own.of_vote(vote.left, vote.right, votes.y(vote));
                let (i, j) = (vote.left.min(vote.right), vote.left.max(vote.right));
                let sum = &mut sums[i as usize * n + j as usize];
                let count = i64::from(vote.count);
                sum[0] += count * fixed.of(information);
                if !is_known {
                    sum[1] += count * fixed.of(gradient * gradient);
                    unknown += vote.count as usize;
                }
            }
        }
        (sums, unknown)
    };
    let add = |(mut a, of_a): (Vec<[i64; 2]>, usize), (b, of_b): (Vec<[i64; 2]>, usize)| {
        a.iter_mut().zip(b).for_each(|(a, b)| (0..2).for_each(|k| a[k] += b[k]));
        (a, of_a + of_b)
    };
    let sums = ranges.into_par_iter().with_max_len(1).map(of_range).reduce_with(add);
    let (sums, unknown) = sums.unwrap_or_else(|| (vec![[0; 2]; n * n], 0));
    let of_pair = |k: usize| {
        let at = |p: usize| pairs.left[p] as usize * n + pairs.right[p] as usize;
        (0..pairs.len()).map(|p| fixed.real(sums[at(p)][k])).collect()
    };
    (PairSums { information: of_pair(0), squares: of_pair(1) }, unknown)
}

fn add_laplacian(graph: &ComparisonGraph, weights: &[f64], matrix: &mut Mat<f64>) {
    let pairs = graph.pairs();
    for ((&i, &j), &weight) in pairs.left.iter().zip(&pairs.right).zip(weights) {
        let (i, j) = (i as usize, j as usize);
        matrix[(i, i)] += weight;
        matrix[(j, j)] += weight;
        matrix[(i, j)] -= weight;
        matrix[(j, i)] -= weight;
    }
}

/// Adds g gᵀ of all annotators. Returns how many have votes that count.
fn add_annotators(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    scores: &VoteScores<'_>,
    inverse: &Mat<f64>,
    meat: &mut Mat<f64>,
) -> usize {
    let n = graph.items();
    let annotators = votes.annotators();
    let is_corrected = annotators <= MAX_CORRECTED;
    let determined = (n - graph.components().len()).max(1) as f64;
    let gradients = FixedPoint::new(scores.bound(graph).gradient, graph.votes());
    // A vote has at most all of the information about the difference of its items.
    let shares = FixedPoint::new(1.0, graph.votes());
    // The sum of the slopes of an annotator at each item.
    let slopes_of = |annotator: usize| {
        let own = scores.of_annotator(Some(annotator as u32));
        let mut sums = vec![0_i64; n];
        let mut share = 0;
        for vote in votes.unsorted_of(annotator) {
            let (i, j) = (vote.left as usize, vote.right as usize);
            let slope = own.of_vote(vote.left, vote.right, votes.y(vote));
            let count = i64::from(vote.count);
            let gradient = count * gradients.of(slope.gradient);
            sums[i] += gradient;
            sums[j] -= gradient;
            if is_corrected {
                let resistance = inverse[(i, i)] + inverse[(j, j)] - 2.0 * inverse[(i, j)];
                share += count * shares.of(slope.information * resistance);
            }
        }
        let share = (shares.real(share) / determined).min(MAX_SHARE);
        let per_slope = 1.0 / (1.0 - share);
        sums.into_iter().map(|sum| per_slope * gradients.real(sum)).collect::<Vec<f64>>()
    };
    let per_batch = (MAX_ENTRIES / n.max(1)).max(1);
    let mut active = 0;
    for first in (0..annotators).step_by(per_batch) {
        let batch = first..annotators.min(first + per_batch);
        let rows: Vec<Vec<f64>> = batch.into_par_iter().map(slopes_of).collect();
        active += rows.iter().filter(|row| row.iter().any(|g| *g != 0.0)).count();
        let slopes = Mat::from_fn(n, rows.len(), |i, a| rows[a][i]);
        let tiles = (0..n).into_par_iter().step_by(TILE).map(|start| {
            // Rows from the tile on: the rest follows by symmetry.
            let width = TILE.min(n - start);
            let own = slopes.as_ref().subrows(start, width);
            let below = slopes.as_ref().subrows(start, n - start);
            let mut tile = Mat::zeros(n - start, width);
            matmul(tile.as_mut(), Accum::Replace, below, own.transpose(), 1.0, Par::Seq);
            (start, tile)
        });
        for (start, tile) in tiles.collect::<Vec<_>>() {
            for j in 0..tile.ncols() {
                for i in j..tile.nrows() {
                    let (row, column) = (start + i, start + j);
                    meat[(row, column)] += tile[(i, j)];
                    if row != column {
                        meat[(column, row)] += tile[(i, j)];
                    }
                }
            }
        }
    }
    active
}

/// AB, in tiles.
pub(super) fn product(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let n = b.ncols();
    let tiles = (0..n).into_par_iter().step_by(TILE).map(|start| {
        let width = TILE.min(n - start);
        let mut tile = Mat::zeros(a.nrows(), width);
        let own = b.as_ref().subcols(start, width);
        matmul(tile.as_mut(), Accum::Replace, a, own, 1.0, Par::Seq);
        tile
    });
    let tiles: Vec<Mat<f64>> = tiles.collect();
    Mat::from_fn(a.nrows(), n, |i, j| tiles[j / TILE][(i, j % TILE)])
}
