//! Exact tests, Wilson's interval and Holm's adjustment.
//!
//! `statrs` gives the same p-values (the unit tests compare them), but it sums a hypergeometric tail
//! over the whole support, 0.5 s instead of 2 µs for a test on a hundred million votes. Its results
//! also differ from these in the last digits, its normal quantile from the ninth digit on, which
//! would change published reports.

/// Terms of a tail below this share of the sum are left out.
const NEGLIGIBLE_TERM: f64 = 0.01 * f64::EPSILON;

/// Wilson's confidence interval (low, high) of the share `part` / `whole`; (0, 1) for `whole` = 0.
///
/// `level` is the confidence, above 0 and below 1. With z the normal quantile of (1 + level)/2: (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).
#[must_use]
pub fn wilson(part: u64, whole: u64, level: f64) -> (f64, f64) {
    if whole == 0 {
        return (0.0, 1.0);
    }
    let n = whole as f64;
    let share = part as f64 / n;
    let z = normal_quantile(0.5 + 0.5 * level);
    let centre = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // Rounding must not exclude the share itself at the ends.
    let low = ((centre - half) / scale).clamp(0.0, share);
    let high = ((centre + half) / scale).clamp(share, 1.0);
    (low, high)
}

/// One-sided p-value of Fisher's exact test: the probability that `mine` votes drawn without
/// replacement from `votes`, of which `flagged` are flagged, contain at least `mine_flagged` flagged
/// ones.
///
/// # Panics
/// If a part is larger than its whole.
#[must_use]
pub fn fisher_more(mine_flagged: u64, mine: u64, flagged: u64, votes: u64) -> f64 {
    assert!(mine_flagged <= mine.min(flagged) && mine.max(flagged) <= votes, "parts of a whole");
    let max = mine.min(flagged);
    let min = (mine + flagged).saturating_sub(votes);
    if mine_flagged <= min {
        return 1.0;
    }
    let term = |k: u64| {
        let ways = ln_choose(flagged, k) + ln_choose(votes - flagged, mine - k);
        (ways - ln_choose(votes, mine)).exp()
    };
    // P(k + 1)/P(k) decreases in k: sum away from the mean until terms are negligible.
    let up = |k: u64| {
        (flagged - k) as f64 * (mine - k) as f64
            / ((k + 1) as f64 * (votes - flagged + k + 1 - mine) as f64)
    };
    let mean = mine as f64 * (flagged as f64 / votes as f64);
    let tail = if mine_flagged as f64 >= mean {
        tail_sum(term(mine_flagged), mine_flagged, |k| (k < max).then(|| (k + 1, up(k))))
    } else {
        let below = mine_flagged - 1;
        let down = |k: u64| (k > min).then(|| (k - 1, 1.0 / up(k - 1)));
        1.0 - tail_sum(term(below), below, down)
    };
    tail.clamp(0.0, 1.0)
}

/// Two-sided p-value of the exact binomial test of `part` successes in `whole` trials against ½; 1
/// for `whole` = 0.
///
/// The distribution is symmetric, so the p-value is twice one tail.
///
/// # Panics
/// If `part` is larger than `whole`.
#[must_use]
pub fn binomial_half_two_sided(part: u64, whole: u64) -> f64 {
    assert!(part <= whole, "a part of a whole");
    let fewer = part.min(whole - part);
    if 2 * fewer == whole {
        return 1.0;
    }
    let term = (ln_choose(whole, fewer) - whole as f64 * std::f64::consts::LN_2).exp();
    let down = |k: u64| (k > 0).then(|| (k - 1, k as f64 / (whole - k + 1) as f64));
    (2.0 * tail_sum(term, fewer, down)).min(1.0)
}

/// Holm's step-down adjustment. Comparing adjusted p-values with a level bounds the probability of
/// any false rejection by that level.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(((p.len() - rank) as f64 * p[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

