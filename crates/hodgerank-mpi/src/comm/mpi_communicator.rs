//! The solvers' communicator.

use std::sync::Arc;

use hodgerank::communicator::{Checkpoint, Communicator};

use super::exchange::Exchange as _;
use super::owners::owner_of_pair;
use super::world::World;

/// Sums, extrema and messages of the processes that share the votes of a comparison graph.
#[derive(Debug)]
pub struct MpiCommunicator {
    world: Arc<World>,
    checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl MpiCommunicator {
    /// Creates a communicator of all processes. Solvers save their state to `checkpoint`, if there
    /// is one.
    #[must_use]
    pub fn new(world: Arc<World>, checkpoint: Option<Arc<dyn Checkpoint>>) -> Self {
        Self { world, checkpoint }
    }
}

impl Communicator for MpiCommunicator {
    fn sum(&self, values: &mut [f64]) {
        self.world.sum(values);
    }

    fn max(&self, values: &mut [f64]) {
        self.world.max(values);
    }

    fn min(&self, values: &mut [u32]) {
        self.world.min(values);
    }

    fn processes(&self) -> usize {
        self.world.size()
    }

    fn owner_of_pair(&self, left: u32, right: u32) -> usize {
        owner_of_pair(left, right, self.world.size())
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.world.all_to_all_bytes(&messages)
    }

    /// A single process may use the algorithms for one machine, unless it saves checkpoints: only
    /// distributed algorithms do.
    fn is_single_process(&self) -> bool {
        self.world.size() == 1 && self.checkpoint.is_none()
    }

    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        self.checkpoint.as_deref()
    }
}
