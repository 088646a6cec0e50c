//! Maximum-likelihood fit of the psychometric curve with lapses to bins of votes.
//!
//! ℓ(ε, s) = Σ_bins agree·log P + against·log(1 − P), P = ε + (1 − 2ε) F(a/s).
//!
//! Optimality: ∂ℓ/∂log s = 0 and ∂ℓ/∂ε = 0, or an end of the range towards which ℓ increases. ℓ is
//! unimodal in log s, and its maximum over s is unimodal in ε; so signs of slopes bracket both. The
//! slope along ε of the maximum over s is ∂ℓ/∂ε at that s.
//!
//! Cost: about fifty sums over the bins.

use std::ops::Range;

use super::MAX_RATE;
use super::bins::Bin;

/// Accuracy of log s and of ε.
const TOLERANCE: f64 = 1e-7;
const MAX_STEPS: usize = 60;
/// Smallest probability of a vote, so that ℓ is finite.
const MIN_PROBABILITY: f64 = 1e-12;

/// Bins of votes, and the range of log s: from no honest disagreement to random votes.
pub(super) struct PsychometricCurve<'a> {
    pub(super) bins: &'a [Bin],
    pub(super) scales: Range<f64>,
}

/// Slopes of ℓ, and the expected curvature along log s.
struct CurveSlopes {
    log_scale: f64,
    curvature: f64,
    rate: f64,
}

impl PsychometricCurve<'_> {
    /// The maximum-likelihood rate and scale; `log_scale` is the optimum for a rate of zero.
    pub(super) fn best(&self, mut log_scale: f64) -> (f64, f64) {
        let slope = |rate: f64, log_scale: &mut f64| {
            *log_scale = self.best_log_scale(rate, Some(*log_scale));
            self.slopes(rate, *log_scale).rate
        };
        let (mut low, mut high) = (0.0, MAX_RATE);
        let mut at_low = self.slopes(low, log_scale).rate;
        if at_low <= 0.0 {
            return (low, log_scale.exp());
        }
        let mut at_high = slope(high, &mut log_scale);
        if at_high >= 0.0 {
            return (high, log_scale.exp());
        }
        // False position (Illinois): the slope of an end that stayed twice is halved. Every third
        // step is a bisection.
        let mut last_moved = 0;
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
                at_high *= if last_moved == 1 { 0.5 } else { 1.0 };
                last_moved = 1;
            } else {
                (high, at_high) = (middle, found);
                at_low *= if last_moved == -1 { 0.5 } else { 1.0 };
                last_moved = -1;
            }
            if high - low < TOLERANCE || moved < 0.01 * TOLERANCE {
                break;
            }
        }
        (0.5 * (low + high), log_scale.exp())
    }

    /// The maximum-likelihood log s for this rate, by Newton's method on ∂ℓ/∂log s within a bracket,
    /// from `start` or the middle of the bracket.
    pub(super) fn best_log_scale(&self, rate: f64, start: Option<f64>) -> f64 {
        let (mut low, mut high) = (self.scales.start, self.scales.end);
        let mut at = start.unwrap_or(0.5 * (low + high));
        for _ in 0..MAX_STEPS {
            let slopes = self.slopes(rate, at);
            // A slope of zero has underflowed: without honest disagreement ℓ increases, ever more
            // slowly, as the scale shrinks.
            if slopes.log_scale > 0.0 {
                low = at;
            } else {
                high = at;
            }
            let newton = at + slopes.log_scale / slopes.curvature;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            let moved = (next - at).abs();
            at = next;
            if moved < TOLERANCE {
                break;
            }
        }
        at
    }

    /// ℓ(ε, s).
    pub(super) fn value(&self, rate: f64, scale: f64) -> f64 {
        let of_bin = |bin: &Bin| bin.log_probability(rate, sides(bin.at / scale));
        self.bins.iter().map(of_bin).sum()
    }

    fn slopes(&self, rate: f64, log_scale: f64) -> CurveSlopes {
        let inverse_scale = (-log_scale).exp();
        let share = 1.0 - 2.0 * rate;
        let mut sums = CurveSlopes { log_scale: 0.0, curvature: 0.0, rate: 0.0 };
        for bin in self.bins {
            let x = bin.at * inverse_scale;
            let (f, g) = sides(x);
            let (p, q) = (rate + share * f, (rate + share * g).max(MIN_PROBABILITY));
            let pull = bin.agree / p - bin.against / q;
            let along = -share * f * g * x;
            sums.log_scale += along * pull;
            sums.curvature += (bin.agree + bin.against) * along * along / (p * q);
            sums.rate += (g - f) * pull;
        }
        sums
    }
}

impl Bin {
    /// The log-likelihood of its votes, given F and 1 − F.
    fn log_probability(&self, rate: f64, (f, g): (f64, f64)) -> f64 {
        let (p, q) = (rate + (1.0 - 2.0 * rate) * f, rate + (1.0 - 2.0 * rate) * g);
        weighted_log(self.agree, p) + weighted_log(self.against, q)
    }
}

/// w·log p, with p bounded from below so that impossible votes have a finite cost.
pub(super) fn weighted_log(w: f64, p: f64) -> f64 {
    if w == 0.0 { 0.0 } else { w * p.max(MIN_PROBABILITY).ln() }
}

/// F(x) and 1 − F(x) for x ≥ 0.
fn sides(x: f64) -> (f64, f64) {
    let t = (-x).exp();
    (1.0 / (1.0 + t), t / (1.0 + t))
}
