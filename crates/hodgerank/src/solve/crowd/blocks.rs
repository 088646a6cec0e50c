//! The votes in the form of a pass: in blocks of one annotator each, with sides. Graded votes have their
//! outcomes too.
//!
//! Votes without an annotator form blocks of unknown people (`unknown.rs`), whose behaviour is at worst
//! careless. So do those of people with one or two votes if there are very many annotators: they say
//! next to nothing about themselves, and a block of their own takes more memory than their votes.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::unknown::{self, UnknownVote};
use crate::annotator_votes::{self, AnnotatorVote, AnnotatorVotes};
use crate::communicator::Communicator;

/// With more annotators than this, those with fewer votes than [`MIN_VOTES`] are treated as unknown.
const MANY_ANNOTATORS: f64 = 200_000.0;
const MIN_VOTES: u64 = 3;

/// Items have smaller indices: messages have two bits for the side.
pub(super) const MAX_ITEMS: usize = 1 << SIDE_SHIFT;
const SIDE_SHIFT: u32 = 30;

/// Codes of the side of an outcome.
const FOR_LEFT: u8 = 0;
const FOR_RIGHT: u8 = 1;
const TIE: u8 = 2;

fn side_code(y: f64) -> u8 {
    match y {
        y if y > 0.0 => FOR_LEFT,
        y if y < 0.0 => FOR_RIGHT,
        _ => TIE,
    }
}

/// A vote with sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SidedVote {
    pub(super) left: u32,
    right: u32,
    code: u8,
    pub(super) count: u32,
}

impl SidedVote {
    pub(super) fn new(vote: &AnnotatorVote, y: f64) -> Self {
        Self { left: vote.left, right: vote.right, code: side_code(y), count: vote.count }
    }

    #[inline]
    pub(super) fn right(self) -> usize {
        self.right as usize
    }

    /// The vote in twelve bytes, for another process.
    pub(super) fn to_bytes(self) -> [u8; 12] {
        let right = self.right | u32::from(self.code) << SIDE_SHIFT;
        let mut bytes = [0; 12];
        for (four, value) in bytes.chunks_exact_mut(4).zip([self.left, right, self.count]) {
            four.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; 12]) -> Self {
        let value = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        let (right, code) = (value(4) & ((1 << SIDE_SHIFT) - 1), (value(4) >> SIDE_SHIFT) as u8);
        Self { left: value(0), right, code, count: value(8) }
    }

    /// 0 for a vote for the left item, 1 for the right one.
    #[inline]
    pub(super) fn side(self) -> Option<usize> {
        (self.code != TIE).then_some(usize::from(self.code))
    }
}

/// Votes in blocks: first those of annotators, in their order, then those of unknown people.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    /// Borrowed unless there are unknown people, whose votes have another order, or votes were removed.
    votes: Cow<'a, [AnnotatorVote]>,
    /// The side of each outcome of the votes.
    sides: Vec<u8>,
    /// For graded votes, the outcome of each.
    outcomes: Vec<f32>,
    start: Vec<usize>,
    /// Number of votes.
    total: f64,
    /// The annotator of each block; blocks of unknown people follow.
    pub(super) annotator: Vec<u32>,
}

