//! The search for the scores together with the advantage b of the left side, and with the lapse rate.
//!
//! ℓ(θ, b, ε) = Σ votes · log P − ½ λ Σ ω d² − ½ λ b². With L the Laplacian of the information of the
//! pairs plus λω, and c the columns of b and ε in the information, each step solves the bordered system
//! exactly: L u = ∂ℓ/∂θ and L v = c give the steps of b and ε from a 2 × 2 system, the Schur
//! complement, and then that of θ as u − v · (steps of b and ε). Steps are halved until ℓ increases.
//! ν is updated in between as without sides.
//!
//! Whether b is in the model is decided by its score statistic where b = 0: the gain g² / (2 I), g the
//! slope along b and I its Schur complement, the information about b that the scores leave.

use rayon::prelude::*;

use super::newton::{
    LARGE_TOLERANCE, MAX_CHANGE, MAX_HALVINGS, MAX_STEPS, MIN_WEIGHT, Newton, NewtonRun, ROUNDING,
    SOLVE_TOLERANCE, TOLERANCE,
};
use super::pair_counts::{HonestVotes, Outcomes, PAIRS_PER_TASK, PairCounts};
use super::sided_counts::{SidedCounts, SidedSlope, SidedSums, VoteModel, split};
use super::{MAX_LAPSE_RATE, select};
use crate::error::Result;
use crate::graph::PairSides;
use crate::numeric::{dot, largest_magnitude, sum_tasks};
use crate::select::lapse::Lapse;

/// Gain of the log-likelihood for which b enters the model: a test at a level of about 0.002.
pub(super) const MIN_SIDE_GAIN: f64 = 4.8;
/// Share of the information about b that the scores must leave: with less, they explain b.
const MIN_IDENTIFIED: f64 = 1e-6;
/// The precision of the prior with which lapses are looked for: weak, as in [`select::lapse`]. A
/// stronger one would keep the scores where lapses have shrunk them.
const LAPSE_PRIOR: f64 = 0.01;
/// Smallest lapse rate to start from, and smallest factor by which a step may reduce it.
const MIN_START_RATE: f64 = 0.1;
const MIN_RATE_FACTOR: f64 = 0.25;

/// Whether ε is estimated together with the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rate {
    Fixed,
    Free,
}

/// When a search has converged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accuracy {
    /// The scores do not change any more.
    Scores,
    /// ℓ does not increase noticeably any more.
    Likelihood,
}

/// A step, and its expected gain of ℓ.
struct Step {
    scores: Vec<f64>,
    advantage: f64,
    rate: f64,
    gain: f64,
}

/// Scores of a model with lapses.
pub(super) struct SidedLapses {
    pub(super) scores: Vec<f64>,
    pub(super) model: VoteModel,
    /// The gain of ℓ by lapses; 0 if the rate was given.
    pub(super) gain: f64,
}

/// The Schur complement of b and ε, and the solutions from which a step follows.
struct BorderedSystem {
    gradient: Vec<f64>,
    u: Vec<f64>,
    v: [Vec<f64>; 2],
    /// The slopes along b and ε that are left.
    slopes: [f64; 2],
    /// The information about b, about b and ε, and about ε that is left.
    information: [f64; 3],
}

