//! Newton's method for scores of pairs, with the prior.
//!
//! The objective ℓ(θ) = Σ votes · log P − ½ λ Σ ω d² is concave. Each step solves a Laplacian system
//! whose weights are the information of the pairs plus λω, and is halved until ℓ increases. ν is
//! updated in between; its likelihood is concave in log ν.
//!
//! Whether ℓ increases is decided by its slope along the step where that is short: ℓ is then nearly a parabola
//! along it, whose values at both ends differ by the mean of the slopes there. A pass without ℓ takes no
//! logarithms.

use super::pair_counts::PairCounts;
use super::pair_pass::{NeedsValue, PairPass};
use super::prior::{GraphPrior, sum_ends};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice, StepSystem};
use crate::numeric::{dot, largest_magnitude};
use crate::select::{self, ScoresWithLapses, SidedVotes};

pub(super) const MAX_STEPS: usize = 100;
pub(super) const MAX_HALVINGS: usize = 30;
/// Largest change of a score in one step, in log-odds.
pub(super) const MAX_CHANGE: f64 = 2.0;
/// Change of a score below which the search has converged, on graphs of ordinary size and on large
/// ones, where each step takes seconds.
pub(super) const TOLERANCE: f64 = 1e-9;
pub(super) const LARGE_TOLERANCE: f64 = 1e-6;
/// The prior is known well enough if a step changes it by less than this share.
const PRIOR_TOLERANCE: f64 = 1e-3;
const LARGE_PRIOR_TOLERANCE: f64 = 1e-2;
/// A graph with more pairs than this is large.
const LARGE_PAIRS: f64 = 2e6;
pub(super) const MAX_PRIOR_STEPS: usize = 30;
const FIRST_PRIOR: f64 = 0.1;
/// Relative residual of the linear systems, and of those of a start.
pub(super) const SOLVE_TOLERANCE: f64 = 1e-6;
const START_TOLERANCE: f64 = 1e-3;
/// Change of a score up to which a step is short, and the largest slope beyond the maximum along a short
/// step, relative to that at its start.
const SMALL_CHANGE: f64 = 0.5;
const MAX_OVERSHOOT: f64 = 0.5;
/// Relative size of ℓ below which an increase is rounding.
pub(super) const ROUNDING: f64 = 1e-13;
/// A pair whose information underflows would disconnect its items.
pub(super) const MIN_WEIGHT: f64 = 1e-12;

/// The scores, and what is reused from step to step.
#[derive(Debug)]
pub(super) struct Newton<'a> {
    pub(super) graph: &'a ComparisonGraph,
    pub(super) prior: GraphPrior,
    pub(super) system: StepSystem<'a>,
    pub(super) scores: Vec<f64>,
    /// At the scores.
    pass: PairPass,
    pub(super) is_large: bool,
    /// Whether only a few steps are taken: they must then be the same on several processes as on one,
    /// while a search that converges leaves no trace of how it got there.
    pub(super) is_start: bool,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NewtonRun {
    pub(super) steps: usize,
    pub(super) converged: bool,
    /// The largest gradient entry relative to the votes of its item.
    pub(super) violation: f64,
}

/// What a pass says about all pairs.
#[derive(Debug, Clone, Copy)]
struct Evaluation {
    /// ℓ, if it was asked for.
    value: f64,
    ties: f64,
    expected_ties: f64,
    /// Σ votes · P(tie) (1 − P(tie)): the information about log ν.
    tie_information: f64,
}

impl Evaluation {
    /// Moves ν towards its maximum by the ratio of ties: slow, but never too far.
    fn balance(&self, tie_odds: &mut f64) {
        if self.ties > 0.0 && self.expected_ties > 0.0 {
            *tie_odds *= self.ties / self.expected_ties;
        }
    }

    /// The same by a Newton step in log ν, where it is short.
    fn improve(&self, tie_odds: &mut f64) {
        let step = (self.ties - self.expected_ties) / self.tie_information;
        match self.ties > 0.0 && step.abs() < SMALL_CHANGE {
            true => *tie_odds *= step.exp(),
            false => self.balance(tie_odds),
        }
    }
}

