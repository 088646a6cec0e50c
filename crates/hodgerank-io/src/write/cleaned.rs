//! Writes the input without its flagged votes, in its own format: text rows and blank lines byte for
//! byte, batches filtered.

use std::io::{self, Write as _};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::batch_writer::BatchWriter;
use super::output::Output;
use super::spreadsheet::LabelStyle;
use crate::error::{Error, Result};
use crate::read::{
    Progress, ReadOptions, RowStatus, RowVisitor, SecondPass, Sources, StudyFlags, VoteRow,
    visit_rows,
};
use crate::table_head::TableHead;

/// What [`clean`] has done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cleaned {
    /// Number of rows written as trusted.
    pub kept_rows: u64,
    /// Number of flagged rows.
    pub flagged_rows: u64,
    /// Number of votes in flagged rows.
    pub flagged_votes: u64,
    /// Counts of the second pass.
    pub second_pass: SecondPass,
}

/// Reads the sources again and writes the trusted rows to `kept`, the flagged ones to `flagged`.
/// `tables` are the heads of the files, which must be compatible ([`TableHead::check_alike`]). Rows
/// of text are copied byte by byte, except for the labels that `labels` changes.
///
/// # Errors
/// If a file cannot be read or has changed since the first pass, or if writing fails.
pub fn clean(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
    tables: &[TableHead],
    (kept, flagged): (Output, Option<Output>),
    labels: LabelStyle,
) -> Result<Cleaned> {
    let writer = |output| RowWriter::new(output, tables, labels);
    let mut splitter = FileSplitter {
        kept: writer(kept)?,
        flagged: flagged.map(writer).transpose()?,
        cleaned: Cleaned::default(),
    };
    // Blank lines are kept, as they are between rows; those of later files are dropped with headers.
    if let Some(head) = tables.first().filter(|head| !head.blank_lines.is_empty()) {
        splitter.kept.row(&head.blank_lines)?;
    }
    let second_pass = visit_rows(sources, options, progress, studies, &mut splitter)?;
    let FileSplitter { kept, flagged, cleaned } = splitter;
    // Both outputs are complete before the first one appears under its name.
    let outputs = [Some(kept), flagged].into_iter().flatten().map(RowWriter::finish);
    Output::finish_all(outputs.collect::<Result<Vec<Output>>>()?)?;
    Ok(Cleaned { second_pass, ..cleaned })
}

/// A table in memory, split into rows with trusted and rows with flagged votes.
#[derive(Debug, Default)]
pub struct SplitTable {
    /// Rows with trusted votes, all columns.
    pub kept: Vec<RecordBatch>,
    /// Rows with flagged votes, all columns.
    pub flagged: Vec<RecordBatch>,
    /// Number of rows in each part.
    pub cleaned: Cleaned,
}

/// Reads a table in memory again and splits its rows. Rejected rows are in neither part. Rows of
/// text files are in neither part too, because they have no batches: [`clean`] is for files.
///
/// # Errors
/// If the table cannot be read.
pub fn split(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
) -> Result<SplitTable> {
    let mut table = SplitTable::default();
    table.cleaned.second_pass = visit_rows(sources, options, progress, studies, &mut table)?;
    Ok(table)
}

impl RowVisitor for SplitTable {
    const WHOLE_ROWS: bool = true;

    fn vote(&mut self, vote: &VoteRow<'_>, _: &[u8]) -> Result<()> {
        self.cleaned.count(vote);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, statuses: &[RowStatus]) -> Result<()> {
        let parts = [(&mut self.kept, RowStatus::Kept), (&mut self.flagged, RowStatus::Flagged)];
        for (part, status) in parts {
            let rows = filter_rows(batch, statuses, status);
            part.push(rows.map_err(|source| Error::write(&"the table".into(), source))?);
        }
        Ok(())
    }
}

impl Cleaned {
    fn count(&mut self, vote: &VoteRow<'_>) {
        if vote.flagged {
            self.flagged_rows += 1;
            self.flagged_votes += vote.count;
        } else {
            self.kept_rows += 1;
        }
    }
}

/// The rows of a batch with the status `wanted`.
fn filter_rows(
    batch: &RecordBatch,
    statuses: &[RowStatus],
    wanted: RowStatus,
) -> io::Result<RecordBatch> {
    let mask: BooleanArray = statuses.iter().map(|&status| Some(status == wanted)).collect();
    filter_record_batch(batch, &mask).map_err(io::Error::other)
}

