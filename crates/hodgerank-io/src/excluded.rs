//! Annotators and items whose votes are not counted.

use std::sync::Arc;

use hodgerank::{FlagReason, Labels};
use serde::{Deserialize, Serialize};

use crate::columns::{Layout, Role};
use crate::error::Problem;
use crate::labels::trim;
use crate::parse::{Cells, OutcomeCache, Row, RowFate};

/// Names of annotators whose votes are not counted, each with a reason.
#[derive(Debug, Clone, Default)]
pub struct ExcludedAnnotators {
    names: Labels,
    reasons: Vec<FlagReason>,
}

impl ExcludedAnnotators {
    /// These annotators; of several reasons for the same name, the first one counts. The empty name
    /// stands for nobody: votes without an annotator are always counted.
    #[must_use]
    pub fn new<N: AsRef<str>>(annotators: impl IntoIterator<Item = (N, FlagReason)>) -> Self {
        let mut excluded = Self::default();
        for (name, reason) in annotators {
            let name = trim(name.as_ref());
            if !name.is_empty() && excluded.names.get(name.as_bytes()).is_none() {
                excluded.names.intern(name);
                excluded.reasons.push(reason);
            }
        }
        excluded
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nobody is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Why the votes of an annotator are not counted; none if they are.
    pub(crate) fn reason(&self, annotator: &[u8]) -> Option<FlagReason> {
        self.names.get(annotator).map(|id| self.reasons[id as usize])
    }
}

/// What was left out with the excluded annotators.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedVotes {
    /// Rows of each excluded annotator, in the order of [`ExcludedAnnotators::names`].
    pub rows_of: Vec<u64>,
    /// Votes: rows times their counts.
    pub votes: u64,
}

impl ExcludedVotes {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows_of.iter().sum()
    }

    /// Number of annotators who have rows.
    #[must_use]
    pub fn annotators(&self) -> usize {
        self.rows_of.iter().filter(|&&rows| rows > 0).count()
    }

    /// Adds what another reader has left out.
    pub fn merge(&mut self, other: &Self) {
        self.rows_of.resize(self.rows_of.len().max(other.rows_of.len()), 0);
        for (rows, other) in self.rows_of.iter_mut().zip(&other.rows_of) {
            *rows += other;
        }
        self.votes = self.votes.saturating_add(other.votes);
    }
}

/// Items with few votes, which were left out after reading.
#[derive(Debug, Clone, Default)]
pub struct ExcludedItems {
    /// Items with fewer votes were left out.
    pub min_votes: u64,
    /// The items of all studies.
    pub items: Vec<ExcludedItem>,
    /// Number of votes on them.
    pub votes: u64,
    /// The names of those of each study, for the second pass.
    pub of_study: Vec<Labels>,
}

/// An item with few votes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExcludedItem {
    /// The study, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The item.
    pub item: String,
    /// Number of votes on it.
    pub votes: u64,
}

/// Counts the rows that one thread leaves out.
#[derive(Debug)]
pub(crate) struct ExclusionCounter {
    annotators: Arc<ExcludedAnnotators>,
    found: ExcludedVotes,
    /// Not that of counted rows: whether an outcome was seen before must not depend on other rows.
    outcome_cache: OutcomeCache,
}

impl ExclusionCounter {
    pub(crate) fn new(annotators: &Arc<ExcludedAnnotators>) -> Self {
        let found = ExcludedVotes { rows_of: vec![0; annotators.len()], votes: 0 };
        let outcome_cache = OutcomeCache::default();
        Self { annotators: Arc::clone(annotators), found, outcome_cache }
    }

    /// Counts a row if its annotator is excluded, and returns what became of it then. Such a row must be
    /// valid too.
    #[inline]
    pub(crate) fn take(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
    ) -> Result<Option<RowFate>, (Role, Problem)> {
        let Some(id) = self.annotators.names.get(cells[Role::Annotator as usize]) else {
            return Ok(None);
        };
        match Row::read(layout, cells, &mut self.outcome_cache)? {
            Row::Vote(row) => {
                self.found.rows_of[id as usize] += 1;
                self.found.votes = self.found.votes.saturating_add(row.count);
                Ok(Some(RowFate::Counted))
            }
            Row::PassedOver(fate) => Ok(Some(fate)),
        }
    }

    /// The rows that all threads have left out.
    pub(crate) fn merge<'a>(counters: impl Iterator<Item = &'a Self>) -> ExcludedVotes {
        counters.fold(ExcludedVotes::default(), |mut all, counter| {
            all.merge(&counter.found);
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read};

    const HEADER: &str = "annotator,left,right,winner,count\n";
    const ROWS: [&str; 8] = [
        "bot,new item,a,left,3",
        "ann,a,b,left,1",
        "bot,b,a,1,1",
        "bob,b,c,right,2",
        "ann,a,c,left,1",
        "spam,a,c,right,1",
        ",c,a,right,1",
        "bob,a,b,left,1",
    ];

    fn read_rows<'a>(
        rows: impl Iterator<Item = &'a &'a str>,
        excluded: Option<&ExcludedAnnotators>,
        threads: usize,
    ) -> crate::Result<crate::Input> {
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        let rows: Vec<&str> = rows.copied().collect();
        std::fs::write(file.path(), format!("{HEADER}{}\n", rows.join("\n"))).unwrap();
        let excluded = excluded.cloned().map(Arc::new);
        let options = ReadOptions { excluded, threads, ..ReadOptions::default() };
        read(&[file.path().to_str().unwrap().to_owned()], &options, &Arc::default())
    }

    fn excluded() -> ExcludedAnnotators {
        let by_name = |name| (name, FlagReason::Excluded);
        ExcludedAnnotators::new(["bot", "spam", "bot", "", "nobody"].map(by_name))
    }

    #[test]
    fn the_rest_is_counted_as_if_the_rows_were_not_there() {
        let excluded = excluded();
        assert_eq!(excluded.names().collect::<Vec<_>>(), ["bot", "spam", "nobody"]);
        let kept = ROWS.iter().filter(|row| !row.starts_with("bot") && !row.starts_with("spam"));
        let expected = read_rows(kept, None, 1).unwrap();
        for threads in [1, 3] {
            let found = read_rows(ROWS.iter(), Some(&excluded), threads).unwrap();
            let left_out = found.excluded.unwrap();
            assert_eq!(left_out.rows_of, [2, 1, 0]);
            assert_eq!((left_out.rows(), left_out.annotators(), left_out.votes), (3, 2, 5));
            // `1` of an excluded row would make the words ambiguous.
            assert_eq!(found.outcomes, expected.outcomes);
            let (found, expected) = (&found.studies[0], &expected.studies[0]);
            assert_eq!(found.groups, expected.groups);
            assert!(found.items.iter().eq(expected.items.iter()));
            assert_eq!((found.rows, found.comparisons), (expected.rows, expected.comparisons));
            assert_eq!(found.annotators.len(), 2);
        }
    }

    #[test]
    fn all_votes_cannot_be_left_out() {
        let excluded = excluded();
        let rows = ROWS.iter().filter(|row| row.starts_with("bot"));
        let error = read_rows(rows, Some(&excluded), 2).unwrap_err().to_string();
        assert!(error.contains("no vote is left: all 2 rows"), "{error}");
    }

    #[test]
    fn rows_of_excluded_annotators_are_checked() {
        let excluded = excluded();
        let rows = ["bot,a,b,sideways,1", "ann,a,b,left,1"];
        let error = read_rows(rows.iter(), Some(&excluded), 1).unwrap_err().to_string();
        assert!(error.contains("sideways"), "{error}");
    }
}
