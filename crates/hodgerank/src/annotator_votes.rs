//! Votes with their annotators and the sides on which the items were shown.
//!
//! Distinct votes ([`crate::Groups`]) are enough for methods that judge votes one by one. A method that
//! judges people needs every vote with its annotator. Votes are listed by annotator. They are sorted by
//! content, so that results do not depend on the order of the rows, when that order first matters:
//! sorting takes as long as a fit.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::comparison::{Comparison, positive_zero};
use crate::graph::{Groups, SideCounts, SideTally};

/// A vote of an annotator, with the items as they were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AnnotatorVote {
    /// The item on the left, or the winner if sides are unknown.
    pub left: u32,
    /// The other item.
    pub right: u32,
    /// The outcome, as an index into [`AnnotatorVotes::outcomes`].
    pub outcome: u32,
    /// How often the annotator cast this vote.
    pub count: u32,
}

/// Rows among which a task looks for its own at a time: they stay in the cache.
const ROWS_PER_SCAN: usize = 1 << 10;

/// The votes of each annotator.
#[derive(Debug, Clone)]
pub struct AnnotatorVotes {
    /// As they were read.
    unsorted: Blocks,
    /// Sorted by content, with equal votes merged.
    sorted: OnceLock<Blocks>,
    /// The distinct outcomes, increasing: how much the left item was preferred.
    outcomes: Vec<f64>,
    /// Whether items have sides; otherwise every vote has its winner on the left.
    has_sides: bool,
}

/// Votes by annotator.
#[derive(Debug, Clone, PartialEq)]
struct Blocks {
    /// The votes of annotator `a` are `start[a]..start[a + 1]`. The last annotator stands for all
    /// votes without one.
    start: Vec<usize>,
    votes: Vec<AnnotatorVote>,
}

impl Blocks {
    fn of(&self, annotator: usize) -> &[AnnotatorVote] {
        &self.votes[self.start[annotator]..self.start[annotator + 1]]
    }

    /// The same votes sorted by content, with equal ones merged.
    fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        let start = &self.start;
        let mut rest = &mut sorted.votes[..];
        let mut blocks = Vec::with_capacity(start.len() - 1);
        for range in start.windows(2) {
            let (own, after) = rest.split_at_mut(range[1] - range[0]);
            blocks.push(own);
            rest = after;
        }
        let lengths: Vec<usize> = blocks.into_par_iter().map(sort_and_merge).collect();
        if lengths.iter().sum::<usize>() < sorted.votes.len() {
            compact(&mut sorted.votes, &mut sorted.start, &lengths);
        }
        sorted
    }
}

impl PartialEq for AnnotatorVotes {
    fn eq(&self, other: &Self) -> bool {
        let has_same = self.has_sides == other.has_sides && self.outcomes == other.outcomes;
        has_same && self.sorted() == other.sorted()
    }
}

