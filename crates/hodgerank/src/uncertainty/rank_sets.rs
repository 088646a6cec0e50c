//! Ranges of ranks that hold for all items at once, and tiers.
//!
//! Every pair of items is tested for equal scores by t = |θ̂_i − θ̂_j| / se_ij. The critical value is the
//! level's quantile, over random draws z ~ N(0, V), of the largest |z_i − z_j| / se_ij of the pairs that are
//! not told apart yet; this is repeated until no further pair is told apart (step-down; Mogstad, Romano,
//! Shaikh and Wilhelm, "Inference for ranks"). With that level, no pair is wrongly told apart, so that the
//! rank of each item is at least one more than the number of items that are surely better, and at most the
//! number of items that are not surely worse.
//!
//! For many items, pairs that are told apart by Bonferroni's critical value are left out from the start:
//! it is larger than that of the draws.
//!
//! A tier begins with the best item that is left, and ends before the first item that this one is surely
//! better than.
//!
//! Cost: a Cholesky factor of V, and for each draw n²/2 multiply-adds and a pass over the pairs that are
//! left.

use faer::{Mat, Side};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::options::RankCoverage;
use super::sandwich::product;
use crate::annotators::normal_quantile;

/// With more items, pairs are first told apart by Bonferroni's critical value.
const MANY_ITEMS: usize = 200;
/// The seed of the draws: the same votes have the same ranges.
const SEED: u64 = 0x7261_6e6b;
/// Part of the mean variance that is added to the diagonal: V is singular, because scores have mean zero.
const RIDGE: f64 = 1e-9;

/// Smallest standard error relative to the largest score: votes that never contradict the scores leave nothing
/// but rounding.
const MIN_SE: f64 = 1e-9;
/// Smallest critical value: that of a single normal number at a level of one half.
const MIN_CRITICAL: f64 = 0.67;

/// Which items are surely better than which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RankSets {
    /// For each item, the best and the worst rank.
    pub(super) ranges: Vec<(u32, u32)>,
    /// For each item, its tier, counted from 1.
    pub(super) tiers: Vec<u32>,
}

/// Tests of all pairs of items of a component.
struct PairTests<'a> {
    n: usize,
    scores: &'a [f64],
    covariance: &'a Mat<f64>,
    /// Random draws of errors of the scores, one after the other.
    draws: Vec<f64>,
    /// Factor of the critical values of the draws.
    widening: f64,
    level: f64,
    min_se: f64,
}

impl RankSets {
    /// The sets of a component: `scores` of its items, their covariance, and random draws of their errors, one
    /// after the other. Critical values are multiplied by `widening`.
    pub(super) fn new(
        scores: &[f64],
        covariance: &Mat<f64>,
        draws: Vec<f64>,
        widening: f64,
        level: f64,
        coverage: RankCoverage,
    ) -> Self {
        let n = scores.len();
        let spread = scores.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let min_se = (MIN_SE * spread).max(f64::MIN_POSITIVE);
        let tests = PairTests { n, scores, covariance, draws, widening, level, min_se };
        // Row i: which items are told apart from item i.
        let mut is_apart = vec![false; n * n];
        match coverage {
            RankCoverage::All => {
                let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
                for (i, j) in tests.told_apart(pairs) {
                    (is_apart[i * n + j], is_apart[j * n + i]) = (true, true);
                }
            }
            RankCoverage::Each => {
                let of_item = |i: usize| {
                    tests.told_apart((0..n).filter(|&j| j != i).map(|j| (i, j)).collect())
                };
                for (i, j) in (0..n).into_par_iter().flat_map_iter(of_item).collect::<Vec<_>>() {
                    is_apart[i * n + j] = true;
                }
            }
        }
        Self::of(scores, |i, j| is_apart[i * n + j])
    }

    fn of(scores: &[f64], is_apart: impl Fn(usize, usize) -> bool) -> Self {
        let n = scores.len();
        let range = |i: usize| {
            let apart = (0..n).filter(|&j| is_apart(i, j));
            let better = apart.filter(|&j| scores[j] > scores[i]).count();
            let worse = (0..n).filter(|&j| is_apart(i, j) && scores[j] < scores[i]).count();
            (1 + better as u32, (n - worse) as u32)
        };
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let mut tiers = vec![0; n];
        let (mut tier, mut best) = (0, None);
        for &item in &order {
            if best.is_none_or(|best| is_apart(best, item)) {
                (tier, best) = (tier + 1, Some(item));
            }
            tiers[item] = tier;
        }
        Self { ranges: (0..n).map(range).collect(), tiers }
    }
}

