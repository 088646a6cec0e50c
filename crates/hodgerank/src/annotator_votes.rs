//! Votes with their annotators and the sides on which the items were shown.
//!
//! Distinct votes ([`crate::Groups`]) are enough for methods that judge votes one by one. A method that
//! judges people needs every vote with its annotator. Votes are sorted by annotator and then by
//! content, so that results do not depend on the order of the rows.

use rayon::prelude::*;

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

/// The votes of each annotator.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatorVotes {
    /// The votes of annotator `a` are `start[a]..start[a + 1]`. The last annotator stands for all
    /// votes without one.
    start: Vec<usize>,
    votes: Vec<AnnotatorVote>,
    /// The distinct outcomes, increasing: how much the left item was preferred.
    outcomes: Vec<f64>,
    /// Whether items have sides; otherwise every vote has its winner on the left.
    has_sides: bool,
}

impl AnnotatorVotes {
    /// Sorts votes by annotator. An annotator's index is below `annotators`; votes of unknown people
    /// have the index `annotators`.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn new(
        annotators: usize,
        parts: Vec<Vec<(u32, AnnotatorVote)>>,
        outcomes: Vec<f64>,
        has_sides: bool,
    ) -> Self {
        let mut start = vec![0_usize; annotators + 2];
        for (annotator, _) in parts.iter().flatten() {
            start[*annotator as usize + 1] += 1;
        }
        for a in 0..=annotators {
            start[a + 1] += start[a];
        }
        let mut next = start.clone();
        let empty = AnnotatorVote { left: 0, right: 0, outcome: 0, count: 0 };
        let mut votes = vec![empty; start[annotators + 1]];
        for part in parts {
            for (annotator, vote) in part {
                let place = &mut next[annotator as usize];
                votes[*place] = vote;
                *place += 1;
            }
        }
        let mut rest = &mut votes[..];
        let mut blocks = Vec::with_capacity(annotators + 1);
        for range in start.windows(2) {
            let (block, after) = rest.split_at_mut(range[1] - range[0]);
            blocks.push(block);
            rest = after;
        }
        blocks.into_par_iter().for_each(|block| block.sort_unstable());
        Self { start, votes, outcomes, has_sides }
    }

    /// Number of annotators, without the unknown ones.
    #[must_use]
    pub fn annotators(&self) -> usize {
        self.start.len() - 2
    }

    /// The votes of an annotator, sorted.
    #[must_use]
    pub fn of(&self, annotator: usize) -> &[AnnotatorVote] {
        &self.votes[self.start[annotator]..self.start[annotator + 1]]
    }

    /// The votes of unknown people, sorted.
    #[must_use]
    pub fn unknown(&self) -> &[AnnotatorVote] {
        self.of(self.annotators())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_are_sorted_whatever_the_order_of_rows() {
        let vote = |left, right, outcome| AnnotatorVote { left, right, outcome, count: 1 };
        let rows =
            vec![(1, vote(3, 2, 0)), (0, vote(1, 2, 1)), (2, vote(0, 1, 1)), (0, vote(1, 0, 0))];
        let mut reversed = rows.clone();
        reversed.reverse();
        let votes = AnnotatorVotes::new(2, vec![rows.clone()], vec![-1.0, 1.0], true);
        let parts = vec![reversed[..1].to_vec(), reversed[1..].to_vec()];
        assert_eq!(votes, AnnotatorVotes::new(2, parts, vec![-1.0, 1.0], true));
        assert_eq!(votes.of(0), [vote(1, 0, 0), vote(1, 2, 1)]);
        assert_eq!(votes.of(1), [vote(3, 2, 0)]);
        assert_eq!(votes.unknown(), [vote(0, 1, 1)]);
        assert_eq!((votes.annotators(), votes.y(&vote(0, 1, 1))), (2, 1.0));
        assert!(votes.is_sided());
    }
}
