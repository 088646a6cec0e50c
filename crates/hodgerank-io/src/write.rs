//! Writes results to files that appear complete or not at all.

mod batch_writer;
mod cleaned;
mod cross_validation;
mod decomposition;
mod diagnosis;
mod figures;
mod listing;
mod output;
mod ranking;
mod table;
mod votes;

pub use cleaned::{Cleaned, SplitTable, clean, split};
pub use cross_validation::{CrossValidationSummary, CurveRow};
pub use decomposition::{
    BettiFigures, CurlFigures, DecompositionFigures, FlowRow, ItemFigures, LoopFigures,
    PairFigures, PartFigures, TransitivityFigures, TriangleFigures, VoterFigures, flow_table,
};
pub use diagnosis::{
    AccuracyFigures, ConditionFigures, ConnectivityFigures, DesignFigures, DiagnosisFigures,
    IdentifiabilityFigures, ItemVariance, ItemVotes, Listed, PairName, ResistanceFigures,
    SpreadFigures, SuspectFigures, TrialFigures, VerdictFigures,
};
pub use figures::OfStudy;
pub use listing::{AnnotatorRow, Listing, ListingDocument, ListingRow, SuspectRow};
pub use output::Output;
pub use ranking::{
    ComponentSummary, Document, InputSummary, MethodSummary, OutlierSummary, RankTable, RankedRow,
    RejectedRow, RejectedSummary,
};
pub use table::{Column, Table};
pub use votes::{VoteColumns, VoteWriter};

/// Returns the system's error, so that a closed pipe can be recognised.
fn from_csv(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
