//! Who looks on while a command works: a terminal, a notebook, nobody.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hodgerank_io::Rejected;
use hodgerank_io::read::Progress;

use crate::failure::Failure;

/// What is being done.
#[derive(Debug, Clone, Copy)]
pub enum Work<'a> {
    /// Reading this many bytes (0 where that is not known).
    Reading(u64, &'a Arc<Progress>),
    /// Work in steps, counted by those who do it.
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

/// Hears what a command has to say while it works.
pub trait Watch: Sync {
    /// A message.
    fn note(&self, text: &str);

    /// A warning: something that changes how the result must be read.
    fn warn(&self, text: &str);

    /// Does `work`, and shows that it goes on. Not doing it ends the command
    /// ([`Failure::Interrupted`]).
    fn during(&self, what: Work<'_>, work: &mut dyn FnMut());
}

impl dyn Watch + '_ {
    /// Does `work` under the eyes of this watcher.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if the watcher wants no more work done.
    pub fn watch<T>(&self, what: Work<'_>, work: impl FnOnce() -> T) -> Result<T, Failure> {
        let mut work = Some(work);
        let mut done = None;
        self.during(what, &mut || done = work.take().map(|work| work()));
        done.ok_or(Failure::Interrupted)
    }

    /// Lists rows that were not counted.
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
