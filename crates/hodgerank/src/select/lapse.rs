//! Estimate of the number of lapses: votes that are worse than ordinary disagreement explains.
//!
//! Annotators disagree on pairs of similar items, and a vote against the ranking there is no outlier.
//! On pairs of clearly different items they agree, and a vote against the ranking is careless,
//! malicious or flipped. How disagreement decreases with the distance a = |θ_i − θ_j| of the items
//! separates the two:
//!
//! P(a vote agrees with the ranking) = ε + (1 − 2ε) F(a/s),  F the logistic function,
//!
//! the psychometric curve with a lapse rate ε: honest votes follow Bradley–Terry with scale s, and a
//! share ε of all votes is flipped. A vote against the ranking is more likely flipped than honest
//! when εF(a/s) > (1 − ε)(1 − F(a/s)), that is when
//!
//! a > s·log((1 − ε)/ε).
//!
//! For a vote of size c that is a residual above λ = c + s·log((1 − ε)/ε), the λ of the Huber-LASSO.
//!
//! For graded outcomes the residuals are modelled as a mixture of normal noise and, with share ε, of
//! a uniform distribution over the range of residuals: (1 − ε)N(0, σ²) + εU(−R, R). A vote is flagged
//! where the second component is more likely.
//!
//! Graded votes are not flagged unless the log-likelihood with ε exceeds that without by 4.8, so that almost no votes of
//! clean data are flagged. For votes with sides the model of votes decides (`model/choose.rs`).
//!
//! Cost: two passes over the votes for 512 bins; the fits use the bins. Failure modes: a lapse rate
//! near one half cannot be distinguished from noise; scores that are biased by the lapses bias the
//! estimate, so [`super::auto`] estimates scores and lapses together.
//!
//! | symbol | here |
//! |---|---|
//! | ε | `rate` |
//! | s, σ | `scale` |
//! | λ | `lambda` |

mod bins;
mod curve;

use rayon::prelude::*;

use crate::graph::ComparisonGraph;
use crate::model::tuning::TUNING;
use bins::{Bin, distance_bins, means, residual_bins};
use curve::{PsychometricCurve, weighted_log};

/// Largest share of flipped votes: with more, nothing distinguishes them from noise.
pub(super) const MAX_RATE: f64 = 0.45;

/// The distance from the threshold, in standard errors, up to which a decision is close: three in ten studies would
/// decide otherwise.
const CLOSE: f64 = 0.5;

/// Whether there are lapses, and how clearly the votes decide it.
///
/// Lapses are in the model if they predict votes that are left out better than no lapses, by more than chance. Graded
/// votes are decided by a likelihood-ratio test. A decision is *close* if more than three in ten studies of the same size
/// would decide otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LapseTest {
    /// The share of votes that are lapses; 0 if lapses are not in the model.
    pub rate: f64,
    /// Gain of the log-likelihood of all votes by lapses.
    pub gain: f64,
    /// The gain that is needed for lapses to be in the model.
    pub needed: f64,
}

impl LapseTest {
    /// Whether lapses are in the model.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.gain > self.needed
    }

    /// Whether another study of the same size could well decide otherwise.
    #[must_use]
    pub fn is_close(&self) -> bool {
        self.needed > 0.0 && (self.gain / self.needed - 1.0).abs() < CLOSE
    }
}

impl Lapse {
    /// The same as a decision.
    pub(super) fn test(&self, rate: f64) -> LapseTest {
        let rate = if self.lambda.is_finite() { rate } else { 0.0 };
        LapseTest { rate, gain: self.gain, needed: TUNING.lapse_evidence }
    }
}

/// Iterations of EM for graded votes, the change of the rate at which it stops, the smallest number
/// of honest votes to divide by, and the smallest σ relative to the range of residuals.
const MAX_EM_STEPS: usize = 500;
const RATE_TOLERANCE: f64 = 1e-12;
const MIN_HONEST_VOTES: f64 = 1e-300;
const MIN_RELATIVE_SIGMA: f64 = 1e-12;

/// An estimate of lapses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lapse {
    /// Share ε of votes that are lapses.
    pub rate: f64,
    /// Scale s or σ of honest disagreement, in units of the scores.
    pub scale: f64,
    /// Votes with a residual above this are more likely lapses than honest; infinite if there is no
    /// evidence of lapses.
    pub lambda: f64,
    /// Gain of the log-likelihood by including lapses in the model.
    pub gain: f64,
}

/// Estimates lapses from the votes of a graph and the scores of a fit to them.
#[must_use]
pub fn estimate(graph: &ComparisonGraph, scores: &[f64]) -> Lapse {
    match vote_size(graph) {
        Some(size) => estimate_sided(graph, scores, size).lapse,
        None => estimate_graded(graph, scores),
    }
}

