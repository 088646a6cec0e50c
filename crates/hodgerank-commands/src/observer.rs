//! Messages and progress of a running command, for a terminal or a notebook.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hodgerank_io::Rejected;
use hodgerank_io::read::Progress;

use crate::failure::Failure;

/// A part of a command's work.
#[derive(Debug, Clone, Copy)]
pub enum Task<'a> {
    /// Reading this many bytes (0 if unknown).
    Reading(u64, &'a Arc<Progress>),
    /// Work in steps that are counted as they are done.
    Counting {
        /// What is being done.
        name: &'static str,
        /// Steps done.
        done: &'a AtomicU64,
        /// Steps in all.
        all: &'a AtomicU64,
    },
    /// Work of unknown length.
    Step(&'static str),
}

/// Receives messages, warnings and progress of a command, and can stop it.
pub trait Observer: Sync {
    /// Receives a message.
    fn note(&self, text: &str);

    /// Receives a warning: something that changes how the result must be read.
    fn warn(&self, text: &str);

    /// Runs `work` while showing its progress. Not running it stops the command with
    /// [`Failure::Interrupted`].
    fn during(&self, task: Task<'_>, work: &mut dyn FnMut());
}

impl dyn Observer + '_ {
    /// Runs `work` and returns its result.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if the observer did not run it.
    pub fn run<T>(&self, task: Task<'_>, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let mut work = Some(work);
        let mut result = None;
        self.during(task, &mut || result = work.take().map(|work| work()));
        result.ok_or(Failure::Interrupted)
    }

    /// Lists the rejected rows.
    pub fn list_rejected(&self, rejected: &Rejected) {
        if rejected.total == 0 {
            return;
        }
        self.warn(&format!("{} rows were rejected and not counted", rejected.total));
        for row in &rejected.first {
            self.note(&format!("  {row}"));
        }
        let more = rejected.total - rejected.first.len() as u64;
        if more > 0 {
            self.note(&format!("  … and {more} more"));
        }
    }
}
