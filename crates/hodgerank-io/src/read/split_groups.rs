//! Which votes are flagged if a method flags only some of several equal votes.
//!
//! One vote of each annotator in turn, in the order of their names, until enough votes are flagged.
//! The order of rows does not matter: among rows with the same vote, annotator and count, which are
//! equal in all that counts, the first ones are flagged. Of one annotator, rows with a small count come
//! first, because a row is flagged completely or not at all.

use std::collections::{BTreeMap, HashMap};

use hodgerank::natural_order;

use super::second_pass::{StudyFlags, VoteRow};

/// Study and group.
type GroupKey = (usize, usize);
/// The number of rows with each count.
type RowsOfCount = BTreeMap<u64, u64>;

/// The rows of groups of which only a part is flagged.
#[derive(Debug, Default)]
pub(super) struct SplitGroups {
    rows: HashMap<GroupKey, HashMap<String, RowsOfCount>>,
}

impl SplitGroups {
    /// Whether any group is flagged in part.
    pub(super) fn exist(studies: &[StudyFlags<'_>]) -> bool {
        let is_split = |study: &StudyFlags<'_>, g: usize| is_split(study, g);
        studies.iter().any(|study| (0..study.flagged.len()).any(|g| is_split(study, g)))
    }

    /// Counts a row if its group is split.
    pub(super) fn record(&mut self, studies: &[StudyFlags<'_>], row: &VoteRow<'_>) {
        let Some(group) = row.group else { return };
        if is_split(&studies[row.study], group) {
            let by_annotator = self.rows.entry((row.study, group)).or_default();
            let counts = match by_annotator.get_mut(row.annotator) {
                Some(counts) => counts,
                None => by_annotator.entry(row.annotator.to_owned()).or_default(),
            };
            *counts.entry(row.count).or_default() += 1;
        }
    }

    /// Reduces the recorded rows to those that are to be flagged.
    pub(super) fn allot(&mut self, studies: &[StudyFlags<'_>]) {
        for (&(study, group), by_annotator) in &mut self.rows {
            let mut names: Vec<&String> = by_annotator.keys().collect();
            names.sort_by(|a, b| natural_order(a, b));
            let waiting: Vec<&RowsOfCount> =
                names.iter().map(|name| &by_annotator[*name]).collect();
            let flagged = take_turns(&waiting, studies[study].flagged[group]);
            *by_annotator = names.into_iter().cloned().zip(flagged).collect();
        }
    }

    /// Whether this row is to be flagged; none if its group is not split.
    pub(super) fn take(&mut self, key: GroupKey, annotator: &str, count: u64) -> Option<bool> {
        let by_annotator = self.rows.get_mut(&key)?;
        let rows = by_annotator.get_mut(annotator).and_then(|counts| counts.get_mut(&count));
        Some(rows.is_some_and(|rows| {
            let is_flagged = *rows > 0;
            *rows = rows.saturating_sub(1);
            is_flagged
        }))
    }
}

fn is_split(study: &StudyFlags<'_>, g: usize) -> bool {
    study.crowd.is_none() && study.flagged[g] > 0.0 && study.flagged[g] < study.groups.weight[g]
}

/// The rows to flag of each annotator: one row after the other, `votes` votes in total.
fn take_turns(waiting: &[&RowsOfCount], votes: f64) -> Vec<RowsOfCount> {
    let mut waiting: Vec<RowsOfCount> = waiting.iter().map(|&rows| rows.clone()).collect();
    let mut flagged = vec![RowsOfCount::new(); waiting.len()];
    let mut remaining = votes;
    loop {
        let before = remaining;
        for (waiting, flagged) in waiting.iter_mut().zip(&mut flagged) {
            let Some(mut smallest) = waiting.first_entry() else { continue };
            let count = *smallest.key();
            if count as f64 > remaining {
                continue;
            }
            remaining -= count as f64;
            *flagged.entry(count).or_default() += 1;
            *smallest.get_mut() -= 1;
            if *smallest.get() == 0 {
                smallest.remove();
            }
        }
        if remaining == before {
            return flagged;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(counts: &[(u64, u64)]) -> RowsOfCount {
        counts.iter().copied().collect()
    }

    #[test]
    fn annotators_take_turns() {
        let waiting = [rows(&[(1, 5)]), rows(&[(1, 1)]), rows(&[(1, 2), (3, 1)])];
        let waiting: Vec<&RowsOfCount> = waiting.iter().collect();
        let flagged = |votes: f64| take_turns(&waiting, votes);
        assert_eq!(flagged(2.0), [rows(&[(1, 1)]), rows(&[(1, 1)]), rows(&[])]);
        assert_eq!(flagged(5.0), [rows(&[(1, 2)]), rows(&[(1, 1)]), rows(&[(1, 2)])]);
        assert_eq!(flagged(11.0), [rows(&[(1, 5)]), rows(&[(1, 1)]), rows(&[(1, 2), (3, 1)])]);
        // A row with more votes than remain to be flagged is kept.
        assert_eq!(take_turns(&waiting[2..], 4.0), [rows(&[(1, 2)])]);
    }
}
