//! The most informative pair, again and again, while pairs are asked and answered.
//!
//! Evaluating all n²/2 gains for each choice would take too long. Each item has a bound instead, such that no pair is
//! worth more than the larger bound of its two items. A choice evaluates all pairs of the item with the largest bound
//! and goes on with the next item until no bound is above the best pair that was found. The evaluation makes the
//! bound of the item exact, and raises those of other items to what their pair with it is worth: from then on
//! both bounds of each of these pairs hold. What happens between choices:
//!
//! - Asking a pair only shrinks variances, and with them what pairs are worth.
//! - An answer moves the means by s. The bound of item k is multiplied by exp(2|s_k|). A pair is worth at most
//!   exp(|s_i| + |s_j|) times as much, because v = p(1 − p) has |d ln v/dd| = |1 − 2p| ≤ 1 and the gain is a
//!   concave function of vC that is 0 at 0. So the bound of the item that has moved more, in all, since
//!   both bounds held covers the pair.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::exact::ExactPosterior;
use super::focus::Relevance;
use super::posterior::Posterior;
use super::{MAX_EXACT_ITEMS, expected_gain, validate_items};
use crate::error::Result;

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
        let bound = |i: u32| selector.worths(i).into_iter().fold(0.0, f64::max);
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
        may_ask: &dyn Fn(u32, u32) -> bool,
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
            let (worths, i) = (self.worths(i as u32), i as u32);
            self.bounds[i as usize] = worths.iter().copied().fold(0.0, f64::max);
            let start = rng.random_range(0..n);
            for j in (start..n).chain(0..start).filter(|&j| j != i as usize) {
                let worth = worths[j];
                self.bounds[j] = self.bounds[j].max(worth);
                if best.is_none_or(|(most, ..)| worth > most) && may_ask(i, j as u32) {
                    best = Some((worth, i, j as u32));
                }
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
        for (bound, shift) in self.bounds.iter_mut().zip(&shift) {
            *bound *= (2.0 * shift.abs()).exp();
        }
    }

    /// What the pairs of an item are worth: numbers in the order of their weighted gains. Where all items matter
    /// equally this is vC, with which the gain grows, because it takes less time than the gain.
    fn worths(&self, i: u32) -> Vec<f64> {
        let mut worths = self.exact.information_shares(i);
        if self.relevance.is_weighted() {
            for (worth, j) in worths.iter_mut().zip(0..) {
                *worth = self.relevance.of(i, j) * expected_gain(*worth);
            }
        }
        worths
    }
}

#[cfg(test)]
impl PairSelector {
    pub(super) fn exact(&self) -> &ExactPosterior {
        &self.exact
    }
}
