//! Sums of independent trials with different probabilities: the Poisson binomial distribution.

/// Number of votes up to which tests are exact.
pub const MAX_EXACT_VOTES: usize = 1000;

/// Votes that agree or fall on the left, and the probability of each.
#[derive(Default)]
pub(super) struct Trials {
    successes: u64,
    probabilities: Vec<f64>,
}

impl Trials {
    pub(super) fn add(&mut self, succeeds: bool, probability: f64, count: u32) {
        self.successes += if succeeds { u64::from(count) } else { 0 };
        self.probabilities.extend(std::iter::repeat_n(probability, count as usize));
    }

    pub(super) fn share(&self) -> Option<f64> {
        let trials = self.probabilities.len();
        (trials > 0).then(|| self.successes as f64 / trials as f64)
    }

    pub(super) fn expected_share(&self) -> Option<f64> {
        let trials = self.probabilities.len() as f64;
        (trials > 0.0).then(|| self.probabilities.iter().sum::<f64>() / trials)
    }

    /// P(at most this many) and P(at least this many).
    pub(super) fn tails(&self) -> Option<(f64, f64)> {
        (!self.probabilities.is_empty())
            .then(|| tails(&self.probabilities, self.successes as usize))
    }
}

/// P(X ≤ k) and P(X ≥ k) of a sum X of independent trials with these probabilities.
fn tails(probabilities: &[f64], k: usize) -> (f64, f64) {
    if probabilities.len() > MAX_EXACT_VOTES {
        return approximate_tails(probabilities, k);
    }
    // Two lists, because a loop in place depends on itself and cannot use vector instructions.
    let mut distribution = vec![0.0; probabilities.len() + 1];
    let mut next = distribution.clone();
    distribution[0] = 1.0;
    for (trials, &p) in probabilities.iter().enumerate() {
        next[0] = (1.0 - p) * distribution[0];
        let (fewer, same) = (&distribution[..=trials], &distribution[1..=trials + 1]);
        for (next, (fewer, same)) in next[1..=trials + 1].iter_mut().zip(fewer.iter().zip(same)) {
            *next = (1.0 - p) * same + p * fewer;
        }
        std::mem::swap(&mut distribution, &mut next);
    }
    let below: f64 = distribution[..=k].iter().sum();
    let above: f64 = distribution[k..].iter().sum();
    (below.min(1.0), above.min(1.0))
}

/// The refined normal approximation: Φ(x) + γ (1 − x²) φ(x) / 6, with a correction for continuity.
fn approximate_tails(probabilities: &[f64], k: usize) -> (f64, f64) {
    let mean: f64 = probabilities.iter().sum();
    let variance: f64 = probabilities.iter().map(|p| p * (1.0 - p)).sum();
    let third: f64 = probabilities.iter().map(|p| p * (1.0 - p) * (1.0 - 2.0 * p)).sum();
    if variance <= 0.0 {
        let at = (mean - k as f64).abs() < 0.5;
        return if at { (1.0, 1.0) } else { (0.0, 0.0) };
    }
    let sigma = variance.sqrt();
    let below = |k: f64| {
        let x = (k + 0.5 - mean) / sigma;
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let skew = third / (6.0 * sigma.powi(3)) * (1.0 - x * x) * density;
        (super::exact::normal_below(x) + skew).clamp(0.0, 1.0)
    };
    (below(k as f64), 1.0 - below(k as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_all_outcomes() {
        let probabilities = [0.1, 0.5, 0.9, 0.3, 0.7];
        for k in 0..=5 {
            let (mut below, mut above) = (0.0, 0.0);
            for outcome in 0_u32..32 {
                let chance: f64 = (0..5)
                    .map(|i| {
                        let p = probabilities[i];
                        if outcome >> i & 1 == 1 { p } else { 1.0 - p }
                    })
                    .product();
                let successes = outcome.count_ones() as usize;
                below += if successes <= k { chance } else { 0.0 };
                above += if successes >= k { chance } else { 0.0 };
            }
            let found = tails(&probabilities, k);
            assert!((found.0 - below).abs() < 1e-14 && (found.1 - above).abs() < 1e-14, "{k}");
        }
    }

    #[test]
    fn many_votes_are_approximated_well() {
        let probabilities: Vec<f64> =
            (0..1000).map(|k| 0.5 + 0.45 * f64::from(k) / 1000.0).collect();
        let mean: f64 = probabilities.iter().sum();
        for offset in [-30, -10, 0, 15, 25] {
            let k = (mean as i64 + offset) as usize;
            let (exact, near) = (tails(&probabilities, k), approximate_tails(&probabilities, k));
            assert!((exact.0 - near.0).abs() < 5e-3 * exact.0.max(0.01), "{exact:?} {near:?}");
            assert!((exact.1 - near.1).abs() < 5e-3 * exact.1.max(0.01), "{exact:?} {near:?}");
        }
    }
}
