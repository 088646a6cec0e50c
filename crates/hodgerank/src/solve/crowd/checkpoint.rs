//! Checkpoints: what a search must know to continue after an iteration. What comes before is fitted again.

use super::PeopleState;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::model::leave_one_out::PairVariances;
use crate::model::newton::Newton;
use crate::model::votes::Voice;
use crate::model::{Prior, PriorKind};

const WORK: &str = "crowd";

/// Saves the state if a checkpoint is due. Collective.
pub(super) fn save(newton: &Newton<'_>, people: &PeopleState) {
    newton.graph.communicator().save_if_due(WORK, |state| write(newton, people, state));
}

fn write(newton: &Newton<'_>, people: &PeopleState, state: &mut StateWriter) {
    state.count(people.iteration as u64);
    state.number(people.change);
    state.numbers(newton.scores.iter());
    state.number(people.unit);
    state.count(people.has_new_prior.into());
    for number in [newton.model.advantage, newton.model.tie_odds, newton.prior.prior.precision] {
        state.number(number);
    }
    state.count(newton.prior.prior.kind as u64);
    state.numbers(people.population.parameters().iter());
    for of in [|v: &Voice| v.weight, |v: &Voice| v.sharpness, |v: &Voice| v.side] {
        state.numbers(people.voices.iter().map(of).collect::<Vec<f64>>().iter());
    }
    state.count(people.variances.is_some().into());
    if let Some(variances) = &people.variances {
        variances.write(state);
    }
}

/// Continues from the state that an earlier run saved, if there is one. Collective.
///
/// # Errors
/// If the state is not that of this search.
pub(super) fn resume(newton: &mut Newton<'_>, people: &mut PeopleState) -> Result<()> {
    let Some(state) = newton.graph.communicator().load_state(WORK) else { return Ok(()) };
    let mut state = StateReader::new(WORK, &state);
    people.iteration = state.count()? as usize;
    people.change = state.number()?;
    state.numbers_into(&mut newton.scores)?;
    people.unit = state.number()?;
    people.has_new_prior = state.count()? != 0;
    newton.model.advantage = state.number()?;
    newton.model.tie_odds = state.number()?;
    let precision = state.number()?;
    let kind = match state.count()? {
        0 => PriorKind::Scores,
        _ => PriorKind::Differences,
    };
    newton.prior = Prior { kind, precision }.term(newton.graph);
    let mut parameters = people.population.parameters();
    state.numbers_into(&mut parameters)?;
    people.population.set_parameters(&parameters);
    let mut of_voices = [0; 3].map(|_| vec![0.0; people.voices.len()]);
    for numbers in &mut of_voices {
        state.numbers_into(numbers)?;
    }
    let [weight, sharpness, side] = &of_voices;
    for (a, voice) in people.voices.iter_mut().enumerate() {
        *voice = Voice { weight: weight[a], sharpness: sharpness[a], side: side[a] };
    }
    if state.count()? != 0 {
        people.variances = Some(PairVariances::read(&mut state)?);
    }
    state.finish()
}
