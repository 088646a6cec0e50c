//! Messages and progress of a running command, for a terminal or a notebook.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hodgerank_io::read::Progress;
use hodgerank_io::{Input, PassedOver, Problem, Rejected, RejectedValue};
use hodgerank_report::words::{counted, thousands};

use crate::failure::Failure;
use crate::provenance::FileRecord;

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

    /// Where to note the files that are read; `None` if nobody asks for them, so that they need not be
    /// hashed.
    fn file_record(&self) -> Option<&FileRecord> {
        None
    }
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

    /// Lists the rejected rows and counts those that were passed over.
    pub fn list_uncounted(&self, input: &Input) {
        self.list_passed_over(&input.passed_over);
        self.list_rejected(&input.rejected);
    }

    fn list_passed_over(&self, rows: &PassedOver) {
        let PassedOver { ignored, filtered, blank } = *rows;
        let parts = [
            (filtered, "row does not match --where", "rows do not match --where"),
            (ignored, "row has an ignored outcome", "rows have an ignored outcome"),
            (blank, "row has empty cells only", "rows have empty cells only"),
        ];
        let parts = parts.into_iter().filter(|&(rows, ..)| rows > 0);
        let parts: Vec<String> = parts.map(|(rows, one, many)| counted(rows, one, many)).collect();
        if !parts.is_empty() {
            self.note(&format!("passed over: {}", parts.join(", ")));
        }
    }

    /// Lists the rejected rows, by value where the value is at fault.
    pub fn list_rejected(&self, rejected: &Rejected) {
        if rejected.total == 0 {
            return;
        }
        self.warn(&rejected_rows(rejected.total));
        let mut listed = 0;
        for RejectedValue { first, rows } in rejected.values.iter().take(Rejected::MAX_LISTED) {
            listed += rows;
            let such = match rows {
                1 => String::new(),
                rows => format!(" ({} such rows)", thousands(*rows)),
            };
            self.note(&format!("  {first}{such}"));
        }
        let more = rejected.total - listed;
        if more > 0 {
            self.note(&format!("  … and {} more", thousands(more)));
        }
        let other_spelling =
            |value: &&RejectedValue| matches!(value.first.problem, Problem::OtherSpelling(_));
        let misspelt: u64 =
            rejected.values.iter().filter(other_spelling).map(|value| value.rows).sum();
        if misspelt > 0 {
            self.warn(&format!(
                "{} the winner in another spelling. Votes against the same items were counted, so that \
                 the ranking is biased; use --normalise labels instead of skipping rows",
                counted(misspelt, "rejected row names", "rejected rows name")
            ));
        }
    }
}

/// How many rows were rejected, in words.
#[must_use]
pub fn rejected_rows(rows: u64) -> String {
    let were = if rows == 1 { "was" } else { "were" };
    format!("{} {were} rejected and not counted", counted(rows, "row", "rows"))
}
