//! What can be wrong with a file, said so that its owner can mend it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Result of the operations of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file that cannot be used, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The file.
        file: Arc<str>,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Reading failed half-way.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// The system's or the decompressor's reason.
        source: std::io::Error,
    },
    /// The file has no byte.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: Arc<str>,
    },
    /// The file has a header, or a schema, but no vote.
    #[error("{file}: there is a header but no vote below it")]
    NoVotes {
        /// The file.
        file: Arc<str>,
    },
    /// Every row was bad and was skipped.
    #[error("no vote is left: all {rejected} rows were rejected; the first: {first}")]
    NothingLeft {
        /// How many rows were rejected.
        rejected: u64,
        /// The first of them.
        first: Box<BadRow>,
    },
    /// The file is not what its name or flag says.
    #[error("{file}: this is not {expected}: {found}")]
    WrongFormat {
        /// The file.
        file: Arc<str>,
        /// What it should be.
        expected: &'static str,
        /// What was found in it.
        found: String,
    },
    /// A column that is needed is not there, or there twice, or its role is not clear.
    #[error("{file}: {problem}")]
    Columns {
        /// The file.
        file: Arc<str>,
        /// What is wrong with the columns.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A row that makes no sense.
    #[error(transparent)]
    Row(#[from] Box<BadRow>),
    /// Outcomes that are item labels in some rows and words or numbers in others.
    #[error(
        "the outcome column is ambiguous: {label:?} is read as an item's label in one row, \
         {other:?} as a word or number in another, and {label:?} could be that too"
    )]
    MixedOutcomes {
        /// A value read as a label.
        label: String,
        /// A value that can only be a word or a number.
        other: String,
    },
    /// A file was not the same when it was read again.
    #[error("the input changed while it was being used: it is no longer what was read first")]
    Changed,
    /// Files that cannot be put together, or written as asked.
    #[error("{problem}")]
    Formats {
        /// What does not go together.
        problem: String,
        /// What to do.
        help: String,
    },
    /// An output file cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file.
        file: Arc<str>,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// What the user can do about it, where that is not already said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Empty { .. } | Self::NoVotes { .. } => {
                "check that the export finished; the file needs a header and one vote a row, \
                 for example: left,right,winner"
            }
            Self::Columns { help, .. } | Self::Formats { help, .. } => return Some(help.clone()),
            Self::Changed => "run again while nothing writes to the files",
            Self::Row(row) => return Some(row.problem.help()),
            Self::NothingLeft { .. } => {
                "run without --on-error skip to see the first bad row in full"
            }
            Self::MixedOutcomes { .. } => {
                "say how to read it: --outcome-as label, --outcome-as word or --outcome-as number"
            }
            Self::WrongFormat { .. } => {
                "rename the file, or say what it is with --input-format csv|tsv|jsonl|parquet|arrow"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// The file at fault, where it is one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Open { file, .. }
            | Self::Read { file, .. }
            | Self::Empty { file }
            | Self::NoVotes { file }
            | Self::WrongFormat { file, .. }
            | Self::Columns { file, .. }
            | Self::Write { file, .. } => Some(file),
            Self::Row(row) => Some(&row.file),
            Self::NothingLeft { .. }
            | Self::MixedOutcomes { .. }
            | Self::Changed
            | Self::Formats { .. } => None,
        }
    }

    pub(crate) fn read(file: &Arc<str>, source: impl Into<std::io::Error>) -> Self {
        Self::Read { file: Arc::clone(file), source: source.into() }
    }
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// Line of a text file, counted from 1, the header included.
    Line(u64),
    /// Row of a table, counted from 1.
    Row(u64),
}

impl Position {
    /// The line or row.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
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

/// A row that was not counted, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BadRow {
    /// The file.
    #[serde(serialize_with = "write_name", deserialize_with = "read_name")]
    pub file: Arc<str>,
    /// The row in it.
    pub position: Position,
    /// The column at fault: its place (from 1) and its name.
    pub column: Option<(usize, String)>,
    /// The value at fault, cut to a readable length.
    pub value: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// The row's text, cut to a readable length, and which bytes of it are at fault.
    pub snippet: Option<(String, std::ops::Range<usize>)>,
}

fn write_name<S: Serializer>(name: &str, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(name)
}

fn read_name<'a, D: Deserializer<'a>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Into::into)
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file, self.position)?;
        if let Some((place, name)) = &self.column {
            write!(f, ", column {place} (`{}`)", name.escape_debug())?;
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
    UnknownOutcome(crate::OutcomeAs),
    /// An outcome that is infinite or not a number.
    #[error("the outcome is not a finite number")]
    NonFinite,
    /// A count that is not a whole number from 0.
    #[error("the count is not a whole number from 0 up")]
    BadCount,
    /// An item against itself.
    #[error("an item is compared with itself")]
    SelfComparison,
    /// An item without a name.
    #[error("the item's name is empty")]
    EmptyItem,
    /// A null where a value is needed.
    #[error("the value is missing")]
    Missing,
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
        /// How many items there are, where that was said.
        items: Option<usize>,
    },
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8")]
    BadUtf8,
    /// A quoted field that goes on after its closing quote.
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
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        let mend = self.mend();
        match self {
            // Nothing can be skipped: where the next row starts is not known.
            Self::UnclosedQuote => mend.to_owned(),
            Self::OutOfRange { items: Some(items) } => {
                format!("{mend}; there are {items} items")
            }
            Self::OutOfRange { items: None } => mend.to_owned(),
            _ => format!("{mend}. Or skip such rows, counted and listed, with --on-error skip"),
        }
    }

    /// What the value should be.
    pub(crate) fn mend(&self) -> &'static str {
        match self {
            Self::UnknownOutcome(how) => how.accepted(),
            Self::NonFinite => "an outcome is a finite number; leave the row out if there is none",
            Self::BadCount => "a count is a whole number, 0 or more",
            Self::SelfComparison => "a vote needs two different items",
            Self::EmptyItem | Self::Missing => "fill the cell in, or leave the row out",
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

/// Cuts text to a length that fits a message, at a character's border.
pub(crate) fn shorten(text: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * most)]);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