/// The common size |y| of all votes other than ties; none if sizes differ.
pub(crate) fn vote_size(graph: &ComparisonGraph) -> Option<f64> {
    // The largest size, and minus the smallest, so that both are maxima over processes.
    let larger = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
    let none = [f64::NEG_INFINITY; 2];
    let of_part = |y: &[f64]| {
        let [mut largest, mut smallest] = [f64::NEG_INFINITY, f64::INFINITY];
        for size in y.iter().map(|y| y.abs()) {
            let at_least = if size > 0.0 { size } else { f64::INFINITY };
            largest = if size > largest { size } else { largest };
            smallest = if at_least < smallest { at_least } else { smallest };
        }
        [if largest > 0.0 { largest } else { none[0] }, -smallest]
    };
    let parts = graph.groups().y.par_chunks(1 << 14).map(of_part);
    let mut ends = parts.reduce(|| none, larger);
    graph.communicator().max(&mut ends);
    (ends[0] == -ends[1]).then_some(ends[0])
}

/// Lapses of votes with sides, and the scale estimated without lapses.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SidedEstimate {
    lapse: Lapse,
    honest_scale: f64,
    /// The largest distance of compared items.
    spread: f64,
}

/// Smallest and largest scale of [`estimate_sided`], relative to the largest distance: from no honest
/// disagreement to random votes.
const RELATIVE_SCALES: (f64, f64) = (1e-3, 1e2);

/// How many log-odds a unit of scores is: F(factor · (θ_i − θ_j)) is the probability that an honest vote
/// prefers i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LogOddsPerUnit {
    /// The most likely factor.
    Factor(f64),
    /// The items of every vote have equal scores, so the factor makes no difference.
    Any,
    /// The larger the factor, the more likely the votes: none but lapses are against the scores.
    Infinite,
    /// The smaller the factor, the more likely the votes: they do not follow the scores.
    Zero,
}

/// The most likely factor, with lapses if the votes speak clearly for them (`lapse_evidence`). Only the
/// sides of the votes count.
pub(crate) fn log_odds_per_unit(graph: &ComparisonGraph, scores: &[f64]) -> LogOddsPerUnit {
    /// How close to an end of its range log s counts as the end itself.
    const END: f64 = 1e-3;
    let found = estimate_sided(graph, scores, 1.0);
    let scale = if found.lapse.gain > TUNING.lapse_evidence {
        found.lapse.scale
    } else {
        found.honest_scale
    };
    let log_scale = (scale / found.spread).ln();
    if found.spread == 0.0 {
        LogOddsPerUnit::Any
    } else if log_scale < RELATIVE_SCALES.0.ln() + END {
        LogOddsPerUnit::Infinite
    } else if log_scale > RELATIVE_SCALES.1.ln() - END {
        LogOddsPerUnit::Zero
    } else {
        LogOddsPerUnit::Factor(1.0 / scale)
    }
}

/// As [`estimate`], for votes of this size; scales are zero if all scores are equal.
fn estimate_sided(graph: &ComparisonGraph, scores: &[f64], size: f64) -> SidedEstimate {
    let bins = distance_bins(graph, scores);
    let total: f64 = bins.iter().map(|bin| bin.agree + bin.against).sum();
    let spread = bins.last().map_or(0.0, |bin| bin.at);
    if total == 0.0 || spread == 0.0 {
        let lapse = Lapse { rate: 0.0, scale: 0.0, lambda: f64::INFINITY, gain: 0.0 };
        return SidedEstimate { lapse, honest_scale: 0.0, spread: 0.0 };
    }
    let scales = (spread * RELATIVE_SCALES.0).ln()..(spread * RELATIVE_SCALES.1).ln();
    let curve = PsychometricCurve { bins: &bins, scales };
    let honest = curve.best_log_scale(0.0, None);
    let (rate, scale) = curve.best(honest);
    let honest_scale = honest.exp();
    let gain = curve.value(rate, scale) - curve.value(0.0, honest_scale);
    let lapse = Lapse { rate, scale, lambda: f64::INFINITY, gain }.with_threshold(gain, size);
    SidedEstimate { lapse, honest_scale, spread }
}

impl Lapse {
    /// Sets `gain` and the λ for votes of this size: infinite if the gain is too small.
    pub(super) fn with_threshold(self, gain: f64, size: f64) -> Self {
        let lambda = if gain > TUNING.lapse_evidence && self.rate > 0.0 {
            size + self.scale * ((1.0 - self.rate) / self.rate).ln()
        } else {
            f64::INFINITY
        };
        Self { lambda, gain, ..self }
    }
}

