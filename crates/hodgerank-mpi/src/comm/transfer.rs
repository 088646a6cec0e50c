//! Collectives on byte buffers of any length, sent in chunks.

use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::traits::{
    Communicator as _, CommunicatorCollectives as _, Destination as _, Root as _, Source as _,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::exchange::Exchange;
use super::message::{decode, encode};
use super::world::{MAX_CHUNK_BYTES, World};

impl World {
    /// Sends the message of process 0 to all. Only process 0 needs to have one.
    ///
    /// # Panics
    /// If process 0 has none.
    #[must_use]
    pub fn broadcast<T: Serialize + DeserializeOwned>(&self, message: Option<T>) -> T {
        let mut bytes = Vec::new();
        if self.is_root() {
            bytes = encode(&message.expect("process 0 has the message"));
        }
        self.broadcast_bytes(0, &mut bytes);
        decode(&bytes)
    }

    /// Returns the messages of all processes in order of rank on process 0, and nothing elsewhere.
    #[must_use]
    pub fn gather<T: Serialize + DeserializeOwned>(&self, message: &T) -> Vec<T> {
        self.gather_bytes(&encode(message)).iter().map(|bytes| decode(bytes)).collect()
    }

    /// Replaces `bytes` by those of process `root`.
    pub fn broadcast_bytes(&self, root: usize, bytes: &mut Vec<u8>) {
        if self.size() == 1 {
            return;
        }
        let (_guard, world) = self.lock();
        let root = world.process_at_rank(root as i32);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        for chunk in bytes.chunks_mut(MAX_CHUNK_BYTES) {
            root.broadcast_into(chunk);
        }
    }

    /// Returns the bytes of all processes in order of rank on process 0, and nothing elsewhere.
    #[must_use]
    pub fn gather_bytes(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let (_guard, world) = self.lock();
        if !self.is_root() {
            let root = world.process_at_rank(0);
            root.send(&(bytes.len() as u64));
            bytes.chunks(MAX_CHUNK_BYTES).for_each(|chunk| root.send(chunk));
            return Vec::new();
        }
        let others = (1..self.size()).map(|rank| {
            let process = world.process_at_rank(rank as i32);
            let (length, _) = process.receive::<u64>();
            let mut bytes = vec![0; length as usize];
            for chunk in bytes.chunks_mut(MAX_CHUNK_BYTES) {
                process.receive_into(chunk);
            }
            bytes
        });
        std::iter::once(bytes.to_vec()).chain(others).collect()
    }
}

impl Exchange for World {
    fn rank(&self) -> usize {
        World::rank(self)
    }

    fn size(&self) -> usize {
        World::size(self)
    }

    fn all_gather_bytes(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let from = |root| {
            let mut copy = if root == self.rank() { bytes.to_vec() } else { Vec::new() };
            self.broadcast_bytes(root, &mut copy);
            copy
        };
        (0..self.size()).map(from).collect()
    }

    fn all_to_all_bytes(&self, buffers: &[Vec<u8>]) -> Vec<Vec<u8>> {
        assert_eq!(buffers.len(), self.size(), "one buffer for each process");
        let (_guard, world) = self.lock();
        let send_sizes: Vec<u64> = buffers.iter().map(|buffer| buffer.len() as u64).collect();
        let mut receive_sizes = vec![0_u64; self.size()];
        world.all_to_all_into(&send_sizes[..], &mut receive_sizes[..]);
        // A chunk is divided by the processes, so that no call sends or receives more than one.
        let share = (MAX_CHUNK_BYTES / self.size()).max(1);
        let mut rounds = [0_u64];
        let own_rounds = send_sizes.iter().max().map_or(0, |&size| size.div_ceil(share as u64));
        world.all_reduce_into(&[own_rounds][..], &mut rounds[..], SystemOperation::max());
        let mut received: Vec<Vec<u8>> =
            receive_sizes.iter().map(|&size| Vec::with_capacity(size as usize)).collect();
        // Never unallocated: Open MPI takes the address of an empty vector, 1, for MPI_IN_PLACE.
        let (mut outgoing, mut incoming) = (Vec::with_capacity(1), Vec::with_capacity(1));
        for round in 0..rounds[0] as usize {
            let length = |size: u64| (size as usize).saturating_sub(round * share).min(share);
            let send_counts: Vec<i32> = send_sizes.iter().map(|&n| length(n) as i32).collect();
            let receive_counts: Vec<i32> =
                receive_sizes.iter().map(|&n| length(n) as i32).collect();
            outgoing.clear();
            for (buffer, &count) in buffers.iter().zip(&send_counts) {
                let start = (round * share).min(buffer.len());
                outgoing.extend_from_slice(&buffer[start..start + count as usize]);
            }
            incoming.resize(receive_counts.iter().map(|&count| count as usize).sum(), 0);
            world.all_to_all_varcount_into(
                &Partition::new(&outgoing[..], &send_counts[..], displacements(&send_counts)),
                &mut PartitionMut::new(
                    &mut incoming[..],
                    &receive_counts[..],
                    displacements(&receive_counts),
                ),
            );
            let mut rest = &incoming[..];
            for (buffer, &count) in received.iter_mut().zip(&receive_counts) {
                let (part, after) = rest.split_at(count as usize);
                buffer.extend_from_slice(part);
                rest = after;
            }
        }
        received
    }
}

/// Returns where parts with these counts start in one buffer.
fn displacements(counts: &[i32]) -> Vec<i32> {
    let mut next = 0;
    let start = |&count: &i32| {
        next += count;
        next - count
    };
    counts.iter().map(start).collect()
}
