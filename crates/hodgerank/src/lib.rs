//! Robust ranking from pairwise votes: the mathematics.
//!
//! Votes say that one item is preferred to another. They are incomplete (few of the pairs),
//! imbalanced (some pairs asked often, others once) and partly wrong. HodgeRank reads them as a
//! flow on a graph and looks for the scores whose differences explain the flow best.
//!
//! The stages, each taking only what the one before hands it:
//!
//! ```text
//! Comparisons → Groups → ComparisonGraph → solver(options) → Solution → Ranking
//! ```
//!
//! This crate knows no file formats and prints nothing. Symbols of the paper and their names here:
//!
//! | paper | here | meaning |
//! |---|---|---|
//! | θ, s | `scores`, `theta` | one number for each item, mean zero on each connected component |
//! | Y, y | `y` | how much the left item of a vote is preferred to the right one |
//! | X | [`ComparisonGraph::gradient`] | scores to score differences, one for each group |
//! | L = XᵀWX | [`laplacian::LaplacianMatrix`] | the weighted graph Laplacian |
//!
//! # Example
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

pub mod annotators;
pub mod communicator;
pub mod comparison;
pub mod decompose;
pub mod detection;
pub mod diagnose;
pub mod error;
pub mod fit;
pub mod graph;
pub mod identify;
pub mod kendall;
pub mod labels;
pub mod laplacian;
mod numeric;
pub mod path;
pub mod ranking;
pub mod select;
pub mod simulate;
pub mod solve;
pub mod status;

pub use communicator::{Communicator, SingleProcess};
pub use comparison::Comparison;
pub use error::{Error, Result};
pub use graph::{ComparisonGraph, Components, Groups, Merged, Pairs, Tally};
pub use labels::{Labels, natural_order};
pub use path::Path;
pub use ranking::{RankedItem, Ranking};
pub use solve::{Method, MethodInfo};
pub use status::Status;
