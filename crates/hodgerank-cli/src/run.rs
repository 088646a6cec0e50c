//! A run of a command: its messages, and what its result was computed with and from.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgMatches, Args};
use hodgerank_commands::{FileRecord, Observer, Provenance, Task};

use crate::terminal::Terminal;

/// The terminal of a run, and a record of its options and files.
pub(crate) struct Run<'a> {
    pub(crate) terminal: &'a Terminal,
    /// The arguments of the command.
    matches: &'a ArgMatches,
    files: FileRecord,
    records_files: AtomicBool,
}

impl<'a> Run<'a> {
    /// A run of the command with these arguments.
    pub(crate) fn new(terminal: &'a Terminal, matches: &'a ArgMatches) -> Self {
        Self { terminal, matches, files: FileRecord::default(), records_files: false.into() }
    }

    /// Says whether the files that are read are recorded: only outputs that name them need it.
    pub(crate) fn record_files(&self, is_needed: bool) {
        self.records_files.store(is_needed, Ordering::Relaxed);
    }

    /// What the result was computed with and from; `A` are the command's own arguments.
    pub(crate) fn provenance<A: Args>(&self) -> Provenance {
        let options = Provenance::of_arguments::<A>(self.matches);
        match self.file_record() {
            Some(record) => options.with_files(record.take()),
            None => options,
        }
    }
}

impl Observer for Run<'_> {
    fn note(&self, text: &str) {
        self.terminal.note(text);
    }

    fn warn(&self, text: &str) {
        self.terminal.warn(text);
    }

    fn during(&self, task: Task<'_>, work: &mut dyn FnMut()) {
        self.terminal.run(task, work);
    }

    fn file_record(&self) -> Option<&FileRecord> {
        self.records_files.load(Ordering::Relaxed).then_some(&self.files)
    }
}
