//! From files to studies.

mod batches;
mod delimited;
mod head;
mod ipc;
mod json_lines;
mod memory;
mod parquet;
mod pump;
mod replay;
mod rows;
mod share;
mod shield;
mod source;
mod text_blocks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::columns::ColumnNames;
use crate::error::{Error, Result};
use crate::study::{Counter, Input, Rejected};
use rows::RowSink;

pub use head::TableHead;
pub use memory::MemoryTable;
pub(crate) use replay::{Fate, Visitor, visit};
pub use replay::{Judged, Replayed, Vote, replay};
pub use share::{Measured, Share, measure};
pub use source::{Format, Sources};

/// What to do with a row that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// End the run with an error.
    #[default]
    Stop,
    /// Leave the row out, count it and list the first ones.
    Skip,
}

/// How to read.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `columns` | found by name | which columns to use |
/// | `format` | from name and content | what the files are |
/// | `delimiter` | `,` (`;` or tab where the header has no comma) | field separator of CSV |
/// | `on_error` | stop | what to do with a bad row |
/// | `threads` | all cores | how many threads read; never changes the result |
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which columns to use.
    pub columns: ColumnNames,
    /// What the files are, where name and content do not tell.
    pub format: Option<Format>,
    /// Field separator of CSV files.
    pub delimiter: Option<u8>,
    /// What to do with a bad row.
    pub on_error: OnError,
    /// How many threads read; 0 is all cores.
    pub threads: usize,
}

/// How far reading has come, in bytes of the files as they are on disk. Shared with whoever shows it.
#[derive(Debug, Default)]
pub struct Progress(AtomicU64);

impl Progress {
    /// Bytes read so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Reads the files as one study (or one for each value of the `by` column). `-` is standard input.
///
/// # Errors
/// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
pub fn read(files: &[String], options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
    Sources::once(files).read(options, progress)
}

impl Sources {
    /// Reads the files as one study (or one for each value of the `by` column).
    ///
    /// # Errors
    /// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
    pub fn read(&self, options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
        let input = self.read_part(options, progress)?;
        input.check()?;
        Ok(input)
    }

    /// The same where others read the rest. What depends on everything is not checked: that is
    /// for whoever hears of all parts ([`Input::check`]).
    ///
    /// # Errors
    /// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
    pub fn read_part(&self, options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        let mut counters: Vec<Counter> = (0..threads).map(|_| Counter::default()).collect();
        let (rejected, tables) = self.each_file(options, progress, &mut counters)?;
        Ok(Counter::finish(counters, options.columns.by.is_some(), rejected, tables))
    }

    /// Hands all rows of all files to the sinks, one thread for each.
    fn each_file<S: RowSink>(
        &self,
        options: &ReadOptions,
        progress: &Arc<Progress>,
        sinks: &mut [S],
    ) -> Result<(Rejected, Vec<TableHead>)> {
        let mut rejected = Rejected::default();
        let mut tables = Vec::with_capacity(self.0.len());
        for source in &self.0 {
            let opened = source.open(options.format, progress)?;
            let file = Arc::clone(&opened.name);
            let (found, head) = match opened.content {
                source::Content::Table(table) => table.read(options, sinks)?,
                source::Content::Text(format, reader) => {
                    let blocks = text_blocks::TextBlocks::start(&file, reader)?;
                    if format == Format::Jsonl {
                        json_lines::read(&file, blocks, options, sinks)?
                    } else {
                        delimited::read(&file, format, blocks, options, sinks)?
                    }
                }
                source::Content::Parquet(handle) => {
                    let part = source.row_groups();
                    parquet::read(&file, &handle, part, options, progress, sinks)?
                }
                source::Content::ArrowFile(handle) => {
                    ipc::read_file(&file, handle, options, sinks)?
                }
                source::Content::ArrowStream(reader) => {
                    ipc::read_stream(&file, reader, options, sinks)?
                }
            };
            if found.rows == 0 {
                return Err(Error::NoVotes { file });
            }
            rejected.total += found.rejected.total;
            let room = Rejected::LISTED - rejected.first.len();
            rejected.first.extend(found.rejected.first.into_iter().take(room));
            tables.push(head);
        }
        Ok((rejected, tables))
    }
}
