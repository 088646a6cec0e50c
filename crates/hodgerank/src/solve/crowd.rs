//! Bradley–Terry scores of a crowd: who voted, not only what.
//!
//! Every annotator a has a behaviour (`model/behaviour.rs`), and votes for the left item with log-odds
//! s_a (θ_left − θ_right) + b + b_a if they are honest. Given how everybody votes, the scores maximise
//!
//! ℓ(θ, b, ν) = Σ_a w_a Σ_votes log P(vote given s_a, b_a and θ) − ½ penalty of the prior,
//!
//! w_a being the probability that a is honest (or contrary, if that is more probable: then s_a < 0), and s_a and
//! b_a their expected values. The search alternates between the two until neither changes:
//!
//! | step | what |
//! |---|---|
//! | `model/people.rs` | a pass over the votes by annotator: the likelihood of each behaviour, judged by the other votes |
//! | `model/behaviour.rs` | how common behaviours are, by EM, and so the voice w_a, s_a, b_a of each annotator |
//! | `model/newton.rs` | a Newton step of ℓ: a pass over the votes by pair |
//!
//! It starts at the model without people (`bradley_terry.rs`), with the prior that this model chooses. How
//! people vote enters the scores only if these then predict votes better that are left out: the votes of a
//! typical annotator, with one link from differences of scores to probabilities for the whole crowd. Otherwise
//! everybody's votes count in full. They do as well where nearly as many people contradict the ranking as agree
//! with it: that is a difference of taste.
//!
//! Graded votes have normal noise instead, with a scale of each annotator's own (`model/graded.rs`).
//!
//! Optimality: the gradient of ℓ vanishes at θ and b. The certificate is its largest entry relative to the
//! votes of the item.
//!
//! Cost: a pass over the votes by annotator and two by pair per iteration, two to twenty iterations, as many
//! Laplacian solves; sorting the votes by pair.
//!
//! Failure modes: the direction is that of the majority of the votes.
//! [`CrowdEstimates::is_direction_uncertain`] says when that is doubtful.

mod checkpoint;
mod flagged;
mod influence;
mod result;

pub(crate) use influence::{CrowdSlopes, VoteSlope, VoterSlopes};
pub(crate) use result::ClassEstimate;
pub use result::{AnnotatorEstimate, Crowd, CrowdEstimates};

pub use crate::model::AnnotatorClass;

use std::time::Instant;

use super::bradley_terry::Prepared;
use super::{Info, Solution};
use crate::annotator_votes::AnnotatorVotes;
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;
use crate::model::behaviour::{OfBehaviours, POINTS, Population, directions};
use crate::model::choose::{Chosen, Given, choose_prior, left_out_of};
use crate::model::graded;
use crate::model::held_out::held_out_link;
use crate::model::leave_one_out::{LeftOutVote, PairVariances, has_small_leverages, link_gain};
use crate::model::newton::{Newton, NewtonRun};
use crate::model::people::{Evidence, LikelihoodTable};
use crate::model::people_votes::PeopleVotes;
use crate::model::tuning::TUNING;
use crate::model::votes::{Voice, VotesByPair};
use crate::model::{Decision, Link, PriorKind, Refinement};
use crate::numeric::{dot, largest_magnitude};
use crate::select::lapse::vote_size;
use crate::status::Status;

/// Iterations of the search for scores and behaviours.
const MAX_ITERATIONS: usize = 40;
/// Change of the scores at which the search ends, in log-odds: behaviours are on a coarser grid.
const TOLERANCE: f64 = 1e-3;
/// Iterations that leave out votes anew: leverages depend little on who is honest.
const ITERATIONS_WITH_NEW_VARIANCES: usize = 3;

/// Options of [`solve`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CrowdOptions {
    /// λ, the precision of a prior on differences of compared items; kind and precision are chosen if it is not
    /// given.
    pub prior: Option<f64>,
    /// What the prior is on; chosen if neither it nor its precision is given.
    pub prior_kind: Option<PriorKind>,
    /// When how people vote is part of the model of the scores.
    pub people: UsePeople,
    /// How linear systems are solved.
    pub backend: BackendChoice,
}

