//! The votes in the form of a pass: eight bytes and a count, in blocks of one annotator each. Graded
//! votes have their outcomes too.
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

/// A bit of the right item's index: the right item was preferred.
const FOR_RIGHT: u32 = 1 << 31;
/// A bit of the right item's index: a tie.
const TIE: u32 = 1 << 30;
/// Items have smaller indices.
pub(super) const MAX_ITEMS: usize = 1 << 30;

/// A vote with sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SidedVote {
    pub(super) left: u32,
    /// The right item and the outcome.
    right: u32,
    pub(super) count: u32,
}

impl SidedVote {
    pub(super) fn new(vote: &AnnotatorVote, y: f64) -> Self {
        let outcome = match y {
            y if y > 0.0 => 0,
            y if y < 0.0 => FOR_RIGHT,
            _ => TIE,
        };
        Self { left: vote.left, right: vote.right | outcome, count: vote.count }
    }

    #[inline]
    pub(super) fn right(self) -> usize {
        (self.right & (TIE - 1)) as usize
    }

    /// The vote in twelve bytes, for another process.
    pub(super) fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        for (four, value) in bytes.chunks_exact_mut(4).zip([self.left, self.right, self.count]) {
            four.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; 12]) -> Self {
        let value = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        Self { left: value(0), right: value(4), count: value(8) }
    }

    /// 0 for a vote for the left item, 1 for the right one.
    #[inline]
    pub(super) fn side(self) -> Option<usize> {
        (self.right & TIE == 0).then_some((self.right >> 31) as usize)
    }
}

/// Votes in blocks: first those of annotators, in their order, then those of unknown people.
#[derive(Debug)]
pub(super) struct Blocks {
    votes: Vec<SidedVote>,
    /// For graded votes, the outcome of each.
    outcomes: Vec<f32>,
    start: Vec<usize>,
    /// Number of votes.
    total: f64,
    /// The annotator of each block; blocks of unknown people follow.
    pub(super) annotator: Vec<u32>,
}

impl Blocks {
    /// The blocks of this process: those of its annotators, and its share of those of unknown people.
    /// `outcome_unit` is the unit in which the outcomes of graded votes are kept; none for votes of one
    /// size, whose sides are enough.
    pub(super) fn new(
        votes: &AnnotatorVotes,
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
        let sided = |vote: &AnnotatorVote| SidedVote::new(vote, votes.y(vote));
        let outcome =
            |vote: &AnnotatorVote| outcome_unit.map_or(0.0, |unit| (votes.y(vote) / unit) as f32);
        let mut blocks = Self {
            votes: known.par_iter().map(sided).collect(),
            outcomes: Vec::new(),
            start,
            total: 0.0,
            annotator,
        };
        if outcome_unit.is_some() {
            blocks.outcomes = known.par_iter().map(outcome).collect();
        }
        let unknown = all().filter(|own| !is_known(own)).flatten().chain(of(votes.annotators()));
        let unknown = unknown.map(|vote| UnknownVote { vote: sided(vote), outcome: outcome(vote) });
        unknown::for_each_block(unknown.collect(), communicator, |block| {
            blocks.votes.extend(block.iter().map(|unknown| unknown.vote));
            if outcome_unit.is_some() {
                blocks.outcomes.extend(block.iter().map(|unknown| unknown.outcome));
            }
            blocks.start.push(blocks.votes.len());
        });
        blocks.total = total_of(&blocks.votes);
        blocks
    }

    pub(super) fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of votes, each with its count.
    pub(super) fn votes(&self) -> usize {
        self.votes.len()
    }

    /// The votes of a block, and whether their annotators are unknown.
    pub(super) fn block(&self, block: usize) -> (&[SidedVote], bool) {
        let votes = &self.votes[self.start[block]..self.start[block + 1]];
        (votes, block >= self.annotator.len())
    }

    /// Votes of a block that do not count any more.
    pub(super) fn remove(&mut self, block: usize, is_removed: impl Fn(&SidedVote) -> bool) {
        let votes = &mut self.votes[self.start[block]..self.start[block + 1]];
        votes.iter_mut().filter(|vote| is_removed(vote)).for_each(|vote| vote.count = 0);
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

/// Number of votes. Whole numbers, so that the order of the sum does not matter.
fn total_of(votes: &[SidedVote]) -> f64 {
    votes.par_iter().map(|vote| u64::from(vote.count)).sum::<u64>() as f64
}