impl<'a> Newton<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, backend: BackendChoice) -> Result<Self> {
        let pairs = graph.communicator().sum_scalar(graph.pairs().len() as f64);
        Ok(Self {
            graph,
            is_large: pairs > LARGE_PAIRS,
            prior: GraphPrior::new(graph),
            system: StepSystem::new(graph, backend)?,
            scores: vec![0.0; graph.items()],
            pass: PairPass::default(),
            is_start: false,
        })
    }

    pub(super) fn backends(&self) -> Vec<Backend> {
        self.system.backends()
    }

    pub(super) fn communicator(&self) -> &'a dyn Communicator {
        self.graph.communicator()
    }

    /// Takes some steps in the scores and ν, and estimates λ unless it is given. Returns λ.
    pub(super) fn estimate_prior(
        &mut self,
        counts: &PairCounts<'_>,
        tie_odds: &mut f64,
        given: Option<f64>,
        max_steps: usize,
    ) -> Result<f64> {
        let mut prior = given.unwrap_or(FIRST_PRIOR);
        for _ in 0..max_steps {
            self.evaluate(counts, *tie_odds, prior, NeedsValue::No).balance(tie_odds);
            let gradient = self.gradient(prior);
            let step = self.direction(&gradient, prior)?;
            let change = largest_magnitude(&step);
            let length = (MAX_CHANGE / change.max(MAX_CHANGE)).min(1.0);
            for (score, step) in self.scores.iter_mut().zip(&step) {
                *score += length * step;
            }
            if given.is_some() {
                continue;
            }
            let mut information = self.pass.information.clone();
            self.communicator().sum(&mut information);
            for (own, of_prior) in information.iter_mut().zip(&self.prior.diagonal) {
                *own += prior * of_prior;
            }
            let next = self.prior.next(prior, &self.scores, &information);
            let tolerance = if self.is_large { LARGE_PRIOR_TOLERANCE } else { PRIOR_TOLERANCE };
            let is_known = (next / prior).ln().abs() < tolerance;
            prior = next;
            if is_known {
                break;
            }
        }
        Ok(prior)
    }

    /// Maximises ℓ for this λ, from the present scores.
    pub(super) fn maximise(
        &mut self,
        counts: &PairCounts<'_>,
        tie_odds: &mut f64,
        prior: f64,
    ) -> Result<NewtonRun> {
        self.evaluate(counts, *tie_odds, prior, NeedsValue::No).improve(tie_odds);
        let mut gradient = self.gradient(prior);
        let rounding = ROUNDING * self.graph.votes();
        let mut run = NewtonRun { steps: 0, converged: false, violation: 0.0 };
        while run.steps < MAX_STEPS && !run.converged {
            run.steps += 1;
            let step = self.direction(&gradient, prior)?;
            let change = largest_magnitude(&step);
            let (start, at_start) = (self.scores.clone(), *tie_odds);
            let mut length = (MAX_CHANGE / change.max(MAX_CHANGE)).min(1.0);
            let mut has_increased = false;
            let needs_value = if change > SMALL_CHANGE { NeedsValue::Yes } else { NeedsValue::No };
            let value = match needs_value {
                NeedsValue::Yes => self.value(counts, at_start, prior),
                NeedsValue::No => 0.0,
            };
            let slope = dot(&gradient, &step);
            for _ in 0..=MAX_HALVINGS {
                for ((score, start), step) in self.scores.iter_mut().zip(&start).zip(&step) {
                    *score = start + length * step;
                }
                let next = self.evaluate(counts, at_start, prior, needs_value);
                gradient = self.gradient(prior);
                has_increased = match needs_value {
                    NeedsValue::Yes => next.value >= value - ROUNDING * value.abs(),
                    NeedsValue::No => {
                        let after = dot(&gradient, &step);
                        after >= -MAX_OVERSHOOT * slope
                            || 0.5 * length * (slope + after) >= -rounding
                    }
                };
                if has_increased {
                    next.improve(tie_odds);
                    break;
                }
                length *= 0.5;
            }
            if !has_increased {
                self.scores = start;
                self.evaluate(counts, at_start, prior, NeedsValue::No);
                gradient = self.gradient(prior);
                break;
            }
            let tolerance = if self.is_large { LARGE_TOLERANCE } else { TOLERANCE };
            run.converged = length == 1.0 && change < tolerance;
        }
        let mut votes = {
            let weight = &self.graph.pairs().weight;
            self.sum_pairs(|p| (weight[p], weight[p]))
        };
        self.communicator().sum(&mut votes);
        let relative = |(gradient, votes): (&f64, &f64)| gradient.abs() / votes.max(1.0);
        run.violation = gradient.iter().zip(&votes).map(relative).fold(0.0, f64::max);
        Ok(run)
    }

    /// Evaluates the slopes at the scores, and ℓ if it is needed. Collective.
    fn evaluate(
        &mut self,
        counts: &PairCounts<'_>,
        tie_odds: f64,
        prior: f64,
        needs_value: NeedsValue,
    ) -> Evaluation {
        self.pass = counts.pass(&self.prior, &self.scores, tie_odds, needs_value);
        let PairPass { log_likelihood, squares, ties, .. } = self.pass;
        let PairPass { expected_ties, tie_information, .. } = self.pass;
        let value = log_likelihood - 0.5 * prior * squares;
        let mut sums = [value, ties, expected_ties, tie_information];
        self.communicator().sum(&mut sums);
        let [value, ties, expected_ties, tie_information] = sums;
        Evaluation { value, ties, expected_ties, tie_information }
    }

    /// ℓ at the scores; the last pass is kept.
    fn value(&self, counts: &PairCounts<'_>, tie_odds: f64, prior: f64) -> f64 {
        let pass = counts.pass(&self.prior, &self.scores, tie_odds, NeedsValue::Yes);
        self.communicator().sum_scalar(pass.log_likelihood - 0.5 * prior * pass.squares)
    }

    /// λ Σ ω d²: twice the penalty of the prior.
    pub(super) fn penalty(&self, prior: f64) -> f64 {
        let squares = self.prior.squares(self.graph.pairs(), &self.scores);
        prior * self.communicator().sum_scalar(squares)
    }

    /// The lapse rate at these scores, and the scores in the unit that fits it.
    pub(super) fn scores_with_lapses(
        &self,
        votes: &SidedVotes<'_>,
        prior: f64,
    ) -> ScoresWithLapses {
        let curve = select::agreement_curve(votes, &self.scores, self.penalty(prior));
        let factor = if curve.scale > 0.0 { 1.0 / curve.scale } else { 1.0 };
        let scores = self.scores.iter().map(|score| factor * score).collect();
        ScoresWithLapses { scores, rate: curve.rate, gain: curve.gain }
    }

    pub(super) fn difference(&self, pair: usize) -> f64 {
        let pairs = self.graph.pairs();
        self.scores[pairs.left[pair] as usize] - self.scores[pairs.right[pair] as usize]
    }

    pub(super) fn sum_pairs(&self, values: impl Fn(usize) -> (f64, f64) + Sync) -> Vec<f64> {
        sum_ends(self.graph.items(), self.graph.pairs(), values)
    }

    /// The gradient of ℓ at the last pass. Collective.
    fn gradient(&self, prior: f64) -> Vec<f64> {
        let parts = self.pass.gradient.iter().zip(&self.pass.pull);
        let mut gradient: Vec<f64> = parts.map(|(votes, pull)| votes - prior * pull).collect();
        self.communicator().sum(&mut gradient);
        gradient
    }

    /// The Newton step at the last pass, whose gradient this is.
    fn direction(&mut self, gradient: &[f64], prior: f64) -> Result<Vec<f64>> {
        let tolerance = if self.is_start { START_TOLERANCE } else { SOLVE_TOLERANCE };
        let (information, omega) = (&self.pass.pair_information, &self.prior.weights);
        let weight = |p: usize| (f64::from(information[p]) + prior * omega[p]).max(MIN_WEIGHT);
        self.system.solve(weight, gradient, tolerance, self.is_start)
    }
}
