//! The votes in the form of a pass: eight bytes and a count, in blocks of one annotator each. Graded
//! votes have their outcomes too.
//!
//! Votes without an annotator form blocks of unknown people, whose behaviour is at worst careless. So do
//! those of people with one or two votes if there are very many annotators: they say next to nothing
//! about themselves, and a block of their own takes more memory than their votes.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::annotator_votes::{self, AnnotatorVote, AnnotatorVotes};

/// With more annotators than this, those with fewer votes than [`MIN_VOTES`] are treated as unknown.
const MANY_ANNOTATORS: usize = 200_000;
const MIN_VOTES: u64 = 3;
/// Votes of unknown people per block.
const UNKNOWN_PER_BLOCK: usize = 256;

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
    fn new(vote: &AnnotatorVote, y: f64) -> Self {
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
    /// The annotator of each block; blocks of unknown people follow.
    pub(super) annotator: Vec<u32>,
}

impl Blocks {
    /// `outcome_unit` is the unit in which the outcomes of graded votes are kept; none for votes of one
    /// size, whose sides are enough.
    pub(super) fn new(votes: &AnnotatorVotes, outcome_unit: Option<f64>) -> Self {
        let total = |votes: &[AnnotatorVote]| votes.iter().map(|v| u64::from(v.count)).sum::<u64>();
        let many = votes.annotators() > MANY_ANNOTATORS;
        let is_known = |own: &[AnnotatorVote]| !many || total(own) >= MIN_VOTES;
        let (mut start, mut annotator) = (vec![0], Vec::new());
        for a in 0..votes.annotators() {
            let own = votes.of(a);
            if !own.is_empty() && is_known(own) {
                start.push(start[start.len() - 1] + own.len());
                annotator.push(a as u32);
            }
        }
        let known = start[start.len() - 1];
        let unknown = (known + UNKNOWN_PER_BLOCK..).step_by(UNKNOWN_PER_BLOCK);
        start.extend(unknown.take_while(|end| *end < votes.all().len()));
        if known < votes.all().len() {
            start.push(votes.all().len());
        }
        let ordered = match many {
            false => Cow::Borrowed(votes.all()),
            true => {
                let of = |is_wanted: &dyn Fn(&[AnnotatorVote]) -> bool| {
                    let own = (0..votes.annotators()).map(|a| votes.of(a));
                    own.filter(|own| is_wanted(own)).flatten().copied().collect::<Vec<_>>()
                };
                let mut ordered = of(&is_known);
                ordered.extend(of(&|own| !is_known(own)));
                ordered.extend_from_slice(votes.unknown());
                Cow::Owned(ordered)
            }
        };
        let sided = |vote: &AnnotatorVote| SidedVote::new(vote, votes.y(vote));
        let outcomes = outcome_unit.map(|unit| {
            let outcome = |vote: &AnnotatorVote| (votes.y(vote) / unit) as f32;
            ordered.par_iter().map(outcome).collect()
        });
        Self {
            votes: ordered.par_iter().map(sided).collect(),
            outcomes: outcomes.unwrap_or_default(),
            start,
            annotator,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// The votes of a block, and whether their annotators are unknown.
    pub(super) fn block(&self, block: usize) -> (&[SidedVote], bool) {
        let votes = &self.votes[self.start[block]..self.start[block + 1]];
        (votes, block >= self.annotator.len())
    }

    /// The outcomes of a block of graded votes.
    pub(super) fn outcomes(&self, block: usize) -> &[f32] {
        &self.outcomes[self.start[block]..self.start[block + 1]]
    }

    /// Number of votes.
    pub(super) fn total(&self) -> f64 {
        self.votes.iter().map(|vote| f64::from(vote.count)).sum()
    }

    /// Splits the blocks into about `parts` ranges with similar numbers of votes.
    pub(super) fn split(&self, parts: usize) -> Vec<Range<usize>> {
        annotator_votes::split(&self.start, parts)
    }
}
