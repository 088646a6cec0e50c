//! Tests that are right for small counts, written out: each is a sum of a few products.

/// Wilson's interval for a share of `part` out of `whole`; (0, 1) if nothing was counted.
///
/// With z the normal quantile of (1 + level)/2: (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).
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
    // At the ends rounding must not cut off the share itself.
    let low = ((centre - half) / scale).clamp(0.0, share);
    let high = ((centre + half) / scale).clamp(share, 1.0);
    (low, high)
}

/// Fisher's exact test, one-sided: the probability that `mine` votes drawn from `votes`, of which
/// `flagged` are flagged, hold `mine_flagged` flagged ones or more.
///
/// # Panics
/// If a part is larger than its whole.
#[must_use]
pub fn fisher_more(mine_flagged: u64, mine: u64, flagged: u64, votes: u64) -> f64 {
    assert!(mine_flagged <= mine.min(flagged) && mine.max(flagged) <= votes, "parts of a whole");
    let most = mine.min(flagged);
    let least = (mine + flagged).saturating_sub(votes);
    if mine_flagged <= least {
        return 1.0;
    }
    let term = |k: u64| {
        let ways = ln_choose(flagged, k) + ln_choose(votes - flagged, mine - k);
        (ways - ln_choose(votes, mine)).exp()
    };
    // P(k + 1)/P(k) falls with k: sum away from the mean, until terms no longer count.
    let up = |k: u64| {
        (flagged - k) as f64 * (mine - k) as f64
            / ((k + 1) as f64 * (votes - flagged + k + 1 - mine) as f64)
    };
    let mean = mine as f64 * (flagged as f64 / votes as f64);
    let tail = if mine_flagged as f64 >= mean {
        tail_sum(term(mine_flagged), mine_flagged, |k| (k < most).then(|| (k + 1, up(k))))
    } else {
        let below = mine_flagged - 1;
        let down = |k: u64| (k > least).then(|| (k - 1, 1.0 / up(k - 1)));
        1.0 - tail_sum(term(below), below, down)
    };
    tail.clamp(0.0, 1.0)
}

/// Exact binomial test against ½, two-sided; 1 if nothing was counted.
///
/// The distribution is symmetric, so all outcomes at least as uneven are twice one tail.
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

/// Holm's step-down adjustment: p-values that may be read against one level for all together.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut so_far = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        so_far = so_far.max(((p.len() - rank) as f64 * p[index]).min(1.0));
        adjusted[index] = so_far;
    }
    adjusted
}

/// Adds up `first` and what follows from it; `step` gives the next place and the ratio to it.
/// The ratios must fall below one and go on falling.
fn tail_sum(first: f64, from: u64, step: impl Fn(u64) -> Option<(u64, f64)>) -> f64 {
    let (mut sum, mut term, mut at) = (first, first, from);
    while let Some((next, ratio)) = step(at) {
        term *= ratio;
        if term <= sum * (0.01 * f64::EPSILON) {
            break;
        }
        sum += term;
        at = next;
    }
    sum
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// ln n!: a product while it is exact, then Stirling's series, whose error is below 1e-16 here.
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

/// Acklam's rational approximation; relative error below 1.2e-9.
fn normal_quantile(p: f64) -> f64 {
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

    #[test]
    fn logarithms_of_factorials_join_smoothly() {
        let mut sum = 0.0;
        for n in 1..200_u64 {
            sum += (n as f64).ln();
            assert!((ln_factorial(n) - sum).abs() < 1e-13 * sum.max(1.0), "{n}");
        }
        assert_eq!(ln_factorial(0), 0.0);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table =
            [(0.5, 0.0), (0.975, 1.959_963_985), (0.995, 2.575_829_304), (0.999, 3.090_232_306)];
        for (p, z) in table {
            assert!((normal_quantile(p) - z).abs() < 1e-8, "{p}");
            assert!((normal_quantile(1.0 - p) + z).abs() < 1e-8, "{p}");
        }
    }
}
