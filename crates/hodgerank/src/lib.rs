//! Robust ranking from pairwise votes.
//!
//! Votes say that one item is preferred to another. They are incomplete (few of the pairs),
//! imbalanced (some pairs asked often, others once) and partly wrong. HodgeRank treats them as a flow
//! on a graph and computes the scores whose differences explain the flow best; robust methods flag
//! the votes that contradict all others.
//!
//! ```
//! use hodgerank::{Ranker, Votes};
//!
//! let mut votes = Votes::new();
//! votes.prefer("cat", "dog");
//! votes.prefer("dog", "cow");
//! votes.tie("cat", "cow");
//! let ranked = Ranker::new().rank(&votes)?;
//! for row in ranked.ranking() {
//!     println!("{row}");
//! }
//! for vote in ranked.flagged() {
//!     println!("{vote}");
//! }
//! # Ok::<(), hodgerank::Error>(())
//! ```
//!
//! # Below the surface
//!
//! Each stage takes only what the stage before it returns:
//!
//! ```text
//! Votes → Study → ComparisonGraph → fit(options) → Fit → RankedStudy
//! ```
//!
//! The crate reads no files and prints nothing. The feature `clap` turns the options into command-line
//! arguments, the feature `serde` makes results serialisable.
//!
//! | symbol in the paper | name | meaning |
//! |---|---|---|
//! | θ, s | `scores`, `theta` | one number per item, mean zero on each connected component |
//! | Y, y | `y` | how much the left item of a vote is preferred to the right one |
//! | X | [`ComparisonGraph::gradient`] | scores to score differences, one per distinct vote |
//! | L = XᵀWX | [`laplacian::LaplacianMatrix`] | the weighted graph Laplacian |
//!
//! The same with indices in place of labels:
//! ```
//! use hodgerank::{Comparison, ComparisonGraph, Groups, solve::L2Options, solve::l2};
//!
//! // Item 0 beats 1 twice, 1 beats 2 once, 0 beats 2 once.
//! let votes = [
//!     Comparison::new(0, 1, 1.0).with_count(2),
//!     Comparison::new(1, 2, 1.0),
//!     Comparison::new(2, 0, -1.0),
//! ];
//! let merged = Groups::merge(3, &votes)?;
//! let graph = ComparisonGraph::new(3, merged.groups)?;
//! let solution = l2::solve(&graph, &L2Options::default())?;
//! assert!(solution.scores[0] > solution.scores[1] && solution.scores[1] > solution.scores[2]);
//! # Ok::<(), hodgerank::Error>(())
//! ```

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod annotator_votes;
pub mod annotators;
pub mod certificate;
pub mod certify;
pub mod communicator;
pub mod comparison;
pub mod decompose;
pub mod detection;
pub mod diagnose;
pub mod error;
mod few_votes;
pub mod fit;
mod flag_reason;
pub mod graph;
pub mod identify;
pub mod kendall;
pub mod labels;
pub mod laplacian;
pub mod model;
pub mod next_pairs;
mod numeric;
mod options;
pub mod path;
pub mod position_bias;
pub mod predict;
mod ranked_study;
mod ranker;
pub mod ranking;
pub mod scale;
pub mod select;
mod settled;
pub mod simulate;
pub mod solve;
pub mod status;
mod study;
pub mod uncertainty;
mod votes;

pub use annotator_votes::{AnnotatorVote, AnnotatorVotes};
pub use annotators::AnnotatorReport;
pub use certificate::{Asked, Certificate};
pub use communicator::{Communicator, SingleProcess};
pub use comparison::Comparison;
pub use error::{Error, Result};
pub use few_votes::FewVotesItems;
pub use fit::{Fit, Model, fit};
pub use flag_reason::FlagReason;
pub use graph::{ComparisonGraph, Components, Groups, Merged, Pairs, SideCounts, SideTally, Tally};
pub use labels::{LabelKey, Labels, natural_order};
pub use options::{FitOptions, IgnoredOption, Ranker};
pub use path::Path;
pub use ranked_study::{ComponentSummary, LocalResults, OutlierSummary, RankedStudy};
pub use ranker::{FlaggedVote, Ranked};
pub use ranking::{RankedItem, Ranking};
pub use select::OutlierRule;
pub use settled::{Settled, TierRanks};
pub use solve::{Method, MethodInfo};
pub use status::Status;
pub use study::{InputSummary, MAX_VOTES, Study, check_votes};
pub use uncertainty::{FittedVotes, IntervalOptions, Uncertainty};
pub use votes::{Vote, Votes};
