//! The slope of each vote at the fit of a method: what it adds to the estimating equations.
//!
//! | method | slope of a vote in d = θ_left − θ_right | information |
//! |---|---|---|
//! | `l2` | r = y − d | 1 |
//! | `hlasso` | r, but at most λ in size | 1 if \|r\| ≤ λ, else 0 |
//! | `bt` | ∂ log P/∂d (`model/votes.rs`) | expected |
//! | `crowd` | by the behaviour of its annotator (`solve/crowd/influence.rs`) | expected, given the behaviour |
//!
//! Other methods decide which votes count and then ignore the others. Slopes at their fit say nothing about
//! that decision, so that intervals from them are too narrow.

use crate::fit::{Fit, Model};
use crate::graph::ComparisonGraph;
use crate::model::Prior;
use crate::model::prior::PriorTerm;
use crate::model::votes::{VoteModel, outcome_of};
use crate::solve::Method;
use crate::solve::crowd::{CrowdSlopes, VoteSlope, VoterSlopes};

/// Largest sharpness of an annotator.
const MAX_SHARPNESS: f64 = 4.0;

/// Slopes of the votes of a fit.
pub(super) struct VoteScores<'a> {
    scores: &'a [f64],
    model: ScoreModel<'a>,
}

enum ScoreModel<'a> {
    LeastSquares,
    Huber { lambda: f64 },
    BradleyTerry { model: VoteModel, prior: Prior },
    Crowd(Box<CrowdSlopes<'a>>),
}

/// Slopes of the votes of one annotator.
pub(super) enum AnnotatorScores<'a> {
    Any(&'a VoteScores<'a>),
    Own(Box<VoterSlopes<'a>>),
}

impl AnnotatorScores<'_> {
    #[inline]
    pub(super) fn of_vote(&self, left: u32, right: u32, y: f64) -> VoteSlope {
        match self {
            Self::Any(scores) => scores.of_vote(left, right, y),
            Self::Own(own) => own.of_vote(left, right, y),
        }
    }
}

impl<'a> VoteScores<'a> {
    /// The slopes of a fit; none if they would say too little.
    pub(super) fn of_fit(graph: &ComparisonGraph, fit: &'a Fit) -> Option<Self> {
        let model = match (fit.method, &fit.model, fit.stop) {
            (Method::L2, _, _) => ScoreModel::LeastSquares,
            (Method::HuberLasso, _, Some((_, lambda))) if lambda > 0.0 => {
                ScoreModel::Huber { lambda }
            }
            (_, Some(Model::BradleyTerry(estimates)), _) => {
                let groups = graph.groups();
                let ties = groups.y.iter().zip(&groups.weight).filter(|(y, _)| **y == 0.0);
                let ties: f64 = ties.map(|(_, weight)| weight).sum();
                let model = VoteModel {
                    // Votes are merged over sides.
                    advantage: 0.0,
                    tie_odds: estimates.tie_odds,
                    lapse_rate: estimates.lapse_rate,
                    tie_share: ties / graph.votes().max(1.0),
                };
                ScoreModel::BradleyTerry { model, prior: estimates.prior }
            }
            (_, Some(Model::Crowd(flags)), _) => {
                ScoreModel::Crowd(Box::new(CrowdSlopes::new(&flags.crowd)))
            }
            _ => return None,
        };
        Some(Self { scores: &fit.scores, model })
    }

    /// Whether the slopes are those of a likelihood: their variance is then the information, if it is right.
    pub(super) fn is_likelihood(&self) -> bool {
        match &self.model {
            ScoreModel::LeastSquares | ScoreModel::Huber { .. } => false,
            ScoreModel::BradleyTerry { .. } | ScoreModel::Crowd(_) => true,
        }
    }

    /// The prior, if there is one.
    pub(super) fn prior(&self, graph: &ComparisonGraph) -> Option<PriorTerm> {
        match &self.model {
            ScoreModel::LeastSquares | ScoreModel::Huber { .. } => None,
            ScoreModel::BradleyTerry { prior, .. } => Some(prior.term(graph)),
            ScoreModel::Crowd(slopes) => Some(slopes.crowd().estimates.prior.term(graph)),
        }
    }

    /// The largest slope and information that a vote can have.
    pub(super) fn bound(&self, graph: &ComparisonGraph) -> VoteSlope {
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let residual = || largest(&graph.groups().y) + 2.0 * largest(self.scores);
        match &self.model {
            ScoreModel::LeastSquares => VoteSlope { gradient: residual(), information: 1.0 },
            ScoreModel::Huber { lambda } => VoteSlope { gradient: *lambda, information: 1.0 },
            ScoreModel::BradleyTerry { .. } => VoteSlope { gradient: 1.0, information: 1.0 },
            ScoreModel::Crowd(slopes) => match slopes.crowd().smallest_noise() {
                None => VoteSlope {
                    gradient: MAX_SHARPNESS,
                    information: MAX_SHARPNESS * MAX_SHARPNESS,
                },
                Some(noise) => {
                    let precision = 1.0 / (noise * noise);
                    VoteSlope { gradient: precision * residual(), information: precision }
                }
            },
        }
    }

    /// The slopes by behaviour, if annotators have any.
    pub(super) fn crowd(&'a self) -> Option<&'a CrowdSlopes<'a>> {
        match &self.model {
            ScoreModel::Crowd(slopes) => Some(slopes),
            _ => None,
        }
    }

    /// The slopes of an annotator's votes; `annotator` is none for unknown people.
    pub(super) fn of_annotator(&'a self, annotator: Option<u32>) -> AnnotatorScores<'a> {
        match &self.model {
            ScoreModel::Crowd(slopes) => {
                AnnotatorScores::Own(Box::new(slopes.of_annotator(annotator)))
            }
            _ => AnnotatorScores::Any(self),
        }
    }

    /// The slopes of plain votes, if there are any: their information depends on nothing but the pair.
    pub(super) fn plain(&'a self) -> Option<AnnotatorScores<'a>> {
        match &self.model {
            ScoreModel::LeastSquares | ScoreModel::BradleyTerry { .. } => {
                Some(AnnotatorScores::Any(self))
            }
            ScoreModel::Huber { .. } => None,
            ScoreModel::Crowd(slopes) => {
                slopes.typical().map(|own| AnnotatorScores::Own(Box::new(own)))
            }
        }
    }

    fn of_vote(&self, left: u32, right: u32, y: f64) -> VoteSlope {
        let d = self.scores[left as usize] - self.scores[right as usize];
        match &self.model {
            ScoreModel::LeastSquares => VoteSlope { gradient: y - d, information: 1.0 },
            ScoreModel::Huber { lambda } => {
                let residual = y - d;
                VoteSlope {
                    gradient: residual.clamp(-lambda, *lambda),
                    information: if residual.abs() <= *lambda { 1.0 } else { 0.0 },
                }
            }
            ScoreModel::BradleyTerry { model, .. } => {
                let terms = model.at(d);
                VoteSlope { gradient: terms.slope[outcome_of(y)], information: terms.information }
            }
            ScoreModel::Crowd(_) => VoteSlope { gradient: 0.0, information: 0.0 },
        }
    }
}
