//! Rows that cannot be read as votes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::{MAX_LABEL_BYTES, MAX_RECORD_BYTES, MAX_VOTES};
use crate::outcome::OutcomeAs;
use crate::text::visible_name;

/// The position of a row in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// Line of a text file, counted from 1 including the header.
    Line(u64),
    /// Row of a table, counted from 1.
    Row(u64),
}

impl Position {
    /// The number of the line or row.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
        }
    }

    /// The same position with `offset` lines or rows before it.
    pub(crate) fn shifted(self, offset: u64) -> Self {
        match self {
            Self::Line(line) => Self::Line(offset + line),
            Self::Row(row) => Self::Row(offset + row),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A row that cannot be read as a vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BadRow {
    /// The file.
    #[serde(serialize_with = "write_name", deserialize_with = "read_name")]
    pub file: Arc<str>,
    /// The position of the row.
    pub position: Position,
    /// The column with the problem: its number (from 1) and its name.
    pub column: Option<(usize, String)>,
    /// The bad value, cut to a readable length.
    pub value: String,
    /// What is wrong with the value.
    pub problem: Problem,
    /// The row's text, cut to a readable length, and the byte range of the bad value in it.
    pub snippet: Option<(String, std::ops::Range<usize>)>,
    /// What else was rejected near this row, by value; empty unless this row ended the run.
    #[serde(default)]
    pub others: Vec<RejectedValue>,
    /// The number of rows among which these were found.
    #[serde(default)]
    pub rows: u64,
    /// Whether labels of the input differ only in spelling; known only if this row ended the run.
    #[serde(default)]
    pub misspelt: bool,
}

/// Rejected rows that have the same fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RejectedValue {
    /// The first of them, with the value.
    pub first: BadRow,
    /// How many there are.
    pub rows: u64,
}

impl RejectedValue {
    /// Whether a row has the same fault.
    pub(crate) fn has_fault_of(&self, row: &BadRow) -> bool {
        let name = |row: &BadRow| row.column.as_ref().map(|(_, name)| name.clone());
        self.first.problem.is_like(&row.problem)
            && name(&self.first) == name(row)
            && (!row.problem.depends_on_value() || self.first.value == row.value)
    }
}

fn write_name<S: Serializer>(name: &str, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name)
}

fn read_name<'a, D: Deserializer<'a>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Into::into)
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", visible_name(&self.file), self.position)?;
        if let Some((number, name)) = &self.column {
            write!(f, ", column {number} (`{}`)", name.escape_debug())?;
        }
        write!(f, ": {}", self.problem)?;
        if !self.value.is_empty() {
            write!(f, ": \"{}\"", self.value.escape_debug())?;
        }
        Ok(())
    }
}

impl std::error::Error for BadRow {}

/// What can be wrong with a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An outcome that is neither a word, nor a label of the row, nor a number.
    #[error("unknown outcome")]
    UnknownOutcome(OutcomeAs),
    /// An outcome that differs from this item's label only in case, spaces or Unicode form.
    #[error("the outcome is another spelling of the item \"{}\"", visible_name(.0))]
    OtherSpelling(String),
    /// A number with a comma for its decimals, where commas separate fields.
    #[error("the outcome has a decimal comma")]
    DecimalComma,
    /// An outcome that is infinite or not a number.
    #[error("the outcome is not a finite number")]
    NonFinite,
    /// A count that is not a whole number from 0.
    #[error("the count is not a whole number from 0 up")]
    BadCount,
    /// A count that is too large to be exact.
    #[error("the count is larger than 2^53 ({MAX_VOTES})")]
    CountTooLarge,
    /// The name of an item or annotator, or a `by` value, is too long.
    #[error("the name is longer than {MAX_LABEL_BYTES} bytes")]
    LabelTooLong,
    /// A record of a text file is too long.
    #[error("the row is longer than {} MiB", MAX_RECORD_BYTES >> 20)]
    RecordTooLong,
    /// An item compared with itself.
    #[error("an item is compared with itself")]
    SelfComparison,
    /// An item without a name.
    #[error("the item's name is empty")]
    EmptyItem,
    /// An empty cell or null where a value is needed.
    #[error("the value is missing")]
    Missing,
    /// An empty cell or null as the outcome.
    #[error("the value is missing")]
    NoOutcome,
    /// A value of a type that cannot be used here.
    #[error("the value has a type that cannot be used here")]
    WrongType,
    /// Fewer or more fields than the header has.
    #[error("the row has {found} fields, the header {expected}")]
    FieldCount {
        /// Fields of the row.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// An index below 0, or beyond the last item.
    #[error("the index is out of range")]
    OutOfRange {
        /// The number of items, if it is known.
        items: Option<usize>,
    },
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8")]
    BadUtf8,
    /// A quoted field that continues after its closing quote.
    #[error("text after a closing quote")]
    TextAfterQuote,
    /// A quote that is never closed.
    #[error("a quote is opened and never closed")]
    UnclosedQuote,
    /// A line that is not a JSON object.
    #[error("not a JSON object ({0})")]
    BadJson(String),
}

impl Problem {
    /// Whether the outcome is at fault.
    #[must_use]
    pub fn is_outcome(&self) -> bool {
        matches!(
            self,
            Self::UnknownOutcome(_)
                | Self::OtherSpelling(_)
                | Self::DecimalComma
                | Self::NonFinite
                | Self::NoOutcome
        )
    }

    /// Whether rows with this problem are listed by value.
    pub(crate) fn depends_on_value(&self) -> bool {
        self.is_outcome() || matches!(self, Self::BadCount | Self::CountTooLarge)
    }

    /// Whether this is the same kind of problem, whatever the row's own facts are.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// What is expected instead.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        match self {
            Self::UnknownOutcome(outcome_as) => outcome_as.accepted(),
            Self::OtherSpelling(_) => "an outcome has the same spelling as its item",
            Self::DecimalComma => {
                "decimals follow a point; a comma is accepted in files whose fields are separated by \
                 semicolons or tabs"
            }
            Self::NonFinite => "an outcome is a finite number; remove the row if there is none",
            Self::BadCount => "a count is a whole number, 0 or more",
            Self::CountTooLarge => "beyond this, sums of counts would be rounded",
            Self::LabelTooLong => "use a short name or a number; docs/limits.md lists all limits",
            Self::RecordTooLong => {
                "check the line ends of the file; docs/limits.md lists all limits"
            }
            Self::SelfComparison => "a vote needs two different items",
            Self::EmptyItem | Self::Missing | Self::NoOutcome => {
                "fill in the value, or remove the row"
            }
            Self::WrongType => "item names are text or whole numbers; outcomes text or numbers",
            Self::FieldCount { .. } => {
                "add or remove fields; a name that contains the separator goes into double quotes"
            }
            Self::OutOfRange { .. } => "items are counted from 0 up",
            Self::BadUtf8 => "save the file as UTF-8",
            Self::TextAfterQuote => "a double quote inside a quoted field is written twice: \"\"",
            Self::UnclosedQuote => "close the quote; the rest of the file was read as one field",
            Self::BadJson(_) => "each line is one object: {\"left\": …, \"right\": …, …}",
        }
    }
}

/// Cuts text to at most `max_chars` characters, with an ellipsis for the rest.
pub(crate) fn shorten(text: &[u8], max_chars: usize) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * max_chars)]);
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
