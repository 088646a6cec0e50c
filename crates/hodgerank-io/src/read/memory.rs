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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;
    use crate::read::Progress;
    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, StringArray,
        StringViewArray,
    };

    fn read(items: [ArrayRef; 2], y: ArrayRef) -> Result<crate::Input> {
        let [left, right] = items;
        let batch = RecordBatch::try_from_iter([("left", left), ("right", right), ("y", y)]);
        let batch = batch.unwrap();
        // Two batches, as a library that keeps its tables in chunks hands them over.
        let batches = [batch.slice(0, 2), batch.slice(2, batch.num_rows() - 2)];
        let table = Arc::new(MemoryTable::new("votes", batch.schema(), &batches));
        let options = ReadOptions { threads: 2, ..ReadOptions::default() };
        Sources::table(&table).read(&options, &Arc::new(Progress::default()))
    }

    #[test]
    fn all_ways_to_hold_labels_say_the_same() {
        let (left, right) = (["1", "2", "3", "1"], ["2", "3", "1", "2"]);
        let y = || Arc::new(Float64Array::from(vec![1.0, -1.0, 0.0, 1.0])) as ArrayRef;
        let whole = |labels: [&str; 4]| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(labels.map(|label| label.parse().unwrap())))
        };
        let make: [fn([&'static str; 4]) -> ArrayRef; 4] = [
            |labels| Arc::new(StringArray::from(labels.to_vec())),
            |labels| Arc::new(LargeStringArray::from(labels.to_vec())),
            |labels| Arc::new(StringViewArray::from(labels.to_vec())),
            |labels| Arc::new(labels.into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        let expected = read([whole(left), whole(right)], y()).unwrap().studies.remove(0);
        assert_eq!((expected.rows, expected.items.len(), expected.groups.len()), (4, 3, 3));
        for make in make {
            let study = read([make(left), make(right)], y()).unwrap().studies.remove(0);
            assert_eq!(study.groups, expected.groups);
        }
    }

    #[test]
    fn a_bad_row_is_counted_over_all_batches() {
        let label = |labels: [&'static str; 4]| Arc::new(StringArray::from(labels.to_vec())) as _;
        let y = Arc::new(Float64Array::from(vec![1.0, 1.0, 1.0, f64::NAN]));
        let error = read([label(["a", "b", "c", "a"]), label(["b", "c", "a", "c"])], y);
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("votes, row 4, column 3 (`y`): the outcome is not a"), "{text}");
    }
}
