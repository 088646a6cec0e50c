//! Streams simulated votes to a file: studies can be far larger than memory.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_array::{DictionaryArray, types::Int32Type};
use arrow_schema::ArrowError;
use hodgerank::simulate::SimulatedVote;

use super::batch_writer::BatchWriter;
use crate::format::Format;

/// Rows that are written together.
const BATCH_ROWS: usize = 1 << 16;

/// The columns of a file of votes, in addition to the two items and the outcome.
#[derive(Debug, Clone, Copy)]
pub struct VoteColumns {
    /// Write the annotators.
    pub annotator: bool,
    /// Write the outcome as a number (`y`), not as a word (`winner`).
    pub graded: bool,
    /// Write which votes are bad: to evaluate methods, not to rank.
    pub bad: bool,
}

/// Writes votes one by one.
pub struct VoteWriter<W: Write + Send> {
    columns: VoteColumns,
    dictionaries: Dictionaries,
    pending: Vec<SimulatedVote>,
    writer: BatchWriter<W>,
}

/// All names: a batch consists of keys into them.
struct Dictionaries {
    items: ArrayRef,
    annotators: ArrayRef,
    outcomes: ArrayRef,
}

const OUTCOMES: [&str; 3] = ["right", "tie", "left"];

impl<W: Write + Send> VoteWriter<W> {
    /// Starts a file. For text formats, names must not contain separators or quotes.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(
        out: W,
        format: Format,
        columns: VoteColumns,
        items: &[String],
        annotators: &[String],
    ) -> io::Result<Self> {
        let dictionaries = Dictionaries {
            items: Arc::new(StringArray::from_iter_values(items)),
            annotators: Arc::new(StringArray::from_iter_values(annotators)),
            outcomes: Arc::new(StringArray::from_iter_values(OUTCOMES)),
        };
        let schema = batch(&dictionaries, columns, &[]).map_err(io::Error::other)?.schema();
        let writer = BatchWriter::new(out, format, &schema, false)?;
        Ok(Self { columns, dictionaries, pending: Vec::with_capacity(BATCH_ROWS), writer })
    }

    /// Adds a vote.
    ///
    /// # Errors
    /// If writing fails.
    pub fn push(&mut self, vote: SimulatedVote) -> io::Result<()> {
        self.pending.push(vote);
        if self.pending.len() == BATCH_ROWS { self.write_pending() } else { Ok(()) }
    }

    /// Completes the file and returns its output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_pending()?;
        self.writer.finish()
    }

    fn write_pending(&mut self) -> io::Result<()> {
        let batch = batch(&self.dictionaries, self.columns, &self.pending);
        self.writer.write(&batch.map_err(io::Error::other)?)?;
        self.pending.clear();
        Ok(())
    }
}

fn batch(
    names: &Dictionaries,
    columns: VoteColumns,
    votes: &[SimulatedVote],
) -> Result<RecordBatch, ArrowError> {
    let keyed = |values: &ArrayRef, key: &dyn Fn(&SimulatedVote) -> i32| {
        let keys = Int32Array::from_iter_values(votes.iter().map(key));
        let column = DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(values))?;
        Ok::<ArrayRef, ArrowError>(Arc::new(column))
    };
    let mut list: Vec<(&str, ArrayRef)> = Vec::new();
    if columns.annotator {
        list.push((
            "annotator",
            keyed(&names.annotators, &|vote| vote.annotator.unwrap_or(0) as i32)?,
        ));
    }
    list.push(("left", keyed(&names.items, &|vote| vote.left as i32)?));
    list.push(("right", keyed(&names.items, &|vote| vote.right as i32)?));
    if columns.graded {
        let values = votes.iter().map(|vote| vote.y);
        list.push(("y", Arc::new(Float64Array::from_iter_values(values))));
    } else {
        list.push(("winner", keyed(&names.outcomes, &|vote| outcome_key(vote.y))?));
    }
    if columns.bad {
        let values: Vec<bool> = votes.iter().map(|vote| vote.bad).collect();
        list.push(("bad", Arc::new(BooleanArray::from(values))));
    }
    RecordBatch::try_from_iter_with_nullable(list.into_iter().map(|(n, a)| (n, a, false)))
}

/// The index of an outcome's word in [`OUTCOMES`].
fn outcome_key(y: f64) -> i32 {
    1 + i32::from(y > 0.0) - i32::from(y < 0.0)
}
