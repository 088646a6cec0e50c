//! The studies that reading returns, with the rows that were rejected.

use hodgerank::Study;
use serde::{Deserialize, Serialize};

use crate::error::{BadRow, Error, RejectedValue, Result};
use crate::excluded::{ExcludedItems, ExcludedVotes};
use crate::limits::MAX_VOTES;
use crate::side_codes::SideCodes;
use crate::table_head::TableHead;

/// Everything that was read.
#[derive(Debug)]
pub struct Input {
    /// One study per value of the `by` column, sorted by value; a single one without that column.
    pub studies: Vec<Study>,
    /// The rows that could not be read as votes.
    pub rejected: Rejected,
    /// The rows that are no votes, or that the caller does not want.
    pub passed_over: PassedOver,
    /// What was left out with excluded annotators; none if nobody was to be excluded.
    pub excluded: Option<ExcludedVotes>,
    /// Items that were left out because of few votes; none if none was to be left out.
    pub excluded_items: Option<ExcludedItems>,
    /// Format and columns of each file, in the order of the files.
    pub tables: Vec<TableHead>,
    /// Outcomes that could have been read in another way.
    pub outcomes: OutcomesSeen,
}

impl Input {
    /// Checks what depends on the whole input.
    ///
    /// # Errors
    /// [`Error::MixedOutcomes`] if outcomes were read in contradictory ways,
    /// [`Error::NoRightVotes`] if they could be codes for the two sides,
    /// [`Error::TooManyVotes`] if a study has more than [`MAX_VOTES`],
    /// [`Error::NothingLeft`] if every row was rejected, [`Error::NothingWanted`] if every other row was
    /// passed over, [`Error::AllExcluded`] if every other row is by an excluded annotator.
    pub fn check(&self) -> Result<()> {
        self.outcomes.check()?;
        for study in &self.studies {
            if study.comparisons > MAX_VOTES {
                let (by, votes) = (study.by.clone(), study.comparisons);
                return Err(Error::TooManyVotes { by, votes });
            }
        }
        let any_accepted = !self.studies.is_empty();
        self.rejected.check_left(any_accepted, self.excluded.as_ref(), &self.passed_over)
    }
}

/// Examples of outcomes that could have been read in another way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomesSeen {
    /// An outcome that was read as a label but has another meaning as a word or number.
    pub ambiguous_label: Option<String>,
    /// An outcome read as a word or number.
    pub plain: Option<String>,
    /// Numbers that could be codes for the two sides.
    pub codes: SideCodes,
}

impl OutcomesSeen {
    /// Merges what another reader has seen. Keeps the smallest of several outcomes, so that the
    /// message does not depend on how rows are distributed.
    pub fn merge(&mut self, other: &Self) {
        fn smaller(known: &mut Option<String>, other: Option<&String>) {
            *known = known.iter().chain(other).min().cloned();
        }
        smaller(&mut self.ambiguous_label, other.ambiguous_label.as_ref());
        smaller(&mut self.plain, other.plain.as_ref());
        self.codes.merge(&other.codes);
    }

    /// Checks that no outcome contradicts the way in which another one was read.
    ///
    /// # Errors
    /// [`Error::MixedOutcomes`] if there are ambiguous labels as well as words or numbers,
    /// [`Error::NoRightVotes`] if the numbers could be codes for the two sides.
    pub fn check(&self) -> Result<()> {
        match (&self.ambiguous_label, &self.plain) {
            (Some(label), Some(other)) => {
                Err(Error::MixedOutcomes { label: label.clone(), other: other.clone() })
            }
            _ => self.codes.check(),
        }
    }
}

/// Rows that could not be read as votes and were skipped.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Rejected {
    /// Number of rejected rows.
    pub total: u64,
    /// The first [`Rejected::MAX_LISTED`] of them, in the order of the input.
    pub first: Vec<BadRow>,
    /// All of them, grouped by fault: the first [`Rejected::MAX_VALUES`] different ones.
    pub values: Vec<RejectedValue>,
}

/// Rows that were not read as votes, but not rejected.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// Rows whose outcome the caller ignores.
    pub ignored: u64,
    /// Rows that do not match the caller's filter.
    pub filtered: u64,
    /// Rows of empty cells. Blank lines are not counted.
    pub blank: u64,
}

impl PassedOver {
    /// Adds what another reader has passed over.
    pub fn merge(&mut self, other: &Self) {
        self.ignored += other.ignored;
        self.filtered += other.filtered;
        self.blank += other.blank;
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Rejected {
    /// Maximum number of rejected rows that are kept in full.
    pub const MAX_LISTED: usize = 10;

    /// Maximum number of different faults that are told apart.
    pub const MAX_VALUES: usize = 50;

    /// Adds the rows that another reader has rejected, which come after these.
    pub fn merge(&mut self, other: Self) {
        self.total += other.total;
        let room = Self::MAX_LISTED.saturating_sub(self.first.len());
        self.first.extend(other.first.into_iter().take(room));
        for value in other.values {
            let has_room = self.values.len() < Self::MAX_VALUES;
            match self.values.iter_mut().find(|known| known.has_fault_of(&value.first)) {
                Some(known) => known.rows += value.rows,
                None if has_room => self.values.push(value),
                None => {}
            }
        }
    }

    /// Checks that not every row was rejected or left out; `any_accepted` says whether some row was a vote
    /// that counts.
    ///
    /// # Errors
    /// [`Error::AllExcluded`], [`Error::NothingLeft`] or [`Error::NothingWanted`] if there were rows and
    /// none was accepted.
    pub fn check_left(
        &self,
        any_accepted: bool,
        excluded: Option<&ExcludedVotes>,
        passed_over: &PassedOver,
    ) -> Result<()> {
        let excluded = excluded.map_or(0, ExcludedVotes::rows);
        match self.first.first() {
            _ if !any_accepted && excluded > 0 => Err(Error::AllExcluded { rows: excluded }),
            Some(first) if !any_accepted => {
                Err(Error::NothingLeft { rejected: self.total, first: Box::new(first.clone()) })
            }
            None if !any_accepted && passed_over.ignored + passed_over.filtered > 0 => {
                let PassedOver { filtered, ignored, .. } = *passed_over;
                Err(Error::NothingWanted { filtered, ignored })
            }
            _ => Ok(()),
        }
    }
}
