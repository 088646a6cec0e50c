//! Distributes one file over several threads.
//!
//! Chunks are fetched in order under a lock. When a chunk has a bad row, all chunks before it have
//! been fetched already and are still processed, so the reported error is always the first one in
//! the file, whatever the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::options::OnError;
use super::rows::RowSink;
use crate::error::{BadRow, Error, Problem, RejectedValue, Result};
use crate::memory;
use crate::parse::RowFate;
use crate::study::{PassedOver, Rejected};

/// A file as a sequence of chunks that can be processed independently.
pub(super) trait ChunkSource: Send {
    /// A chunk; its buffers are reused for the next one.
    type Chunk: Default + Send;

    /// Fetches the next chunk; returns `false` at the end of the file.
    fn next(&mut self, chunk: &mut Self::Chunk) -> Result<bool>;
}

/// The result of one chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkReport {
    /// Number of rows, including rejected ones.
    pub(super) rows: u64,
    /// Number of lines or rows, to be added to the positions in later chunks.
    pub(super) span: u64,
    /// Rejected rows, with positions relative to the chunk.
    pub(super) rejected: Rejected,
    pub(super) passed_over: PassedOver,
    /// For each listed fault: the column and the value, which are compared with those of later rows.
    pub(super) faults: Vec<(usize, Vec<u8>)>,
}

impl ChunkReport {
    /// Adds a bad row with a value in a column, counted from 0. `describe` is called only for a new fault,
    /// or while the list has room: it takes long.
    #[cold]
    pub(super) fn reject(
        &mut self,
        (column, value): (usize, &[u8]),
        problem: &Problem,
        describe: impl FnOnce() -> BadRow,
    ) {
        self.rejected.total += 1;
        let value = if problem.depends_on_value() { value } else { b"" };
        let value = &value[..value.len().min(MAX_COMPARED)];
        let same = |(known, fault): (&RejectedValue, &(usize, Vec<u8>))| {
            known.first.problem.is_like(problem) && fault.0 == column && fault.1 == value
        };
        let known = self.rejected.values.iter().zip(&self.faults).position(same);
        if let Some(known) = known {
            self.rejected.values[known].rows += 1;
        }
        let is_new = known.is_none() && self.rejected.values.len() < Rejected::MAX_VALUES;
        if !is_new && self.rejected.first.len() == Rejected::MAX_LISTED {
            return;
        }
        let row = describe();
        if is_new {
            self.rejected.values.push(RejectedValue { first: row.clone(), rows: 1 });
            self.faults.push((column, value.to_vec()));
        }
        if self.rejected.first.len() < Rejected::MAX_LISTED {
            self.rejected.first.push(row);
        }
    }

    /// Takes note of what became of a row.
    #[inline]
    pub(super) fn note(&mut self, fate: RowFate) {
        match fate {
            RowFate::Counted => {}
            RowFate::Ignored => self.passed_over.ignored += 1,
            RowFate::Filtered => self.passed_over.filtered += 1,
        }
    }

    /// Takes back a row that turned out to be one of empty cells.
    pub(super) fn was_blank(&mut self) {
        self.rows -= 1;
        self.passed_over.blank += 1;
    }
}

/// Bytes by which values are told apart.
const MAX_COMPARED: usize = 200;

/// The result of a file.
#[derive(Debug, Default)]
pub(super) struct FileReport {
    pub(super) rows: u64,
    pub(super) rejected: Rejected,
    pub(super) passed_over: PassedOver,
}

/// Processes all chunks, with one thread for each sink. A single sink receives them in order.
/// `first` is the number of lines before the first row.
pub(super) fn read_chunks<C: ChunkSource, S: RowSink>(
    chunks: C,
    sinks: &mut [S],
    on_error: OnError,
    first: u64,
    process: impl Fn(&mut C::Chunk, &mut S) -> Result<ChunkReport> + Sync,
) -> Result<FileReport> {
    let source = Mutex::new((chunks, 0_usize));
    let stop = AtomicBool::new(false);
    let worker = |sink: &mut S| {
        let mut reports = Vec::new();
        let mut chunk = C::Chunk::default();
        let mut memory = MemoryCheck::default();
        while !stop.load(Ordering::Relaxed) {
            let (number, fetched) = {
                let mut guard = source.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (chunks, next) = &mut *guard;
                // Checked again under the lock: no chunk after a failed one may be fetched.
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let fetched = chunks.next(&mut chunk);
                if fetched.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                *next += 1;
                (*next, fetched)
            };
            let report = match fetched {
                Ok(false) => break,
                Ok(true) => {
                    let report = process(&mut chunk, sink);
                    report.and_then(|report| memory.check(sink).map(|()| report))
                }
                Err(error) => Err(error),
            };
            let bad = |report: &ChunkReport| report.rejected.total > 0;
            if report.as_ref().map_or(true, |r| on_error == OnError::Stop && bad(r)) {
                stop.store(true, Ordering::Relaxed);
            }
            reports.push((number, report));
        }
        reports
    };
    let mut reports: Vec<(usize, Result<ChunkReport>)> = match sinks {
        [only] => worker(only),
        several => std::thread::scope(|scope| {
            let workers: Vec<_> =
                several.iter_mut().map(|sink| scope.spawn(|| worker(sink))).collect();
            let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.flat_map(|r| r.unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
        }),
    };
    reports.sort_unstable_by_key(|&(number, _)| number);
    merge(reports, on_error, first)
}

/// Compares the memory of a sink with what is available, whenever it has grown.
#[derive(Default)]
struct MemoryCheck {
    bytes_checked: u64,
}

impl MemoryCheck {
    /// Growth between two checks, so that small studies are not slowed down.
    const INTERVAL: u64 = 16 << 20;

    fn check(&mut self, sink: &impl RowSink) -> Result<()> {
        let bytes = sink.memory_bytes();
        if bytes < self.bytes_checked + Self::INTERVAL {
            return Ok(());
        }
        self.bytes_checked = bytes;
        // A table that is full is replaced by one of twice its size.
        memory::require("counting the votes", 2 * bytes)
    }
}

/// Merges the reports of all chunks, sorted by chunk, and makes positions relative to the file.
fn merge(
    reports: Vec<(usize, Result<ChunkReport>)>,
    on_error: OnError,
    first: u64,
) -> Result<FileReport> {
    let mut file = FileReport::default();
    let mut offset = first;
    for (_, report) in reports {
        let mut report = report.map_err(|error| shifted(error, offset))?;
        let listed = report.rejected.values.iter_mut().map(|value| &mut value.first);
        for row in report.rejected.first.iter_mut().chain(listed) {
            row.position = row.position.shifted(offset);
        }
        if on_error == OnError::Stop && report.rejected.total > 0 {
            let Rejected { first, values, .. } = report.rejected;
            if let Some(row) = first.into_iter().next() {
                return Err(Box::new(BadRow { others: values, rows: report.rows, ..row }).into());
            }
            continue;
        }
        file.rejected.merge(report.rejected);
        file.passed_over.merge(&report.passed_over);
        file.rows += report.rows;
        offset += report.span;
    }
    Ok(file)
}

/// Makes the position of an error relative to the file.
fn shifted(error: Error, offset: u64) -> Error {
    match error {
        Error::Row(mut row) => {
            row.position = row.position.shifted(offset);
            Error::Row(row)
        }
        other => other,
    }
}
