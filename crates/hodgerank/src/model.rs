//! One model of votes, for all methods that model how people vote.
//!
//! A vote on two items depends on the difference of their scores, the side on which they were shown, and who
//! votes. [`crate::solve::bradley_terry`] fits the model without people, [`crate::solve::crowd`] with them.
//!
//! | file | what |
//! |---|---|
//! | `votes.rs` | the likelihood of a vote; the votes of each pair |
//! | `prior.rs` | the prior of the scores |
//! | `pass.rs`, `pair_sums.rs` | sums over pairs: slopes and information |
//! | `newton.rs` | the search for scores, side advantage and odds of a tie, with its certificate |
//! | `leave_one_out.rs` | what the other votes say about each vote |
//! | `people_votes.rs` | the votes of each pair with their annotators |
//! | `behaviour.rs` | how people vote, and how common that is |
//! | `people.rs` | how each annotator votes, judged by the other votes |
//! | `graded.rs` | votes with sizes: normal noise in place of the logistic curve |
//! | `choose.rs` | prior, side advantage and lapses, by what they predict |
//! | `held_out.rs` | votes held out in folds, to which that link is fitted |
//! | `link.rs` | probabilities of votes of this crowd from differences of scores |
//! | `tuning.rs` | all constants that were chosen, with reasons |
//!
//! To add a term (covariates, deviations of a category or a person), give it a prior, add its part of x to
//! `votes.rs` and its columns to the step of `newton.rs`; `choose.rs` decides whether it stays.

pub(crate) mod behaviour;
pub(crate) mod choose;
pub(crate) mod graded;
pub(crate) mod held_out;
pub(crate) mod leave_one_out;
mod link;
pub(crate) mod newton;
pub(crate) mod pair_sums;
pub(crate) mod pass;
pub(crate) mod people;
pub(crate) mod people_votes;
pub(crate) mod prior;
pub(crate) mod tuning;
pub(crate) mod votes;

pub use behaviour::AnnotatorClass;
pub use choose::{Decision, Refinement};
pub use link::{Link, LinkedVote};
pub use prior::{Prior, PriorKind};
