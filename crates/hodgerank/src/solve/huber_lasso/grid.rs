//! The path on a grid of λ.

use super::history::History;
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
    mut newton: Newton<'_>,
    lambda_max: f64,
    lambdas: impl Iterator<Item = f64>,
    mut recorder: Recorder,
    stop: StopAt,
    options: &HuberLassoOptions,
) -> Result<Path> {
    let (groups, communicator) = (graph.groups(), graph.communicator());
    let last_lambda = if let StopAt::Value(value) = stop { value } else { 0.0 };
    let mut flagged = vec![false; groups.len()];
    let mut history = History::new(lambda_max, &newton.theta);
    let mut knots_done = 0;
    if let Some(state) = communicator.load_state(CHECKPOINT_NAME) {
        let mut state = StateReader::new(CHECKPOINT_NAME, &state);
        knots_done = state.count()?;
        history.restore(&mut state)?;
        newton.restore(&mut state)?;
        recorder.restore(&mut state, groups)?;
        state.finish()?;
        flagged.iter_mut().zip(0..).for_each(|(flag, g)| *flag = recorder.is_flagged(g));
    }
    for lambda in lambdas.skip(knots_done as usize) {
        let lambda = lambda.max(last_lambda);
        if communicator.checkpoint().is_some() {
            // A computation that is resumed here has to continue with the same bits.
            newton.forget_evaluations();
        }
        history.predict(lambda, &mut newton.theta);
        newton.pass.expect(history.last(), (lambda, &newton.theta));
        let result = newton.minimise(lambda, options.tolerance, options.max_iterations);
        if !result.converged {
            return Ok(recorder.finish(Status::IterationLimit, stop));
        }
        let limit = lambda + (ENTRY_MARGIN * lambda_max).min(RELATIVE_ENTRY_MARGIN * lambda);
        let changes = changes(&mut newton, limit, &mut flagged);
        recorder.record_knot(lambda, &newton.theta, changes, groups);
        knots_done += 1;
        if recorder.reached(stop) {
            let tolerance = FINAL_TOLERANCE_RATIO * options.tolerance;
            newton.minimise(lambda, tolerance, MAX_FINAL_STEPS);
            recorder.replace_last_scores(&newton.theta);
            break;
        }
        history.push(lambda, &newton.theta);
        communicator.save_if_due(CHECKPOINT_NAME, |state| {
            state.count(knots_done);
            history.save(state);
            newton.save(state);
            recorder.save(state);
        });
    }
    Ok(recorder.finish(Status::Complete, stop))
}

/// Updates `flagged` and returns the groups that entered or left, by decreasing |r|, then by index.
fn changes(newton: &mut Newton<'_>, limit: f64, flagged: &mut [bool]) -> Vec<(u32, Change)> {
    let mut changed = newton.pass.changes(&newton.theta, limit, flagged);
    changed.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    changed.dedup_by_key(|change| change.0);
    for &(g, _) in &changed {
        flagged[g as usize] ^= true;
    }
    let change = |(g, r): (u32, f64)| {
        let entered = flagged[g as usize];
        (g, if entered { Change::Entered(r) } else { Change::Left })
    };
    changed.into_iter().map(change).collect()
}
