//! How much a pair matters for the question that is asked.
//!
//! For the first K places, an item matters as far as it is open whether it belongs to them: 4q(1 − q), q the
//! probability that its score is above the middle between the places K and K + 1. A pair matters as much as
//! its items do on average.

use super::posterior::Posterior;
use crate::predict::logistic;

/// The logistic function with this factor is close to the normal distribution function.
const NORMAL_FACTOR: f64 = 1.702;

/// The weight of each item; empty if all items matter equally.
#[derive(Debug, Clone)]
pub(super) struct Relevance(Vec<f64>);

impl Relevance {
    /// The weights for the first `top` places, given the variances of the scores.
    pub(super) fn new(posterior: &Posterior, variances: &[f64], top: Option<usize>) -> Self {
        let Some(top) = top else { return Self(Vec::new()) };
        let mut sorted = posterior.means().to_vec();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let border = 0.5 * (sorted[top - 1] + sorted[top]);
        let weight = |(mean, variance): (&f64, &f64)| {
            let above = logistic(NORMAL_FACTOR * (mean - border) / variance.sqrt());
            4.0 * above * (1.0 - above)
        };
        Self(posterior.means().iter().zip(variances).map(weight).collect())
    }

    /// Whether items matter differently.
    pub(super) fn is_weighted(&self) -> bool {
        !self.0.is_empty()
    }

    /// The weight of an item.
    pub(super) fn of_item(&self, item: u32) -> f64 {
        self.0.get(item as usize).copied().unwrap_or(1.0)
    }

    /// The weight of a pair.
    pub(super) fn of(&self, i: u32, j: u32) -> f64 {
        0.5 * (self.of_item(i) + self.of_item(j))
    }
}
