//! All ranks of a run, and what they can do together, for buffers of any length.
//!
//! MPI counts in 32 bits, so everything longer goes in chunks. A chunk also bounds the memory that
//! a transfer needs beside the data itself ([`CHUNK`] bytes, sent and received).
//!
//! Every method is collective: all ranks call the same ones in the same order. Calls may come from
//! any thread, one at a time; a lock sees to that, because the solvers run inside a thread pool.
//! MPI's own failures (a rank that died, a network that broke) end the whole run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hodgerank_cli::Failure;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::{Threading, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{
    Communicator as _, CommunicatorCollectives as _, Destination as _, Equivalence, Root as _,
    Source as _,
};

/// Most bytes that one rank sends, or receives, in one call of MPI.
pub(crate) const CHUNK: usize = 1 << 23;

/// The ranks of this run. MPI ends when it is dropped.
pub struct World {
    rank: usize,
    size: usize,
    /// Ranks on this node, and this rank's place among them.
    ranks_here: usize,
    place_here: usize,
    /// Whose turn it is to call MPI, and room for what comes of a sum.
    turn: Mutex<Vec<f64>>,
    _universe: Universe,
}

impl World {
    /// Starts MPI.
    ///
    /// # Errors
    /// If MPI is running already, or cannot be called from more than one thread.
    pub fn start() -> Result<Self, Failure> {
        let help = "hodgerank-mpi needs an MPI that allows calls from any thread, one at a time \
                    (MPI_THREAD_SERIALIZED)";
        let refuse = |problem: &str| Failure::usage(problem, help);
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| refuse("MPI was started twice"))?;
        if threading < Threading::Serialized {
            return Err(refuse("this MPI can be called from the main thread only"));
        }
        let world = universe.world();
        let here = world.split_shared(0);
        Ok(Self {
            rank: world.rank() as usize,
            size: world.size() as usize,
            ranks_here: here.size() as usize,
            place_here: here.rank() as usize,
            turn: Mutex::new(Vec::new()),
            _universe: universe,
        })
    }

    /// This rank's number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether this is the rank that speaks and writes.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// How many ranks share this node.
    #[must_use]
    pub fn ranks_here(&self) -> usize {
        self.ranks_here
    }

    /// Whether this is the first rank of its node.
    #[must_use]
    pub fn is_first_here(&self) -> bool {
        self.place_here == 0
    }

    /// Ends the run on all ranks at once, without their consent.
    pub fn abort(&self, code: u8) -> ! {
        SimpleCommunicator::world().abort(i32::from(code))
    }

    /// Waits for everyone.
    pub fn barrier(&self) {
        self.turn().1.barrier();
    }

    /// Adds up over everyone: the same bits everywhere, which MPI demands of its libraries.
    pub fn sum(&self, values: &mut [f64]) {
        self.reduce_numbers(values, SystemOperation::sum());
    }

    /// The largest over everyone.
    pub fn max(&self, values: &mut [f64]) {
        self.reduce_numbers(values, SystemOperation::max());
    }

    /// The smallest over everyone.
    pub fn min(&self, values: &mut [u32]) {
        self.all_reduce(values, SystemOperation::min());
    }

    /// Whole numbers added up over everyone.
    pub fn count(&self, values: &mut [u64]) {
        self.all_reduce(values, SystemOperation::sum());
    }

    /// Solvers ask for this at each step, so that its room is kept.
    fn reduce_numbers(&self, values: &mut [f64], operation: SystemOperation) {
        let (mut room, world) = self.turn();
        reduce(&world, values, &mut room, operation);
    }

    fn all_reduce<T: Equivalence + Copy + Default>(
        &self,
        values: &mut [T],
        operation: SystemOperation,
    ) {
        let (_turn, world) = self.turn();
        reduce(&world, values, &mut Vec::new(), operation);
    }

    /// The bytes of rank `root`, for everyone.
    pub fn broadcast(&self, root: usize, bytes: &mut Vec<u8>) {
        if self.size == 1 {
            return;
        }
        let (_turn, world) = self.turn();
        let root = world.process_at_rank(root as i32);
        let mut length = bytes.len() as u64;
        root.broadcast_into(&mut length);
        bytes.resize(length as usize, 0);
        for chunk in bytes.chunks_mut(CHUNK) {
            root.broadcast_into(chunk);
        }
    }

    /// Everyone's bytes, for everyone, in order of ranks.
    #[must_use]
    pub fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let from = |root| {
            let mut copy = if root == self.rank { bytes.to_vec() } else { Vec::new() };
            self.broadcast(root, &mut copy);
            copy
        };
        (0..self.size).map(from).collect()
    }

    /// Everyone's bytes in order of ranks, for rank 0; the others get nothing.
    #[must_use]
    pub fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let (_turn, world) = self.turn();
        if !self.is_first() {
            let first = world.process_at_rank(0);
            first.send(&(bytes.len() as u64));
            bytes.chunks(CHUNK).for_each(|chunk| first.send(chunk));
            return Vec::new();
        }
        let others = (1..self.size).map(|rank| {
            let process = world.process_at_rank(rank as i32);
            let (length, _) = process.receive::<u64>();
            let mut bytes = vec![0; length as usize];
            for chunk in bytes.chunks_mut(CHUNK) {
                process.receive_into(chunk);
            }
            bytes
        });
        std::iter::once(bytes.to_vec()).chain(others).collect()
    }

    /// Hands `parcels[r]` to rank `r`, and returns what every rank sent here, in order of ranks.
    ///
    /// # Panics
    /// If there is not one parcel for each rank.
    #[must_use]
    pub fn all_to_all(&self, parcels: &[Vec<u8>]) -> Vec<Vec<u8>> {
        assert_eq!(parcels.len(), self.size, "one parcel for each rank");
        let (_turn, world) = self.turn();
        let sizes: Vec<u64> = parcels.iter().map(|parcel| parcel.len() as u64).collect();
        let mut coming = vec![0_u64; self.size];
        world.all_to_all_into(&sizes[..], &mut coming[..]);
        // Shares of a chunk, so that no call sends or receives more than one.
        let share = (CHUNK / self.size).max(1);
        let mut rounds = [0_u64];
        let longest = sizes.iter().max().map_or(0, |&size| size.div_ceil(share as u64));
        world.all_reduce_into(&[longest][..], &mut rounds[..], SystemOperation::max());
        let mut received: Vec<Vec<u8>> =
            coming.iter().map(|&size| Vec::with_capacity(size as usize)).collect();
        // Never without memory: an empty vector's address, 1, is what Open MPI takes for "in place".
        let (mut outgoing, mut incoming) = (Vec::with_capacity(1), Vec::with_capacity(1));
        for round in 0..rounds[0] as usize {
            let part = |size: u64| (size as usize).saturating_sub(round * share).min(share);
            let sent: Vec<i32> = sizes.iter().map(|&size| part(size) as i32).collect();
            let got: Vec<i32> = coming.iter().map(|&size| part(size) as i32).collect();
            outgoing.clear();
            for (parcel, &length) in parcels.iter().zip(&sent) {
                let start = (round * share).min(parcel.len());
                outgoing.extend_from_slice(&parcel[start..start + length as usize]);
            }
            incoming.resize(got.iter().map(|&length| length as usize).sum(), 0);
            world.all_to_all_varcount_into(
                &Partition::new(&outgoing[..], &sent[..], starts(&sent)),
                &mut PartitionMut::new(&mut incoming[..], &got[..], starts(&got)),
            );
            let mut rest = &incoming[..];
            for (parcel, &length) in received.iter_mut().zip(&got) {
                let (part, after) = rest.split_at(length as usize);
                parcel.extend_from_slice(part);
                rest = after;
            }
        }
        received
    }

    fn turn(&self) -> (MutexGuard<'_, Vec<f64>>, SimpleCommunicator) {
        // The room holds nothing between calls, so a panic elsewhere spoils nothing.
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        (turn, SimpleCommunicator::world())
    }
}

/// Reduces values over everyone, in place.
fn reduce<T: Equivalence + Copy + Default>(
    world: &SimpleCommunicator,
    values: &mut [T],
    room: &mut Vec<T>,
    operation: SystemOperation,
) {
    if world.size() == 1 {
        return;
    }
    let most = CHUNK / size_of::<T>();
    room.resize(values.len().min(most).max(room.len()), T::default());
    for chunk in values.chunks_mut(most) {
        let reduced = &mut room[..chunk.len()];
        world.all_reduce_into(&*chunk, reduced, operation);
        chunk.copy_from_slice(reduced);
    }
}

/// Where parts of these lengths start when they stand one after the other.
fn starts(lengths: &[i32]) -> Vec<i32> {
    let mut next = 0;
    let start = |&length: &i32| {
        next += length;
        next - length
    };
    lengths.iter().map(start).collect()
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}
