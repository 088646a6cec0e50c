//! The search for the scores and the behaviours that are most likely together.

use rayon::prelude::*;

use super::answers::AnswerModel;
use super::behaviour::{Behaviour, behaviours, sum_of_points};
use super::blocks::Blocks;
use super::checkpoint;
use super::graded::GradedModel;
use super::likelihood::{Likelihoods, POINTS, ScoreModel};
use super::newton::NewtonStep;
use super::settled::Settled;
use super::shares::{self, Evidence, Shares};
use super::slopes::{Base, Slopes, is_certainly_careful};
use super::tastes::OtherTaste;
use crate::annotator_votes::AnnotatorVotes;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{Backend, StepSystem};
use crate::numeric::{dot, norm};
use crate::select::lapse::vote_size;
use crate::solve::bradley_terry::{GraphPrior, NeedsValue, PairCounts, PairPass, WarmStart};
use crate::status::Status;

const MAX_ITERATIONS: usize = 40;
/// Newton steps in which everyone counts as careful.
const WARM_UP: usize = 2;
/// Iterations before the search may end.
const MIN_ITERATIONS: usize = 2;
/// Change of the scores relative to their spread at which unsupported behaviours leave the model, and
/// at which the search stops.
const ROUGH_TOLERANCE: f64 = 0.1;
const TOLERANCE: f64 = 5e-3;
/// How often a step is shortened before it is given up.
const MAX_CUTS: usize = 6;
/// Relative size of ℓ below which a decrease is an error of its interpolation, not of the step.
const RESOLUTION: f64 = 1e-6;
/// Largest change of a score in one step, in log-odds.
pub(super) const MAX_CHANGE: f64 = 2.0;
/// Gain of the log-likelihood for which the side advantage enters the model.
const MIN_SIDE_GAIN: f64 = 4.8;
/// Relative change of ν that is not negligible.
const TIE_TOLERANCE: f64 = 1e-3;
/// Share of votes by certainly careful annotators from which sums over pairs stand for them.
const MIN_CAREFUL_SHARE: f64 = 0.25;

/// The state of a search.
pub(super) struct Search<'a> {
    pub(super) graph: &'a ComparisonGraph,
    pub(super) blocks: Blocks<'a>,
    pub(super) points: Vec<Behaviour>,
    /// Scores are in this unit: log-odds, or the root mean square of graded outcomes.
    pub(super) unit: f64,
    pub(super) scores: Vec<f64>,
    pub(super) side_advantage: f64,
    pub(super) tie_odds: f64,
    pub(super) lambda: f64,
    pub(super) shares: Shares,
    /// How much each block counts: by its given weight, and less if its annotator may have another taste.
    pub(super) weights: Vec<f64>,
    given_weights: Vec<f64>,
    is_weighted: bool,
    /// At the scores, but for settled annotators.
    pub(super) likelihoods: Likelihoods,
    /// Sums over pairs at the scores.
    pub(super) pass: PairPass,
    pub(super) settled: Settled,
    /// The probability of each behaviour of each block, times its weight.
    pub(super) responsibility: Vec<[f32; POINTS]>,
    pub(super) answers: AnswerModel,
    pub(super) counts: PairCounts<'a>,
    pub(super) prior: GraphPrior,
    pub(super) system: StepSystem<'a>,
    is_prior_free: bool,
    has_sides: bool,
    pub(super) has_advantage: bool,
    /// Whether votes were removed from the blocks, so that sums over pairs are those of other votes.
    pub(super) has_removed_votes: bool,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunState {
    /// Iterations before a second taste was found.
    pub(super) iterations_before: usize,
    pub(super) iteration: usize,
    /// Whether unsupported behaviours have left the model.
    pub(super) is_reduced: bool,
    /// Whether the scores were turned upside down.
    pub(super) is_flipped: bool,
    /// The last change of the scores relative to their spread.
    pub(super) change: f64,
}

