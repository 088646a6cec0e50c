//! Columns of Arrow batches, from Parquet or Arrow files or from memory, counted row by row.
//!
//! A row whose parts were all seen before takes the short way of [`known`]. Every other row (a new
//! name, a null, a count, something wrong) takes the general way.

mod column;
mod known;

pub(super) use known::Memo;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};

use super::pump::PieceReport;
use super::rows::RowSink;
use crate::columns::{ColumnNames, Layout, ROLES, Role};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};
use crate::study::{Cells, Counter};
use column::Column;
use known::{BLOCK, Known};

/// What is known of a table before its rows are read.
pub(super) struct Table {
    file: Arc<str>,
    pub(super) layout: Layout,
    /// The columns to fetch, ascending.
    pub(super) wanted: Vec<usize>,
    /// For each role, the place of its column among the fetched ones.
    fetched: [Option<usize>; ROLES],
}

impl Table {
    /// With `whole`, all columns are fetched, else only those with a role.
    pub(super) fn new(
        file: &Arc<str>,
        schema: &Schema,
        given: &ColumnNames,
        whole: bool,
    ) -> Result<Self> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let layout = Layout::find(file, names, given)?;
        for role in Role::ALL {
            if let Some(place) = layout.place[role as usize] {
                check_type(file, schema, place, role)?;
            }
        }
        let mut wanted: Vec<usize> = layout.place.iter().flatten().copied().collect();
        if whole {
            wanted = (0..schema.fields().len()).collect();
        }
        wanted.sort_unstable();
        wanted.dedup();
        let fetched = layout.place.map(|place| wanted.iter().position(|&w| Some(w) == place));
        Ok(Self { file: Arc::clone(file), layout, wanted, fetched })
    }

    /// Counts the next batch of a piece; `memo` is the same for all batches of the piece.
    pub(super) fn count(
        &self,
        batch: &RecordBatch,
        memo: &mut Memo,
        counter: &mut Counter,
        report: &mut PieceReport,
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        let mut known = Known::new(&self.layout, &columns, memo);
        for start in (0..batch.num_rows()).step_by(BLOCK) {
            let rows = start..batch.num_rows().min(start + BLOCK);
            if let Some(known) = &mut known {
                known.look_up(rows.clone(), counter);
            }
            for row in rows {
                if let Some(known) = &known
                    && let Some((left, right, y)) = known.vote(row - start)
                {
                    counter.count_known(left, right, y);
                } else {
                    let general = self.count_row(&columns, row, &mut scratch, counter);
                    if let Err(fault) = general {
                        self.reject(row, fault, report);
                    } else if let Some(known) = &mut known {
                        known.learn(row, &self.layout, counter);
                    }
                }
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    /// Hands over every row of a batch, and calls `rejected` for each that was rejected instead.
    pub(super) fn each_row<S: RowSink>(
        &self,
        batch: &RecordBatch,
        sink: &mut S,
        report: &mut PieceReport,
        rejected: impl Fn(&mut S),
    ) -> Result<()> {
        let columns = self.columns(batch)?;
        let mut scratch: [String; ROLES] = Default::default();
        for row in 0..batch.num_rows() {
            if let Err(fault) = self.count_row(&columns, row, &mut scratch, sink) {
                self.reject(row, fault, report);
                rejected(sink);
            }
        }
        report.rows += batch.num_rows() as u64;
        report.span = report.rows;
        Ok(())
    }

    fn columns<'a>(&self, batch: &'a RecordBatch) -> Result<Vec<Column<'a>>> {
        let column = |place: &Option<usize>| {
            place.map_or(Ok(Column::Absent), |place| Column::new(batch.column(place)))
        };
        let columns = self.fetched.iter().map(column).collect::<Result<_, String>>();
        columns.map_err(|kind| self.unreadable(&kind))
    }

    fn reject(&self, row: usize, fault: (Role, Problem, String), report: &mut PieceReport) {
        let (role, problem, value) = fault;
        let position = Position::Row(report.rows + row as u64 + 1);
        report.reject(|| BadRow {
            file: Arc::clone(&self.file),
            position,
            column: self.layout.column(role),
            value,
            problem,
            snippet: None,
        });
    }

    fn count_row(
        &self,
        columns: &[Column<'_>],
        row: usize,
        scratch: &mut [String; ROLES],
        sink: &mut impl RowSink,
    ) -> Result<(), (Role, Problem, String)> {
        let mut cells: Cells<'_> = [b""; ROLES];
        for ((role, column), scratch) in Role::ALL.into_iter().zip(columns).zip(scratch) {
            if matches!(column, Column::Absent) {
                continue;
            }
            match column.text(row, scratch) {
                Some(text) => cells[role as usize] = text.as_bytes(),
                None if role == Role::Annotator => {}
                None => return Err((role, Problem::Missing, String::new())),
            }
        }
        sink.row(&self.layout, &cells, b"")
            .map_err(|(role, problem)| (role, problem, shorten(cells[role as usize], 60)))
    }

    fn unreadable(&self, kind: &str) -> Error {
        Error::Columns {
            file: Arc::clone(&self.file),
            problem: format!("a column has the type {kind}, which cannot be read"),
            help: "store the column as text or whole numbers".to_owned(),
        }
    }
}

fn check_type(file: &Arc<str>, schema: &Schema, place: usize, role: Role) -> Result<()> {
    let field = schema.field(place);
    let inner = match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    let is_text = matches!(inner, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_decimal = matches!(inner, DataType::Float32 | DataType::Float64);
    let (fits, expected) = match role {
        Role::Left | Role::Right | Role::Annotator | Role::By => {
            (is_text || inner.is_integer(), "text or whole numbers")
        }
        Role::Outcome => (
            is_text || inner.is_integer() || is_decimal || *inner == DataType::Boolean,
            "text, numbers or truth values",
        ),
        Role::Count => (is_text || inner.is_integer() || is_decimal, "whole numbers"),
    };
    if fits {
        return Ok(());
    }
    Err(Error::Columns {
        file: Arc::clone(file),
        problem: format!(
            "column {} (`{}`) has the type {}, but {expected} are needed",
            place + 1,
            field.name(),
            field.data_type()
        ),
        help: "convert the column, or name another one with --winner, --loser, --left, --right, \
               --outcome, --annotator, --count or --by"
            .to_owned(),
    })
}