/// When how people vote is part of the model of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UsePeople {
    /// If it predicts votes better.
    #[default]
    IfItPredictsBetter,
    /// In any case.
    Always,
}

/// Computes the scores and the behaviour of the annotators. Where several processes share the votes,
/// `votes` are all votes of this process's annotators, and its part of those without an annotator.
///
/// # Errors
/// If an option is invalid, or a linear system cannot be solved.
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
    graph.run_in_pool(|| solve_here(graph, votes, weights, options))
}

fn solve_here(
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
    let is_graded = vote_size(graph).is_none();
    let mut people_votes = PeopleVotes::new(graph, votes, is_graded)?;
    if let Some(weights) = weights {
        people_votes.set_voices(&weighted(&vec![Voice::TYPICAL; weights.len()], Some(weights)));
    }
    let mut crowd = match is_graded {
        true => graded::solve(graph, votes, people_votes, weights, options.prior, options.backend)?,
        false => Search::new(graph, votes, &mut people_votes, weights, options)?.run()?,
    };
    graph.components().centre(&mut crowd.solution.scores);
    crowd.solution.info.time = started.elapsed();
    Ok(crowd)
}

/// Voices whose weights are multiplied by those of the annotators.
pub(crate) fn weighted(voices: &[Voice], weights: Option<&[f64]>) -> Vec<Voice> {
    let of = |(a, voice): (usize, &Voice)| {
        let weight = weights.map_or(1.0, |weights| weights[a]);
        Voice { weight: weight * voice.weight, ..*voice }
    };
    voices.iter().enumerate().map(of).collect()
}

/// What is known about people.
pub(crate) struct FittedPeople {
    pub(crate) population: Population,
    /// The probability of each behaviour of each annotator.
    pub(crate) posterior: Vec<OfBehaviours>,
    pub(crate) voices: Vec<Voice>,
    /// Of the votes, given how common behaviours are, and if everybody were typical.
    pub(crate) log_likelihood: f64,
    pub(crate) log_likelihood_typical: f64,
}

/// How far the search for behaviours has come.
struct PeopleState {
    iteration: usize,
    /// The last change of a score.
    change: f64,
    /// Log-odds of a typical annotator's votes per unit of the scores, which the prior shrinks.
    unit: f64,
    /// Whether the prior was chosen again.
    has_new_prior: bool,
    population: Population,
    voices: Vec<Voice>,
    /// None where it does not matter whether a vote is left out.
    variances: Option<PairVariances>,
}

/// The search for the scores and the behaviours that explain each other.
struct Search<'a, 'b> {
    graph: &'a ComparisonGraph,
    votes: &'b AnnotatorVotes,
    people_votes: &'b mut PeopleVotes<'a>,
    weights: Option<&'b [f64]>,
    use_people: UsePeople,
    is_prior_free: bool,
    prior_kind: Option<PriorKind>,
    newton: Newton<'a>,
    chosen: Chosen<'a>,
    /// The votes left out of the model without people, in the order of those with people.
    without: Vec<LeftOutVote>,
    /// The table of the last iteration.
    table: Option<LikelihoodTable>,
}

impl<'a, 'b> Search<'a, 'b> {
    /// Fits the model without people.
    fn new(
        graph: &'a ComparisonGraph,
        votes: &'b AnnotatorVotes,
        people_votes: &'b mut PeopleVotes<'a>,
        weights: Option<&'b [f64]>,
        options: &CrowdOptions,
    ) -> Result<Self> {
        let by_side = votes.has_sides().then(|| people_votes.by_side());
        let CrowdOptions { prior: precision, prior_kind: kind, people: use_people, .. } = *options;
        // People account for lapses.
        let given = Given { kind, precision, lapse_rate: Some(0.0) };
        let Prepared { mut newton, chosen } =
            Prepared::new(graph, by_side, given, options.backend)?;
        people_votes.has_advantage = chosen.has_advantage();
        let without = left_out_of(&mut newton, people_votes)?;
        let is_prior_free = precision.is_none();
        let prior_kind = kind;
        Ok(Self {
            graph,
            votes,
            people_votes,
            weights,
            use_people,
            is_prior_free,
            prior_kind,
            newton,
            chosen,
            without,
            table: None,
        })
    }

