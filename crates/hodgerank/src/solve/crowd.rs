//! Bradley–Terry scores of a crowd: who voted, not only what.
//!
//! Every annotator has a behaviour (`behaviour.rs`): shares of answers that are honest, contrary, always
//! on one side, or random. An honest vote prefers the left item with probability
//! p = F(θ_left − θ_right + b), b being the advantage of the left side. The behaviours are a mixture of
//! fixed points whose shares π are estimated with the scores:
//!
//! ℓ(θ, π) = Σ_annotators log Σ_k π_k Π_votes P(vote given behaviour k and θ) − ½ λ Σ_pairs ω d².
//!
//! The prior is that of [`super::bradley_terry`]. Ties follow Davidson; they say nothing about the
//! annotator.
//!
//! | step of an iteration | what |
//! |---|---|
//! | one pass over the votes (`sweep.rs`) | the probability of each behaviour of each annotator, and the slopes of ℓ in θ |
//! | `shares.rs` | π by EM with θ fixed |
//! | a Newton step | θ, with the information of the pairs in proportion to that of their items |
//! | λ | by empirical Bayes |
//!
//! The first iterations treat everyone as careful. Groups of behaviours that the votes do not speak for
//! leave the model, in particular small lapses: scores of a clean crowd are not stretched.
//!
//! Optimality: the gradient of ℓ vanishes at θ, and π is a fixed point of EM.
//!
//! Cost: six to twelve passes over the votes, each about as fast as memory for few items, and as many
//! Laplacian solves.
//!
//! Failure modes: if half of the crowd is contrary or more, the direction of the ranking cannot be
//! known; it is chosen so that more annotators are honest than contrary, and
//! [`CrowdEstimates::is_direction_uncertain`] says when that is doubtful. People who promote one item
//! are honest about all others; they are not modelled, and neither are camps of different tastes.

mod behaviour;
mod blocks;
mod shares;
mod sweep;

pub use behaviour::AnnotatorClass;

use std::time::Instant;

use rayon::prelude::*;

use super::bradley_terry::{GraphPrior, HonestVote};
use super::{Info, Solution, Status};
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice, LaplacianSystem, StoppingRule};
use crate::numeric::{dot, largest_magnitude};
use behaviour::{Behaviour, behaviours};
use blocks::Blocks;
use shares::Shares;
use sweep::{POINTS, Sweep, SweepModel, SweepPoint, sweep};

/// Options of [`solve`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CrowdOptions {
    /// λ, the precision of the prior; estimated if not given.
    pub prior: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
}

const MAX_ITERATIONS: usize = 40;
/// Iterations in which everyone counts as careful.
const WARM_UP: usize = 2;
/// Change of the scores relative to their spread at which unsupported behaviours leave the model, and
/// at which the search stops.
const ROUGH_TOLERANCE: f64 = 0.1;
const TOLERANCE: f64 = 5e-3;
/// A step is too long if the slope at its end is below minus this share of that at its start.
const MAX_SLOPE_RATIO: f64 = 0.5;
/// How often a step is shortened: shares of behaviours change too, so that no step may be short enough.
const MAX_CUTS: usize = 3;
/// Largest change of a score in one step, in log-odds.
const MAX_CHANGE: f64 = 2.0;
const FIRST_PRIOR: f64 = 0.1;
/// Gain of the log-likelihood for which the side advantage enters the model.
const MIN_SIDE_GAIN: f64 = 4.8;
/// Relative residual of the linear systems: each step is repeated anyway.
const SOLVE_TOLERANCE: f64 = 1e-4;
/// Pairs per item above which conjugate gradients take few iterations.
const WELL_CONNECTED: usize = 8;
const MIN_WEIGHT: f64 = 1e-12;
/// Behaviours that are less probable than this do not count in the probability that a vote is bad.
const MIN_PROBABILITY: f32 = 1e-5;
/// The probability of being careful from which no vote of an annotator can be more likely bad.
const CERTAINLY_CAREFUL: f32 = 0.9999;
/// Share of annotators with a known class that must be honest for the direction to be certain.
const CERTAIN_HONEST_SHARE: f64 = 0.6;

