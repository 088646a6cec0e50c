//! Bradley–Terry scores, with ties, an advantage of the left side, lapses and a prior.
//!
//! With d = θ_i − θ_j, an honest vote prefers i with odds e^(d/2), prefers j with odds e^(−d/2), and is
//! a tie with odds ν (Davidson). Without ties P(i is preferred) = F(d), F the logistic function, so
//! that scores are log-odds. A lapse, with probability ε, is an answer that does not depend on d. Only
//! the side of an outcome counts, not its size. If sides are known, b is added to d for the item on the left.
//!
//! The prior of the scores, whether there are lapses, and whether a side has an advantage are chosen by what
//! they predict ([`crate::model`]). Scores are not stretched to undo the shrinkage by the prior: that would
//! cost accuracy.
//!
//! Optimality: the gradient of the penalised likelihood vanishes,
//! Σ_j [r w (s − E s)] = λ (Mθ)_i at each item, with s = 1, ½, 0 for a win, a tie and a loss, r the
//! probability that a vote is honest and M the matrix of the prior. Without lapses the maximum is unique.
//!
//! Cost: for each Newton step one pass over the pairs and one Laplacian solve; five to fifteen steps for the
//! result, and a few for each of about fourteen models that are compared.
//!
//! Failure modes: with λ = 0, the scores of items that always win diverge ([`Status::IterationLimit`]).
//! A lapse rate near one half cannot be told from noise. Without annotators nothing distinguishes a
//! crowd of contrary voters from an honest one with the opposite taste. Where every vote prefers the item
//! on the same side, the file lists winners first, and sides count as unknown.
//!
//! | symbol | here |
//! |---|---|
//! | ε | `lapse_rate` |
//! | λ | `prior` |
//! | ν | `tie_odds` |
//! | b | `side_advantage` |
//! | r | `honest` |

use std::time::Instant;

use super::{Info, Solution, Status};
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, SideCounts};
use crate::laplacian::BackendChoice;
use crate::model::choose::{Chosen, Given, choose, lapse_gain_needed};
use crate::model::held_out::held_out_link;
use crate::model::newton::{Newton, NewtonRun};
use crate::model::tuning::TUNING;
use crate::model::votes::PairVotes;
use crate::model::{Decision, Link, Prior, PriorKind, Refinement};
use crate::select::lapse::LapseTest;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `prior` | chosen | λ, the precision of a prior on differences of compared items | 0 or more |
/// | `prior_kind` | chosen; differences if `prior` is given | what the prior is on | |
/// | `lapse_rate` | chosen | ε, the share of votes that are lapses | 0 to 0.9 |
/// | `backend` | auto | how linear systems are solved | |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BradleyTerryOptions {
    /// λ, the precision of a prior on differences of compared items; kind and precision are chosen if it is not
    /// given. 0 is no prior.
    pub prior: Option<f64>,
    /// What the prior is on; chosen if neither it nor its precision is given.
    pub prior_kind: Option<PriorKind>,
    /// ε, the share of votes that are lapses; chosen if it is not given. 0 is no lapses.
    pub lapse_rate: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
}

/// Largest lapse rate that can be given.
const MAX_LAPSE_RATE: f64 = 0.9;

impl BradleyTerryOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        let bad = |option, value: f64, expected| {
            Err(Error::BadOption { option, value: value.to_string(), expected })
        };
        match (self.prior, self.lapse_rate) {
            (Some(prior), _) if !(prior >= 0.0 && prior.is_finite()) => {
                bad("prior", prior, "a finite number, zero or more")
            }
            (_, Some(rate)) if !(0.0..=MAX_LAPSE_RATE).contains(&rate) => {
                bad("lapse-rate", rate, "a number from 0 to 0.9")
            }
            _ => Ok(()),
        }
    }
}

/// Scores and the other parameters of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// Scores in log-odds, mean zero on each component.
    pub solution: Solution,
    /// What was estimated besides the scores.
    pub estimates: BradleyTerryEstimates,
    /// For each group, the probability that its votes are lapses; the mean of its votes if that depends
    /// on their sides.
    pub lapse_probability: Vec<f64>,
}

/// Parameters of the model besides the scores.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerryEstimates {
    /// ε, the share of votes that are lapses: answers that do not depend on the items.
    pub lapse_rate: f64,
    /// The prior of the scores.
    pub prior: Prior,
    /// ν, the odds of a tie between equal items against either side.
    pub tie_odds: f64,
    /// b, the advantage of the left side in log-odds; 0 if it is not in the model.
    pub side_advantage: f64,
    /// What was tried, and what it gains.
    pub decisions: Vec<Decision>,
    /// From differences of scores to the probabilities of votes of this crowd.
    pub link: Link,
    /// The log-likelihood of the votes at these scores, without the prior.
    pub log_likelihood: f64,
}

