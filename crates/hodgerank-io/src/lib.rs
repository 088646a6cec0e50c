//! Reads tables of votes and writes results.
//!
//! [`read()`] turns files (CSV, TSV, JSON lines, Parquet, Arrow; plain, gzip or zstd) into studies:
//! items and merged votes, ready for `hodgerank::ComparisonGraph`. Files are streamed: memory grows
//! with the number of items and distinct votes, not with the number of rows. A row that cannot be
//! read as a vote is an error, or is counted and listed with file, line, column and value; no row
//! is dropped silently.
//!
//! [`mod@write`] writes files that appear complete or not at all.
//!
//! With the feature `clap`, [`Format`] and [`OnError`] are values of command-line arguments.

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod columns;
mod count;
pub mod error;
mod excluded;
pub mod format;
pub mod limits;
pub mod memory;
pub mod outcome;
mod parse;
pub mod read;
pub mod side_codes;
pub mod study;
mod table_head;
pub mod text;
pub mod write;

pub use columns::ColumnNames;
pub use error::{
    BadRow, ColumnProblem, Error, Position, Problem, Result, Unsupported, WrongEncoding,
};
pub use excluded::{ExcludedAnnotators, ExcludedItem, ExcludedItems, ExcludedVotes};
pub use format::Format;
pub use outcome::OutcomeAs;
pub use read::{OnError, ReadOptions, Sources, read};
pub use study::{Input, Rejected};
