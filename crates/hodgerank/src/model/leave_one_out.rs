//! What a fit says about each vote if that vote is left out, without refitting.
//!
//! With d the difference of the scores of a vote's items, g = ∂ log P/∂d its slope, v its information and
//! q the variance of d (by H⁻¹, H being the information of all votes with the prior), the difference without the
//! vote is, up to second order, d − q g / (1 − v q), with the variance q / (1 − v q). v q is the leverage of the
//! vote.
//!
//! q needs the inverse of H. With more than a few hundred items it is estimated from draws z ~ N(0, H⁻¹), for which
//! z_i − z_j has the variance q:
//! H z = Σ_pairs ± √w (e_i − e_j) + Σ_items ± √λ e_i, with random signs that depend on nothing but the pair.
//! Where items have so many votes that leverages are small, or where there are too many items, q is what it would
//! be if the graph were a tree: there, eliminating all items but i leaves R_i = H_ii − Σ_k H_ik² / R_k over the
//! neighbours k, R_k without i. A few rounds of this recursion suffice, as errors shrink with the square of the degree.

use faer::Mat;
use rayon::prelude::*;

use super::held_out::LinkBins;
use super::link::Link;
use super::pair_sums::{PAIRS_PER_TASK, sum_ends};
use super::tuning::TUNING;
use super::votes::{Voice, VoteModel, VotesByPair};
use crate::communicator::{Communicator, StateReader, StateWriter};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{StepSystem, inverse_information};

/// Items up to which H⁻¹ takes less time than the draws.
const MAX_EXACT_ITEMS: usize = 512;
/// Draws: the relative error of q is √(2/draws), and averages out over votes.
const DRAWS: usize = 64;
const DRAWS_FOR_MANY_PAIRS: usize = 16;
const MANY_PAIRS: f64 = 1e5;
/// With more items, draws take longer than the fit.
pub(crate) const FEW_ITEMS: usize = 50_000;
/// A few digits of each draw suffice.
const DRAW_TOLERANCE: f64 = 1e-3;
/// Largest leverage: a vote that alone determines its pair.
const MAX_LEVERAGE: f64 = 0.95;

/// Rounds of the recursion on a tree.
const ROUNDS: usize = 3;
/// Fewer votes are not worth a second task.
const FEW_VOTES: f64 = 1e4;

/// The variance of the difference of two scores.
#[derive(Debug)]
pub(crate) enum PairVariances {
    /// H⁻¹ of all items.
    Exact { inverse: Vec<f64>, items: usize },
    /// Draws of all scores, one after the other for each item.
    Draws { draws: Vec<f32>, count: usize },
    /// Of each item, the diagonal of H, and what remains of it once all other items are eliminated.
    Neighbours { diagonal: Vec<f64>, reduced: Vec<f64> },
}

/// Whether items have so many votes that it does not matter whether one is left out.
pub(crate) fn has_small_leverages(graph: &ComparisonGraph) -> bool {
    2.0 * graph.votes() > TUNING.many_votes_per_item * graph.items().max(1) as f64
}

/// The information H: weights of pairs, and a multiple of the identity.
pub(crate) struct Information<'a> {
    pub(crate) pair_weight: &'a (dyn Fn(usize) -> f64 + Sync),
    pub(crate) shift: f64,
}

