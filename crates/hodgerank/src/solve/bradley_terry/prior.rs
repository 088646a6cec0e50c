//! The prior: normal on the differences of compared items.
//!
//! −½ λ Σ_pairs ω_ij (θ_i − θ_j)²,  ω_ij = ½ N_ij (1/D_i + 1/D_j),
//!
//! N_ij being the votes of a pair and D_i those of an item: every item has a weight of about one,
//! shared by its neighbours in proportion to their votes. Compared with a prior of equal precision on
//! every score, it does not pull items towards zero that were only compared with good items.
//!
//! λ is estimated: λ = ¼ (n − λ Σ_i M_ii / H_ii) / Σ θ², M the Laplacian of ω and H the information
//! with the prior. It is the update of empirical Bayes with the diagonal of H in place of its inverse,
//! and a factor of ¼, without which scores are shrunk too much: neighbours in the graph are more alike
//! than random items, in particular where good items are compared with good ones.

use rayon::prelude::*;

use super::pair_counts::PAIRS_PER_TASK;
use crate::graph::{ComparisonGraph, Pairs};
use crate::numeric::sum_tasks;

/// Smallest λ that is estimated: wider priors do not keep undefeated items near the others.
const MIN_PRIOR: f64 = 0.01;
/// Largest λ that is estimated: scores near zero, before good and bad voters are told apart, must not
/// keep themselves there.
const MAX_PRIOR: f64 = 1.0;
/// The factor in the estimate of λ.
const SHARE: f64 = 0.25;
/// Smallest number of scores that the votes determine, and smallest Σ θ².
const MIN_DETERMINED: f64 = 1.0;
const MIN_SQUARES: f64 = 1e-9;

/// The weights ω, and the diagonal of their Laplacian.
#[derive(Debug)]
pub(crate) struct GraphPrior {
    pub(crate) weights: Vec<f64>,
    pub(crate) diagonal: Vec<f64>,
}

impl GraphPrior {
    pub(crate) fn new(graph: &ComparisonGraph) -> Self {
        let pairs = graph.pairs();
        let mut votes = sum_ends(graph.items(), pairs, |p| (pairs.weight[p], pairs.weight[p]));
        graph.communicator().sum(&mut votes);
        let inverse = |item: u32| 1.0 / votes[item as usize];
        let weights: Vec<f64> = (0..pairs.len())
            .into_par_iter()
            .map(|p| 0.5 * pairs.weight[p] * (inverse(pairs.left[p]) + inverse(pairs.right[p])))
            .collect();
        let mut diagonal = sum_ends(graph.items(), pairs, |p| (weights[p], weights[p]));
        graph.communicator().sum(&mut diagonal);
        Self { weights, diagonal }
    }

    /// Σ ω (θ_i − θ_j)² over the pairs of this process.
    pub(crate) fn squares(&self, pairs: &Pairs, scores: &[f64]) -> f64 {
        let tasks = self.weights.par_chunks(PAIRS_PER_TASK).enumerate();
        let [sum] = sum_tasks(tasks, |(task, weights)| {
            let first = task * PAIRS_PER_TASK;
            let square = |(k, weight): (usize, &f64)| {
                let (i, j) = (pairs.left[first + k] as usize, pairs.right[first + k] as usize);
                weight * (scores[i] - scores[j]).powi(2)
            };
            [weights.iter().enumerate().map(square).sum()]
        });
        sum
    }

    /// The next λ at these scores; `information` is the diagonal of H.
    pub(crate) fn next(&self, lambda: f64, scores: &[f64], information: &[f64]) -> f64 {
        let (mut fixed, mut items) = (0.0, 0.0);
        for (&own, &all) in self.diagonal.iter().zip(information) {
            if own > 0.0 {
                fixed += own / all.max(f64::MIN_POSITIVE);
                items += 1.0;
            }
        }
        let squares: f64 = scores.iter().map(|score| score * score).sum();
        let determined = (items - lambda * fixed).max(MIN_DETERMINED);
        (SHARE * determined / squares.max(MIN_SQUARES)).clamp(MIN_PRIOR, MAX_PRIOR)
    }
}

