//! Huber-LASSO: least squares for votes that fit, and bounded influence (λ) for all others.
//!
//! Objective: min over θ, γ of Σ_g w_g [½(y_g − (Xθ)_g − γ_g)² + λ|γ_g|].
//!
//! For a given θ the optimal γ is soft(r, λ) with r = y − Xθ. Eliminating it leaves Huber regression
//! in the n unknowns θ: F(θ) = Σ w ρ_λ(r), with ρ_λ(r) = ½r² for |r| ≤ λ and λ|r| − ½λ² otherwise. A
//! group is an outlier (γ ≠ 0) if |r| > λ. Proposition 1 of the paper eliminates θ instead, which
//! gives a LASSO in the m unknowns γ with the same solutions.
//!
//! Optimality: XᵀWψ(r) = 0 with ψ(r) = clip(r, ±λ). With inliers I and outliers O this is
//! L_I θ = XᵀW_I y + λ XᵀW_O sign(r): the path is piecewise linear in λ.
//!
//! | knots | algorithm | cost |
//! |---|---|---|
//! | [`Knots::Grid`] | damped semismooth Newton at each λ, started from where earlier λ predict the solution | one look at each group for several λ, and a few dozen passes over the inliers per λ |
//! | [`Knots::Exact`] | homotopy from knot to knot | groups + n² per knot, 8n² bytes |
//!
//! The path starts at λ_max = max|r| of the least-squares scores, above which there are no outliers.
//!
//! Connectivity: consider a set of items that one inlier b and some outliers connect to the rest.
//! Optimality requires w_b r_b = −λ Σ ±w over these outliers, so |r_b| = cλ with constant c while λ
//! decreases. Hence b never becomes an outlier unless c = 1 from the start, and in that case it can
//! be treated as an inlier throughout. The path can therefore continue to any λ > 0, and does. At
//! each knot θ is a solution, although not necessarily the only one: c = 1 occurs with equal counts,
//! and then other θ have the same objective. [`Status::Disconnected`] is returned only if rounding
//! errors destroy the connection.
//!
//! Failure modes: γ has a bias of size λ ([`lasso_l2`](super::lasso_l2) refits without it); a wrong
//! vote on a bridge cannot be detected; votes that agree completely have λ_max = 0 and a path of one
//! knot.
//!
//! | paper | here |
//! |---|---|
//! | θ, s | `scores`, `theta` |
//! | γ, E | [`outliers`] |
//! | λ | `lambda` |
//! | ψ, ρ_λ | clip to ±λ, `rho` |
//! | XᵀWψ(r) | `negative_gradient`, the negative gradient of F |

mod dense_factor;
mod grid;
mod history;
mod homotopy;
mod inlier_core;
mod inlier_inverse;
mod newton;
mod newton_system;
mod options;
mod pass;
mod pass_chunk;
mod sampled_factor;

pub use options::{HuberLassoOptions, Knots};

use std::time::Instant;

use super::{Info, L2Options, Solution, l2};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;
use crate::numeric::largest_magnitude;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::status::Status;
use newton::Newton;

/// Computes the path from λ_max down to `stop`.
///
/// A group is flagged while its |r| exceeds λ by more than rounding errors. Groups that enter at the
/// same knot are sorted by |r|, the largest first, then by index. With [`StopAt::Value`] the last
/// knot is that λ. A grid ends at its last λ only with [`StopAt::End`] and
/// [`StopAt::FlaggedOrEnd`]; otherwise the path continues below it until the request is met, or
/// until λ reaches the limit of double precision ([`Status::NotReached`]).
///
/// # Errors
/// If an option is invalid, the sums of the outcomes overflow, or there are too many items for exact
/// knots.
pub fn compute_path(
    graph: &ComparisonGraph,
    options: &HuberLassoOptions,
    stop: StopAt,
) -> Result<Path> {
    options.validate()?;
    graph.run_in_pool_if_large(|| compute_path_here(graph, options, stop))
}

fn compute_path_here(
    graph: &ComparisonGraph,
    options: &HuberLassoOptions,
    stop: StopAt,
) -> Result<Path> {
    let newton = newton_at_least_squares(graph, options.backend)?;
    let theta = newton.theta.clone();
    let lambda_max = largest_residual(graph, &theta);
    let recorder =
        Recorder::for_graph(graph, Parameter::Lambda, Interpolation::Linear, lambda_max, &theta);
    if lambda_max == 0.0 || recorder.reached(stop) {
        return Ok(recorder.finish(Status::Complete, stop));
    }
    match options.knots {
        Knots::Grid { count, ratio } => {
            let lambdas = lambda_grid(lambda_max, count, ratio).skip(1);
            let beyond = match stop {
                StopAt::Value(_) | StopAt::Flagged(_) => Some(continued_grid(
                    lambda_max * ratio,
                    ratio.powf(1.0 / (count - 1) as f64),
                    smallest_lambda(graph),
                )),
                StopAt::End | StopAt::FlaggedOrEnd(_) => None,
            };
            let lambdas = lambdas.chain(beyond.into_iter().flatten());
            grid::compute_path(graph, newton, lambda_max, lambdas, recorder, stop, options)
        }
        Knots::Exact { max_knots } => {
            homotopy::compute_path(graph, &theta, lambda_max, max_knots, recorder, stop)
        }
    }
}