impl PairVariances {
    /// From the information of a fit. Collective.
    ///
    /// # Errors
    /// If a linear system cannot be solved.
    pub(crate) fn new(
        graph: &ComparisonGraph,
        system: &mut StepSystem<'_>,
        information: &Information<'_>,
    ) -> Result<Self> {
        let (items, pairs) = (graph.items(), graph.pairs());
        let weight = information.pair_weight;
        let mut is_singular = false;
        if items <= MAX_EXACT_ITEMS {
            let weights: Vec<f64> = (0..pairs.len()).map(weight).collect();
            let others = (!graph.communicator().is_single_process())
                .then(|| information_of_others(graph, &weights));
            let components = graph.components();
            let inverse = inverse_information(
                pairs,
                &weights,
                information.shift,
                others.as_ref(),
                components,
            );
            // Weights that differ by more than sixteen digits have no inverse, but neighbours all the same.
            is_singular = match inverse {
                Ok(inverse) => return Ok(Self::Exact { inverse, items }),
                Err(Error::Factorisation { .. }) => true,
                Err(error) => return Err(error),
            };
        }
        if is_singular || has_small_leverages(graph) || items > FEW_ITEMS {
            let mut diagonal = sum_ends(items, pairs, |p| (weight(p), weight(p)));
            graph.communicator().sum(&mut diagonal);
            diagonal.iter_mut().for_each(|own| *own += information.shift);
            let mut reduced = diagonal.clone();
            for _ in 0..ROUNDS {
                let mut less = sum_ends(items, pairs, |p| {
                    let (i, j, square) =
                        (pairs.left[p] as usize, pairs.right[p] as usize, weight(p).powi(2));
                    let without = |k: usize, other: usize| reduced[k] + square / diagonal[other];
                    (square / without(j, i), square / without(i, j))
                });
                graph.communicator().sum(&mut less);
                reduced = diagonal.iter().zip(&less).map(|(own, less)| own - less).collect();
            }
            return Ok(Self::Neighbours { diagonal, reduced });
        }
        let number = graph.communicator().sum_scalar(pairs.len() as f64);
        let count = if number > MANY_PAIRS { DRAWS_FOR_MANY_PAIRS } else { DRAWS };
        let right_side = |k: usize| {
            let mut sum = sum_ends(items, pairs, |p| {
                let root = sign(pairs.left[p], pairs.right[p], k) * weight(p).sqrt();
                (root, -root)
            });
            graph.communicator().sum(&mut sum);
            if information.shift > 0.0 {
                let root = information.shift.sqrt();
                let own = sum.iter_mut().enumerate();
                own.for_each(|(i, sum)| *sum += root * sign(i as u32, i as u32, k));
                // A constant does not change differences, and the solver expects none.
                graph.components().centre(&mut sum);
            }
            sum
        };
        let right_sides: Vec<Vec<f64>> = (0..count).map(right_side).collect();
        let right_sides: Vec<&[f64]> = right_sides.iter().map(Vec::as_slice).collect();
        let solutions =
            system.solve_all(weight, information.shift, &right_sides, DRAW_TOLERANCE, true)?;
        let mut draws = vec![0.0; items * count];
        for (k, solution) in solutions.iter().enumerate() {
            solution.iter().enumerate().for_each(|(i, z)| draws[i * count + k] = *z as f32);
        }
        Ok(Self::Draws { draws, count })
    }

    /// Saves the variances.
    pub(crate) fn write(&self, state: &mut StateWriter) {
        let (count, numbers) = match self {
            Self::Exact { inverse, .. } => (usize::MAX, inverse.clone()),
            Self::Draws { draws, count } => {
                (*count, draws.iter().copied().map(f64::from).collect())
            }
            Self::Neighbours { diagonal, reduced } => (0, [&diagonal[..], reduced].concat()),
        };
        state.count(count as u64);
        state.numbers(numbers.iter());
    }

    /// Reads what was saved.
    ///
    /// # Errors
    /// If the state is another one.
    pub(crate) fn read(state: &mut StateReader<'_>) -> Result<Self> {
        let (count, numbers) = (state.count()? as usize, state.numbers()?);
        Ok(match count {
            0 => {
                let (diagonal, reduced) = numbers.split_at(numbers.len() / 2);
                Self::Neighbours { diagonal: diagonal.to_vec(), reduced: reduced.to_vec() }
            }
            usize::MAX => Self::Exact { items: numbers.len().isqrt(), inverse: numbers },
            _ => Self::Draws { draws: numbers.into_iter().map(|own| own as f32).collect(), count },
        })
    }