impl Default for RunState {
    fn default() -> Self {
        let (is_reduced, is_flipped) = (false, false);
        Self { iterations_before: 0, iteration: 0, is_reduced, is_flipped, change: f64::INFINITY }
    }
}

/// How a search ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchEnd {
    pub(super) iterations: usize,
    pub(super) status: Status,
    /// The last change of the scores relative to their spread.
    pub(super) change: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        votes: &'a AnnotatorVotes,
        annotator_weights: Option<&[f64]>,
        options: &super::CrowdOptions,
    ) -> Result<Self> {
        let points = behaviours(votes.has_sides());
        let is_graded = vote_size(graph).is_none();
        let unit = if is_graded { outcome_unit(graph) } else { 1.0 };
        let given_prior = options.prior.map(|prior| prior * unit * unit);
        let mut start = WarmStart::new(graph, options.backend, given_prior, WARM_UP)?;
        let blocks = Blocks::new(votes, is_graded.then_some(unit), graph.communicator());
        let answers = if is_graded {
            let noise = start_graded(graph, unit, &mut start);
            start.lambda = given_prior.unwrap_or(start.lambda);
            AnswerModel::Graded(GradedModel::new(&points, blocks.len(), noise))
        } else {
            AnswerModel::sided(&points)
        };
        let mut given_weights = vec![1.0; blocks.len()];
        if let Some(weights) = annotator_weights {
            for (own, &annotator) in given_weights.iter_mut().zip(&blocks.annotator) {
                *own = weights[annotator as usize];
            }
        }
        Ok(Self {
            graph,
            unit,
            scores: start.scores,
            side_advantage: 0.0,
            tie_odds: start.tie_odds,
            lambda: start.lambda,
            shares: shares::first(&points),
            weights: given_weights.clone(),
            given_weights,
            is_weighted: annotator_weights.is_some(),
            likelihoods: Likelihoods::default(),
            pass: PairPass::default(),
            settled: Settled::default(),
            responsibility: Vec::new(),
            answers,
            counts: start.counts,
            prior: start.prior,
            system: start.system,
            is_prior_free: options.prior.is_none(),
            has_sides: votes.has_sides(),
            has_advantage: false,
            has_removed_votes: false,
            points,
            blocks,
        })
    }

    pub(super) fn annotators(&self) -> usize {
        self.blocks.annotator.len()
    }

    pub(super) fn communicator(&self) -> &'a dyn Communicator {
        self.graph.communicator()
    }

    pub(super) fn backends(&self) -> Vec<Backend> {
        self.system.backends()
    }

    fn score_model(&self) -> ScoreModel<'_> {
        ScoreModel {
            scores: &self.scores,
            side_advantage: self.side_advantage,
            tie_odds: self.tie_odds,
        }
    }

    pub(super) fn evidence(&self) -> Evidence<'_> {
        Evidence {
            likelihoods: &self.likelihoods,
            weights: &self.weights,
            annotators: self.annotators(),
            points: &self.points,
            communicator: self.communicator(),
        }
    }

    /// Computes the likelihoods at the scores, but for settled annotators, and the sums over pairs.
    pub(super) fn evaluate(&mut self) {
        self.evaluate_blocks();
        self.pass = self.pair_pass(&self.scores, NeedsValue::Yes);
    }

    /// Computes the likelihoods alone.
    pub(super) fn evaluate_blocks(&mut self) {
        let mut likelihoods = std::mem::take(&mut self.likelihoods);
        let settled = &self.settled;
        let is_settled = |block: usize| settled.is_settled(block);
        self.answers.evaluate(&self.blocks, &self.score_model(), is_settled, &mut likelihoods);
        self.likelihoods = likelihoods;
    }

    /// Computes the likelihoods of some blocks at other scores.
    pub(super) fn likelihoods_at(
        &self,
        scores: &[f64],
        is_skipped: impl Fn(usize) -> bool + Sync,
    ) -> Likelihoods {
        let at = ScoreModel { scores, ..self.score_model() };
        let mut likelihoods = Likelihoods::default();
        self.answers.evaluate(&self.blocks, &at, is_skipped, &mut likelihoods);
        likelihoods
    }

    /// Estimates the shares and the behaviour of each annotator at the likelihoods.
    pub(super) fn update_behaviours(&mut self) {
        self.shares = self.shares.after(&self.evidence());
        self.responsibility = self.shares.responsibilities(&self.evidence());
    }

    /// Lets blocks count less, the more likely they have another taste.
    pub(super) fn discount(&mut self, other_taste: &[f64]) {
        let weight = |(given, t): (&f64, &f64)| given * (1.0 - t);
        self.weights = self.given_weights.iter().zip(other_taste).map(weight).collect();
    }

    /// Forgets the behaviours, because the scores are others.
    pub(super) fn restart_behaviours(&mut self) {
        self.shares = shares::first(&self.points);
        self.settled = Settled::default();
        self.evaluate();
    }

    /// Iterates until the scores do not change any more; `other` is the second taste, once it was found.
    pub(super) fn run(&mut self, run: RunState, other: Option<&OtherTaste>) -> Result<SearchEnd> {
        self.iterate(run, |search, run| checkpoint::save(search, run, other))
    }

    /// The same without checkpoints: what comes after the last one is repeated.
    pub(super) fn run_unsaved(&mut self, run: RunState) -> Result<SearchEnd> {
        self.iterate(run, |_, _| {})
    }

    fn iterate(
        &mut self,
        mut run: RunState,
        after_step: impl Fn(&Self, &RunState),
    ) -> Result<SearchEnd> {
        let mut status = Status::IterationLimit;
        while run.iteration < MAX_ITERATIONS {
            self.update_behaviours();
            if !run.is_flipped && self.direction() < 0.0 {
                // More annotators are contrary than honest: the scores are upside down.
                run.is_flipped = true;
                self.scores.iter_mut().for_each(|score| *score = -*score);
                self.restart_behaviours();
                run.iteration += 1;
                continue;
            }
            let is_small = run.change < if run.is_reduced { TOLERANCE } else { ROUGH_TOLERANCE };
            if run.iteration >= MIN_ITERATIONS && is_small {
                let has_unsettled = self.unsettle();
                let has_changed = !run.is_reduced && self.select_behaviours();
                if !has_changed && !has_unsettled && run.change < TOLERANCE {
                    status = Status::Solved;
                    break;
                }
                run.is_reduced = true;
            }
            self.settle();
            run.change = self.step()?;
            run.iteration += 1;
            after_step(self, &run);
        }
        if status != Status::Solved {
            self.update_behaviours();
            self.unsettle();
        }
        let iterations = run.iterations_before + run.iteration;
        Ok(SearchEnd { iterations, status, change: run.change })
    }

    /// Decides which behaviours the votes speak for. Returns whether others are in the model than before.
    fn select_behaviours(&mut self) -> bool {
        let selected = self.shares.selected(&self.evidence());
        let has_changed = selected.is_in != self.shares.is_in;
        if has_changed {
            self.shares = selected;
            self.update_behaviours();
        }
        has_changed
    }

    /// Σ over annotators of honest minus contrary shares.
    fn direction(&self) -> f64 {
        self.communicator().sum_scalar((0..self.annotators()).map(|a| self.follows(a)).sum())
    }

    /// The expected share of honest minus that of contrary answers.
    pub(super) fn follows(&self, annotator: usize) -> f64 {
        let mut shares = [0.0; POINTS];
        let row = self.points.iter().zip(&self.responsibility[annotator]);
        for (share, (point, &r)) in shares.iter_mut().zip(row) {
            *share = point.line().0 * f64::from(r);
        }
        sum_of_points(&shares)
    }

    /// For each block, how much its answers depend on the items.
    fn dependence(&self) -> Vec<f64> {
        let mut slopes = [0.0; POINTS];
        for (slope, point) in slopes.iter_mut().zip(&self.points) {
            *slope = point.line().0.abs();
        }
        let of = |row: &[f32; POINTS]| {
            sum_of_points(&std::array::from_fn::<f64, POINTS, _>(|k| slopes[k] * f64::from(row[k])))
        };
        self.responsibility.par_iter().map(of).collect()
    }

    /// ℓ with the prior of the shares, and ties weighted by how much answers depend on the items.
    pub(super) fn value(&self, dependence: &[f64]) -> f64 {
        let logs = self.likelihoods.logs.iter().zip(dependence);
        let ties = match self.tie_odds > 0.0 {
            true => logs.map(|(logs, dependence)| dependence * logs.ties).sum(),
            false => 0.0,
        };
        let own = ties + self.settled_change() - 0.5 * self.lambda * self.pass.squares;
        let own = self.communicator().sum_scalar(own);
        let side = 0.5 * self.lambda * self.side_advantage * self.side_advantage;
        let shares = self.shares.log_prior(&self.points) + self.shares.value(&self.evidence());
        shares + own - side
    }

    /// The slopes at these scores, if behaviours have these probabilities; sums of all processes. `pass` has
    /// the sums over pairs at the same scores.
    pub(super) fn slopes(
        &self,
        scores: &[f64],
        responsibility: &[[f32; POINTS]],
        pass: &PairPass,
    ) -> Slopes {
        let at = ScoreModel { scores, ..self.score_model() };
        let base = self.base(responsibility);
        let mut found = self.answers.slopes(&self.blocks, responsibility, &at, base);
        if base == Base::AllCareful {
            found.add_pairs(pass);
            for logs in &self.likelihoods.logs {
                found.side_gradient += logs.side_gradient;
                found.side_information += logs.side_information;
            }
        }
        let communicator = self.communicator();
        communicator.sum(&mut found.gradient);
        communicator.sum(&mut found.information);
        let mut scalars =
            [found.side_gradient, found.side_information, found.ties, found.expected_ties];
        communicator.sum(&mut scalars);
        [found.side_gradient, found.side_information, found.ties, found.expected_ties] = scalars;
        found
    }

    /// Whether sums over pairs are those of all votes as careful ones.
    pub(super) fn has_pair_sums(&self) -> bool {
        let is_plain = !self.has_removed_votes && !self.is_weighted;
        self.answers.graded().is_none() && !self.has_advantage && is_plain
    }

    /// From what sums over votes start. The same on all processes.
    fn base(&self, responsibility: &[[f32; POINTS]]) -> Base {
        if !self.has_pair_sums() {
            return Base::Nothing;
        }
        let votes = |block: usize| self.blocks.votes_of(block) as f64;
        let careful =
            responsibility.iter().enumerate().filter(|(_, row)| is_certainly_careful(row));
        let mut sums = [careful.map(|(block, _)| votes(block)).sum(), self.blocks.votes() as f64];
        self.communicator().sum(&mut sums);
        if sums[0] > MIN_CAREFUL_SHARE * sums[1] { Base::AllCareful } else { Base::Nothing }
    }

    /// A step in the scores and the side advantage that does not decrease ℓ, and the next λ and ν.
    /// Returns the change of the scores relative to their spread.
    pub(super) fn step(&mut self) -> Result<f64> {
        let slopes = self.slopes(&self.scores, &self.responsibility, &self.pass);
        self.update_tie_odds(&slopes);
        self.update_noise(&slopes);
        let pass = std::mem::take(&mut self.pass);
        let NewtonStep { gradient, step, .. } = self.newton_step(&slopes, &pass)?;
        self.pass = pass;
        let side_gain = slopes.side_gradient.powi(2) / (2.0 * slopes.side_information.max(1.0));
        if self.has_sides && !self.has_advantage && side_gain > MIN_SIDE_GAIN {
            self.unsettle();
            self.has_advantage = true;
        }
        let (side_gradient, side_step) = self.side_step(&slopes);
        let slope = dot(&gradient, &step) + side_gradient * side_step;
        let (start, start_advantage) = (self.scores.clone(), self.side_advantage);
        let dependence = self.dependence();
        let before = self.value(&dependence);
        let mut length = 1.0;
        for cut in 0.. {
            for ((score, start), step) in self.scores.iter_mut().zip(&start).zip(&step) {
                *score = start + length * step;
            }
            self.side_advantage = start_advantage + length * side_step;
            self.evaluate();
            let value = self.value(&dependence);
            if value >= before - RESOLUTION * before.abs() || length == 0.0 {
                break;
            }
            // The maximum of the parabola with this value and the slope at the start.
            let rise = length * slope;
            length *= (0.5 * rise / (rise + before - value)).clamp(0.1, 0.5);
            length = if cut == MAX_CUTS { 0.0 } else { length };
        }
        if self.is_prior_free {
            self.lambda = self.next_prior(&slopes);
        }
        Ok(length * norm(&step) / norm(&self.scores).max(f64::MIN_POSITIVE))
    }

    /// The gradient and the step of the side advantage; zero if it is not in the model.
    fn side_step(&self, slopes: &Slopes) -> (f64, f64) {
        if !self.has_advantage {
            return (0.0, 0.0);
        }
        let gradient = slopes.side_gradient - self.lambda * self.side_advantage;
        let step = gradient / (slopes.side_information + self.lambda);
        (gradient, step.clamp(-MAX_CHANGE, MAX_CHANGE))
    }

    fn update_tie_odds(&mut self, slopes: &Slopes) {
        if slopes.ties > 0.0 && slopes.expected_ties > 0.0 {
            let factor = slopes.ties / slopes.expected_ties;
            self.tie_odds *= factor;
            if factor.ln().abs() > TIE_TOLERANCE {
                self.evaluate();
            }
        }
    }

    /// Estimates the noise of graded votes.
    fn update_noise(&mut self, slopes: &Slopes) {
        let (annotators, communicator) = (self.annotators(), self.communicator());
        if let AnswerModel::Graded(model) = &mut self.answers
            && model.update_noise(&slopes.residuals, annotators, communicator)
        {
            self.evaluate();
        }
    }

    fn next_prior(&self, slopes: &Slopes) -> f64 {
        self.prior.next(self.lambda, &self.scores, &self.item_information(slopes))
    }
}

