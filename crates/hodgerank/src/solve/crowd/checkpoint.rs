//! Checkpoints: what a search must know to continue after an iteration.

use super::answers::AnswerModel;
use super::search::{RunState, Search};
use super::tastes::OtherTaste;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;

/// The names of checkpoints before and after a second taste was found.
const ONE_TASTE: &str = "crowd";
const TWO_TASTES: &str = "crowd with two tastes";

/// Saves the state if a checkpoint is due. Collective.
pub(super) fn save(search: &Search<'_>, run: &RunState, other: Option<&OtherTaste>) {
    let name = if other.is_some() { TWO_TASTES } else { ONE_TASTE };
    search.communicator().save_if_due(name, |state| {
        write(search, run, state);
        if let Some(OtherTaste { scores, probability }) = other {
            state.numbers(scores.iter());
            state.numbers(probability.iter());
        }
    });
}

/// Continues from the state that an earlier run saved, if there is one.
///
/// # Errors
/// If the state is not that of this search.
pub(super) fn resume(search: &mut Search<'_>) -> Result<Option<(RunState, Option<OtherTaste>)>> {
    let mut found = None;
    for name in [ONE_TASTE, TWO_TASTES] {
        let Some(state) = search.communicator().load_state(name) else { continue };
        let mut state = StateReader::new(name, &state);
        let (run, settled) = read(search, &mut state)?;
        let mut other = None;
        if name == TWO_TASTES {
            let mut taste = OtherTaste {
                scores: vec![0.0; search.scores.len()],
                probability: vec![0.0; search.weights.len()],
            };
            state.numbers_into(&mut taste.scores)?;
            state.numbers_into(&mut taste.probability)?;
            other = Some(taste);
        }
        state.finish()?;
        search.evaluate();
        if let Some(settled) = settled {
            search.settle_blocks(settled);
        }
        found = Some((run, other));
    }
    Ok(found)
}

/// All that the next iteration depends on; the likelihoods follow from it.
fn write(search: &Search<'_>, run: &RunState, state: &mut StateWriter) {
    state.count(run.iterations_before as u64);
    state.count(run.iteration as u64);
    state.count(run.is_reduced.into());
    state.count(run.is_flipped.into());
    state.number(run.change);
    state.numbers(search.scores.iter());
    state.number(search.side_advantage);
    state.count(search.has_advantage.into());
    state.number(search.tie_odds);
    state.number(search.lambda);
    state.numbers(search.shares.of.iter());
    state.indices(&search.shares.is_in.map(u32::from));
    state.numbers(search.weights.iter());
    state.count(search.settled.blocks.is_some().into());
    let settled = search.settled.blocks.iter().flatten();
    state.indices(&settled.map(|&own| own.into()).collect::<Vec<u32>>());
    if let Some(model) = search.answers.graded() {
        state.number(model.noise);
        state.numbers(model.own_noise.iter());
    }
}

fn read(
    search: &mut Search<'_>,
    state: &mut StateReader<'_>,
) -> Result<(RunState, Option<Vec<bool>>)> {
    let run = RunState {
        iterations_before: state.count()? as usize,
        iteration: state.count()? as usize,
        is_reduced: state.count()? != 0,
        is_flipped: state.count()? != 0,
        change: state.number()?,
    };
    state.numbers_into(&mut search.scores)?;
    search.side_advantage = state.number()?;
    search.has_advantage = state.count()? != 0;
    search.tie_odds = state.number()?;
    search.lambda = state.number()?;
    state.numbers_into(&mut search.shares.of)?;
    let is_in: Vec<bool> = state.indices()?.into_iter().map(|is_in| is_in != 0).collect();
    search.shares.is_in = is_in.try_into().map_err(|_| state.unusable())?;
    state.numbers_into(&mut search.weights)?;
    let has_settled = state.count()? != 0;
    let settled: Vec<bool> = state.indices()?.into_iter().map(|own| own != 0).collect();
    if has_settled && settled.len() != search.blocks.len() {
        return Err(state.unusable());
    }
    if let AnswerModel::Graded(model) = &mut search.answers {
        model.noise = state.number()?;
        state.numbers_into(&mut model.own_noise)?;
    }
    Ok((run, has_settled.then_some(settled)))
}
