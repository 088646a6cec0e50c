//! The input without its flagged votes, in its own format: text rows byte for byte, blank
//! lines too, batches filtered.

use std::io::{self, Write as _};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::Output;
use crate::error::{Error, Result};
use crate::read::{
    Fate, Format, Judged, Progress, ReadOptions, Replayed, Sources, TableHead, Visitor, Vote, visit,
};

/// What [`clean`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cleaned {
    /// Rows written as trusted.
    pub kept_rows: u64,
    /// Rows left out as flagged.
    pub flagged_rows: u64,
    /// Votes in these rows.
    pub flagged_votes: u64,
    /// How the second pass went.
    pub replayed: Replayed,
}

/// Reads the files once more and writes the trusted rows to `kept`, the flagged ones to `flagged`.
/// `tables` are the heads of the files, all alike ([`TableHead::check_alike`]).
///
/// # Errors
/// If a file cannot be read, or is no longer what it was, or writing fails.
pub fn clean(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[Judged<'_>],
    tables: &[TableHead],
    (kept, flagged): (Output, Option<Output>),
) -> Result<Cleaned> {
    let mut sorter = Sorter {
        kept: Writer::new(kept, tables)?,
        flagged: flagged.map(|output| Writer::new(output, tables)).transpose()?,
        done: Cleaned::default(),
    };
    let replayed = visit(sources, options, progress, studies, &mut sorter)?;
    let Sorter { kept, flagged, done } = sorter;
    // Both are complete before the first appears.
    let outputs = [Some(kept), flagged].into_iter().flatten().map(Writer::finish);
    for output in outputs.collect::<Result<Vec<Output>>>()? {
        output.finish()?;
    }
    Ok(Cleaned { replayed, ..done })
}

/// A table in memory, parted into rows with trusted and rows with flagged votes.
#[derive(Debug, Default)]
pub struct SplitTable {
    /// Rows with trusted votes, all columns.
    pub kept: Vec<RecordBatch>,
    /// Rows with flagged votes, all columns.
    pub flagged: Vec<RecordBatch>,
    /// How many of each.
    pub done: Cleaned,
}

/// Reads a table in memory once more and parts its rows. Rows that make no sense are in neither
/// part; so are rows of text files, which have no batches ([`clean`] is for them).
///
/// # Errors
/// If the table cannot be read.
pub fn split(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[Judged<'_>],
) -> Result<SplitTable> {
    let mut parted = SplitTable::default();
    parted.done.replayed = visit(sources, options, progress, studies, &mut parted)?;
    Ok(parted)
}

impl Visitor for SplitTable {
    const WHOLE: bool = true;

    fn vote(&mut self, vote: &Vote<'_>, _: &[u8]) -> Result<()> {
        self.done.count(vote);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, fates: &[Fate]) -> Result<()> {
        for (part, fate) in [(&mut self.kept, Fate::Kept), (&mut self.flagged, Fate::Flagged)] {
            let rows = pick(batch, fates, fate);
            part.push(rows.map_err(|source| failed(&"the table".into(), source))?);
        }
        Ok(())
    }
}

impl Cleaned {
    fn count(&mut self, vote: &Vote<'_>) {
        if vote.flagged {
            self.flagged_rows += 1;
            self.flagged_votes += vote.count;
        } else {
            self.kept_rows += 1;
        }
    }
}

/// The rows of a batch with this fate.
fn pick(batch: &RecordBatch, fates: &[Fate], wanted: Fate) -> io::Result<RecordBatch> {
    let mask: BooleanArray = fates.iter().map(|&fate| Some(fate == wanted)).collect();
    filter_record_batch(batch, &mask).map_err(io::Error::other)
}

struct Sorter {
    kept: Writer,
    flagged: Option<Writer>,
    done: Cleaned,
}

impl Visitor for Sorter {
    const WHOLE: bool = true;

    fn vote(&mut self, vote: &Vote<'_>, text: &[u8]) -> Result<()> {
        self.done.count(vote);
        let writer = if vote.flagged { self.flagged.as_mut() } else { Some(&mut self.kept) };
        writer.map_or(Ok(()), |writer| writer.row(text))
    }

    fn blank(&mut self, line: &[u8]) -> Result<()> {
        self.kept.row(line)
    }

    fn batch(&mut self, batch: &RecordBatch, fates: &[Fate]) -> Result<()> {
        self.kept.batch(batch, fates, Fate::Kept)?;
        self.flagged.as_mut().map_or(Ok(()), |flagged| flagged.batch(batch, fates, Fate::Flagged))
    }
}

/// A file of the input's format that takes rows or batches as they are.
struct Writer {
    name: Arc<str>,
    file: Sheet,
}

enum Sheet {
    Text { out: Box<Output>, at_line_start: bool },
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(Box<FileWriter<Output>>),
    Stream(Box<StreamWriter<Output>>),
}

impl Writer {
    fn new(out: Output, tables: &[TableHead]) -> Result<Self> {
        let name = out.name();
        let file = Sheet::new(out, tables).map_err(|source| failed(&name, source))?;
        Ok(Self { name, file })
    }

    fn row(&mut self, text: &[u8]) -> Result<()> {
        let Sheet::Text { out, at_line_start } = &mut self.file else { return Ok(()) };
        // The last row of a file may lack its line end; the next file's rows begin a new line.
        let gap: &[u8] = if *at_line_start { b"" } else { b"\n" };
        *at_line_start = text.ends_with(b"\n");
        let written = out.write_all(gap).and_then(|()| out.write_all(text));
        written.map_err(|source| failed(&self.name, source))
    }

    fn batch(&mut self, batch: &RecordBatch, fates: &[Fate], wanted: Fate) -> Result<()> {
        let written = pick(batch, fates, wanted).and_then(|batch| match &mut self.file {
            _ if batch.num_rows() == 0 => Ok(()),
            Sheet::Text { .. } => Ok(()),
            Sheet::Parquet(writer) => writer.write(&batch).map_err(io::Error::other),
            Sheet::Arrow(writer) => writer.write(&batch).map_err(io::Error::other),
            Sheet::Stream(writer) => writer.write(&batch).map_err(io::Error::other),
        });
        written.map_err(|source| failed(&self.name, source))
    }

    fn finish(self) -> Result<Output> {
        let Self { name, file } = self;
        let finished = match file {
            Sheet::Text { out, .. } => Ok(*out),
            Sheet::Parquet(writer) => writer.into_inner().map_err(io::Error::other),
            Sheet::Arrow(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(io::Error::other)
            }
            Sheet::Stream(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(io::Error::other)
            }
        };
        finished.map_err(|source| failed(&name, source))
    }
}

impl Sheet {
    fn new(mut out: Output, tables: &[TableHead]) -> io::Result<Self> {
        let Some(head) = tables.first() else { return Err(io::Error::other("there is no input")) };
        let Some(schema) = &head.schema else {
            out.write_all(&head.text)?;
            let at_line_start = head.format == Format::Jsonl || head.text.ends_with(b"\n");
            return Ok(Self::Text { out: Box::new(out), at_line_start });
        };
        // Files have one dictionary for all batches, streams may change it: so may several inputs.
        let stream = head.stream || (tables.len() > 1 && has_dictionary(schema));
        if head.format == Format::Parquet {
            let properties =
                WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties))?;
            Ok(Self::Parquet(Box::new(writer)))
        } else if stream {
            let writer = StreamWriter::try_new(out, schema).map_err(io::Error::other)?;
            Ok(Self::Stream(Box::new(writer)))
        } else {
            let writer = FileWriter::try_new(out, schema).map_err(io::Error::other)?;
            Ok(Self::Arrow(Box::new(writer)))
        }
    }
}

fn has_dictionary(schema: &SchemaRef) -> bool {
    let is_nested = |kind: &DataType| kind.is_nested() || kind.is_run_ends_type();
    let mut kinds = schema.fields().iter().map(|field| field.data_type());
    kinds.any(|kind| matches!(kind, DataType::Dictionary(..)) || is_nested(kind))
}

fn failed(name: &Arc<str>, source: io::Error) -> Error {
    Error::Write { file: Arc::clone(name), source }
}
