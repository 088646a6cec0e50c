//! Huber-LASSO: least squares for votes that fit, and no more than λ of pull for any other.
//!
//! Objective: min over θ, γ of Σ_g w_g [½(y_g − (Xθ)_g − γ_g)² + λ|γ_g|].
//!
//! Given θ, the best γ is known: γ = soft(r, λ) with r = y − Xθ. What is left is Huber regression
//! in the n unknowns θ: F(θ) = Σ w ρ_λ(r), ρ_λ(r) = ½r² for |r| ≤ λ and λ|r| − ½λ² beyond. A group
//! is an outlier (γ ≠ 0) where |r| > λ. The paper's Proposition 1 splits the problem the other way
//! round, into a LASSO in the m unknowns γ; both have the same solutions.
//!
//! Optimality: XᵀWψ(r) = 0 with ψ(r) = clip(r, ±λ). With inliers I and outliers O this is
//! L_I θ = XᵀW_I y + λ XᵀW_O sign(r): piecewise linear in λ.
//!
//! | part | does | cost |
//! |---|---|---|
//! | [`Knots::Grid`] | damped semismooth Newton at each λ, from the λ before | some passes over the groups a λ |
//! | [`Knots::Exact`] | walks from knot to knot | groups + n² a knot, 8n² bytes |
//!
//! The path begins at λ_max = max|r| of least squares, above which nothing is an outlier.
//!
//! Does the inlier graph stay connected? Take a set of items that one inlier b and some outliers
//! join to the rest. Optimality asks w_b r_b = −λ Σ ±w over these outliers, so |r_b| = cλ with c
//! fixed while λ falls: b never becomes an outlier, unless c = 1 to begin with, and then it may be
//! counted as an inlier for good. So the sweep can go down to any λ > 0, and does: θ solves the
//! problem at every knot, whether or not it is the only one to do so (c = 1 happens with equal
//! counts; then other θ have the same objective). [`Status::Disconnected`] is for rounding
//! that has eaten the connection.
//!
//! Failure modes: γ is biased by λ (see [`lasso_l2`](super::lasso_l2) for the refit); a wrong vote
//! on a bridge cannot be seen; votes that agree in full have λ_max = 0 and a path of one knot.
//!
//! | paper | here |
//! |---|---|
//! | θ, s | `scores`, `theta` |
//! | γ, E | [`outliers`] |
//! | λ | `lambda` |
//! | ψ, ρ_λ | clip to ±λ, `rho` |
//! | XᵀWψ(r) | `downhill`, minus the gradient of F |

mod grid;
mod homotopy;
mod inlier_system;
mod inverse;
mod newton;
mod pass;
mod sampled_factor;

use std::time::Instant;

use super::{Info, L2Options, Solution, check_stopping, l2};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;
use crate::numeric::largest_magnitude;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::status::Status;
use newton::Newton;

/// At which λ a path has knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knots {
    /// λ_max · ratio^(k/(count − 1)), k = 0, …, count − 1. For any size.
    Grid {
        /// How many, 2 or more.
        count: usize,
        /// The last λ over the first, above 0 and below 1.
        ratio: f64,
    },
    /// Where groups enter or leave, and nowhere else. For some thousand items.
    Exact {
        /// Most knots, 1 or more.
        most: usize,
    },
}

impl Default for Knots {
    fn default() -> Self {
        Self::Grid { count: 100, ratio: 0.01 }
    }
}

/// Options of [`path`] and [`solve_at`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `knots` | 100 down to 0.01 λ_max | at which λ the path has knots | see [`Knots`] |
/// | `backend` | `auto` | how linear systems are solved, see below | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-9 | largest entry of XᵀWψ(r), over λ times the largest degree | above 0, below 1 |
/// | `max_iterations` | 500 | most Newton steps for one λ | 1 or more |
///
/// The backend serves least squares, where the path begins. Newton's systems, whose groups change
/// at each step, are solved by dense Cholesky for `dense` (and for few items), else by conjugate
/// gradients with a preconditioner that serves for many of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HuberLassoOptions {
    /// At which λ the path has knots.
    pub knots: Knots,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Largest entry of XᵀWψ(r) that is good enough, over λ times the largest degree.
    pub tolerance: f64,
    /// Most Newton steps for one λ.
    pub max_iterations: usize,
}

impl Default for HuberLassoOptions {
    fn default() -> Self {
        let (knots, backend) = (Knots::default(), BackendChoice::Auto);
        Self { knots, backend, tolerance: 1e-9, max_iterations: 500 }
    }
}

impl HuberLassoOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        let bad = |option, value: String, expected| Error::BadOption { option, value, expected };
        match self.knots {
            Knots::Grid { count, .. } if count < 2 => {
                Err(bad("knots", count.to_string(), "a whole number, 2 or more"))
            }
            Knots::Grid { ratio, .. } if !(ratio > 0.0 && ratio < 1.0) => {
                let expected = "a number between 0 and 1, both excluded";
                Err(bad("lambda-ratio", ratio.to_string(), expected))
            }
            Knots::Exact { most: 0 } => {
                Err(bad("knots", "0".to_owned(), "a whole number, 1 or more"))
            }
            _ => Ok(()),
        }
    }
}

