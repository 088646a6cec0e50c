//! Several threads pulling pieces of one file and counting them.
//!
//! Pieces are taken in order under a lock, so when some piece holds the first bad row, every piece
//! before it is already in someone's hands: the error reported is always the first of the file,
//! whatever the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::OnError;
use crate::error::{BadRow, Error, Position, Result};
use crate::study::Rejected;

/// A file as a sequence of pieces that can be counted independently.
pub(super) trait Pieces: Send {
    /// A piece, and the buffers to fetch the next one into.
    type Piece: Default + Send;

    /// Fetches the next piece; `false` at the end of the file.
    fn next(&mut self, piece: &mut Self::Piece) -> Result<bool>;
}

/// What came of one piece.
#[derive(Debug, Default)]
pub(super) struct PieceReport {
    /// Rows, counted or not.
    pub(super) rows: u64,
    /// Lines or rows by which later positions are moved on.
    pub(super) span: u64,
    /// Rows that were not counted.
    pub(super) rejected: Rejected,
}

impl PieceReport {
    /// Notes a bad row. Its description is made only while there is room to list it.
    pub(super) fn reject(&mut self, describe: impl FnOnce() -> BadRow) {
        self.rejected.total += 1;
        if self.rejected.first.len() < Rejected::LISTED {
            self.rejected.first.push(describe());
        }
    }
}

/// What came of a file.
#[derive(Debug, Default)]
pub(super) struct FileReport {
    pub(super) rows: u64,
    pub(super) rejected: Rejected,
}

/// Counts all pieces with one thread for each sink; one alone gets them in order. `first` is the position before the first row.
pub(super) fn run<P: Pieces, S: Send>(
    pieces: P,
    sinks: &mut [S],
    on_error: OnError,
    first: u64,
    count: impl Fn(&mut P::Piece, &mut S) -> Result<PieceReport> + Sync,
) -> Result<FileReport> {
    let source = Mutex::new((pieces, 0_usize));
    let stop = AtomicBool::new(false);
    let worker = |sink: &mut S| {
        let mut reports = Vec::new();
        let mut piece = P::Piece::default();
        while !stop.load(Ordering::Relaxed) {
            let (number, fetched) = {
                let mut guard = source.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (pieces, next) = &mut *guard;
                // Checked again under the lock: pieces after a failed one must not be taken.
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let fetched = pieces.next(&mut piece);
                if fetched.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                *next += 1;
                (*next, fetched)
            };
            let report = match fetched {
                Ok(false) => break,
                Ok(true) => count(&mut piece, sink),
                Err(error) => Err(error),
            };
            let bad = |report: &PieceReport| report.rejected.total > 0;
            if report.as_ref().map_or(true, |r| on_error == OnError::Stop && bad(r)) {
                stop.store(true, Ordering::Relaxed);
            }
            reports.push((number, report));
        }
        reports
    };
    let mut reports: Vec<(usize, Result<PieceReport>)> = match sinks {
        [only] => worker(only),
        several => std::thread::scope(|scope| {
            let workers: Vec<_> =
                several.iter_mut().map(|sink| scope.spawn(|| worker(sink))).collect();
            let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined.flat_map(|r| r.unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
        }),
    };
    reports.sort_unstable_by_key(|&(number, _)| number);
    gather(reports, on_error, first)
}

fn gather(
    reports: Vec<(usize, Result<PieceReport>)>,
    on_error: OnError,
    first: u64,
) -> Result<FileReport> {
    let mut file = FileReport::default();
    let mut before = first;
    for (_, report) in reports {
        let report = report.map_err(|error| moved(error, before))?;
        for mut row in report.rejected.first {
            row.position = row.position.after(before);
            if on_error == OnError::Stop {
                return Err(Box::new(row).into());
            }
            if file.rejected.first.len() < Rejected::LISTED {
                file.rejected.first.push(row);
            }
        }
        file.rejected.total += report.rejected.total;
        file.rows += report.rows;
        before += report.span;
    }
    Ok(file)
}

/// Errors that end the whole file know their place inside a piece only.
fn moved(error: Error, before: u64) -> Error {
    match error {
        Error::Row(mut row) => {
            row.position = row.position.after(before);
            Error::Row(row)
        }
        other => other,
    }
}

impl Position {
    fn after(self, before: u64) -> Self {
        match self {
            Self::Line(line) => Self::Line(before + line),
            Self::Row(row) => Self::Row(before + row),
        }
    }
}
