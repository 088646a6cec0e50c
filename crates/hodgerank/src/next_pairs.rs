//! Which pairs to ask next: those whose votes are expected to tell most about the scores.
//!
//! The scores, in log-odds, have an approximately normal posterior N(μ, S). S⁻¹ = H = Σ w v x xᵀ + a I, where
//! the sum is over compared pairs, x has +1 at one item and −1 at the other, w is the number of votes that
//! count, v = p(1 − p) is the information of one vote, and a is the precision of a prior: items are
//! expected to differ as much as those with votes do (`posterior.rs`). A vote on a pair with d = xᵀμ and C = xᵀSx moves the
//! mean by Sx (y − p)/(1 + vC) and adds v x xᵀ to H. The expected divergence of the new posterior from the
//! old one is the gain of the pair:
//!
//! E ½ [(y − p)² C/(1 + vC)² + ln(1 + vC) − vC/(1 + vC)],  E (y − p)² = v.
//!
//! This is the criterion of Xu, Xiong, Chen, Huang and Yao (AAAI 2018) with the likelihood of the votes in
//! place of least squares. It grows with C and with v: a pair is worth asking if its answer is open and the
//! items are not well known.
//!
//! A batch is chosen greedily. H after a pair does not depend on the answer, so that each pair is judged as if
//! those before it had been asked: pairs do not repeat each other's information. Where answers arrive while pairs
//! are chosen, a [`PairSelector`] takes them into account one by one.
//!
//! | case | how | cost for k pairs of n items | file |
//! |---|---|---|---|
//! | up to [`MAX_EXACT_ITEMS`] items | exact covariance | n³ to start, then about nk | `selector.rs`, `exact.rs` |
//! | more | variances of single items, neighbours in the ranking | (n + k) log n | `many_items.rs` |
//! | no votes | cycles through all items in random order | n + k | `design.rs` |
//!
//! Failure modes: the posterior of an item that never lost is only as wide as the prior lets it be. With more
//! than [`MAX_EXACT_ITEMS`] items correlations of scores are ignored, so that a group of items that few votes
//! connect with the others is not recognised.

mod assignment;
mod design;
mod exact;
mod focus;
mod many_items;
mod posterior;
mod selector;
mod sides;
#[cfg(test)]
mod tests;

pub use assignment::Assignment;
pub use posterior::{PairVotes, Posterior};
pub use selector::{BestPair, PairSelector};
pub use sides::SideBalance;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::{Error, Result};
use crate::predict::logistic;

/// Most items for which the covariance of all scores is kept.
pub const MAX_EXACT_ITEMS: usize = 2048;

/// What to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextPairsOptions {
    /// How many pairs.
    pub pairs: usize,
    /// Prefer pairs that help to decide which items are in the first so many places.
    pub top: Option<usize>,
    /// Decides between equally informative pairs, and which item is shown on the left where both sides are
    /// equally good.
    pub seed: u64,
}

/// A pair to ask, with its items on the sides where they should be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextPair {
    /// The item on the left.
    pub left: u32,
    /// The item on the right.
    pub right: u32,
    /// The expected information of a vote in nats, once the pairs before this one have been asked.
    pub gain: f64,
    /// The probability that the left item is preferred.
    pub probability: f64,
    /// Who is asked: an index into the annotators of the [`Assignment`].
    pub annotator: Option<u32>,
}

/// The pairs to ask, the most informative first.
#[derive(Debug, Clone, PartialEq)]
pub struct NextPairs {
    /// The pairs.
    pub pairs: Vec<NextPair>,
    /// The root mean square of the standard errors of the scores, in log-odds, before the pairs are asked.
    pub se_before: f64,
    /// The same when all have been asked.
    pub se_after: f64,
    /// Whether correlations of scores were ignored because there are many items.
    pub is_approximate: bool,
}

