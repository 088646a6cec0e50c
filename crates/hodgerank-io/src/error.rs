//! Errors: facts about files, columns and rows. Advice is up to the caller.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::format::Format;
use crate::outcome::OutcomeAs;

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
    /// Reading failed.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: Arc<str>,
        /// The system's or the decompressor's reason.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: Arc<str>,
    },
    /// The file has a header or schema but no rows.
    #[error("{file}: there is a header but no vote below it")]
    NoVotes {
        /// The file.
        file: Arc<str>,
    },
    /// Every row was rejected.
    #[error("no vote is left: all {rejected} rows were rejected; the first: {first}")]
    NothingLeft {
        /// Number of rejected rows.
        rejected: u64,
        /// The first of them.
        first: Box<BadRow>,
    },
    /// The content contradicts the format that the file's name or the caller promised.
    #[error("{file}: the content is not {}", wrong_format(*expected, *found))]
    WrongFormat {
        /// The file.
        file: Arc<str>,
        /// The promised format.
        expected: Format,
        /// The format that begins with the file's first bytes, if there is one.
        found: Option<Format>,
    },
    /// Text in an encoding that cannot be read.
    #[error("{file}: {encoding}")]
    Encoding {
        /// The file.
        file: Arc<str>,
        /// What was found.
        encoding: WrongEncoding,
    },
    /// A needed column is missing, occurs twice, has the wrong type or has no clear role.
    #[error("{file}: {problem}")]
    Columns {
        /// The file.
        file: Arc<str>,
        /// What is wrong with the columns.
        problem: ColumnProblem,
    },
    /// A row that cannot be read as a vote.
    #[error(transparent)]
    Row(#[from] Box<BadRow>),
    /// Outcomes that are ambiguous item labels in some rows and words or numbers in others.
    #[error(
        "the outcome column is ambiguous: {label:?} is read as an item's label in one row, \
         {other:?} as a word or number in another, and {label:?} could be that too"
    )]
    MixedOutcomes {
        /// A value read as a label.
        label: String,
        /// A value read as a word or a number.
        other: String,
    },
    /// A file changed between the first and the second pass.
    #[error("the input changed while it was being used: the second pass found other votes")]
    Changed,
    /// Files whose rows cannot be written to one file.
    #[error("{first} and {second} cannot be put into one file: {difference}")]
    Incompatible {
        /// A file.
        first: Arc<str>,
        /// A file with another format or other columns.
        second: Arc<str>,
        /// What differs.
        difference: String,
    },
    /// A stream where a file is needed that several processes can open.
    #[error("{file}: standard input and pipes cannot be shared by several processes")]
    NotShareable {
        /// The stream.
        file: Arc<str>,
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
    /// The file that caused the error, if it is a single one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Open { file, .. }
            | Self::Read { file, .. }
            | Self::Empty { file }
            | Self::NoVotes { file }
            | Self::WrongFormat { file, .. }
            | Self::Encoding { file, .. }
            | Self::Columns { file, .. }
            | Self::NotShareable { file }
            | Self::Write { file, .. } => Some(file),
            Self::Row(row) => Some(&row.file),
            Self::NothingLeft { .. }
            | Self::MixedOutcomes { .. }
            | Self::Changed
            | Self::Incompatible { .. } => None,
        }
    }

    pub(crate) fn read(file: &Arc<str>, source: impl Into<std::io::Error>) -> Self {
        Self::Read { file: Arc::clone(file), source: source.into() }
    }

    pub(crate) fn write(file: &Arc<str>, source: std::io::Error) -> Self {
        Self::Write { file: Arc::clone(file), source }
    }
}

fn wrong_format(expected: Format, found: Option<Format>) -> String {
    match found {
        Some(found) => format!("{} but {}", expected.title(), found.title()),
        None => format!("{}: its first bytes do not match", expected.title()),
    }
}

/// Encodings of text that are recognised but cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongEncoding {
    /// UTF-16 with a byte-order mark.
    #[error("this is not UTF-8 text: it is UTF-16")]
    Utf16,
    /// Lines that end with a carriage return alone.
    #[error("this is not a text file with line ends: its lines end with a bare carriage return")]
    CarriageReturn,
}

/// What can be wrong with the columns of a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// No pair of columns has names that are known for items.
    #[error("no pair of item columns was found among {}", list(columns))]
    NoItems {
        /// The columns of the file.
        columns: Vec<String>,
        /// Whether some column name is a number: the file probably lacks a header.
        has_numbers: bool,
    },
    /// No column has a name that is known for outcomes.
    #[error("there is no outcome column among {}", list(columns))]
    NoOutcome {
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// Two columns have names that are known for outcomes.
    #[error("two columns could be the outcome: `{first}` and `{second}`")]
    TwoOutcomes {
        /// One of the columns.
        first: String,
        /// The other column.
        second: String,
    },
    /// A column that the caller named does not exist.
    #[error("there is no column `{name}` ({role}); the columns are {}", list(columns))]
    NotFound {
        /// The name of the column.
        name: String,
        /// What it was named for: a field of [`ColumnNames`](crate::ColumnNames).
        role: &'static str,
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// Several columns have the same name.
    #[error("the column `{0}` appears more than once")]
    Duplicate(String),
    /// One column was named for two of left item, right item and outcome.
    #[error("the column `{}` was given twice", .0.escape_debug())]
    GivenTwice(String),
    /// A column name in the header cannot be read.
    #[error("the header, column {column}: {problem}: \"{}\"", value.escape_debug())]
    Header {
        /// The number of the column, from 1.
        column: usize,
        /// The bad name.
        value: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A column has a type that does not fit its role.
    #[error("column {column} (`{name}`) has the type {data_type}, but {expected} are needed")]
    WrongType {
        /// The number of the column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// Its type.
        data_type: String,
        /// Types that fit.
        expected: &'static str,
    },
    /// A column has a type that cannot be read.
    #[error("a column has the type {0}, which cannot be read")]
    UnsupportedType(String),
    /// A table in memory cannot be read.
    #[error("the table cannot be read: {0}")]
    Table(String),
}

/// Column names for a message.
fn list(columns: &[String]) -> String {
    const MAX_LISTED: usize = 20;
    let listed = columns.iter().take(MAX_LISTED);
    let mut list =
        listed.map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
    if columns.len() > MAX_LISTED {
        list.push_str(&format!(" and {} more", columns.len() - MAX_LISTED));
    }
    list
}

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
    /// An outcome that is infinite or not a number.
    #[error("the outcome is not a finite number")]
    NonFinite,
    /// A count that is not a whole number from 0.
    #[error("the count is not a whole number from 0 up")]
    BadCount,
    /// An item compared with itself.
    #[error("an item is compared with itself")]
    SelfComparison,
    /// An item without a name.
    #[error("the item's name is empty")]
    EmptyItem,
    /// An empty cell or null where a value is needed.
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
    /// What is expected instead.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        match self {
            Self::UnknownOutcome(outcome_as) => outcome_as.accepted(),
            Self::NonFinite => "an outcome is a finite number; remove the row if there is none",
            Self::BadCount => "a count is a whole number, 0 or more",
            Self::SelfComparison => "a vote needs two different items",
            Self::EmptyItem | Self::Missing => "fill in the value, or remove the row",
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
