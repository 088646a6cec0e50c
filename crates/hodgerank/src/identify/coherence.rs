//! C2: can a good vote be mistaken for a combination of outliers?
//!
//! With s_k outliers on pair k, the row sum of a vote on pair j is
//!
//!   Σ_k s_k |xⱼᵀ L_c† x_k|,
//!
//! an ℓ₁ norm. Two ways to its maximum over j:
//!
//! | way | cost |
//! |---|---|
//! | [`exact`]: L_c† as a matrix, bounds of all sums, the sums that matter | n³ + sums · pairs with outliers |
//! | [`sketched`]: Cauchy sketches | one solve with L_c each, then one for each candidate |

mod exact;
mod sketched;

use super::Accuracy;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Pairs};
use crate::laplacian::{BackendChoice, LaplacianSystem, pseudo_inverse};
use exact::Exact;

pub(super) use sketched::response;

/// Items up to which L_c† is formed: 32 MB.
const DENSE_MOST_ITEMS: usize = 2000;

/// The largest row sums of votes outside and inside S.
pub(super) struct RowSums {
    pub(super) outside: f64,
    pub(super) inside: f64,
    pub(super) accuracy: Accuracy,
}

/// A set S of outliers on a graph.
pub(super) struct OutlierSet<'a> {
    /// All votes.
    pub(super) graph: &'a ComparisonGraph,
    /// The votes without S, as connected as all.
    pub(super) inliers: &'a ComparisonGraph,
    /// Votes of S on each pair of `graph`.
    pub(super) outliers: &'a [f64],
}

impl OutlierSet<'_> {
    /// The largest row sums, with at most `work` steps for the exact way.
    pub(super) fn row_sums(&self, work: f64) -> Result<RowSums> {
        if let Some(exact) = self.exact()? {
            let outside = exact.largest(|p| self.is_out(p), None, work);
            let inside = exact.largest(|p| self.is_in(p), None, work);
            if let Some((outside, inside)) = outside.zip(inside) {
                return Ok(RowSums { outside, inside, accuracy: Accuracy::Exact });
            }
        }
        sketched::row_sums(self, true, &self.system()?)
    }

    /// Whether C2 holds: no row sum outside S reaches 1.
    pub(super) fn holds(&self, work: f64) -> Result<bool> {
        let exact = self.exact()?;
        let found = exact.and_then(|exact| exact.largest(|p| self.is_out(p), Some(1.0), work));
        let outside = match found {
            Some(outside) => outside,
            None => sketched::row_sums(self, false, &self.system()?)?.outside,
        };
        Ok(outside < 1.0)
    }

    /// Everything for the exact way; none for too many items.
    fn exact(&self) -> Result<Option<Exact<'_>>> {
        if self.graph.items() > DENSE_MOST_ITEMS {
            return Ok(None);
        }
        let pairs = self.graph.pairs();
        let kept = pairs.weight.iter().zip(self.outliers).map(|(w, s)| w - s);
        let inverse = pseudo_inverse(pairs, &kept.collect::<Vec<_>>(), self.graph.components())?;
        Ok(Some(Exact::new(pairs, self.outliers, inverse, self.graph.items())))
    }

    fn system(&self) -> Result<LaplacianSystem> {
        LaplacianSystem::new(self.inliers, 0.0, BackendChoice::Auto)
    }

    fn is_out(&self, p: usize) -> bool {
        self.graph.pairs().weight[p] > self.outliers[p]
    }

    fn is_in(&self, p: usize) -> bool {
        self.outliers[p] > 0.0
    }
}

/// The pairs with outliers: their ends and how many.
struct OutlierPairs {
    pairs: Vec<(u32, u32, f64)>,
}

/// Sums kept apart in [`OutlierPairs::row_sum`], so that additions need not wait for each other.
const LANES: usize = 8;

impl OutlierPairs {
    fn new(pairs: &Pairs, outliers: &[f64]) -> Self {
        let ends = pairs.left.iter().zip(&pairs.right).zip(outliers);
        let pairs = ends.filter(|(_, s)| **s > 0.0).map(|((&a, &b), &s)| (a, b, s)).collect();
        Self { pairs }
    }

    /// Σ_k s_k |v_a − v_b| with v = L_c† xⱼ.
    fn row_sum(&self, v: &[f64]) -> f64 {
        let term = |&(a, b, s): &(u32, u32, f64)| s * (v[a as usize] - v[b as usize]).abs();
        let (lanes, rest) = self.pairs.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for lane in lanes {
            sums.iter_mut().zip(lane).for_each(|(sum, pair)| *sum += term(pair));
        }
        sums.iter().sum::<f64>() + rest.iter().map(term).sum::<f64>()
    }
}