/// The root mean square of the outcomes.
fn outcome_unit(graph: &ComparisonGraph) -> f64 {
    let groups = graph.groups();
    let squares = groups.y.iter().zip(&groups.weight).map(|(y, weight)| weight * y * y);
    let mut sums = [squares.sum::<f64>(), groups.weight.iter().sum()];
    graph.communicator().sum(&mut sums);
    (sums[0] / sums[1].max(1.0)).sqrt().max(f64::MIN_POSITIVE)
}

/// Turns scores by the sides of the votes into those that predict the outcomes best. Returns the mean
/// square of the residuals.
fn start_graded(graph: &ComparisonGraph, unit: f64, start: &mut WarmStart<'_>) -> f64 {
    let groups = graph.groups();
    let mut sums = [0.0; 3];
    for g in 0..groups.len() {
        let (left, right) = (groups.left[g] as usize, groups.right[g] as usize);
        let (d, y) = (start.scores[left] - start.scores[right], groups.y[g] / unit);
        sums[0] += groups.weight[g] * y * d;
        sums[1] += groups.weight[g] * d * d;
        sums[2] += groups.weight[g];
    }
    graph.communicator().sum(&mut sums);
    let [product, square, votes] = sums;
    let factor = product / square.max(f64::MIN_POSITIVE);
    start.scores.iter_mut().for_each(|score| *score *= factor);
    start.lambda /= (factor * factor).max(f64::MIN_POSITIVE);
    // A tie is an outcome like any other.
    start.tie_odds = 0.0;
    // The mean square of the outcomes is one.
    1.0 - factor * product / votes.max(1.0)
}
