//! Progress of an experiment.

use std::sync::atomic::{AtomicU64, Ordering};

/// Called with the number of completed steps and of all steps, from any thread.
pub type ProgressCallback<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// Counts completed steps and reports them.
pub(crate) struct StepCounter<'a> {
    done: AtomicU64,
    all: u64,
    progress: &'a ProgressCallback<'a>,
}

impl<'a> StepCounter<'a> {
    pub(crate) fn new(all: usize, progress: &'a ProgressCallback<'a>) -> Self {
        progress(0, all as u64);
        Self { done: AtomicU64::new(0), all: all as u64, progress }
    }

    /// Counts one more completed step.
    pub(crate) fn advance(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.all);
    }
}
