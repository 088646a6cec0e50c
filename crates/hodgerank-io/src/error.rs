//! Errors: facts about files, columns and rows. Advice is up to the caller.

mod bad_row;
mod column_problem;
mod database_problem;
mod unsupported;

use std::sync::Arc;

use crate::format::Format;
use crate::limits::MAX_VOTES;
use crate::text::visible_name;
use crate::write::OutputName;

pub(crate) use bad_row::shorten;
pub use bad_row::{BadRow, Position, Problem, RejectedValue};
pub use column_problem::ColumnProblem;
pub use database_problem::DatabaseProblem;
pub use unsupported::{Unsupported, WrongEncoding};

/// Result of the operations of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file that cannot be used, or cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened.
    #[error("{}: cannot be opened: {source}", visible_name(file))]
    Open {
        /// The file.
        file: Arc<str>,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Reading failed.
    #[error("{}: cannot be read: {source}", visible_name(file))]
    Read {
        /// The file.
        file: Arc<str>,
        /// The system's or the decompressor's reason.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("{}: the file is empty", visible_name(file))]
    Empty {
        /// The file.
        file: Arc<str>,
    },
    /// The file has a header or schema but no rows.
    #[error("{}: there is a header but no vote below it", visible_name(file))]
    NoVotes {
        /// The file.
        file: Arc<str>,
    },
    /// Every row was rejected.
    #[error("no vote is left: every row was rejected ({rejected} in all); the first: {first}")]
    NothingLeft {
        /// Number of rejected rows.
        rejected: u64,
        /// The first of them.
        first: Box<BadRow>,
    },
    /// Every row is by an excluded annotator.
    #[error("no vote is left: all {rows} rows are by excluded annotators")]
    AllExcluded {
        /// Number of these rows.
        rows: u64,
    },
    /// No row is left to count, because the caller asked for it.
    #[error(
        "no vote is left: of {} rows, {} do not match the filter and {} have an ignored outcome",
        filtered + ignored,
        filtered,
        ignored
    )]
    NothingWanted {
        /// Rows that do not match the filter.
        filtered: u64,
        /// Rows whose outcome is ignored.
        ignored: u64,
    },
    /// The content contradicts the format that the file's name or the caller promised.
    #[error("{}: the content is not {}", visible_name(file), wrong_format(*expected, *found))]
    WrongFormat {
        /// The file.
        file: Arc<str>,
        /// The promised format.
        expected: Format,
        /// The format that begins with the file's first bytes, if there is one.
        found: Option<Format>,
    },
    /// A workbook lacks a sheet.
    #[error(
        "{}: there is no sheet `{}`; the sheets are {}",
        visible_name(file),
        visible_name(sheet),
        column_problem::list(sheets)
    )]
    NoSheet {
        /// The file.
        file: Arc<str>,
        /// The sheet that the caller named.
        sheet: String,
        /// The sheets of the workbook.
        sheets: Vec<String>,
    },
    /// A SQLite database that cannot be read, or not as the caller wants.
    #[error("{}: {problem}", visible_name(file))]
    Database {
        /// The file.
        file: Arc<str>,
        /// What is wrong.
        problem: DatabaseProblem,
    },
    /// Text in an encoding that cannot be read.
    #[error("{}: {encoding}", visible_name(file))]
    Encoding {
        /// The file.
        file: Arc<str>,
        /// What was found.
        encoding: WrongEncoding,
    },
    /// A needed column is missing, occurs twice, has the wrong type or has no clear role.
    #[error("{}: {problem}", visible_name(file))]
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
    /// Numbers that could be codes for the two sides: by their signs, no vote is for the right item.
    #[error(
        "no vote is for the right item: the outcome column `{}` has {}, and a number prefers the \
         right item only if it is negative",
        visible_name(column),
        list_values(values)
    )]
    NoRightVotes {
        /// The outcome column.
        column: String,
        /// The values in ascending order, and the number of rows of each.
        values: Vec<(f64, u64)>,
    },
    /// A file changed between the first and the second pass.
    #[error("{} changed while it was being read: {difference}", visible_name(file))]
    Changed {
        /// The file.
        file: Arc<str>,
        /// How it differs from what the first pass has read.
        difference: String,
    },
    /// Files whose rows cannot be written to one file.
    #[error(
        "{} and {} cannot be put into one file: {difference}",
        visible_name(first),
        visible_name(second)
    )]
    Incompatible {
        /// A file.
        first: Arc<str>,
        /// A file with another format or other columns.
        second: Arc<str>,
        /// What differs.
        difference: String,
    },
    /// A stream where a file is needed that several processes can open.
    #[error(
        "{}: standard input and pipes cannot be shared by several processes",
        visible_name(file)
    )]
    NotShareable {
        /// The stream.
        file: Arc<str>,
    },
    /// An output that is also an input.
    #[error("{output} would replace {}", input_file(input))]
    ReplacesInput {
        /// The output.
        output: OutputName,
        /// The input; `-` is standard input.
        input: Arc<str>,
    },
    /// Two outputs that are the same file.
    #[error("{first} and {second} cannot be written to the same file")]
    SameOutput {
        /// An output.
        first: OutputName,
        /// Another output.
        second: OutputName,
    },
    /// A study has more votes than can be counted exactly.
    #[error("there are {votes} votes{}, more than 2^53 ({MAX_VOTES})", of_study(by.as_deref()))]
    TooManyVotes {
        /// The value of the `by` column.
        by: Option<String>,
        /// Number of votes.
        votes: u64,
    },
    /// A file has a valid format, but a feature or a size that is not supported.
    #[error("{}: {feature}", visible_name(file))]
    Unsupported {
        /// The file.
        file: Arc<str>,
        /// What is not supported.
        feature: Unsupported,
    },
    /// There is too little memory.
    #[error(
        "not enough memory for {what}: about {} MB are needed, {} MB are available",
        needed.div_ceil(1_000_000),
        available / 1_000_000
    )]
    Memory {
        /// What the memory is needed for.
        what: String,
        /// Bytes that are needed, at least.
        needed: u64,
        /// Bytes that are available.
        available: u64,
    },
    /// A stream cannot be copied to a temporary file.
    #[error(
        "{}: cannot be copied to a temporary file in {}: {source}",
        visible_name(file),
        visible_name(folder)
    )]
    Spool {
        /// The stream.
        file: Arc<str>,
        /// The folder for temporary files.
        folder: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// An output file cannot be written.
    #[error("{}: cannot be written: {source}", visible_name(file))]
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
            | Self::NoSheet { file, .. }
            | Self::Database { file, .. }
            | Self::Encoding { file, .. }
            | Self::Columns { file, .. }
            | Self::Changed { file, .. }
            | Self::NotShareable { file }
            | Self::Unsupported { file, .. }
            | Self::Spool { file, .. }
            | Self::Write { file, .. } => Some(file),
            Self::Row(row) => Some(&row.file),
            Self::NothingLeft { .. }
            | Self::AllExcluded { .. }
            | Self::NothingWanted { .. }
            | Self::MixedOutcomes { .. }
            | Self::ReplacesInput { .. }
            | Self::SameOutput { .. }
            | Self::NoRightVotes { .. }
            | Self::TooManyVotes { .. }
            | Self::Memory { .. }
            | Self::Incompatible { .. } => None,
        }
    }

    pub(crate) fn read(file: &Arc<str>, source: impl Into<std::io::Error>) -> Self {
        let (file, source) = (Arc::clone(file), source.into());
        match source.downcast::<CopyError>() {
            Ok(CopyError { folder, source }) => Self::Spool { file, folder, source },
            Err(source) => Self::Read { file, source },
        }
    }

    /// An output that cannot be written.
    #[must_use]
    pub fn write(file: &Arc<str>, source: std::io::Error) -> Self {
        Self::Write { file: Arc::clone(file), source: system_error(source) }
    }
}

