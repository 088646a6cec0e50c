//! A table of votes that is in memory already, as Arrow batches: handed over by another program
//! without a file between. It is read as an Arrow file would be, and as often as needed.
//!
//! Batches are cut so that all threads have work; cutting copies nothing.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::pump::FileReport;
use super::rows::RowSink;
use super::{ReadOptions, TableHead, ipc};
use crate::error::Result;

/// Rows that are handed to a thread at once.
const PIECE: usize = 1 << 16;

/// A table in memory.
#[derive(Debug)]
pub struct MemoryTable {
    name: Arc<str>,
    schema: SchemaRef,
    pieces: Vec<RecordBatch>,
}

impl MemoryTable {
    /// A table that messages call `name`. All batches have the schema `schema`.
    #[must_use]
    pub fn new(name: &str, schema: SchemaRef, batches: &[RecordBatch]) -> Self {
        let cut = |batch: &RecordBatch| {
            let starts = (0..batch.num_rows()).step_by(PIECE);
            let piece = |start: usize| batch.slice(start, PIECE.min(batch.num_rows() - start));
            starts.map(piece).collect::<Vec<_>>()
        };
        Self { name: name.into(), schema, pieces: batches.iter().flat_map(cut).collect() }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn read<S: RowSink>(
        &self,
        options: &ReadOptions,
        sinks: &mut [S],
    ) -> Result<(FileReport, TableHead)> {
        let (report, head) = ipc::read(&self.name, &self.schema, options, sinks, |columns| {
            let pieces = self.pieces.iter();
            Ok(pieces.map(move |batch| -> Result<_, ArrowError> { batch.project(&columns) }))
        })?;
        Ok((report, TableHead { stream: true, ..head }))
    }
}
