//! Rows of Arrow record batches, from Parquet and Arrow files or from memory.
//!
//! A row whose values have all been seen before is counted by [`fast_path`]. Every other row (a new
//! name, a null, a count, an error) is parsed like a row of text.

mod column;
mod fast_path;

pub(crate) use fast_path::FastPathCache;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::parallel::ChunkReport;
use super::rows::{RawContent, RawRow, RowSink};
use crate::columns::{ColumnNames, Layout, ROLES, Role};
use crate::count::Counter;
use crate::error::{BadRow, ColumnProblem, Error, Position, Problem, Result, shorten};
use crate::labels::trimmed;
use crate::parse::{Cells, RowFate};
use column::BatchColumn;
use fast_path::{BLOCK_ROWS, FastPath};

/// Receives rows of text and of record batches.
pub(crate) trait BatchSink: RowSink {
    /// Receives the rows of a batch. `cache` is shared by all batches of a chunk.
    fn batch(
        &mut self,
        parser: &BatchParser,
        batch: &RecordBatch,
        cache: &mut FastPathCache,
        report: &mut ChunkReport,
    ) -> Result<()>;

    /// Learns about rows that are read elsewhere, such as those of other row groups.
    fn skip_rows(&mut self, _: u64) {}
}

impl BatchSink for Counter {
    fn batch(
        &mut self,
        parser: &BatchParser,
        batch: &RecordBatch,
        cache: &mut FastPathCache,
        report: &mut ChunkReport,
    ) -> Result<()> {
        parser.count(batch, cache, self, report)
    }
}

/// Finds votes in the batches of a table.
pub(crate) struct BatchParser {
    file: Arc<str>,
    pub(super) layout: Layout,
    /// Indices of the columns to read, ascending.
    pub(super) projection: Vec<usize>,
    /// For each role, the index of its column in the projection.
    projected: [Option<usize>; ROLES],
}

