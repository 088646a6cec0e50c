//! Collects pairwise votes: pages for voters and for the owner of a study, the pair to ask next, and a live
//! ranking.
//!
//! | module | what |
//! |---|---|
//! | [`create`] | a new study: its folder, its items and its links |
//! | [`store`] | the database; one thread that writes, and answers when a vote is on disk |
//! | `voters` | what is known about each voter between requests |
//! | `selection` | which pair a voter is asked next |
//! | [`live`] | the ranking of the votes so far, by a full fit at most once a second |
//! | [`server`] | the HTTP server |

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

pub mod create;
mod error;
pub mod live;
mod secret;
mod selection;
pub mod server;
pub mod store;
mod voters;

pub use error::{Error, Result};
pub use secret::Secret;
