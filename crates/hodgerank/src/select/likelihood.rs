//! Maximum-likelihood scores and lapse rate under Bradley–Terry with lapses.
//!
//! With d = θ_i − θ_j, P(i is preferred) = ε + (1 − 2ε) F(d), F the logistic function. Scores are
//! in units of the scale s. The objective has a weak prior, without which the scores of items that
//! always win would diverge:
//!
//! ℓ(θ, ε) = Σ_pairs [wins·log P + losses·log(1 − P)] − ½ a ‖θ‖².
//!
//! Optimality: ∂ℓ/∂θ = 0, and ∂ℓ/∂ε = 0 if the rate is free and inside its bounds.
//!
//! Fisher scoring: each step solves a linear system with the expected information ([`direction`]),
//! for the scores and the rate together, and is halved until ℓ increases. One pass over the pairs
//! ([`pass`]) computes ℓ, its gradient and the information at a point.
//!
//! Cost: for each step one pass and a few products with the information, each O(pairs); about five
//! steps. Ties are ignored.
//!
//! Failure modes: with ε > 0, ℓ has several local maxima; the start decides which one is found. With
//! about twenty votes per item convergence is slow, and the search may reach its limit of steps while
//! ℓ still increases slightly.

mod direction;
mod pass;

pub(super) use pass::SidedPairs;
pub(crate) use pass::SidedVotes;

use direction::RateChange;
use pass::LikelihoodSlopes;

/// Largest lapse rate: at one half votes carry no information.
pub(super) const MAX_RATE: f64 = 0.45;

/// The precision a of the prior: weak, a standard deviation of ten scales. A stronger prior makes
/// votes that rarely disagree look noisier than they are, and hides their lapses.
const PRIOR: f64 = 0.01;
/// Five steps suffice with many votes; with a dozen votes per item convergence is slow.
const MAX_STEPS: usize = 30;
const MAX_HALVINGS: usize = 6;
/// Gains of ℓ that are negligible relative to [`super::lapse::MIN_GAIN`], and relative to ℓ: with
/// millions of votes lapses raise it by thousands.
const NEGLIGIBLE_GAIN: f64 = 0.002;
const NEGLIGIBLE_RELATIVE_GAIN: f64 = 1e-7;
/// Largest slope at the end of a step, relative to that at its start, for which ℓ need not be computed.
const MAX_END_SLOPE: f64 = 0.25;
/// Smallest factor by which a step may reduce the rate: a longer step could end at zero, which may
/// not be optimal for the new scores.
const MIN_RATE_FACTOR: f64 = 0.25;

/// Scores and lapse rate of (locally) maximal ℓ.
#[derive(Debug, Clone)]
pub(super) struct MaximumLikelihood {
    pub(super) scores: Vec<f64>,
    pub(super) rate: f64,
    pub(super) value: f64,
    /// Number of steps.
    pub(super) steps: usize,
}

/// Whether the lapse rate is optimised together with the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rate {
    Fixed,
    Free,
}

/// Least-squares scores, up to scale: the first step from scores of zero, where ℓ depends on wins
/// less losses only.
pub(super) fn least_squares(votes: &mut SidedVotes<'_>) -> Vec<f64> {
    let slopes = votes.slopes(&vec![0.0; votes.items()], 0.0);
    direction::ascent_direction(votes, &slopes, RateChange::Fixed(0.0)).scores
}

/// Maximises ℓ from `scores` and `rate` until the predicted gain of a step is below `tolerance(ℓ)`.
///
/// If the slope along a step is small at its end, ℓ is nearly a parabola along it and has increased by about
/// the mean of both slopes. Only where it is not, and at the end, is ℓ itself computed.
pub(super) fn maximise(
    votes: &mut SidedVotes<'_>,
    scores: Vec<f64>,
    rate: f64,
    which: Rate,
    tolerance: impl Fn(f64) -> f64,
) -> MaximumLikelihood {
    let (mut slopes, value) = evaluate(votes, &scores, rate);
    let mut best = MaximumLikelihood { scores, rate, value, steps: 0 };
    let mut is_exact = true;
    for steps in 1..=MAX_STEPS {
        let mut step = match which {
            Rate::Fixed => direction::ascent_direction(votes, &slopes, RateChange::Fixed(0.0)),
            Rate::Free => direction::ascent_direction(votes, &slopes, RateChange::Free),
        };
        let changed = (best.rate + step.rate).clamp(MIN_RATE_FACTOR * best.rate, MAX_RATE);
        if which == Rate::Free && changed != best.rate + step.rate {
            let change = RateChange::Fixed(changed - best.rate);
            step = direction::ascent_direction(votes, &slopes, change);
        }
        if step.predicted_gain < tolerance(best.value) {
            break;
        }
        let end = |length: f64| -> (Vec<f64>, f64) {
            let moved = best.scores.iter().zip(&step.scores);
            let scores = moved.map(|(score, step)| score + length * step).collect();
            (scores, best.rate + length * step.rate)
        };
        let (scores, rate) = end(1.0);
        let there = evaluate_slopes(votes, &scores, rate);
        let (before, after) = (2.0 * step.predicted_gain, there.along(&step));
        if after.abs() <= MAX_END_SLOPE * before {
            let value = best.value + 0.5 * (before + after);
            best = MaximumLikelihood { scores, rate, value, steps };
            (slopes, is_exact) = (there, false);
            continue;
        }
        if !is_exact {
            (best.value, is_exact) = (evaluate(votes, &best.scores, best.rate).1, true);
        }
        let mut length = 1.0;
        let mut has_increased = false;
        for _ in 0..=MAX_HALVINGS {
            let (scores, rate) = end(length);
            let (there, value) = evaluate(votes, &scores, rate);
            if value > best.value {
                best = MaximumLikelihood { scores, rate, value, steps };
                (slopes, has_increased) = (there, true);
                break;
            }
            length *= 0.5;
        }
        if !has_increased {
            break;
        }
    }
    if !is_exact {
        best.value = evaluate(votes, &best.scores, best.rate).1;
    }
    best
}

/// ℓ and its slopes, including the prior.
fn evaluate(votes: &mut SidedVotes<'_>, scores: &[f64], rate: f64) -> (LikelihoodSlopes, f64) {
    let mut slopes = votes.slopes(scores, rate);
    let squares = add_prior(&mut slopes, scores);
    let value = slopes.value - 0.5 * PRIOR * squares;
    (slopes, value)
}

/// The slopes of ℓ, including the prior.
fn evaluate_slopes(votes: &mut SidedVotes<'_>, scores: &[f64], rate: f64) -> LikelihoodSlopes {
    let mut slopes = votes.slopes_without_value(scores, rate);
    add_prior(&mut slopes, scores);
    slopes
}

/// Adds the slope of the prior; returns ‖θ‖².
fn add_prior(slopes: &mut LikelihoodSlopes, scores: &[f64]) -> f64 {
    let mut squares = 0.0;
    for (gradient, score) in slopes.gradient.iter_mut().zip(scores) {
        *gradient -= PRIOR * score;
        squares += score * score;
    }
    squares
}

/// Gains of ℓ below this are negligible where ℓ is `value`.
pub(crate) fn negligible_gain(value: f64) -> f64 {
    NEGLIGIBLE_GAIN.max(NEGLIGIBLE_RELATIVE_GAIN * value.abs())
}

#[cfg(test)]
mod tests;
