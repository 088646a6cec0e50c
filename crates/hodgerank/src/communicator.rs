//! Several workers on one problem: each has some of the votes, all have all of the scores.
//!
//! The paper's Algorithm 4 needs one thing of its surroundings: that a vector be added up over
//! everyone. So do conjugate gradients and Newton's method. A [`crate::ComparisonGraph`] knows its
//! team, and solvers ask it wherever a sum or a maximum runs over all votes. [`SingleProcess`] is the team
//! of one, for whom every sum is complete as it stands.
//!
//! What members may rely on: votes on one pair of items are all with one member; sums and maxima
//! come out with the same bits everywhere, so that all take the same decisions. In turn all members
//! must ask for the same things in the same order.

mod state;

pub(crate) use state::{StateReader, StateWriter};

use std::fmt;

/// Those who work together.
pub trait Communicator: fmt::Debug + Send + Sync {
    /// Adds up over everyone.
    fn sum(&self, values: &mut [f64]);

    /// The largest over everyone.
    fn max(&self, values: &mut [f64]);

    /// The smallest over everyone.
    fn min(&self, values: &mut [u32]);

    /// Whether all votes are here. A team with other members says no even if they have no votes.
    fn is_single_process(&self) -> bool {
        false
    }

    /// Where the state of long work is kept, if it is.
    fn checkpoint(&self) -> Option<&dyn Checkpoint> {
        None
    }
}

/// Keeps the state of long work, so that it can be taken up again after a crash.
pub trait Checkpoint: fmt::Debug + Send + Sync {
    /// Whether it is time to keep a state. Asked after each step; all members hear the same.
    fn is_due(&self) -> bool;

    /// Keeps this member's state after a step of the work called `work`.
    fn keep(&self, work: &str, state: &[u8]);

    /// What was kept of the work called `work`, if an earlier run was in the midst of it.
    fn kept(&self, work: &str) -> Option<Vec<u8>>;
}

/// Nobody else: all votes are here.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn sum(&self, _: &mut [f64]) {}

    fn max(&self, _: &mut [f64]) {}

    fn min(&self, _: &mut [u32]) {}

    fn is_single_process(&self) -> bool {
        true
    }
}

impl dyn Communicator + '_ {
    /// Keeps the state of the work called `work`, if it is time to.
    pub(crate) fn keep_if_due(&self, work: &str, write: impl FnOnce(&mut StateWriter)) {
        if let Some(checkpoint) = self.checkpoint()
            && checkpoint.is_due()
        {
            let mut state = StateWriter::default();
            write(&mut state);
            checkpoint.keep(work, &state.finish());
        }
    }

    /// What an earlier run has kept of the work called `work`.
    pub(crate) fn kept(&self, work: &str) -> Option<Vec<u8>> {
        self.checkpoint().and_then(|checkpoint| checkpoint.kept(work))
    }

    /// One number added up over everyone.
    #[must_use]
    pub fn sum_scalar(&self, value: f64) -> f64 {
        let mut values = [value];
        self.sum(&mut values);
        values[0]
    }

    /// The largest of one number of everyone.
    #[must_use]
    pub fn max_scalar(&self, value: f64) -> f64 {
        let mut values = [value];
        self.max(&mut values);
        values[0]
    }
}
