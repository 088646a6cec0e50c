//! How answers depend on the scores: one of two sides, or graded.

use super::behaviour::Behaviour;
use super::blocks::Blocks;
use super::graded::GradedModel;
use super::likelihood::{LikelihoodTable, Likelihoods, POINTS, ScoreModel};
use super::slopes::{Lines, MAX_SCORE, Slopes, slopes};

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

    /// The information of honest votes at these scores.
    pub(super) fn information(&self, scores: &[f64], tie_odds: f64) -> Information {
        match self {
            Self::Sided { .. } => {
                let half_odds = |score: &f64| (0.5 * score.clamp(-MAX_SCORE, MAX_SCORE)).exp();
                Information::Sided { half_odds: scores.iter().map(half_odds).collect(), tie_odds }
            }
            Self::Graded(model) => Information::Graded(1.0 / model.noise),
        }
    }

    pub(super) fn graded(&self) -> Option<&GradedModel> {
        match self {
            Self::Sided { .. } => None,
            Self::Graded(model) => Some(model),
        }
    }
}

/// The information of an honest vote about the difference of the scores of its items.
pub(super) enum Information {
    /// By the square roots of the odds e^θ of the items: exponentials of pairs would take most of the
    /// time of a step.
    Sided { half_odds: Vec<f64>, tie_odds: f64 },
    /// The same for all votes.
    Graded(f64),
}

impl Information {
    #[inline]
    pub(super) fn of_vote(&self, left: usize, right: usize) -> f64 {
        match self {
            Self::Sided { half_odds, tie_odds } => {
                let (a, b) = (half_odds[left], half_odds[right]);
                let (win, loss, tie) = (a * a, b * b, tie_odds * a * b);
                let total = win + loss + tie;
                // Var s, s being 1, ½ or 0: P(win) P(loss) + ¼ P(tie) (1 − P(tie)).
                (win * loss + 0.25 * tie * (win + loss)) / (total * total)
            }
            Self::Graded(information) => *information,
        }
    }
}