    fn run(mut self) -> Result<Crowd> {
        let start = (self.newton.scores.clone(), self.newton.model);
        let people = self.fit_people()?;
        let with = left_out_of(&mut self.newton, self.people_votes)?;
        let communicator = self.graph.communicator();
        let has_sides = self.votes.has_sides();
        let (gain, gain_error) = link_gain(communicator, [&with, &self.without], has_sides);
        let evidence =
            communicator.sum_scalar(people.log_likelihood - people.log_likelihood_typical);
        // The clearer it is that people differ, the less of a gain is asked for.
        let needed = match evidence {
            evidence if evidence > TUNING.people_evidence => 0.0,
            evidence if evidence > 0.0 => TUNING.doubt_of_people * gain_error,
            _ => f64::INFINITY,
        };
        let predicts_better = gain > needed && !people.is_direction_uncertain(communicator);
        let is_used = predicts_better || self.use_people == UsePeople::Always;
        let decision = Decision { refinement: Refinement::People, gain, gain_error, is_used };
        let (run, link) = match is_used {
            true => fit_scores(&mut self.newton, self.people_votes, has_sides)?,
            false => {
                (self.newton.scores, self.newton.model) = start;
                fit_scores(&mut self.newton, &self.chosen.votes, has_sides)?
            }
        };
        Ok(self.finish(people, decision, run, link))
    }

    /// Alternates between people and scores.
    fn fit_people(&mut self) -> Result<FittedPeople> {
        let has_variances = !has_small_leverages(self.graph);
        let mut people = PeopleState {
            iteration: 0,
            change: f64::INFINITY,
            unit: 1.0,
            has_new_prior: false,
            population: Population::new(self.votes.has_sides()),
            voices: vec![Voice::TYPICAL; self.votes.annotators()],
            variances: None,
        };
        checkpoint::resume(&mut self.newton, &mut people)?;
        self.people_votes.set_voices(&weighted(&people.voices, self.weights));
        while people.iteration < MAX_ITERATIONS && people.change > TOLERANCE {
            if has_variances && people.iteration < ITERATIONS_WITH_NEW_VARIANCES {
                self.newton.evaluate(self.people_votes);
                people.variances = Some(self.newton.variances()?);
            }
            let likelihoods = self.likelihoods(&people).1;
            let PeopleState { population, voices, unit, .. } = &mut people;
            population.improve(&likelihoods, self.weights, self.graph.communicator());
            let shares = population.shares();
            let voice = |own: &OfBehaviours| population.voice(&population.posterior(&shares, own));
            *voices = likelihoods.iter().map(voice).collect();
            // The typical annotator has the sharpness 1, and the scores grow as much as sharpness falls.
            let communicator = self.graph.communicator();
            let mean = population.mean_log_sharpness(&likelihoods, self.weights, communicator);
            for voice in voices.iter_mut() {
                let sharpness = voice.sharpness / mean.exp();
                *voice = Voice { sharpness, ..*voice }.rounded();
            }
            let before = self.newton.scores.clone();
            self.newton.scores.iter_mut().for_each(|score| *score *= mean.exp());
            self.people_votes.set_voices(&weighted(voices, self.weights));
            self.newton.take_step(self.people_votes)?;
            let scores = &self.newton.scores;
            let change: Vec<f64> = before.iter().zip(scores).map(|(a, b)| a - b).collect();
            let growth = dot(scores, &before) / dot(&before, &before);
            *unit *= if growth > 0.0 { mean.exp() / growth } else { 1.0 };
            people.change = largest_magnitude(&change);
            people.iteration += 1;
            let can_choose = self.is_prior_free && !people.has_new_prior && has_variances;
            if people.change <= TOLERANCE && can_choose {
                // Bad votes shrink the scores, and so the prior that is chosen with them.
                choose_prior(&mut self.newton, self.people_votes, self.prior_kind)?;
                (people.change, people.has_new_prior) = (f64::INFINITY, true);
            }
            checkpoint::save(&self.newton, &people);
        }
        // A search that was resumed at its end has not passed over the votes.
        self.newton.evaluate(self.people_votes);
        let logs = self.likelihoods(&people).0;
        Ok(FittedPeople::new(people.population, &logs, people.voices))
    }

