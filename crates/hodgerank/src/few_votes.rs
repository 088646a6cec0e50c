//! Leaves out items with few votes.

use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::graph::{Groups, SideCounts};
use crate::labels::Labels;
use crate::study::Study;

/// Items that were left out of a study.
#[derive(Debug, Clone, Default)]
pub struct FewVotesItems {
    /// Their names.
    pub items: Labels,
    /// Number of votes on each of them, before any item was left out.
    pub votes_of: Vec<u64>,
    /// Number of votes that are not counted: those on these items.
    pub votes: u64,
}

impl Study {
    /// The study without items that have fewer than `min_votes` votes, and without all votes on them. An item
    /// that was compared only with these is left out as well. Votes are counted once, before any item is left
    /// out, so that an item may have fewer votes afterwards. `rows` stays the number of rows that were read.
    #[must_use]
    pub fn with_min_votes(self, min_votes: u64) -> (Self, FewVotesItems) {
        let votes_of = votes_of_items(&self.groups, self.items.len(), |_, _| true);
        let has_enough = |item: u32| votes_of[item as usize] >= min_votes;
        let left = votes_of_items(&self.groups, self.items.len(), |left, right| {
            has_enough(left) && has_enough(right)
        });
        let mut left_out = FewVotesItems::default();
        let mut items = Labels::new();
        let mut new_of = Vec::with_capacity(self.items.len());
        for (item, name) in self.items.iter().enumerate() {
            let is_kept = votes_of[item] >= min_votes && left[item] > 0;
            new_of.push(is_kept.then(|| items.intern(name)));
            if !is_kept {
                left_out.items.intern(name);
                left_out.votes_of.push(votes_of[item]);
            }
        }
        if left_out.items.is_empty() {
            return (self, left_out);
        }
        let comparisons = left.iter().sum::<u64>() / 2;
        left_out.votes = self.comparisons - comparisons;
        let (annotators, annotator_votes) = match self.annotator_votes {
            None => (self.annotators, None),
            Some(votes) => {
                let (annotators, votes) = annotators_left(&self.annotators, &votes, &new_of);
                (annotators, Some(votes))
            }
        };
        let sides = self
            .sides
            .map(|sides| SideCounts::from_codes(groups_left(&sides.into_codes(), &new_of)));
        let groups = groups_left(&self.groups, &new_of);
        let study = Self { items, groups, annotators, annotator_votes, sides, comparisons, ..self };
        (study, left_out)
    }
}

/// The number of votes on each item, of the pairs that count.
fn votes_of_items(groups: &Groups, items: usize, counts: impl Fn(u32, u32) -> bool) -> Vec<u64> {
    let mut votes = vec![0; items];
    for ((&left, &right), &weight) in groups.left.iter().zip(&groups.right).zip(&groups.weight) {
        if counts(left, right) {
            votes[left as usize] += weight as u64;
            votes[right as usize] += weight as u64;
        }
    }
    votes
}

/// Both items with their new numbers, if both are kept.
fn both_left(new_of: &[Option<u32>], left: u32, right: u32) -> Option<(u32, u32)> {
    new_of[left as usize].zip(new_of[right as usize])
}

/// The order of items is kept, and with it that of the groups.
fn groups_left(groups: &Groups, new_of: &[Option<u32>]) -> Groups {
    let mut kept = Groups::default();
    for g in 0..groups.len() {
        if let Some((left, right)) = both_left(new_of, groups.left[g], groups.right[g]) {
            kept.left.push(left);
            kept.right.push(right);
            kept.y.push(groups.y[g]);
            kept.weight.push(groups.weight[g]);
        }
    }
    kept
}

