//! The covariance of the scores: V = H† B H†.
//!
//! H is the information of all votes and of the prior, a Laplacian, less what is missing because behaviours are
//! not known for certain (`missing.rs`). B = Σ g gᵀ over clusters: the sum of the
//! slopes of an annotator's votes is one g, and so is the slope of each vote without an annotator. V holds
//! whether or not the votes of an annotator are independent, and whether or not the model is right; what it
//! estimates is then the quantity that the method estimates.
//!
//! Small samples have two corrections:
//!
//! - **Leverage.** Scores follow the votes that they are fitted to, which makes slopes too small: that of a
//!   vote is divided by √(1 − h), h being the leverage of the vote, and that of an annotator by √(1 − s), s
//!   being the annotator's share of all leverages.
//! - **Shrinkage.** B is a sum over few annotators compared with its n²/2 entries; with fewer annotators than
//!   items it is singular. It is replaced by (1 − ρ) B + ρ φ H, where φ H is what B would be if the votes were
//!   independent and the model right up to a factor φ, and ρ has the smallest expected error (Ledoit and Wolf
//!   2004, in the coordinates in which H is the identity). With T = H†B, r the rank of H and q = gᵀH†g:
//!
//!   φ = tr T / r,  ρ = min(1, (Σ q² − tr T²/clusters) / (tr T² − r φ²)).
//!
//!   For a likelihood φ is at least 1.
//!
//! Cost: two passes over the votes, 4n³ multiply-adds and n² for each annotator with many votes; 24n² bytes.
//! Tiles of the matrices are computed one by one, so that the bits do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::fixed_point::FixedPoint;
use super::missing::missing_information;
use super::pair_sums::PairSums;
use super::vote_scores::VoteScores;
use crate::annotator_votes::AnnotatorVotes;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::inverse_information;

/// Columns of a tile.
const TILE: usize = 64;
/// Entries of slopes that are kept at a time.
const MAX_ENTRIES: usize = 1 << 22;
/// With more annotators, and as many votes per item, no vote and no annotator has a noticeable leverage.
const MAX_CORRECTED: usize = 1000;
/// Largest leverage that is corrected for.
const MAX_LEVERAGE: f64 = 0.9;
/// Annotators, evenly spaced, from which Σ q² is estimated.
const SAMPLED: usize = 512;

/// The covariance of the scores of all items; those of different components are zero.
#[derive(Debug, Clone)]
pub(super) struct Sandwich {
    pub(super) covariance: Mat<f64>,
    /// Annotators, and votes without one.
    pub(super) clusters: usize,
    pub(super) is_clustered: bool,
    /// ρ, the share of the model in the covariance.
    pub(super) shrinkage: f64,
}

/// B, and what its shrinkage depends on.
struct ClusterSums {
    matrix: Mat<f64>,
    clusters: usize,
    /// Σ q².
    fourth: f64,
}

/// H†, and what follows from it.
struct Bread<'a> {
    graph: &'a ComparisonGraph,
    inverse: Mat<f64>,
    /// The leverage of a vote on each pair, and at both places of each pair in a matrix; empty if all are
    /// negligible.
    leverage: Vec<f64>,
    leverage_matrix: Vec<f64>,
}

impl Sandwich {
    pub(super) fn new(
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        scores: &VoteScores<'_>,
    ) -> Result<Self> {
        let votes = votes.filter(|votes| votes.annotators() > 0);
        let sums = PairSums::new(graph, votes, scores);
        let bread = Bread::new(graph, votes, scores, &sums)?;
        let mut found = bread.single_votes(&sums);
        if let Some(votes) = votes {
            bread.add_annotators(votes, scores, &mut found);
        }
        let ClusterSums { matrix, clusters, fourth } = found;
        let half = product(&bread.inverse, &matrix);
        let n = graph.items();
        let rank = (n - graph.components().len()).max(1) as f64;
        let trace: f64 = (0..n).map(|i| half[(i, i)]).sum();
        let squares: f64 =
            (0..n).map(|j| (0..n).map(|i| half[(i, j)] * half[(j, i)]).sum::<f64>()).sum();
        let spread = trace / rank;
        let distance = squares - rank * spread * spread;
        let noise = fourth - squares / clusters.max(1) as f64;
        let shrinkage = if noise < distance { (noise / distance).max(0.0) } else { 1.0 };
        let factor = if scores.is_likelihood() { spread.max(1.0) } else { spread };
        let mut covariance = product(&half, &bread.inverse);
        for j in 0..n {
            // Rounding must not make it asymmetric.
            for i in 0..=j {
                let sandwich = 0.5 * (covariance[(i, j)] + covariance[(j, i)]);
                let model = factor * bread.inverse[(i, j)];
                let value = (1.0 - shrinkage) * sandwich + shrinkage * model;
                (covariance[(i, j)], covariance[(j, i)]) = (value, value);
            }
        }
        Ok(Self { covariance, clusters, is_clustered: votes.is_some(), shrinkage })
    }
}