/// Minimum number of pairs per task of [`sum_ends`], and maximum number of tasks.
const MIN_PAIRS_PER_PART: usize = 1 << 14;
const MAX_PARTS: usize = 64;

/// Sums over the pairs of each item: of the first number for its left item and of the second for its
/// right one. The pairs are split in the same way for any number of threads.
pub(crate) fn sum_ends(
    items: usize,
    pairs: &Pairs,
    values: impl Fn(usize) -> (f64, f64) + Sync,
) -> Vec<f64> {
    let [sums] = sum_all_ends(items, pairs, |p| {
        let (left, right) = values(p);
        [(left, right)]
    });
    sums
}

/// The same for several sums at once.
pub(crate) fn sum_all_ends<const K: usize>(
    items: usize,
    pairs: &Pairs,
    values: impl Fn(usize) -> [(f64, f64); K] + Sync,
) -> [Vec<f64>; K] {
    let parts = pair_parts(items, pairs.len()).into_par_iter().map(|range| {
        let mut sums = EndSums::new(items, pairs, range.clone());
        range.for_each(|p| sums.add(pairs.left[p] as usize, pairs.right[p] as usize, values(p)));
        sums
    });
    EndSums::total(items, &parts.collect::<Vec<_>>())
}

/// Splits pairs into ranges, so that sums over their items take at most as much memory as pairs.
pub(crate) fn pair_parts(items: usize, pairs: usize) -> Vec<std::ops::Range<usize>> {
    let parts = (pairs / MIN_PAIRS_PER_PART).min(pairs / items.max(1)).clamp(1, MAX_PARTS);
    (0..parts).map(|k| pairs * k / parts..pairs * (k + 1) / parts).collect()
}

/// Sums over the pairs of each item in a range of pairs.
pub(crate) struct EndSums<const K: usize> {
    /// The first item of the range; those before it have no sum.
    first: usize,
    sums: Vec<[f64; K]>,
}

impl<const K: usize> EndSums<K> {
    pub(crate) fn new(items: usize, pairs: &Pairs, range: std::ops::Range<usize>) -> Self {
        // Pairs are sorted by their left items, which are the smaller ones.
        let first = pairs.left.get(range.start).map_or(items, |&left| left as usize);
        Self { first, sums: vec![[0.0; K]; items - first] }
    }

    /// Adds values for the left and the right item of a pair.
    #[inline]
    pub(crate) fn add(&mut self, left: usize, right: usize, values: [(f64, f64); K]) {
        let sums = &mut self.sums[left - self.first];
        (0..K).for_each(|k| sums[k] += values[k].0);
        let sums = &mut self.sums[right - self.first];
        (0..K).for_each(|k| sums[k] += values[k].1);
    }

    /// Adds values for one item.
    #[inline]
    pub(crate) fn add_one(&mut self, item: usize, values: [f64; K]) {
        let sums = &mut self.sums[item - self.first];
        (0..K).for_each(|k| sums[k] += values[k]);
    }

    /// The sums of one item so far.
    #[inline]
    pub(crate) fn of(&self, item: usize) -> [f64; K] {
        self.sums[item - self.first]
    }

    /// Replaces the sums of one item.
    #[inline]
    pub(crate) fn replace(&mut self, item: usize, sums: [f64; K]) {
        self.sums[item - self.first] = sums;
    }

    /// The sums of all parts, added up in their order.
    pub(crate) fn total(items: usize, parts: &[Self]) -> [Vec<f64>; K] {
        let mut total = vec![[0.0; K]; items];
        for part in parts {
            for (total, own) in total[part.first..].iter_mut().zip(&part.sums) {
                (0..K).for_each(|k| total[k] += own[k]);
            }
        }
        std::array::from_fn(|k| total.iter().map(|sums| sums[k]).collect())
    }
}
