//! The link from differences of scores to votes of the crowd, fitted to votes that the scores have not seen.
//!
//! The votes of a pair with the same outcome are dealt to ten folds; where there are several, a fold has the same part
//! of each, so that the order of annotators makes no difference. The scores are estimated again without the votes of a
//! fold, with the same prior and the same people, and these votes are then compared with the differences of those scores.
//! Leaving out one vote at a time without a new fit (`leave_one_out.rs`) would make predictions too certain
//! where items have few votes: it supposes that the information of the other votes does not change.
//!
//! Where items have so many votes that leaving one out changes nothing, or where there are so many items that new
//! fits take long, votes are left out one at a time after all.
//!
//! Cost: ten fits that start at the scores; fewer, if these have more than `evaluated_votes` votes.

use super::choose::left_out_of;
use super::leave_one_out::{FEW_ITEMS, has_small_leverages, hash};
use super::link::{Link, LinkedVote};
use super::newton::{Newton, TO_COMPARE};
use super::tuning::TUNING;
use super::votes::{Cell, Outcomes, VotesByPair};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::graph::Pairs;

const FOLDS: u64 = 10;

/// The votes of one fold, or all others.
struct FoldVotes<'a, V> {
    votes: &'a V,
    fold: u64,
    is_held_out: bool,
}

impl<V: VotesByPair> VotesByPair for FoldVotes<'_, V> {
    fn pairs(&self) -> &Pairs {
        self.votes.pairs()
    }

    fn has_advantage(&self) -> bool {
        self.votes.has_advantage()
    }

    #[inline]
    fn for_each_cell(&self, pair: usize, mut visit: impl FnMut(&Cell)) {
        let side = |cell: &Cell| usize::from(cell.sign < 0.0);
        let mut shares = [Outcomes::default(); 2];
        self.votes.for_each_cell(pair, |cell| {
            let totals = shares[side(cell)].iter_mut().zip(cell.votes);
            totals.for_each(|(total, votes)| *total += votes);
        });
        // The votes of a pair are dealt to the folds in turn, from a random one on; those of each side apart, so that
        // swapped sides change nothing.
        let pairs = self.pairs();
        let start = hash(pairs.left[pair], pairs.right[pair], 0) % FOLDS;
        for totals in &mut shares {
            let mut first = start;
            for total in totals {
                let held_out = dealt(first, *total as u64, self.fold) as f64;
                first = (first + *total as u64) % FOLDS;
                *total = if *total > 0.0 { held_out / *total } else { 0.0 };
            }
        }
        self.votes.for_each_cell(pair, |cell| {
            let shares = &shares[side(cell)];
            let votes = std::array::from_fn(|o| {
                cell.votes[o] * if self.is_held_out { shares[o] } else { 1.0 - shares[o] }
            });
            visit(&Cell { votes, ..*cell });
        });
    }
}

/// How many of `count` votes a fold gets if the first one goes to the fold `first`.
fn dealt(first: u64, count: u64, fold: u64) -> u64 {
    let before = |end: u64| (end + FOLDS - 1 - fold) / FOLDS;
    before(first + count) - before(first)
}

/// Fits the link to votes that the scores have not seen; the scores are those at which the search for them ended.
/// Collective.
pub(crate) fn held_out_link<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
    has_sides: bool,
) -> Result<Link> {
    let mut bins = LinkBins::new();
    if has_small_leverages(newton.graph) || newton.graph.items() > FEW_ITEMS {
        for vote in left_out_of(newton, votes)? {
            if let Some(is_left) = vote.is_left {
                bins.add(vote.difference, is_left, vote.count);
            }
        }
    } else {
        let start = (newton.scores.clone(), newton.model);
        let folds = (TUNING.evaluated_votes * FOLDS as f64 / newton.graph.votes()).ceil();
        for fold in 0..FOLDS.min(folds as u64) {
            newton.maximise(&FoldVotes { votes, fold, is_held_out: false }, TO_COMPARE)?;
            bins.add_all(&FoldVotes { votes, fold, is_held_out: true }, &newton.scores);
            (newton.scores, newton.model) = start.clone();
        }
    }
    Ok(best_link(&bins.votes(newton.graph.communicator()), has_sides))
}

/// A link without one-sided shares, unless these two parameters improve the log-likelihood by more than their
/// number (Akaike's criterion).
fn best_link(votes: &[LinkedVote], has_sides: bool) -> Link {
    let number: f64 = votes.iter().map(|vote| vote.count).sum();
    let (full, logistic) = (Link::fit(votes, has_sides), Link::logistic(votes, has_sides));
    if number * (logistic.log_loss - full.log_loss) > 2.0 { full } else { logistic }
}

/// Steps of a difference per log-odds in which votes are counted to fit a link, and the largest difference.
const STEPS_PER_UNIT: f64 = 16.0;
const MAX_DIFFERENCE: f64 = 16.0;

/// Decided votes, counted by difference and side.
pub(crate) struct LinkBins {
    /// For each step, votes for the left item and the sum of their differences, then those for the right one.
    sums: Vec<f64>,
}

impl LinkBins {
    pub(crate) fn new() -> Self {
        Self { sums: vec![0.0; 4 * (2 * (MAX_DIFFERENCE * STEPS_PER_UNIT) as usize + 1)] }
    }

    /// Adds votes at a difference towards the left item.
    pub(crate) fn add(&mut self, difference: f64, is_left: bool, count: f64) {
        let d = difference.clamp(-MAX_DIFFERENCE, MAX_DIFFERENCE);
        let step = ((d + MAX_DIFFERENCE) * STEPS_PER_UNIT).round() as usize;
        let place = 4 * step + if is_left { 0 } else { 2 };
        self.sums[place] += count;
        self.sums[place + 1] += count * d;
    }

    fn add_all<V: VotesByPair>(&mut self, votes: &V, scores: &[f64]) {
        let pairs = votes.pairs();
        for p in 0..pairs.len() {
            let d = scores[pairs.left[p] as usize] - scores[pairs.right[p] as usize];
            votes.for_each_cell(p, |cell| {
                // With the second item on the left, everything is the other way round.
                let is_first_left = cell.sign >= 0.0;
                let towards_left = if is_first_left { d } else { -d };
                for (outcome, is_left) in [(0, is_first_left), (1, !is_first_left)] {
                    self.add(towards_left, is_left, cell.votes[outcome]);
                }
            });
        }
    }

    /// The mean vote of each step and side. Collective.
    pub(crate) fn votes(mut self, communicator: &dyn Communicator) -> Vec<LinkedVote> {
        communicator.sum(&mut self.sums);
        let counted = self.sums.chunks(2).enumerate().filter(|(_, own)| own[0] > 0.0);
        let linked = counted.map(|(k, own)| LinkedVote {
            difference: own[1] / own[0],
            prefers_left: k % 2 == 0,
            count: own[0],
        });
        linked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vote_is_held_out_once() {
        for first in 0..FOLDS {
            for count in [0, 1, 7, 10, 23] {
                let of_folds: Vec<u64> = (0..FOLDS).map(|fold| dealt(first, count, fold)).collect();
                assert_eq!(of_folds.iter().sum::<u64>(), count);
                for (fold, &own) in of_folds.iter().enumerate() {
                    let expected =
                        (first..first + count).filter(|k| k % FOLDS == fold as u64).count();
                    assert_eq!(own, expected as u64, "{first} {count} {fold}");
                }
            }
        }
    }
}