/// Writes trusted rows to one file and flagged rows to another.
struct FileSplitter {
    kept: RowWriter,
    flagged: Option<RowWriter>,
    cleaned: Cleaned,
}

impl RowVisitor for FileSplitter {
    const WHOLE_ROWS: bool = true;

    fn vote(&mut self, vote: &VoteRow<'_>, text: &[u8]) -> Result<()> {
        self.cleaned.count(vote);
        let writer = if vote.flagged { self.flagged.as_mut() } else { Some(&mut self.kept) };
        writer.map_or(Ok(()), |writer| writer.row(text))
    }

    fn blank(&mut self, line: &[u8]) -> Result<()> {
        self.kept.row(line)
    }

    fn batch(&mut self, batch: &RecordBatch, statuses: &[RowStatus]) -> Result<()> {
        self.kept.batch(batch, statuses, RowStatus::Kept)?;
        let Some(flagged) = &mut self.flagged else { return Ok(()) };
        flagged.batch(batch, statuses, RowStatus::Flagged)
    }
}

/// Writes rows or batches of the input to a file of the input's format.
struct RowWriter {
    name: Arc<str>,
    rows: Rows,
}

enum Rows {
    Text { out: Output, labels: LabelStyle, delimiter: u8, at_line_start: bool },
    Batches(BatchWriter<Output>),
}

impl RowWriter {
    fn new(out: Output, tables: &[TableHead], labels: LabelStyle) -> Result<Self> {
        let name = out.name();
        let rows = Rows::new(out, tables, labels).map_err(|source| Error::write(&name, source))?;
        Ok(Self { name, rows })
    }

    fn row(&mut self, text: &[u8]) -> Result<()> {
        let Rows::Text { out, labels, delimiter, at_line_start } = &mut self.rows else {
            return Ok(());
        };
        // The last row of a file can lack its line end; rows of the next file start a new line.
        let gap: &[u8] = if *at_line_start { b"" } else { b"\n" };
        *at_line_start = text.ends_with(b"\n");
        let rows = labels.rows(text, *delimiter);
        let written = out.write_all(gap).and_then(|()| out.write_all(&rows));
        written.map_err(|source| Error::write(&self.name, source))
    }

    fn batch(
        &mut self,
        batch: &RecordBatch,
        statuses: &[RowStatus],
        wanted: RowStatus,
    ) -> Result<()> {
        let Rows::Batches(writer) = &mut self.rows else { return Ok(()) };
        let written = filter_rows(batch, statuses, wanted)
            .and_then(|rows| if rows.num_rows() == 0 { Ok(()) } else { writer.write(&rows) });
        written.map_err(|source| Error::write(&self.name, source))
    }

    fn finish(self) -> Result<Output> {
        let Self { name, rows } = self;
        match rows {
            Rows::Text { out, .. } => Ok(out),
            Rows::Batches(writer) => writer.finish().map_err(|source| Error::write(&name, source)),
        }
    }
}

impl Rows {
    fn new(mut out: Output, tables: &[TableHead], labels: LabelStyle) -> io::Result<Self> {
        let Some(head) = tables.first() else { return Err(io::Error::other("there is no input")) };
        let Some(schema) = &head.schema else {
            // Rows of JSON are never cells of a spreadsheet.
            let labels = if head.delimiter == 0 { LabelStyle::Exact } else { labels };
            let delimiter = head.delimiter;
            out.write_all(&labels.rows(&head.text, delimiter))?;
            let at_line_start = !head.format.info().has_header || head.text.ends_with(b"\n");
            return Ok(Self::Text { out, labels, delimiter, at_line_start });
        };
        // An Arrow file has one dictionary for all batches. Streams can replace it, which several
        // inputs need.
        let stream = head.stream || (tables.len() > 1 && has_dictionary(schema));
        BatchWriter::new(out, head.format, schema, stream).map(Self::Batches)
    }
}

fn has_dictionary(schema: &SchemaRef) -> bool {
    let is_nested = |kind: &DataType| kind.is_nested() || kind.is_run_ends_type();
    let mut kinds = schema.fields().iter().map(|field| field.data_type());
    kinds.any(|kind| matches!(kind, DataType::Dictionary(..)) || is_nested(kind))
}