/// Scores, and what is known about the annotators.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// Scores in log-odds, mean zero on each component.
    pub solution: Solution,
    /// What was estimated about the crowd as a whole.
    pub estimates: CrowdEstimates,
    /// One entry for each annotator with votes enough to say anything, by index.
    pub annotators: Vec<AnnotatorEstimate>,
    points: Vec<Behaviour>,
    /// The probability of each behaviour of an unknown person.
    unknown: [f32; POINTS],
}

/// Parameters of the crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdEstimates {
    /// λ, the precision of the prior.
    pub prior: f64,
    /// ν, the odds of a tie between equal items against either side.
    pub tie_odds: f64,
    /// b, the advantage of the left side in log-odds; 0 if the votes do not speak for one.
    pub side_advantage: f64,
    /// The share of annotators of each class.
    pub class_shares: Vec<(AnnotatorClass, f64)>,
    /// The log-likelihood of the votes.
    pub log_likelihood: f64,
    /// The same at these scores if everyone is careful.
    pub log_likelihood_careful: f64,
    /// Whether nearly as many annotators vote against the ranking as for it.
    pub is_direction_uncertain: bool,
    /// Votes by unknown people.
    pub unknown_votes: u64,
    /// Iterations, each a pass over the votes.
    pub iterations: usize,
}

/// What is known about an annotator.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatorEstimate {
    /// The annotator's index.
    pub annotator: u32,
    /// The most probable class.
    pub class: AnnotatorClass,
    /// Its probability.
    pub probability: f64,
    /// The share of honest votes: its mean, and an interval with a probability of 95%.
    pub honest: f64,
    /// Lower end of the interval.
    pub honest_low: f64,
    /// Upper end of the interval.
    pub honest_high: f64,
    behaviour: [f32; POINTS],
}

impl Crowd {
    /// The probability that a vote on items as they were shown is not honest. `y` is positive if the
    /// left item was preferred; `annotator` is the position in [`Crowd::annotators`], none for people
    /// who are not in it.
    #[must_use]
    pub fn bad_probability(
        &self,
        annotator: Option<usize>,
        (left, right): (u32, u32),
        y: f64,
    ) -> f64 {
        let behaviour = annotator.map_or(&self.unknown, |a| &self.annotators[a].behaviour);
        let scores = &self.solution.scores;
        let d = scores[left as usize] - scores[right as usize] + self.estimates.side_advantage;
        let p = 1.0 / (1.0 + (-d).exp());
        let mut honest = 0.0;
        for (point, &r) in self.points.iter().zip(behaviour) {
            if r < MIN_PROBABILITY {
                continue;
            }
            let r = f64::from(r);
            let (slope, offset) = point.line();
            let q = (slope * p + offset).clamp(1e-9, 1.0 - 1e-9);
            honest += r * match y {
                y if y > 0.0 => point.honest * p / q,
                y if y < 0.0 => point.honest * (1.0 - p) / (1.0 - q),
                _ => (point.honest - point.contrary).abs(),
            };
        }
        (1.0 - honest).clamp(0.0, 1.0)
    }

    /// The position of an annotator in [`Crowd::annotators`], if they are in it.
    #[must_use]
    pub fn position(&self, annotator: u32) -> Option<usize> {
        self.annotators.binary_search_by_key(&annotator, |estimate| estimate.annotator).ok()
    }

