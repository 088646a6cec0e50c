//! The processes of a run, and reductions over them.
//!
//! All methods that communicate are collective: every process calls the same ones in the same
//! order. They may be called from any thread, one call at a time. A lock ensures that, because
//! solvers run inside a thread pool. MPI's own failures (a process died, the network broke) end the
//! whole run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hodgerank_cli::RunFailure;
use mpi::collective::SystemOperation;
use mpi::environment::{Threading, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _, Equivalence};

use super::exchange::Exchange as _;

/// Maximum number of bytes that a process sends or receives in one MPI call. MPI counts elements
/// with 32 bits, so longer buffers are sent in chunks; this also bounds the extra memory of a
/// transfer.
pub(super) const MAX_CHUNK_BYTES: usize = 1 << 23;

/// The processes of this run. MPI ends when the value is dropped.
pub struct World {
    rank: usize,
    size: usize,
    /// Processes on this node, and the number of this process among them.
    node_size: usize,
    node_rank: usize,
    /// Its lock is held during every MPI call. The buffer receives the results of reductions of
    /// `f64`, which solvers need in every step; it holds nothing between calls.
    reduce_buffer: Mutex<Vec<f64>>,
    _universe: Universe,
}

impl World {
    /// Starts MPI.
    ///
    /// # Errors
    /// If MPI is already running, or can only be called from the main thread.
    pub fn start() -> Result<Self, RunFailure> {
        let help = "hodgerank-mpi needs an MPI library that allows calls from any thread, one at a \
                    time (MPI_THREAD_SERIALIZED)";
        let refuse = |problem: &str| RunFailure::usage(problem, help);
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| refuse("MPI was started twice"))?;
        if threading < Threading::Serialized {
            return Err(refuse("this MPI library can be called from the main thread only"));
        }
        let world = universe.world();
        let node = world.split_shared(0);
        Ok(Self {
            rank: world.rank() as usize,
            size: world.size() as usize,
            node_size: node.size() as usize,
            node_rank: node.rank() as usize,
            reduce_buffer: Mutex::new(Vec::new()),
            _universe: universe,
        })
    }

    /// Checks that all processes run the same version of the program, because messages carry no
    /// type information.
    ///
    /// # Errors
    /// If versions differ; all processes then return the error.
    pub fn check_same_version(&self) -> Result<(), RunFailure> {
        let version = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
        let versions = self.all_gather_bytes(&version);
        let other = versions.iter().find(|other| **other != version);
        other.map_or(Ok(()), |other| {
            let (here, other) = (env!("CARGO_PKG_VERSION"), String::from_utf8_lossy(other));
            Err(RunFailure::usage(
                format!("processes run different versions of hodgerank-mpi: {here} and {other}"),
                "install the same hodgerank-mpi on all nodes",
            ))
        })
    }

    /// Returns the MPI rank of this process: its number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns whether this is process 0, the one that prints and writes rankings.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.rank == 0
    }

    /// Returns the number of processes on this node.
    #[must_use]
    pub fn node_size(&self) -> usize {
        self.node_size
    }

    /// Returns whether this is the first process of its node.
    #[must_use]
    pub fn is_node_root(&self) -> bool {
        self.node_rank == 0
    }

    /// Ends all processes at once with this exit code. Not collective.
    pub fn abort(&self, code: u8) -> ! {
        SimpleCommunicator::world().abort(i32::from(code))
    }

    /// Waits until all processes have called this.
    pub fn barrier(&self) {
        self.lock().1.barrier();
    }

    /// Replaces each value by its sum over all processes. All receive the same bits, as the MPI
    /// standard requires.
    pub fn sum(&self, values: &mut [f64]) {
        self.reduce_f64(values, SystemOperation::sum());
    }

    /// Replaces each value by its maximum over all processes.
    pub fn max(&self, values: &mut [f64]) {
        self.reduce_f64(values, SystemOperation::max());
    }

    /// Replaces each value by its minimum over all processes.
    pub fn min(&self, values: &mut [u32]) {
        let (_guard, world) = self.lock();
        reduce(&world, values, &mut Vec::new(), SystemOperation::min());
    }

    /// Replaces each count by its sum over all processes.
    pub fn sum_counts(&self, counts: &mut [u64]) {
        let (_guard, world) = self.lock();
        reduce(&world, counts, &mut Vec::new(), SystemOperation::sum());
    }

    fn reduce_f64(&self, values: &mut [f64], operation: SystemOperation) {
        let (mut buffer, world) = self.lock();
        reduce(&world, values, &mut buffer, operation);
    }

    /// Waits until no other thread calls MPI.
    pub(super) fn lock(&self) -> (MutexGuard<'_, Vec<f64>>, SimpleCommunicator) {
        // A panic cannot leave the buffer in a bad state: every call overwrites it.
        let buffer = self.reduce_buffer.lock().unwrap_or_else(PoisonError::into_inner);
        (buffer, SimpleCommunicator::world())
    }
}

/// Reduces values over all processes, in place. `buffer` grows to at most one chunk.
fn reduce<T: Equivalence + Copy + Default>(
    world: &SimpleCommunicator,
    values: &mut [T],
    buffer: &mut Vec<T>,
    operation: SystemOperation,
) {
    if world.size() == 1 {
        return;
    }
    let max_len = MAX_CHUNK_BYTES / size_of::<T>();
    buffer.resize(values.len().min(max_len).max(buffer.len()), T::default());
    for chunk in values.chunks_mut(max_len) {
        let reduced = &mut buffer[..chunk.len()];
        world.all_reduce_into(&*chunk, reduced, operation);
        chunk.copy_from_slice(reduced);
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} of {}", self.rank, self.size)
    }
}
