//! Kendall's τ: rank correlation of two lists of scores.

/// Kendall's τ-b of two lists of scores: 1 for the same order, −1 for the opposite order.
///
/// NaN if all scores of a list are equal. O(n log n): discordant pairs are counted by a merge sort.
///
/// # Panics
/// If the lists differ in length.
#[must_use]
pub fn tau(a: &[f64], b: &[f64]) -> f64 {
    PairAgreement::new(a, b).tau()
}

/// How two lists of scores order pairs of items. Sums over several lists of items leave out pairs of
/// items from different lists, which do not compare.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PairAgreement {
    /// Pairs in the same order less pairs in the opposite order.
    concordant_less_discordant: f64,
    /// Pairs that the first and the second list order.
    ordered: [f64; 2],
}

impl PairAgreement {
    /// The pairs of these lists.
    ///
    /// # Panics
    /// If the lists differ in length.
    #[must_use]
    pub fn new(a: &[f64], b: &[f64]) -> Self {
        assert_eq!(a.len(), b.len(), "one score for each item in both lists");
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by(|&p, &q| a[p].total_cmp(&a[q]).then(b[p].total_cmp(&b[q])));
        let pairs = |run: usize| (run * run.saturating_sub(1) / 2) as f64;
        let tied = |same: &dyn Fn(usize, usize) -> bool, order: &[usize]| -> f64 {
            order.chunk_by(|&p, &q| same(p, q)).map(|run| pairs(run.len())).sum()
        };
        let all = pairs(a.len());
        let tied_a = tied(&|p, q| a[p] == a[q], &order);
        let tied_both = tied(&|p, q| a[p] == a[q] && b[p] == b[q], &order);
        let mut values: Vec<f64> = order.iter().map(|&p| b[p]).collect();
        let mut scratch = values.clone();
        let discordant = inversions(&mut values, &mut scratch);
        let tied_b: f64 = values.chunk_by(|p, q| p == q).map(|run| pairs(run.len())).sum();
        Self {
            concordant_less_discordant: all - tied_a - tied_b + tied_both - 2.0 * discordant,
            ordered: [all - tied_a, all - tied_b],
        }
    }

    /// τ-b; NaN if a list orders no pair.
    #[must_use]
    pub fn tau(&self) -> f64 {
        self.concordant_less_discordant / (self.ordered[0] * self.ordered[1]).sqrt()
    }
}

impl std::ops::AddAssign for PairAgreement {
    fn add_assign(&mut self, other: Self) {
        self.concordant_less_discordant += other.concordant_less_discordant;
        for (sum, more) in self.ordered.iter_mut().zip(other.ordered) {
            *sum += more;
        }
    }
}

/// Sorts `values` and counts the pairs that were out of order.
fn inversions(values: &mut [f64], scratch: &mut [f64]) -> f64 {
    let n = values.len();
    if n < 2 {
        return 0.0;
    }
    let middle = n / 2;
    let (left, right) = scratch.split_at_mut(middle);
    let mut count =
        inversions(&mut values[..middle], left) + inversions(&mut values[middle..], right);
    scratch.copy_from_slice(values);
    let (mut p, mut q) = (0, middle);
    for value in values {
        if q == n || (p < middle && scratch[p] <= scratch[q]) {
            *value = scratch[p];
            p += 1;
        } else {
            *value = scratch[q];
            q += 1;
            count += (middle - p) as f64;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{PairAgreement, tau};
    use proptest::prelude::*;

    /// The definition, as a double loop.
    fn slow(a: &[f64], b: &[f64]) -> f64 {
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        let (mut sum, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
        for i in 0..a.len() {
            for j in 0..i {
                let (x, y) = (sign(a[i] - a[j]), sign(b[i] - b[j]));
                sum += x * y;
                of_a += x * x;
                of_b += y * y;
            }
        }
        sum / f64::sqrt(of_a * of_b)
    }

    #[test]
    fn same_and_opposite() {
        assert_eq!(tau(&[1.0, 2.0, 3.0], &[5.0, 6.0, 9.0]), 1.0);
        assert_eq!(tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
        assert!(tau(&[1.0, 1.0], &[3.0, 2.0]).is_nan());
    }

    #[test]
    fn pairs_from_different_lists_do_not_count() {
        let mut sum = PairAgreement::new(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]);
        sum += PairAgreement::new(&[9.0, 8.0], &[0.0, 7.0]);
        assert_eq!(sum.tau(), 0.5);
    }

    proptest! {
        #[test]
        fn fast_equals_slow(pairs in prop::collection::vec((0..6_i32, 0..6_i32), 2..40)) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                pairs.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
            let (fast, slow) = (tau(&a, &b), slow(&a, &b));
            prop_assert!((fast - slow).abs() < 1e-12 || (fast.is_nan() && slow.is_nan()));
        }
    }
}
