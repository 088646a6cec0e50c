//! The psychometric curve with lapses of greatest likelihood, on bins of votes.
//!
//! ℓ(ε, s) = Σ_bins agree·log P + against·log(1 − P), P = ε + (1 − 2ε) F(a/s).
//!
//! Optimality: ∂ℓ/∂log s = 0 and ∂ℓ/∂ε = 0, or an end of the range towards which ℓ rises. ℓ has
//! one peak in log s, and its best over s has one in ε; so signs of slopes bracket both. Along ε,
//! the slope of the best over s is ∂ℓ/∂ε at that s.
//!
//! Cost: some fifty sums over the bins.

use std::ops::Range;

use super::{Bin, LARGEST_RATE, weighted_log};

/// Digits of log s and of ε.
const CLOSE: f64 = 1e-7;
const MAX_STEPS: usize = 60;
/// Probabilities are not taken for less: an impossible vote costs dearly but not infinitely.
const LEAST: f64 = 1e-12;

/// Bins, and where log s is looked for: from no honest disagreement to that of a coin.
pub(super) struct Curve<'a> {
    pub(super) bins: &'a [Bin],
    pub(super) scales: Range<f64>,
}

/// Slopes of ℓ, and the expected curvature along log s.
struct Slopes {
    log_scale: f64,
    curvature: f64,
    rate: f64,
}

impl Curve<'_> {
    /// The rate and the scale of greatest likelihood; `log_scale` is the best for a rate of zero.
    pub(super) fn best(&self, mut log_scale: f64) -> (f64, f64) {
        let slope = |rate: f64, log_scale: &mut f64| {
            *log_scale = self.best_log_scale(rate, Some(*log_scale));
            self.slopes(rate, *log_scale).rate
        };
        let (mut low, mut high) = (0.0, LARGEST_RATE);
        let mut at_low = self.slopes(low, log_scale).rate;
        if at_low <= 0.0 {
            return (low, log_scale.exp());
        }
        let mut at_high = slope(high, &mut log_scale);
        if at_high >= 0.0 {
            return (high, log_scale.exp());
        }
        // False position, with the bisection of a side that has stood still twice.
        let mut still = 0;
        for step in 0..MAX_STEPS {
            let secant = (low * at_high - high * at_low) / (at_high - at_low);
            let middle = if step % 3 == 2 || !(low..high).contains(&secant) {
                0.5 * (low + high)
            } else {
                secant
            };
            let found = slope(middle, &mut log_scale);
            let moved = if found > 0.0 { middle - low } else { high - middle };
            if found > 0.0 {
                (low, at_low) = (middle, found);
                at_high *= if still == 1 { 0.5 } else { 1.0 };
                still = 1;
            } else {
                (high, at_high) = (middle, found);
                at_low *= if still == -1 { 0.5 } else { 1.0 };
                still = -1;
            }
            if high - low < CLOSE || moved < 0.01 * CLOSE {
                break;
            }
        }
        (0.5 * (low + high), log_scale.exp())
    }

    /// The log s of greatest likelihood for this rate.
    ///
    /// Newton's method on ∂ℓ/∂log s within a bracket, from `start` or from its middle.
    pub(super) fn best_log_scale(&self, rate: f64, start: Option<f64>) -> f64 {
        let (mut low, mut high) = (self.scales.start, self.scales.end);
        let mut at = start.unwrap_or(0.5 * (low + high));
        for _ in 0..MAX_STEPS {
            let slopes = self.slopes(rate, at);
            if slopes.log_scale >= 0.0 {
                low = at;
            } else {
                high = at;
            }
            let newton = at + slopes.log_scale / slopes.curvature;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let moved = (next - at).abs();
            at = next;
            if moved < CLOSE {
                break;
            }
        }
        at
    }

    /// ℓ(ε, s).
    pub(super) fn value(&self, rate: f64, scale: f64) -> f64 {
        let of_bin = |bin: &Bin| {
            let (f, g) = sides(bin.at / scale);
            let (p, q) = (rate + (1.0 - 2.0 * rate) * f, rate + (1.0 - 2.0 * rate) * g);
            weighted_log(bin.agree, p) + weighted_log(bin.against, q)
        };
        self.bins.iter().map(of_bin).sum()
    }

    fn slopes(&self, rate: f64, log_scale: f64) -> Slopes {
        let inverse_scale = (-log_scale).exp();
        let share = 1.0 - 2.0 * rate;
        let mut sums = Slopes { log_scale: 0.0, curvature: 0.0, rate: 0.0 };
        for bin in self.bins {
            let x = bin.at * inverse_scale;
            let (f, g) = sides(x);
            let (p, q) = (rate + share * f, (rate + share * g).max(LEAST));
            let pull = bin.agree / p - bin.against / q;
            let along = -share * f * g * x;
            sums.log_scale += along * pull;
            sums.curvature += (bin.agree + bin.against) * along * along / (p * q);
            sums.rate += (g - f) * pull;
        }
        sums
    }
}

/// F(x) and 1 − F(x) for x ≥ 0.
fn sides(x: f64) -> (f64, f64) {
    let t = (-x).exp();
    (1.0 / (1.0 + t), t / (1.0 + t))
}
