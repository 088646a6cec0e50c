//! Distributes one file over several threads.
//!
//! Chunks are fetched in order under a lock. When a chunk has a bad row, all chunks before it have
//! been fetched already and are still processed, so the reported error is always the first one in
//! the file, whatever the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::options::OnError;
use super::rows::RowSink;
use crate::error::{BadRow, Error, Result};
use crate::memory;
use crate::study::Rejected;

/// A file as a sequence of chunks that can be processed independently.
pub(super) trait ChunkSource: Send {
    /// A chunk; its buffers are reused for the next one.
    type Chunk: Default + Send;

    /// Fetches the next chunk; returns `false` at the end of the file.
    fn next(&mut self, chunk: &mut Self::Chunk) -> Result<bool>;
}

/// The result of one chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkReport {
    /// Number of rows, including rejected ones.
    pub(super) rows: u64,
    /// Number of lines or rows, to be added to the positions in later chunks.
    pub(super) span: u64,
    /// Rejected rows, with positions relative to the chunk.
    pub(super) rejected: Rejected,
}

impl ChunkReport {
    /// Adds a bad row. `describe` is called only while the list has room.
    pub(super) fn reject(&mut self, describe: impl FnOnce() -> BadRow) {
        self.rejected.total += 1;
        if self.rejected.first.len() < Rejected::MAX_LISTED {
            self.rejected.first.push(describe());
        }
    }
}

/// The result of a file.
#[derive(Debug, Default)]
pub(super) struct FileReport {
    pub(super) rows: u64,
    pub(super) rejected: Rejected,
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
        let report = report.map_err(|error| shifted(error, offset))?;
        for mut row in report.rejected.first {
            row.position = row.position.shifted(offset);
            if on_error == OnError::Stop {
                return Err(Box::new(row).into());
            }
            if file.rejected.first.len() < Rejected::MAX_LISTED {
                file.rejected.first.push(row);
            }
        }
        file.rejected.total += report.rejected.total;
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
