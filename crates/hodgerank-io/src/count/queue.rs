//! Votes that wait until the items of several of them are looked up together.
//!
//! With many items each look-up misses the cache, and between two of them there is a whole row to
//! parse. In a loop of look-ups alone the processor works on several misses at the same time.

use hodgerank::{LabelKey, Labels};

use crate::parse::ParsedRow;

/// Items from which votes are queued: with fewer, the table of names stays in a cache.
pub(super) const MIN_ITEMS: usize = 1 << 15;
/// Votes that are looked up together.
const MAX_QUEUED: usize = 128;

/// A vote by the names of its items, in a table without annotators.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedVote {
    pub(super) study: u32,
    pub(super) has_sides: bool,
    pub(super) left: LabelKey,
    pub(super) right: LabelKey,
    pub(super) y: f64,
    pub(super) count: u64,
}

/// Votes and the indices of their items.
#[derive(Debug, Default)]
pub(super) struct VoteQueue {
    votes: Vec<QueuedVote>,
    items: Vec<[Option<u32>; 2]>,
}

impl QueuedVote {
    /// None if a name is too long for a key.
    #[inline]
    pub(super) fn new(study: usize, row: &ParsedRow<'_>, has_sides: bool) -> Option<Self> {
        let (left, right) = (LabelKey::new(row.left)?, LabelKey::new(row.right)?);
        Some(Self { study: study as u32, has_sides, left, right, y: row.y, count: row.count })
    }
}

impl VoteQueue {
    /// Adds a vote; returns whether the queue is full.
    #[inline]
    pub(super) fn push(&mut self, vote: QueuedVote) -> bool {
        self.votes.push(vote);
        self.votes.len() >= MAX_QUEUED
    }

    /// Looks up the items of all votes among the items of their studies.
    pub(super) fn look_up<'a>(&mut self, items_of: impl Fn(usize) -> &'a Labels) {
        self.items.clear();
        self.items.extend(self.votes.iter().map(|vote| {
            let items = items_of(vote.study as usize);
            [items.get_key(&vote.left), items.get_key(&vote.right)]
        }));
    }

    /// Empties the queue and returns its votes with their items; none for items that are new.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (QueuedVote, [Option<u32>; 2])> + '_ {
        self.votes.drain(..).zip(self.items.drain(..))
    }
}
