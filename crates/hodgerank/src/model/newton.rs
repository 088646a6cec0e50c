//! Newton's method for the scores, the side advantage and the odds of a tie.
//!
//! The objective is ℓ(θ, b, ν) = Σ votes · log P − ½ penalty of the prior − ½ λ_b b², concave without lapses.
//! Each step solves a Laplacian system whose weights are the curvatures of the pairs, where positive, and the prior,
//! bordered by one column for b, and is halved until ℓ does not decrease. ν follows by its own fixed point:
//! as many honest ties as are expected.
//!
//! Optimality: the gradient vanishes. The certificate is its largest entry relative to the votes of the item.
//!
//! Cost: one pass over the pairs and one or two Laplacian solves per step, five to fifteen steps.

use super::leave_one_out::{Information, PairVariances};
use super::pair_sums::sum_ends;
use super::pass::{Pass, PassSums};
use super::prior::{Prior, PriorTerm};
use super::tuning::TUNING;
use super::votes::{PairVotes, VoteModel, VotesByPair};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, BackendChoice, StepSystem};
use crate::numeric::{dot, largest_magnitude};

const MAX_STEPS: usize = 200;
const MAX_HALVINGS: usize = 30;
/// Largest change of a score in one step, in log-odds: beyond, the parabola of a step says nothing.
const MAX_CHANGE: f64 = 2.0;
/// Relative residual of the linear systems: that of the last change of a score, within these bounds. Digits that the
/// next step replaces are not worth their time.
const SOLVE_TOLERANCE: (f64, f64) = (1e-6, 1e-2);
/// Relative size of ℓ below which a decrease is rounding.
const ROUNDING: f64 = 1e-13;
/// A pair whose information underflows would disconnect its items.
pub(crate) const MIN_WEIGHT: f64 = 1e-12;
/// With more votes than this, a step takes a tenth of a second or more.
const MANY_VOTES: f64 = 2e6;

/// When a search ends: at this change of a score, at a step that promises no more than this gain of ℓ per vote, or
/// after so many steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accuracy {
    change: f64,
    gain: f64,
    max_steps: usize,
}

/// To compare models: a step that promises so little leaves a thousandth of that, far below their differences.
pub(crate) const TO_COMPARE: Accuracy = Accuracy { change: 0.05, gain: 1e-3, max_steps: 20 };

/// The scores, and what is reused from step to step.
#[derive(Debug)]
pub(crate) struct Newton<'a> {
    pub(crate) graph: &'a ComparisonGraph,
    pub(crate) prior: PriorTerm,
    pub(crate) system: StepSystem<'a>,
    pub(crate) scores: Vec<f64>,
    pub(crate) model: VoteModel,
    /// At the scores.
    pub(crate) pass: Pass,
    is_large: bool,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NewtonRun {
    pub(crate) steps: usize,
    pub(crate) converged: bool,
    /// The largest gradient entry relative to the votes of its item.
    pub(crate) violation: f64,
}

/// A step of the scores and of b.
struct Step {
    scores: Vec<f64>,
    advantage: f64,
}

impl Step {
    /// The largest change.
    fn size(&self) -> f64 {
        largest_magnitude(&self.scores).max(self.advantage.abs())
    }
}

impl<'a> Newton<'a> {
    /// A search that starts from equal scores. Collective.
    ///
    /// # Errors
    /// If a requested backend does not support the graph.
    pub(crate) fn new(
        graph: &'a ComparisonGraph,
        votes: &PairVotes<'_>,
        prior: Prior,
        backend: BackendChoice,
    ) -> Result<Self> {
        let model = VoteModel {
            advantage: 0.0,
            tie_odds: votes.tie_odds_of_equal_items(),
            lapse_rate: 0.0,
            tie_share: votes.tie_share,
        };
        Ok(Self {
            graph,
            prior: prior.term(graph),
            system: StepSystem::new(graph, backend)?,
            scores: vec![0.0; graph.items()],
            model,
            pass: Pass::default(),
            is_large: graph.votes() > MANY_VOTES,
        })
    }

