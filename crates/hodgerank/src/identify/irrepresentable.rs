//! C2, irrepresentability: is a correct vote close to a combination of outliers?
//!
//! With s_k outliers on pair k, the row sum of a vote on pair j is
//!
//!   Σ_k s_k |xⱼᵀ L_c† x_k|,
//!
//! an ℓ₁ norm. Its maximum over j is computed in one of two ways:
//!
//! | module | cost |
//! |---|---|
//! | [`dense`]: L_c† as a matrix, bounds of all sums, the sums with the largest bounds | n³ + sums · pairs with outliers |
//! | [`cauchy_sketch`]: random sketches | one solve with L_c per sketch, then one per candidate |
//!
//! Sketches of large graphs are few, so that the pair with the largest sum may not be among their
//! candidates. Sums are therefore also computed for the pairs that the degrees of their items suggest
//! ([`OutlierSet::likely_sum`]). Whether C2 holds is often clear from these alone: one sum that reaches 1 is enough.

mod cauchy_sketch;
mod dense;
mod outlier_set;

pub(super) use outlier_set::OutlierSet;

use super::accuracy::Accuracy;
use super::resistance::MAX_DENSE_ITEMS;
use crate::error::Result;
use crate::laplacian::{BackendChoice, LaplacianSystem, pseudo_inverse};
use dense::DenseRowSums;
use outlier_set::RowSums;

/// Estimates of row sums from which one may reach 1: they are usually too small.
const MIN_LIKELY_SUM: f64 = 0.9;

impl OutlierSet<'_> {
    /// Returns the largest row sums; exact if that takes at most `max_work` operations.
    pub(super) fn row_sums(&self, max_work: f64) -> Result<RowSums> {
        if let Some(dense) = self.dense()? {
            let outside = dense.largest(|p| self.has_inlier(p), None, max_work);
            let inside = dense.largest(|p| self.has_outlier(p), None, max_work);
            if let Some((outside, inside)) = outside.zip(inside) {
                return Ok(RowSums { outside, inside, accuracy: Accuracy::Exact });
            }
        }
        let system = self.system()?;
        let mut sums = cauchy_sketch::row_sums(self, true, &system)?;
        sums.outside = sums.outside.max(self.likely_sum(&system, 0.0)?);
        Ok(sums)
    }

    /// Returns whether C2 holds: all row sums outside S are below 1.
    pub(super) fn c2_holds(&self, max_work: f64) -> Result<bool> {
        let dense = self.dense()?;
        let found =
            dense.and_then(|dense| dense.largest(|p| self.has_inlier(p), Some(1.0), max_work));
        if let Some(outside) = found {
            return Ok(outside < 1.0);
        }
        let system = self.system()?;
        if self.likely_sum(&system, MIN_LIKELY_SUM)? >= 1.0 {
            return Ok(false);
        }
        Ok(cauchy_sketch::row_sums(self, false, &system)?.outside < 1.0)
    }

    /// Prepares the exact computation; none above [`MAX_DENSE_ITEMS`].
    fn dense(&self) -> Result<Option<DenseRowSums<'_>>> {
        if self.graph.items() > MAX_DENSE_ITEMS {
            return Ok(None);
        }
        let pairs = self.graph.pairs();
        let kept = pairs.weight.iter().zip(self.outliers).map(|(w, s)| w - s);
        let inverse = pseudo_inverse(pairs, &kept.collect::<Vec<_>>(), self.graph.components())?;
        Ok(Some(DenseRowSums::new(pairs, self.outliers, inverse, self.graph.items())))
    }

    fn system(&self) -> Result<LaplacianSystem> {
        LaplacianSystem::new(self.inliers, 0.0, BackendChoice::Auto)
    }
}
