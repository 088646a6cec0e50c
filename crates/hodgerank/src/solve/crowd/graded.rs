//! Graded votes: an honest outcome is the difference of the scores with normal noise.
//!
//! Outcomes are in units of their root mean square, and so are scores. With d = θ_left − θ_right + b, the
//! density of an outcome y relative to that of an answer that does not depend on the items, N(0, 1), is
//!
//! q(y) = h N(y; d, σ²)/N(y; 0, 1) + c N(y; −d, σ²)/N(y; 0, 1) + 2 l [y > 0] + 2 r [y < 0]
//!
//! for an annotator with the shares h, c, l, r of honest, contrary and one-sided answers; a zero counts
//! for both sides. σ is the annotator's own: σ² has an inverse gamma prior around the noise σ₀² of the
//! crowd that is worth ν votes. σ₀² and ν maximise the likelihood of all residuals.
//!
//! Cost: two exponentials and one multiplication per behaviour for each vote.

use rayon::prelude::*;

use super::behaviour::Behaviour;
use super::blocks::Blocks;
use super::likelihood::{BlockLogs, Likelihoods, MIN_PROBABILITY, POINTS, ScoreModel};
use super::slopes::{Slopes, TaskSums, VoteSlope, likely, sum_blocks};
use crate::communicator::Communicator;
use crate::numeric::sum_tasks;

/// Largest density relative to that of an answer that does not depend on the items.
const MAX_RATIO: f64 = 1e12;
/// Factors whose product is neither too large nor too small for a number: 16 factors from 10⁻⁴ to 10¹².
const FACTORS_PER_LOG: usize = 16;
/// Smallest σ₀² in squares of the unit, and smallest σ² relative to σ₀²: outcomes are rounded.
const MIN_NOISE: f64 = 1e-4;
const MIN_OWN_NOISE: f64 = 1e-2;
/// Relative change of a σ² that is not negligible.
const NOISE_TOLERANCE: f64 = 1e-2;
/// Candidates for ν.
const STRENGTHS: [f64; 4] = [2.0, 8.0, 32.0, 128.0];
/// Fixed-point iterations for σ₀² at each ν.
const NOISE_STEPS: usize = 6;
const BLOCKS_PER_TASK: usize = 1 << 10;

/// The noise of graded votes.
#[derive(Debug, Clone)]
pub(super) struct GradedModel {
    /// σ₀².
    pub(super) noise: f64,
    /// σ² of each block.
    pub(super) own_noise: Vec<f64>,
    points: Vec<Behaviour>,
}

/// Residuals of an annotator's votes, each weighed by the probability that it depends on the items.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Residuals {
    pub(super) votes: f64,
    pub(super) squares: f64,
}

/// What is known about a vote before its annotator's behaviour.
struct Ratios {
    honest: f64,
    contrary: f64,
    left: f64,
    right: f64,
}

impl Ratios {
    /// At a difference of scores `d`, an outcome `y` and a noise σ².
    #[inline]
    fn new(d: f64, y: f64, noise: f64) -> Self {
        let scale = 1.0 / noise.sqrt();
        let ratio = |mean: f64| {
            let exponent = 0.5 * (y * y - (y - mean) * (y - mean) / noise);
            (scale * exponent.exp()).min(MAX_RATIO)
        };
        let (left, right) = match y {
            y if y > 0.0 => (2.0, 0.0),
            y if y < 0.0 => (0.0, 2.0),
            _ => (1.0, 1.0),
        };
        Self { honest: ratio(d), contrary: ratio(-d), left, right }
    }

    #[inline]
    fn of(&self, point: &Behaviour) -> f64 {
        let depends = point.honest * self.honest + point.contrary * self.contrary;
        (depends + point.left * self.left + point.right * self.right).max(MIN_PROBABILITY)
    }
}

/// The probability that an answer by a mixture of behaviours is honest.
pub(super) fn honest_probability<'a>(
    behaviours: impl Iterator<Item = (&'a Behaviour, f64)>,
    d: f64,
    y: f64,
    noise: f64,
) -> f64 {
    let ratios = Ratios::new(d, y, noise);
    behaviours.map(|(point, r)| r * point.honest * ratios.honest / ratios.of(point)).sum()
}

/// A vote by a mixture of behaviours; all but the probabilities are in units of the outcomes.
pub(super) struct GradedVote {
    /// The probabilities that it is honest, and that it is contrary.
    honest: f64,
    contrary: f64,
    /// The slope if it is honest, and if it is contrary.
    slopes: [f64; 2],
    precision: f64,
}

