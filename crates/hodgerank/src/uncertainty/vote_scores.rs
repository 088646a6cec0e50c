//! The slope of each vote at the fit of a method: what it adds to the estimating equations.
//!
//! | method | slope of a vote in d = θ_left − θ_right | information |
//! |---|---|---|
//! | `l2` | r = y − d | 1 |
//! | `hlasso` | r, but at most λ in size | 1 if \|r\| ≤ λ, else 0 |
//! | `bt` | h (s − E s), s = 1, ½, 0 for a win, a tie and a loss, h the probability that the vote is honest | that of the votes with lapses |
//! | `crowd` | by the behaviour of its annotator (`solve/crowd/influence.rs`) | expected, given the behaviour |
//!
//! Other methods decide which votes count and then ignore the others. Slopes at their fit say nothing about
//! that decision, so that intervals from them are too narrow.

use crate::fit::{Fit, Model};
use crate::graph::ComparisonGraph;
use crate::solve::Method;
use crate::solve::bradley_terry::{BradleyTerryEstimates, GraphPrior, HonestVote};
use crate::solve::crowd::{CrowdSlopes, VoteSlope, VoterSlopes};

/// Slopes of the votes of a fit.
pub(super) struct VoteScores<'a> {
    scores: &'a [f64],
    model: ScoreModel<'a>,
}

enum ScoreModel<'a> {
    LeastSquares,
    Huber { lambda: f64 },
    BradleyTerry { estimates: BradleyTerryEstimates, tie_share: f64 },
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
                let tie_share = ties / graph.votes().max(1.0);
                ScoreModel::BradleyTerry { estimates: *estimates, tie_share }
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

    /// The information of the prior about the difference of each pair, if there is a prior.
    pub(super) fn prior(&self, graph: &ComparisonGraph) -> Option<Vec<f64>> {
        let lambda = match &self.model {
            ScoreModel::LeastSquares | ScoreModel::Huber { .. } => return None,
            // Scores were stretched after the prior had its say.
            ScoreModel::BradleyTerry { estimates, .. } => {
                estimates.prior / estimates.stretch.powi(2)
            }
            ScoreModel::Crowd(slopes) => slopes.crowd().estimates.prior,
        };
        let mut weights = GraphPrior::new(graph).weights;
        weights.iter_mut().for_each(|weight| *weight *= lambda);
        Some(weights)
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
                None => VoteSlope { gradient: 2.0, information: 2.0 },
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
                slopes.careful().map(|own| AnnotatorScores::Own(Box::new(own)))
            }
        }
    }

    /// Whether all votes of an annotator are plain, if any are.
    pub(super) fn is_plain(&self, annotator: u32) -> bool {
        match &self.model {
            ScoreModel::LeastSquares | ScoreModel::BradleyTerry { .. } => true,
            ScoreModel::Huber { .. } => false,
            ScoreModel::Crowd(slopes) => slopes.is_careful(annotator),
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
            ScoreModel::BradleyTerry { estimates, tie_share } => {
                lapse_slope(d, y, estimates, *tie_share)
            }
            ScoreModel::Crowd(_) => VoteSlope { gradient: 0.0, information: 0.0 },
        }
    }
}

/// The slope of a vote that is a lapse with a probability, and the information of such votes.
fn lapse_slope(d: f64, y: f64, estimates: &BradleyTerryEstimates, tie_share: f64) -> VoteSlope {
    let honest = HonestVote::new(d, estimates.tie_odds);
    let rate = estimates.lapse_rate;
    let side = 0.5 * rate * (1.0 - tie_share);
    let expected = honest.expected();
    // The probability of each outcome, and its slope.
    let outcome = |honest: f64, lapse: f64, s: f64| {
        let own = (1.0 - rate) * honest;
        let all = own + lapse;
        (all, if all > 0.0 { own / all * (s - expected) } else { 0.0 })
    };
    let win = outcome(honest.win, side, 1.0);
    let loss = outcome(honest.loss, side, 0.0);
    let tie = outcome(honest.tie, rate * tie_share, 0.5);
    let information = [win, loss, tie].iter().map(|(p, slope)| p * slope * slope).sum();
    let gradient = match y {
        y if y > 0.0 => win.1,
        y if y < 0.0 => loss.1,
        _ => tie.1,
    };
    VoteSlope { gradient, information }
}
