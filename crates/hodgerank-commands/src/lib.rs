//! What each command does, for every way of calling it: the program and Python share this crate.
//!
//! A command is a module with its options and one function: votes and options in, a plain answer
//! out ([`Answer`]: a JSON document and a table). Nothing here prints; whoever calls hears of notes,
//! warnings and steps through [`Watch`], which can also end the work.
//!
//! Options are defined once, as clap arguments: their names are flags on the command line and
//! keywords in Python, and their comments are the help.

mod advice;
pub mod annotators;
mod answer;
pub mod clean;
pub mod compare;
pub mod decompose;
pub mod diagnose;
mod failure;
mod input;
mod method;
pub mod outliers;
pub mod path;
pub mod places;
pub mod rank;
mod rank_study;
pub mod report;
pub mod simulate;
mod two_pass;
mod watch;
mod words;

pub use answer::Answer;
pub use failure::Failure;
pub use input::{InputOptions, Votes};
pub use method::{MethodName, MethodOptions};
pub use rank_study::{CountedStudy, RankedStudy, rank_study};
pub use two_pass::TwoPass;
pub use watch::{Watch, Work};
pub use words::{parse_share, visible};