impl<'a> Bread<'a> {
    fn new(
        graph: &'a ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        scores: &VoteScores<'_>,
        sums: &PairSums,
    ) -> Result<Self> {
        let mut information = sums.information.clone();
        let mut shift = 0.0;
        if let Some(prior) = scores.prior(graph) {
            information.iter_mut().enumerate().for_each(|(p, sum)| *sum += prior.pair_weight(p));
            shift = prior.shift();
        }
        let (n, pairs) = (graph.items(), graph.pairs());
        let components = graph.components();
        let inverse = inverse_information(pairs, &information, shift, None, components)?;
        let mut inverse = Mat::from_fn(n, n, |i, j| inverse[j * n + i]);
        let missing = votes.and_then(|votes| missing_information(votes, scores, &inverse));
        if let Some(missing) = missing {
            let less = Some(&missing);
            let rows = inverse_information(pairs, &information, shift, less, components)?;
            inverse = Mat::from_fn(n, n, |i, j| rows[j * n + i]);
        }
        let mut bread = Self { graph, inverse, leverage: Vec::new(), leverage_matrix: Vec::new() };
        let leverage = |p: usize| {
            let own = sums.information[p] / pairs.weight[p].max(f64::MIN_POSITIVE);
            (own * bread.resistance(p)).clamp(0.0, MAX_LEVERAGE)
        };
        let many = MAX_CORRECTED as f64;
        let is_negligible = graph.votes() > many * n as f64
            && votes.is_none_or(|votes| votes.annotators() > MAX_CORRECTED);
        if !is_negligible {
            bread.leverage = (0..pairs.len()).map(leverage).collect();
            bread.leverage_matrix = vec![0.0; n * n];
            for (p, &leverage) in bread.leverage.iter().enumerate() {
                let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
                bread.leverage_matrix[i * n + j] = leverage;
                bread.leverage_matrix[j * n + i] = leverage;
            }
        }
        Ok(bread)
    }

    /// The variance of the difference of a pair's items, if its inverse were the covariance.
    fn resistance(&self, pair: usize) -> f64 {
        let pairs = self.graph.pairs();
        let (i, j) = (pairs.left[pair] as usize, pairs.right[pair] as usize);
        self.inverse[(i, i)] + self.inverse[(j, j)] - 2.0 * self.inverse[(i, j)]
    }

    /// The sums over votes that stand for themselves.
    fn single_votes(&self, sums: &PairSums) -> ClusterSums {
        let (n, pairs) = (self.graph.items(), self.graph.pairs());
        let mut matrix = Mat::zeros(n, n);
        let mut fourth = 0.0;
        for p in 0..pairs.len() {
            let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
            let per_square = 1.0 / (1.0 - self.leverage.get(p).copied().unwrap_or(0.0));
            let weight = per_square * sums.squares[p];
            matrix[(i, i)] += weight;
            matrix[(j, j)] += weight;
            matrix[(i, j)] -= weight;
            matrix[(j, i)] -= weight;
            fourth += (per_square * self.resistance(p)).powi(2) * sums.fourths[p];
        }
        ClusterSums { matrix, clusters: sums.single_votes, fourth }
    }