impl AnnotatorVotes {
    /// Lists votes by annotator. An annotator's index is below `annotators`; votes of unknown people
    /// have the index `annotators`.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn new(
        annotators: usize,
        parts: &[Vec<(u32, AnnotatorVote)>],
        outcomes: Vec<f64>,
        has_sides: bool,
    ) -> Self {
        let annotator = |_, row: &(u32, AnnotatorVote)| row.0;
        let vote = |_, row: &(u32, AnnotatorVote)| row.1;
        Self::from_rows(annotators, parts, annotator, vote, outcomes, has_sides)
    }

    /// The same from rows in any form, where each part may have numbers of its own: `annotator_of` and
    /// `vote_of` take the position of a part and a row of it.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn from_rows<R: Sync>(
        annotators: usize,
        parts: &[Vec<R>],
        annotator_of: impl Fn(usize, &R) -> u32 + Sync,
        vote_of: impl Fn(usize, &R) -> AnnotatorVote + Sync,
        outcomes: Vec<f64>,
        has_sides: bool,
    ) -> Self {
        let mut start = vec![0_usize; annotators + 2];
        let count = |(p, part): (usize, &Vec<R>)| {
            let mut counts = vec![0_usize; annotators + 1];
            part.iter().for_each(|row| counts[annotator_of(p, row) as usize] += 1);
            counts
        };
        for counts in parts.par_iter().enumerate().map(count).collect::<Vec<_>>() {
            start[1..].iter_mut().zip(counts).for_each(|(start, count)| *start += count);
        }
        for a in 0..=annotators {
            start[a + 1] += start[a];
        }
        let empty = AnnotatorVote { left: 0, right: 0, outcome: 0, count: 0 };
        // In parallel, because most of the time goes into getting memory from the system.
        let mut votes: Vec<AnnotatorVote> =
            (0..start[annotators + 1]).into_par_iter().map(|_| empty).collect();
        let ranges = split(&start, rayon::current_num_threads());
        let mut rest = &mut votes[..];
        let mut tasks = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (own, after) = rest.split_at_mut(start[range.end] - start[range.start]);
            tasks.push((range, own));
            rest = after;
        }
        // Each task picks the votes of its annotators from all parts.
        tasks.into_par_iter().with_max_len(1).for_each(|(range, own)| {
            let first = start[range.start];
            let mut next: Vec<usize> =
                start[range.clone()].iter().map(|start| start - first).collect();
            // Which rows are its own is found without a branch, which would be mispredicted.
            let mut found = [(0_u32, 0_u32); ROWS_PER_SCAN];
            for (p, part) in parts.iter().enumerate() {
                for rows in part.chunks(ROWS_PER_SCAN) {
                    let mut number = 0;
                    for (k, row) in rows.iter().enumerate() {
                        let annotator = annotator_of(p, row);
                        found[number] = (k as u32, annotator);
                        number += usize::from(range.contains(&(annotator as usize)));
                    }
                    for &(k, annotator) in &found[..number] {
                        let place = &mut next[annotator as usize - range.start];
                        own[*place] = vote_of(p, &rows[k as usize]);
                        *place += 1;
                    }
                }
            }
        });
        let unsorted = Blocks { start, votes };
        Self { unsorted, sorted: OnceLock::new(), outcomes, has_sides }
    }

    /// The same from votes in memory, whose annotators have an index below `annotators`, or none.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn from_comparisons(annotators: usize, votes: &[Comparison], has_sides: bool) -> Self {
        let mut outcomes: Vec<f64> = votes.iter().map(|vote| positive_zero(vote.y)).collect();
        outcomes.sort_by(f64::total_cmp);
        outcomes.dedup();
        let mut rows = Vec::with_capacity(votes.len());
        for vote in votes {
            let annotator = vote.annotator.unwrap_or(annotators as u32);
            let outcome = outcomes.partition_point(|known| *known < vote.y) as u32;
            let mut rest = vote.count;
            while rest > 0 {
                // A larger count is split.
                let count = u32::try_from(rest).unwrap_or(u32::MAX);
                let Comparison { left, right, .. } = *vote;
                rows.push((annotator, AnnotatorVote { left, right, outcome, count }));
                rest -= u64::from(count);
            }
        }
        Self::new(annotators, &[rows], outcomes, has_sides)
    }

    /// The votes of groups as votes by unknown people.
    #[must_use]
    pub fn unknown_of(groups: &Groups, has_sides: bool) -> Self {
        let vote = |g: usize| {
            let vote = Comparison::new(groups.left[g], groups.right[g], groups.y[g]);
            vote.with_count(groups.weight[g] as u64)
        };
        let votes: Vec<Comparison> = (0..groups.len()).map(vote).collect();
        Self::from_comparisons(0, &votes, has_sides)
    }

    /// The votes of each pair of `items` items by side; none if sides are unknown.
    #[must_use]
    pub fn side_counts(&self, items: usize) -> Option<SideCounts> {
        self.has_sides.then(|| {
            let mut tally = SideTally::new();
            for vote in &self.unsorted.votes {
                tally.add(vote.left, vote.right, self.y(vote), u64::from(vote.count));
            }
            SideTally::finish(vec![tally], &[(0..items as u32).collect()])
        })
    }

    fn sorted(&self) -> &Blocks {
        self.sorted.get_or_init(|| self.unsorted.sorted())
    }

    /// Number of annotators, without the unknown ones.
    #[must_use]
    pub fn annotators(&self) -> usize {
        self.unsorted.start.len() - 2
    }

    /// The votes of an annotator, sorted, with equal ones merged.
    #[must_use]
    pub fn of(&self, annotator: usize) -> &[AnnotatorVote] {
        self.sorted().of(annotator)
    }

    /// The votes of unknown people, sorted, with equal ones merged.
    #[must_use]
    pub fn unknown(&self) -> &[AnnotatorVote] {
        self.of(self.annotators())
    }

    /// The votes of an annotator in any order, without the cost of sorting all votes.
    pub(crate) fn unsorted_of(&self, annotator: usize) -> &[AnnotatorVote] {
        self.unsorted.of(annotator)
    }

    /// Copies the votes of an annotator, sorted, with equal ones merged, without the cost of sorting all votes.
    pub(crate) fn copy_sorted(&self, annotator: usize, own: &mut Vec<AnnotatorVote>) {
        own.clear();
        own.extend_from_slice(self.unsorted_of(annotator));
        let merged = sort_and_merge(own);
        own.truncate(merged);
    }

    /// Splits the annotators, with the unknown ones as the last, into ranges with similar numbers of votes.
    pub(crate) fn split(&self, parts: usize) -> Vec<Range<usize>> {
        split(&self.unsorted.start, parts)
    }

    /// All votes by annotator, those of unknown people last.
    pub(crate) fn all(&self, is_sorted: bool) -> &[AnnotatorVote] {
        if is_sorted { &self.sorted().votes } else { &self.unsorted.votes }
    }

    /// The distinct outcomes, increasing.
    #[must_use]
    pub fn outcomes(&self) -> &[f64] {
        &self.outcomes
    }

    /// Whether items have sides.
    #[must_use]
    pub fn has_sides(&self) -> bool {
        self.has_sides
    }

    /// How much a vote prefers its left item.
    #[must_use]
    pub fn y(&self, vote: &AnnotatorVote) -> f64 {
        self.outcomes[vote.outcome as usize]
    }

    /// Whether all votes other than ties have the same size.
    #[must_use]
    pub fn is_sided(&self) -> bool {
        let mut sizes = self.outcomes.iter().map(|y| y.abs()).filter(|size| *size > 0.0);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }
}

