//! Writes the input without its flagged votes, in its own format: text rows and blank lines byte for
//! byte, batches filtered.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::batch_writer::BatchWriter;
use super::flag_columns::{FlagColumns, RowFlag};
use super::output::Output;
use super::spreadsheet::LabelStyle;
use crate::error::{Error, Result};
use crate::read::{
    ExcludedRow, Progress, RawContent, RawRow, ReadOptions, RowStatus, RowVisitor, SecondPass,
    Sources, StudyFlags, VoteRow, visit_rows,
};
use crate::table_head::TableHead;

/// What [`clean`] has done.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cleaned {
    /// Number of rows written as trusted.
    pub kept_rows: u64,
    /// Number of flagged rows, those of excluded annotators included.
    pub flagged_rows: u64,
    /// Number of votes in flagged rows.
    pub flagged_votes: u64,
    /// Number of rows of excluded annotators.
    pub excluded_rows: u64,
    /// Counts of the second pass.
    pub second_pass: SecondPass,
}

/// Where [`clean`] writes.
#[derive(Debug)]
pub struct CleanOutputs {
    /// The trusted rows.
    pub kept: Output,
    /// The flagged rows and those of excluded annotators.
    pub flagged: Option<Output>,
    /// Whether flagged rows get columns that say which row it was and why it is flagged.
    pub with_reasons: bool,
    /// Whether these columns include the file: if the input has several.
    pub with_file: bool,
    /// How labels are written.
    pub labels: LabelStyle,
}

/// Reads the sources again and writes the trusted rows to one output, the flagged ones to another.
/// `tables` are the heads of the files, which must be compatible ([`TableHead::check_alike`]). Rows
/// of text are copied byte by byte, except for the labels that the style changes and the columns that
/// are added to flagged rows.
///
/// # Errors
/// If a file cannot be read or has changed since the first pass, or if writing fails.
pub fn clean(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
    tables: &[TableHead],
    outputs: CleanOutputs,
) -> Result<Cleaned> {
    let CleanOutputs { kept, flagged, with_reasons, with_file, labels } = outputs;
    let flag_columns = || FlagColumns::new(tables, with_file, has_probability(studies));
    let columns = with_reasons.then(flag_columns);
    let flagged = flagged.map(|output| RowWriter::new(output, tables, labels, columns));
    let mut splitter = FileSplitter {
        kept: RowWriter::new(kept, tables, labels, None)?,
        flagged: flagged.transpose()?,
        flags: Vec::new(),
        cleaned: Cleaned::default(),
    };
    // Blank lines are kept, as they are between rows; those of later files are dropped with headers.
    if let Some(head) = tables.first().filter(|head| !head.blank_lines.is_empty()) {
        splitter.kept.row(&head.blank_lines, None)?;
    }
    let second_pass = visit_rows(sources, options, progress, studies, &mut splitter)?;
    let FileSplitter { kept, flagged, cleaned, .. } = splitter;
    // Both outputs are complete before the first one appears under its name.
    let outputs = [Some(kept), flagged].into_iter().flatten().map(RowWriter::finish);
    Output::finish_all(outputs.collect::<Result<Vec<Output>>>()?)?;
    Ok(Cleaned { second_pass, ..cleaned })
}

