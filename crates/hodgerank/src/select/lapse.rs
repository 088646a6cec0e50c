//! How many votes are lapses: bad beyond what ordinary disagreement explains.
//!
//! On a close pair people differ, and a vote against the ranking there is no outlier. On a clear
//! pair they do not, and what still goes against the ranking is careless, malicious or flipped. The
//! two are told apart by how disagreement falls with the distance a = |θ_i − θ_j| of the items:
//!
//! P(a vote agrees with the ranking) = ε + (1 − 2ε) F(a/s),  F the logistic function,
//!
//! the psychometric curve with a lapse rate ε: honest votes follow Bradley–Terry with scale s, and a
//! share ε of all votes is turned round. A vote against the ranking is more likely turned round than
//! honest when εF(a/s) > (1 − ε)(1 − F(a/s)), that is when
//!
//! a > s·log((1 − ε)/ε).
//!
//! For a vote of size c that is a residual above λ = c + s·log((1 − ε)/ε), the λ of the Huber-LASSO.
//!
//! Graded outcomes have no sides to agree with. Their residuals are a mixture of normal noise and,
//! with share ε, of anything within the range of residuals: (1 − ε)N(0, σ²) + εU(−R, R); a vote is
//! flagged where the second part is the likelier.
//!
//! In both cases the lapses must earn their parameter: unless the likelihood with ε rises over that
//! without by [`MIN_GAIN`], nothing is flagged. Clean data so flags next to nothing.
//!
//! Cost: two passes over the votes for 512 bins; the fits are on bins. Failure modes: a lapse
//! rate near one half cannot be told from pure noise; scores must not themselves be tilted by the
//! lapses, so [`super::auto`] estimates scores and lapses together, and the test compares the
//! likelihoods of the two whole models.
//!
//! | symbol | here |
//! |---|---|
//! | ε | `rate` |
//! | s, σ | `scale` |
//! | λ | `lambda` |

mod curve;

use rayon::prelude::*;

use super::likelihood::{SidedVotes, Sides};
use crate::communicator::Communicator;
use crate::graph::ComparisonGraph;
use curve::Curve;

/// Rise of the log-likelihood that lapses must bring: a test of ε > 0 at about one in a thousand.
pub const MIN_GAIN: f64 = 4.8;

const BINS: usize = 512;
/// A lapse rate of one half makes votes meaningless.
pub(super) const LARGEST_RATE: f64 = 0.45;

/// What the votes say about lapses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lapse {
    /// Share of votes that are turned round (or, graded, that are anything).
    pub rate: f64,
    /// Scale of honest disagreement, in units of the scores that it was estimated from.
    pub scale: f64,
    /// Votes with a residual above this are more likely lapses than honest; infinite where the
    /// votes give no reason to believe in lapses.
    pub lambda: f64,
    /// How much the log-likelihood rises with lapses in the model.
    pub gain: f64,
}

/// Estimates lapses from the votes of a graph given the scores of a fit to them.
#[must_use]
pub fn estimate(graph: &ComparisonGraph, scores: &[f64]) -> Lapse {
    match vote_size(graph) {
        Some(size) => estimate_sided(&SidedVotes::new(graph), scores, size).lapse,
        None => estimate_graded(graph, scores),
    }
}

/// Whether all votes that are no ties have the same size, and which.
pub(super) fn vote_size(graph: &ComparisonGraph) -> Option<f64> {
    // The largest, and the smallest as the largest of what is below zero.
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

/// Votes in a bin.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    /// Where its votes lie: their mean distance, or mean squared residual.
    at: f64,
    agree: f64,
    against: f64,
}

/// Lapses of votes with sides, and the scale that all disagreement would have if it were honest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SidedEstimate {
    pub(super) lapse: Lapse,
    pub(super) honest_scale: f64,
}

/// As [`estimate`], for votes of this size; scales are zero where nothing tells the items apart.
pub(super) fn estimate_sided(votes: &SidedVotes<'_>, scores: &[f64], size: f64) -> SidedEstimate {
    let bins = distance_bins(votes, scores);
    let total: f64 = bins.iter().map(|bin| bin.agree + bin.against).sum();
    let spread = bins.last().map_or(0.0, |bin| bin.at);
    if total == 0.0 || spread == 0.0 {
        let lapse = Lapse { rate: 0.0, scale: 0.0, lambda: f64::INFINITY, gain: 0.0 };
        return SidedEstimate { lapse, honest_scale: 0.0 };
    }
    let curve = Curve { bins: &bins, scales: (spread * 1e-3).ln()..(spread * 1e2).ln() };
    let honest = curve.best_log_scale(0.0, None);
    let (rate, scale) = curve.best(honest);
    let honest_scale = honest.exp();
    let gain = curve.value(rate, scale) - curve.value(0.0, honest_scale);
    let lapse = Lapse { rate, scale, lambda: f64::INFINITY, gain }.tested(gain, size);
    SidedEstimate { lapse, honest_scale }
}

impl Lapse {
    /// The λ for votes of this size, if the gain is enough to believe in lapses.
    pub(super) fn tested(self, gain: f64, size: f64) -> Self {
        let lambda = if gain > MIN_GAIN && self.rate > 0.0 {
            size + self.scale * ((1.0 - self.rate) / self.rate).ln()
        } else {
            f64::INFINITY
        };
        Self { lambda, gain, ..self }
    }
}

