//! C2 from L_c† as a dense matrix: only the row sums that may be the largest are computed.
//!
//! For the pair (i, j) let v = L_c†(e_i − e_j). v is largest at i and smallest at j (maximum
//! principle), so that the outliers on pairs incident to i or j have a sum without absolute values:
//!
//!   incident = Σ_b s_ib (v_i − v_b) + Σ_b s_jb (v_b − v_j) − s_ij (v_i − v_j).
//!
//! The others are bounded by the Cauchy–Schwarz inequality:
//!
//!   Σ s_k |v_a − v_b| ≤ √(Σ s_k · Σ s_k (v_a − v_b)²),
//!
//! both sums over the pairs k = (a, b) that are incident to neither. With C = L_c†, S the matrix of
//! outliers and D its row sums, four matrix products give these bounds for all pairs:
//!
//! | product | used for |
//! |---|---|
//! | P = SC | Σ_b s_ib v_b = P_ii − P_ij |
//! | M = C(DC − P) | the squares of all outliers: M_ii + M_jj − M_ij − M_ji |
//! | Q = S(C∘C), T = (S∘C)C | Σ_b s_ib v_b² = Q_ii − 2T_ij + Q_ij |
//!
//! A bound is loose only in the second part, by about a quarter if those outliers look like noise. In
//! dense graphs at most one row sum in a hundred has to be computed.
//!
//! Cost: 4n³ multiply-adds, 40n² bytes, then one pass over the pairs with outliers per row sum.
//! Failure mode: if the bounds are loose every row sum is needed; [`DenseRowSums::largest`] returns
//! none if that exceeds the budget.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::outlier_set::OutlierPairs;
use crate::graph::Pairs;

/// Row sums computed before the bounds are used to discard the others.
const FIRST_BATCH: usize = 64;
/// Row sums computed between two comparisons with the bounds.
const BATCH: usize = 1024;
/// Rounding error of a bound, relative to the bound; a generous estimate.
const RELATIVE_BOUND_ERROR: f64 = 1e-9;
/// Rounding error of a sum of squares, relative to the sum over all outliers.
const RELATIVE_SQUARES_ERROR: f64 = 1e-12;

/// L_c†, the outliers, and an upper bound of each row sum.
pub(super) struct DenseRowSums<'a> {
    pairs: &'a Pairs,
    set: OutlierPairs,
    inverse: Vec<f64>,
    n: usize,
    bounds: Vec<f64>,
}

impl<'a> DenseRowSums<'a> {
    /// `inverse` is L_c† in row-major order.
    pub(super) fn new(pairs: &'a Pairs, outliers: &[f64], inverse: Vec<f64>, n: usize) -> Self {
        let set = OutlierPairs::new(pairs, outliers);
        let bounds = bounds(pairs, outliers, &set, &inverse, n);
        Self { pairs, set, inverse, n, bounds }
    }

    /// Returns the largest row sum of the pairs for which `include` holds, 0 if there are none. With a
    /// limit, returns early: some row sum that reaches the limit, or any smaller number if none does.
    /// None if that takes more than `max_work` operations.
    pub(super) fn largest(
        &self,
        include: impl Fn(usize) -> bool,
        limit: Option<f64>,
        max_work: f64,
    ) -> Option<f64> {
        let (min_bound, enough) = (limit.unwrap_or(0.0), limit.unwrap_or(f64::INFINITY));
        let matters = |&p: &usize| include(p) && self.bounds[p] >= min_bound;
        let mut batch: Vec<usize> = (0..self.pairs.len()).filter(matters).collect();
        let order =
            |a: &usize, b: &usize| self.bounds[*b].total_cmp(&self.bounds[*a]).then(a.cmp(b));
        let first = FIRST_BATCH.min(batch.len());
        if first > 0 {
            batch.select_nth_unstable_by(first - 1, order);
        }
        let mut rest = batch.split_off(first);
        let affordable = |sums: usize| sums as f64 * self.set.pairs.len() as f64 <= max_work;
        if !affordable(first) {
            return None;
        }
        let mut largest = self.largest_of(&batch);
        if largest >= enough {
            return Some(largest);
        }
        rest.retain(|&p| self.bounds[p] >= largest);
        if !affordable(rest.len()) {
            return None;
        }
        rest.par_sort_unstable_by(order);
        for batch in rest.chunks(BATCH) {
            if largest >= enough || self.bounds[batch[0]] < largest {
                break;
            }
            largest = largest.max(self.largest_of(batch));
        }
        Some(largest)
    }

    /// Returns the largest row sum of these pairs.
    fn largest_of(&self, batch: &[usize]) -> f64 {
        let row = |i: u32| &self.inverse[i as usize * self.n..(i as usize + 1) * self.n];
        let sums = batch.par_iter().map_init(
            || vec![0.0; self.n],
            |v, &p| {
                let ends = row(self.pairs.left[p]).iter().zip(row(self.pairs.right[p]));
                v.iter_mut().zip(ends).for_each(|(v, (a, b))| *v = a - b);
                self.set.row_sum(v)
            },
        );
        sums.reduce(|| 0.0, f64::max)
    }
}

