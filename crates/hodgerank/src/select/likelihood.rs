//! Scores and lapse rate of greatest likelihood under Bradley–Terry with lapses.
//!
//! With d = θ_i − θ_j, P(i is preferred) = ε + (1 − 2ε) F(d), F the logistic function. Scores are
//! in units of the scale s. The objective has a weak prior, without which items that always win
//! would run away:
//!
//! ℓ(θ, ε) = Σ_pairs [wins·log P + losses·log(1 − P)] − ½ a ‖θ‖².
//!
//! Optimality: ∂ℓ/∂θ = 0, and ∂ℓ/∂ε = 0 where the rate is free and inside its bounds.
//!
//! Fisher scoring: each step solves a linear system with the expected information ([`direction`]),
//! for the scores and the rate together, and is halved until ℓ rises. One pass over the pairs
//! ([`pass`]) gives ℓ, its gradient and the information at a point.
//!
//! Cost: for each step one pass and a handful of products with the information, each O(pairs);
//! some five steps. Ties do not count.
//!
//! Failure modes: with ε > 0, ℓ has more than one peak; the start decides which one is found. Where
//! an item has some twenty votes, scores drift apart for long, and a climb ends at its limit of steps
//! while ℓ still rises a little.

mod direction;
mod pass;

pub(super) use pass::{SidedVotes, Sides};

use super::lapse::LARGEST_RATE;
use direction::RateChange;
use pass::Slopes;

/// The prior's a: weak, scores have a standard deviation of ten scales. A stronger one makes votes
/// that hardly ever disagree look noisier than they are, and hides their lapses.
const PRIOR: f64 = 0.01;
/// Some five steps do where votes are many; where an item has a dozen, scores keep drifting apart.
const MAX_STEPS: usize = 30;
const MAX_HALVINGS: usize = 6;
/// A rise of ℓ that no longer matters beside [`super::lapse::MIN_GAIN`], or beside ℓ itself:
/// among millions of votes lapses raise it by thousands.
const SMALL_RISE: f64 = 0.002;
const SMALL_SHARE: f64 = 1e-7;
/// A step may make the rate this much smaller: a longer one could end at zero, which ℓ need not
/// want once the scores have moved too.
const MIN_OF_RATE: f64 = 0.25;

/// Scores and lapse rate, and the ℓ that they reach.
#[derive(Debug, Clone)]
pub(super) struct Likeliest {
    pub(super) scores: Vec<f64>,
    pub(super) rate: f64,
    pub(super) value: f64,
    /// Steps that it took.
    pub(super) steps: usize,
}

/// Which parameters a climb may change besides the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rate {
    Fixed,
    Free,
}

/// Least-squares scores, in units in which they are the first step from zero: all that is known
/// there is who won more often.
pub(super) fn least_squares(votes: &mut SidedVotes<'_>) -> Vec<f64> {
    let slopes = votes.slopes(&vec![0.0; votes.items()], 0.0);
    direction::uphill(votes, &slopes, RateChange::Fixed(0.0)).scores
}

/// Uphill from `scores` and `rate`, until a step would raise ℓ by less than `enough(ℓ)`.
pub(super) fn likeliest(
    votes: &mut SidedVotes<'_>,
    scores: Vec<f64>,
    rate: f64,
    which: Rate,
    enough: impl Fn(f64) -> f64,
) -> Likeliest {
    let (mut slopes, value) = at(votes, &scores, rate);
    let mut best = Likeliest { scores, rate, value, steps: 0 };
    for steps in 1..=MAX_STEPS {
        let mut step = match which {
            Rate::Fixed => direction::uphill(votes, &slopes, RateChange::Fixed(0.0)),
            Rate::Free => direction::uphill(votes, &slopes, RateChange::Free),
        };
        let changed = (best.rate + step.rate).clamp(MIN_OF_RATE * best.rate, LARGEST_RATE);
        if which == Rate::Free && changed != best.rate + step.rate {
            let change = RateChange::Fixed(changed - best.rate);
            step = direction::uphill(votes, &slopes, change);
        }
        if step.rise < enough(best.value) {
            break;
        }
        let mut share = 1.0;
        let mut rose = false;
        for _ in 0..=MAX_HALVINGS {
            let moved = best.scores.iter().zip(&step.scores);
            let scores: Vec<f64> = moved.map(|(score, step)| score + share * step).collect();
            let rate = best.rate + share * step.rate;
            let (there, value) = at(votes, &scores, rate);
            if value > best.value {
                (best, slopes, rose) = (Likeliest { scores, rate, value, steps }, there, true);
                break;
            }
            share *= 0.5;
        }
        if !rose {
            break;
        }
    }
    best
}

/// ℓ and its slopes, with the prior's part of the value and of the gradient.
fn at(votes: &mut SidedVotes<'_>, scores: &[f64], rate: f64) -> (Slopes, f64) {
    let mut slopes = votes.slopes(scores, rate);
    let mut squares = 0.0;
    for (gradient, score) in slopes.gradient.iter_mut().zip(scores) {
        *gradient -= PRIOR * score;
        squares += score * score;
    }
    let value = slopes.value - 0.5 * PRIOR * squares;
    (slopes, value)
}

/// Rises of a log-likelihood of this size that do not matter.
pub(super) fn small_rise(value: f64) -> f64 {
    SMALL_RISE.max(SMALL_SHARE * value.abs())
}

#[cfg(test)]
mod tests;