/// Sorts votes by content and merges equal ones. Returns how many are left, at the start.
fn sort_and_merge(own: &mut [AnnotatorVote]) -> usize {
    own.sort_unstable();
    merge_equal(own)
}

/// Merges equal votes, which follow each other, and returns how many are left at the beginning. Counts
/// that do not fit stay split in the same way, however the votes were split before.
fn merge_equal(votes: &mut [AnnotatorVote]) -> usize {
    let mut kept = 0;
    for k in 0..votes.len() {
        let vote = votes[k];
        if kept > 0 {
            let last = &mut votes[kept - 1];
            let is_equal =
                (last.left, last.right, last.outcome) == (vote.left, vote.right, vote.outcome);
            if is_equal {
                let total = u64::from(last.count) + u64::from(vote.count);
                last.count = total.min(u64::from(u32::MAX)) as u32;
                let rest = (total - u64::from(last.count)) as u32;
                if rest == 0 {
                    continue;
                }
                votes[kept] = AnnotatorVote { count: rest, ..vote };
                kept += 1;
                continue;
            }
        }
        votes[kept] = vote;
        kept += 1;
    }
    kept
}

/// Keeps the first votes of each block.
fn compact(votes: &mut Vec<AnnotatorVote>, start: &mut [usize], lengths: &[usize]) {
    let mut end = 0;
    for (block, &length) in lengths.iter().enumerate() {
        let first = start[block];
        votes.copy_within(first..first + length, end);
        start[block] = end;
        end += length;
    }
    start[lengths.len()] = end;
    votes.truncate(end);
    votes.shrink_to_fit();
}

/// Fewer votes are not worth a task of their own.
const MIN_VOTES_PER_TASK: usize = 1 << 12;

