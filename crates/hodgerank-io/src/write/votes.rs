//! Votes as files, streamed: simulated studies can be far larger than memory.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_array::{DictionaryArray, types::Int32Type};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use hodgerank::simulate::SimulatedVote;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::read::Format;

/// Rows gathered before they are handed on.
const BATCH_ROWS: usize = 1 << 16;

/// Which columns a file of votes has, besides the two items and the outcome.
#[derive(Debug, Clone, Copy)]
pub struct VoteColumns {
    /// Who cast the vote.
    pub annotator: bool,
    /// The outcome is a number, `y`, and not a word, `winner`.
    pub graded: bool,
    /// Whether the vote is bad: for judging methods, not for ranking.
    pub bad: bool,
}

/// Writes votes one by one.
pub struct VoteWriter<W: Write + Send> {
    columns: VoteColumns,
    items: Vec<String>,
    annotators: Vec<String>,
    waiting: Vec<SimulatedVote>,
    file: File<W>,
}

enum File<W: Write + Send> {
    Text { out: W, format: Format, buffer: Vec<u8> },
    Parquet(Box<ArrowWriter<W>>, Dictionaries),
    Arrow(Box<FileWriter<W>>, Dictionaries),
}

/// All names, so that a column of keys is all that a batch adds.
struct Dictionaries {
    items: ArrayRef,
    annotators: ArrayRef,
    outcomes: ArrayRef,
}

const OUTCOMES: [&str; 3] = ["right", "tie", "left"];

impl<W: Write + Send> VoteWriter<W> {
    /// Begins a file. Names must be free of separators and quotes in text formats.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(
        out: W,
        format: Format,
        columns: VoteColumns,
        items: Vec<String>,
        annotators: Vec<String>,
    ) -> io::Result<Self> {
        let dictionaries = Dictionaries {
            items: Arc::new(StringArray::from_iter_values(&items)),
            annotators: Arc::new(StringArray::from_iter_values(&annotators)),
            outcomes: Arc::new(StringArray::from_iter_values(OUTCOMES)),
        };
        let file = match format {
            Format::Parquet => {
                let schema = batch(&dictionaries, columns, &[]).map_err(io::Error::other)?.schema();
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(out, schema, Some(properties))?;
                File::Parquet(Box::new(writer), dictionaries)
            }
            Format::Arrow => {
                let schema: Arc<Schema> =
                    batch(&dictionaries, columns, &[]).map_err(io::Error::other)?.schema();
                let writer = FileWriter::try_new(out, &schema).map_err(io::Error::other)?;
                File::Arrow(Box::new(writer), dictionaries)
            }
            format => File::Text { out, format, buffer: Vec::new() },
        };
        let mut writer =
            Self { columns, items, annotators, waiting: Vec::with_capacity(BATCH_ROWS), file };
        writer.write_header();
        Ok(writer)
    }

    /// Adds a vote.
    ///
    /// # Errors
    /// If writing fails.
    pub fn push(&mut self, vote: SimulatedVote) -> io::Result<()> {
        self.waiting.push(vote);
        if self.waiting.len() == BATCH_ROWS { self.write_batch() } else { Ok(()) }
    }

    /// Completes the file and hands its output back.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_batch()?;
        match self.file {
            File::Text { out, .. } => Ok(out),
            File::Parquet(writer, _) => Ok(writer.into_inner()?),
            File::Arrow(mut writer, _) => {
                writer.finish().map_err(io::Error::other)?;
                writer.into_inner().map_err(io::Error::other)
            }
        }
    }

    fn write_header(&mut self) {
        let File::Text { format, buffer, .. } = &mut self.file else { return };
        let separator = match format {
            Format::Csv => ',',
            Format::Tsv => '\t',
            _ => return,
        };
        let names = [
            self.columns.annotator.then_some("annotator"),
            Some("left"),
            Some("right"),
            Some(if self.columns.graded { "y" } else { "winner" }),
            self.columns.bad.then_some("bad"),
        ];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        buffer.extend_from_slice(names.join(&separator.to_string()).as_bytes());
        buffer.push(b'\n');
    }

    fn write_batch(&mut self) -> io::Result<()> {
        let votes = std::mem::take(&mut self.waiting);
        match &mut self.file {
            File::Text { out, format, buffer } => {
                for vote in &votes {
                    let names = Names {
                        left: &self.items[vote.left as usize],
                        right: &self.items[vote.right as usize],
                        annotator: vote.annotator.map(|a| self.annotators[a as usize].as_str()),
                    };
                    write_row(buffer, *format, self.columns, &names, vote)?;
                }
                out.write_all(buffer)?;
                buffer.clear();
            }
            File::Parquet(writer, dictionaries) => {
                let batch = batch(dictionaries, self.columns, &votes).map_err(io::Error::other)?;
                writer.write(&batch)?;
            }
            File::Arrow(writer, dictionaries) => {
                let batch = batch(dictionaries, self.columns, &votes).map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)?;
            }
        }
        self.waiting = votes;
        self.waiting.clear();
        Ok(())
    }
}

struct Names<'a> {
    left: &'a str,
    right: &'a str,
    annotator: Option<&'a str>,
}

fn write_row(
    out: &mut Vec<u8>,
    format: Format,
    columns: VoteColumns,
    names: &Names<'_>,
    vote: &SimulatedVote,
) -> io::Result<()> {
    let word = OUTCOMES[outcome(vote.y) as usize];
    if format == Format::Jsonl {
        out.push(b'{');
        if let Some(annotator) = names.annotator.filter(|_| columns.annotator) {
            write!(out, "\"annotator\":\"{annotator}\",")?;
        }
        write!(out, "\"left\":\"{}\",\"right\":\"{}\",", names.left, names.right)?;
        if columns.graded {
            write!(out, "\"y\":{}", vote.y)?;
        } else {
            write!(out, "\"winner\":\"{word}\"")?;
        }
        if columns.bad {
            write!(out, ",\"bad\":{}", vote.bad)?;
        }
        out.extend_from_slice(b"}\n");
        return Ok(());
    }
    let separator = if format == Format::Tsv { b'\t' } else { b',' };
    if columns.annotator {
        out.extend_from_slice(names.annotator.unwrap_or("").as_bytes());
        out.push(separator);
    }
    for name in [names.left, names.right] {
        out.extend_from_slice(name.as_bytes());
        out.push(separator);
    }
    if columns.graded {
        write!(out, "{}", vote.y)?;
    } else {
        out.extend_from_slice(word.as_bytes());
    }
    if columns.bad {
        out.push(separator);
        out.push(if vote.bad { b'1' } else { b'0' });
    }
    out.push(b'\n');
    Ok(())
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
        list.push(("winner", keyed(&names.outcomes, &|vote| outcome(vote.y))?));
    }
    if columns.bad {
        let values: Vec<bool> = votes.iter().map(|vote| vote.bad).collect();
        list.push(("bad", Arc::new(BooleanArray::from(values))));
    }
    RecordBatch::try_from_iter_with_nullable(list.into_iter().map(|(n, a)| (n, a, false)))
}

/// Place of a vote's word in [`OUTCOMES`].
fn outcome(y: f64) -> i32 {
    1 + i32::from(y > 0.0) - i32::from(y < 0.0)
}