/// Returns an upper bound of each pair's row sum.
fn bounds(
    pairs: &Pairs,
    outliers: &[f64],
    set: &OutlierPairs,
    inverse: &[f64],
    n: usize,
) -> Vec<f64> {
    let c = Mat::from_fn(n, n, |i, j| inverse[j * n + i]);
    let (mut s, mut degree) = (Mat::<f64>::zeros(n, n), vec![0.0; n]);
    for &(a, b, votes) in &set.pairs {
        let (a, b) = (a as usize, b as usize);
        s[(a, b)] = votes;
        s[(b, a)] = votes;
        degree[a] += votes;
        degree[b] += votes;
    }
    let all = 0.5 * degree.iter().sum::<f64>();
    let ((p, m), (q, t)) = rayon::join(
        || {
            let p = product(&s, &c);
            let m = product(&c, &Mat::from_fn(n, n, |i, j| degree[i] * c[(i, j)] - p[(i, j)]));
            (p, m)
        },
        || {
            let squares = Mat::from_fn(n, n, |i, j| c[(i, j)] * c[(i, j)]);
            let couplings = Mat::from_fn(n, n, |i, j| s[(i, j)] * c[(i, j)]);
            (product(&s, &squares), product(&couplings, &c))
        },
    );
    let of_pair = |k: usize| {
        let (i, j) = (pairs.left[k] as usize, pairs.right[k] as usize);
        let (vi, vj, own) = (c[(i, i)] - c[(i, j)], c[(i, j)] - c[(j, j)], outliers[k]);
        let (pull_i, pull_j) = (p[(i, i)] - p[(i, j)], p[(j, i)] - p[(j, j)]);
        let incident = degree[i] * vi - pull_i + pull_j - degree[j] * vj - own * (vi - vj);
        let squares_i =
            degree[i] * vi * vi - 2.0 * vi * pull_i + q[(i, i)] - 2.0 * t[(i, j)] + q[(i, j)];
        let squares_j =
            degree[j] * vj * vj - 2.0 * vj * pull_j + q[(j, j)] - 2.0 * t[(j, i)] + q[(j, i)];
        let incident_squares = squares_i + squares_j - own * (vi - vj) * (vi - vj);
        let all_squares = m[(i, i)] + m[(j, j)] - m[(i, j)] - m[(j, i)];
        let other_squares =
            (all_squares - incident_squares).max(0.0) + RELATIVE_SQUARES_ERROR * all_squares.abs();
        let others = (all - degree[i] - degree[j] + own).max(0.0);
        (incident + (others * other_squares).sqrt()) * (1.0 + RELATIVE_BOUND_ERROR)
    };
    (0..pairs.len()).into_par_iter().map(of_pair).collect()
}

fn product(a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::laplacian::pseudo_inverse;
    use crate::{Comparison, ComparisonGraph, Groups};

    /// Random pairs added to a ring with 2 to 9 votes each, and outliers among them.
    fn study(items: u32, pairs: usize, share: f64, seed: u64) -> (ComparisonGraph, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut votes: Vec<_> =
            (0..items).map(|i| Comparison::new(i, (i + 1) % items, 1.0).with_count(9)).collect();
        for _ in 0..pairs {
            let (i, gap) = (rng.random_range(0..items), rng.random_range(1..items));
            let count = rng.random_range(2..10);
            votes.push(Comparison::new(i, (i + gap) % items, 1.0).with_count(count));
        }
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let mut draw = |&w: &f64| (1..w as u64).filter(|_| rng.random_bool(share)).count() as f64;
        let outliers = graph.pairs().weight.iter().map(&mut draw).collect();
        (graph, outliers)
    }

    fn dense<'a>(graph: &'a ComparisonGraph, outliers: &[f64]) -> DenseRowSums<'a> {
        let pairs = graph.pairs();
        let kept: Vec<f64> = pairs.weight.iter().zip(outliers).map(|(w, s)| w - s).collect();
        let inverse = pseudo_inverse(pairs, &kept, graph.components()).unwrap();
        DenseRowSums::new(pairs, outliers, inverse, graph.items())
    }

    #[test]
    fn bounds_hold_and_the_largest_sum_is_found() {
        for (items, pairs, share, seed) in
            [(5, 4, 0.3, 1), (30, 100, 0.1, 2), (30, 100, 0.9, 3), (80, 3000, 0.2, 4)]
        {
            let (graph, outliers) = study(items, pairs, share, seed);
            let dense = dense(&graph, &outliers);
            let all: Vec<usize> = (0..graph.pairs().len()).collect();
            let sums: Vec<f64> = all.iter().map(|&p| dense.largest_of(&[p])).collect();
            for (sum, bound) in sums.iter().zip(&dense.bounds) {
                assert!(sum <= bound, "{sum} {bound}");
            }
            let largest = sums.iter().fold(0.0, |a: f64, b| a.max(*b));
            assert_eq!(dense.largest(|_| true, None, 1e9), Some(largest));
            let odd = all.iter().filter(|&p| p % 2 == 1).fold(0.0, |a: f64, &p| a.max(sums[p]));
            assert_eq!(dense.largest(|p| p % 2 == 1, None, 1e9), Some(odd));
            for limit in [0.5 * largest, largest, largest * (1.0 + 1e-6), 2.0 * largest] {
                let found = dense.largest(|_| true, Some(limit), 1e9).unwrap();
                assert_eq!(found >= limit, largest >= limit, "{found} {limit} {largest}");
            }
            assert_eq!(dense.largest(|_| true, None, 0.0), None);
        }
    }

    #[test]
    fn bounds_discard_most_sums_of_dense_graphs() {
        let (graph, outliers) = study(200, 40_000, 0.1, 5);
        let dense = dense(&graph, &outliers);
        let largest = dense.largest(|_| true, None, 1e9).unwrap();
        let left = dense.bounds.iter().filter(|bound| **bound >= largest).count();
        assert!(left < graph.pairs().len() / 50, "{left} of {}", graph.pairs().len());
    }
}