    /// The logarithms of the likelihoods of each annotator's behaviours at the scores, and the likelihoods
    /// relative to the largest.
    fn likelihoods(&mut self, people: &PeopleState) -> (Vec<[f64; POINTS]>, Vec<OfBehaviours>) {
        let model = self.newton.model;
        let behaviours = &people.population.behaviours;
        let table = match self.table.take() {
            Some(table) if table.advantage == model.advantage => table,
            _ => LikelihoodTable::new(behaviours, model.advantage),
        };
        let evidence = Evidence {
            votes: self.votes,
            scores: &self.newton.scores,
            unit: people.unit,
            model,
            variances: people.variances.as_ref(),
        };
        let logs = evidence.logs(&table, &people.voices);
        let relative = logs.iter().map(|logs| table.relative(logs).0).collect();
        self.table = Some(table);
        (logs, relative)
    }

    fn finish(
        self,
        people: FittedPeople,
        people_decision: Decision,
        run: NewtonRun,
        link: Link,
    ) -> Crowd {
        let NewtonRun { steps, converged, violation } = run;
        let status = if converged { Status::Solved } else { Status::IterationLimit };
        let backends = self.newton.backends();
        let info = Info {
            backends,
            iterations: steps,
            residual: violation,
            error_bound: None,
            time: Default::default(),
        };
        let mut decisions = self.chosen.decisions;
        decisions.push(people_decision);
        let estimates = CrowdEstimates {
            prior: self.newton.prior.prior,
            tie_odds: self.newton.model.tie_odds,
            side_advantage: self.newton.model.advantage,
            iterations: steps,
            decisions,
            link: Some(link),
            ..CrowdEstimates::of_people(self.graph, self.votes, &people)
        };
        let solution = Solution { scores: self.newton.scores, status, info };
        Crowd::new(solution, estimates, self.votes, people, None)
    }
}

/// Fits the scores, and the link from them to votes. Collective.
fn fit_scores<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
    has_sides: bool,
) -> Result<(NewtonRun, Link)> {
    let run = newton.maximise(votes, newton.final_accuracy())?;
    Ok((run, held_out_link(newton, votes, has_sides)?))
}

impl FittedPeople {
    /// From the logarithms of the likelihoods of each annotator's behaviours.
    pub(crate) fn new(population: Population, logs: &[[f64; POINTS]], voices: Vec<Voice>) -> Self {
        let shares = population.shares();
        let table = population.behaviours.len();
        let (mut posterior, mut log_likelihood, mut typical) =
            (Vec::with_capacity(logs.len()), 0.0, 0.0);
        for logs in logs {
            let largest = logs[..table].iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            let relative: OfBehaviours = std::array::from_fn(|k| match k < table {
                true => (logs[k] - largest).exp() as f32,
                false => 0.0,
            });
            let total: f64 = relative.iter().zip(&shares).map(|(l, s)| f64::from(*l) * s).sum();
            log_likelihood += largest + total.max(f64::MIN_POSITIVE).ln();
            typical += logs[0];
            posterior.push(population.posterior(&shares, &relative));
        }
        Self { population, posterior, voices, log_likelihood, log_likelihood_typical: typical }
    }

    /// Whether nearly as many annotators vote against the ranking as for it. Collective.
    pub(crate) fn is_direction_uncertain(&self, communicator: &dyn Communicator) -> bool {
        let mut sums = directions(&self.voices);
        communicator.sum(&mut sums);
        let [honest, against] = sums;
        against > 0.0 && honest < TUNING.certain_honest_share * (honest + against)
    }
}

#[cfg(test)]
mod graded_tests;
#[cfg(test)]
mod tests;
