//! Results out: files that appear whole or not at all.

mod output;
mod ranking;
mod votes;

pub use output::Output;
pub use ranking::{
    ComponentSummary, Document, InputSummary, MethodSummary, OutlierSummary, RankTable, RankedRow,
    RejectedRow, RejectedSummary,
};
pub use votes::{VoteColumns, VoteWriter};
