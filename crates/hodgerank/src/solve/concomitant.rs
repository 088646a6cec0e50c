//! Huber regression with concomitant scale: estimates θ and σ jointly, which gives λ = Mσ.
//!
//! Objective: min over θ and σ > 0 of σ Σ w ρ_M((y − Xθ)/σ) + ½ a σ, where ρ_M(t) is t²/2 for |t| ≤ M
//! and M|t| − M²/2 otherwise.
//!
//! The constant a = β m − β' p, with m votes and p = items − components degrees of freedom of the
//! scores, makes σ an estimate of the standard deviation of normal errors. β = E min(Z², M²) for a
//! standard normal Z (0.713 for M = 1.35) is the contribution of a vote to the sum below, and β' (0.537,
//! see [`NormalConstants`]) is the reduction of the sum per fitted score. Huber's Proposal 2 uses
//! β (m − p). Both tend to m − p for large M, but β is too large a reduction if p/m is not small.
//!
//! The paper writes m σ for the last term. With its own ρ (with the factor ½) the condition for σ would
//! be Σ w min(r²/σ², M²) = 2m, which has no solution σ > 0 for M ≤ √2.
//!
//! Optimality: in θ, XᵀWψ(r) = 0 with ψ(r) = r clipped to ±Mσ; in σ, Σ w min(r²/σ², M²) = a. The
//! objective is jointly convex.
//!
//! Method: for each σ the optimal θ is the Huber fit at λ = Mσ ([`super::huber_lasso::solve_at`],
//! warm-started). This leaves a convex function of σ, whose derivative is half the difference of the
//! two sides of the condition for σ (envelope theorem). Its zero is bracketed and then found by the
//! Illinois variant of regula falsi.
//!
//! Cost: about ten to thirty warm-started Huber fits, each a few Laplacian systems.
//!
//! Failure modes: if all but a/M² votes (39% of them for M = 1.35 and few items) can be fitted exactly,
//! the objective decreases down to σ = 0 ([`ScaleStatus::Collapsed`]). This happens for noiseless
//! graded votes, for trees and for votes that hardly overlap. The errors of ±1 votes are far from
//! normal; σ is then a scale for λ and not a standard deviation.
//!
//! | paper | here |
//! |---|---|
//! | θ, σ | `scores`, `sigma` |
//! | M | `m` |
//! | λ = Mσ | `lambda` |
//! | m | [`ComparisonGraph::votes`] |

use std::time::Instant;

use super::huber_lasso::{self, HuberLassoOptions};
use super::{L2Options, Solution, Status, check_stopping, l2};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;

/// σ below this fraction of the root mean square of the l2 residuals, or of the geometric mean of |y|
/// if that is smaller, counts as zero. So do l2 residuals below this fraction of the root mean square
/// of y.
const MIN_SCALE_RATIO: f64 = 1e-6;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `m` | 1.35 | residual at which the loss changes from quadratic to linear, in units of σ | 0.1 to 10 |
/// | `tolerance` | 1e-9 | relative violation of the condition for σ | above 0, below 1 |
/// | `max_iterations` | 200 | maximum number of values of σ that are tried | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConcomitantOptions {
    /// Residual at which the loss changes from quadratic to linear, in units of σ.
    pub m: f64,
    /// Largest allowed relative violation of the condition for σ.
    pub tolerance: f64,
    /// Maximum number of values of σ that are tried.
    pub max_iterations: usize,
}

impl Default for ConcomitantOptions {
    fn default() -> Self {
        Self { m: 1.35, tolerance: 1e-9, max_iterations: 200 }
    }
}

impl ConcomitantOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        if !(0.1..=10.0).contains(&self.m) {
            let (value, expected) = (self.m.to_string(), "a number from 0.1 to 10");
            return Err(Error::BadOption { option: "m", value, expected });
        }
        Ok(())
    }
}

/// How the estimation of the scale ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleStatus {
    /// Both optimality conditions hold.
    Solved,
    /// So many votes can be fitted exactly that the estimate of σ is zero. The scores are those of the
    /// smallest σ that was tried.
    Collapsed,
    /// The iteration limit was reached; the values are the best found so far.
    IterationLimit,
}