    /// The variance of the difference of items i and j; `weight` is the information about it.
    #[inline]
    pub(crate) fn of(&self, i: usize, j: usize, weight: f64) -> f64 {
        match self {
            Self::Exact { inverse, items } => {
                let of = |a: usize, b: usize| inverse[a * items + b];
                of(i, i) + of(j, j) - 2.0 * of(i, j)
            }
            Self::Draws { draws, count } => {
                let of = |item: usize| &draws[item * count..(item + 1) * count];
                let squares = of(i).iter().zip(of(j)).map(|(a, b)| (a - b) * (a - b));
                f64::from(squares.sum::<f32>()) / *count as f64
            }
            Self::Neighbours { diagonal, reduced } => {
                // The other one of the two is no neighbour.
                let a = reduced[i] + weight * weight / diagonal[j];
                let b = reduced[j] + weight * weight / diagonal[i];
                let determinant = a * b - weight * weight;
                // Two items that were compared with each other alone.
                if determinant <= 1e-9 * a * b {
                    return 1.0 / weight.max(f64::MIN_POSITIVE);
                }
                (a + b - 2.0 * weight) / determinant
            }
        }
    }
}

/// The difference of scores that the other votes imply, and its variance.
pub(crate) struct WithoutVote {
    pub(crate) difference: f64,
    pub(crate) variance: f64,
}

/// Leaves out a vote at a difference `d` of this variance.
#[inline]
pub(crate) fn without_vote(d: f64, variance: f64, slope: f64, information: f64) -> WithoutVote {
    let variance = variance / (1.0 - (variance * information).min(MAX_LEVERAGE));
    // No vote moves its own prediction by more than this many log-odds.
    WithoutVote { difference: d - (variance * slope).clamp(-8.0, 8.0), variance }
}

/// Votes that were left out, with what the others say about them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeftOutVote {
    /// The number of such votes.
    pub(crate) count: f64,
    /// How much they count in the likelihood: votes by chance say nothing about the scores.
    pub(crate) weight: f64,
    /// The logarithm of their probability.
    pub(crate) log: f64,
    /// The difference of scores towards the item on the left (the first item if sides are unknown), without b.
    pub(crate) difference: f64,
    /// Whether they prefer that item; none for ties.
    pub(crate) is_left: Option<bool>,
}

/// The votes of a sample of pairs, left out one at a time. `pair_weight` is the information about each pair.
pub(crate) fn leave_out<V: VotesByPair>(
    graph: &ComparisonGraph,
    votes: &V,
    (scores, model): (&[f64], &VoteModel),
    (variances, pair_weight): (&PairVariances, impl Fn(usize) -> f64 + Sync),
    sample: PairSample,
) -> Vec<LeftOutVote> {
    let pairs = graph.pairs();
    let of_pair = |p: usize| {
        let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
        let variance = variances.of(i, j, pair_weight(p));
        let d = scores[i] - scores[j];
        let mut left_out = Vec::new();
        votes.for_each_cell(p, |cell| {
            let terms = model.at(cell.predictor(d, model.advantage));
            let Voice { weight, sharpness, .. } = cell.voice;
            for o in (0..3).filter(|&o| cell.votes[o] > 0.0) {
                let slope = weight * sharpness * terms.slope[o];
                let information = weight * sharpness * sharpness * terms.curvature[o];
                let own = without_vote(d, variance, slope, information).difference;
                // With the second item on the left, everything is the other way round.
                let towards_left = if cell.sign < 0.0 { -1.0 } else { 1.0 };
                left_out.push(LeftOutVote {
                    count: cell.votes[o],
                    weight: weight * cell.votes[o],
                    log: model.at(cell.predictor(own, model.advantage)).log[o],
                    difference: towards_left * own,
                    is_left: [Some(cell.sign >= 0.0), Some(cell.sign < 0.0), None][o],
                });
            }
        });
        left_out
    };
    let sampled = |p: &usize| sample.contains(pairs.left[*p], pairs.right[*p]);
    let is_small = graph.votes() < FEW_VOTES;
    let min = if is_small { PAIRS_PER_TASK } else { 1 };
    let all = (0..pairs.len()).into_par_iter().with_min_len(min);
    all.filter(sampled).flat_map_iter(of_pair).collect()
}

/// Which pairs are evaluated: all, or a random part that depends on nothing but the pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairSample {
    below: u64,
}

impl PairSample {
    /// A sample with about this many votes. Collective.
    pub(crate) fn new(graph: &ComparisonGraph, votes: f64) -> Self {
        let share = (votes / graph.votes().max(1.0)).min(1.0);
        Self { below: (share * u64::MAX as f64) as u64 }
    }

    #[inline]
    pub(crate) fn contains(&self, left: u32, right: u32) -> bool {
        self.below == u64::MAX || hash(left, right, 0) <= self.below
    }
}