impl PairTests<'_> {
    /// The inverse of the standard error of a difference.
    fn per_se(&self, (i, j): (usize, usize)) -> f64 {
        let v = self.covariance;
        let variance = v[(i, i)] + v[(j, j)] - 2.0 * v[(i, j)];
        1.0 / variance.max(0.0).sqrt().max(self.min_se)
    }

    /// The pairs of a family that are told apart.
    fn told_apart(&self, family: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let statistic = |&(i, j): &(usize, usize)| {
            (self.scores[i] - self.scores[j]).abs() * self.per_se((i, j))
        };
        let mut found = Vec::new();
        let mut left = family;
        let mut critical = match self.n > MANY_ITEMS {
            true => {
                let each = 0.5 * (1.0 - self.level) / left.len().max(1) as f64;
                self.widening * normal_quantile(1.0 - each)
            }
            false => self.critical_value(&left),
        };
        loop {
            let before = found.len();
            left.retain(|pair| {
                let is_apart = statistic(pair) > critical;
                found.extend(is_apart.then_some(*pair));
                !is_apart
            });
            // Bonferroni's value comes first, and is larger than that of the draws.
            let is_first = before == 0;
            if left.is_empty() || (found.len() == before && !(is_first && self.n > MANY_ITEMS)) {
                return found;
            }
            let next = self.critical_value(&left);
            if found.len() == before && next >= critical {
                return found;
            }
            critical = next;
        }
    }

    /// The level's quantile of the largest statistic of these pairs, over the draws.
    fn critical_value(&self, pairs: &[(usize, usize)]) -> f64 {
        let per_se: Vec<f64> = pairs.iter().map(|&pair| self.per_se(pair)).collect();
        let largest = |z: &[f64]| {
            let of_pair = |(&(i, j), per_se): (&(usize, usize), &f64)| (z[i] - z[j]).abs() * per_se;
            pairs.iter().zip(&per_se).map(of_pair).fold(0.0_f64, f64::max)
        };
        let mut largest: Vec<f64> = self.draws.par_chunks(self.n).map(largest).collect();
        largest.sort_by(f64::total_cmp);
        let place = (self.level * largest.len() as f64).ceil() as usize;
        self.widening * largest[place.clamp(1, largest.len()) - 1].max(MIN_CRITICAL)
    }
}

