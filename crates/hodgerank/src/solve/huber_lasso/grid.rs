//! The path on a grid of λ.

use super::newton::Newton;
use super::options::HuberLassoOptions;
use crate::communicator::StateReader;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::path::{Change, Path, Recorder, StopAt};
use crate::status::Status;

/// Fractions of λ_max and of λ by which |r| must exceed λ for a group to enter; the smaller one
/// counts. Smaller γ are rounding errors. Far below λ_max, a fraction of λ_max would hide outliers.
const ENTRY_MARGIN: f64 = 1e-9;
const RELATIVE_ENTRY_MARGIN: f64 = 1e-7;

/// The name of checkpoints of this computation.
const CHECKPOINT_NAME: &str = "hlasso";
/// Tolerance of the last knot relative to [`HuberLassoOptions::tolerance`]: its scores are the
/// result, whereas those of earlier knots are mainly starting points.
const FINAL_TOLERANCE_RATIO: f64 = 1e-4;
const MAX_FINAL_STEPS: usize = 10;

/// Solves for each λ in turn.
pub(super) fn compute_path(
    graph: &ComparisonGraph,
    start: &[f64],
    lambda_max: f64,
    lambdas: impl Iterator<Item = f64>,
    mut recorder: Recorder,
    stop: StopAt,
    options: &HuberLassoOptions,
) -> Result<Path> {
    let (groups, communicator) = (graph.groups(), graph.communicator());
    let last_lambda = if let StopAt::Value(value) = stop { value } else { 0.0 };
    let mut newton = Newton::new(graph, start, options.backend);
    let mut flagged = vec![false; groups.len()];
    let mut previous = PathPoint { lambda: lambda_max, theta: start.to_vec() };
    let mut current = previous.clone();
    let mut knots_done = 0;
    if let Some(state) = communicator.load_state(CHECKPOINT_NAME) {
        let mut state = StateReader::new(CHECKPOINT_NAME, &state);
        knots_done = state.count()?;
        for point in [&mut previous, &mut current] {
            point.lambda = state.number()?;
            state.numbers_into(&mut point.theta)?;
        }
        newton.restore(&mut state)?;
        recorder.restore(&mut state, groups)?;
        state.finish()?;
        flagged.iter_mut().zip(0..).for_each(|(flag, g)| *flag = recorder.is_flagged(g));
    }
    for lambda in lambdas.skip(knots_done as usize) {
        let lambda = lambda.max(last_lambda);
        newton.theta.copy_from_slice(&current.theta);
        extrapolate(&mut newton.theta, &previous, &current, lambda);
        let result = newton.minimise(lambda, options.tolerance, options.max_iterations);
        if !result.converged {
            return Ok(recorder.finish(Status::IterationLimit, stop));
        }
        let limit = lambda + (ENTRY_MARGIN * lambda_max).min(RELATIVE_ENTRY_MARGIN * lambda);
        let changes = changes(&newton, limit, &mut flagged);
        recorder.record_knot(lambda, &newton.theta, changes, groups);
        knots_done += 1;
        if recorder.reached(stop) {
            let tolerance = FINAL_TOLERANCE_RATIO * options.tolerance;
            newton.minimise(lambda, tolerance, MAX_FINAL_STEPS);
            recorder.replace_last_scores(&newton.theta);
            break;
        }
        std::mem::swap(&mut previous, &mut current);
        current.lambda = lambda;
        current.theta.copy_from_slice(&newton.theta);
        communicator.save_if_due(CHECKPOINT_NAME, |state| {
            state.count(knots_done);
            for point in [&previous, &current] {
                state.number(point.lambda);
                state.numbers(point.theta.iter());
            }
            newton.save(state);
            recorder.save(state);
        });
    }
    Ok(recorder.finish(Status::Complete, stop))
}

/// θ at one λ.
#[derive(Clone)]
struct PathPoint {
    lambda: f64,
    theta: Vec<f64>,
}

/// Adds the change that the last two points predict; the path is piecewise linear.
fn extrapolate(theta: &mut [f64], previous: &PathPoint, current: &PathPoint, lambda: f64) {
    if previous.lambda > current.lambda {
        let factor = (lambda - current.lambda) / (current.lambda - previous.lambda);
        for (theta, (previous, current)) in
            theta.iter_mut().zip(previous.theta.iter().zip(&current.theta))
        {
            *theta += factor * (current - previous);
        }
    }
}

/// Updates `flagged` and returns the groups that entered or left, by decreasing |r|, then by index.
fn changes(newton: &Newton<'_>, limit: f64, flagged: &mut [bool]) -> Vec<(u32, Change)> {
    let mut changed = newton.pass.changes(&newton.theta, limit, flagged);
    changed.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    for &(g, _) in &changed {
        flagged[g as usize] ^= true;
    }
    let change = |(g, r): (u32, f64)| {
        let entered = flagged[g as usize];
        (g, if entered { Change::Entered(r) } else { Change::Left })
    };
    changed.into_iter().map(change).collect()
}