impl ScaleStatus {
    /// Returns its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Collapsed => "collapsed",
            Self::IterationLimit => "iteration-limit",
        }
    }
}

/// Scores and their scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Concomitant {
    /// The Huber fit at `lambda`. Its iterations count the values of σ tried.
    pub solution: Solution,
    /// Scale of the errors; zero if it collapsed.
    pub sigma: f64,
    /// Mσ; if the scale collapsed, the smallest λ that was tried.
    pub lambda: f64,
    /// How the estimation of the scale ended.
    pub status: ScaleStatus,
}

/// Estimates scores and scale jointly.
///
/// # Errors
/// If an option is invalid, the sums of the outcomes overflow, or a linear system cannot be set up.
pub fn solve(graph: &ComparisonGraph, options: &ConcomitantOptions) -> Result<Concomitant> {
    let started = Instant::now();
    options.validate()?;
    let least_squares = l2::solve(graph, &L2Options::default())?;
    let degrees_of_freedom = (graph.items() - graph.components().len()) as f64;
    let votes = graph.votes();
    let rms_r = root_mean_square(graph, &least_squares.scores);
    let rms_y = root_mean_square(graph, &[]);
    // Relative to y, such residuals are rounding errors: the votes agree completely.
    if votes <= degrees_of_freedom || rms_r <= MIN_SCALE_RATIO * rms_y {
        let (sigma, lambda, status) = (0.0, 0.0, ScaleStatus::Collapsed);
        return Ok(Concomitant { solution: least_squares, sigma, lambda, status });
    }
    let constants = NormalConstants::of(options.m);
    let mut profile = ScaleProfile {
        graph,
        m: options.m,
        target: constants.per_vote * votes - constants.per_score * degrees_of_freedom,
        huber: HuberLassoOptions { tolerance: 1e-11, ..HuberLassoOptions::default() },
        fit: least_squares,
        evaluations: 0,
        max_evaluations: options.max_iterations,
    };
    // A few gross votes dominate the root mean square, but hardly move the geometric mean.
    let smallest = MIN_SCALE_RATIO * rms_r.min(geometric_mean(graph));
    let (sigma, mut status) = profile.find_root(rms_r, smallest, options.tolerance)?;
    let ScaleProfile { mut fit, evaluations, .. } = profile;
    if status == ScaleStatus::Solved && fit.status != Status::Solved {
        status = ScaleStatus::IterationLimit;
    }
    fit.info.iterations = evaluations;
    fit.info.time = started.elapsed();
    let lambda = options.m * sigma;
    let sigma = if status == ScaleStatus::Collapsed { 0.0 } else { sigma };
    Ok(Concomitant { solution: fit, sigma, lambda, status })
}

/// The constants with which σ estimates the standard deviation of normal errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalConstants {
    /// β = E min(Z², M²): the contribution of a vote to Σ min(r²/σ², M²).
    pub per_vote: f64,
    /// β' = (2/P − V) E[Z²; |Z| ≤ M] with P = P(|Z| ≤ M) and V = β/P²: the reduction of the sum per
    /// fitted score.
    pub per_score: f64,
}

impl NormalConstants {
    /// Computes the constants for M = `m`.
    ///
    /// To first order in its leverage h, the fit changes the residual of a vote from ε to ε − hψ(ε)/P,
    /// and the other votes add noise of variance Vh. The leverages sum to p.
    #[must_use]
    pub fn of(m: f64) -> Self {
        // Simpson's rule; the integrands are smooth, so 400 steps give full precision.
        let steps = 400;
        let h = m / f64::from(steps);
        let (mut mass, mut square) = (0.0, 0.0);
        for k in 0..=steps {
            let z = h * f64::from(k);
            let coefficient = if k == 0 || k == steps { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
            let density = 2.0 * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
            mass += coefficient * h / 3.0 * density;
            square += coefficient * h / 3.0 * density * z * z;
        }
        let per_vote = square + m * m * (1.0 - mass).max(0.0);
        Self { per_vote, per_score: (2.0 / mass - per_vote / (mass * mass)) * square }
    }
}

/// The objective as a function of σ, minimised over θ.
struct ScaleProfile<'a> {
    graph: &'a ComparisonGraph,
    m: f64,
    /// a = β m − β' p.
    target: f64,
    huber: HuberLassoOptions,
    /// The fit at the last σ.
    fit: Solution,
    evaluations: usize,
    max_evaluations: usize,
}

