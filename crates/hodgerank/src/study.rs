//! A study: the votes that are ranked together.

use crate::annotator_votes::AnnotatorVotes;
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups, SideCounts};
use crate::labels::Labels;

/// Maximum number of votes of a study: 2⁵³. Weights are `f64`, and up to this number every sum of
/// counts is exact, in whatever order it is added up.
pub const MAX_VOTES: u64 = 1 << 53;

/// Items and distinct votes of one study, counted but not yet ranked.
#[derive(Debug, Clone)]
pub struct Study {
    /// The value of the column that separates studies (`--by`).
    pub by: Option<String>,
    /// Item labels in [natural order](crate::natural_order); an item's index is its position.
    pub items: Labels,
    /// The distinct votes.
    pub groups: Groups,
    /// Labels of the annotators.
    pub annotators: Labels,
    /// Every vote with its annotator, if it was kept; an annotator's index is that of `annotators`.
    pub annotator_votes: Option<AnnotatorVotes>,
    /// The votes of each pair by side, if they were counted and all sides are known. They also follow
    /// from `annotator_votes`, so that there are none where all votes were kept.
    pub sides: Option<SideCounts>,
    /// Rows counted.
    pub rows: u64,
    /// Votes counted: rows times their counts.
    pub comparisons: u64,
}

impl Study {
    /// The comparison graph of the votes.
    ///
    /// # Errors
    /// If a vote refers to an item that does not exist, or there are too many items or votes.
    pub fn into_graph(self) -> Result<ComparisonGraph> {
        Ok(ComparisonGraph::new(self.items.len(), self.groups)?.with_sides(self.sides))
    }

    /// Checks that there are no more votes than can be counted exactly.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more than [`MAX_VOTES`].
    pub fn check_votes(&self) -> Result<()> {
        check_votes(self.comparisons)
    }

    /// The size of the study.
    #[must_use]
    pub fn summary(&self, rejected: u64, components: usize) -> InputSummary {
        InputSummary {
            rows: self.rows,
            rejected,
            comparisons: self.comparisons,
            items: self.items.len(),
            groups: self.groups.len(),
            annotators: self.annotators.len(),
            components,
        }
    }
}

/// Checks that a number of votes can be counted exactly.
///
/// # Errors
/// [`Error::TooLarge`] if it is larger than [`MAX_VOTES`].
pub fn check_votes(votes: u64) -> Result<()> {
    if votes <= MAX_VOTES {
        return Ok(());
    }
    Err(Error::TooLarge { what: "votes", count: votes, max: MAX_VOTES })
}

/// The size of a study: what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct InputSummary {
    /// Rows counted.
    pub rows: u64,
    /// Rows of the whole input that were rejected.
    pub rejected: u64,
    /// Votes: rows times their counts.
    pub comparisons: u64,
    /// Items.
    pub items: usize,
    /// Distinct votes.
    pub groups: usize,
    /// Annotators.
    pub annotators: usize,
    /// Connected components of the comparison graph.
    pub components: usize,
}
