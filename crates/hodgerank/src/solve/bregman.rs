//! Linearised Bregman iteration (LBI): a path of outliers with little bias, from simple steps.
//!
//! Loss: ½ Σ_g w_g (y_g − (Xθ)_g − γ_g)². The path starts at time 0 without outliers. γ is updated by
//! a mirror-descent step with soft thresholding: γ_g stays 0 until z_g, the sum of the group's
//! residuals over time, exceeds ±1. From then on γ_g approaches its residual at the rate κ, and the
//! group loses its influence on θ.
//!
//! | step | equation |
//! |---|---|
//! | start | θ⁰ = L†XᵀWy, z⁰ = 0, γ⁰ = 0 |
//! | Algorithm 2, [`Algorithm::Gradient`] | θᵏ⁺¹ = θᵏ + h XᵀW(y − Xθᵏ − γᵏ), zᵏ⁺¹ = zᵏ + Δt (y − Xθᵏ − γᵏ) |
//! | Algorithm 3, [`Algorithm::Exact`] | θᵏ⁺¹ = L†XᵀW(y − γᵏ), zᵏ⁺¹ = zᵏ + Δt (y − Xθᵏ⁺¹ − γᵏ) |
//! | both | γᵏ⁺¹ = κ shrink(zᵏ⁺¹) |
//!
//! Algorithm 4 of the paper is Algorithm 2 distributed over several workers. Both algorithms run in
//! parallel here: on the threads of one machine, with results that do not depend on their number,
//! and on several processes that share the votes ([`crate::communicator`]), which add up one vector
//! of n numbers per step.
//!
//! Difference from the paper: the paper prints γᵏ⁺¹ = κ shrink(zᵏ). With that delay h < 1 would be
//! needed, but its bound h(λ_max(L) + 1) < 2 holds for the form above. The scores at time (k + 1)Δt
//! are θᵏ⁺¹, which is computed from γᵏ in both algorithms. The published table confirms this choice
//! by a small margin: it is reproduced to its rounding (4.9e-5), whereas θ computed from γᵏ⁺¹ differs
//! by 7.2e-5 (Algorithm 3) and the delayed γ by 5.2e-5 (Algorithm 2).
//!
//! z and γ belong to a single vote and do not depend on the weight of its group: equal votes stay
//! equal, so a group is updated as each of its votes would be, and only XᵀW counts votes.
//!
//! Initial phase: while γ = 0, θ is constant and z = t·r. No group enters before t₀ = 1/max|r|, so
//! the iteration starts at the last grid point up to t₀.
//!
//! Convergence: Algorithm 3 converges for h < 2, Algorithm 2 for h(λ_max(L) + 1) < 2. As t → ∞ the
//! residual y − Xθ − γ tends to zero. As κ → ∞ and Δt → 0 the path tends to that of
//! [`super::inverse_scale_space`].
//!
//! Cost: a step of Algorithm 2 is one pass over the groups, with 8 bytes of state each. A step of
//! Algorithm 3 visits only an active set, the groups that have entered or could enter next, and
//! solves one system with the factors of L, which are computed once (for large, dense graphs,
//! conjugate gradients on the change of θ). The number of steps is κ·t/h; with the default κ and h
//! that is 64 (Algorithm 3) or about 43 (λ_max(L) + 1) (Algorithm 2) until a vote with a typical
//! residual enters.
//!
//! Failure modes: with a small κ, γ lags behind its residual (bias); entry times are multiples of
//! Δt; a bridge of the comparison graph has residual zero, so its votes never enter.
//!
//! | paper | here |
//! |---|---|
//! | θ, γ | `theta`, `gamma`; outliers are the groups with γ ≠ 0 |
//! | κ, Δt, h = κΔt | `kappa`, `dt`, `h` |
//! | t | `t`, the path's parameter |
//! | z | `z` |
//! | r = y − Xθ | `r`, the residual that a path records |

mod largest_eigenvalue;
mod options;
mod step;
mod step_size;

pub use options::{Algorithm, BregmanOptions};

