//! Reads files and tables into studies.

mod arrow_batches;
mod batches;
mod catch_panics;
mod delimited;
mod fingerprint;
mod ipc;
mod json_lines;
mod kept_columns;
mod memory;
mod options;
mod parallel;
mod parquet;
mod parquet_scan;
mod progress;
mod rows;
mod second_pass;
mod share;
mod shared_file;
mod source;
mod split_groups;
mod spool;
mod text_blocks;

use std::sync::Arc;

use crate::count::Counter;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::study::{Input, Rejected};
use batches::BatchSink;
use fingerprint::{ContentHash, Fingerprint};
use parallel::FileReport;
use source::{Opened, OpenedFile, Source};

pub use crate::table_head::TableHead;
pub use kept_columns::{KeptColumns, RowValues, second_pass_with_columns};
pub use memory::MemoryTable;
pub use options::{OnError, ReadOptions};
pub use progress::Progress;
pub(crate) use rows::{RawContent, RawRow};
pub(crate) use second_pass::{ExcludedRow, RowStatus, RowVisitor, visit_rows};
pub use second_pass::{JudgedCrowd, SecondPass, StudyFlags, VoteRow, second_pass};
pub use share::{FileSize, Share, measure};
pub use source::{Sources, open_file};

/// Reads files as one study, or as one study per value of the `by` column. `-` is standard input.
///
/// # Errors
/// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
pub fn read(files: &[String], options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
    Sources::once(files).read(options, progress)
}

impl Sources {
    /// Reads all sources as one study, or as one study per value of the `by` column.
    ///
    /// # Errors
    /// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
    pub fn read(&self, options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
        let input = self.read_part(options, progress)?;
        input.check()?;
        Ok(input)
    }

    /// Reads these sources as a part of an input whose other parts are read elsewhere. Skips the
    /// checks of [`Input::check`], which need the whole input.
    ///
    /// # Errors
    /// If a file cannot be read or lacks a column, and for a bad row unless bad rows are skipped.
    pub fn read_part(&self, options: &ReadOptions, progress: &Arc<Progress>) -> Result<Input> {
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        let ReadOptions { annotator_votes, sides, excluded, .. } = options;
        let counter = || Counter::new(*annotator_votes, *sides, excluded.as_ref());
        let mut counters: Vec<Counter> = (0..threads).map(|_| counter()).collect();
        let (rejected, tables) = self.read_rows(options, progress, &mut counters)?;
        let counted: u64 = counters.iter().map(Counter::memory_bytes).sum();
        // Labels and counts are copied while they are sorted.
        crate::memory::require("merging the votes", 2 * counted)?;
        Ok(Counter::finish(counters, options.columns.by.is_some(), rejected, tables))
    }

    /// Passes all rows of all sources to the sinks, with one thread for each sink.
    ///
    /// After the first pass, every pass must read the same content.
    fn read_rows<S: BatchSink>(
        &self,
        options: &ReadOptions,
        progress: &Arc<Progress>,
        sinks: &mut [S],
    ) -> Result<(Rejected, Vec<TableHead>)> {
        let mut rejected = Rejected::default();
        let mut tables = Vec::with_capacity(self.list.len());
        let mut fingerprints = Vec::with_capacity(self.list.len());
        for source in &self.list {
            sinks.iter_mut().for_each(S::start_source);
            let read = read_source(source, &self.content_hash(source), options, progress, sinks);
            let (report, head, fingerprint) = match read {
                Err(error) if self.was_read() => return Err(changed(source, error)),
                read => read?,
            };
            fingerprints.push(fingerprint);
            rejected.total += report.rejected.total;
            let room = Rejected::MAX_LISTED - rejected.first.len();
            rejected.first.extend(report.rejected.first.into_iter().take(room));
            tables.push(head);
        }
        self.check_unchanged(fingerprints)?;
        Ok((rejected, tables))
    }
}

fn read_source<S: BatchSink>(
    source: &Source,
    content: &ContentHash,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead, Fingerprint)> {
    let (report, head) = match source.open(options.format, progress, content)? {
        Opened::Table(table) => table.read(options, sinks)?,
        Opened::File(file) => read_file(file, source.row_groups(), options, progress, sinks)?,
    };
    if report.rows == 0 {
        return Err(Error::NoVotes { file: head.file });
    }
    let fingerprint = content.finish(report.rows);
    Ok((report, head, fingerprint))
}

/// The error of a later pass over a source that the first pass could read. What is wrong with the
/// content was not there before.
fn changed(source: &Source, error: Error) -> Error {
    let difference = match error {
        Error::Changed { difference, .. } => difference,
        Error::Row(_)
        | Error::Columns { .. }
        | Error::Encoding { .. }
        | Error::WrongFormat { .. }
        | Error::NoVotes { .. }
        | Error::Empty { .. } => format!("the second pass found an error in it ({error})"),
        other => return other,
    };
    Error::Changed { file: source.name(), difference }
}

fn read_file<S: BatchSink>(
    file: OpenedFile,
    row_groups: Option<&[usize]>,
    options: &ReadOptions,
    progress: &Progress,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    match file.format {
        Format::Csv | Format::Tsv => delimited::read(file, options, sinks),
        Format::Jsonl => json_lines::read(file, options, sinks),
        Format::Parquet => parquet::read(file, row_groups, options, progress, sinks),
        Format::Arrow => ipc::read(file, options, sinks),
    }
}