/// The mean of the first of two lists of logarithms minus the second, and its standard error: of the same
/// votes in the same order. Collective.
pub(crate) fn gain(
    communicator: &dyn Communicator,
    with: &[LeftOutVote],
    without: &[LeftOutVote],
) -> (f64, f64) {
    let gains = with.iter().zip(without).map(|(a, b)| (a.weight, a.log - b.log));
    mean_and_error(communicator, gains)
}

/// The mean of values with weights, and its standard error. Collective.
fn mean_and_error(
    communicator: &dyn Communicator,
    values: impl Iterator<Item = (f64, f64)>,
) -> (f64, f64) {
    let add = |[votes, sum, squares]: [f64; 3], (weight, value): (f64, f64)| {
        [votes + weight, sum + weight * value, squares + weight * value * value]
    };
    let mut sums = values.fold([0.0; 3], add);
    communicator.sum(&mut sums);
    let [votes, sum, squares] = sums;
    let mean = sum / votes.max(1.0);
    let variance = (squares / votes.max(1.0) - mean * mean).max(0.0);
    (mean, (variance / votes.max(1.0)).sqrt())
}

/// The mean logarithm of the probability of a vote. Collective.
pub(crate) fn mean_log(communicator: &dyn Communicator, votes: &[LeftOutVote]) -> f64 {
    let mut sums = [0.0; 2];
    for vote in votes {
        sums[0] += vote.weight;
        sums[1] += vote.weight * vote.log;
    }
    communicator.sum(&mut sums);
    sums[1] / sums[0].max(1.0)
}

/// How much better the scores of a model predict votes by a link from their differences than those of another one: the
/// mean gain of the logarithm of the probability of a vote, and its standard error. Only the scores are judged, not how
/// well single people are known. The votes are the same in the same order; ties do not count. Collective.
pub(crate) fn link_gain(
    communicator: &dyn Communicator,
    [with, without]: [&[LeftOutVote]; 2],
    has_sides: bool,
) -> (f64, f64) {
    let linked = |votes: &[LeftOutVote]| {
        let mut bins = LinkBins::new();
        let decided = votes.iter().filter_map(|vote| Some((vote, vote.is_left?)));
        decided.for_each(|(vote, is_left)| bins.add(vote.difference, is_left, vote.count));
        bins.votes(communicator)
    };
    let old = Link::fit(&linked(without), has_sides);
    let new = old.refit(&linked(with), has_sides);
    let log = |link: Link, vote: &LeftOutVote, is_left: bool| {
        let left = link.probability(vote.difference);
        let p = if is_left { left } else { 1.0 - left };
        p.max(f64::MIN_POSITIVE).ln()
    };
    let gains = with.iter().zip(without).filter_map(|(a, b)| {
        let is_left = a.is_left?;
        Some((a.count, log(new, a, is_left) - log(old, b, is_left)))
    });
    let (gain, error) = mean_and_error(communicator, gains);
    (gain, error)
}

/// Minus the Laplacian of the pairs of all other processes. Collective.
fn information_of_others(graph: &ComparisonGraph, weights: &[f64]) -> Mat<f64> {
    let (items, pairs) = (graph.items(), graph.pairs());
    let mut own = vec![0.0; items * items];
    for (p, weight) in weights.iter().enumerate() {
        let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
        for (row, column, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
            own[row * items + column] += sign * weight;
        }
    }
    let mut all = own.clone();
    graph.communicator().sum(&mut all);
    Mat::from_fn(items, items, |i, j| own[i * items + j] - all[i * items + j])
}

/// A random sign for a pair.
fn sign(left: u32, right: u32, draw: usize) -> f64 {
    if hash(left, right, draw as u64 + 1) & 1 == 0 { 1.0 } else { -1.0 }
}

/// The finaliser of SplitMix64.
pub(crate) fn hash(left: u32, right: u32, salt: u64) -> u64 {
    let mut x = (u64::from(left) << 32 | u64::from(right))
        .wrapping_add(salt.wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(0x9E37_79B9_7F4A_7C15);
    for (shift, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB)] {
        x = (x ^ (x >> shift)).wrapping_mul(factor);
    }
    x ^ (x >> 31)
}