/// The annotators who have votes left, and their votes.
fn annotators_left(
    names: &Labels,
    votes: &AnnotatorVotes,
    new_of: &[Option<u32>],
) -> (Labels, AnnotatorVotes) {
    let mut annotators = Labels::new();
    let mut rows: Vec<(Option<u32>, AnnotatorVote)> = Vec::new();
    let mut is_used = vec![false; votes.outcomes().len()];
    for annotator in 0..=votes.annotators() {
        let before = rows.len();
        for vote in votes.unsorted_of(annotator) {
            if let Some((left, right)) = both_left(new_of, vote.left, vote.right) {
                is_used[vote.outcome as usize] = true;
                rows.push((None, AnnotatorVote { left, right, ..*vote }));
            }
        }
        // The last one stands for all votes without an annotator.
        if annotator < votes.annotators() && rows.len() > before {
            let id = annotators.intern(names.name(annotator as u32));
            rows[before..].iter_mut().for_each(|row| row.0 = Some(id));
        }
    }
    let mut outcomes = Vec::new();
    let mut outcome_of = vec![0; is_used.len()];
    for (k, &y) in votes.outcomes().iter().enumerate().filter(|(k, _)| is_used[*k]) {
        outcome_of[k] = outcomes.len() as u32;
        outcomes.push(y);
    }
    let unknown = annotators.len() as u32;
    let of_row = |_: usize, row: &(Option<u32>, AnnotatorVote)| row.0.unwrap_or(unknown);
    let vote_of = |_: usize, row: &(Option<u32>, AnnotatorVote)| AnnotatorVote {
        outcome: outcome_of[row.1.outcome as usize],
        ..row.1
    };
    let has_sides = votes.has_sides();
    let parts = [rows];
    let votes =
        AnnotatorVotes::from_rows(annotators.len(), &parts, of_row, vote_of, outcomes, has_sides);
    (annotators, votes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;

    /// Votes as (annotator, left, right, y); annotator 9 is unknown.
    fn study(votes: &[(u32, u32, u32, f64)], items: usize) -> Study {
        let votes: Vec<Comparison> = votes
            .iter()
            .map(|&(annotator, left, right, y)| Comparison {
                annotator: (annotator < 9).then_some(annotator),
                ..Comparison::new(left, right, y)
            })
            .collect();
        Study {
            by: None,
            items: ["a", "b", "c", "d", "e"].into_iter().take(items).collect(),
            groups: Groups::merge(items, &votes).unwrap().groups,
            annotators: ["x", "y"].into_iter().collect(),
            annotator_votes: Some(AnnotatorVotes::from_comparisons(2, &votes, true)),
            sides: Some(SideCounts::of_comparisons(items, &votes)),
            rows: votes.len() as u64,
            comparisons: votes.len() as u64,
        }
    }

    #[test]
    fn the_rest_is_the_study_without_their_votes() {
        // d has one vote, by y, who has no other; its tie is the only one. e was never compared.
        let rest = [(0, 0, 1, 1.0), (0, 1, 0, 1.0), (9, 1, 2, -1.0), (0, 2, 0, 1.0)];
        let all = [&rest[..], &[(1, 3, 0, 0.0)]].concat();
        let (found, left_out) = study(&all, 5).with_min_votes(2);
        let expected = study(&rest, 3);
        assert_eq!(found.items.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!((&found.groups, &found.sides), (&expected.groups, &expected.sides));
        assert_eq!(found.comparisons, 4);
        let votes = found.annotator_votes.unwrap();
        assert_eq!(found.annotators.iter().collect::<Vec<_>>(), ["x"]);
        assert_eq!((votes.outcomes(), votes.unknown().len()), (&[-1.0, 1.0][..], 1));
        assert_eq!(votes.of(0), expected.annotator_votes.unwrap().of(0));
        assert_eq!(left_out.items.iter().collect::<Vec<_>>(), ["d", "e"]);
        assert_eq!((left_out.votes_of, left_out.votes), (vec![1, 0], 1));
    }

    #[test]
    fn items_are_judged_once() {
        // c has two votes, one of them on d: it stays with one. b has two, both on d and e: it goes.
        let votes =
            [(0, 0, 2, 1.0), (0, 0, 2, 1.0), (0, 2, 3, 1.0), (0, 1, 3, 1.0), (0, 1, 4, 1.0)];
        let (found, left_out) = study(&votes, 5).with_min_votes(3);
        assert_eq!(found.items.len(), 0);
        assert_eq!((left_out.items.len(), left_out.votes), (5, 5));
        let (found, left_out) = study(&votes[..], 5).with_min_votes(2);
        assert_eq!(found.items.iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!((left_out.items.len(), left_out.votes), (1, 1));
        let (found, left_out) = study(&votes[..], 5).with_min_votes(0);
        assert_eq!((found.items.len(), left_out.items.len()), (5, 0));
    }
}