fn has_probability(studies: &[StudyFlags<'_>]) -> bool {
    studies.iter().any(|study| study.crowd.is_some() || study.probability.is_some())
}

/// A table in memory, split into rows with trusted and rows with flagged votes.
#[derive(Debug)]
pub struct SplitTable {
    /// Rows with trusted votes, all columns.
    pub kept: Vec<RecordBatch>,
    /// Rows with flagged votes, all columns, and columns that say which row it was and why.
    pub flagged: Vec<RecordBatch>,
    /// The schema of the flagged rows.
    pub flagged_schema: SchemaRef,
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
    tables: &[TableHead],
) -> Result<SplitTable> {
    let columns = FlagColumns::new(tables, tables.len() > 1, has_probability(studies));
    let schema = tables.first().and_then(|table| table.schema.as_ref());
    let flagged_schema = columns.schema(schema.unwrap_or(&Arc::new(Schema::empty())));
    let (kept, flagged) = (Vec::new(), Vec::new());
    let table = SplitTable { kept, flagged, flagged_schema, cleaned: Cleaned::default() };
    let mut splitter = TableSplitter { table, columns, flags: Vec::new() };
    let second_pass = visit_rows(sources, options, progress, studies, &mut splitter)?;
    let mut table = splitter.table;
    table.cleaned.second_pass = second_pass;
    Ok(table)
}

struct TableSplitter {
    table: SplitTable,
    columns: FlagColumns,
    /// The flagged rows of the current batch.
    flags: Vec<RowFlag>,
}

impl RowVisitor for TableSplitter {
    const WHOLE_ROWS: bool = true;

    fn vote(&mut self, vote: &VoteRow<'_>, _: RawRow<'_>) -> Result<()> {
        self.table.cleaned.count(vote);
        self.flags.extend(vote.flagged.then(|| RowFlag::from(vote)));
        Ok(())
    }

    fn excluded(&mut self, row: &ExcludedRow, _: RawRow<'_>) -> Result<()> {
        self.table.cleaned.count_excluded(row);
        self.flags.push(row.into());
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, statuses: &[RowStatus]) -> Result<()> {
        let failed = |source| Error::write(&"the table".into(), source);
        let rows = |status| filter_rows(batch, statuses, status).map_err(failed);
        self.table.kept.push(rows(RowStatus::Kept)?);
        let flagged = self.columns.batch(&rows(RowStatus::Flagged)?, &self.flags);
        self.table.flagged.push(flagged.map_err(failed)?);
        self.flags.clear();
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

    fn count_excluded(&mut self, row: &ExcludedRow) {
        self.flagged_rows += 1;
        self.flagged_votes += row.count;
        self.excluded_rows += 1;
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
    /// The flagged rows of the current batch.
    flags: Vec<RowFlag>,
    cleaned: Cleaned,
}

impl FileSplitter {
    fn flagged_row(&mut self, flag: RowFlag, raw: RawRow<'_>) -> Result<()> {
        let Some(writer) = &mut self.flagged else { return Ok(()) };
        match raw.content {
            RawContent::Text(text) => writer.row(text, Some(&flag)),
            RawContent::Batch(_) => {
                self.flags.push(flag);
                Ok(())
            }
        }
    }
}

impl RowVisitor for FileSplitter {
    const WHOLE_ROWS: bool = true;

    fn vote(&mut self, vote: &VoteRow<'_>, raw: RawRow<'_>) -> Result<()> {
        self.cleaned.count(vote);
        if vote.flagged {
            return self.flagged_row(vote.into(), raw);
        }
        self.kept.row(raw.text(), None)
    }

    fn excluded(&mut self, row: &ExcludedRow, raw: RawRow<'_>) -> Result<()> {
        self.cleaned.count_excluded(row);
        self.flagged_row(row.into(), raw)
    }

    fn blank(&mut self, line: &[u8]) -> Result<()> {
        self.kept.row(line, None)
    }

    fn batch(&mut self, batch: &RecordBatch, statuses: &[RowStatus]) -> Result<()> {
        self.kept.batch(|| filter_rows(batch, statuses, RowStatus::Kept), &[])?;
        if let Some(flagged) = &mut self.flagged {
            flagged.batch(|| filter_rows(batch, statuses, RowStatus::Flagged), &self.flags)?;
        }
        self.flags.clear();
        Ok(())
    }
}

/// Writes rows or batches of the input to a file of the input's format.
struct RowWriter {
    name: Arc<str>,
    rows: Rows,
    /// Columns that are added to each row.
    columns: Option<FlagColumns>,
}

enum Rows {
    Text { out: Output, labels: LabelStyle, delimiter: u8, at_line_start: bool },
    Batches(BatchWriter<Output>),
}

impl RowWriter {
    fn new(
        out: Output,
        tables: &[TableHead],
        labels: LabelStyle,
        columns: Option<FlagColumns>,
    ) -> Result<Self> {
        let name = out.name();
        let rows = Rows::new(out, tables, labels, columns.as_ref());
        let rows = rows.map_err(|source| Error::write(&name, source))?;
        Ok(Self { name, rows, columns })
    }

    /// Writes a row of text, with the columns of `flag` if columns are added.
    fn row(&mut self, text: &[u8], flag: Option<&RowFlag>) -> Result<()> {
        let Rows::Text { out, labels, delimiter, at_line_start } = &mut self.rows else {
            return Ok(());
        };
        let text = match self.columns.as_ref().zip(flag) {
            Some((columns, flag)) => Cow::Owned(columns.text_row(text, flag)),
            None => Cow::Borrowed(text),
        };
        // The last row of a file can lack its line end; rows of the next file start a new line.
        let gap: &[u8] = if *at_line_start { b"" } else { b"\n" };
        *at_line_start = text.ends_with(b"\n");
        let rows = labels.rows(&text, *delimiter);
        let written = out.write_all(gap).and_then(|()| out.write_all(&rows));
        written.map_err(|source| Error::write(&self.name, source))
    }

    /// Writes rows of a batch; `flags` has one element for each if columns are added.
    fn batch(
        &mut self,
        rows: impl FnOnce() -> io::Result<RecordBatch>,
        flags: &[RowFlag],
    ) -> Result<()> {
        let Rows::Batches(writer) = &mut self.rows else { return Ok(()) };
        let write = || {
            let rows = rows()?;
            match &self.columns {
                _ if rows.num_rows() == 0 => Ok(()),
                Some(columns) => writer.write(&columns.batch(&rows, flags)?),
                None => writer.write(&rows),
            }
        };
        write().map_err(|source| Error::write(&self.name, source))
    }

    fn finish(self) -> Result<Output> {
        let Self { name, rows, .. } = self;
        match rows {
            Rows::Text { out, .. } => Ok(out),
            Rows::Batches(writer) => writer.finish().map_err(|source| Error::write(&name, source)),
        }
    }
}

impl Rows {
    fn new(
        mut out: Output,
        tables: &[TableHead],
        labels: LabelStyle,
        columns: Option<&FlagColumns>,
    ) -> io::Result<Self> {
        let Some(head) = tables.first() else { return Err(io::Error::other("there is no input")) };
        let Some(schema) = &head.schema else {
            // Rows of JSON are never cells of a spreadsheet.
            let labels = if head.delimiter == 0 { LabelStyle::Exact } else { labels };
            let delimiter = head.delimiter;
            let text = columns.map(|columns| columns.head(&head.text));
            let text = text.as_deref().unwrap_or(&head.text);
            out.write_all(&labels.rows(text, delimiter))?;
            let at_line_start = !head.format.info().has_header || head.text.ends_with(b"\n");
            return Ok(Self::Text { out, labels, delimiter, at_line_start });
        };
        // An Arrow file has one dictionary for all batches. Streams can replace it, which several
        // inputs need.
        let stream = head.stream || (tables.len() > 1 && has_dictionary(schema));
        let with_columns = columns.map(|columns| columns.schema(schema));
        let schema = with_columns.as_ref().unwrap_or(schema);
        BatchWriter::new(out, head.format, schema, stream).map(Self::Batches)
    }
}

fn has_dictionary(schema: &SchemaRef) -> bool {
    let is_nested = |kind: &DataType| kind.is_nested() || kind.is_run_ends_type();
    let mut kinds = schema.fields().iter().map(|field| field.data_type());
    kinds.any(|kind| matches!(kind, DataType::Dictionary(..)) || is_nested(kind))
}
