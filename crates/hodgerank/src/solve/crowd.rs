//! Bradley–Terry scores of a crowd: who voted, not only what.
//!
//! Every annotator has a behaviour (`behaviour.rs`): shares of answers that are honest, contrary, always
//! on one side, or random. An honest vote prefers the left item with probability
//! p = F(θ_left − θ_right + b), b being the advantage of the left side. The behaviours are a mixture of
//! fixed points whose shares π are estimated with the scores:
//!
//! ℓ(θ, π) = Σ_annotators log Σ_k π_k Π_votes P(vote given behaviour k and θ) − ½ λ Σ_pairs ω d².
//!
//! Graded votes have normal noise instead, with a scale of each annotator's own (`graded.rs`).
//! The prior is that of [`super::bradley_terry`]. Ties follow Davidson; they say nothing about the
//! annotator.
//!
//! | step of an iteration (`search.rs`) | what |
//! |---|---|
//! | `likelihood.rs` | a pass over the votes: the likelihood of each behaviour of each annotator, but for those who are certainly careful (`settled.rs`) |
//! | `shares.rs` | π by EM with θ fixed, and the probability of each behaviour |
//! | `slopes.rs` | the slopes of ℓ in θ: a pass over the pairs, and over the votes of annotators who may not be careful |
//! | a Newton step in θ (`newton.rs`) | with the information of the pairs in proportion to that of their items; shortened until ℓ does not decrease |
//! | λ | by empirical Bayes |
//!
//! After an iteration, its state can be saved (`checkpoint.rs`). Votes by people who are not known form
//! blocks of their own (`unknown.rs`). Several processes send flagged votes to the owners of their pairs
//! (`flagged.rs`).
//!
//! The search starts where everyone is careful. Groups of behaviours that the votes do not speak for
//! leave the model, in particular small lapses: scores of a clean crowd are not stretched.
//!
//! Annotators who do not follow the scores may follow others of their own: a second taste
//! (`tastes.rs`). They are not bad, but do not count in the ranking, which is that of the larger camp.
//! Some annotators prefer or reject one item, whatever it is compared with (`fans.rs`): their votes on it
//! do not count.
//!
//! Optimality: the gradient of ℓ vanishes at θ, and π is a fixed point of EM.
//!
//! Cost: two passes over the votes of annotators who may not be careful per iteration, four to eight
//! iterations, as many Laplacian solves, and three passes over all votes.
//!
//! Failure modes: if half of the crowd is contrary or more, the direction of the ranking cannot be
//! known; it is chosen so that more annotators are honest than contrary, and
//! [`CrowdEstimates::is_direction_uncertain`] says when that is doubtful. Fans who cast only a vote or two
//! on their favourite cannot be told from others.

mod answers;
mod behaviour;
mod blocks;
mod camps;
mod checkpoint;
mod fans;
mod flagged;
mod graded;
mod influence;
mod likelihood;
mod newton;
mod result;
mod search;
mod settled;
mod shares;
mod slopes;
mod tastes;
mod unknown;

pub use behaviour::AnnotatorClass;
pub(crate) use influence::{CrowdSlopes, VoterSlopes};
pub use result::{AnnotatorEstimate, Crowd, CrowdEstimates, FavouriteItem};
pub(crate) use slopes::VoteSlope;

use std::time::Instant;

use super::{Info, Solution};
use crate::annotator_votes::AnnotatorVotes;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;
use fans::Fans;
use search::{RunState, Search, SearchEnd};

/// Options of [`solve`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CrowdOptions {
    /// λ, the precision of the prior; estimated if not given.
    pub prior: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
}

/// Computes the scores and the behaviour of the annotators. Where several processes share the votes,
/// `votes` are all votes of this process's annotators, and its part of those without an annotator.
///
/// # Errors
/// If an option is invalid, or there are too many items.
pub fn solve(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    options: &CrowdOptions,
) -> Result<Crowd> {
    solve_weighted(graph, votes, None, options)
}

/// The same where each annotator's votes count by a weight. The graph's votes have the same weights.
pub(crate) fn solve_weighted(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    weights: Option<&[f64]>,
    options: &CrowdOptions,
) -> Result<Crowd> {
    let started = Instant::now();
    if let Some(prior) = options.prior
        && !(prior >= 0.0 && prior.is_finite())
    {
        let expected = "a finite number, zero or more";
        return Err(Error::BadOption { option: "prior", value: prior.to_string(), expected });
    }
    if graph.items() > blocks::MAX_ITEMS {
        let (count, max) = (graph.items() as u64, blocks::MAX_ITEMS as u64);
        return Err(Error::TooLarge { what: "items", count, max });
    }
    let mut search = Search::new(graph, votes, weights, options)?;
    let (run, mut other) = match checkpoint::resume(&mut search)? {
        Some(state) => state,
        None => {
            search.evaluate();
            (RunState::default(), None)
        }
    };
    let mut end = search.run(run, other.as_ref())?;
    if other.is_none() {
        other = tastes::find(&mut search)?;
        if other.is_some() {
            let again = RunState { iterations_before: end.iterations, ..RunState::default() };
            end = search.run(again, other.as_ref())?;
        }
    }
    // People with different tastes disagree about many items.
    let fans = match other {
        None => fans::find(&mut search, &mut end)?,
        Some(_) => Fans::default(),
    };
    let SearchEnd { iterations, status, change } = end;
    graph.components().centre(&mut search.scores);
    if options.prior.is_none() {
        search.reduce_bias()?;
    }
    search.scores.iter_mut().for_each(|score| *score *= search.unit);
    let info = Info {
        backends: search.backends(),
        iterations,
        residual: change,
        error_bound: None,
        time: started.elapsed(),
    };
    Ok(Crowd::new(search, other.as_ref(), &fans, |scores| Solution { scores, status, info }))
}

#[cfg(test)]
mod graded_tests;
#[cfg(test)]
mod tests;
