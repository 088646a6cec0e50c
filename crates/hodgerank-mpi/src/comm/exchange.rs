//! Typed messages between all processes.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{decode, encode};

/// Collective exchange of messages. All processes call the same methods in the same order.
///
/// # Panics
/// All methods panic if a message cannot be decoded. [`World::check_same_version`] excludes the one
/// cause that is not a bug, and `hodgerank-mpi` aborts all processes on a panic.
///
/// [`World::check_same_version`]: super::World::check_same_version
pub trait Exchange {
    /// Returns the number of this process, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn size(&self) -> usize;

    /// Sends `buffers[r]` to process `r`, and returns what the processes sent here, in order of
    /// rank.
    ///
    /// # Panics
    /// If there is not one buffer for each process.
    #[must_use]
    fn all_to_all_bytes(&self, buffers: &[Vec<u8>]) -> Vec<Vec<u8>>;

    /// Returns the buffers of all processes, in order of rank.
    #[must_use]
    fn all_gather_bytes(&self, bytes: &[u8]) -> Vec<Vec<u8>>;

    /// Sends `messages[r]` to process `r`, and returns what the processes sent here, in order of
    /// rank.
    #[must_use]
    fn all_to_all<T: Serialize + DeserializeOwned>(&self, messages: &[T]) -> Vec<T> {
        let buffers: Vec<Vec<u8>> = messages.iter().map(encode).collect();
        self.all_to_all_bytes(&buffers).iter().map(|bytes| decode(bytes)).collect()
    }

    /// Returns the messages of all processes, in order of rank.
    #[must_use]
    fn all_gather<T: Serialize + DeserializeOwned>(&self, message: &T) -> Vec<T> {
        self.all_gather_bytes(&encode(message)).iter().map(|bytes| decode(bytes)).collect()
    }
}
