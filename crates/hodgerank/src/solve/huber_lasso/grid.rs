//! The path on a grid of λ.

use super::HuberLassoOptions;
use super::newton::Newton;
use crate::communicator::StateReader;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::path::{Change, Path, Recorder, StopAt};
use crate::status::Status;

/// A group enters when its |r| exceeds λ by this share of λ_max: γ is then more than rounding.
pub(super) const BEYOND: f64 = 1e-9;

/// What states of the walk are kept as.
const WORK: &str = "hlasso";
/// The scores at the end of a path are solved to this, in units of [`HuberLassoOptions::tolerance`]:
/// those before it serve as starts, these are read.
const POLISH: f64 = 1e-4;
const POLISH_STEPS: usize = 10;

/// Solves for each λ in turn.
pub(super) fn walk(
    graph: &ComparisonGraph,
    start: &[f64],
    lambda_max: f64,
    lambdas: impl Iterator<Item = f64>,
    mut recorder: Recorder,
    until: StopAt,
    options: &HuberLassoOptions,
) -> Result<Path> {
    let (groups, communicator) = (graph.groups(), graph.communicator());
    let last = if let StopAt::Value(value) = until { value } else { 0.0 };
    let mut newton = Newton::new(graph, start, options.backend);
    let mut flagged = vec![false; groups.len()];
    let mut before = Point { lambda: lambda_max, theta: start.to_vec() };
    let mut here = before.clone();
    let mut done = 0;
    if let Some(state) = communicator.load_state(WORK) {
        let mut state = StateReader::new(WORK, &state);
        done = state.count()?;
        for point in [&mut before, &mut here] {
            point.lambda = state.number()?;
            state.numbers_into(&mut point.theta)?;
        }
        newton.restore(&mut state)?;
        recorder.restore(&mut state, groups)?;
        state.finish()?;
        flagged.iter_mut().zip(0..).for_each(|(flag, g)| *flag = recorder.is_flagged(g));
    }
    for lambda in lambdas.skip(done as usize) {
        let lambda = lambda.max(last);
        newton.theta.copy_from_slice(&here.theta);
        extend(&mut newton.theta, &before, &here, lambda);
        let found = newton.minimise(lambda, options.tolerance, options.max_iterations);
        if !found.converged {
            return Ok(recorder.finish(Status::IterationLimit));
        }
        let limit = lambda + BEYOND * lambda_max;
        let changes = changes(&newton, limit, &mut flagged);
        recorder.knot(lambda, &newton.theta, changes, groups);
        done += 1;
        if recorder.reached(until) {
            let tolerance = POLISH * options.tolerance;
            newton.minimise(lambda, tolerance, POLISH_STEPS);
            recorder.refine(&newton.theta);
            break;
        }
        std::mem::swap(&mut before, &mut here);
        here.lambda = lambda;
        here.theta.copy_from_slice(&newton.theta);
        communicator.save_if_due(WORK, |state| {
            state.count(done);
            for point in [&before, &here] {
                state.number(point.lambda);
                state.numbers(point.theta.iter());
            }
            newton.save(state);
            recorder.save(state);
        });
    }
    Ok(recorder.finish(Status::Complete))
}

#[derive(Clone)]
struct Point {
    lambda: f64,
    theta: Vec<f64>,
}

/// The path is piecewise linear, so the line through the last two points is a good guess.
fn extend(theta: &mut [f64], before: &Point, here: &Point, lambda: f64) {
    if before.lambda > here.lambda {
        let share = (lambda - here.lambda) / (here.lambda - before.lambda);
        for (theta, (before, here)) in theta.iter_mut().zip(before.theta.iter().zip(&here.theta)) {
            *theta += share * (here - before);
        }
    }
}

/// Groups that entered or left, larger |r| first, then by index.
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
