//! A set of outliers, and sums over it.

use rayon::prelude::*;

use crate::graph::{ComparisonGraph, Pairs};
use crate::identify::accuracy::Accuracy;
use crate::laplacian::Lanes;
use crate::numeric::sum_tasks;

/// Pairs with outliers that one task adds up.
const PAIRS_PER_TASK: usize = 1 << 14;

/// The largest row sums of votes outside and inside S.
pub(in crate::identify) struct RowSums {
    pub(in crate::identify) outside: f64,
    pub(in crate::identify) inside: f64,
    pub(in crate::identify) accuracy: Accuracy,
}

/// A set S of outliers on a graph.
pub(in crate::identify) struct OutlierSet<'a> {
    /// All votes.
    pub(in crate::identify) graph: &'a ComparisonGraph,
    /// The votes outside S, with the same components.
    pub(in crate::identify) inliers: &'a ComparisonGraph,
    /// Number of votes of S on each pair of `graph`.
    pub(in crate::identify) outliers: &'a [f64],
}

impl OutlierSet<'_> {
    /// Whether a pair has a vote outside S.
    pub(super) fn has_inlier(&self, p: usize) -> bool {
        self.graph.pairs().weight[p] > self.outliers[p]
    }

    /// Whether a pair has a vote of S.
    pub(super) fn has_outlier(&self, p: usize) -> bool {
        self.outliers[p] > 0.0
    }
}

/// The pairs with outliers.
pub(super) struct OutlierPairs {
    /// The two items and the number of outliers.
    pub(super) pairs: Vec<(u32, u32, f64)>,
}

/// Independent partial sums in [`OutlierPairs::row_sum`], for instruction-level parallelism.
const LANES: usize = 8;

impl OutlierPairs {
    pub(super) fn new(pairs: &Pairs, outliers: &[f64]) -> Self {
        let ends = pairs.left.iter().zip(&pairs.right).zip(outliers);
        let pairs = ends.filter(|(_, s)| **s > 0.0).map(|((&a, &b), &s)| (a, b, s)).collect();
        Self { pairs }
    }

    /// Returns the row sums of several vectors v, the numbers of an item next to each other.
    pub(super) fn row_sums<const L: usize>(&self, v: &[Lanes<f64, L>]) -> [f64; L] {
        sum_tasks(self.pairs.par_chunks(PAIRS_PER_TASK), |pairs| {
            let mut sums = [0.0; L];
            for &(a, b, s) in pairs {
                let (a, b) = (&v[a as usize], &v[b as usize]);
                (0..L).for_each(|k| sums[k] += s * (a[k] - b[k]).abs());
            }
            sums
        })
    }

    /// Returns Σ_k s_k |v_a − v_b| with v = L_c† xⱼ.
    pub(super) fn row_sum(&self, v: &[f64]) -> f64 {
        let term = |&(a, b, s): &(u32, u32, f64)| s * (v[a as usize] - v[b as usize]).abs();
        let (lanes, rest) = self.pairs.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for lane in lanes {
            sums.iter_mut().zip(lane).for_each(|(sum, pair)| *sum += term(pair));
        }
        sums.iter().sum::<f64>() + rest.iter().map(term).sum::<f64>()
    }
}
