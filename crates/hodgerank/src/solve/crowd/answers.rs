//! How answers depend on the scores: one of two sides, or graded.

use super::behaviour::Behaviour;
use super::blocks::Blocks;
use super::graded::GradedModel;
use super::likelihood::{LikelihoodTable, Likelihoods, POINTS, ScoreModel};
use super::slopes::{Base, Lines, Slopes, slopes};

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

    /// Computes the likelihoods of all blocks but those to be skipped.
    pub(super) fn evaluate(
        &self,
        blocks: &Blocks<'_>,
        at: &ScoreModel<'_>,
        is_skipped: impl Fn(usize) -> bool + Sync,
        out: &mut Likelihoods,
    ) {
        match self {
            Self::Sided { table, .. } => table.evaluate(blocks, at, is_skipped, out),
            Self::Graded(model) => model.evaluate(blocks, at, is_skipped, out),
        }
    }

    /// The slopes of the log-likelihood, if behaviours have these probabilities.
    pub(super) fn slopes(
        &self,
        blocks: &Blocks<'_>,
        responsibility: &[[f32; POINTS]],
        at: &ScoreModel<'_>,
        base: Base,
    ) -> Slopes {
        match self {
            Self::Sided { lines, .. } => slopes(blocks, lines, responsibility, at, base),
            Self::Graded(model) => model.slopes(blocks, responsibility, at),
        }
    }

    pub(super) fn graded(&self) -> Option<&GradedModel> {
        match self {
            Self::Sided { .. } => None,
            Self::Graded(model) => Some(model),
        }
    }
}