impl GradedVote {
    /// `unit` is the root mean square of the outcomes.
    pub(super) fn new(
        behaviours: &[(&Behaviour, f64)],
        d: f64,
        y: f64,
        noise: f64,
        unit: f64,
    ) -> Self {
        let ratios = Ratios::new(d / unit, y / unit, (noise / unit).powi(2));
        let (mut honest, mut contrary) = (0.0, 0.0);
        for (point, r) in behaviours {
            let per_q = r / ratios.of(point);
            honest += per_q * point.honest * ratios.honest;
            contrary += per_q * point.contrary * ratios.contrary;
        }
        let precision = 1.0 / (noise * noise);
        let slopes = [precision * (y - d), -precision * (y + d)];
        Self { honest, contrary, slopes, precision }
    }

    /// The slope, and the information if it were known whether the vote is honest.
    pub(super) fn slope(&self) -> VoteSlope {
        let [honest, contrary] = self.slopes;
        VoteSlope {
            gradient: self.honest * honest + self.contrary * contrary,
            information: self.precision * (self.honest + self.contrary),
        }
    }

    /// The variance of the slope, because the vote may be honest, contrary or neither.
    pub(super) fn variance(&self) -> f64 {
        let [honest, contrary] = self.slopes;
        let square = self.honest * honest * honest + self.contrary * contrary * contrary;
        (square - self.slope().gradient.powi(2)).max(0.0)
    }
}

impl GradedModel {
    /// Everyone's noise is `noise` at first.
    pub(super) fn new(points: &[Behaviour], blocks: usize, noise: f64) -> Self {
        let noise = noise.max(MIN_NOISE);
        Self { noise, own_noise: vec![noise; blocks], points: points.to_vec() }
    }

    /// Computes the likelihoods of all blocks but those to be skipped.
    pub(super) fn evaluate(
        &self,
        blocks: &Blocks<'_>,
        at: &ScoreModel<'_>,
        is_skipped: impl Fn(usize) -> bool + Sync,
        out: &mut Likelihoods,
    ) {
        out.resize(blocks.len());
        let rows = out.relative.par_iter_mut().zip(&mut out.logs).enumerate();
        rows.filter(|(block, _)| !is_skipped(*block)).for_each(|(block, (relative, out))| {
            let mut logs = [0.0; POINTS];
            self.add_logs(blocks, block, at, &mut logs);
            *out = BlockLogs::new(&logs[..self.points.len()], 0.0, relative);
        });
    }

    /// Adds the logarithms of the likelihoods of a block.
    fn add_logs(
        &self,
        blocks: &Blocks<'_>,
        block: usize,
        at: &ScoreModel<'_>,
        logs: &mut [f64; POINTS],
    ) {
        let noise = self.own_noise[block];
        let points = self.points.len();
        let mut product = [1.0_f64; POINTS];
        let mut factors = 0;
        let mut take_logs = |product: &mut [f64; POINTS], count: f64| {
            for (log, product) in logs[..points].iter_mut().zip(product.iter_mut()) {
                *log += count * product.ln();
                *product = 1.0;
            }
        };
        for (vote, &y) in blocks.block(block).zip(blocks.outcomes(block)) {
            let ratios = Ratios::new(at.distance(&vote), f64::from(y), noise);
            if vote.count > 1 {
                take_logs(&mut product, 1.0);
            }
            for (product, point) in product.iter_mut().zip(&self.points) {
                *product *= ratios.of(point);
            }
            factors += 1;
            if vote.count > 1 || factors % FACTORS_PER_LOG == 0 {
                take_logs(&mut product, f64::from(vote.count));
            }
        }
        take_logs(&mut product, 1.0);
    }

    /// The slopes of the log-likelihood, if behaviours have these probabilities.
    pub(super) fn slopes(
        &self,
        blocks: &Blocks<'_>,
        responsibility: &[[f32; POINTS]],
        at: &ScoreModel<'_>,
    ) -> Slopes {
        let least_noise = self.own_noise.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = at.scores.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let outcome = (0..blocks.len()).flat_map(|block| blocks.outcomes(block));
        let outcome = outcome.fold(0.0_f32, |a, b| a.max(b.abs()));
        let residual = f64::from(outcome) + 2.0 * largest + at.side_advantage.abs();
        let bound = (1.0 + residual) / least_noise;
        sum_blocks(blocks, at.scores.len(), bound, |block, sums| {
            self.add_block(blocks, block, &responsibility[block], at, sums);
        })
    }

