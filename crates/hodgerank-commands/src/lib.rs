//! The commands, shared by the program, the Python package and the MPI program.
//!
//! A command is a module with its arguments and one function: votes and arguments in, a
//! [`Document`] out. Nothing here prints: messages, warnings and progress go to an [`Observer`],
//! which can also stop the work.
//!
//! Arguments are defined once, as clap arguments: their names are flags on the command line and
//! keywords in Python, and their comments are the help.

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod advice;
pub mod annotators;
mod certificate;
pub mod certify;
pub mod clean;
pub mod compare;
pub mod decompose;
pub mod diagnose;
mod different_studies;
mod document;
pub mod exclude;
mod failure;
mod folders;
mod input;
pub mod keywords;
mod labels;
pub mod listing;
mod min_votes;
pub mod next;
mod observer;
pub mod outliers;
pub mod path;
pub mod places;
pub mod position_bias;
pub mod predict;
mod provenance;
pub mod rank;
mod ranked;
pub mod report;
mod row_options;
mod scale;
pub mod simulate;
mod spellings;
pub mod sql;
mod suggestion;
mod text;
mod two_pass;

pub use certificate::{CertificateSummary, Point};
pub use document::{
    Document, ExcludedItemsSummary, ExcludedSummary, Figures, RejectedRow, RejectedSummary,
    RejectedValues, StudyDocument, StudyFigures, UncountedRows, write_json, write_studies,
};
pub use failure::Failure;
pub use folders::Folders;
pub use input::{InputOptions, Kept, ReadsVotes, VoteSource};
pub use labels::LabelOptions;
pub use min_votes::ItemOptions;
pub use observer::{Observer, Task, rejected_rows};
pub use provenance::{FileRecord, PROGRAM, Program, Provenance};
pub use ranked::{MethodSummary, announce, estimate_uncertainty, rank_study, warnings};
pub use row_options::{Normalise, RowOptions};
pub use scale::{ScaleOptions, ScaleSummary};
pub use suggestion::shell_words;
pub use text::{or_list, parse_share, visible};
pub use two_pass::TwoPass;
