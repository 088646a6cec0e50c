//! Numbers in the outcome column that could be codes for the two sides.
//!
//! `left,right,winner` with the values 1 and 2 usually means "the first" and "the second", but both
//! are positive numbers, so each vote would count for the left item. If 0 stands for the right item,
//! each of its votes would count as a tie. In both cases no vote of the whole input is for the right
//! item. That hardly happens with degrees of preference, so the run stops and asks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::columns::{Layout, PossibleCodes, Role};
use crate::error::{Error, Result};
use crate::parse::{Interpretation, ParsedRow, outcome_number};

/// With one distinct value, fewer rows than this are no evidence: a handful of votes can agree.
const MIN_ROWS_OF_ONE_VALUE: u64 = 10;
/// In a column of numbers by its name, fewer rows than this are no evidence.
const MIN_ROWS_OF_NUMBERS: u64 = 5;
/// More distinct values than this are a scale, not codes.
const MAX_CODES: usize = 1000;

/// The numbers of outcome columns, while no vote was for the right item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideCodes {
    /// Whether the outcomes are known not to be codes.
    settled: bool,
    /// Whether some column has a name that does not say that its values are numbers.
    any_number: bool,
    /// The name of an outcome column.
    column: Option<String>,
    /// Rows of each number. The keys are bits of non-negative numbers, which sort like the numbers.
    rows: BTreeMap<u64, u64>,
}

impl SideCodes {
    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Takes note of a valid outcome and of how it was read.
    pub(crate) fn note(&mut self, layout: &Layout, text: &[u8], row: &ParsedRow<'_>) {
        if self.settled || layout.possible_codes == PossibleCodes::None {
            return;
        }
        let number = outcome_number(layout, text);
        let could_be_code = match (number, layout.possible_codes) {
            // A word or a label. Words for ties also occur next to codes.
            (None, _) => row.y == 0.0,
            (Some(number), PossibleCodes::ZeroAndOne) => number == 0.0 || number == 1.0,
            (Some(number), _) => number >= 0.0,
        };
        if row.y < 0.0 || !could_be_code {
            self.settle();
            return;
        }
        let is_label = matches!(
            row.interpretation,
            Some(Interpretation::Label | Interpretation::AmbiguousLabel)
        );
        // The label of the left item says nothing about other numbers in the column.
        let Some(number) = number.filter(|_| !is_label) else { return };
        self.any_number |= layout.possible_codes == PossibleCodes::Any;
        if self.column.is_none() {
            self.column = layout.column(Role::Outcome).map(|(_, name)| name);
        }
        // The absolute value turns -0 into 0.
        *self.rows.entry(number.abs().to_bits()).or_insert(0) += 1;
        self.check_size();
    }

    /// Adds what another reader has seen.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.settled || other.settled {
            self.settle();
            return;
        }
        self.any_number |= other.any_number;
        self.column = self.column.iter().chain(&other.column).min().cloned();
        for (&number, &rows) in &other.rows {
            *self.rows.entry(number).or_insert(0) += rows;
        }
        self.check_size();
    }

    fn check_size(&mut self) {
        if self.rows.len() > MAX_CODES {
            self.settle();
        }
    }

    /// Forgets the values, so that the result does not depend on how rows are distributed.
    fn settle(&mut self) {
        *self = Self { settled: true, ..Self::default() };
    }

    /// Checks that the numbers are not likely to be codes for the two sides.
    ///
    /// # Errors
    /// [`Error::NoRightVotes`] with the values and the number of rows of each.
    pub(crate) fn check(&self) -> Result<()> {
        let rows: u64 = self.rows.values().sum();
        let is_evidence = match (self.rows.len(), self.any_number) {
            (0, _) | (1, false) => false,
            (1, true) => rows >= MIN_ROWS_OF_ONE_VALUE,
            (_, true) => true,
            (_, false) => rows >= MIN_ROWS_OF_NUMBERS,
        };
        if self.settled || !is_evidence {
            return Ok(());
        }
        let values = self.rows.iter().map(|(&bits, &rows)| (f64::from_bits(bits), rows));
        Err(Error::NoRightVotes {
            column: self.column.clone().unwrap_or_default(),
            values: values.collect(),
        })
    }
}
