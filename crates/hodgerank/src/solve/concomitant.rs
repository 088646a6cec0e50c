//! Huber's scores with their own scale: θ and σ at once, and λ = Mσ from them.
//!
//! Objective: min over θ and σ > 0 of σ Σ w ρ_M((y − Xθ)/σ) + ½ a σ, where ρ_M(t) is t²/2 up to
//! |t| = M and M|t| − M²/2 beyond.
//!
//! The constant a = β m − β' p, with m votes and p = items − components degrees of freedom of the
//! scores, makes σ estimate the standard deviation of normal errors: β = E min(Z², M²) for a
//! standard normal Z (0.713 for M = 1.35) is what a vote adds to the sum below, and β' (0.537, see
//! [`NormalConstants`]) what fitting one more score takes away from it. Huber's Proposal 2 has
//! β (m − p); both are m − p for large M, but β takes away too much where p/m is not small.
//!
//! The paper writes m σ for the last term. With its own ρ (that halves the square) the condition
//! for σ would be Σ w min(r²/σ², M²) = 2m, which no σ > 0 can meet for M ≤ √2.
//!
//! Optimality: in θ, XᵀWψ(r) = 0 with ψ(r) = r clipped to ±Mσ; in σ, Σ w min(r²/σ², M²) = a. The
//! objective is jointly convex.
//!
//! Method: for each σ the best θ is the Huber fit at λ = Mσ ([`super::huber_lasso::solve_at`],
//! warm). What is left is a convex function of σ alone, whose slope is half the difference of the
//! two sides above (envelope theorem): its zero is bracketed and closed in on (Illinois rule).
//!
//! Cost: some ten to thirty warm Huber fits, each a few Laplacian systems.
//!
//! Failure modes: if all but a/M² votes (39% of them for M = 1.35 and few items) can be fitted
//! exactly, the objective falls all the way to σ = 0 ([`ScaleStatus::Collapsed`]): noiseless graded
//! votes, trees, or votes that hardly overlap. ±1 votes have errors that are far from normal; σ is then
//! a scale for λ and not a standard deviation.
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

/// σ below this share of the root mean square of the l2 residuals (or of y) counts as zero.
const COLLAPSED: f64 = 1e-6;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `m` | 1.35 | where the loss turns from square to linear, in units of σ | 0.1 to 10 |
/// | `tolerance` | 1e-9 | violation of the condition for σ, over its right-hand side | above 0, below 1 |
/// | `max_iterations` | 200 | most values of σ tried | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConcomitantOptions {
    /// Where the loss turns from square to linear, in units of σ.
    pub m: f64,
    /// Violation of the condition for σ, over its right-hand side, that is good enough.
    pub tolerance: f64,
    /// Most values of σ tried.
    pub max_iterations: usize,
}

impl Default for ConcomitantOptions {
    fn default() -> Self {
        Self { m: 1.35, tolerance: 1e-9, max_iterations: 200 }
    }
}

impl ConcomitantOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        if !(0.1..=10.0).contains(&self.m) {
            let (value, expected) = (self.m.to_string(), "a number from 0.1 to 10");
            return Err(Error::BadOption { option: "m", value, expected });
        }
        Ok(())
    }
}

/// What became of the scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleStatus {
    /// Both optimality conditions hold.
    Solved,
    /// So many votes can be fitted exactly that σ falls to zero: there is no scale to estimate.
    /// The scores are those of the smallest σ tried.
    Collapsed,
    /// Iterations ran out; the values are the best so far.
    IterationLimit,
}

impl ScaleStatus {
    /// Its name in outputs.
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
    /// Mσ; if the scale collapsed, the smallest λ tried.
    pub lambda: f64,
    /// What became of the scale.
    pub status: ScaleStatus,
}

/// Scores and scale together.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be added up, or a linear system
/// cannot be set up.
pub fn solve(graph: &ComparisonGraph, options: &ConcomitantOptions) -> Result<Concomitant> {
    let started = Instant::now();
    options.validate()?;
    let first = l2::solve(graph, &L2Options::default())?;
    let tree = graph.items() - graph.components().len();
    let (votes, tree) = (graph.votes(), tree as f64);
    let sizes = [root_mean_square(graph, &first.scores), root_mean_square(graph, &[])];
    // Residuals this small beside y are rounding: the votes agree in full.
    if votes <= tree || sizes[0] <= COLLAPSED * sizes[1] {
        let (sigma, lambda, status) = (0.0, 0.0, ScaleStatus::Collapsed);
        return Ok(Concomitant { solution: first, sigma, lambda, status });
    }
    let constants = NormalConstants::of(options.m);
    let mut profile = Profile {
        graph,
        m: options.m,
        target: constants.per_vote * votes - constants.per_score * tree,
        huber: HuberLassoOptions { tolerance: 1e-11, ..HuberLassoOptions::default() },
        best: first,
        tried: 0,
        left: options.max_iterations,
    };
    let (sigma, mut status) = profile.root(sizes[0], options.tolerance)?;
    let Profile { mut best, tried, .. } = profile;
    if status == ScaleStatus::Solved && best.status != Status::Solved {
        status = ScaleStatus::IterationLimit;
    }
    best.info.iterations = tried;
    best.info.time = started.elapsed();
    let lambda = options.m * sigma;
    let sigma = if status == ScaleStatus::Collapsed { 0.0 } else { sigma };
    Ok(Concomitant { solution: best, sigma, lambda, status })
}

