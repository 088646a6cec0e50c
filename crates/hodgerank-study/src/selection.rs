//! Which pair a voter is asked next: the one that is expected to tell most about the scores, among those that are
//! new to this person.
//!
//! A fit of all votes, at most once a second, gives the posterior of the scores. Between fits every pair that is
//! shown adds its information by a rank-one update, and every vote moves the means, so that the next choice knows
//! all votes before it. A pair that is shown counts as asked from then on: people who vote at the same time do not
//! get the same question. [`Selection`] remembers what happened since the votes of the fit were read, and repeats it
//! when the fit arrives.
//!
//! An undone vote is taken back by the next fit. With more than [`MAX_EXACT_ITEMS`] items, pairs come from a
//! queue that each fit fills anew.

use std::collections::VecDeque;

use hodgerank::next_pairs::{
    MAX_EXACT_ITEMS, NextPairsOptions, PairSelector, Posterior, SideBalance, next_pairs,
};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::voters::{Shown, Voter, unordered};

/// Votes between a pair and its repetition, so that nobody remembers the first answer.
const MIN_DISTANCE: usize = 8;
/// An item waits if it was shown more than this many times as often as the average item, and this often more.
const MAX_SHOWN: (u64, u64) = (2, 8);

/// What pairs are chosen from.
#[derive(Debug)]
enum Candidates {
    /// All pairs. Items are not balanced if the study is about the first places only.
    All { selector: Box<PairSelector>, is_balanced: bool },
    /// The most informative pairs, best first.
    Queue(VecDeque<(u32, u32)>),
}

/// How far the database had been filled when it was read: the last numbers of pairs shown and of votes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) shown: i64,
    pub(crate) votes: i64,
}

/// What happened after the database was read.
#[derive(Debug)]
pub(crate) struct Later {
    /// Pairs that were shown.
    pub(crate) shown: Vec<(u32, u32)>,
    /// The left and the right item of votes, and 1 for the left one, 0 for the right one, ½ for a tie.
    pub(crate) votes: Vec<(u32, u32, f64)>,
    pub(crate) seen: Seen,
}

/// What a fit of all votes says about pairs.
#[derive(Debug)]
pub(crate) struct Refit {
    candidates: Candidates,
    seen: Seen,
}

impl Refit {
    /// `pending` are the pairs on voters' screens; `queue` is the number of pairs for studies with many items.
    pub(crate) fn new(
        posterior: Posterior,
        pending: &[(u32, u32)],
        seen: Seen,
        top: Option<usize>,
        (queue, seed): (usize, u64),
    ) -> hodgerank::Result<Self> {
        let top = top.filter(|_| posterior.has_votes());
        if posterior.items() > MAX_EXACT_ITEMS {
            let options = NextPairsOptions { pairs: queue, top, seed };
            let mut sides = SideBalance::new(posterior.items());
            let found = next_pairs(&posterior, &mut sides, None, &options)?;
            let pairs = found.pairs.iter().map(|pair| unordered(pair.left, pair.right));
            return Ok(Self { candidates: Candidates::Queue(pairs.collect()), seen });
        }
        let mut selector = Box::new(PairSelector::new(posterior, top)?);
        pending.iter().for_each(|&(i, j)| selector.ask(i, j));
        Ok(Self { candidates: Candidates::All { selector, is_balanced: top.is_none() }, seen })
    }

    /// How far the database is taken into account.
    pub(crate) fn seen(&self) -> Seen {
        self.seen
    }

    /// Takes into account what happened while the fit was computed. Returns how many events that were. The thread that
    /// writes would do the same, but voters would wait for it.
    pub(crate) fn catch_up(&mut self, later: &Later) -> usize {
        if let Candidates::All { selector, .. } = &mut self.candidates {
            later.shown.iter().for_each(|&(left, right)| selector.ask(left, right));
            later.votes.iter().for_each(|&(left, right, wins)| selector.answer(left, right, wins));
        }
        self.seen = later.seen;
        later.shown.len() + later.votes.len()
    }
}

/// What happened to a pair; it has the number of its row in the database.
#[derive(Debug, Clone, Copy)]
enum Event {
    Shown { number: i64, left: u32, right: u32 },
    Voted { number: i64, left: u32, right: u32, wins: f64 },
}

/// Chooses pairs and keeps track of what is shown and voted.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// None before the first fit.
    candidates: Option<Candidates>,
    /// What happened since the votes of the last fit were read.
    events: Vec<Event>,
    /// How many of the events are in the database.
    stored: usize,
}