/// As [`estimate`], for graded votes.
pub(super) fn estimate_graded(graph: &ComparisonGraph, scores: &[f64]) -> Lapse {
    let none = Lapse { rate: 0.0, scale: 0.0, lambda: f64::INFINITY, gain: 0.0 };
    let Some((range, bins)) = residual_bins(graph, scores) else {
        return none;
    };
    let total: f64 = bins.iter().map(|bin| bin.agree).sum();
    let squares: f64 = bins.iter().map(|bin| bin.at).sum();
    let bins = means(bins);
    let uniform = 0.5 / range;
    let normal = |square: f64, sigma: f64| {
        (-0.5 * square / (sigma * sigma)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
    };
    let likelihood = |rate: f64, sigma: f64| -> f64 {
        let density = |bin: &Bin| (1.0 - rate) * normal(bin.at, sigma) + rate * uniform;
        bins.iter().map(|bin| weighted_log(bin.agree, density(bin))).sum()
    };
    let overall = (squares / total).sqrt();
    let honest = likelihood(0.0, overall);
    // EM: the honest share of each bin, then the moments of the honest part.
    let (mut rate, mut sigma) = (0.1, 0.5 * overall);
    for _ in 0..MAX_EM_STEPS {
        let (mut honest_votes, mut honest_squares) = (0.0, 0.0);
        for bin in &bins {
            let (a, b) = ((1.0 - rate) * normal(bin.at, sigma), rate * uniform);
            let share = if a + b > 0.0 { a / (a + b) } else { 0.0 };
            honest_votes += share * bin.agree;
            honest_squares += share * bin.agree * bin.at;
        }
        let next_rate = (1.0 - honest_votes / total).clamp(0.0, MAX_RATE);
        let change = (next_rate - rate).abs();
        rate = next_rate;
        sigma = (honest_squares / honest_votes.max(MIN_HONEST_VOTES)).sqrt();
        sigma = sigma.max(MIN_RELATIVE_SIGMA * range);
        if change < RATE_TOLERANCE {
            break;
        }
    }
    let gain = likelihood(rate, sigma) - honest;
    let ratio = (1.0 - rate) * normal(0.0, sigma) / (rate * uniform);
    if !(gain > TUNING.lapse_evidence && rate > 0.0 && ratio > 1.0) {
        return Lapse { rate, scale: sigma, gain, ..none };
    }
    let lambda = sigma * (2.0 * ratio.ln()).sqrt();
    Lapse { rate, scale: sigma, lambda, gain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, SimulateOptions, Simulation};
    use crate::{Comparison, Groups};

    fn study(options: &SimulateOptions) -> (ComparisonGraph, Vec<f64>) {
        let mut simulation = Simulation::new(options).unwrap();
        let votes: Vec<Comparison> = simulation.by_ref().map(|vote| vote.comparison()).collect();
        let groups = Groups::merge(options.items, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(options.items, groups).unwrap();
        (graph, simulation.truth().to_vec())
    }

    #[test]
    fn decisions_are_close_on_both_sides_of_the_threshold() {
        let test = |gain: f64| LapseTest { rate: 0.1, gain, needed: 2.0 };
        assert!(
            ![-1.0, 0.0, 3.1, 100.0, f64::INFINITY].into_iter().any(|gain| test(gain).is_close())
        );
        assert!([1.1, 1.9, 2.1, 2.9].into_iter().all(|gain| test(gain).is_close()));
        assert!(test(2.01).is_passed() && !test(1.99).is_passed());
    }

    #[test]
    fn clean_disagreement_is_not_flagged() {
        for seed in 0..20 {
            let noise = Noise::BradleyTerry { scale: 0.2 };
            let options = SimulateOptions { votes: 4000, noise, seed, ..Default::default() };
            let (votes, truth) = study(&options);
            let lapse = estimate(&votes, &truth);
            assert_eq!(lapse.lambda, f64::INFINITY, "seed {seed}: {lapse:?}");
        }
    }

    #[test]
    fn flips_on_top_of_disagreement_are_counted() {
        let noise = Noise::BradleyTerry { scale: 0.1 };
        let options =
            SimulateOptions { votes: 20_000, noise, flips: 0.1, seed: 3, ..Default::default() };
        let (votes, truth) = study(&options);
        let lapse = estimate(&votes, &truth);
        assert!((lapse.rate - 0.1).abs() < 0.02, "{lapse:?}");
        assert!((lapse.scale - 0.1).abs() < 0.02, "{lapse:?}");
        assert!((lapse.lambda - (1.0 + 0.1 * 9.0_f64.ln())).abs() < 0.06, "{lapse:?}");
    }

    #[test]
    fn flips_without_noise_are_found() {
        let options = SimulateOptions { flips: 0.05, seed: 5, ..Default::default() };
        let (votes, truth) = study(&options);
        let lapse = estimate(&votes, &truth);
        assert!((lapse.rate - 0.05).abs() < 0.015, "{lapse:?}");
        assert!(lapse.lambda < 1.02, "{lapse:?}");
    }

    #[test]
    fn graded_outliers_are_separated_from_normal_noise() {
        let noise = Noise::Gaussian { sigma: 0.05 };
        let clean =
            SimulateOptions { votes: 5000, noise, graded: true, seed: 2, ..Default::default() };
        let (votes, truth) = study(&clean);
        assert_eq!(estimate(&votes, &truth).lambda, f64::INFINITY);
        let (votes, truth) = study(&SimulateOptions { flips: 0.1, ..clean });
        let lapse = estimate(&votes, &truth);
        assert!((lapse.scale - 0.05).abs() < 0.01, "{lapse:?}");
        assert!(lapse.rate > 0.05 && lapse.lambda > 0.1 && lapse.lambda < 0.25, "{lapse:?}");
    }
}
