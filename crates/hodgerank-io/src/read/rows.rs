//! Who rows are handed to: the count of the first pass, or the join of the second.

use arrow_array::RecordBatch;

use super::batches::{Memo, Table};
use super::pump::PieceReport;
use crate::columns::{Layout, Role};
use crate::error::{Problem, Result};
use crate::study::{Cells, Counter};

/// Takes rows, in the order of the file within a piece.
pub(super) trait RowSink: Send {
    /// Whether rows are wanted whole: text rows with their bytes, batches with all their columns.
    const WHOLE: bool;

    /// Takes a row, or says which cell is wrong with it and why. `text` is the row with its line
    /// end; empty unless rows are wanted whole.
    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        text: &[u8],
    ) -> Result<(), (Role, Problem)>;

    /// A blank line of a text file, with its line end: no row, but a part of the file.
    fn blank(&mut self, _: &[u8]) {}

    /// Takes the rows of a batch. `memo` is the same for all batches of a piece.
    fn batch(
        &mut self,
        table: &Table,
        batch: &RecordBatch,
        memo: &mut Memo,
        report: &mut PieceReport,
    ) -> Result<()>;

    /// A piece of text ends here: the time to speak of errors that are not the row's.
    fn end_of_text(&mut self) -> Result<()> {
        Ok(())
    }
}

impl RowSink for Counter {
    const WHOLE: bool = false;

    #[inline]
    fn row(&mut self, layout: &Layout, cells: &Cells<'_>, _: &[u8]) -> Result<(), (Role, Problem)> {
        self.count(layout, cells)
    }

    fn batch(
        &mut self,
        table: &Table,
        batch: &RecordBatch,
        memo: &mut Memo,
        report: &mut PieceReport,
    ) -> Result<()> {
        table.count(batch, memo, self, report)
    }
}
