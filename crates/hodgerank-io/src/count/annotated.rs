//! Votes with their annotators, as they are read.

use std::collections::HashMap;

use hodgerank::{AnnotatorVote, AnnotatorVotes, Groups, SideTally};

/// The index of an annotator who is not known.
pub(crate) const NO_ANNOTATOR: u32 = u32::MAX;

/// The votes that one thread has read, with indices of that thread.
#[derive(Debug)]
pub(super) struct AnnotatedVotes {
    votes: Vec<ReadVote>,
    /// Outcomes and counts that do not fit into a vote.
    listed: Vec<(u32, u32)>,
    /// Distinct outcomes, in order of appearance.
    outcomes: Vec<f64>,
    /// The first of them; not a number for places that are not used yet.
    first_outcomes: [f64; FIRST_OUTCOMES],
    /// Position of each outcome by its bits: graded votes can have millions of them.
    positions: HashMap<u64, usize>,
}

/// A vote in sixteen bytes: there can be very many.
#[derive(Debug, Clone, Copy)]
struct ReadVote {
    annotator: u32,
    left: u32,
    right: u32,
    /// The outcome in the low bits and how often the vote was cast in the others, or with [`IS_LISTED`]
    /// the position of both in [`AnnotatedVotes::listed`].
    outcome_and_count: u32,
}

/// Bits of an outcome that fits into a [`ReadVote`].
const OUTCOME_BITS: u32 = 8;
const MAX_OUTCOME: u32 = (1 << OUTCOME_BITS) - 1;
const IS_LISTED: u32 = 1 << 31;
/// Largest count that fits next to an outcome.
const MAX_COUNT: u32 = (IS_LISTED - 1) >> OUTCOME_BITS;

/// Enough for wins, losses and ties, and for Likert scales of up to eight steps.
const FIRST_OUTCOMES: usize = 8;

impl Default for AnnotatedVotes {
    fn default() -> Self {
        Self {
            votes: Vec::new(),
            listed: Vec::new(),
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
            let outcome_and_count = match outcome <= MAX_OUTCOME && count <= MAX_COUNT {
                true => count << OUTCOME_BITS | outcome,
                false => {
                    self.listed.push((outcome, count));
                    IS_LISTED | (self.listed.len() - 1) as u32
                }
            };
            self.votes.push(ReadVote { annotator, left, right, outcome_and_count });
            rest -= u64::from(count);
        }
    }

    /// The outcome of a vote, as a position, and its count.
    fn outcome_and_count(&self, vote: &ReadVote) -> (u32, u32) {
        let packed = vote.outcome_and_count;
        match packed & IS_LISTED == 0 {
            true => (packed & MAX_OUTCOME, packed >> OUTCOME_BITS),
            false => self.listed[(packed & !IS_LISTED) as usize],
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
        self.votes.capacity() * size_of::<ReadVote>() + self.listed.capacity() * 8
    }

    /// Counts the votes by side, with the indices of this thread.
    pub(super) fn count_sides(&self, sides: &mut SideTally) {
        for vote in &self.votes {
            let ReadVote { left, right, .. } = vote;
            let (outcome, count) = &self.outcome_and_count(vote);
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
        mut parts: Vec<Self>,
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
        let rows: Vec<Vec<ReadVote>> =
            parts.iter_mut().map(|part| std::mem::take(&mut part.votes)).collect();
        let annotator = |part: usize, row: &ReadVote| match row.annotator {
            NO_ANNOTATOR => number as u32,
            known => annotators[part][known as usize],
        };
        let vote = |part: usize, row: &ReadVote| {
            let (outcome, count) = parts[part].outcome_and_count(row);
            AnnotatorVote {
                left: items[part][row.left as usize],
                right: items[part][row.right as usize],
                outcome: new_outcomes[part][outcome as usize],
                count,
            }
        };
        AnnotatorVotes::from_rows(number, &rows, annotator, vote, outcomes, has_sides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_of_any_outcome_and_count_are_kept() {
        let mut votes = AnnotatedVotes::default();
        let large = 3 * u64::from(u32::MAX);
        for k in 0..1000_u32 {
            votes.add(0, 0, 1, f64::from(k), 1);
        }
        votes.add(1, 1, 0, 7.0, u64::from(MAX_COUNT));
        votes.add(1, 1, 0, 7.0, u64::from(MAX_COUNT) + 1);
        votes.add(NO_ANNOTATOR, 0, 1, 999.0, large);
        let found = AnnotatedVotes::merge(vec![votes], &[vec![1, 0]], &[vec![0, 1]], 2, true);
        let outcomes: Vec<f64> = found.of(0).iter().map(|vote| found.y(vote)).collect();
        assert_eq!(outcomes, (0..1000).map(f64::from).collect::<Vec<_>>());
        assert!(found.of(0).iter().all(|vote| (vote.left, vote.right, vote.count) == (1, 0, 1)));
        let total = |votes: &[AnnotatorVote]| -> u64 {
            votes.iter().map(|vote| u64::from(vote.count)).sum()
        };
        assert_eq!(total(found.of(1)), 2 * u64::from(MAX_COUNT) + 1);
        assert_eq!(total(found.unknown()), large);
        assert!(found.unknown().iter().all(|vote| found.y(vote) == 999.0));
    }
}
