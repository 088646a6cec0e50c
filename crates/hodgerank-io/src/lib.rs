//! Tables of votes in, results out.
//!
//! [`read()`] turns files (CSV, TSV, JSON lines, Parquet, Arrow; plain, gzip or zstd) into studies:
//! items and merged votes, ready for `hodgerank::ComparisonGraph`. Reading streams: memory grows
//! with the items and the distinct votes, never with the rows. A row that makes no sense stops the
//! run, or is counted and listed, with its file, line, column and value; none is dropped in silence.
//!
//! [`mod@write`] makes output files that appear whole or not at all.

pub mod columns;
pub mod error;
pub mod outcome;
pub mod read;
pub mod study;
pub mod write;

pub use columns::ColumnNames;
pub use error::{BadRow, Error, Position, Problem, Result};
pub use outcome::OutcomeAs;
pub use read::{Format, OnError, ReadOptions, Sources, read};
pub use study::{Input, Rejected};