    /// The probability that each vote of an annotator is not honest.
    fn bad_probabilities<'a>(
        &'a self,
        votes: &'a AnnotatorVotes,
        annotator: usize,
    ) -> impl Iterator<Item = (&'a AnnotatorVote, f64)> + 'a {
        let position = self.position(annotator as u32);
        votes.of(annotator).iter().map(move |vote| {
            let y = votes.y(vote);
            (vote, self.bad_probability(position, (vote.left, vote.right), y))
        })
    }

    /// Number of votes of each group that are bad with a probability above `threshold`.
    ///
    /// # Panics
    /// If the votes are not those of the graph.
    #[must_use]
    pub fn flagged(
        &self,
        graph: &ComparisonGraph,
        votes: &AnnotatorVotes,
        threshold: f64,
    ) -> Vec<f64> {
        let groups = graph.groups();
        let of_annotator = |annotator: usize| {
            let is_careful = |a: usize| self.annotators[a].behaviour[0] > CERTAINLY_CAREFUL;
            if threshold >= 0.5 && self.position(annotator as u32).is_some_and(is_careful) {
                return Vec::new();
            }
            let flagged = self.bad_probabilities(votes, annotator);
            let flagged = flagged.filter(|(_, probability)| *probability > threshold);
            let oriented = |(vote, _): (&AnnotatorVote, f64)| {
                let y = votes.y(vote);
                let y = if vote.left < vote.right { y } else { -y };
                let pair = (vote.left.min(vote.right), vote.left.max(vote.right));
                (pair, y, vote.count)
            };
            flagged.map(oriented).collect()
        };
        let lists: Vec<Vec<FlaggedVote>> =
            (0..=votes.annotators()).into_par_iter().map(of_annotator).collect();
        let mut flagged_votes: Vec<_> = lists.into_iter().flatten().collect();
        // In the order of the groups, which are then read once: a search for each vote would wait for
        // memory most of the time.
        flagged_votes.par_sort_unstable_by_key(|&(pair, _, _)| pair);
        let mut flagged = vec![0.0; groups.len()];
        let mut first = 0;
        for (pair, y, count) in flagged_votes {
            while first < groups.len() && (groups.left[first], groups.right[first]) < pair {
                first += 1;
            }
            let group = (first..groups.len())
                .take_while(|&g| (groups.left[g], groups.right[g]) == pair)
                .find(|&g| groups.y[g] == y);
            flagged[group.expect("the votes of the graph")] += f64::from(count);
        }
        flagged
    }

    /// The threshold above which there are at least this many votes: more if several are equally bad.
    #[must_use]
    pub fn threshold_of(&self, votes: &AnnotatorVotes, wanted: f64) -> f64 {
        let of_annotator = |annotator: usize| -> Vec<(f64, u32)> {
            let all = self.bad_probabilities(votes, annotator);
            all.map(|(vote, probability)| (probability, vote.count)).collect()
        };
        let lists: Vec<Vec<(f64, u32)>> =
            (0..=votes.annotators()).into_par_iter().map(of_annotator).collect();
        let mut probabilities: Vec<(f64, u32)> = lists.into_iter().flatten().collect();
        probabilities.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut above = 0.0;
        for (probability, count) in probabilities {
            above += f64::from(count);
            if above >= wanted {
                return probability.next_down();
            }
        }
        0.0
    }

    /// The probability that a careful annotator prefers the left of two items.
    #[must_use]
    pub fn left_probability(&self, left: u32, right: u32) -> f64 {
        let scores = &self.solution.scores;
        let d = scores[left as usize] - scores[right as usize] + self.estimates.side_advantage;
        1.0 / (1.0 + (-d).exp())
    }
}

/// The items of a flagged vote in the order of groups, its outcome and its count.
type FlaggedVote = ((u32, u32), f64, u32);

/// The state of a search.
struct Search<'a> {
    graph: &'a ComparisonGraph,
    blocks: Blocks,
    points: Vec<Behaviour>,
    model: SweepModel,
    prior: GraphPrior,
    system: LaplacianSystem,
    scores: Vec<f64>,
    side_advantage: f64,
    tie_odds: f64,
    lambda: f64,
    shares: Shares,
    last_step: Option<Step>,
}

/// The last step in the scores, which may have been too long.
struct Step {
    start: Vec<f64>,
    change: Vec<f64>,
    /// The slope of ℓ along the change where it started.
    slope: f64,
    /// How often it has been shortened.
    cuts: usize,
}

/// Computes the scores and the behaviour of the annotators.
///
/// # Errors
/// If an option is invalid, or there are too many items.
pub fn solve(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
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
    let mut search = Search::new(graph, votes, options)?;
    let (found, iterations, status, change) = search.run(votes.has_sides(), options)?;
    graph.components().centre(&mut search.scores);
    let estimates = search.estimates(&found, iterations);
    let info = Info {
        backends: search.backends(),
        iterations,
        residual: change,
        error_bound: None,
        time: started.elapsed(),
    };
    let annotators = search.annotator_estimates(&found);
    let unknown = search.unknown_behaviour(&found);
    let solution = Solution { scores: search.scores, status, info };
    Ok(Crowd { solution, estimates, annotators, points: search.points, unknown })
}