impl BatchParser {
    /// Checks the columns of a table. With `all_columns`, batches have all columns, otherwise only
    /// those with a role.
    pub(super) fn new(
        file: &Arc<str>,
        schema: &Schema,
        given: &ColumnNames,
        all_columns: bool,
    ) -> Result<Self> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let layout = Layout::find(file, names, given)?;
        for role in Role::ALL {
            if let Some(index) = layout.index[role as usize] {
                check_type(file, schema, index, role)?;
            }
        }
        let mut projection: Vec<usize> = layout.index.iter().flatten().copied().collect();
        if all_columns {
            projection = (0..schema.fields().len()).collect();
        }
        projection.sort_unstable();
        projection.dedup();
        let projected =
            layout.index.map(|index| projection.iter().position(|&column| Some(column) == index));
        Ok(Self { file: Arc::clone(file), layout, projection, projected })
    }

    /// Counts the next batch of a chunk; `cache` is shared by all batches of the chunk.
    pub(super) fn count(
        &self,
        batch: &RecordBatch,
        cache: &mut FastPathCache,
        counter: &mut Counter,
        report: &mut ChunkReport,
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        let mut fast_path = FastPath::new(&self.layout, &columns, cache);
        for start in (0..batch.num_rows()).step_by(BLOCK_ROWS) {
            let rows = start..batch.num_rows().min(start + BLOCK_ROWS);
            if let Some(fast_path) = &mut fast_path {
                fast_path.look_up(rows.clone(), counter);
            }
            for row in rows {
                if let Some(fast_path) = &fast_path
                    && !counter.watches_codes(&self.layout)
                    && let Some((left, right, y, annotator)) = fast_path.vote(row - start)
                {
                    let has_sides = self.layout.has(Role::Outcome);
                    counter.count_by_id((left, right, y), annotator, has_sides);
                } else {
                    match self.parse_row(batch, &columns, row, &mut scratch, counter) {
                        Err(fault) => self.reject(row, fault, report),
                        Ok(fate) => {
                            report.note(fate);
                            if let Some(fast_path) = &mut fast_path {
                                fast_path.learn(row, &self.layout, counter);
                            }
                        }
                    }
                }
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    /// Passes every row of a batch to `sink`, and calls `rejected` after each rejected one.
    pub(crate) fn each_row<S: RowSink>(
        &self,
        batch: &RecordBatch,
        sink: &mut S,
        report: &mut ChunkReport,
        rejected: impl Fn(&mut S),
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        for row in 0..batch.num_rows() {
            match self.parse_row(batch, &columns, row, &mut scratch, sink) {
                Ok(fate) => report.note(fate),
                Err(fault) => {
                    self.reject(row, fault, report);
                    rejected(sink);
                }
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    fn columns<'a>(&self, batch: &'a RecordBatch) -> Result<Vec<BatchColumn<'a>>> {
        let column = |index: &Option<usize>| {
            index.map_or(Ok(BatchColumn::Absent), |index| BatchColumn::new(batch.column(index)))
        };
        let columns = self.projected.iter().map(column).collect::<Result<_, String>>();
        columns.map_err(|data_type| Error::Columns {
            file: Arc::clone(&self.file),
            problem: ColumnProblem::UnsupportedType(data_type),
        })
    }

    fn reject(&self, row: usize, fault: (Role, Problem, String), report: &mut ChunkReport) {
        let (role, problem, value) = fault;
        let position = Position::Row(report.rows + row as u64 + 1);
        let fault = value.clone();
        report.reject((role as usize, fault.as_bytes()), &problem.clone(), || BadRow {
            file: Arc::clone(&self.file),
            position,
            column: self.layout.column(role),
            value,
            problem,
            snippet: None,
            others: Vec::new(),
            rows: 0,
            misspelt: false,
        });
    }

    fn parse_row(
        &self,
        batch: &RecordBatch,
        columns: &[BatchColumn<'_>],
        row: usize,
        scratch: &mut [String; ROLES],
        sink: &mut impl RowSink,
    ) -> Result<RowFate, (Role, Problem, String)> {
        let mut cells: Cells<'_> = [b""; ROLES];
        for ((role, column), scratch) in Role::ALL.into_iter().zip(columns).zip(scratch) {
            if matches!(column, BatchColumn::Absent) {
                continue;
            }
            match column.text(row, scratch) {
                Some(text) => cells[role as usize] = trimmed(text.as_bytes()),
                None if role.can_be_empty() => {}
                None => return Err((role, Problem::Missing, String::new())),
            }
        }
        let raw = RawRow { number: row as u64 + 1, content: RawContent::Batch(batch) };
        sink.row(&self.layout, &cells, raw)
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }
}

/// A cell as text; `None` if it is null.
pub(super) fn cell_text(file: &Arc<str>, array: &ArrayRef, row: usize) -> Result<Option<String>> {
    let column = BatchColumn::new(array).map_err(|data_type| Error::Columns {
        file: Arc::clone(file),
        problem: ColumnProblem::UnsupportedType(data_type),
    })?;
    Ok(column.text(row, &mut String::new()).map(str::to_owned))
}

fn check_type(file: &Arc<str>, schema: &Schema, index: usize, role: Role) -> Result<()> {
    let field = schema.field(index);
    let inner = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    let is_text = matches!(inner, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_decimal = matches!(inner, DataType::Float32 | DataType::Float64);
    let (fits, expected) = match role {
        Role::Left | Role::Right | Role::Annotator | Role::By | Role::SecondBy => {
            (is_text || inner.is_integer(), "text or whole numbers")
        }
        Role::Outcome | Role::Filter0 | Role::Filter1 | Role::Filter2 | Role::Filter3 => (
            is_text || inner.is_integer() || is_decimal || *inner == DataType::Boolean,
            "text, numbers or truth values",
        ),
        Role::Count => (is_text || inner.is_integer() || is_decimal, "whole numbers"),
    };
    if fits {
        return Ok(());
    }
    let problem = ColumnProblem::WrongType {
        column: index + 1,
        name: field.name().clone(),
        data_type: field.data_type().to_string(),
        expected,
    };
    Err(Error::Columns { file: Arc::clone(file), problem })
}
