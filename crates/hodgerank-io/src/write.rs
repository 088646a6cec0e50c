//! Writes results to files that appear complete or not at all.

mod batch_writer;
mod cleaned;
mod csv_field;
mod flag_columns;
mod output;
mod outputs;
mod permissions;
mod place;
mod spreadsheet;
mod table;
mod temporary;
mod votes;

pub use cleaned::{CleanOutputs, Cleaned, SplitTable, clean, split};
pub use csv_field::push_field;
pub use output::Output;
pub use outputs::{ClaimedOutput, OutputName, Outputs};
pub use place::Place;
pub use spreadsheet::LabelStyle;
pub use table::{Column, Table};
pub use temporary::{TemporaryFolder, before_first_temporary, remove_unfinished, write_whole};
pub use votes::{VoteColumns, VoteWriter};

/// Returns the system's error, so that a closed pipe can be recognised.
fn from_csv(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