impl<'a> Search<'a> {
    fn new(
        graph: &'a ComparisonGraph,
        votes: &AnnotatorVotes,
        options: &CrowdOptions,
    ) -> Result<Self> {
        let points = behaviours(votes.has_sides());
        let is_well_connected = graph.pairs().len() >= WELL_CONNECTED * graph.items();
        let backend = match options.backend {
            BackendChoice::Auto if is_well_connected => {
                BackendChoice::Fixed(Backend::ConjugateGradient)
            }
            choice => choice,
        };
        let blocks = Blocks::new(votes);
        let count = |is_tie: bool| -> f64 {
            let votes = blocks.votes().iter().filter(|vote| vote.side().is_none() == is_tie);
            votes.map(|vote| f64::from(vote.count)).sum()
        };
        let (ties, others) = (count(true), count(false));
        Ok(Self {
            graph,
            model: SweepModel::new(&points),
            shares: shares::first(&points),
            points,
            blocks,
            prior: GraphPrior::new(graph),
            system: LaplacianSystem::new(graph, 0.0, backend)?,
            scores: vec![0.0; graph.items()],
            side_advantage: 0.0,
            // Sums of nothing are -0.
            tie_odds: (2.0 * ties / others.max(1.0)).abs(),
            lambda: options.prior.unwrap_or(FIRST_PRIOR),
            last_step: None,
        })
    }

    fn annotators(&self) -> usize {
        self.blocks.annotator.len()
    }

    fn backends(&self) -> Vec<Backend> {
        let mut backends: Vec<Backend> = self.system.backends().collect();
        backends.dedup();
        backends
    }

    fn pass(&self, log_shares: &[[f64; POINTS]; 2], needs_likelihood: bool) -> Sweep {
        let at = SweepPoint {
            scores: &self.scores,
            side_advantage: self.side_advantage,
            tie_odds: self.tie_odds,
            log_shares: [&log_shares[0], &log_shares[1]],
            needs_likelihood,
        };
        sweep(self.graph.items(), &self.blocks, &self.model, &at)
    }

    /// Iterates; returns the last pass, the number of passes, how the search ended and the last
    /// change.
    fn run(
        &mut self,
        has_sides: bool,
        options: &CrowdOptions,
    ) -> Result<(Sweep, usize, Status, f64)> {
        let mut careful = [[f64::NEG_INFINITY; POINTS]; 2];
        (careful[0][0], careful[1][0]) = (0.0, 0.0);
        let (mut is_reduced, mut is_flipped, mut has_advantage) = (false, false, false);
        let mut change = f64::INFINITY;
        for iteration in 0..MAX_ITERATIONS {
            let is_warm = iteration >= WARM_UP;
            let log_shares = if is_warm { self.shares.logarithms(&self.points) } else { careful };
            let found = self.pass(&log_shares, iteration + 1 >= WARM_UP);
            if is_warm && !is_flipped && self.direction(&found) < 0.0 {
                // More annotators are contrary than honest: the scores are upside down.
                is_flipped = true;
                self.scores.iter_mut().for_each(|score| *score = -*score);
                self.last_step = None;
                self.shares = shares::first(&self.points);
                continue;
            }
            // At the end of the warm-up the model changes, and with it the slope.
            if iteration != WARM_UP && self.shorten_step(&found) {
                continue;
            }
            if iteration + 1 >= WARM_UP {
                self.shares = self.shares.after(&found, &self.points, self.annotators()).0;
            }
            let is_small = change < if is_reduced { TOLERANCE } else { ROUGH_TOLERANCE };
            if iteration >= WARM_UP + 2 && is_small {
                let has_removed = !is_reduced
                    && self.shares.remove_unsupported(&found, &self.points, self.annotators());
                let was_reduced = std::mem::replace(&mut is_reduced, true);
                if was_reduced || (!has_removed && change < TOLERANCE) {
                    return Ok((found, iteration + 1, Status::Solved, change));
                }
            }
            change = self.step(&found, has_advantage, options.prior.is_none())?;
            let gain = found.side_gradient.powi(2) / (2.0 * found.side_information.max(1.0));
            has_advantage |= has_sides && iteration >= 1 && gain > MIN_SIDE_GAIN;
        }
        let found = self.pass(&self.shares.logarithms(&self.points), true);
        Ok((found, MAX_ITERATIONS + 1, Status::IterationLimit, change))
    }