/// Sums a tail from its first term, `first` at `from`. `step` returns the next index and the ratio of
/// its term to the present one; ratios must decrease and be below one in the end.
fn tail_sum(first: f64, from: u64, step: impl Fn(u64) -> Option<(u64, f64)>) -> f64 {
    let (mut sum, mut term, mut k) = (first, first, from);
    while let Some((next, ratio)) = step(k) {
        term *= ratio;
        if term <= sum * NEGLIGIBLE_TERM {
            break;
        }
        sum += term;
        k = next;
    }
    sum
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// ln n!: the exact product up to 20!, then Stirling's series with a truncation error below 1e-16.
fn ln_factorial(n: u64) -> f64 {
    let x = n as f64;
    if n <= 20 {
        return ((1..=n).product::<u64>() as f64).ln();
    }
    let (inverse, square) = (1.0 / x, 1.0 / (x * x));
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x + 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// P(X ≤ x) of a standard normal X: a series near the middle, a continued fraction in the tails.
pub(super) fn normal_below(x: f64) -> f64 {
    let size = x.abs();
    let density = (-0.5 * size * size).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let above = if size < 3.0 {
        let (mut term, mut sum) = (size, size);
        for k in 1..60 {
            term *= size * size / f64::from(2 * k + 1);
            sum += term;
        }
        0.5 - density * sum
    } else {
        let fraction = (1..60).rev().fold(size, |rest, k| size + f64::from(k) / rest);
        density / fraction
    };
    if x > 0.0 { 1.0 - above } else { above }
}

/// The standard normal quantile by Acklam's rational approximation; relative error below 1.2e-9.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e+01,
        2.209460984245205e+02,
        -2.759285104469687e+02,
        1.383_577_518_672_69e2,
        -3.066479806614716e+01,
        2.506628277459239e+00,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e+01,
        1.615858368580409e+02,
        -1.556989798598866e+02,
        6.680131188771972e+01,
        -1.328068155288572e+01,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-03,
        -3.223964580411365e-01,
        -2.400758277161838e+00,
        -2.549732539343734e+00,
        4.374664141464968e+00,
        2.938163982698783e+00,
    ];
    const D: [f64; 5] = [
        7.784695709041462e-03,
        3.224671290700398e-01,
        2.445134137142996e+00,
        3.754408661907416e+00,
        1.0,
    ];
    const TAIL: f64 = 0.02425;
    let horner = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    if p < TAIL {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    } else if p > 1.0 - TAIL {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        q * horner(&A, q * q) / horner(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Hypergeometric, Normal};

    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{found:e}, expected {expected:e}");
    }

    #[test]
    fn log_factorials_are_accurate_around_the_switch_to_stirling() {
        let mut sum = 0.0;
        for n in 1..200_u64 {
            sum += (n as f64).ln();
            assert!((ln_factorial(n) - sum).abs() < 1e-13 * sum.max(1.0), "{n}");
        }
        assert_eq!(ln_factorial(0), 0.0);
    }

    /// Logarithms of factorials of millions have ten digits after the point left.
    #[test]
    fn fisher_p_values_agree_with_statrs() {
        for (mine_flagged, mine, flagged, votes, tolerance) in [
            (2, 4, 4, 8, 1e-12),
            (12, 100, 30, 1000, 1e-12),
            (300, 1000, 2000, 20_000, 1e-10),
            (12_100, 100_000, 120_000, 1_000_000, 1e-8),
        ] {
            let found = fisher_more(mine_flagged, mine, flagged, votes);
            let tail = Hypergeometric::new(votes, flagged, mine).unwrap().sf(mine_flagged - 1);
            assert_close(found, tail, tolerance);
        }
    }

    #[test]
    fn binomial_p_values_agree_with_statrs() {
        for (part, whole, tolerance) in [
            (1, 10, 1e-12),
            (40, 100, 1e-12),
            (450, 1000, 1e-11),
            (4000, 10_000, 1e-10),
            (499_020, 1_000_000, 1e-8),
            (490_000, 1_000_000, 1e-8),
            (481_500, 1_000_000, 1e-8),
        ] {
            let found = binomial_half_two_sided(part, whole);
            let tail = Binomial::new(0.5, whole).unwrap().cdf(part);
            assert_close(found, 2.0 * tail, tolerance);
        }
    }

    #[test]
    fn normal_probabilities_agree_with_statrs() {
        let normal = Normal::new(0.0, 1.0).unwrap();
        for k in -80..=80 {
            let x = f64::from(k) / 10.0;
            let (ours, theirs) = (normal_below(x), normal.cdf(x));
            assert!(
                (ours - theirs).abs() <= 1e-10 * theirs.max(1e-9) + 1e-15,
                "{x}: {ours} {theirs}"
            );
        }
    }

    #[test]
    fn normal_quantiles_agree_with_statrs() {
        let normal = Normal::new(0.0, 1.0).unwrap();
        assert_eq!(normal_quantile(0.5), 0.0);
        for p in [0.001, 0.01, 0.025, 0.3, 0.75, 0.9, 0.975, 0.995, 0.9995] {
            assert_close(normal_quantile(p), normal.inverse_cdf(p), 1.2e-9);
        }
    }
}