    /// Writes the slopes of an annotator at each item; `sums` is a buffer of as many numbers.
    fn slopes_of(
        &self,
        votes: &AnnotatorVotes,
        scores: &VoteScores<'_>,
        (gradients, leverages): (FixedPoint, FixedPoint),
        annotator: usize,
        sums: &mut [i64],
        slopes: &mut [f64],
    ) {
        let n = self.graph.items();
        let own = scores.of_annotator(Some(annotator as u32));
        sums.fill(0);
        let mut total = 0;
        for vote in votes.unsorted_of(annotator) {
            let (i, j) = (vote.left as usize, vote.right as usize);
            let slope = own.of_vote(vote.left, vote.right, votes.y(vote)).gradient;
            let count = i64::from(vote.count);
            let slope = match self.leverage_matrix.get(i * n + j) {
                None => slope,
                Some(&leverage) => {
                    total += count * leverages.of(leverage);
                    slope / (1.0 - leverage).sqrt()
                }
            };
            let slope = count * gradients.of(slope);
            sums[i] += slope;
            sums[j] -= slope;
        }
        let rank = (n - self.graph.components().len()).max(1) as f64;
        let share = (leverages.real(total) / rank).min(MAX_LEVERAGE);
        let per_slope = 1.0 / (1.0 - share).sqrt();
        for (slope, &sum) in slopes.iter_mut().zip(&*sums) {
            *slope = per_slope * gradients.real(sum);
        }
    }

    /// Adds the annotators.
    fn add_annotators(
        &self,
        votes: &AnnotatorVotes,
        scores: &VoteScores<'_>,
        found: &mut ClusterSums,
    ) {
        let n = self.graph.items();
        let bound = scores.bound(self.graph).gradient / (1.0 - MAX_LEVERAGE).sqrt();
        let fixed =
            (FixedPoint::new(bound, self.graph.votes()), FixedPoint::new(1.0, self.graph.votes()));
        let annotators = votes.annotators();
        let step = annotators.div_ceil(SAMPLED).max(1);
        let (mut sampled, mut fourth, mut active) = (0.0, 0.0, 0);
        let per_batch = (MAX_ENTRIES / n.max(1)).max(1);
        let mut slopes = vec![0.0; n * per_batch.min(annotators)];
        for first in (0..annotators).step_by(per_batch) {
            let batch = first..annotators.min(first + per_batch);
            let slopes = &mut slopes[..n * batch.len()];
            slopes.par_chunks_mut(n).enumerate().for_each_init(
                || vec![0_i64; n],
                |sums, (k, slopes)| self.slopes_of(votes, scores, fixed, first + k, sums, slopes),
            );
            let is_active = |slopes: &[f64]| slopes.iter().any(|slope| *slope != 0.0);
            active += slopes.par_chunks(n).filter(|slopes| is_active(slopes)).count();
            let sample: Vec<&[f64]> = batch
                .filter(|a| a % step == 0)
                .map(|a| &slopes[n * (a - first)..n * (a - first + 1)])
                .filter(|slopes| is_active(slopes))
                .collect();
            let columns = Mat::from_fn(n, sample.len(), |i, a| sample[a][i]);
            let solved = product(&self.inverse, &columns);
            for a in 0..sample.len() {
                let q: f64 = (0..n).map(|i| columns[(i, a)] * solved[(i, a)]).sum();
                (sampled, fourth) = (sampled + 1.0, fourth + q * q);
            }
            add_outer_products(slopes, &mut found.matrix);
        }
        found.clusters += active;
        if sampled > 0.0 {
            found.fourth += fourth * active as f64 / sampled;
        }
    }
}

/// Adds g gᵀ of all annotators, whose slopes follow each other.
fn add_outer_products(slopes: &[f64], matrix: &mut Mat<f64>) {
    let n = matrix.nrows();
    let slopes = MatRef::from_column_major_slice(slopes, n, slopes.len() / n.max(1));
    let tiles = (0..n).into_par_iter().step_by(TILE).map(|start| {
        // Rows from the tile on: the rest follows by symmetry.
        let width = TILE.min(n - start);
        let own = slopes.subrows(start, width);
        let below = slopes.subrows(start, n - start);
        let mut tile = Mat::zeros(n - start, width);
        matmul(tile.as_mut(), Accum::Replace, below, own.transpose(), 1.0, Par::Seq);
        (start, tile)
    });
    for (start, tile) in tiles.collect::<Vec<_>>() {
        for j in 0..tile.ncols() {
            for i in j..tile.nrows() {
                let (row, column) = (start + i, start + j);
                matrix[(row, column)] += tile[(i, j)];
                if row != column {
                    matrix[(column, row)] += tile[(i, j)];
                }
            }
        }
    }
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