    /// Σ over annotators of honest minus contrary shares.
    fn direction(&self, found: &Sweep) -> f64 {
        let slope: Vec<f64> = self.points.iter().map(|point| point.line().0).collect();
        let of = |row: &[f32; POINTS]| -> f64 {
            slope.iter().zip(row).map(|(slope, &r)| slope * f64::from(r)).sum()
        };
        found.responsibility[..self.annotators()].iter().map(of).sum()
    }

    /// Goes back along the last step if ℓ falls at its end about as much as it rose at its start: the
    /// quadratic model is poor where items win almost always. Returns whether the scores have changed.
    fn shorten_step(&mut self, found: &Sweep) -> bool {
        let Some(Step { start, change, slope, cuts }) = self.last_step.take() else { return false };
        let gradient = self.penalised_gradient(found);
        let at_end = dot(&gradient, &change);
        if cuts == MAX_CUTS || at_end > -MAX_SLOPE_RATIO * slope {
            return false;
        }
        let share = (slope / (slope - at_end)).clamp(0.1, 0.9);
        for ((score, start), change) in self.scores.iter_mut().zip(&start).zip(&change) {
            *score = start + share * change;
        }
        let change = change.iter().map(|change| share * change).collect();
        self.last_step = Some(Step { start, change, slope: share * slope, cuts: cuts + 1 });
        true
    }

    /// The gradient of ℓ in the scores, with the prior.
    fn penalised_gradient(&self, found: &Sweep) -> Vec<f64> {
        let pairs = self.graph.pairs();
        let mut gradient = found.gradient.clone();
        for (p, omega) in self.prior.weights.iter().enumerate() {
            let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
            let pull = self.lambda * omega * (self.scores[i] - self.scores[j]);
            gradient[i] -= pull;
            gradient[j] += pull;
        }
        gradient
    }

    /// A Newton step in the scores and the side advantage, and the next λ. Returns the change of the
    /// scores relative to their spread.
    fn step(&mut self, found: &Sweep, has_advantage: bool, is_prior_free: bool) -> Result<f64> {
        let pairs = self.graph.pairs();
        let ratio: Vec<f64> = found
            .information
            .iter()
            .zip(&found.variance)
            .map(|(information, variance)| information / variance.max(f64::MIN_POSITIVE))
            .collect();
        let omega = &self.prior.weights;
        let weight = |p: usize| {
            let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
            let vote = HonestVote::new(self.scores[i] - self.scores[j], self.tie_odds);
            let share = 0.5 * (ratio[i] + ratio[j]);
            let information = share * pairs.weight[p] * vote.variance();
            (information + self.lambda * omega[p]).max(MIN_WEIGHT)
        };
        let weights: Vec<f64> = (0..pairs.len()).into_par_iter().map(weight).collect();
        let gradient = self.penalised_gradient(found);
        let system = self.system.reweighted(self.graph, &weights)?;
        let step = system.solve(&gradient, &StoppingRule::at(SOLVE_TOLERANCE))?.0;
        let largest = largest_magnitude(&step);
        let length = (MAX_CHANGE / largest.max(MAX_CHANGE)).min(1.0);
        let start = self.scores.clone();
        let change: Vec<f64> = step.iter().map(|step| length * step).collect();
        for (score, change) in self.scores.iter_mut().zip(&change) {
            *score += change;
        }
        let slope = dot(&gradient, &change);
        self.last_step = Some(Step { start, change, slope, cuts: 0 });
        if has_advantage {
            let information = found.side_information + self.lambda;
            let gradient = found.side_gradient - self.lambda * self.side_advantage;
            self.side_advantage += (gradient / information).clamp(-MAX_CHANGE, MAX_CHANGE);
        }
        if found.ties > 0.0 && found.expected_ties > 0.0 {
            self.tie_odds *= found.ties / found.expected_ties;
        }
        if is_prior_free {
            let mut diagonal = found.information.clone();
            for p in 0..pairs.len() {
                diagonal[pairs.left[p] as usize] += self.lambda * omega[p];
                diagonal[pairs.right[p] as usize] += self.lambda * omega[p];
            }
            self.lambda = self.prior.next(self.lambda, &self.scores, &diagonal);
        }
        let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
        Ok(length * (squares(&step) / squares(&self.scores).max(f64::MIN_POSITIVE)).sqrt())
    }

