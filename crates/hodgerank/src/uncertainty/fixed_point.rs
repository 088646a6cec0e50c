//! Sums that do not depend on the order of their terms.

use crate::numeric::power_of_two_below;

/// Numbers as multiples of a power of two, whose sums are exact: they depend neither on the order of the votes
/// nor on the number of threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedPoint {
    unit: f64,
}

impl FixedPoint {
    /// For sums over `votes` numbers up to `bound`.
    pub(super) fn new(bound: f64, votes: f64) -> Self {
        /// The largest sum, with room for rounding, and the largest number.
        const MAX_SUM: f64 = 2_305_843_009_213_693_952.0;
        const MAX_NUMBER: f64 = 1_125_899_906_842_624.0;
        let most = (MAX_SUM / votes.max(1.0)).min(MAX_NUMBER);
        Self { unit: power_of_two_below(most / bound.max(f64::MIN_POSITIVE)) }
    }

    #[inline]
    pub(super) fn of(self, x: f64) -> i64 {
        /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits. A conversion that checks for
        /// overflow takes longer than everything else about a vote.
        const SHIFT: f64 = 6_755_399_441_055_744.0;
        (x * self.unit + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64
    }

    pub(super) fn real(self, x: i64) -> f64 {
        x as f64 / self.unit
    }
}
