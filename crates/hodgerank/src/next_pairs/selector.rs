//! The most informative pair, again and again, while pairs are asked and answered.
//!
//! Evaluating all n²/2 gains for each choice would take too long. Each item has a bound instead, such that the gain
//! of a pair is at most the larger bound of its two items. A choice evaluates all pairs of the item with the
//! largest bound, which makes this bound exact, and goes on with the next item until no bound is above the best
//! pair that was found. What happens between choices keeps the bounds valid:
//!
//! - Asking a pair only shrinks variances, and with them gains.
//! - An answer moves the means. The logarithm of a gain changes by no more than the difference of two means does:
//!   v = p(1 − p) has |d ln v/dd| = |1 − 2p| ≤ 1, and the gain is a concave function of vC that is 0 at 0. Items
//!   whose mean moves by more than [`MAX_SHIFT`] lose their bound, which covers all their pairs; for pairs of two
//!   others, bounds grow by as much as two such items can move apart.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::exact::ExactPosterior;
use super::focus::Relevance;
use super::posterior::Posterior;
use super::{MAX_EXACT_ITEMS, validate_items};
use crate::error::Result;

/// The largest shift of a mean, in log-odds, after which an item keeps its bound.
const MAX_SHIFT: f64 = 0.01;
/// Rounding of gains: bounds that are above the best gain by less than this share of it are not pursued.
const ROUNDING: f64 = 1e-12;

/// Chooses pairs one at a time, each given all pairs asked and answers received so far.
#[derive(Debug, Clone)]
pub struct PairSelector {
    exact: ExactPosterior,
    relevance: Relevance,
    bounds: Vec<f64>,
}

/// A pair with the expected information of a vote in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestPair {
    /// The first item.
    pub first: u32,
    /// The second item.
    pub second: u32,
    /// The expected information of a vote.
    pub gain: f64,
}

impl PairSelector {
    /// Starts from a posterior; with `top`, pairs are preferred that help to decide which items are in the first so
    /// many places.
    ///
    /// # Errors
    /// If there are fewer than two items or more than [`MAX_EXACT_ITEMS`], `top` is not a number of places, or a
    /// matrix cannot be factorised.
    pub fn new(posterior: Posterior, top: Option<usize>) -> Result<Self> {
        validate_items(posterior.items(), Some(MAX_EXACT_ITEMS), top)?;
        let exact = ExactPosterior::new(posterior)?;
        let relevance = Relevance::new(exact.posterior(), exact.variances(), top);
        let mut selector = Self { exact, relevance, bounds: Vec::new() };
        let all = |_, _| true;
        let bound = |i: u32| selector.evaluate(i, 0, all).0;
        selector.bounds = (0..selector.items() as u32).into_par_iter().map(bound).collect();
        Ok(selector)
    }

    /// Number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        self.exact.items()
    }

    /// The root mean square of the standard errors of the scores, in log-odds.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.exact.standard_error()
    }

    /// The expected information of a vote on a pair, in nats.
    #[must_use]
    pub fn gain(&self, first: u32, second: u32) -> f64 {
        self.exact.gain(first, second)
    }

    /// The most informative of the pairs that may be asked; equally informative ones in random order.
    pub fn best(
        &mut self,
        rng: &mut ChaCha8Rng,
        may_ask: impl Fn(u32, u32) -> bool,
    ) -> Option<BestPair> {
        let n = self.items();
        let start = rng.random_range(0..n);
        let mut is_evaluated = vec![false; n];
        let mut best: Option<(f64, u32, u32)> = None;
        loop {
            let mut next: Option<usize> = None;
            for i in (start..n).chain(0..start).filter(|&i| !is_evaluated[i]) {
                if next.is_none_or(|next| self.bounds[i] > self.bounds[next]) {
                    next = Some(i);
                }
            }
            let Some(i) = next else { break };
            if best.is_some_and(|(worth, ..)| worth >= self.bounds[i] * (1.0 - ROUNDING)) {
                break;
            }
            is_evaluated[i] = true;
            let (bound, found) = self.evaluate(i as u32, rng.random_range(0..n), &may_ask);
            self.bounds[i] = bound;
            if let Some((worth, j)) = found
                && best.is_none_or(|(most, ..)| worth > most)
            {
                best = Some((worth, i as u32, j));
            }
        }
        best.map(|(_, first, second)| BestPair { first, second, gain: self.gain(first, second) })
    }

    /// Adds the information of a vote on a pair, whatever its answer will be.
    pub fn ask(&mut self, first: u32, second: u32) {
        self.exact.ask(first, second);
    }

    /// Moves the means of the scores by the answer to a pair that was asked: `wins` is 1 if the first item is
    /// preferred, 0 if the second is, ½ for a tie.
    pub fn answer(&mut self, first: u32, second: u32, wins: f64) {
        let shift = self.exact.answer(first, second, wins);
        let kept = shift.iter().map(|shift| shift.abs()).filter(|shift| *shift <= MAX_SHIFT);
        let growth = (2.0 * kept.fold(0.0, f64::max)).exp();
        for (bound, shift) in self.bounds.iter_mut().zip(&shift) {
            *bound = if shift.abs() > MAX_SHIFT { f64::INFINITY } else { *bound * growth };
        }
    }

    /// Evaluates all pairs of an item: the largest weighted gain, and the largest one among pairs that may be asked
    /// with its item. Of equal ones, the first at or after `start` wins.
    fn evaluate(
        &self,
        i: u32,
        start: usize,
        may_ask: impl Fn(u32, u32) -> bool,
    ) -> (f64, Option<(f64, u32)>) {
        let (row, n) = (self.exact.row(i), self.items() as u32);
        let (mut bound, mut best): (f64, Option<(f64, u32)>) = (0.0, None);
        let start = start as u32;
        for j in (start..n).chain(0..start).filter(|&j| j != i) {
            let worth = self.relevance.of(i, j) * self.exact.gain_in_row(i, &row, j);
            bound = bound.max(worth);
            if best.is_none_or(|(most, _)| worth > most) && may_ask(i, j) {
                best = Some((worth, j));
            }
        }
        (bound, best)
    }
}

#[cfg(test)]
impl PairSelector {
    pub(super) fn exact(&self) -> &ExactPosterior {
        &self.exact
    }
}