/// Votes by the distance of their items.
fn distance_bins(votes: &SidedVotes<'_>, scores: &[f64]) -> Vec<Bin> {
    let voted = |&(_, agree, against): &(f64, f64, f64)| agree + against > 0.0;
    let largest_of = |pairs: Sides<'_>| {
        pairs.agreement(scores).filter(voted).fold(0.0, |largest: f64, (d, ..)| largest.max(d))
    };
    let largest = votes.look(largest_of).into_iter().fold(0.0, f64::max);
    let largest = votes.communicator().max_scalar(largest);
    if largest == 0.0 {
        return Vec::new();
    }
    let parts = votes.look(|pairs| {
        let mut bins = [Bin::default(); BINS];
        for (d, agree, against) in pairs.agreement(scores) {
            let bin = &mut bins[bin_of(d, largest)];
            bin.at += (agree + against) * d;
            bin.agree += agree;
            bin.against += against;
        }
        bins
    });
    let mut bins = vec![Bin::default(); BINS];
    for part in &parts {
        for (bin, part) in bins.iter_mut().zip(part) {
            bin.at += part.at;
            bin.agree += part.agree;
            bin.against += part.against;
        }
    }
    add_up(&mut bins, votes.communicator());
    bins.retain(|bin| bin.agree + bin.against > 0.0);
    for bin in &mut bins {
        bin.at /= bin.agree + bin.against;
    }
    bins
}

/// Adds up everyone's bins.
fn add_up(bins: &mut [Bin], communicator: &dyn Communicator) {
    let column = |of: fn(&Bin) -> f64| bins.iter().map(of).collect::<Vec<_>>();
    let mut sums =
        [column(|bin| bin.at), column(|bin| bin.agree), column(|bin| bin.against)].concat();
    communicator.sum(&mut sums);
    let (at, counts) = sums.split_at(bins.len());
    let (agree, against) = counts.split_at(bins.len());
    for (k, bin) in bins.iter_mut().enumerate() {
        *bin = Bin { at: at[k], agree: agree[k], against: against[k] };
    }
}

fn bin_of(x: f64, largest: f64) -> usize {
    ((x * (BINS as f64 / largest)) as usize).min(BINS - 1)
}

/// As [`estimate`], for graded votes.
pub(super) fn estimate_graded(graph: &ComparisonGraph, scores: &[f64]) -> Lapse {
    let (votes, communicator) = (graph.groups(), graph.communicator());
    let none = Lapse { rate: 0.0, scale: 0.0, lambda: f64::INFINITY, gain: 0.0 };
    let residual = |g: usize| votes.residual(scores, g).abs();
    let range = communicator.max_scalar((0..votes.len()).map(residual).fold(0.0, f64::max));
    if range == 0.0 {
        return none;
    }
    // Bins grow with the residual, so that small noise beside large outliers is still resolved.
    let mut bins = vec![Bin::default(); BINS];
    for g in 0..votes.len() {
        let (r, w) = (residual(g), votes.weight[g]);
        let bin = &mut bins[bin_of((r / range).sqrt(), 1.0)];
        bin.at += w * r * r;
        bin.agree += w;
    }
    add_up(&mut bins, communicator);
    let total: f64 = bins.iter().map(|bin| bin.agree).sum();
    let squares: f64 = bins.iter().map(|bin| bin.at).sum();
    bins.retain(|bin| bin.agree > 0.0);
    for bin in &mut bins {
        bin.at /= bin.agree;
    }
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
    // EM: the share of each bin that is honest, then the moments of the honest part.
    let (mut rate, mut sigma) = (0.1, 0.5 * overall);
    for _ in 0..500 {
        let (mut honest_votes, mut honest_squares) = (0.0, 0.0);
        for bin in &bins {
            let (a, b) = ((1.0 - rate) * normal(bin.at, sigma), rate * uniform);
            let share = if a + b > 0.0 { a / (a + b) } else { 0.0 };
            honest_votes += share * bin.agree;
            honest_squares += share * bin.agree * bin.at;
        }
        let next = ((1.0 - honest_votes / total).clamp(0.0, LARGEST_RATE), sigma);
        let moved = (next.0 - rate).abs();
        rate = next.0;
        sigma = (honest_squares / honest_votes.max(1e-300)).sqrt().max(1e-12 * range);
        if moved < 1e-12 {
            break;
        }
    }
    let gain = likelihood(rate, sigma) - honest;
    let ratio = (1.0 - rate) * normal(0.0, sigma) / (rate * uniform);
    if !(gain > MIN_GAIN && rate > 0.0 && ratio > 1.0) {
        return Lapse { rate, scale: sigma, gain, ..none };
    }
    let lambda = sigma * (2.0 * ratio.ln()).sqrt();
    Lapse { rate, scale: sigma, lambda, gain }
}

/// w·log p, where no votes cost nothing and an impossible vote costs dearly but not infinitely.
fn weighted_log(w: f64, p: f64) -> f64 {
    if w == 0.0 { 0.0 } else { w * p.max(1e-12).ln() }
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
    fn clean_disagreement_is_no_lapse() {
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
    fn flips_without_noise_are_all_found() {
        let options = SimulateOptions { flips: 0.05, seed: 5, ..Default::default() };
        let (votes, truth) = study(&options);
        let lapse = estimate(&votes, &truth);
        assert!((lapse.rate - 0.05).abs() < 0.015, "{lapse:?}");
        assert!(lapse.lambda < 1.02, "{lapse:?}");
    }

    #[test]
    fn graded_outliers_stand_out_of_normal_noise() {
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
