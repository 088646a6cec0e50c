//! Annotators who follow scores of their own: a second taste.
//!
//! Where the votes divide into two camps, the search can end at the scores of the smaller one, whose
//! members then look careful and all others random. So the annotators who do not follow the scores are
//! asked for theirs: if these explain their votes much better than their behaviours do, there are two
//! tastes. Camps of similar size are found by how annotators differ from the scores (`camps.rs`). Each annotator then has one of them with a probability t,
//!
//! t = τ P(votes at the other scores) / (τ P(votes at the other scores) + (1 − τ) P(votes by behaviour)),
//!
//! τ, both scores and t are estimated in turn, and the taste that more annotators follow gives the ranking.

use rayon::prelude::*;

use super::camps;
use super::likelihood::POINTS;
use super::newton::NewtonStep;
use super::search::Search;
use crate::error::Result;
use crate::numeric;
use crate::solve::bradley_terry::NeedsValue;

/// A second taste has at least so many annotators, and this share of all.
const MIN_ANNOTATORS: f64 = 3.0;
const MIN_SHARE: f64 = 0.1;
/// Annotators whose answers follow the scores less than this may have another taste.
const MIN_FOLLOWS: f64 = 0.5;
/// How many standard deviations the gain of n − 1 more scores must be above its mean by chance.
const MIN_DEVIATIONS: f64 = 3.0;
/// Two camps must gain so many times as much as one second taste: both have scores of their own, but those that
/// the search has found are one of them.
const GAIN_OF_CAMPS: f64 = 1.5;
/// Newton steps for scores from nothing, and after a change of who follows them.
const FIRST_STEPS: usize = 6;
const STEPS: usize = 2;
const ROUNDS: usize = 4;
/// Camps whose scores are more alike have the same taste, and differ in how clear-cut they vote.
const MAX_CORRELATION: f64 = 0.7;

/// A second taste.
#[derive(Debug, Clone)]
pub(super) struct OtherTaste {
    pub(super) scores: Vec<f64>,
    /// t of each block.
    pub(super) probability: Vec<f64>,
}

/// Looks for a second taste; the ranking is then that of the larger camp.
pub(super) fn find(search: &mut Search<'_>) -> Result<Option<OtherTaste>> {
    if let Some(mut other) = find_camps(search)? {
        estimate(search, &mut other)?;
        return Ok(Some(other));
    }
    let candidates: Vec<f64> = (0..search.blocks.len()).map(|b| candidate(search, b)).collect();
    let mut sums = [numeric::sum(&candidates), search.annotators() as f64];
    search.communicator().sum(&mut sums);
    if sums[0] < MIN_ANNOTATORS.max(MIN_SHARE * sums[1]) {
        return Ok(None);
    }
    let mut other = OtherTaste { scores: vec![0.0; search.scores.len()], probability: candidates };
    for _ in 0..FIRST_STEPS {
        let before = gain_of(search, &other);
        let step = follow(search, &mut other, 1)?;
        if !can_be_supported(search, before, &step) {
            return Ok(None);
        }
    }
    if gain_of(search, &other) <= min_gain(search) {
        return Ok(None);
    }
    estimate(search, &mut other)?;
    Ok(Some(other))
}

/// Two camps of similar size, if there are any: the scores are then those of the larger one.
fn find_camps(search: &mut Search<'_>) -> Result<Option<OtherTaste>> {
    if search.answers.graded().is_some() {
        return Ok(None);
    }
    let Some(probability) = camps::find(search) else { return Ok(None) };
    let is_annotator = |block: usize| if block < search.annotators() { 1.0 } else { 0.0 };
    let rest: Vec<f64> =
        probability.iter().enumerate().map(|(block, t)| is_annotator(block) - t).collect();
    let items = search.scores.len();
    let mut camp = |probability: Vec<f64>| {
        let mut camp = OtherTaste { scores: vec![0.0; items], probability };
        follow(search, &mut camp, FIRST_STEPS)?;
        Ok::<_, crate::Error>(camp)
    };
    let (other, main) = (camp(probability)?, camp(rest)?);
    let size = numeric::norm(&other.scores) * numeric::norm(&main.scores);
    if numeric::dot(&other.scores, &main.scores) > MAX_CORRELATION * size {
        return Ok(None);
    }
    let gain = gain_of(search, &other) + gain_of(search, &main);
    if gain <= GAIN_OF_CAMPS * min_gain(search) {
        return Ok(None);
    }
    search.scores = main.scores;
    search.discount(&other.probability);
    search.restart_behaviours();
    Ok(Some(other))
}

/// Estimates who has which taste, and the scores of both.
fn estimate(search: &mut Search<'_>, other: &mut OtherTaste) -> Result<()> {
    for _ in 0..ROUNDS {
        assign(search, other);
        if size(search, &other.probability) > honest(search) {
            exchange(search, other);
        }
        for _ in 0..STEPS {
            search.update_behaviours();
            search.step()?;
        }
        follow(search, other, STEPS)?;
    }
    search.update_behaviours();
    Ok(())
}