/// Draws from N(0, V), one after the other.
pub(super) fn draw_errors(covariance: &Mat<f64>, draws: usize) -> Vec<f64> {
    let n = covariance.nrows();
    let mean = (0..n).map(|i| covariance[(i, i)]).sum::<f64>() / n.max(1) as f64;
    let matrix =
        Mat::from_fn(n, n, |i, j| covariance[(i, j)] + if i == j { RIDGE * mean } else { 0.0 });
    let factor = match matrix.llt(Side::Lower) {
        Ok(factor) => factor.L().to_owned(),
        // No digits are left: independent errors are a conservative choice.
        Err(_) => Mat::from_fn(n, n, |i, j| if i == j { covariance[(i, i)].sqrt() } else { 0.0 }),
    };
    let normal = |k: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(SEED ^ k as u64);
        (0..n).map(|_| StandardNormal.sample(&mut random)).collect::<Vec<f64>>()
    };
    let normal: Vec<Vec<f64>> = (0..draws).into_par_iter().map(normal).collect();
    let errors = product(&factor, &Mat::from_fn(n, draws, |i, k| normal[k][i]));
    (0..draws).flat_map(|k| (0..n).map(move |i| (i, k))).map(|at| errors[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets_of(
        scores: &[f64],
        covariance: &Mat<f64>,
        level: f64,
        draws: usize,
        coverage: RankCoverage,
    ) -> RankSets {
        let draws = draw_errors(covariance, draws);
        RankSets::new(scores, covariance, draws, 1.0, level, coverage)
    }

    /// Independent errors with these standard deviations.
    fn independent(se: &[f64]) -> Mat<f64> {
        Mat::from_fn(se.len(), se.len(), |i, j| if i == j { se[i] * se[i] } else { 0.0 })
    }

    #[test]
    fn clear_differences_give_single_ranks_and_tiers() {
        let scores = [0.0, 3.0, 1.0, 2.0];
        let sets = sets_of(&scores, &independent(&[0.01; 4]), 0.95, 200, RankCoverage::All);
        assert_eq!(sets.ranges, [(4, 4), (1, 1), (3, 3), (2, 2)]);
        assert_eq!(sets.tiers, [4, 1, 3, 2]);
        let sets = sets_of(&scores, &independent(&[9.0; 4]), 0.95, 200, RankCoverage::All);
        assert_eq!(sets.ranges, [(1, 4); 4]);
        assert_eq!(sets.tiers, [1; 4]);
    }

    #[test]
    fn neighbours_that_cannot_be_told_apart_share_a_tier() {
        let scores = [5.0, 4.9, 0.0, -0.1, -5.0];
        let sets = sets_of(&scores, &independent(&[0.2; 5]), 0.95, 400, RankCoverage::All);
        assert_eq!(sets.ranges, [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]);
        assert_eq!(sets.tiers, [1, 1, 2, 2, 3]);
    }

    /// The procedure as published, without any short cut, with draws of its own.
    fn slow(scores: &[f64], covariance: &Mat<f64>, level: f64, draws: usize) -> Vec<(u32, u32)> {
        let n = scores.len();
        let z = draw_errors(covariance, draws);
        let se = |i: usize, j: usize| {
            (covariance[(i, i)] + covariance[(j, j)] - 2.0 * covariance[(i, j)]).sqrt()
        };
        let mut is_left = vec![vec![true; n]; n];
        loop {
            let mut largest: Vec<f64> = (0..draws)
                .map(|k| {
                    let z = &z[k * n..(k + 1) * n];
                    let mut largest = 0.0_f64;
                    for i in 0..n {
                        for j in (0..n).filter(|&j| j != i && is_left[i][j]) {
                            largest = largest.max((z[i] - z[j]).abs() / se(i, j));
                        }
                    }
                    largest
                })
                .collect();
            largest.sort_by(f64::total_cmp);
            let critical = largest[(level * draws as f64).ceil() as usize - 1];
            let mut has_changed = false;
            for i in 0..n {
                for j in (0..n).filter(|&j| j != i) {
                    let statistic = (scores[i] - scores[j]).abs() / se(i, j);
                    if is_left[i][j] && statistic > critical {
                        (is_left[i][j], has_changed) = (false, true);
                    }
                }
            }
            if !has_changed {
                break;
            }
        }
        let range = |i: usize| {
            let apart = |better: bool| {
                let is = |j: &usize| !is_left[i][*j] && (scores[*j] > scores[i]) == better;
                (0..n).filter(|j| *j != i).filter(is).count() as u32
            };
            (1 + apart(true), n as u32 - apart(false))
        };
        (0..n).map(range).collect()
    }

    #[test]
    fn sets_are_those_of_the_published_procedure() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for n in [2, 3, 6, 12, 25] {
            let scores: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
            let root: Vec<f64> = (0..n * n).map(|_| StandardNormal.sample(&mut random)).collect();
            let covariance = Mat::from_fn(n, n, |i, j| {
                (0..n).map(|k| 0.01 * root[i * n + k] * root[j * n + k]).sum::<f64>()
            });
            let found = sets_of(&scores, &covariance, 0.9, 300, RankCoverage::All);
            assert_eq!(found.ranges, slow(&scores, &covariance, 0.9, 300), "{n} items");
            let each = sets_of(&scores, &covariance, 0.9, 300, RankCoverage::Each);
            for (each, all) in each.ranges.iter().zip(&found.ranges) {
                assert!(each.0 >= all.0 && each.1 <= all.1, "{each:?} {all:?}");
            }
        }
    }

    #[test]
    fn ranges_of_many_items_hold_together() {
        // Bonferroni first: the ranges are still those of the draws.
        let n = 260;
        let scores: Vec<f64> = (0..n).map(|i| 0.1 * f64::from(i)).collect();
        let covariance = independent(&vec![0.3; n as usize]);
        let sets = sets_of(&scores, &covariance, 0.95, 200, RankCoverage::All);
        assert_eq!(sets.ranges, slow(&scores, &covariance, 0.95, 200));
    }
}