/// The path from λ_max down to `until`.
///
/// A group is flagged while its |r| exceeds λ by more than rounding. Groups that enter at one knot
/// come with the larger |r| first, then by index. With [`StopAt::Value`] the last knot is that λ
/// itself, where it lies on the path.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be added up, or there are too many
/// items for exact knots.
pub fn path(graph: &ComparisonGraph, options: &HuberLassoOptions, until: StopAt) -> Result<Path> {
    options.validate()?;
    let theta = least_squares(graph, options.backend)?;
    let lambda_max = largest_residual(graph, &theta);
    let start = Recorder::on(graph, Parameter::Lambda, Interpolation::Linear, lambda_max, &theta);
    if lambda_max == 0.0 || start.reached(until) {
        return Ok(start.finish(Status::Complete));
    }
    match options.knots {
        Knots::Grid { count, ratio } => {
            let lambdas = lambda_grid(lambda_max, count, ratio).skip(1);
            grid::walk(graph, &theta, lambda_max, lambdas, start, until, options)
        }
        Knots::Exact { most } => homotopy::walk(graph, &theta, lambda_max, most, start, until),
    }
}

/// The λ above which nothing is an outlier; zero where the votes agree.
pub(crate) fn lambda_max(graph: &ComparisonGraph) -> Result<f64> {
    let theta = least_squares(graph, BackendChoice::Auto)?;
    Ok(largest_residual(graph, &theta))
}

/// λ_max · ratio^(k/(count − 1)), k = 0, …, count − 1.
pub(crate) fn lambda_grid(lambda_max: f64, count: usize, ratio: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| lambda_max * ratio.powf(k as f64 / (count - 1) as f64))
}

/// Below this share of the largest |y| a residual is rounding.
const ROUNDING: f64 = 1e-10;

/// The scores for one λ, from `warm` or from least squares.
///
/// The residual in the answer is max|XᵀWψ(r)| over λ times the largest degree.
///
/// # Errors
/// If λ is not above 0, an option makes no sense, or the outcomes are too large to be added up.
///
/// # Panics
/// If `warm` has not one score for each item.
pub fn solve_at(
    graph: &ComparisonGraph,
    lambda: f64,
    warm: Option<&[f64]>,
    options: &HuberLassoOptions,
) -> Result<Solution> {
    let started = Instant::now();
    options.validate()?;
    if !(lambda > 0.0 && lambda.is_finite()) {
        let (value, expected) = (lambda.to_string(), "a finite number above 0");
        return Err(Error::BadOption { option: "lambda", value, expected });
    }
    let start = match warm {
        Some(scores) => {
            assert_eq!(scores.len(), graph.items(), "one score for each item");
            scores.to_vec()
        }
        None => least_squares(graph, options.backend)?,
    };
    let mut newton = Newton::new(graph, &start, options.backend);
    let found = newton.approach(lambda, options.tolerance, options.max_iterations);
    let status = if found.converged { Status::Solved } else { Status::IterationLimit };
    let backends = if graph.votes() == 0.0 { vec![] } else { vec![newton.backend()] };
    let info =
        Info { backends, iterations: found.steps, residual: found.kkt, time: started.elapsed() };
    Ok(Solution { scores: newton.theta, status, info })
}

/// γ = soft(r, λ): what each group errs by.
///
/// # Panics
/// If there is not one score for each item.
#[must_use]
pub fn outliers(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> Vec<f64> {
    assert_eq!(scores.len(), graph.items(), "one score for each item");
    let r = graph.groups().residuals(scores);
    r.map(|r| r - r.clamp(-lambda, lambda)).collect()
}

/// Σ w [½(y − Xθ − γ)² + λ|γ|] with the best γ.
///
/// # Panics
/// If there is not one score for each item.
#[must_use]
pub fn objective(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> f64 {
    assert_eq!(scores.len(), graph.items(), "one score for each item");
    graph.communicator().sum_scalar(pass::objective(graph.groups(), scores, lambda))
}

fn least_squares(graph: &ComparisonGraph, backend: BackendChoice) -> Result<Vec<f64>> {
    let options = L2Options { backend, ..L2Options::default() };
    l2::solve(graph, &options).map(|solution| solution.scores)
}

/// λ_max; zero where all that is left of the votes is rounding.
fn largest_residual(graph: &ComparisonGraph, theta: &[f64]) -> f64 {
    let groups = graph.groups();
    let largest = (0..groups.len()).fold(0.0, |most, g| groups.residual(theta, g).abs().max(most));
    let mut sizes = [largest, largest_magnitude(&groups.y)];
    graph.communicator().max(&mut sizes);
    let [largest, largest_y] = sizes;
    if largest > ROUNDING * largest_y { largest } else { 0.0 }
}
