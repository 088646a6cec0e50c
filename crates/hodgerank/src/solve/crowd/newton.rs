//! Newton steps in the scores of a crowd.

use rayon::prelude::*;

use super::search::{MAX_CHANGE, Search};
use super::slopes::Slopes;
use crate::error::Result;
use crate::graph::Pairs;
use crate::numeric::largest_magnitude;
use crate::solve::bradley_terry::{
    HonestVote, NeedsValue, PairCurvature, PairPass, reduce_bias, sum_ends,
};

/// Relative residual of the linear systems: each step is repeated anyway.
const SOLVE_TOLERANCE: f64 = 1e-4;
const MIN_WEIGHT: f64 = 1e-12;

/// A step of Newton's method.
#[derive(Debug, Default)]
pub(super) struct NewtonStep {
    /// The gradient of ℓ in the scores.
    pub(super) gradient: Vec<f64>,
    pub(super) step: Vec<f64>,
    /// Whether the step would have been longer than [`MAX_CHANGE`].
    pub(super) is_shortened: bool,
}

/// The share of the information of honest votes that is left at each item.
struct InformationLeft {
    ratio: Vec<f64>,
}

impl InformationLeft {
    /// The information about a pair: in proportion to what is left at its items.
    fn of_pair(&self, pairs: &Pairs, pass: &PairPass, pair: usize) -> f64 {
        let (i, j) = (pairs.left[pair] as usize, pairs.right[pair] as usize);
        0.5 * (self.ratio[i] + self.ratio[j]) * f64::from(pass.pair_information[pair])
    }
}

impl Search<'_> {
    /// Sums over the pairs at these scores, with all votes as honest.
    pub(super) fn pair_pass(&self, scores: &[f64], needs_value: NeedsValue) -> PairPass {
        let Some(model) = self.answers.graded() else {
            return self.counts.pass(&self.prior, scores, self.tie_odds, needs_value);
        };
        // Graded votes all have the same information.
        let (pairs, per_vote) = (self.graph.pairs(), 1.0 / model.noise);
        let information = |p: usize| per_vote * pairs.weight[p];
        PairPass {
            information: sum_ends(scores.len(), pairs, |p| (information(p), information(p))),
            pair_information: (0..pairs.len())
                .into_par_iter()
                .map(|p| information(p) as f32)
                .collect(),
            ..self.counts.pass(&self.prior, scores, 0.0, NeedsValue::No)
        }
    }

    /// The gradient of ℓ in the scores of `pass`, with the prior, and the Newton step. The information of
    /// a pair is that of honest votes, in proportion to how much of its items' information is left.
    pub(super) fn newton_step(&mut self, slopes: &Slopes, pass: &PairPass) -> Result<NewtonStep> {
        let lambda = self.lambda;
        let mut sums = pass.pull.clone();
        self.communicator().sum(&mut sums);
        let parts = slopes.gradient.iter().zip(&sums);
        let gradient: Vec<f64> = parts.map(|(votes, pull)| votes - lambda * pull).collect();
        let (left, pairs, omega) =
            (self.information_left(slopes, pass), self.graph.pairs(), &self.prior.weights);
        let weight = |p: usize| (left.of_pair(pairs, pass, p) + lambda * omega[p]).max(MIN_WEIGHT);
        let mut step = self.system.solve(weight, &gradient, SOLVE_TOLERANCE, true)?;
        let length = (MAX_CHANGE / largest_magnitude(&step).max(MAX_CHANGE)).min(1.0);
        step.iter_mut().for_each(|step| *step *= length);
        Ok(NewtonStep { gradient, step, is_shortened: length < 1.0 })
    }

    /// Subtracts the bias from the scores, which maximise ℓ.
    pub(super) fn reduce_bias(&mut self) -> Result<()> {
        let pass = self.pair_pass(&self.scores, NeedsValue::No);
        let slopes = self.slopes(&self.scores, &self.responsibility, &pass);
        let left = self.information_left(&slopes, &pass);
        let (pairs, at) = (self.graph.pairs(), self.scores.clone());
        let (is_graded, tie_odds) = (self.answers.graded().is_some(), self.tie_odds);
        let curvature = |p: usize| {
            let d = at[pairs.left[p] as usize] - at[pairs.right[p] as usize];
            let information = left.of_pair(pairs, &pass, p);
            // Normal noise is symmetric.
            let skewness = if is_graded { 0.0 } else { HonestVote::new(d, tie_odds).skewness() };
            PairCurvature { information, skewness }
        };
        let Self { graph, system, prior, lambda, scores, .. } = self;
        reduce_bias(graph, system, prior, *lambda, scores, curvature)
    }

    /// How much of the information of honest votes is left at each item. Collective.
    fn information_left(&self, slopes: &Slopes, pass: &PairPass) -> InformationLeft {
        let mut honest = pass.information.clone();
        self.communicator().sum(&mut honest);
        let ratio = |(left, all): (&f64, &f64)| left.max(0.0) / all.max(f64::MIN_POSITIVE);
        InformationLeft { ratio: slopes.information.iter().zip(&honest).map(ratio).collect() }
    }

    /// The information about each score, with the prior.
    pub(super) fn item_information(&self, slopes: &Slopes) -> Vec<f64> {
        let of_prior = self.prior.diagonal.iter().map(|own| self.lambda * own);
        of_prior.zip(&slopes.information).map(|(prior, own)| prior + own).collect()
    }
}