    fn add_block(
        &self,
        blocks: &Blocks<'_>,
        block: usize,
        responsibility: &[f32; POINTS],
        at: &ScoreModel<'_>,
        sums: &mut TaskSums,
    ) {
        let noise = self.own_noise[block];
        let active: Vec<(&Behaviour, f64)> =
            likely(responsibility).map(|(k, r)| (&self.points[k], r)).collect();
        let mut residuals = Residuals::default();
        for (vote, &y) in blocks.block(block).zip(blocks.outcomes(block)) {
            let (d, y, count) = (at.distance(&vote), f64::from(y), f64::from(vote.count));
            let ratios = Ratios::new(d, y, noise);
            let (mut honest, mut contrary) = (0.0, 0.0);
            for &(point, r) in &active {
                let per_q = r / ratios.of(point);
                honest += per_q * point.honest * ratios.honest;
                contrary += per_q * point.contrary * ratios.contrary;
            }
            residuals.votes += count * (honest + contrary);
            residuals.squares += count * (honest * (y - d).powi(2) + contrary * (y + d).powi(2));
            let gradient = (honest * (y - d) - contrary * (y + d)) / noise;
            let slope = VoteSlope { gradient, information: (honest + contrary) / noise };
            sums.add_vote(&vote, &slope);
        }
        sums.residuals.push(residuals);
    }

    /// Estimates the noise from the residuals of each block, of which the first `annotators` are those
    /// of one annotator each. Returns whether it has changed: a negligible
    /// change is not made, because the likelihoods would not be those of the noise.
    pub(super) fn update_noise(
        &mut self,
        residuals: &[Residuals],
        annotators: usize,
        communicator: &dyn Communicator,
    ) -> bool {
        let known = &residuals[..annotators];
        let mut best = (f64::NEG_INFINITY, self.noise, STRENGTHS[0]);
        let pooled = sums(known, communicator, |own| [own.votes, own.squares]);
        if pooled[0] <= 0.0 {
            return false;
        }
        for strength in STRENGTHS {
            let mut noise = (pooled[1] / pooled[0]).max(MIN_NOISE);
            for _ in 0..NOISE_STEPS {
                let [precisions, count] = sums(known, communicator, |own| {
                    [(strength + own.votes) / (strength * noise + own.squares), 1.0]
                });
                noise = (count / precisions).max(MIN_NOISE);
            }
            let prior = 0.5 * strength * (strength * noise).ln() - ln_gamma(0.5 * strength);
            let [value] = sums(known, communicator, |own| {
                let half = 0.5 * (strength + own.votes);
                [prior + ln_gamma(half) - half * (strength * noise + own.squares).ln()]
            });
            if value > best.0 {
                best = (value, noise, strength);
            }
        }
        let (_, noise, strength) = best;
        let next = |(block, own): (usize, &Residuals)| {
            let own = if block < annotators { *own } else { Residuals::default() };
            let next = (strength * noise + own.squares) / (strength + own.votes);
            next.max(MIN_OWN_NOISE * noise)
        };
        let next: Vec<f64> = residuals.iter().enumerate().map(next).collect();
        let changes = next.iter().zip(&self.own_noise).map(|(next, own)| (next / own).ln().abs());
        let mut change = [changes.fold(0.0, f64::max)];
        communicator.max(&mut change);
        let has_changed = change[0] > NOISE_TOLERANCE;
        if has_changed {
            (self.noise, self.own_noise) = (noise, next);
        }
        has_changed
    }
}

/// Sums over annotators of all processes.
fn sums<const K: usize>(
    residuals: &[Residuals],
    communicator: &dyn Communicator,
    of: impl Fn(&Residuals) -> [f64; K] + Sync,
) -> [f64; K] {
    let mut sums = sum_tasks(residuals.par_chunks(BLOCKS_PER_TASK), |chunk| {
        let mut sums = [0.0; K];
        for own in chunk {
            sums.iter_mut().zip(of(own)).for_each(|(sum, own)| *sum += own);
        }
        sums
    });
    communicator.sum(&mut sums);
    sums
}

/// log Γ(x) for x > 0, by Stirling's series above [`STIRLING_FROM`].
fn ln_gamma(x: f64) -> f64 {
    const STIRLING_FROM: f64 = 8.0;
    let (mut x, mut product) = (x, 1.0);
    while x < STIRLING_FROM {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse / 12.0 * (1.0 - square / 30.0 * (1.0 - square * 2.0 / 7.0));
    let half_log_two_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
    (x - 0.5) * x.ln() - x + half_log_two_pi + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_the_gamma_function() {
        for (x, expected) in [(0.5, 0.572_364_942_924_7), (1.0, 0.0), (10.5, 13.940_625_219_404)] {
            assert!((ln_gamma(x) - expected).abs() < 1e-7, "{x}: {}", ln_gamma(x));
        }
    }
}
