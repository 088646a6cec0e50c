//! Reads tables of votes and writes results.
//!
//! [`read()`] turns files (CSV, TSV, JSON lines, Parquet, Arrow, Excel; plain, gzip or zstd; SQLite) into studies:
//! items and merged votes, ready for `hodgerank::ComparisonGraph`. Files are streamed: memory grows
//! with the number of items and distinct votes, not with the number of rows. A row that cannot be
//! read as a vote is an error, or is counted and listed with file, line, column and value; no row
//! is dropped silently.
//!
//! [`mod@write`] writes files that appear complete or not at all.
//!
//! With the feature `clap`, [`Format`] and [`OnError`] are values of command-line arguments.

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod column_guess;
pub mod columns;
mod count;
pub mod error;
mod excluded;
pub mod format;
pub mod labels;
pub mod limits;
pub mod memory;
pub mod outcome;
mod parse;
pub mod read;
pub mod side_codes;
pub mod study;
mod table_columns;
mod table_head;
pub mod text;
pub mod write;

pub use column_guess::ColumnGuess;
pub use columns::{ColumnNames, FileStudies, Filter};
pub use error::{
    BadRow, ColumnProblem, DatabaseProblem, Error, Position, Problem, RejectedValue, Result,
    Unsupported, WrongEncoding,
};
pub use excluded::{ExcludedAnnotators, ExcludedItem, ExcludedItems, ExcludedVotes};
pub use format::Format;
pub use labels::Spellings;
pub use outcome::{OutcomeAs, OutcomeValues, Ties, ValueMeaning};
pub use read::{DatabaseRows, OnError, ReadOptions, STUDY_FILE, STUDY_VIEW, Sources, read};
pub use study::{Input, PassedOver, Rejected};
pub use table_columns::TableColumns;
