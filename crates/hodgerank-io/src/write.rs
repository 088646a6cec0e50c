//! Results out: files that appear whole or not at all.

mod cleaned;
mod output;
mod table;
mod votes;

pub use cleaned::{Cleaned, SplitTable, clean, split};
pub use output::Output;
pub use table::{Column, Table};
pub use votes::{VoteColumns, VoteWriter};

/// The system's own error, so that a closed pipe is still known as one.
fn from_csv(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