/// What makes σ the standard deviation of normal errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalConstants {
    /// β = E min(Z², M²): what a vote adds to Σ min(r²/σ², M²).
    pub per_vote: f64,
    /// β' = (2/P − V) E[Z²; |Z| ≤ M] with P = P(|Z| ≤ M) and V = β/P²: what each fitted score takes
    /// away from it.
    pub per_score: f64,
}

impl NormalConstants {
    /// The constants for a bend at `m`.
    ///
    /// To first order in its leverage h, a vote pulls its own residual from ε to ε − hψ(ε)/P, and
    /// the other votes add noise of variance Vh. Leverages sum to p.
    #[must_use]
    pub fn of(m: f64) -> Self {
        // Simpson's rule; the integrands are smooth, so 400 steps give all digits.
        let steps = 400;
        let h = m / f64::from(steps);
        let (mut mass, mut square) = (0.0, 0.0);
        for k in 0..=steps {
            let z = h * f64::from(k);
            let rule = if k == 0 || k == steps { 1.0 } else { 2.0 + 2.0 * f64::from(k % 2) };
            let density = 2.0 * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
            mass += rule * h / 3.0 * density;
            square += rule * h / 3.0 * density * z * z;
        }
        let per_vote = square + m * m * (1.0 - mass).max(0.0);
        Self { per_vote, per_score: (2.0 / mass - per_vote / (mass * mass)) * square }
    }
}

/// The objective as a function of σ alone, θ being the best for it.
struct Profile<'a> {
    graph: &'a ComparisonGraph,
    m: f64,
    /// a = β m − β' p.
    target: f64,
    huber: HuberLassoOptions,
    /// The fit at the σ tried last.
    best: Solution,
    tried: usize,
    left: usize,
}

impl Profile<'_> {
    /// Σ w min(r²/σ², M²) / target − 1 at the Huber fit: minus the slope, so it falls as σ rises.
    fn excess(&mut self, sigma: f64) -> Result<f64> {
        let warm = Some(&self.best.scores[..]);
        self.best = huber_lasso::solve_at(self.graph, self.m * sigma, warm, &self.huber)?;
        self.tried += 1;
        self.left = self.left.saturating_sub(1);
        let groups = self.graph.groups();
        let r = groups.residuals(&self.best.scores);
        let clipped = r.map(|r| (r / sigma).abs().min(self.m));
        let sum: f64 = clipped.zip(&groups.weight).map(|(t, w)| w * t * t).sum();
        Ok(self.graph.communicator().sum_scalar(sum) / self.target - 1.0)
    }

    fn root(&mut self, size: f64, tolerance: f64) -> Result<(f64, ScaleStatus)> {
        let mut high = size;
        let mut at_high = self.excess(high)?;
        while at_high > 0.0 && self.left > 0 {
            high *= 2.0;
            at_high = self.excess(high)?;
        }
        let (mut low, mut at_low) = (high, at_high);
        while at_low < 0.0 && self.left > 0 {
            low /= 2.0;
            at_low = self.excess(low)?;
            if at_low < 0.0 {
                (high, at_high) = (low, at_low);
            }
            if low < COLLAPSED * size {
                return Ok((low, ScaleStatus::Collapsed));
            }
        }
        let (mut sigma, mut at) = (low, at_low);
        while at.abs() > tolerance {
            if self.left == 0 {
                return Ok((sigma, ScaleStatus::IterationLimit));
            }
            if high - low <= 4.0 * f64::EPSILON * high {
                break;
            }
            sigma = low + (high - low) * at_low / (at_low - at_high);
            if !(sigma > low && sigma < high) {
                sigma = low.midpoint(high);
            }
            let before = at;
            at = self.excess(sigma)?;
            // Illinois: an end that stays for a second time counts half, so that it will move.
            let stays = before * at > 0.0;
            if at > 0.0 {
                (low, at_low) = (sigma, at);
                at_high *= if stays { 0.5 } else { 1.0 };
            } else {
                (high, at_high) = (sigma, at);
                at_low *= if stays { 0.5 } else { 1.0 };
            }
        }
        Ok((sigma, ScaleStatus::Solved))
    }
}

/// √(Σ w r² / Σ w); with no scores, r = y.
fn root_mean_square(graph: &ComparisonGraph, scores: &[f64]) -> f64 {
    let groups = graph.groups();
    let fitted = if scores.is_empty() { vec![0.0; groups.len()] } else { graph.gradient(scores) };
    let r = groups.y.iter().zip(&fitted).map(|(y, f)| y - f);
    let communicator = graph.communicator();
    let largest = communicator.max_scalar(r.clone().fold(0.0_f64, |most, r| most.max(r.abs())));
    if largest == 0.0 {
        return 0.0;
    }
    let squares = r.zip(&groups.weight).map(|(r, w)| w * (r / largest).powi(2)).sum();
    largest * (communicator.sum_scalar(squares) / graph.votes()).sqrt()
}
