//! Sums and products with twice the digits of an `f64`.
//!
//! A sum of votes with weights from 1 to 2⁵³ keeps its light terms only if it has more than 16 digits.
//! The error-free transformations are those of Dekker and Knuth. They use no fused multiply-add, which
//! would be a library call on processors without that instruction.

/// hi + lo with |lo| ≤ ½ ulp(hi): about 32 digits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DoubleDouble {
    hi: f64,
    lo: f64,
}

impl DoubleDouble {
    /// a − b, exactly.
    #[inline]
    pub(crate) fn difference(a: f64, b: f64) -> Self {
        Self::sum(a, -b)
    }

    /// ab, exactly, unless a or b exceeds 2⁹⁹⁶ or the product is nearly subnormal.
    #[inline]
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let hi = a * b;
        let ((a_hi, a_lo), (b_hi, b_lo)) = (halves(a), halves(b));
        let lo = ((a_hi * b_hi - hi) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
        Self { hi, lo }
    }

    /// a + b, exactly.
    #[inline]
    fn sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        let b_part = hi - a;
        Self { hi, lo: (a - (hi - b_part)) + (b - b_part) }
    }

    /// a + b, exactly, for |a| ≥ |b|.
    #[inline]
    fn ordered_sum(a: f64, b: f64) -> Self {
        let hi = a + b;
        Self { hi, lo: b - (hi - a) }
    }

    /// The nearest `f64`.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.hi + self.lo
    }
}

impl From<f64> for DoubleDouble {
    #[inline]
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl std::ops::Neg for DoubleDouble {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl std::ops::AddAssign for DoubleDouble {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        let hi = Self::sum(self.hi, other.hi);
        let lo = Self::sum(self.lo, other.lo);
        let partial = Self::ordered_sum(hi.hi, hi.lo + lo.hi);
        *self = Self::ordered_sum(partial.hi, partial.lo + lo.lo);
    }
}

impl std::ops::Mul for DoubleDouble {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.hi, other.hi);
        let cross = self.hi * other.lo + self.lo * other.hi;
        Self::ordered_sum(product.hi, product.lo + cross)
    }
}

/// The upper and the lower 26 bits (Veltkamp).
#[inline]
fn halves(a: f64) -> (f64, f64) {
    const SPLITTER: f64 = 134_217_729.0; // 2²⁷ + 1
    let scaled = SPLITTER * a;
    let hi = scaled - (scaled - a);
    (hi, a - hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_terms_survive_next_to_heavy_ones() {
        let heavy = 9_007_199_254_740_992.0;
        let mut sum = DoubleDouble::product(heavy, 1.0 / 3.0);
        sum += DoubleDouble::from(1e-3);
        sum += -DoubleDouble::product(heavy, 1.0 / 3.0);
        assert!((sum.value() - 1e-3).abs() < 1e-18, "{sum:?}");
    }

    #[test]
    fn products_and_differences_are_exact() {
        let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0);
        // (1 + ε)(1 − ε/2) = 1 + ε/2 − ε²/2, which needs more than 53 bits.
        let mut product = DoubleDouble::product(a, b);
        product += DoubleDouble::from(-1.0);
        product += DoubleDouble::from(-f64::EPSILON / 2.0);
        assert_eq!(product.value(), -f64::EPSILON * f64::EPSILON / 2.0);
        let tiny = DoubleDouble::difference(1.0, 1e-30) * DoubleDouble::from(3.0);
        let mut rest = tiny;
        rest += DoubleDouble::from(-3.0);
        assert!((rest.value() + 3e-30).abs() < 1e-45, "{rest:?}");
    }
}
