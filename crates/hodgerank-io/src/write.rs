//! Results out: files that appear whole or not at all.

mod cleaned;
mod cross_validation;
mod figures;
mod listing;
mod output;
mod ranking;
mod table;
mod votes;

pub use cleaned::{Cleaned, Parted, clean, part};
pub use cross_validation::{CrossValidationSummary, CurveRow};
pub use figures::OfStudy;
pub use listing::{AnnotatorRow, Listing, ListingDocument, ListingRow, SuspectRow};
pub use output::Output;
pub use ranking::{
    ComponentSummary, Document, InputSummary, MethodSummary, OutlierSummary, RankTable, RankedRow,
    RejectedRow, RejectedSummary,
};
pub use table::{Column, Table};
pub use votes::{VoteColumns, VoteWriter};

/// The system's own error, so that a closed pipe is still known as one.
fn from_csv(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