impl ScaleProfile<'_> {
    fn may_evaluate(&self) -> bool {
        self.evaluations < self.max_evaluations
    }

    /// Σ w min(r²/σ², M²) / target − 1 at the Huber fit. It is proportional to the negative derivative,
    /// so it decreases with σ.
    fn excess(&mut self, sigma: f64) -> Result<f64> {
        let warm = Some(&self.fit.scores[..]);
        self.fit = huber_lasso::solve_at(self.graph, self.m * sigma, warm, &self.huber)?;
        self.evaluations += 1;
        let groups = self.graph.groups();
        let r = groups.residuals(&self.fit.scores);
        let clipped = r.map(|r| (r / sigma).abs().min(self.m));
        let sum: f64 = clipped.zip(&groups.weight).map(|(t, w)| w * t * t).sum();
        Ok(self.graph.communicator().sum_scalar(sum) / self.target - 1.0)
    }

    /// Finds σ, starting at `start`; below `smallest` it counts as zero.
    fn find_root(
        &mut self,
        start: f64,
        smallest: f64,
        tolerance: f64,
    ) -> Result<(f64, ScaleStatus)> {
        let mut high = start;
        let mut at_high = self.excess(high)?;
        while at_high > 0.0 && self.may_evaluate() {
            high *= 2.0;
            at_high = self.excess(high)?;
        }
        let (mut low, mut at_low) = (high, at_high);
        while at_low < 0.0 && self.may_evaluate() {
            low /= 2.0;
            at_low = self.excess(low)?;
            if at_low < 0.0 {
                (high, at_high) = (low, at_low);
            }
            if low < smallest {
                return Ok((low, ScaleStatus::Collapsed));
            }
        }
        let (mut sigma, mut at) = (low, at_low);
        while at.abs() > tolerance {
            if !self.may_evaluate() {
                return Ok((sigma, ScaleStatus::IterationLimit));
            }
            if high - low <= 4.0 * f64::EPSILON * high {
                break;
            }
            sigma = low + (high - low) * at_low / (at_low - at_high);
            if !(sigma > low && sigma < high) {
                sigma = low.midpoint(high);
            }
            let previous = at;
            at = self.excess(sigma)?;
            // Illinois: halve the value at an end that is retained for the second time.
            let is_retained = previous * at > 0.0;
            if at > 0.0 {
                (low, at_low) = (sigma, at);
                at_high *= if is_retained { 0.5 } else { 1.0 };
            } else {
                (high, at_high) = (sigma, at);
                at_low *= if is_retained { 0.5 } else { 1.0 };
            }
        }
        Ok((sigma, ScaleStatus::Solved))
    }
}

/// The geometric mean of |y| over the votes that are not ties; infinite without any.
fn geometric_mean(graph: &ComparisonGraph) -> f64 {
    let groups = graph.groups();
    let (mut logs, mut votes) = (0.0, 0.0);
    for (y, w) in groups.y.iter().zip(&groups.weight).filter(|(y, _)| **y != 0.0) {
        logs += w * y.abs().ln();
        votes += w;
    }
    let mut sums = [logs, votes];
    graph.communicator().sum(&mut sums);
    let [logs, votes] = sums;
    if votes > 0.0 { (logs / votes).exp() } else { f64::INFINITY }
}

/// Returns √(Σ w r² / Σ w); with empty `scores`, r = y.
fn root_mean_square(graph: &ComparisonGraph, scores: &[f64]) -> f64 {
    let groups = graph.groups();
    let fitted = if scores.is_empty() { vec![0.0; groups.len()] } else { graph.gradient(scores) };
    let r = groups.y.iter().zip(&fitted).map(|(y, f)| y - f);
    let communicator = graph.communicator();
    let largest = communicator.max_scalar(r.clone().fold(0.0_f64, |max, r| max.max(r.abs())));
    if largest == 0.0 {
        return 0.0;
    }
    let squares = r.zip(&groups.weight).map(|(r, w)| w * (r / largest).powi(2)).sum();
    largest * (communicator.sum_scalar(squares) / graph.votes()).sqrt()
}