impl<'a> Blocks<'a> {
    /// The blocks of this process: those of its annotators, and its share of those of unknown people.
    /// `outcome_unit` is the unit in which the outcomes of graded votes are kept; none for votes of one
    /// size, whose sides are enough.
    pub(super) fn new(
        votes: &'a AnnotatorVotes,
        outcome_unit: Option<f64>,
        communicator: &dyn Communicator,
    ) -> Self {
        let total = |votes: &[AnnotatorVote]| votes.iter().map(|v| u64::from(v.count)).sum::<u64>();
        let many = communicator.sum_scalar(votes.annotators() as f64) > MANY_ANNOTATORS;
        let is_known = |own: &[AnnotatorVote]| !many || total(own) >= MIN_VOTES;
        // Sums of graded votes depend on their order.
        let is_sorted = outcome_unit.is_some();
        let of = |a: usize| if is_sorted { votes.of(a) } else { votes.unsorted_of(a) };
        let (mut start, mut annotator) = (vec![0], Vec::new());
        for a in 0..votes.annotators() {
            let own = of(a);
            if !own.is_empty() && is_known(own) {
                start.push(start[start.len() - 1] + own.len());
                annotator.push(a as u32);
            }
        }
        let all = || (0..votes.annotators()).map(of);
        let known = match many {
            false => Cow::Borrowed(&votes.all(is_sorted)[..start[start.len() - 1]]),
            true => all().filter(|own| is_known(own)).flatten().copied().collect(),
        };
        let outcome =
            |vote: &AnnotatorVote| outcome_unit.map_or(0.0, |unit| (votes.y(vote) / unit) as f32);
        let outcomes = match is_sorted {
            true => known.par_iter().map(outcome).collect(),
            false => Vec::new(),
        };
        let sides = votes.outcomes().iter().map(|&y| side_code(y)).collect();
        let mut blocks = Self { votes: known, sides, outcomes, start, total: 0.0, annotator };
        let unknown = all().filter(|own| !is_known(own)).flatten().chain(of(votes.annotators()));
        let unknown = unknown.map(|vote| UnknownVote {
            vote: SidedVote::new(vote, votes.y(vote)),
            outcome: outcome(vote),
        });
        unknown::for_each_block(unknown.collect(), communicator, |block| {
            blocks.add_unknown(block, is_sorted);
        });
        // Whole numbers, so that the order of the sum does not matter.
        let counts = blocks.votes.par_iter().map(|vote| u64::from(vote.count));
        blocks.total = counts.sum::<u64>() as f64;
        blocks
    }

    /// Adds a block of unknown people, whose outcomes are those of another process.
    fn add_unknown(&mut self, block: &[UnknownVote], is_graded: bool) {
        let sides = &mut self.sides;
        let votes = self.votes.to_mut();
        for UnknownVote { vote, outcome } in block {
            let known = sides.iter().position(|&code| code == vote.code);
            let index = known.unwrap_or_else(|| {
                sides.push(vote.code);
                sides.len() - 1
            });
            let SidedVote { left, right, count, .. } = *vote;
            votes.push(AnnotatorVote { left, right, outcome: index as u32, count });
            if is_graded {
                self.outcomes.push(*outcome);
            }
        }
        self.start.push(votes.len());
    }

    pub(super) fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of votes, each with its count.
    pub(super) fn votes(&self) -> usize {
        self.votes.len()
    }

    /// Number of votes of a block, each with its count.
    pub(super) fn votes_of(&self, block: usize) -> usize {
        self.start[block + 1] - self.start[block]
    }

    /// The votes of a block.
    #[inline]
    pub(super) fn block(&self, block: usize) -> impl Iterator<Item = SidedVote> + Clone + '_ {
        let votes = &self.votes[self.start[block]..self.start[block + 1]];
        votes.iter().map(|&AnnotatorVote { left, right, outcome, count }| {
            SidedVote { left, right, code: self.sides[outcome as usize], count }
        })
    }

    /// Removes the votes of a block on an item: they do not count any more.
    pub(super) fn remove(&mut self, block: usize, item: u32) {
        let votes = &mut self.votes.to_mut()[self.start[block]..self.start[block + 1]];
        let on_item = votes.iter_mut().filter(|vote| vote.left == item || vote.right == item);
        on_item.for_each(|vote| vote.count = 0);
    }

    /// The outcomes of a block of graded votes.
    pub(super) fn outcomes(&self, block: usize) -> &[f32] {
        &self.outcomes[self.start[block]..self.start[block + 1]]
    }

    /// Number of votes, with those that do not count any more.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// Splits the blocks into about `parts` ranges with similar numbers of votes.
    pub(super) fn split(&self, parts: usize) -> Vec<Range<usize>> {
        annotator_votes::split(&self.start, parts)
    }
}
