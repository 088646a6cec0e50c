//! The size of the outcomes of the trusted groups, to which rounding errors relate.
//!
//! A vote of 10¹² next to votes of size 1 makes every residual below 10³ look like rounding. Once it
//! is flagged, residuals are compared with the outcomes of the other votes.

use crate::graph::Groups;

/// The exponent bits of an `f64` start here, and this many exponents exist.
const MANTISSA_BITS: u32 = 52;
const EXPONENTS: usize = 1 << 11;
/// Numbers below this fraction of the largest of all outcomes are rounding errors. Where only ties are
/// trusted, no other outcome would tell.
const ROUNDING_RATIO: f64 = 1e-20;

/// The trusted groups by the binary exponent of |y|.
pub(super) struct OutcomeScale {
    classes: Vec<Class>,
    /// The largest exponent with a trusted group.
    top: usize,
    /// The largest |y|, exact while a group of the first `top` is trusted, else a power of two above it.
    largest: f64,
    /// `ROUNDING_RATIO` times the largest |y| of all groups.
    least: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Class {
    groups: u32,
    /// Σ w|y|.
    total: f64,
}

impl OutcomeScale {
    /// All groups are trusted.
    pub(super) fn new(groups: &Groups) -> Self {
        let mut classes = vec![Class::default(); EXPONENTS];
        for (y, w) in groups.y.iter().zip(&groups.weight) {
            let class = &mut classes[exponent(*y)];
            class.groups += 1;
            class.total += w * y.abs();
        }
        let largest = groups.y.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        Self { classes, top: exponent(largest), largest, least: ROUNDING_RATIO * largest }
    }

    /// The largest |y|, or at most twice as much; never less than rounding errors.
    pub(super) fn largest(&self) -> f64 {
        self.largest.max(self.least)
    }

    /// Σ w|y|.
    pub(super) fn total(&self) -> f64 {
        self.classes[..=self.top].iter().map(|class| class.total).sum()
    }

    /// Flags or trusts a group. Returns whether the scale has changed.
    pub(super) fn set_flag(&mut self, groups: &Groups, g: usize, flagged: bool) -> bool {
        let (exponent, size) = (exponent(groups.y[g]), groups.weight[g] * groups.y[g].abs());
        let class = &mut self.classes[exponent];
        if flagged {
            class.groups -= 1;
            class.total -= size;
        } else {
            class.groups += 1;
            class.total += size;
        }
        let is_used = |&exponent: &usize| self.classes[exponent].groups > 0;
        let top = (0..=self.top.max(exponent)).rev().find(is_used).unwrap_or(0);
        let has_changed = top != self.top;
        if has_changed {
            self.top = top;
            self.largest =
                f64::from_bits(((top as u64 + 1) << MANTISSA_BITS).min(f64::MAX.to_bits()));
        }
        has_changed
    }
}

/// The biased binary exponent; 0 for 0.
fn exponent(y: f64) -> usize {
    (y.to_bits() >> MANTISSA_BITS) as usize & (EXPONENTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;

    #[test]
    fn the_scale_follows_the_trusted_groups() {
        let votes = [(0, 1, 1e12), (0, 1, -3.0), (1, 2, 2.5), (0, 2, 0.25), (0, 2, 0.0)];
        let votes = votes.map(|(i, j, y)| Comparison::new(i, j, y).with_count(2));
        let groups = Groups::merge(3, &votes).unwrap().groups;
        let at = |y: f64| groups.y.iter().position(|&other| other == y).unwrap();
        let mut scale = OutcomeScale::new(&groups);
        assert_eq!((scale.largest(), scale.total()), (1e12, 2e12 + 11.5));
        // 2 ≤ |y| < 4 for two groups.
        assert!(scale.set_flag(&groups, at(1e12), true));
        assert_eq!((scale.largest(), scale.total()), (4.0, 11.5));
        assert!(!scale.set_flag(&groups, at(-3.0), true));
        assert_eq!((scale.largest(), scale.total()), (4.0, 5.5));
        assert!(scale.set_flag(&groups, at(2.5), true));
        assert_eq!((scale.largest(), scale.total()), (0.5, 0.5));
        // A tie is left.
        assert!(scale.set_flag(&groups, at(0.25), true));
        assert_eq!((scale.largest(), scale.total()), (1e-8, 0.0));
        assert!(scale.set_flag(&groups, at(1e12), false));
        assert!(scale.largest() >= 1e12 && scale.largest() < 2e12);
    }
}