/// Returns the λ above which there are no outliers; zero if the votes agree completely.
pub(crate) fn lambda_max(graph: &ComparisonGraph) -> Result<f64> {
    let theta = least_squares(graph, BackendChoice::Auto)?;
    Ok(largest_residual(graph, &theta))
}

/// λ_max · ratio^(k/(count − 1)), k = 0, …, count − 1.
pub(crate) fn lambda_grid(lambda_max: f64, count: usize, ratio: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| lambda_max * ratio.powf(k as f64 / (count - 1) as f64))
}

/// Continues a grid below `last` for as long as λ is at least `smallest`.
///
/// Successive λ have the ratio of the grid, or [`CONTINUED_RATIO`] if the grid is finer: what lies
/// beyond the requested grid does not need more knots than a default one.
fn continued_grid(last: f64, grid_ratio: f64, smallest: f64) -> impl Iterator<Item = f64> {
    let ratio = grid_ratio.min(CONTINUED_RATIO);
    (1..).map(move |k| last * ratio.powi(k)).take_while(move |&lambda| lambda >= smallest)
}

/// The largest ratio of successive λ beyond the end of a grid: about that of the default grid.
const CONTINUED_RATIO: f64 = 0.955;

/// The λ below which residuals of the largest outcomes are rounding errors.
fn smallest_lambda(graph: &ComparisonGraph) -> f64 {
    let largest_y = largest_magnitude(&graph.groups().y);
    MIN_LAMBDA_RATIO * graph.communicator().max_scalar(largest_y)
}

/// Lower limit of λ relative to the largest |y|.
const MIN_LAMBDA_RATIO: f64 = 1e-13;

/// Lower limit of λ_max relative to the largest |y|. Below it residuals are rounding errors.
const MIN_LAMBDA_MAX_RATIO: f64 = 1e-10;

/// Computes the scores for one λ, starting from `warm` or from the least-squares scores.
///
/// The residual in the result is max|XᵀWψ(r)| divided by λ times the largest degree.
///
/// # Errors
/// If λ is not positive, an option is invalid, or the sums of the outcomes overflow.
///
/// # Panics
/// If `warm` does not have one score for each item.
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
    let mut newton = match warm {
        Some(scores) => {
            assert_eq!(scores.len(), graph.items(), "one score for each item");
            Newton::new(graph, scores, options.backend)
        }
        None => newton_at_least_squares(graph, options.backend)?,
    };
    let result =
        newton.minimise_with_continuation(lambda, options.tolerance, options.max_iterations);
    let status = if result.converged { Status::Solved } else { Status::IterationLimit };
    let backends = if graph.votes() == 0.0 { vec![] } else { vec![newton.backend()] };
    let info = Info {
        backends,
        iterations: result.steps,
        residual: result.violation,
        error_bound: None,
        time: started.elapsed(),
    };
    Ok(Solution { scores: newton.theta, status, info })
}

/// Returns γ = soft(r, λ), the estimated error of each group.
///
/// # Panics
/// If `scores` does not have one score for each item.
#[must_use]
pub fn outliers(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> Vec<f64> {
    assert_eq!(scores.len(), graph.items(), "one score for each item");
    let r = graph.groups().residuals(scores);
    r.map(|r| r - r.clamp(-lambda, lambda)).collect()
}

/// Returns the objective Σ w [½(y − Xθ − γ)² + λ|γ|] with the optimal γ.
///
/// # Panics
/// If `scores` does not have one score for each item.
#[must_use]
pub fn objective(graph: &ComparisonGraph, scores: &[f64], lambda: f64) -> f64 {
    assert_eq!(scores.len(), graph.items(), "one score for each item");
    graph.communicator().sum_scalar(pass::objective(graph.groups(), scores, lambda))
}

/// Newton's method at the least-squares scores.
///
/// On well-connected graphs Newton's own linear solver finds them in a few steps. Otherwise they come
/// from [`l2`], which bounds errors, not only residuals.
fn newton_at_least_squares(graph: &ComparisonGraph, backend: BackendChoice) -> Result<Newton<'_>> {
    let mut newton = Newton::new(graph, &vec![0.0; graph.items()], backend);
    let own = backend == BackendChoice::Auto && graph.communicator().is_single_process();
    if !(own && newton.solve_least_squares()) {
        newton.theta = least_squares(graph, backend)?;
    }
    Ok(newton)
}

fn least_squares(graph: &ComparisonGraph, backend: BackendChoice) -> Result<Vec<f64>> {
    let options = L2Options { backend, ..L2Options::default() };
    l2::solve(graph, &options).map(|solution| solution.scores)
}

/// Returns λ_max = max|r|, or zero if the residuals are rounding errors.
fn largest_residual(graph: &ComparisonGraph, theta: &[f64]) -> f64 {
    let groups = graph.groups();
    let largest = (0..groups.len()).fold(0.0, |max, g| groups.residual(theta, g).abs().max(max));
    let mut maxima = [largest, largest_magnitude(&groups.y)];
    graph.communicator().max(&mut maxima);
    let [largest, largest_y] = maxima;
    if largest > MIN_LAMBDA_MAX_RATIO * largest_y { largest } else { 0.0 }
}
