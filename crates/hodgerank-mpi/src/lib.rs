//! Ranking over several machines: each holds some of the votes, all hold all of the scores.
//!
//! What one machine does in memory is done here over MPI, with the same solvers:
//!
//! | step | module | what travels |
//! |---|---|---|
//! | who reads what | [`shards`] | the plan, from rank 0 |
//! | reading | [`reading`] | counts, and the first rejected rows |
//! | one dictionary | [`dictionary`] | names: each to one rank, then the distinct ones to all |
//! | equal votes meet | [`votes`] | each group to the rank of its pair |
//! | solving | [`MpiTeam`] | one vector of n numbers a step |
//! | rows again, beside their groups | `lookup` | each rank's distinct votes, and what their owners found |
//! | one order of suspicion | `positions` | a key for each run of equal votes |
//! | failures | [`agree`] | whether anyone failed, after each step |
//!
//! No rank ever holds all votes. Rank 0 alone speaks, and writes rankings; of lists and
//! cleaned votes each rank writes its part.

pub mod agree;
mod annotators;
pub mod checkpoint;
pub mod clean;
mod communicator;
pub mod dictionary;
pub mod exchange;
pub mod fingerprint;
pub mod flags;
mod look;
mod lookup;
mod mail;
pub mod memory;
mod order;
pub mod outliers;
mod own;
mod parts;
mod positions;
pub mod rank;
pub mod reading;
pub mod session;
pub mod shards;
pub mod studies;
mod text;
pub mod votes;
mod world;

pub use communicator::MpiTeam;
pub use world::World;