/// Splits blocks with these starts into about `parts` ranges with similar numbers of votes, or fewer if there are few
/// votes.
pub(crate) fn split(start: &[usize], parts: usize) -> Vec<Range<usize>> {
    let (blocks, votes) = (start.len() - 1, start[start.len() - 1]);
    let per_part = votes.div_ceil(parts.max(1)).max(MIN_VOTES_PER_TASK);
    let mut ranges = Vec::new();
    let mut first = 0;
    while first < blocks {
        let end = start[first] + per_part;
        let next = start.partition_point(|&start| start < end).clamp(first + 1, blocks);
        ranges.push(first..next);
        first = next;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_votes_are_merged() {
        let vote = |left, count| AnnotatorVote { left, right: 9, outcome: 0, count };
        let rows = vec![(1, vote(3, 2)), (0, vote(1, 1)), (1, vote(2, 1)), (1, vote(3, 5))];
        let votes = AnnotatorVotes::new(2, &[rows], vec![1.0], true);
        assert_eq!(votes.of(0), [vote(1, 1)]);
        assert_eq!(votes.of(1), [vote(2, 1), vote(3, 7)]);
        assert!(votes.unknown().is_empty());
        let large = [u32::MAX - 1, 5, u32::MAX].map(|count| (0, vote(1, count))).to_vec();
        let votes = AnnotatorVotes::new(1, &[large], vec![1.0], true);
        assert_eq!(votes.of(0), [vote(1, u32::MAX), vote(1, u32::MAX), vote(1, 4)]);
    }

    #[test]
    fn votes_are_sorted_whatever_the_order_of_rows() {
        let vote = |left, right, outcome| AnnotatorVote { left, right, outcome, count: 1 };
        let rows =
            vec![(1, vote(3, 2, 0)), (0, vote(1, 2, 1)), (2, vote(0, 1, 1)), (0, vote(1, 0, 0))];
        let mut reversed = rows.clone();
        reversed.reverse();
        let votes = AnnotatorVotes::new(2, &[rows], vec![-1.0, 1.0], true);
        let parts = vec![reversed[..1].to_vec(), reversed[1..].to_vec()];
        assert_eq!(votes, AnnotatorVotes::new(2, &parts, vec![-1.0, 1.0], true));
        assert_eq!(votes.of(0), [vote(1, 0, 0), vote(1, 2, 1)]);
        assert_eq!(votes.of(1), [vote(3, 2, 0)]);
        assert_eq!(votes.unknown(), [vote(0, 1, 1)]);
        assert_eq!((votes.annotators(), votes.y(&vote(0, 1, 1))), (2, 1.0));
        assert!(votes.is_sided());
    }

    #[test]
    fn comparisons_are_votes_of_their_annotators() {
        let vote = |annotator, left, right, y, count| {
            let vote = Comparison::new(left, right, y).with_count(count);
            Comparison { annotator, ..vote }
        };
        let large = 2 * u64::from(u32::MAX) + 5;
        let votes = [
            vote(Some(1), 3, 2, -1.0, 2),
            vote(None, 0, 1, 1.0, 1),
            vote(Some(0), 1, 2, -0.0, large),
            vote(Some(0), 0, 2, 0.0, 0),
        ];
        let sides = SideCounts::of_comparisons(4, &votes);
        let votes = AnnotatorVotes::from_comparisons(2, &votes, true);
        assert_eq!(votes.side_counts(4), Some(sides));
        assert_eq!(votes.outcomes(), [-1.0, 0.0, 1.0]);
        assert_eq!(votes.of(1), [AnnotatorVote { left: 3, right: 2, outcome: 0, count: 2 }]);
        assert_eq!(votes.unknown(), [AnnotatorVote { left: 0, right: 1, outcome: 2, count: 1 }]);
        let ties = votes.of(0);
        assert!(ties.iter().all(|vote| votes.y(vote) == 0.0 && (vote.left, vote.right) == (1, 2)));
        assert_eq!(ties.iter().map(|vote| u64::from(vote.count)).sum::<u64>(), large);
    }
}