impl BradleyTerryEstimates {
    /// Whether lapses are in the model, and how clearly so many votes decide it.
    #[must_use]
    pub fn lapse_test(&self, votes: f64) -> LapseTest {
        let tried = self.decisions.iter().find(|tried| tried.refinement == Refinement::Lapses);
        let gain = votes * tried.map_or(0.0, |tried| tried.gain);
        LapseTest { rate: self.lapse_rate, gain, needed: lapse_gain_needed(votes) }
    }
}

/// Computes the scores.
///
/// # Errors
/// If an option is invalid, or a requested backend does not support the graph.
///
/// # Example
/// ```
/// use hodgerank::solve::bradley_terry::{self, BradleyTerryOptions};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // The first item won three of four votes: odds of 3.
/// let votes = [Comparison::new(0, 1, 1.0).with_count(3), Comparison::new(1, 0, 1.0)];
/// let graph = ComparisonGraph::new(2, Groups::merge(2, &votes)?.groups)?;
/// let plain = BradleyTerryOptions { prior: Some(0.0), lapse_rate: Some(0.0), ..Default::default() };
/// let scores = bradley_terry::solve(&graph, &plain)?.solution.scores;
/// assert!((scores[0] - scores[1] - 3.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn solve(graph: &ComparisonGraph, options: &BradleyTerryOptions) -> Result<BradleyTerry> {
    solve_with_sides(graph, graph.sides(), options)
}

/// [`solve`] with other sides than those of the graph.
pub(crate) fn solve_with_sides(
    graph: &ComparisonGraph,
    sides: Option<&SideCounts>,
    options: &BradleyTerryOptions,
) -> Result<BradleyTerry> {
    graph.run_in_pool(|| solve_here(graph, sides, options))
}

fn solve_here(
    graph: &ComparisonGraph,
    sides: Option<&SideCounts>,
    options: &BradleyTerryOptions,
) -> Result<BradleyTerry> {
    let started = Instant::now();
    options.validate()?;
    let BradleyTerryOptions { prior: precision, prior_kind: kind, lapse_rate, .. } = *options;
    let given = Given { kind, precision, lapse_rate };
    let known = sides.map(|sides| sides.of_pairs(graph.pairs()));
    let by_side = known.map(|known| PairVotes::new(graph).split(graph, &known));
    let Prepared { mut newton, chosen } = Prepared::new(graph, by_side, given, options.backend)?;
    let NewtonRun { steps, converged, violation } =
        newton.maximise(&chosen.votes, newton.final_accuracy())?;
    graph.components().centre(&mut newton.scores);
    let model = newton.model;
    let lapse_probability = match model.lapse_rate > 0.0 {
        true => {
            chosen.votes.by_group(graph, &newton.scores, &model, |terms, o| 1.0 - terms.honest[o])
        }
        false => vec![0.0; graph.groups().len()],
    };
    let log_likelihood = newton.pass.sums.log_likelihood;
    let link = held_out_link(&mut newton, &chosen.votes, sides.is_some())?;
    let estimates = BradleyTerryEstimates {
        lapse_rate: model.lapse_rate,
        prior: newton.prior.prior,
        tie_odds: model.tie_odds,
        side_advantage: model.advantage,
        link,
        decisions: chosen.decisions,
        log_likelihood,
    };
    let info = Info {
        backends: newton.backends(),
        iterations: steps,
        residual: violation,
        error_bound: None,
        time: started.elapsed(),
    };
    let status = if converged { Status::Solved } else { Status::IterationLimit };
    let solution = Solution { scores: newton.scores, status, info };
    Ok(BradleyTerry { solution, estimates, lapse_probability })
}

/// A model of the votes without their annotators that was chosen, and its scores.
pub(super) struct Prepared<'a> {
    pub(super) newton: Newton<'a>,
    pub(super) chosen: Chosen<'a>,
}

impl<'a> Prepared<'a> {
    /// `by_side` are the votes by side, if that is known. Collective.
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        by_side: Option<PairVotes<'a>>,
        given: Given,
        backend: BackendChoice,
    ) -> Result<Self> {
        let votes = PairVotes::new(graph);
        let mut newton = Newton::new(graph, &votes, TUNING.first_prior, backend)?;
        let by_side = by_side.filter(|own| own.says_something_about_sides(graph));
        let chosen = choose(&mut newton, votes, by_side, given)?;
        Ok(Self { newton, chosen })
    }
}

#[cfg(test)]
mod tests;