impl Selection {
    /// Replaces the posterior by that of a fit, with what happened since its votes were read.
    pub(crate) fn install(&mut self, refit: Refit) {
        self.candidates = Some(refit.candidates);
        self.events.retain(|event| match event {
            Event::Shown { number, .. } => *number > refit.seen.shown,
            Event::Voted { number, .. } => *number > refit.seen.votes,
        });
        self.stored = self.events.len();
        for place in 0..self.events.len() {
            self.apply(self.events[place]);
        }
    }

    /// Notes that a pair is shown.
    pub(crate) fn show(&mut self, pair: &Shown) {
        self.note(Event::Shown { number: pair.id, left: pair.left, right: pair.right });
    }

    /// Notes a vote; `wins` is 1 if the left item is preferred, 0 if the right one is, ½ for a tie.
    pub(crate) fn vote(&mut self, number: i64, pair: &Shown, wins: f64) {
        self.note(Event::Voted { number, left: pair.left, right: pair.right, wins });
    }

    fn note(&mut self, event: Event) {
        self.events.push(event);
        self.apply(event);
    }

    fn apply(&mut self, event: Event) {
        let Some(Candidates::All { selector, .. }) = &mut self.candidates else { return };
        match event {
            Event::Shown { left, right, .. } => selector.ask(left, right),
            Event::Voted { left, right, wins, .. } => selector.answer(left, right, wins),
        }
    }

    /// What was noted is in the database.
    pub(crate) fn commit(&mut self) {
        self.stored = self.events.len();
    }

    /// What was noted since the last commit did not happen. The next fit replaces what it did to the posterior.
    pub(crate) fn roll_back(&mut self) {
        self.events.truncate(self.stored);
    }

    /// The next pair for a voter, with its sides at random; none if there is nothing to ask. `shown` counts how often
    /// each item was shown, `repeats` is the share of pairs that are shown again.
    pub(crate) fn next_pair(
        &mut self,
        voter: &Voter,
        shown: &[u64],
        repeats: f64,
        id: i64,
        rng: &mut ChaCha8Rng,
    ) -> Option<Shown> {
        let again = if rng.random_bool(repeats) { repetition(voter, rng) } else { None };
        let is_repeat = again.is_some();
        let (i, j) = again.or_else(|| self.new_pair(voter, shown, rng))?;
        let (left, right) = if rng.random() { (i, j) } else { (j, i) };
        Some(Shown { id, left, right, is_repeat })
    }

    fn new_pair(
        &mut self,
        voter: &Voter,
        shown: &[u64],
        rng: &mut ChaCha8Rng,
    ) -> Option<(u32, u32)> {
        let is_new = |i: u32, j: u32| !voter.asked.contains(&unordered(i, j));
        match &mut self.candidates {
            Some(Candidates::All { selector, is_balanced }) => {
                let limit = MAX_SHOWN.0 * shown.iter().sum::<u64>() / shown.len() as u64;
                let is_due =
                    |item: u32| !*is_balanced || shown[item as usize] <= limit + MAX_SHOWN.1;
                let best = selector
                    .best(rng, &|i, j| is_due(i) && is_due(j) && is_new(i, j))
                    .or_else(|| selector.best(rng, &is_new))?;
                Some((best.first, best.second))
            }
            Some(Candidates::Queue(queue)) => {
                let place = queue.iter().position(|&(i, j)| is_new(i, j));
                place.and_then(|place| queue.remove(place))
            }
            None => None,
        }
        .or_else(|| least_shown(voter, shown, rng))
    }
}

/// A pair that the voter decided a while ago and has seen once.
fn repetition(voter: &Voter, rng: &mut ChaCha8Rng) -> Option<(u32, u32)> {
    let old = voter.votes.len().checked_sub(MIN_DISTANCE)?;
    let pairs = voter.votes[..old].iter().map(|(_, pair)| unordered(pair.left, pair.right));
    let once: Vec<(u32, u32)> = pairs.filter(|pair| !voter.repeated.contains(pair)).collect();
    once.choose(rng).copied()
}

/// An item that was shown least often, with the least often shown partner that is new to the voter: before the
/// first fit, and if the queue has nothing new.
fn least_shown(voter: &Voter, shown: &[u64], rng: &mut ChaCha8Rng) -> Option<(u32, u32)> {
    let mut order: Vec<(u64, u64, u32)> =
        shown.iter().zip(0..).map(|(times, item)| (*times, rng.random(), item)).collect();
    order.sort_unstable();
    order.iter().enumerate().find_map(|(place, &(_, _, i))| {
        let later = order[place + 1..].iter().map(|&(_, _, j)| unordered(i, j));
        later.into_iter().find(|pair| !voter.asked.contains(pair))
    })
}

#[cfg(test)]
mod tests;