    fn estimates(&self, found: &Sweep, iterations: usize) -> CrowdEstimates {
        let share = |class: AnnotatorClass| {
            let of_class = self.points.iter().zip(&self.shares.of);
            of_class.filter(|(point, _)| point.class() == class).map(|(_, share)| share).sum()
        };
        let annotators = self.annotators();
        let log_likelihood = self.shares.after(found, &self.points, annotators).1;
        let (mut honest, mut against) = (0.0, 0.0);
        for row in &found.responsibility[..annotators] {
            for (point, &r) in self.points.iter().zip(row) {
                let slope = point.line().0;
                honest += f64::from(r) * slope.max(0.0);
                against += f64::from(r) * (-slope).max(0.0);
            }
        }
        let unknown = (annotators..self.blocks.len()).flat_map(|block| self.blocks.block(block).0);
        CrowdEstimates {
            prior: self.lambda,
            tie_odds: self.tie_odds,
            side_advantage: self.side_advantage,
            class_shares: AnnotatorClass::ALL.iter().map(|&class| (class, share(class))).collect(),
            log_likelihood,
            log_likelihood_careful: found.log_careful.iter().sum(),
            is_direction_uncertain: against > 0.0
                && honest < CERTAIN_HONEST_SHARE * (honest + against),
            unknown_votes: unknown.map(|vote| u64::from(vote.count)).sum(),
            iterations,
        }
    }

    fn annotator_estimates(&self, found: &Sweep) -> Vec<AnnotatorEstimate> {
        let rows = self.blocks.annotator.iter().zip(&found.responsibility);
        rows.map(|(&annotator, &behaviour)| {
            let of_class = |class: AnnotatorClass| -> f64 {
                let points = self.points.iter().zip(&behaviour);
                points.filter(|(point, _)| point.class() == class).map(|(_, &r)| f64::from(r)).sum()
            };
            let by_probability = |a: &AnnotatorClass, b: &AnnotatorClass| {
                of_class(*a).total_cmp(&of_class(*b)).then(b.cmp(a))
            };
            let class = AnnotatorClass::ALL
                .into_iter()
                .max_by(by_probability)
                .unwrap_or(AnnotatorClass::Careful);
            let mut shares: Vec<(f64, f64)> = self
                .points
                .iter()
                .zip(&behaviour)
                .map(|(p, &r)| (p.honest, f64::from(r)))
                .collect();
            shares.sort_by(|a, b| a.0.total_cmp(&b.0));
            let quantile = |level: f64| {
                let mut below = 0.0;
                let reaches = |(_, r): &&(f64, f64)| {
                    below += r;
                    below >= level
                };
                shares.iter().find(reaches).or(shares.last()).map_or(1.0, |(honest, _)| *honest)
            };
            let honest: f64 = shares.iter().map(|(honest, r)| honest * r).sum();
            // The mean of a few points can be below all but the last of them.
            let (low, high) = (quantile(0.025).min(honest), quantile(0.975).max(honest));
            AnnotatorEstimate {
                annotator,
                class,
                probability: of_class(class).min(1.0),
                honest,
                honest_low: low,
                honest_high: high,
                behaviour,
            }
        })
        .collect()
    }

    /// The mean over the blocks of unknown people; careful if there are none.
    fn unknown_behaviour(&self, found: &Sweep) -> [f32; POINTS] {
        let mut mean = [0.0; POINTS];
        let rows = &found.responsibility[self.annotators()..];
        if rows.is_empty() {
            mean[0] = 1.0;
        }
        for row in rows {
            for (mean, r) in mean.iter_mut().zip(row) {
                *mean += r / rows.len() as f32;
            }
        }
        mean
    }
}

#[cfg(test)]
mod tests;
