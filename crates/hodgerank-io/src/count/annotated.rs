//! Votes with their annotators, as they are read.

use std::collections::HashMap;

use hodgerank::{AnnotatorVote, AnnotatorVotes, Groups, SideTally};

/// The index of an annotator who is not known.
pub(crate) const NO_ANNOTATOR: u32 = u32::MAX;

/// The votes that one thread has read, with indices of that thread.
#[derive(Debug)]
pub(super) struct AnnotatedVotes {
    votes: Vec<(u32, AnnotatorVote)>,
    /// Distinct outcomes, in order of appearance.
    outcomes: Vec<f64>,
    /// The first of them; not a number for places that are not used yet.
    first_outcomes: [f64; FIRST_OUTCOMES],
    /// Position of each outcome by its bits: graded votes can have millions of them.
    positions: HashMap<u64, usize>,
}

/// Enough for wins, losses and ties, and for Likert scales of up to eight steps.
const FIRST_OUTCOMES: usize = 8;

impl Default for AnnotatedVotes {
    fn default() -> Self {
        Self {
            votes: Vec::new(),
            outcomes: Vec::new(),
            first_outcomes: [f64::NAN; FIRST_OUTCOMES],
            positions: HashMap::new(),
        }
    }
}

impl AnnotatedVotes {
    #[inline]
    pub(super) fn add(&mut self, annotator: u32, left: u32, right: u32, y: f64, count: u64) {
        let outcome = self.outcome(y);
        let mut rest = count;
        // A count of more than 2³² is split.
        while rest > 0 {
            let count = rest.min(u64::from(u32::MAX)) as u32;
            self.votes.push((annotator, AnnotatorVote { left, right, outcome, count }));
            rest -= u64::from(count);
        }
    }

    #[inline]
    fn outcome(&mut self, y: f64) -> u32 {
        // Branch-free: sides alternate at random, and an early exit would mispredict.
        let is = |(k, &known): (usize, &f64)| u32::from(known == y) << k;
        let found: u32 = self.first_outcomes.iter().enumerate().map(is).sum();
        if found != 0 { found.trailing_zeros() } else { self.later_outcome(y) }
    }

    #[cold]
    fn later_outcome(&mut self, y: f64) -> u32 {
        let outcomes = &mut self.outcomes;
        let position = *self.positions.entry(y.to_bits()).or_insert_with(|| {
            outcomes.push(y);
            outcomes.len() - 1
        });
        if let Some(first) = self.first_outcomes.get_mut(position) {
            *first = y;
        }
        position as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.votes.is_empty()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.votes.capacity() * size_of::<(u32, AnnotatorVote)>()
    }

    /// Counts the votes by side, with the indices of this thread.
    pub(super) fn count_sides(&self, sides: &mut SideTally) {
        for (_, AnnotatorVote { left, right, outcome, count }) in &self.votes {
            sides.add(*left, *right, self.outcomes[*outcome as usize], u64::from(*count));
        }
    }

    /// The votes of unknown people, from groups.
    pub(super) fn unknown(groups: &Groups) -> Self {
        let mut votes = Self::default();
        for g in 0..groups.len() {
            let (left, right) = (groups.left[g], groups.right[g]);
            votes.add(NO_ANNOTATOR, left, right, groups.y[g], groups.weight[g] as u64);
        }
        votes
    }

    /// Votes of all threads with the final indices: `items` and `annotators` translate those of each
    /// thread, of `number` annotators in all.
    pub(super) fn merge(
        parts: Vec<Self>,
        items: &[Vec<u32>],
        annotators: &[Vec<u32>],
        number: usize,
        has_sides: bool,
    ) -> AnnotatorVotes {
        let mut outcomes: Vec<f64> =
            parts.iter().flat_map(|part| &part.outcomes).copied().collect();
        outcomes.sort_by(f64::total_cmp);
        outcomes.dedup();
        let find = |y: &f64| outcomes.partition_point(|known| known < y) as u32;
        let new_outcomes: Vec<Vec<u32>> =
            parts.iter().map(|part| part.outcomes.iter().map(find).collect()).collect();
        let parts: Vec<_> = parts.into_iter().map(|part| part.votes).collect();
        let annotator = |part: usize, annotator: u32| match annotator {
            NO_ANNOTATOR => number as u32,
            known => annotators[part][known as usize],
        };
        let vote = |part: usize, vote: &AnnotatorVote| AnnotatorVote {
            left: items[part][vote.left as usize],
            right: items[part][vote.right as usize],
            outcome: new_outcomes[part][vote.outcome as usize],
            count: vote.count,
        };
        AnnotatorVotes::renumbered(number, &parts, annotator, vote, outcomes, has_sides)
    }
}
