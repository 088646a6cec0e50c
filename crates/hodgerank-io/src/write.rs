//! Writes results to files that appear complete or not at all.

mod batch_writer;
mod cleaned;
mod output;
mod table;
mod votes;

pub use cleaned::{Cleaned, SplitTable, clean, split};
pub use output::Output;
pub use table::{Column, Table};
pub use votes::{VoteColumns, VoteWriter};

/// Returns the system's error, so that a closed pipe can be recognised.
fn from_csv(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
