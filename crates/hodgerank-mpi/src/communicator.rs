//! The ranks as the team of the solvers.

use std::sync::Arc;

use hodgerank::communicator::{Checkpoint, Communicator};

use crate::world::World;

/// The ranks of a run, who share the votes of a comparison graph.
#[derive(Debug)]
pub struct MpiTeam {
    world: Arc<World>,
    checkpoint: Option<Arc<dyn Checkpoint>>,
}

impl MpiTeam {
    /// All ranks, with a place for the state of long work if there is one.
    #[must_use]
    pub fn new(world: Arc<World>, checkpoint: Option<Arc<dyn Checkpoint>>) -> Self {
        Self { world, checkpoint }
    }
}

impl Communicator for MpiTeam {
    fn sum(&self, values: &mut [f64]) {
        self.world.sum(values);
    }

    fn max(&self, values: &mut [f64]) {
        self.world.max(values);
    }

    fn min(&self, values: &mut [u32]) {
        self.world.min(values);
    }

    /// One rank with all votes may do as one machine does, unless its work is to be taken up again:
    /// what is kept of it is what a team needs.
    fn is_single_process(&self) -> bool {
        self.world.size() == 1 && self.checkpoint.is_none()
    }

    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        self.checkpoint.as_deref()
    }
}