use crate::communicator::StateReader;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::LaplacianSystem;
use crate::numeric::largest_magnitude;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::status::Status;
use step::{Iterate, StepOutcome, StepParams};
use step_size::StepSizes;

/// Lower limit of max|r| relative to the largest outcome, if ten times the tolerance is not larger.
/// Below it residuals are rounding errors, and no vote can be flagged.
const MIN_RESIDUAL_RATIO: f64 = 1e-11;
/// [`StopAt::End`] is where the largest residual has fallen to this fraction of the first one. The
/// remaining decay would take a hundred times as long as the path so far.
const END_RESIDUAL_RATIO: f64 = 0.01;
/// Minimum number of knots in a time 1/κ. Scores relax at the rate κ; with four knots in that time,
/// linear interpolation is accurate to 1/128 of the remaining change.
const KNOTS_PER_RELAXATION: f64 = 4.0;
/// The name of checkpoints of this iteration.
const CHECKPOINT_NAME: &str = "lbi";
/// Fraction of a step by which the end time may differ from a grid point and still be rounded to it.
const END_TIME_TOLERANCE: f64 = 1e-6;

/// Computes the path from the least-squares scores, at time 0, to `stop`.
///
/// There is a knot wherever the set of outliers changes, and at least one in every 1/(4κ). A path
/// to [`StopAt::Value`] ends exactly there: the last step is shortened. [`StopAt::End`] is where the
/// largest residual y − Xθ − γ has fallen to a hundredth of the first one.
///
/// # Errors
/// If an option is invalid, the step is too long ([`crate::Error::StepTooLarge`] has the limit), the
/// sums of the outcomes overflow, or the requested backend does not support the graph.
///
/// # Example
/// ```
/// use hodgerank::path::StopAt;
/// use hodgerank::solve::bregman::{self, BregmanOptions};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // 0 beats 1, 1 beats 2, 0 beats 2; one vote says that 2 beats 0.
/// let votes = [
///     Comparison::new(0, 1, 1.0).with_count(5),
///     Comparison::new(1, 2, 1.0).with_count(5),
///     Comparison::new(0, 2, 2.0).with_count(5),
///     Comparison::new(2, 0, 2.0),
/// ];
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let path = bregman::compute_path(&graph, &BregmanOptions::default(), StopAt::Flagged(1.0))?;
/// let flagged = path.entries()[0].group as usize;
/// assert_eq!((graph.groups().y[flagged], graph.groups().weight[flagged]), (-2.0, 1.0));
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn compute_path(
    graph: &ComparisonGraph,
    options: &BregmanOptions,
    stop: StopAt,
) -> Result<Path> {
    compute(graph, options, stop, |_, _| ()).map(|(path, ())| path)
}

/// As [`compute_path`]; also returns γ at the end of the path, one number per group.
///
/// # Errors
/// As [`compute_path`].
pub fn compute_path_and_outliers(
    graph: &ComparisonGraph,
    options: &BregmanOptions,
    stop: StopAt,
) -> Result<(Path, Vec<f64>)> {
    compute(graph, options, stop, |end, kappa| end.gamma(kappa))
}