    pub(crate) fn backends(&self) -> Vec<Backend> {
        self.system.backends()
    }

    fn communicator(&self) -> &'a dyn Communicator {
        self.graph.communicator()
    }

    /// All digits; where there are many votes, those that are far below the standard error of any score.
    pub(crate) fn final_accuracy(&self) -> Accuracy {
        let (change, gain) = if self.is_large { (1e-6, 1e-12) } else { (1e-9, 0.0) };
        Accuracy { change, gain, max_steps: MAX_STEPS }
    }

    /// Maximises ℓ from the present scores and parameters. Collective.
    pub(crate) fn maximise<V: VotesByPair>(
        &mut self,
        votes: &V,
        accuracy: Accuracy,
    ) -> Result<NewtonRun> {
        let has_advantage = votes.has_advantage();
        if !has_advantage {
            self.model.advantage = 0.0;
        }
        let mut value = self.evaluate(votes);
        let mut gradient = self.gradient();
        let mut run = NewtonRun { steps: 0, converged: false, violation: 0.0 };
        let mut change = f64::INFINITY;
        while run.steps < accuracy.max_steps && !run.converged {
            run.steps += 1;
            let step = self.step(&gradient, has_advantage, change)?;
            change = step.size();
            let gain = 0.5 * dot(&gradient, &step.scores) / self.graph.votes().max(1.0);
            let (start, before) = (self.scores.clone(), self.model);
            let factor = self.tie_factor();
            let mut length = (MAX_CHANGE / change.max(MAX_CHANGE)).min(1.0);
            let mut has_increased = false;
            for _ in 0..=MAX_HALVINGS {
                for ((score, start), step) in self.scores.iter_mut().zip(&start).zip(&step.scores) {
                    *score = start + length * step;
                }
                self.model.advantage = before.advantage + length * step.advantage;
                self.model.tie_odds = before.tie_odds * factor.powf(length);
                let next = self.evaluate(votes);
                if next >= value - ROUNDING * value.abs() {
                    (value, has_increased) = (value.max(next), true);
                    break;
                }
                length *= 0.5;
            }
            if !has_increased {
                (self.scores, self.model) = (start, before);
                self.evaluate(votes);
            }
            gradient = self.gradient();
            let is_small = gain < accuracy.gain || change < accuracy.change;
            run.converged =
                has_increased && length == 1.0 && is_small && factor.ln().abs() < accuracy.change;
            if !has_increased {
                break;
            }
        }
        run.violation = self.violation(&gradient);
        Ok(run)
    }

    /// Takes one step, for scores that are found in turn with something else. Collective.
    pub(crate) fn take_step<V: VotesByPair>(&mut self, votes: &V) -> Result<()> {
        self.evaluate(votes);
        let step = self.step(&self.gradient(), votes.has_advantage(), 0.0)?;
        let length = MAX_CHANGE / step.size().max(MAX_CHANGE);
        self.scores.iter_mut().zip(&step.scores).for_each(|(score, step)| *score += length * step);
        self.model.advantage += length * step.advantage;
        self.model.tie_odds *= self.tie_factor().powf(length);
        Ok(())
    }

    /// Passes over the pairs at the scores. Returns ℓ. Collective.
    pub(crate) fn evaluate<V: VotesByPair>(&mut self, votes: &V) -> f64 {
        self.pass = Pass::new(votes, &self.prior, &self.scores, &self.model);
        let mut sums = self.pass.sums.to_array();
        self.communicator().sum(&mut sums);
        self.pass.sums = PassSums::from_array(sums);
        let penalty = self.pass.sums.penalty
            + self.prior.shift() * dot(&self.scores, &self.scores)
            + TUNING.side_precision * self.model.advantage.powi(2);
        self.pass.sums.log_likelihood - 0.5 * penalty
    }

    /// The gradient of ℓ in the scores at the last pass. Collective.
    fn gradient(&self) -> Vec<f64> {
        let mut gradient = self.pass.gradient.clone();
        self.communicator().sum(&mut gradient);
        let shift = self.prior.shift();
        gradient.iter_mut().zip(&self.scores).for_each(|(own, score)| *own -= shift * score);
        // Its mean is zero on each component but for rounding errors, which no solution of the step can remove.
        self.graph.components().centre(&mut gradient);
        gradient
    }

    /// The factor by which ν grows in a step.
    fn tie_factor(&self) -> f64 {
        let PassSums { ties, expected_ties, .. } = self.pass.sums;
        if ties > 0.0 && expected_ties > 0.0 { ties / expected_ties } else { 1.0 }
    }

    fn side_gradient(&self) -> f64 {
        self.pass.sums.side_gradient - TUNING.side_precision * self.model.advantage
    }

    /// The information about the difference of a pair at the last pass, with the prior.
    pub(crate) fn pair_weight(&self, pair: usize) -> f64 {
        (f64::from(self.pass.pair_information[pair]) + self.prior.pair_weight(pair)).max(MIN_WEIGHT)
    }

    /// The variances of differences of scores at the last pass. Collective.
    pub(crate) fn variances(&mut self) -> Result<PairVariances> {
        let pairs = self.graph.pairs().len();
        let weights: Vec<f64> = (0..pairs).map(|p| self.pair_weight(p)).collect();
        let information = Information { pair_weight: &|p| weights[p], shift: self.prior.shift() };
        PairVariances::new(self.graph, &mut self.system, &information)
    }

    /// The Newton step at the last pass. With v the solution for the column of b, the step in b is what is left
    /// of its slope over what is left of its information.
    fn step(&mut self, gradient: &[f64], has_advantage: bool, last_change: f64) -> Result<Step> {
        let tolerance = last_change.clamp(SOLVE_TOLERANCE.0, SOLVE_TOLERANCE.1);
        let weights: Vec<f64> =
            (0..self.graph.pairs().len()).map(|p| self.pair_weight(p)).collect();
        let shift = self.prior.shift();
        if !has_advantage {
            let scores = self.system.solve(|p| weights[p], shift, gradient, tolerance, true)?;
            return Ok(Step { scores, advantage: 0.0 });
        }
        let cross = &self.pass.with_advantage;
        let mut column = sum_ends(self.graph.items(), self.graph.pairs(), |p| {
            (f64::from(cross[p]), -f64::from(cross[p]))
        });
        self.communicator().sum(&mut column);
        let right_sides = [gradient, &column];
        let solutions =
            self.system.solve_all(|p| weights[p], shift, &right_sides, tolerance, true)?;
        let mut solutions = solutions.into_iter();
        let (mut u, v) =
            (solutions.next().unwrap_or_default(), solutions.next().unwrap_or_default());
        let information =
            self.pass.sums.side_information + TUNING.side_precision - dot(&column, &v);
        // Without information the scores explain b.
        let slope = self.side_gradient() - dot(&column, &u);
        let advantage = if information > 0.0 { slope / information } else { 0.0 };
        u.iter_mut().zip(&v).for_each(|(u, v)| *u -= advantage * v);
        Ok(Step { scores: u, advantage })
    }

    fn violation(&self, gradient: &[f64]) -> f64 {
        let pairs = self.graph.pairs();
        let mut votes = sum_ends(self.graph.items(), pairs, |p| (pairs.weight[p], pairs.weight[p]));
        self.communicator().sum(&mut votes);
        let of_side = match self.pass.with_advantage.is_empty() {
            true => 0.0,
            false => self.side_gradient().abs() / self.graph.votes().max(1.0),
        };
        relative_violation(gradient, &votes).max(of_side)
    }
}

/// The largest gradient entry relative to the votes of its item.
pub(crate) fn relative_violation(gradient: &[f64], votes: &[f64]) -> f64 {
    let relative = |(gradient, votes): (&f64, &f64)| gradient.abs() / votes.max(1.0);
    gradient.iter().zip(votes).map(relative).fold(0.0, f64::max)
}
