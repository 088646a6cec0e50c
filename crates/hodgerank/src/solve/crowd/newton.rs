//! Newton steps in the scores of a crowd.

use rayon::prelude::*;

use super::search::{MAX_CHANGE, Search};
use super::slopes::Slopes;
use crate::error::Result;
use crate::numeric::largest_magnitude;
use crate::solve::bradley_terry::sum_ends;

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

impl Search<'_> {
    /// The gradient of ℓ in the scores, with the prior, and the Newton step.
    pub(super) fn newton_step(&mut self, scores: &[f64], slopes: &Slopes) -> Result<NewtonStep> {
        let gradient = self.gradient(scores, slopes);
        let weights = self.newton_weights(scores, slopes);
        let mut step = self.system.solve(&weights, &gradient, SOLVE_TOLERANCE, true)?;
        let length = (MAX_CHANGE / largest_magnitude(&step).max(MAX_CHANGE)).min(1.0);
        step.iter_mut().for_each(|step| *step *= length);
        Ok(NewtonStep { gradient, step, is_shortened: length < 1.0 })
    }

    /// The gradient of ℓ in the scores, with the prior.
    fn gradient(&self, scores: &[f64], slopes: &Slopes) -> Vec<f64> {
        let (pairs, omega) = (self.graph.pairs(), &self.prior.weights);
        let mut gradient = sum_ends(self.graph.items(), pairs, |p| {
            let difference = scores[pairs.left[p] as usize] - scores[pairs.right[p] as usize];
            let pull = self.lambda * omega[p] * difference;
            (-pull, pull)
        });
        self.communicator().sum(&mut gradient);
        gradient.iter_mut().zip(&slopes.gradient).for_each(|(sum, own)| *sum += own);
        gradient
    }

    /// The information about each score, with the prior.
    pub(super) fn item_information(&self, slopes: &Slopes) -> Vec<f64> {
        let of_prior = self.prior.diagonal.iter().map(|own| self.lambda * own);
        of_prior.zip(&slopes.information).map(|(prior, own)| prior + own).collect()
    }

    /// The weights of the pairs in the system of a Newton step: the information of honest votes on the
    /// pair, in proportion to how much of its items' information is left.
    fn newton_weights(&self, scores: &[f64], slopes: &Slopes) -> Vec<f64> {
        let pairs = self.graph.pairs();
        let information = self.answers.information(scores, self.tie_odds);
        let variance = |p: usize| {
            pairs.weight[p] * information.of_vote(pairs.left[p] as usize, pairs.right[p] as usize)
        };
        let variances: Vec<f64> = (0..pairs.len()).into_par_iter().map(variance).collect();
        let mut of_items = sum_ends(self.graph.items(), pairs, |p| (variances[p], variances[p]));
        self.communicator().sum(&mut of_items);
        let ratio: Vec<f64> = slopes
            .information
            .iter()
            .zip(&of_items)
            .map(|(information, variance)| information / variance.max(f64::MIN_POSITIVE))
            .collect();
        let omega = &self.prior.weights;
        let weight = |p: usize| {
            let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
            let information = 0.5 * (ratio[i] + ratio[j]) * variances[p];
            (information + self.lambda * omega[p]).max(MIN_WEIGHT)
        };
        (0..pairs.len()).into_par_iter().map(weight).collect()
    }
}
