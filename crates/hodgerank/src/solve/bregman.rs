//! Linearised Bregman iterations (LBI): a path of outliers with little bias, by simple steps.
//!
//! Loss: ½ Σ_g w_g (y_g − (Xθ)_g − γ_g)². Starting from no outliers at time 0, γ descends through
//! shrinkage: a group stays at γ_g = 0 until its residuals, added up over time in z_g, pass ±1.
//! Then γ_g moves to its residual at the rate κ and the vote loses its pull on θ.
//!
//! | step | equation |
//! |---|---|
//! | start | θ⁰ = L†XᵀWy, z⁰ = 0, γ⁰ = 0 |
//! | Algorithm 2, [`Algorithm::Gradient`] | θᵏ⁺¹ = θᵏ + h XᵀW(y − Xθᵏ − γᵏ), zᵏ⁺¹ = zᵏ + Δt (y − Xθᵏ − γᵏ) |
//! | Algorithm 3, [`Algorithm::Exact`] | θᵏ⁺¹ = L†XᵀW(y − γᵏ), zᵏ⁺¹ = zᵏ + Δt (y − Xθᵏ⁺¹ − γᵏ) |
//! | both | γᵏ⁺¹ = κ shrink(zᵏ⁺¹) |
//!
//! Algorithm 4 of the paper is Algorithm 2 on several workers. Both run in that way here: on the
//! threads of one machine, with the same bits on any number of them, and on machines that share the
//! votes ([`crate::communicator`]), where a step adds up one vector of n numbers. The paper prints γᵏ⁺¹ = κ shrink(zᵏ). With that delay h < 1
//! would be needed; its own bound h(λ_max(L) + 1) < 2 belongs to the form above. The scores at time
//! (k + 1)Δt are θᵏ⁺¹, which answers to γᵏ in both. The published table decides this only just: it
//! is met to its rounding (4.9e-5) so, while θ from γᵏ⁺¹ misses it by 7.2e-5 with Algorithm 3 and
//! the delayed γ by 5.2e-5 with Algorithm 2.
//!
//! z and γ belong to a vote and not to its weight: rows that are equal stay equal, so that a group
//! steps as each of its votes would, and only XᵀW counts votes.
//!
//! Silent start: while γ = 0, θ stays where it starts and z = t·r. Nothing enters before
//! t₀ = 1/max|r|, and the iteration begins at the last step of the grid up to t₀.
//!
//! Conditions: Algorithm 3 converges for h < 2, Algorithm 2 for h(λ_max(L) + 1) < 2. As t → ∞ the
//! residual y − Xθ − γ goes to zero. As κ → ∞ and Δt → 0 the path becomes that of
//! [`super::inverse_scale_space`].
//!
//! Cost: a step of Algorithm 2 is one pass over the groups, 8 bytes of state each. A step of
//! Algorithm 3 looks at those groups alone that have entered or could enter next, and is one solve
//! with the factor of L, set up once (conjugate gradients for the change of θ alone where L is
//! large and broad). Steps: κ·t/h; by default 64 until the time at which a vote of typical residual
//! enters with Algorithm 3, and about 43 (λ_max(L) + 1) with Algorithm 2.
//!
//! Failure modes: a small κ leaves γ behind its residual (bias); entry times are multiples of Δt;
//! a pair with nothing to check it against (a bridge) has no residual, so its votes never enter.
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

pub use options::{Algorithm, BregmanOptions};

use crate::communicator::StateReader;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::LaplacianSystem;
use crate::numeric::largest_magnitude;
use crate::path::{Interpolation, Parameter, Path, Recorder, StopAt};
use crate::status::Status;
use options::Steps;
use step::{Advance, Iterate, Step};

/// Residuals below this share of the largest outcome, or ten tolerances, are rounding: there is
/// nothing to explain.
const ROUNDING: f64 = 1e-11;
/// [`StopAt::End`]: residuals have fallen to this share of the first ones. The rest would take a
/// hundred times as long as all before.
const END: f64 = 0.01;
/// Scores bend at the rate κ. A knot at least four times in 1/κ keeps a straight line between two
/// knots within 1/128 of what is left to go.
const KNOTS_PER_RELAXATION: f64 = 4.0;
/// What states of the iteration are kept as.
const WORK: &str = "lbi";
/// The end may miss a step of the grid by this share of a step and still be that step.
const ON_GRID: f64 = 1e-6;

/// The path from the scores that trust every vote, at time 0, until `until`.
///
/// There is a knot wherever the set of outliers changes, and at least every 1/(4κ). The path ends
/// at [`StopAt::Value`] exactly: the last step is shortened to meet it. [`StopAt::End`] is where the
/// largest residual y − Xθ − γ has fallen to a hundredth of the first one.
///
/// # Errors
/// If an option makes no sense, the step is too long ([`crate::Error::StepTooLarge`] names the
/// limit), outcomes are too large to be added up, or the backend asked for cannot take the graph.
///
/// # Example
/// ```
/// use hodgerank::path::Until;
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
/// let path = bregman::path(&graph, &BregmanOptions::default(), Until::Flagged(1.0))?;
/// let suspect = path.entries()[0].group as usize;
/// assert_eq!((graph.groups().y[suspect], graph.groups().weight[suspect]), (-2.0, 1.0));
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn path(graph: &ComparisonGraph, options: &BregmanOptions, until: StopAt) -> Result<Path> {
    run(graph, options, until, |_, _| ()).map(|(path, ())| path)
}

