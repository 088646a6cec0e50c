//! The receivers of rows: the counter of the first pass and the matcher of the second.

use crate::columns::{Layout, Role};
use crate::count::Counter;
use crate::error::{Problem, Result};
use crate::parse::Cells;

/// Receives rows, in the order of the file within a chunk.
pub(super) trait RowSink: Send {
    /// Whether whole rows are needed: text rows with their bytes, batches with all columns.
    const WHOLE_ROWS: bool;

    /// Receives a row, or returns the role of a bad cell and its problem. `text` is the row with
    /// its line end; it can be empty unless whole rows are needed.
    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        text: &[u8],
    ) -> Result<(), (Role, Problem)>;

    /// Bytes of memory that grow with the rows, approximately.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Receives a blank line of a text file, with its line end.
    fn blank(&mut self, _: &[u8]) {}

    /// Ends a chunk of a text file; returns an error that occurred in it and is not a bad row.
    fn end_text_chunk(&mut self) -> Result<()> {
        Ok(())
    }
}

impl RowSink for Counter {
    const WHOLE_ROWS: bool = false;

    #[inline]
    fn row(&mut self, layout: &Layout, cells: &Cells<'_>, _: &[u8]) -> Result<(), (Role, Problem)> {
        self.count(layout, cells)
    }

    fn memory_bytes(&self) -> u64 {
        Self::memory_bytes(self)
    }
}
