//! Ranking over several machines with MPI: each process holds some of the votes, and all hold all
//! scores.
//!
//! The solvers are those of one machine. This crate distributes their input and output:
//!
//! | step | module | what is sent |
//! |---|---|---|
//! | assigning files to processes | [`input::shard_plan`] | the plan, from process 0 |
//! | reading | [`input::read`] | counts and the first rejected rows |
//! | one set of labels | [`input::labels`] | each label to one process, then the distinct ones to all |
//! | merging equal votes | [`input::votes`] | each distinct vote to the process that owns its pair |
//! | votes of each annotator, for methods that judge them | `input::annotators` | each vote to the process that owns its annotator |
//! | solving | [`comm::MpiCommunicator`] | vectors of one number per item |
//! | results for the rows of each process | `passes` | the distinct votes of a process, and their results |
//! | one order of suspicion | `output` | a sort key for each run of equal votes |
//! | failures | [`comm::CollectiveError`] | whether a process failed, after each step |
//!
//! No process ever holds all votes. Process 0 alone prints and writes rankings; lists of votes and
//! cleaned votes are written in parts, one by each process.

pub mod checkpoint;
pub mod comm;
pub mod commands;
pub mod input;
mod output;
mod passes;
pub mod session;