/// As [`path`], and γ at its end, one number for each group.
///
/// # Errors
/// As [`path`].
pub fn path_and_outliers(
    graph: &ComparisonGraph,
    options: &BregmanOptions,
    until: StopAt,
) -> Result<(Path, Vec<f64>)> {
    run(graph, options, until, |end, kappa| end.outliers(kappa))
}

/// The path, and what is asked of its end.
fn run<T>(
    graph: &ComparisonGraph,
    options: &BregmanOptions,
    until: StopAt,
    of_end: impl FnOnce(&Iterate<'_>, f64) -> T,
) -> Result<(Path, T)> {
    options.validate()?;
    let system = LaplacianSystem::new(graph, 0.0, options.backend)?;
    let mut iterate = Iterate::start(graph, &system, options)?;
    let recorder = Recorder::on(graph, Parameter::Time, Interpolation::Linear, 0.0, &iterate.theta);
    let largest_y = largest_magnitude(&graph.groups().y);
    let largest_y = graph.communicator().max_scalar(largest_y);
    let residuals = iterate.residuals();
    let largest_r = residuals.largest;
    if largest_r <= ROUNDING.max(10.0 * options.tolerance) * largest_y {
        let path = without_outliers(graph, &iterate.theta, recorder, until);
        return Ok((path, of_end(&iterate, 0.0)));
    }
    let steps =
        Steps::choose(options, residuals, || largest_eigenvalue::bound(graph, system.matrix()))?;
    // The scope takes the whole loop into the thread pool, not each of its parts.
    let path = rayon::scope(|_| walk(&mut iterate, steps, options, until, recorder, largest_r))?;
    Ok((path, of_end(&iterate, steps.kappa)))
}

/// The iteration of the paper, from the end of the silent start.
fn walk(
    iterate: &mut Iterate<'_>,
    Steps { kappa, dt }: Steps,
    options: &BregmanOptions,
    until: StopAt,
    mut recorder: Recorder,
    largest_r: f64,
) -> Result<Path> {
    let (groups, communicator) = (iterate.graph.groups(), iterate.graph.communicator());
    let end = if let StopAt::Value(t) = until { t } else { f64::INFINITY };
    let longest_gap = (1.0 / (KNOTS_PER_RELAXATION * kappa * dt)).max(1.0) as u64;
    let mut k = silent_steps(dt, largest_r).min((end / dt + ON_GRID) as u64);
    let (first, mut last_knot) = (k, k);
    let mut t = k as f64 * dt;
    iterate.skip_silent_start(t);
    if t > 0.0 {
        recorder.knot(t, &iterate.theta, [], groups);
    }
    if let Some(state) = communicator.load_state(WORK) {
        let mut state = StateReader::new(WORK, &state);
        (k, last_knot) = (state.count()?, state.count()?);
        t = state.number()?;
        iterate.restore(&mut state)?;
        recorder.restore(&mut state, groups)?;
        state.finish()?;
    }
    let ending = if until == StopAt::End { END } else { options.tolerance };
    let status = loop {
        if recorder.reached(until) || end - t <= ON_GRID * dt {
            break Status::Complete;
        }
        if k - first >= options.max_steps as u64 {
            break Status::IterationLimit;
        }
        let step = dt.min(end - t);
        k += 1;
        t = if step < dt { end } else { k as f64 * dt };
        let step = Step { kappa, dt: step, t };
        let Advance { is_quiet, any_change } = iterate.advance(step, ending * largest_r)?;
        let stopping = is_quiet || end - t <= ON_GRID * dt || k - first == options.max_steps as u64;
        let changes = &iterate.changes;
        if any_change || stopping || k - last_knot >= longest_gap {
            recorder.knot(t, &iterate.theta, changes.iter().copied(), groups);
            last_knot = k;
        }
        if is_quiet {
            break Status::Complete;
        }
        communicator.save_if_due(WORK, |state| {
            state.count(k);
            state.count(last_knot);
            state.number(t);
            iterate.save(state);
            recorder.save(state);
        });
    };
    Ok(recorder.finish(status))
}

/// The largest k with kΔt·max|r| ≤ 1.
fn silent_steps(dt: f64, largest_r: f64) -> u64 {
    let k = (1.0 / (dt * largest_r)) as u64;
    if k as f64 * dt * largest_r > 1.0 { k.saturating_sub(1) } else { k }
}

/// Votes that agree with each other to the last digit: the scores never change.
fn without_outliers(
    graph: &ComparisonGraph,
    theta: &[f64],
    mut recorder: Recorder,
    until: StopAt,
) -> Path {
    if let StopAt::Value(t) = until
        && t > 0.0
    {
        recorder.knot(t, theta, [], graph.groups());
    }
    recorder.finish(Status::Complete)
}