fn input_file(name: &str) -> String {
    match name {
        "-" => "the file on standard input".to_owned(),
        name => format!("the input {}", visible_name(name)),
    }
}

/// The system's own error, which the writers of CSV, Parquet and Arrow wrap in theirs: it says what
/// is wrong (a full disk), the others only where it was noticed.
fn system_error(error: std::io::Error) -> std::io::Error {
    let mut next: Option<&(dyn std::error::Error + 'static)> =
        error.get_ref().map(|inner| inner as _);
    while let Some(this) = next {
        let inner = this.downcast_ref::<std::io::Error>();
        if let Some(code) = inner.and_then(std::io::Error::raw_os_error) {
            return std::io::Error::from_raw_os_error(code);
        }
        next = match inner.and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => this.source(),
        };
    }
    error
}

/// Writing the temporary copy of a stream failed. It happens while the stream is read, and travels as
/// the reason of a read error.
#[derive(Debug, thiserror::Error)]
#[error("no temporary copy can be written in {folder}: {source}")]
pub(crate) struct CopyError {
    pub(crate) folder: String,
    pub(crate) source: std::io::Error,
}

fn of_study(by: Option<&str>) -> String {
    by.map_or(String::new(), |by| format!(" in the study \"{}\"", by.escape_debug()))
}

fn wrong_format(expected: Format, found: Option<Format>) -> String {
    match found {
        Some(found) => format!("{} but {}", expected.title(), found.title()),
        None => format!("{}: its first bytes do not match", expected.title()),
    }
}

/// Values of a column with their numbers of rows, for a message.
fn list_values(values: &[(f64, u64)]) -> String {
    const MAX_LISTED: usize = 8;
    let rows = |&rows: &u64| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let value = |(value, n): &(f64, u64)| format!("{value} ({})", rows(n));
    let mut listed: Vec<String> = values.iter().take(MAX_LISTED).map(value).collect();
    if values.len() > MAX_LISTED {
        listed.push(format!("{} more values", values.len() - MAX_LISTED));
    }
    let last = listed.pop().unwrap_or_default();
    let list = if listed.is_empty() { last } else { format!("{} and {last}", listed.join(", ")) };
    if values.len() == 1 {
        format!("only the value {list}")
    } else {
        format!("only the values {list}")
    }
}
