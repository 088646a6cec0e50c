//! Tables in memory, as Arrow record batches. They are read like an Arrow file.
//!
//! Large batches are sliced, without copying, so that all threads have work.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};

use super::arrow_batches::read_batches;
use super::batches::BatchSink;
use super::options::ReadOptions;
use super::parallel::FileReport;
use crate::error::Result;
use crate::table_head::TableHead;

/// Maximum number of rows in a batch, the unit of work of a thread.
const MAX_BATCH_ROWS: usize = 1 << 16;

/// A table in memory.
#[derive(Debug)]
pub struct MemoryTable {
    name: Arc<str>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl MemoryTable {
    /// Creates a table, called `name` in messages. All batches must have the schema `schema`.
    #[must_use]
    pub fn new(name: &str, schema: SchemaRef, batches: &[RecordBatch]) -> Self {
        let slices = |batch: &RecordBatch| {
            let starts = (0..batch.num_rows()).step_by(MAX_BATCH_ROWS);
            let slice =
                |start: usize| batch.slice(start, MAX_BATCH_ROWS.min(batch.num_rows() - start));
            starts.map(slice).collect::<Vec<_>>()
        };
        Self { name: name.into(), schema, batches: batches.iter().flat_map(slices).collect() }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub(super) fn read<S: BatchSink>(
        &self,
        options: &ReadOptions,
        sinks: &mut [S],
    ) -> Result<(FileReport, TableHead)> {
        let (report, head) = read_batches(&self.name, &self.schema, options, sinks, |columns| {
            let batches = self.batches.iter();
            Ok(batches.map(move |batch| -> Result<_, ArrowError> { batch.project(&columns) }))
        })?;
        Ok((report, TableHead { stream: true, ..head }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;
    use crate::read::Progress;
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        ArrayRef, DictionaryArray, Float64Array, Int64Array, LargeStringArray, StringArray,
        StringViewArray,
    };

    fn read(items: [ArrayRef; 2], y: ArrayRef) -> Result<crate::Input> {
        let [left, right] = items;
        let batch = RecordBatch::try_from_iter([("left", left), ("right", right), ("y", y)]);
        let batch = batch.unwrap();
        // Two batches, as from a library that stores tables in chunks.
        let batches = [batch.slice(0, 2), batch.slice(2, batch.num_rows() - 2)];
        let table = Arc::new(MemoryTable::new("votes", batch.schema(), &batches));
        let options = ReadOptions { threads: 2, ..ReadOptions::default() };
        Sources::table(&table).read(&options, &Arc::new(Progress::default()))
    }

    #[test]
    fn all_column_types_give_the_same_votes() {
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
    fn spaces_at_the_ends_of_labels_are_trimmed() {
        let (left, right) = (["a", "b ", "c", " a"], [" b", "c", "\u{a0}a", "b"]);
        let make: [fn([&'static str; 4]) -> ArrayRef; 2] = [
            |labels| Arc::new(StringArray::from(labels.to_vec())),
            |labels| Arc::new(labels.into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        for make in make {
            let y = Arc::new(Float64Array::from(vec![1.0, -1.0, 0.0, 1.0]));
            let study = read([make(left), make(right)], y).unwrap().studies.remove(0);
            assert!(study.items.iter().eq(["a", "b", "c"]));
            assert_eq!((study.rows, study.groups.len()), (4, 3));
        }
    }

    /// Most votes repeat earlier ones; some items appear late and have the names of outcomes. A
    /// column of counts disables the fast path.
    #[test]
    fn the_fast_path_gives_the_same_votes() {
        let names: Vec<String> = (0..40).map(|k| format!("item-{k}")).collect();
        let mut state = 1_u64;
        let mut draw = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) as usize % bound
        };
        let mut rows: Vec<[String; 4]> = Vec::new();
        for row in 0..6000 {
            let (i, other) = (draw(40), 1 + draw(39));
            let [mut left, right] = [i, (i + other) % 40].map(|k| names[k].clone());
            if row > 3000 && draw(50) == 0 {
                left = ["b", "7", "B"][draw(3)].to_owned();
            }
            let outcome = ["left", "right", "tie", "-1", &right][draw(5)].to_owned();
            rows.push([left, right, outcome, format!("annotator-{}", draw(7))]);
        }
        let column = |k: usize| rows.iter().map(move |row| row[k].as_str());
        let make: [fn(Vec<&str>) -> ArrayRef; 4] = [
            |texts| Arc::new(StringArray::from(texts)),
            |texts| Arc::new(LargeStringArray::from(texts)),
            |texts| Arc::new(StringViewArray::from(texts)),
            |texts| Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        let names = ["left", "right", "winner", "annotator"];
        let study = |make: fn(Vec<&str>) -> ArrayRef, counted: bool, threads: usize| {
            let columns =
                names.iter().enumerate().map(|(k, name)| (*name, make(column(k).collect())));
            let mut columns: Vec<(&str, ArrayRef)> = columns.collect();
            if counted {
                columns.push(("count", Arc::new(Int64Array::from(vec![1; rows.len()]))));
            }
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let table = Arc::new(MemoryTable::new("votes", batch.schema(), &[batch]));
            let options = ReadOptions { threads, ..ReadOptions::default() };
            let input = Sources::table(&table).read(&options, &Arc::new(Progress::default()));
            let input = input.unwrap();
            let outcomes = input.outcomes.clone();
            (input.studies.into_iter().next().unwrap(), outcomes)
        };
        let (expected, outcomes) = study(make[0], true, 1);
        for make in make {
            for threads in [1, 2] {
                let (found, seen) = study(make, false, threads);
                assert_eq!(found.groups, expected.groups);
                assert_eq!((found.rows, found.comparisons), (expected.rows, expected.comparisons));
                assert!(found.items.iter().eq(expected.items.iter()));
                assert_eq!(found.annotators.len(), expected.annotators.len());
                assert_eq!(seen, outcomes);
            }
        }
    }

    #[test]
    fn row_numbers_count_all_batches() {
        let label = |labels: [&'static str; 4]| Arc::new(StringArray::from(labels.to_vec())) as _;
        let y = Arc::new(Float64Array::from(vec![1.0, 1.0, 1.0, f64::NAN]));
        let error = read([label(["a", "b", "c", "a"]), label(["b", "c", "a", "c"])], y);
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("votes, row 4, column 3 (`y`): the outcome is not a"), "{text}");
    }
}