/// 1 for annotators who follow neither the scores nor a side.
fn candidate(search: &Search<'_>, block: usize) -> f64 {
    if block >= search.annotators() {
        return 0.0;
    }
    let row = search.points.iter().zip(&search.responsibility[block]);
    let one_sided: f64 =
        row.map(|(point, &r)| if point.left == point.right { 0.0 } else { f64::from(r) }).sum();
    // Contrary people follow the scores too, in reverse.
    if one_sided < 0.5 && search.follows(block).abs() < MIN_FOLLOWS { 1.0 } else { 0.0 }
}

fn size(search: &Search<'_>, probability: &[f64]) -> f64 {
    search.communicator().sum_scalar(numeric::sum(probability))
}

/// Number of annotators who follow the scores.
fn honest(search: &Search<'_>) -> f64 {
    let of = |annotator: usize| search.follows(annotator).max(0.0);
    search.communicator().sum_scalar((0..search.annotators()).map(of).sum())
}

/// Newton steps in the other scores, with votes weighted by t. Returns the last one.
fn follow(search: &mut Search<'_>, other: &mut OtherTaste, steps: usize) -> Result<NewtonStep> {
    let row = |&t: &f64| {
        let mut row = [0.0; POINTS];
        row[0] = t as f32;
        row
    };
    let responsibility: Vec<[f32; POINTS]> = other.probability.iter().map(row).collect();
    let mut last = NewtonStep::default();
    for _ in 0..steps {
        let pass = search.pair_pass(&other.scores, NeedsValue::No);
        let slopes = search.slopes(&other.scores, &responsibility, &pass);
        last = search.newton_step(&slopes, &pass)?;
        other.scores.iter_mut().zip(&last.step).for_each(|(score, step)| *score += step);
    }
    Ok(last)
}

/// Whether further steps may show a second taste, after a step from scores with this gain.
///
/// The step predicts by how much the best scores explain more. The log-likelihood is concave, and less
/// curved farther away: even of votes that never contradict each other it rises by less than [`MAX_RISE`]
/// times as much.
fn can_be_supported(search: &Search<'_>, gain: f64, step: &NewtonStep) -> bool {
    const MAX_RISE: f64 = 2.0;
    if search.answers.graded().is_some() || step.is_shortened {
        return true;
    }
    let rise = MAX_RISE * 0.5 * numeric::dot(&step.gradient, &step.step);
    gain + rise > min_gain(search)
}

/// By how much the other scores explain the votes of those who follow them better than their behaviours do.
fn gain_of(search: &Search<'_>, other: &OtherTaste) -> f64 {
    let is_skipped = |block: usize| other.probability[block] == 0.0;
    let at_other = search.likelihoods_at(&other.scores, is_skipped);
    gain(search, other, |block| at_other.logs[block].careful)
}

/// By how much the log-likelihood rises if annotators follow the other scores, at which their votes have
/// these log-likelihoods, instead of their behaviours.
fn gain(search: &Search<'_>, other: &OtherTaste, log_likelihood: impl Fn(usize) -> f64) -> f64 {
    let values = search.shares.log_likelihoods(&search.evidence());
    // Behaviours have their shares, and so has the taste: without it, random people would have one.
    let all = search.communicator().sum_scalar(search.annotators() as f64);
    let log_share = (size(search, &other.probability) / all.max(1.0)).ln();
    let blocks = other.probability.iter().zip(values).enumerate().filter(|(_, (t, _))| **t > 0.0);
    let gains = blocks.map(|(block, (&t, value))| t * (log_share + log_likelihood(block) - value));
    search.communicator().sum_scalar(gains.sum())
}

/// The gain from which a second taste is no coincidence: it has a score for every item.
fn min_gain(search: &Search<'_>) -> f64 {
    let by_chance = 0.5 * (search.scores.len() as f64 - 1.0);
    by_chance + MIN_DEVIATIONS * by_chance.sqrt()
}

/// Estimates τ and t; annotators count by 1 − t.
fn assign(search: &mut Search<'_>, other: &mut OtherTaste) {
    let annotators = search.annotators();
    let at_other = search.likelihoods_at(&other.scores, |_| false);
    let values = search.shares.log_likelihoods(&search.evidence());
    let all = search.communicator().sum_scalar(annotators as f64);
    // Half an annotator of each taste before any vote.
    let share = (size(search, &other.probability) + 0.5) / (all + 1.0);
    let log_odds = (share / (1.0 - share)).ln();
    let probability = |block: usize| {
        let log_odds = log_odds + at_other.logs[block].careful - values[block];
        if block < annotators { 1.0 / (1.0 + (-log_odds).exp()) } else { 0.0 }
    };
    other.probability = (0..values.len()).into_par_iter().map(probability).collect();
    search.discount(&other.probability);
}

/// The other taste gives the ranking; those who followed the scores now have the other taste.
fn exchange(search: &mut Search<'_>, other: &mut OtherTaste) {
    search.update_behaviours();
    let annotators = search.annotators();
    let follows =
        |block: usize| if block < annotators { search.follows(block).clamp(0.0, 1.0) } else { 0.0 };
    other.probability = (0..search.blocks.len()).map(follows).collect();
    std::mem::swap(&mut search.scores, &mut other.scores);
    search.discount(&other.probability);
    search.restart_behaviours();
}
