//! Scores of greatest likelihood under Bradley–Terry with lapses.
//!
//! With d = θ_i − θ_j, P(i is preferred) = ε + (1 − 2ε) F(d), F the logistic function. Scores are
//! in units of the scale s. The objective has a weak prior, without which items that always win
//! would run away:
//!
//! ℓ(θ) = Σ_pairs [wins·log P + losses·log(1 − P)] − ½ a ‖θ‖².
//!
//! Fisher scoring: each step is a weighted least-squares fit with a ridge, with working weights
//! v = (w)(P′)²/(P(1 − P)) and working responses d + (wins/w − P)/P′, halved until ℓ rises.
//!
//! Cost: a linear system in the items for each step, a handful of steps. Ties do not count.
//!
//! Failure modes: with ε > 0, ℓ has more than one peak; the start decides which one is found.

use rayon::prelude::*;

use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::solve::{RidgeOptions, ridge};

/// The prior's a: weak, scores have a standard deviation of ten scales. A stronger one makes votes
/// that hardly ever disagree look noisier than they are, and hides their lapses.
const PRIOR: f64 = 0.01;
const MOST_STEPS: usize = 12;
const MOST_HALVINGS: usize = 6;
/// A rise of ℓ that no longer matters beside [`super::lapse::LEAST_GAIN`], or beside ℓ itself:
/// among millions of votes lapses raise it by thousands.
const SMALL_RISE: f64 = 0.02;
const SMALL_SHARE: f64 = 1e-7;
/// A step is one of several: it needs no more digits than this.
const STEP_TOLERANCE: f64 = 1e-6;
/// Pairs whose log-likelihood one task adds up. Fixed, so that sums do not depend on threads.
const PAIRS_PER_TASK: usize = 1 << 16;

/// Votes on each pair of items, by side.
#[derive(Debug, Clone, Default)]
pub(super) struct SidedVotes {
    items: usize,
    left: Vec<u32>,
    right: Vec<u32>,
    wins: Vec<f64>,
    losses: Vec<f64>,
}

/// Scores, and the ℓ that they reach.
#[derive(Debug, Clone)]
pub(super) struct Likeliest {
    pub(super) scores: Vec<f64>,
    pub(super) value: f64,
}

impl SidedVotes {
    /// The votes of `groups` that are no ties. Groups on one pair stand side by side.
    pub(super) fn new(items: usize, groups: &Groups) -> Self {
        let mut votes = Self { items, ..Self::default() };
        for g in (0..groups.len()).filter(|&g| groups.y[g] != 0.0) {
            let pair = (groups.left[g], groups.right[g]);
            if votes.left.last().zip(votes.right.last()) != Some((&pair.0, &pair.1)) {
                votes.left.push(pair.0);
                votes.right.push(pair.1);
                votes.wins.push(0.0);
                votes.losses.push(0.0);
            }
            let side = if groups.y[g] > 0.0 { &mut votes.wins } else { &mut votes.losses };
            *side.last_mut().expect("a pair was pushed") += groups.weight[g];
        }
        votes
    }

    /// The scores of greatest likelihood for lapse rate `rate`, uphill from `start`.
    pub(super) fn likeliest(&self, rate: f64, start: &[f64]) -> Result<Likeliest> {
        let mut best = Likeliest { scores: start.to_vec(), value: self.value(rate, start) };
        for _ in 0..MOST_STEPS {
            let mut scores = self.step(rate, &best.scores)?;
            let mut value = self.value(rate, &scores);
            for _ in 0..MOST_HALVINGS {
                if value > best.value {
                    break;
                }
                scores.iter_mut().zip(&best.scores).for_each(|(to, from)| *to = 0.5 * (*to + from));
                value = self.value(rate, &scores);
            }
            let rise = value - best.value;
            if rise > 0.0 {
                best = Likeliest { scores, value };
            }
            if rise < small_rise(best.value) {
                break;
            }
        }
        Ok(best)
    }

    /// ℓ(θ).
    fn value(&self, rate: f64, scores: &[f64]) -> f64 {
        let log = |votes: f64, p: f64| if votes == 0.0 { 0.0 } else { votes * p.max(1e-300).ln() };
        let of_pair = |k: usize| {
            let (p, q, _) = probability(rate, self.difference(scores, k));
            log(self.wins[k], p) + log(self.losses[k], q)
        };
        let pairs = self.left.len();
        let tasks = (0..pairs.div_ceil(PAIRS_PER_TASK)).into_par_iter().map(|task| {
            let first = task * PAIRS_PER_TASK;
            (first..pairs.min(first + PAIRS_PER_TASK)).map(of_pair).sum::<f64>()
        });
        let sums: Vec<f64> = tasks.collect();
        sums.iter().sum::<f64>()
            - 0.5 * PRIOR * scores.iter().map(|score| score * score).sum::<f64>()
    }

    /// One step of Fisher scoring.
    fn step(&self, rate: f64, scores: &[f64]) -> Result<Vec<f64>> {
        let pairs = self.left.len();
        let (mut weight, mut response) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
        for k in 0..pairs {
            let d = self.difference(scores, k);
            let (p, q, slope) = probability(rate, d);
            let votes = self.wins[k] + self.losses[k];
            // A pair on which P is all but certain says next to nothing, but must not say nothing.
            let information = (slope * slope / (p * q)).max(1e-9);
            let pull = self.wins[k] / p - self.losses[k] / q;
            weight.push(votes * information);
            response.push(d + slope * pull / (votes * information));
        }
        let (left, right) = (self.left.clone(), self.right.clone());
        let working = Groups { left, right, y: response, weight };
        let graph = ComparisonGraph::new(self.items, working)?;
        let options =
            RidgeOptions { ridge: PRIOR, tolerance: STEP_TOLERANCE, ..RidgeOptions::default() };
        Ok(ridge::solve(&graph, &options)?.scores)
    }

    fn difference(&self, scores: &[f64], k: usize) -> f64 {
        scores[self.left[k] as usize] - scores[self.right[k] as usize]
    }
}

/// Rises of a log-likelihood of this size that do not matter.
pub(super) fn small_rise(value: f64) -> f64 {
    SMALL_RISE.max(SMALL_SHARE * value.abs())
}

/// P, 1 − P and P′ at the difference `d`.
fn probability(rate: f64, d: f64) -> (f64, f64, f64) {
    // Beyond 30 scales the logistic function is 0 or 1 to the last digit but one.
    let d = d.clamp(-30.0, 30.0);
    let (f, g) = (1.0 / (1.0 + (-d).exp()), 1.0 / (1.0 + d.exp()));
    let share = 1.0 - 2.0 * rate;
    (rate + share * f, rate + share * g, share * f * g)
}