impl Newton<'_> {
    /// The gain of the log-likelihood by an advantage of the left side, at the scores of maximum
    /// likelihood without one: an estimate without a search. 0 if sides say nothing: every vote prefers the
    /// item on the same side, as in a file that lists winners first. Collective.
    pub(super) fn side_gain(
        &mut self,
        counts: &PairCounts<'_>,
        known: &[PairSides],
        tie_odds: f64,
        prior: f64,
    ) -> Result<f64> {
        let (pairs, at) = (self.graph.pairs(), HonestVotes::new(&self.scores, tie_odds));
        // The information of each pair, and that of votes with its first item on the left less that of others.
        let mut of_pairs = vec![[0.0; 2]; known.len()];
        let tasks = of_pairs.par_chunks_mut(PAIRS_PER_TASK).enumerate();
        let mut sums = sum_tasks(tasks, |(task, of_pairs)| {
            let [mut preferred, mut other, mut gradient, mut information] = [0.0; 4];
            for (k, of_pair) in of_pairs.iter_mut().enumerate() {
                let p = task * PAIRS_PER_TASK + k;
                let [first, second] = split((&counts.votes[p], &known[p]));
                let vote = at.vote(pairs.left[p], pairs.right[p]);
                let (mean, variance) = (vote.expected(), vote.variance());
                let slope = |votes: &Outcomes| votes.win + 0.5 * votes.tie - votes.total() * mean;
                let (own, others) = (first.total() * variance, second.total() * variance);
                *of_pair = [own + others, own - others];
                preferred += first.win + second.loss;
                other += first.loss + second.win;
                gradient += slope(&first) - slope(&second);
                information += own + others;
            }
            [preferred, other, gradient, information]
        });
        self.communicator().sum(&mut sums);
        let [preferred, other, slope, all] = sums;
        if preferred == 0.0 || other == 0.0 {
            return Ok(0.0);
        }
        let mut column = self.sum_pairs(|p| (of_pairs[p][1], -of_pairs[p][1]));
        self.communicator().sum(&mut column);
        let omega = &self.prior.weights;
        let weight = |p: usize| (of_pairs[p][0] + prior * omega[p]).max(MIN_WEIGHT);
        // At these scores the slopes along all scores are zero.
        let solution = self.system.solve(weight, &column, SOLVE_TOLERANCE, true)?;
        let information = all + prior - dot(&column, &solution);
        let is_identified = information > MIN_IDENTIFIED * all;
        Ok(if is_identified { slope * slope / (2.0 * information) } else { 0.0 })
    }

    /// Maximises ℓ in the scores, b and ν without lapses, from the present scores.
    pub(super) fn maximise_sided(
        &mut self,
        counts: &SidedCounts<'_>,
        model: &mut VoteModel,
        prior: f64,
    ) -> Result<NewtonRun> {
        Ok(self.search_sided(counts, model, prior, Rate::Fixed, Accuracy::Scores)?.0)
    }

    /// λ (Σ ω d² + b²): twice the penalty of the prior.
    pub(super) fn sided_penalty(&self, prior: f64, advantage: f64) -> f64 {
        self.penalty(prior) + prior * advantage * advantage
    }

    /// The scale and the rate of flipped votes at which agreement over distance is most likely.
    pub(super) fn sided_curve(
        &self,
        counts: &SidedCounts<'_>,
        advantage: f64,
        prior: f64,
    ) -> Lapse {
        let list = counts.agreement(&self.scores, advantage);
        let penalty = self.sided_penalty(prior, advantage);
        select::agreement_curve_of_list(&list, self.communicator(), penalty)
    }

    /// The scores with lapses: with this rate, or the most likely one. The present scores are those
    /// without, and are kept.
    pub(super) fn sided_lapses(
        &mut self,
        counts: &SidedCounts<'_>,
        model: &VoteModel,
        prior: f64,
        given: Option<f64>,
    ) -> Result<SidedLapses> {
        let kept = self.scores.clone();
        let curve = self.sided_curve(counts, model.advantage, prior);
        let factor = if curve.scale > 0.0 { 1.0 / curve.scale } else { 1.0 };
        let stretched = VoteModel { advantage: factor * model.advantage, ..*model };
        let scores = kept.iter().map(|score| factor * score).collect();
        if self.is_large && given.is_none() {
            // Steps take seconds: the rate at the scores without lapses has to do.
            let model = VoteModel { lapse_rate: 2.0 * curve.rate, ..stretched };
            return Ok(SidedLapses { scores, model, gain: curve.gain });
        }
        let prior = prior.min(LAPSE_PRIOR);
        let (mut honest, accuracy) = (*model, Accuracy::Likelihood);
        let without = match given {
            None => self.search_sided(counts, &mut honest, prior, Rate::Fixed, accuracy)?.1,
            Some(_) => 0.0,
        };
        self.scores = scores;
        let start = given.unwrap_or((2.0 * curve.rate).max(MIN_START_RATE));
        let mut with = VoteModel { lapse_rate: start, ..stretched };
        let rate = if given.is_some() { Rate::Fixed } else { Rate::Free };
        let (_, value) = self.search_sided(counts, &mut with, prior, rate, accuracy)?;
        let scores = std::mem::replace(&mut self.scores, kept);
        let gain = if given.is_some() { 0.0 } else { value - without };
        Ok(SidedLapses { scores, model: with, gain })
    }

    /// Maximises ℓ from the present scores and `model`. Returns how it ended, and ℓ.
    fn search_sided(
        &mut self,
        counts: &SidedCounts<'_>,
        model: &mut VoteModel,
        prior: f64,
        rate: Rate,
        accuracy: Accuracy,
    ) -> Result<(NewtonRun, f64)> {
        let mut slopes = Vec::new();
        let (mut sums, mut value) = self.sided_sums(counts, model, prior, &mut slopes);
        let mut run = NewtonRun { steps: 0, converged: false, violation: 0.0 };
        let tolerance = if self.is_large { LARGE_TOLERANCE } else { TOLERANCE };
        while run.steps < MAX_STEPS && !run.converged {
            run.steps += 1;
            let found = self.bordered(&slopes, &sums, model, prior, rate)?;
            let step = found.step(model, rate);
            let change = largest_magnitude(&step.scores).max(step.advantage.abs());
            let (start, before) = (self.scores.clone(), *model);
            if sums.ties > 0.0 && sums.expected_ties > 0.0 {
                model.tie_odds *= sums.ties / sums.expected_ties;
            }
            let mut length = (MAX_CHANGE / change.max(MAX_CHANGE)).min(1.0);
            let mut has_increased = false;
            for _ in 0..=MAX_HALVINGS {
                for ((score, start), step) in self.scores.iter_mut().zip(&start).zip(&step.scores) {
                    *score = start + length * step;
                }
                model.advantage = before.advantage + length * step.advantage;
                model.lapse_rate = before.lapse_rate + length * step.rate;
                let next = self.sided_sums(counts, model, prior, &mut slopes);
                if next.1 >= value - ROUNDING * value.abs() {
                    (sums, has_increased) = (next.0, true);
                    value = value.max(next.1);
                    break;
                }
                length *= 0.5;
            }
            if !has_increased {
                (self.scores, *model) = (start, before);
                (sums, value) = self.sided_sums(counts, model, prior, &mut slopes);
                break;
            }
            run.converged = length == 1.0
                && match accuracy {
                    Accuracy::Scores => change < tolerance,
                    Accuracy::Likelihood => step.gain < select::negligible_gain(value),
                };
        }
        run.violation = self.sided_violation(&slopes, &sums, model, prior);
        Ok((run, value))
    }

    /// The sums of all processes, and ℓ.
    fn sided_sums(
        &self,
        counts: &SidedCounts<'_>,
        model: &VoteModel,
        prior: f64,
        slopes: &mut Vec<SidedSlope>,
    ) -> (SidedSums, f64) {
        let mut sums = counts.evaluate(&self.scores, model, slopes).to_array();
        self.communicator().sum(&mut sums);
        let sums = SidedSums::of_array(sums);
        (sums, sums.log_likelihood - 0.5 * self.sided_penalty(prior, model.advantage))
    }

    /// The gradient of ℓ in the scores.
    fn sided_gradient(&self, slopes: &[SidedSlope], prior: f64) -> Vec<f64> {
        let mut gradient = self.sum_pairs(|p| {
            let flow = slopes[p].gradient - prior * self.prior.weights[p] * self.difference(p);
            (flow, -flow)
        });
        self.communicator().sum(&mut gradient);
        gradient
    }

    /// The largest gradient entry relative to the votes of its item, and of b to all votes.
    fn sided_violation(
        &self,
        slopes: &[SidedSlope],
        sums: &SidedSums,
        model: &VoteModel,
        prior: f64,
    ) -> f64 {
        let weight = &self.graph.pairs().weight;
        let mut votes = self.sum_pairs(|p| (weight[p], weight[p]));
        self.communicator().sum(&mut votes);
        let relative = |(gradient, votes): (&f64, &f64)| gradient.abs() / votes.max(1.0);
        let gradient = self.sided_gradient(slopes, prior);
        let of_side = (sums.side_gradient - prior * model.advantage).abs();
        let of_side = of_side / self.graph.votes().max(1.0);
        gradient.iter().zip(&votes).map(relative).fold(of_side, f64::max)
    }

    /// Solves for everything that a step needs.
    fn bordered(
        &mut self,
        slopes: &[SidedSlope],
        sums: &SidedSums,
        model: &VoteModel,
        prior: f64,
        rate: Rate,
    ) -> Result<BorderedSystem> {
        let weight = |(slope, omega): (&SidedSlope, &f64)| {
            (slope.information + prior * omega).max(MIN_WEIGHT)
        };
        let weights: Vec<f64> = slopes.iter().zip(&self.prior.weights).map(weight).collect();
        let column = |of: fn(&SidedSlope) -> f64| {
            let mut column = self.sum_pairs(|p| (of(&slopes[p]), -of(&slopes[p])));
            self.communicator().sum(&mut column);
            column
        };
        let gradient = self.sided_gradient(slopes, prior);
        let c = column(|slope| slope.with_advantage);
        let c_rate = match rate {
            Rate::Free => column(|slope| slope.with_rate),
            Rate::Fixed => Vec::new(),
        };
        let mut right_sides = vec![&gradient[..], &c];
        right_sides.extend((rate == Rate::Free).then_some(&c_rate[..]));
        // A search for lapses stops early, and several processes must stop where one does.
        let solutions =
            self.system.solve_all(|p| weights[p], &right_sides, SOLVE_TOLERANCE, true)?;
        let mut solutions = solutions.into_iter();
        let mut next = || solutions.next().unwrap_or_default();
        let (u, v, v_rate) = (next(), next(), next());
        let mut found = BorderedSystem {
            slopes: [sums.side_gradient - prior * model.advantage - dot(&c, &u), 0.0],
            information: [sums.side_information + prior - dot(&c, &v), 0.0, 0.0],
            gradient,
            u,
            v: [v, Vec::new()],
        };
        if rate == Rate::Free {
            found.slopes[1] = sums.rate_gradient - dot(&c_rate, &found.u);
            found.information[1] = sums.side_with_rate - dot(&c, &v_rate);
            found.information[2] = sums.rate_information - dot(&c_rate, &v_rate);
            found.v[1] = v_rate;
        }
        Ok(found)
    }
}

impl BorderedSystem {
    fn step(self, model: &VoteModel, rate: Rate) -> Step {
        let Self { gradient, u, v, slopes: [side, along_rate], information } = self;
        let [bb, be, ee] = information;
        let determinant = bb * ee - be * be;
        let mut rate_step = 0.0;
        if rate == Rate::Free && determinant > 0.0 {
            let free = (bb * along_rate - be * side) / determinant;
            let lowest = MIN_RATE_FACTOR * model.lapse_rate;
            rate_step = (model.lapse_rate + free).clamp(lowest, MAX_LAPSE_RATE) - model.lapse_rate;
        }
        // Without information the scores explain b.
        let advantage = if bb > 0.0 { (side - be * rate_step) / bb } else { 0.0 };
        // ½ × slope × step: what b and ε add to the step of the scores alone.
        let gain = 0.5 * (dot(&gradient, &u) + side * advantage + along_rate * rate_step);
        let mut scores = u;
        scores.iter_mut().zip(&v[0]).for_each(|(step, v)| *step -= advantage * v);
        scores.iter_mut().zip(&v[1]).for_each(|(step, v)| *step -= rate_step * v);
        Step { scores, advantage, rate: rate_step, gain }
    }
}
