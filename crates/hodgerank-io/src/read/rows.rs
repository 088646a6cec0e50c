//! The receivers of rows: the counter of the first pass and the matcher of the second.

use arrow_array::RecordBatch;

use crate::columns::{Layout, Role};
use crate::count::Counter;
use crate::error::{Problem, Result};
use crate::parse::{Cells, RowFate};

/// A row as it is in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawRow<'a> {
    /// Its number in its chunk of text or in its batch, from 1. Rows that cannot be read count too.
    pub(crate) number: u64,
    /// What it contains.
    pub(crate) content: RawContent<'a>,
}

/// The content of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RawContent<'a> {
    /// Text with its line end; it can be empty unless whole rows are needed.
    Text(&'a [u8]),
    /// A row of this batch, which has all columns if whole rows are needed.
    Batch(&'a RecordBatch),
}

impl<'a> RawRow<'a> {
    /// The text of a row of a text file; empty for a row of a batch.
    pub(crate) fn text(&self) -> &'a [u8] {
        match self.content {
            RawContent::Text(text) => text,
            RawContent::Batch(_) => b"",
        }
    }
}

/// Receives rows, in the order of the file within a chunk.
pub(crate) trait RowSink: Send {
    /// Whether whole rows are needed: text rows with their bytes, batches with all columns.
    const WHOLE_ROWS: bool;

    /// Receives a row and returns what became of it, or the role of a bad cell and its problem.
    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        raw: RawRow<'_>,
    ) -> Result<RowFate, (Role, Problem)>;

    /// Bytes of memory that grow with the rows, approximately.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Receives a blank line of a text file, with its line end.
    fn blank(&mut self, _: &[u8]) {}

    /// Starts the next source: a file or a table.
    fn start_source(&mut self) {}

    /// Ends a chunk of a text file that has so many rows; returns an error that occurred in it and is
    /// not a bad row.
    fn end_text_chunk(&mut self, _rows: u64) -> Result<()> {
        Ok(())
    }
}

impl RowSink for Counter {
    const WHOLE_ROWS: bool = false;

    #[inline]
    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        raw: RawRow<'_>,
    ) -> Result<RowFate, (Role, Problem)> {
        // Rows of a batch are cached by the indices of their items, which must be known at once.
        self.count(layout, cells, matches!(raw.content, RawContent::Text(_)))
    }

    fn start_source(&mut self) {
        self.flush();
    }

    fn memory_bytes(&self) -> u64 {
        Self::memory_bytes(self)
    }
}
