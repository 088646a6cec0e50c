//! A set of outliers, and sums over it.

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::{ComparisonGraph, Pairs};
use crate::identify::accuracy::Accuracy;
use crate::identify::resistance::{FEWER_COLUMNS, potentials};
use crate::laplacian::{Lanes, LaplacianSystem, StoppingRule};
use crate::numeric::sum_tasks;

/// Accuracy of the solves for single row sums.
const ROW_SUM_SOLVE: StoppingRule = StoppingRule::at(1e-7);

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

    /// Returns the largest row sum of the pairs outside S with the largest estimates, among those whose
    /// estimate is at least `min_estimate`; 0 if there are none.
    ///
    /// In well-connected graphs L_c†x is close to 1/dᵢ at i, −1/dⱼ at j and 0 elsewhere, where d is the
    /// number of inliers of an item: with s outliers each, the sum is close to sᵢ/dᵢ + sⱼ/dⱼ.
    pub(super) fn likely_sum(&self, system: &LaplacianSystem, min_estimate: f64) -> Result<f64> {
        let pairs = self.graph.pairs();
        let ends = || pairs.left.iter().zip(&pairs.right).map(|(&i, &j)| (i as usize, j as usize));
        let (mut inliers, mut outliers) =
            (vec![0.0; self.graph.items()], vec![0.0; self.graph.items()]);
        for ((i, j), (w, s)) in ends().zip(pairs.weight.iter().zip(self.outliers)) {
            for item in [i, j] {
                inliers[item] += w - s;
                outliers[item] += s;
            }
        }
        let ratio: Vec<f64> = outliers.iter().zip(&inliers).map(|(s, d)| s / d).collect();
        let estimates = ends().enumerate().map(|(p, (i, j))| (ratio[i] + ratio[j], p));
        let is_likely = |&(sum, p): &(f64, usize)| sum >= min_estimate && self.has_inlier(p);
        let mut likely: Vec<(f64, usize)> = estimates.filter(is_likely).collect();
        keep_largest(&mut likely, FEWER_COLUMNS);
        let chosen: Vec<usize> = likely.into_iter().map(|(_, p)| p).collect();
        let sums = OutlierPairs::new(pairs, self.outliers).row_sums_of(system, pairs, &chosen)?;
        Ok(sums.into_iter().fold(0.0, f64::max))
    }
}

/// Keeps the `count` pairs with the largest numbers, the first of equal ones; returns the smallest number.
pub(super) fn keep_largest(best: &mut Vec<(f64, usize)>, count: usize) -> f64 {
    if best.len() > count {
        best.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        best.truncate(count);
    }
    best.iter().fold(f64::INFINITY, |smallest, (number, _)| smallest.min(*number))
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

    /// Computes the row sums of some pairs by linear solves.
    pub(super) fn row_sums_of(
        &self,
        system: &LaplacianSystem,
        pairs: &Pairs,
        chosen: &[usize],
    ) -> Result<Vec<f64>> {
        let mut sums = Vec::with_capacity(chosen.len());
        for block in chosen.chunks(FEWER_COLUMNS) {
            let v = potentials::<FEWER_COLUMNS>(system, pairs, block, &ROW_SUM_SOLVE)?;
            sums.extend_from_slice(&self.row_sums(&v)[..block.len()]);
        }
        Ok(sums)
    }

    /// Returns the row sums of several vectors v, the numbers of an item next to each other.
    fn row_sums<const L: usize>(&self, v: &[Lanes<f64, L>]) -> [f64; L] {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laplacian::BackendChoice;
    use crate::{Comparison, Groups};

    /// Every pair of 40 items with 8 votes; the votes of S are `outliers` of each pair of item 5.
    fn sum_and_c2(outliers: f64) -> (f64, bool, f64) {
        let items = 40_u32;
        let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j)));
        let votes: Vec<_> = pairs.map(|(i, j)| Comparison::new(i, j, 1.0).with_count(8)).collect();
        let of = |groups: Groups| ComparisonGraph::new(items as usize, groups).unwrap();
        let graph = of(Groups::merge(items as usize, &votes).unwrap().groups);
        let pairs = graph.pairs();
        let ends = pairs.left.iter().zip(&pairs.right);
        let outliers: Vec<f64> =
            ends.map(|(&i, &j)| if i == 5 || j == 5 { outliers } else { 0.0 }).collect();
        let kept: Vec<f64> = pairs.weight.iter().zip(&outliers).map(|(w, s)| w - s).collect();
        let inliers = of(graph.groups().reweighted(&kept));
        let set = OutlierSet { graph: &graph, inliers: &inliers, outliers: &outliers };
        let system = LaplacianSystem::new(&inliers, 0.0, BackendChoice::Auto).unwrap();
        let exact = set.row_sums(1e9).unwrap().outside;
        // Without work for the exact computation, C2 is decided by likely sums and sketches.
        (set.likely_sum(&system, 0.0).unwrap(), set.c2_holds(0.0).unwrap(), exact)
    }

    #[test]
    fn likely_sums_are_the_largest_ones_and_decide_c2() {
        for (outliers, holds) in [(1.0, true), (3.0, true), (5.0, false), (7.0, false)] {
            let (likely, c2, exact) = sum_and_c2(outliers);
            assert!((likely - exact).abs() < 1e-6, "{outliers}: {likely} {exact}");
            assert_eq!((c2, exact < 1.0), (holds, holds), "{outliers}: {exact}");
        }
    }
}