/// Chooses the pairs to ask next. Each pair is given to somebody who has not been asked it, if there is an
/// `assignment`; there are fewer pairs than asked for if nobody is left.
///
/// # Errors
/// If there are fewer than two items, no pairs are asked for, or `top` is not a number of places.
pub fn next_pairs(
    posterior: &Posterior,
    sides: &mut SideBalance,
    assignment: Option<&mut Assignment>,
    options: &NextPairsOptions,
) -> Result<NextPairs> {
    options.validate(posterior.items())?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut batch =
        Batch { posterior, sides, assignment, wanted: options.pairs, pairs: Vec::new() };
    let is_approximate = posterior.items() > MAX_EXACT_ITEMS;
    let (se_before, se_after) = if is_approximate {
        many_items::choose(posterior, options, &mut batch, &mut rng)
    } else {
        let mut selector = PairSelector::new(posterior.clone(), options.top)?;
        let before = selector.standard_error();
        if posterior.has_votes() || options.top.is_some() {
            while !batch.is_full() {
                let best = selector.best(&mut rng, &|i, j| batch.can_ask(i, j));
                let Some(BestPair { first, second, gain }) = best else { break };
                batch.offer(first, second, gain, &mut rng);
                selector.ask(first, second);
            }
        } else {
            for (i, j) in design::connected(posterior.items(), options.pairs, &mut rng) {
                let gain = selector.gain(i, j);
                if batch.offer(i, j, gain, &mut rng) {
                    selector.ask(i, j);
                }
            }
        }
        (before, selector.standard_error())
    };
    Ok(NextPairs { pairs: batch.pairs, se_before, se_after, is_approximate })
}

impl NextPairsOptions {
    fn validate(&self, items: usize) -> Result<()> {
        if self.pairs == 0 {
            return refuse("pairs", 0, "1 or more");
        }
        validate_items(items, None, self.top)
    }
}

/// Checks the number of items, and that `top` is a number of places among them.
fn validate_items(items: usize, max: Option<usize>, top: Option<usize>) -> Result<()> {
    if items < 2 {
        return refuse("items", items, "two items or more");
    }
    if max.is_some_and(|max| items > max) {
        return refuse("items", items, "at most 2,048 items, whose covariance is kept");
    }
    match top {
        Some(top) if top == 0 || top >= items => {
            refuse("focus", top, "top=K with K from 1 to one less than the number of items")
        }
        _ => Ok(()),
    }
}

fn refuse(option: &'static str, value: usize, expected: &'static str) -> Result<()> {
    Err(Error::BadOption { option, value: value.to_string(), expected })
}

/// The pairs chosen so far.
struct Batch<'a> {
    posterior: &'a Posterior,
    sides: &'a mut SideBalance,
    assignment: Option<&'a mut Assignment>,
    wanted: usize,
    pairs: Vec<NextPair>,
}

impl Batch<'_> {
    fn is_full(&self) -> bool {
        self.pairs.len() >= self.wanted
    }

    /// Whether there is somebody to ask.
    fn can_ask(&self, i: u32, j: u32) -> bool {
        self.assignment.as_ref().is_none_or(|assignment| assignment.can_take(i, j))
    }

    /// Adds a pair; returns whether there is somebody to ask.
    fn offer(&mut self, i: u32, j: u32, gain: f64, rng: &mut ChaCha8Rng) -> bool {
        let annotator = match &mut self.assignment {
            None => None,
            Some(assignment) => match assignment.take(i, j) {
                None => return false,
                someone => someone,
            },
        };
        let (left, right) = self.sides.orient(i, j, rng);
        let probability = logistic(self.posterior.difference(left, right));
        self.pairs.push(NextPair { left, right, gain, probability, annotator });
        true
    }
}

/// The expected information of a vote in nats, given vC: its information times the variance of the difference.
fn expected_gain(vc: f64) -> f64 {
    let shrink = 1.0 / (1.0 + vc);
    0.5 * (vc.ln_1p() - vc * shrink + vc * shrink * shrink)
}

/// p(1 − p), the information of a vote.
fn vote_information(difference: f64) -> f64 {
    let p = logistic(difference);
    p * (1.0 - p)
}
