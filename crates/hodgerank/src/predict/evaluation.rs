//! How well predictions agree with votes that the fit has not seen.
//!
//! With p the predicted probability that the left item is preferred and s = 1 if it was, else 0:
//!
//! | measure | mean over the votes of | for p = ½ |
//! |---|---|---|
//! | log loss | −ln p if s = 1, −ln(1 − p) if s = 0 | ln 2 |
//! | Brier score | (p − s)² | ¼ |
//! | accuracy | 1 if p is on the side of s, ½ if p = ½ | ½ |
//!
//! Calibration compares the mean of p with the share of s = 1, in bins of p. Here the left item is the one
//! with the smaller index, that is the first by label, whichever was shown there: the item of the vote that
//! was preferred must not decide it, and not all files have sides.

use super::{Holdout, Predictor, logistic};
use crate::comparison::Comparison;
use crate::solve::crowd::{AnnotatorClass, Crowd};

/// Bins of the calibration table.
const BINS: usize = 10;

/// Measures of predictions.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Evaluation {
    /// Votes that were predicted.
    pub votes: u64,
    /// The mean of −ln of the probability of what was voted; none without votes.
    pub log_loss: Option<f64>,
    /// The mean squared difference between the probability and what was voted.
    pub brier_score: Option<f64>,
    /// The share of votes for the item that is more probable.
    pub accuracy: Option<f64>,
    /// Predictions and votes in bins of the probability.
    pub calibration: Vec<CalibrationBin>,
}

/// The predictions of one range of probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CalibrationBin {
    /// Lower end of the range.
    pub from: f64,
    /// Upper end, which belongs to the next range, except that 1 belongs to the last.
    pub to: f64,
    /// Votes whose predictions are in the range.
    pub votes: u64,
    /// The mean of these predictions; none without votes.
    pub mean_prediction: Option<f64>,
    /// The share of these votes that prefer the left item.
    pub preferred_left: Option<f64>,
}

/// Sums of the measures.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    votes: u64,
    predicted: f64,
    preferred: u64,
}

impl Evaluation {
    /// The measures of predicting always ½: log loss, Brier score and accuracy.
    pub const BASELINE: [f64; 3] = [std::f64::consts::LN_2, 0.25, 0.5];

    /// Evaluates predictions: log-odds that the left item is preferred, whether it was, and the number of
    /// votes. Sums are added in the order of the list.
    #[must_use]
    pub fn new(predictions: impl IntoIterator<Item = (f64, bool, u64)>) -> Self {
        let [mut log_loss, mut brier, mut right] = [0.0; 3];
        let mut bins = [Sums::default(); BINS];
        for (log_odds, is_left, count) in predictions {
            let weight = count as f64;
            let p = logistic(log_odds);
            let in_favour = if is_left { log_odds } else { -log_odds };
            log_loss += weight * log_one_plus_exp(-in_favour);
            brier += weight * (p - f64::from(u8::from(is_left))).powi(2);
            right +=
                weight * if in_favour == 0.0 { 0.5 } else { f64::from(u8::from(in_favour > 0.0)) };
            let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
            bin.votes += count;
            bin.predicted += weight * p;
            bin.preferred += if is_left { count } else { 0 };
        }
        let votes = bins.iter().map(|bin| bin.votes).sum();
        let mean = |sum: f64| (votes > 0).then(|| sum / votes as f64);
        let calibration = bins.iter().enumerate().map(|(k, bin)| {
            let mean = |sum: f64| (bin.votes > 0).then(|| sum / bin.votes as f64);
            CalibrationBin {
                from: k as f64 / BINS as f64,
                to: (k + 1) as f64 / BINS as f64,
                votes: bin.votes,
                mean_prediction: mean(bin.predicted),
                preferred_left: mean(bin.preferred as f64),
            }
        });
        Self {
            votes,
            log_loss: mean(log_loss),
            brier_score: mean(brier),
            accuracy: mean(right),
            calibration: calibration.collect(),
        }
    }
}

/// ln(1 + eˣ) without overflow.
fn log_one_plus_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// How well held-out votes are predicted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HoldoutEvaluation {
    /// Votes to which the scores were fitted.
    pub training_votes: u64,
    /// Votes that were held out.
    pub held_out_votes: u64,
    /// Those of them that are ties, which are not evaluated.
    pub ties: u64,
    /// Those of them on items that the other votes do not connect, for which there is no prediction.
    pub unconnected: u64,
    /// All other held-out votes, by the probability for somebody of this crowd.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub all: Evaluation,
    /// Those of them by annotators who are judged careful, if annotators are known, by that for a careful annotator.
    pub careful: Option<Evaluation>,
}

impl HoldoutEvaluation {
    /// Evaluates the predictions of a fit to the votes of `holdout.training`. `crowd` says who is careful:
    /// a fit of the method `crowd` to the same votes.
    #[must_use]
    pub fn new(predictor: &Predictor<'_>, holdout: &Holdout, crowd: Option<&Crowd>) -> Self {
        let sum = |votes: &mut dyn Iterator<Item = &Comparison>| votes.map(|vote| vote.count).sum();
        let held_out = || holdout.held_out.iter();
        let mut unconnected = 0;
        let (mut all, mut predicted) = (Vec::new(), Vec::with_capacity(holdout.held_out.len()));
        for vote in held_out().filter(|vote| vote.y != 0.0) {
            let Comparison { left, right, y, count, annotator } = vote.oriented();
            match predictor.log_odds(left, right) {
                Some(log_odds) => {
                    // Without a model of the crowd everybody is predicted as careful.
                    let p = predictor.crowd_probability(left, right);
                    let of_crowd = p.map_or(log_odds, |p| (p / (1.0 - p)).ln());
                    all.push((of_crowd, y > 0.0, count));
                    predicted.push((annotator, (log_odds, y > 0.0, count)));
                }
                None => unconnected += count,
            }
        }
        let careful = crowd.map(|crowd| {
            let is_careful = |annotator: Option<u32>| {
                let estimate = annotator.and_then(|annotator| crowd.position(annotator));
                estimate.is_some_and(|a| crowd.annotators[a].class == AnnotatorClass::Careful)
            };
            let careful = predicted.iter().filter(|(annotator, _)| is_careful(*annotator));
            Evaluation::new(careful.map(|(_, prediction)| *prediction))
        });
        Self {
            training_votes: holdout.training_votes,
            held_out_votes: sum(&mut held_out()),
            ties: sum(&mut held_out().filter(|vote| vote.y == 0.0)),
            unconnected,
            all: Evaluation::new(all),
            careful,
        }
    }
}
