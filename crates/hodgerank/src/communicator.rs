//! Collective operations of processes that share one problem: each process holds some of the votes,
//! all hold all of the scores.
//!
//! The paper's Algorithm 4, conjugate gradients and Newton's method only need a vector that is added
//! up over all processes. A [`crate::ComparisonGraph`] has a [`Communicator`], which solvers call
//! wherever a sum or a maximum runs over all votes. [`SingleProcess`] is the communicator of one
//! process, whose sums are complete already.
//!
//! Guarantees: all votes on a pair of items are on one process, [`Communicator::owner_of_pair`]; sums and
//! maxima have the same bits on all processes, so that all take the same decisions. In turn all
//! processes must make the same calls in the same order.
//!
//! Methods that judge people need all votes of an annotator on one process, which is rarely the one that
//! owns the pair. What they find out about votes is sent with [`Communicator::exchange`].

mod state;

pub(crate) use state::{StateReader, StateWriter};

use std::fmt;

/// Sums, maxima and minima over all processes, and messages between them. Sums and extrema are
/// collective: all processes call them with slices of the same length, and all get the same result. So
/// is `exchange`, with messages of any length.
pub trait Communicator: fmt::Debug + Send + Sync {
    /// Replaces each value by its sum over all processes.
    fn sum(&self, values: &mut [f64]);

    /// Replaces each value by its maximum over all processes.
    fn max(&self, values: &mut [f64]);

    /// Replaces each value by its minimum over all processes.
    fn min(&self, values: &mut [u32]);

    /// Number of processes.
    fn processes(&self) -> usize;

    /// The process that holds the votes on a pair of items, from 0. `left` is the smaller index.
    fn owner_of_pair(&self, left: u32, right: u32) -> usize;

    /// Sends `messages[p]` to process `p`; returns what the processes sent here, in their order.
    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Whether this is the only process and holds all votes. False for several processes, even if
    /// the others have no votes.
    fn is_single_process(&self) -> bool {
        false
    }

    /// Where the state of long computations is saved; none if it is not.
    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        None
    }
}

/// Saves the state of long computations, so that they can be resumed after a crash.
pub trait Checkpoint: fmt::Debug + Send + Sync {
    /// Whether a state should be saved now. Called after each step; returns the same on all
    /// processes.
    fn is_due(&self) -> bool;

    /// Saves the state of this process after a step of the computation called `work`.
    fn save(&self, work: &str, state: &[u8]);

    /// The saved state of the computation called `work`, if an earlier run did not finish it.
    fn load(&self, work: &str) -> Option<Vec<u8>>;
}

/// The communicator of a single process, which holds all votes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn sum(&self, _: &mut [f64]) {}

    fn max(&self, _: &mut [f64]) {}

    fn min(&self, _: &mut [u32]) {}

    fn processes(&self) -> usize {
        1
    }

    fn owner_of_pair(&self, _: u32, _: u32) -> usize {
        0
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        messages
    }

    fn is_single_process(&self) -> bool {
        true
    }
}

impl dyn Communicator + '_ {
    /// Saves the state of the computation called `work` if a checkpoint is due.
    pub(crate) fn save_if_due(&self, work: &str, write: impl FnOnce(&mut StateWriter)) {
        if let Some(checkpoint) = self.checkpoint()
            && checkpoint.is_due()
        {
            let mut state = StateWriter::default();
            write(&mut state);
            checkpoint.save(work, &state.finish());
        }
    }

    /// The state of the computation called `work` that an earlier run saved.
    pub(crate) fn load_state(&self, work: &str) -> Option<Vec<u8>> {
        self.checkpoint().and_then(|checkpoint| checkpoint.load(work))
    }

    /// The sum of `value` over all processes.
    #[must_use]
    pub fn sum_scalar(&self, value: f64) -> f64 {
        let mut values = [value];
        self.sum(&mut values);
        values[0]
    }

    /// The maximum of `value` over all processes.
    #[must_use]
    pub fn max_scalar(&self, value: f64) -> f64 {
        let mut values = [value];
        self.max(&mut values);
        values[0]
    }
}
