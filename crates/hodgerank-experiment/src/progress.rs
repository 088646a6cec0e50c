//! How far an experiment has come.

use std::sync::atomic::{AtomicU64, Ordering};

/// Told of steps done and steps in all, from any thread.
pub type Progress<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// Counts steps and tells of them.
pub(crate) struct Steps<'a> {
    done: AtomicU64,
    all: u64,
    progress: &'a Progress<'a>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(all: usize, progress: &'a Progress<'a>) -> Self {
        progress(0, all as u64);
        Self { done: AtomicU64::new(0), all: all as u64, progress }
    }

    pub(crate) fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.all);
    }
}
