//! How answers depend on the scores: one of two sides, or graded.

use super::behaviour::Behaviour;
use super::blocks::Blocks;
use super::graded::GradedModel;
use super::likelihood::{LikelihoodTable, Likelihoods, POINTS, ScoreModel};
use super::slopes::{Lines, Slopes, slopes};
use crate::solve::bradley_terry::HonestVote;

/// The model of an honest answer and of all behaviours.
#[derive(Debug)]
pub(super) enum AnswerModel {
    /// Votes of one size: logistic in the difference of the scores.
    Sided {
        table: LikelihoodTable,
        lines: Box<Lines>,
    },
    Graded(GradedModel),
}

impl AnswerModel {
    pub(super) fn sided(points: &[Behaviour]) -> Self {
        Self::Sided { table: LikelihoodTable::new(points), lines: Box::new(Lines::new(points)) }
    }

    /// The likelihoods of all blocks.
    pub(super) fn evaluate(&self, blocks: &Blocks, at: &ScoreModel<'_>) -> Likelihoods {
        match self {
            Self::Sided { table, .. } => table.evaluate(blocks, at),
            Self::Graded(model) => model.evaluate(blocks, at),
        }
    }

    /// The slopes of the log-likelihood, if behaviours have these probabilities.
    pub(super) fn slopes(
        &self,
        blocks: &Blocks,
        responsibility: &[[f32; POINTS]],
        at: &ScoreModel<'_>,
    ) -> Slopes {
        match self {
            Self::Sided { lines, .. } => slopes(blocks, lines, responsibility, at),
            Self::Graded(model) => model.slopes(blocks, responsibility, at),
        }
    }

    /// The information of an honest vote on items with this difference of scores.
    #[inline]
    pub(super) fn information(&self, difference: f64, tie_odds: f64) -> f64 {
        match self {
            Self::Sided { .. } => HonestVote::new(difference, tie_odds).variance(),
            Self::Graded(model) => 1.0 / model.noise,
        }
    }

    pub(super) fn graded(&self) -> Option<&GradedModel> {
        match self {
            Self::Sided { .. } => None,
            Self::Graded(model) => Some(model),
        }
    }
}
