//! Predictions: how probable it is that a careful annotator, or somebody of this crowd, prefers one item to another.
//!
//! With scores θ, P(left is preferred) = F(f · (θ_left − θ_right)), F the logistic function. The answer is
//! that of a careful annotator who prefers one of the two items: ties, lapses and the advantage of a side
//! are left out.
//!
//! | method | f, the log-odds per unit of the scores |
//! |---|---|
//! | `bt`, `crowd` | 1: scores are log-odds |
//! | `crowd` with graded votes | 1.702 / σ, σ being the noise of a typical annotator |
//! | all others | the most likely factor for the votes, as on the Elo scale ([`crate::scale`]) |
//!
//! For somebody of this crowd, methods that model how people vote have a link from differences of scores to
//! probabilities ([`crate::model::Link`]), fitted to votes that were left out: it includes lapses, people who do not
//! look at the items, and the uncertainty of the scores.
//!
//! Scores in the unit of the outcomes also predict the outcome itself: θ_left − θ_right. Scores of
//! different components do not compare, so there are no predictions between them.
//!
//! [`hold_out`] sets a part of the votes aside, and [`HoldoutEvaluation`] says how well a fit to the others
//! predicts them.

mod evaluation;
mod holdout;

pub use evaluation::{CalibrationBin, Evaluation, HoldoutEvaluation};
pub use holdout::{Holdout, hold_out};

use crate::error::{Error, Result};
use crate::ranked_study::RankedStudy;
use crate::scale::{EloScale, NoFactor};

/// Predicts votes from a ranked study.
#[derive(Debug, Clone)]
pub struct Predictor<'a> {
    study: &'a RankedStudy,
    /// Log-odds per unit of the scores, or why there are none.
    factor: std::result::Result<f64, NoFactor>,
}

/// What is predicted for two items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The item on the left.
    pub left: u32,
    /// The item on the right.
    pub right: u32,
    /// The probability that a careful annotator prefers the left item. None if the items are in different
    /// components, or no finite factor turns the scores into log-odds.
    pub probability: Option<f64>,
    /// The probability that somebody of this crowd does, with its lapses, people who do not look at the items, and
    /// the uncertainty of the scores. Only for methods that model how people vote.
    pub crowd_probability: Option<f64>,
    /// Lower end of its interval, if it is known.
    pub low: Option<f64>,
    /// Upper end of its interval, if it is known.
    pub high: Option<f64>,
    /// The expected outcome: how much the left item is preferred. None for scores in log-odds and for
    /// items in different components.
    pub expected_outcome: Option<f64>,
}

impl<'a> Predictor<'a> {
    /// The predictor of a ranked study.
    ///
    /// # Errors
    /// As [`EloScale::new`], but for scores that no finite factor turns into log-odds.
    pub fn new(study: &'a RankedStudy) -> Result<Self> {
        let RankedStudy { graph, items, fit, .. } = study;
        let factor = match (fit.crowd(), &fit.model) {
            (Some(crowd), _) => Ok(crowd.log_odds_per_unit()),
            (None, Some(_)) => Ok(1.0),
            (None, None) => match EloScale::new(graph, items, fit, None) {
                // All compared items have equal scores, so that every factor gives one half.
                Ok(scale) => Ok(scale.log_odds_per_unit.unwrap_or(0.0)),
                Err(Error::NoEloScale { reason, .. }) => Err(reason),
                Err(other) => return Err(other),
            },
        };
        let factor =
            factor.and_then(|f| if f.is_finite() { Ok(f) } else { Err(NoFactor::Separable) });
        Ok(Self { study, factor })
    }

    /// The log-odds per unit of the scores, or why there are none.
    ///
    /// # Errors
    /// If no finite factor turns the scores into log-odds.
    pub fn factor(&self) -> std::result::Result<f64, NoFactor> {
        self.factor
    }

    /// Why there are no probabilities, if there are none.
    #[must_use]
    pub fn no_factor(&self) -> Option<NoFactor> {
        self.factor.err()
    }

    /// The log-odds that a careful annotator prefers the left item.
    #[must_use]
    pub fn log_odds(&self, left: u32, right: u32) -> Option<f64> {
        Some(self.factor.ok()? * self.difference(left, right)?)
    }

    /// The probability that somebody of this crowd prefers the left item; on either side.
    #[must_use]
    pub fn crowd_probability(&self, left: u32, right: u32) -> Option<f64> {
        let link = self.study.fit.model.as_ref()?.link()?;
        Some(link.probability_on_either_side(self.difference(left, right)?))
    }

    /// The prediction for two items.
    #[must_use]
    pub fn predict(&self, left: u32, right: u32) -> Prediction {
        let probability = self.log_odds(left, right).map(logistic);
        let interval = self.interval(left, right);
        let expected_outcome = match self.study.fit.crowd() {
            Some(crowd) if crowd.estimates.noise.is_some() => self.difference(left, right),
            None if self.study.fit.model.is_none() => self.difference(left, right),
            _ => None,
        };
        Prediction {
            left,
            right,
            probability,
            crowd_probability: self.crowd_probability(left, right),
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            // Minus zero would be printed with its sign.
            expected_outcome: expected_outcome.map(|outcome| outcome + 0.0),
        }
    }

    /// The expected share of careful annotators' answers that agree with the ranking, on the pairs of the
    /// votes that prefer an item and as often as they were asked. Pairs with equal scores do not count, as
    /// in the agreement of the votes. None without such votes, or without probabilities.
    #[must_use]
    pub fn expected_agreement(&self) -> Option<f64> {
        let groups = self.study.graph.groups();
        let (mut agreeing, mut decided) = (0.0, 0.0);
        for g in (0..groups.len()).filter(|&g| groups.y[g] != 0.0) {
            let Some(log_odds) = self.log_odds(groups.left[g], groups.right[g]) else { continue };
            if self.difference(groups.left[g], groups.right[g]) != Some(0.0) {
                decided += groups.weight[g];
                agreeing += groups.weight[g] * logistic(log_odds.abs());
            }
        }
        (decided > 0.0).then(|| agreeing / decided)
    }

    /// The interval of the probability: that of the difference of the scores, if it is known.
    fn interval(&self, left: u32, right: u32) -> Option<(f64, f64)> {
        let found = self.study.uncertainty.as_ref()?;
        let (log_odds, factor) = (self.log_odds(left, right)?, self.factor.ok()?);
        let half = found.quantile * factor * found.difference_se(left, right)?;
        Some((logistic(log_odds - half), logistic(log_odds + half)))
    }

    /// The difference of the scores, if the items compare.
    fn difference(&self, left: u32, right: u32) -> Option<f64> {
        let fit = &self.study.fit;
        let [left, right] = [left, right].map(|item| item as usize);
        let compare = fit.components.of[left] == fit.components.of[right];
        compare.then(|| fit.scores[left] - fit.scores[right])
    }
}

/// The logistic function.
pub(crate) fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests;
