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
//! | failures | [`agree`] | whether anyone failed, after each step |
//!
//! No rank ever holds all votes. The program's rank 0 alone speaks and writes.

pub mod agree;
pub mod checkpoint;
pub mod dictionary;
pub mod exchange;
pub mod fingerprint;
pub mod flags;
pub mod memory;
pub mod rank;
pub mod reading;
pub mod session;
pub mod shards;
pub mod studies;
mod team;
mod text;
pub mod votes;
mod world;

pub use team::MpiTeam;
pub use world::World;
