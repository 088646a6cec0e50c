//! Sums of independent trials with different probabilities: the Poisson binomial distribution.

/// Number of votes up to which tests are exact.
pub const MAX_EXACT_VOTES: usize = 1000;
/// Trials that are added to a distribution in one pass over it.
const BATCH: usize = 4;

/// Votes that agree or fall on the left, with the probability of each.
#[derive(Default)]
pub(super) struct Trials {
    successes: u64,
    trials: u64,
    /// Probability and number of the trials of each row.
    rows: Vec<(f64, u64)>,
}

impl Trials {
    pub(super) fn add(&mut self, succeeds: bool, probability: f64, count: u32) {
        let count = u64::from(count);
        self.successes += if succeeds { count } else { 0 };
        self.trials += count;
        self.rows.push((probability, count));
    }

    pub(super) fn share(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.successes as f64 / self.trials as f64)
    }

    pub(super) fn expected_share(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.sum(|p| p) / self.trials as f64)
    }

    /// P(at most this many successes) and P(at least this many).
    pub(super) fn tails(&self) -> Option<(f64, f64)> {
        (self.trials > 0).then(|| match self.trials <= MAX_EXACT_VOTES as u64 {
            true => self.exact_tails(),
            false => self.approximate_tails(),
        })
    }

    /// Σ over the trials of a function of their probability.
    fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.rows.iter().map(|&(p, count)| count as f64 * of(p)).sum()
    }

    /// By the distribution of the number of successes, to which [`BATCH`] trials are added at a time.
    fn exact_tails(&self) -> (f64, f64) {
        let trials = self.trials as usize;
        // The first entries stay zero: terms below the first one.
        let mut distribution = vec![0.0; BATCH + trials + BATCH];
        let mut next = distribution.clone();
        distribution[BATCH] = 1.0;
        let each = |&(p, count): &(f64, u64)| std::iter::repeat_n(p, count as usize);
        let mut probabilities = self.rows.iter().flat_map(each);
        let mut added = 0;
        while added < trials {
            let batch = batch_distribution(probabilities.by_ref().take(BATCH));
            added = trials.min(added + BATCH);
            let (entries, _) = next[BATCH..].split_at_mut(added + 1);
            // Windows of entries, because an update in place could not use vector instructions.
            for (entry, before) in entries.iter_mut().zip(distribution.windows(BATCH + 1)) {
                *entry = (0..=BATCH).map(|k| batch[k] * before[BATCH - k]).sum();
            }
            std::mem::swap(&mut distribution, &mut next);
        }
        let entries = &distribution[BATCH..=BATCH + trials];
        let successes = self.successes as usize;
        let below: f64 = entries[..=successes].iter().sum();
        let above: f64 = entries[successes..].iter().sum();
        (below.min(1.0), above.min(1.0))
    }

    /// The refined normal approximation: Φ(x) + γ (1 − x²) φ(x) / 6, with a correction for continuity.
    fn approximate_tails(&self) -> (f64, f64) {
        let mean = self.sum(|p| p);
        let variance = self.sum(|p| p * (1.0 - p));
        let third = self.sum(|p| p * (1.0 - p) * (1.0 - 2.0 * p));
        let k = self.successes as f64;
        if variance <= 0.0 {
            let is_certain = (mean - k).abs() < 0.5;
            return if is_certain { (1.0, 1.0) } else { (0.0, 0.0) };
        }
        let sigma = variance.sqrt();
        let below = |k: f64| {
            let x = (k + 0.5 - mean) / sigma;
            let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let skew = third / (6.0 * sigma.powi(3)) * (1.0 - x * x) * density;
            (super::exact::normal_below(x) + skew).clamp(0.0, 1.0)
        };
        (below(k), 1.0 - below(k - 1.0))
    }
}

/// The distribution of the number of successes of at most [`BATCH`] trials.
fn batch_distribution(probabilities: impl Iterator<Item = f64>) -> [f64; BATCH + 1] {
    let mut batch = [0.0; BATCH + 1];
    batch[0] = 1.0;
    for p in probabilities {
        for k in (1..=BATCH).rev() {
            batch[k] = (1.0 - p) * batch[k] + p * batch[k - 1];
        }
        batch[0] *= 1.0 - p;
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(probabilities: &[f64], successes: usize) -> Trials {
        let mut trials = Trials::default();
        for (k, &p) in probabilities.iter().enumerate() {
            trials.add(k < successes, p, 1);
        }
        trials
    }

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
            let found = trials(&probabilities, k).exact_tails();
            assert!((found.0 - below).abs() < 1e-14 && (found.1 - above).abs() < 1e-14, "{k}");
        }
    }

    #[test]
    fn small_tails_have_all_digits() {
        // 148 votes on the left, of items that are equally good.
        let (_, above) = trials(&[0.5; 148], 148).exact_tails();
        assert!((above / 0.5_f64.powi(148) - 1.0).abs() < 1e-12, "{above:e}");
    }

    #[test]
    fn counts_are_so_many_votes() {
        let mut counted = Trials::default();
        counted.add(true, 0.6, 3);
        counted.add(false, 0.2, 2);
        let apart = trials(&[0.6, 0.6, 0.6, 0.2, 0.2], 3);
        assert_eq!(counted.exact_tails(), apart.exact_tails());
        assert_eq!((counted.share(), apart.share()), (Some(0.6), Some(0.6)));
        let mut huge = Trials::default();
        huge.add(true, 0.5, u32::MAX);
        huge.add(false, 0.5, u32::MAX);
        let (below, above) = huge.tails().unwrap();
        assert!((below - 0.5).abs() < 1e-4 && (above - 0.5).abs() < 1e-4);
    }

    #[test]
    fn many_votes_are_approximated_well() {
        let probabilities: Vec<f64> =
            (0..1000).map(|k| 0.5 + 0.45 * f64::from(k) / 1000.0).collect();
        let mean: f64 = probabilities.iter().sum();
        for offset in [-30, -10, 0, 15, 25] {
            let trials = trials(&probabilities, (mean as i64 + offset) as usize);
            let (exact, near) = (trials.exact_tails(), trials.approximate_tails());
            assert!((exact.0 - near.0).abs() < 5e-3 * exact.0.max(0.01), "{exact:?} {near:?}");
            assert!((exact.1 - near.1).abs() < 5e-3 * exact.1.max(0.01), "{exact:?} {near:?}");
        }
    }
}
