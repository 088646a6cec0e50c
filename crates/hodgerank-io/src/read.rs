//! Reads files and tables into studies.

mod arrow_batches;
mod batches;
mod catch_panics;
mod database;
mod delimited;
mod fingerprint;
mod input_file;
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
mod same_content;
mod second_pass;
mod share;
mod shared_file;
mod source;
mod split_groups;
mod spool;
mod text_blocks;
mod workbook;

use std::sync::Arc;

use crate::columns::ColumnNames;
use crate::count::Counter;
use crate::error::{DatabaseProblem, Error, Result};
use crate::format::Format;
use crate::study::{Input, PassedOver, Rejected};
use fingerprint::{ContentHash, Fingerprint};
use parallel::FileReport;
use source::{Opened, OpenedFile, Source};

pub use crate::table_head::TableHead;
pub(crate) use batches::{BatchParser, BatchSink, FastPathCache};
pub use database::{STUDY_FILE, STUDY_VIEW};
pub use input_file::InputFile;
pub use kept_columns::{KeptColumns, RowValues, second_pass_with_columns};
pub use memory::MemoryTable;
pub use options::{DatabaseRows, OnError, ReadOptions};
pub(crate) use parallel::ChunkReport;
pub use progress::Progress;
pub(crate) use rows::{RawContent, RawRow, RowSink};
pub use same_content::same_content;
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
        let ReadOptions { annotator_votes, sides, excluded, .. } = options;
        let counter = || Counter::new(*annotator_votes, *sides, excluded.as_ref());
        let mut counters: Vec<Counter> = (0..options.threads()).map(|_| counter()).collect();
        let (uncounted, tables) = self.read_rows(options, progress, &mut counters)?;
        let counted: u64 = counters.iter().map(Counter::memory_bytes).sum();
        // Labels and counts are copied while they are sorted.
        crate::memory::require("merging the votes", 2 * counted)?;
        let ColumnNames { by, by_file, .. } = &options.columns;
        Ok(Counter::finish(counters, by.is_some() || by_file.is_some(), uncounted, tables))
    }

    /// Passes all rows of all sources to the sinks, with one thread for each sink.
    ///
    /// After the first pass, every pass must read the same content.
    pub(crate) fn read_rows<S: BatchSink>(
        &self,
        options: &ReadOptions,
        progress: &Arc<Progress>,
        sinks: &mut [S],
    ) -> Result<((Rejected, PassedOver), Vec<TableHead>)> {
        let (mut rejected, mut passed_over) = (Rejected::default(), PassedOver::default());
        let mut tables = Vec::with_capacity(self.list.len());
        let mut fingerprints = Vec::with_capacity(self.list.len());
        let mut files = Vec::new();
        let hash_files = options.hash_files && !self.was_read();
        for source in &self.list {
            sinks.iter_mut().for_each(S::start_source);
            let content = self.content_hash(source, hash_files);
            let read = read_source(source, &content, options, progress, sinks);
            let (report, head) = match read {
                Err(error) if self.was_read() => return Err(changed(source, error)),
                read => read?,
            };
            fingerprints.push(match self.can_change(source) {
                true => content.finish(report.rows),
                false => Fingerprint::of_rows(report.rows),
            });
            if let Some(path) = source.path().filter(|_| hash_files) {
                let file = InputFile::new(path, &content);
                files.push(file.map_err(|error| Error::read(&source.name(), error))?);
            }
            rejected.merge(report.rejected);
            passed_over.merge(&report.passed_over);
            tables.push(head);
        }
        self.check_unchanged(fingerprints)?;
        if hash_files {
            self.remember_files(files);
        }
        Ok(((rejected, passed_over), tables))
    }
}

fn read_source<S: BatchSink>(
    source: &Source,
    content: &ContentHash,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let (report, head) = match source.open(options.format, progress, content)? {
        Opened::Table(table) => table.read(options, sinks)?,
        Opened::File(file) => read_file(file, source, options, progress, sinks)?,
    };
    if report.rows == 0 {
        return Err(Error::NoVotes { file: head.file });
    }
    Ok((report, head))
}

/// The error of a later pass over a source that the first pass could read. What is wrong with the
/// content was not there before.
fn changed(source: &Source, error: Error) -> Error {
    let difference = match error {
        Error::Changed { difference, .. } => difference,
        Error::Database { problem: DatabaseProblem::Locked, .. } => return error,
        Error::Row(_)
        | Error::Database { .. }
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
    source: &Source,
    options: &ReadOptions,
    progress: &Progress,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    match file.format {
        Format::Csv | Format::Tsv => delimited::read(file, options, sinks),
        Format::Jsonl => json_lines::read(file, options, sinks),
        Format::Parquet => parquet::read(file, source.row_groups(), options, progress, sinks),
        Format::Arrow => ipc::read(file, options, sinks),
        Format::Xlsx => workbook::read(file, options, sinks),
        Format::Sqlite => database::read(file, source.copy(), options, progress, sinks),
    }
}