/// Computes the path, and `evaluate` of the last iterate and κ.
fn compute<T>(
    graph: &ComparisonGraph,
    options: &BregmanOptions,
    stop: StopAt,
    evaluate: impl FnOnce(&Iterate<'_>, f64) -> T,
) -> Result<(Path, T)> {
    options.validate()?;
    let system = LaplacianSystem::new(graph, 0.0, options.backend)?;
    let mut iterate = Iterate::start(graph, &system, options)?;
    let recorder =
        Recorder::for_graph(graph, Parameter::Time, Interpolation::Linear, 0.0, &iterate.theta);
    let max_y = largest_magnitude(&graph.groups().y);
    let max_y = graph.communicator().max_scalar(max_y);
    let residuals = iterate.residual_scale();
    if residuals.max <= MIN_RESIDUAL_RATIO.max(10.0 * options.tolerance) * max_y {
        let path = constant_path(graph, &iterate.theta, recorder, stop);
        return Ok((path, evaluate(&iterate, 0.0)));
    }
    let sizes = StepSizes::choose(options, residuals, || {
        largest_eigenvalue::bound(graph, system.matrix())
    })?;
    // Enters the thread pool once for the whole loop instead of once per parallel section.
    let path = rayon::scope(|_| {
        run_iterations(&mut iterate, sizes, options, stop, recorder, residuals.max)
    })?;
    Ok((path, evaluate(&iterate, sizes.kappa)))
}

/// The iteration of the paper, from the end of the initial phase.
fn run_iterations(
    iterate: &mut Iterate<'_>,
    StepSizes { kappa, dt }: StepSizes,
    options: &BregmanOptions,
    stop: StopAt,
    mut recorder: Recorder,
    max_r: f64,
) -> Result<Path> {
    let (groups, communicator) = (iterate.graph.groups(), iterate.graph.communicator());
    let end = if let StopAt::Value(t) = stop { t } else { f64::INFINITY };
    let max_steps_per_knot = (1.0 / (KNOTS_PER_RELAXATION * kappa * dt)).max(1.0) as u64;
    let mut k = initial_steps(dt, max_r).min((end / dt + END_TIME_TOLERANCE) as u64);
    let (first, mut last_knot) = (k, k);
    // The time after `k` steps; exactly `end` where rounding alone separates the two.
    let time_after = |k: u64| {
        let t = k as f64 * dt;
        if (end - t).abs() <= END_TIME_TOLERANCE * dt { end } else { t }
    };
    let mut t = time_after(k);
    iterate.skip_initial_phase(t);
    if t > 0.0 {
        recorder.record_knot(t, &iterate.theta, [], groups);
    }
    if let Some(state) = communicator.load_state(CHECKPOINT_NAME) {
        let mut state = StateReader::new(CHECKPOINT_NAME, &state);
        (k, last_knot) = (state.count()?, state.count()?);
        t = state.number()?;
        iterate.restore(&mut state)?;
        recorder.restore(&mut state, groups)?;
        state.finish()?;
    }
    let end_ratio = if stop == StopAt::End { END_RESIDUAL_RATIO } else { options.tolerance };
    let status = loop {
        if recorder.reached(stop) || t >= end {
            break Status::Complete;
        }
        if k - first >= options.max_steps as u64 {
            break Status::IterationLimit;
        }
        let step = dt.min(end - t);
        k += 1;
        t = if step < dt { end } else { time_after(k) };
        let step = StepParams { kappa, dt: step, t };
        let StepOutcome { converged, any_change } = iterate.advance(step, end_ratio * max_r)?;
        let is_last = converged || t >= end || k - first == options.max_steps as u64;
        if any_change || is_last || k - last_knot >= max_steps_per_knot {
            recorder.record_knot(t, &iterate.theta, iterate.changes.iter().copied(), groups);
            last_knot = k;
        }
        if converged {
            break Status::Complete;
        }
        communicator.save_if_due(CHECKPOINT_NAME, |state| {
            state.count(k);
            state.count(last_knot);
            state.number(t);
            iterate.save(state);
            recorder.save(state);
        });
    };
    Ok(recorder.finish(status, stop))
}

/// Returns the number of steps in the initial phase: the largest k with kΔt·max|r| ≤ 1.
fn initial_steps(dt: f64, max_r: f64) -> u64 {
    let k = (1.0 / (dt * max_r)) as u64;
    if k as f64 * dt * max_r > 1.0 { k.saturating_sub(1) } else { k }
}

/// The path of votes that agree with each other up to rounding: the scores never change.
fn constant_path(
    graph: &ComparisonGraph,
    theta: &[f64],
    mut recorder: Recorder,
    stop: StopAt,
) -> Path {
    if let StopAt::Value(t) = stop
        && t > 0.0
    {
        recorder.record_knot(t, theta, [], graph.groups());
    }
    recorder.finish(Status::Complete, stop)
}
