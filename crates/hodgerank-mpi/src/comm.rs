//! Communication between the processes of a run.
//!
//! [`World`] starts MPI and provides collectives on numbers and on byte buffers of any length.
//! [`Exchange`] adds typed messages, encoded by `message`; its second implementation, a team of
//! threads, tests the algorithms that use it without MPI. [`World::all_ok`] makes processes fail
//! together.

mod collective_error;
mod exchange;
mod message;
mod mpi_communicator;
mod owners;
pub mod peak_memory;
#[cfg(test)]
mod thread_team;
mod transfer;
mod world;

pub use collective_error::CollectiveError;
pub use exchange::Exchange;
pub(crate) use message::{decode_prefix, encode_into};
pub use mpi_communicator::MpiCommunicator;
pub use owners::owner_of_pair;
pub(crate) use owners::{owner_of_label, send_to_owners};
#[cfg(test)]
pub(crate) use thread_team::{TeamThread, run_thread_team};
pub use world::World;
