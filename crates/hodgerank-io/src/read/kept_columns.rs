//! Values of further columns of the input, for rows that are listed.

use std::sync::Arc;

use super::batches::cell_text;
use super::delimited::field_texts;
use super::options::ReadOptions;
use super::progress::Progress;
use super::rows::{RawContent, RawRow};
use super::second_pass::{RowStatus, RowVisitor, SecondPass, StudyFlags, VoteRow, visit_rows};
use super::source::Sources;
use crate::error::{ColumnProblem, Error, Result};
use crate::table_head::TableHead;

/// Columns of the input whose values are wanted.
#[derive(Debug)]
pub struct KeptColumns {
    names: Vec<String>,
    tables: Vec<TableColumns>,
}

/// Where these columns are in a file.
#[derive(Debug)]
struct TableColumns {
    file: Arc<str>,
    /// The separator of a delimited file; 0 for other formats.
    delimiter: u8,
    indices: Vec<usize>,
}

impl KeptColumns {
    /// Finds columns in all files.
    ///
    /// # Errors
    /// [`Error::Columns`] if a file lacks a column.
    pub fn new(tables: &[TableHead], names: &[String]) -> Result<Self> {
        let find = |table: &TableHead| {
            let index = |name: &String| {
                let found = table.columns.iter().position(|column| column == name);
                found.ok_or_else(|| Error::Columns {
                    file: Arc::clone(&table.file),
                    problem: ColumnProblem::NotFound {
                        name: name.clone(),
                        role: "keep",
                        columns: table.columns.clone(),
                    },
                })
            };
            let indices = names.iter().map(index).collect::<Result<_>>()?;
            let (file, delimiter) = (Arc::clone(&table.file), table.delimiter);
            Ok(TableColumns { file, delimiter, indices })
        };
        let tables = tables.iter().map(find).collect::<Result<_>>()?;
        Ok(Self { names: names.to_vec(), tables })
    }

    /// The values of a row; none where the row has no value.
    fn values(&self, source: usize, raw: RawRow<'_>) -> Result<Vec<Option<String>>> {
        let Some(TableColumns { file, delimiter, indices }) = self.tables.get(source) else {
            return Ok(vec![None; self.names.len()]);
        };
        match raw.content {
            RawContent::Text(text) if *delimiter == 0 => Ok(self.json_values(text)),
            RawContent::Text(text) => Ok(field_texts(text, *delimiter, indices)),
            RawContent::Batch(batch) => {
                let row = raw.number as usize - 1;
                let text = |&index: &usize| cell_text(file, batch.column(index), row);
                indices.iter().map(text).collect()
            }
        }
    }

    fn json_values(&self, text: &[u8]) -> Vec<Option<String>> {
        use serde_json::{Map, Value};
        // The row was read before, so it is an object.
        let object: Map<String, Value> = serde_json::from_slice(text).unwrap_or_default();
        let value = |name: &String| match object.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        self.names.iter().map(value).collect()
    }
}

/// The values of a row, read on demand.
#[derive(Debug, Clone, Copy)]
pub struct RowValues<'a> {
    columns: &'a KeptColumns,
    source: usize,
    raw: RawRow<'a>,
}

impl RowValues<'_> {
    /// The values of the kept columns; none where the row has no value.
    ///
    /// # Errors
    /// [`Error::Columns`] if a column has a type that cannot be written as text.
    pub fn read(&self) -> Result<Vec<Option<String>>> {
        self.columns.values(self.source, self.raw)
    }
}

/// Reads the sources again and calls `each` for every row that is a vote, with the values of further
/// columns.
///
/// # Errors
/// If a file cannot be read or has changed, or if `each` fails.
pub fn second_pass_with_columns(
    sources: &Sources,
    options: &ReadOptions,
    progress: &Arc<Progress>,
    studies: &[StudyFlags<'_>],
    columns: &KeptColumns,
    each: impl FnMut(&VoteRow<'_>, &RowValues<'_>) -> Result<()> + Send,
) -> Result<SecondPass> {
    visit_rows(sources, options, progress, studies, &mut ColumnCallback { columns, each })
}

struct ColumnCallback<'a, F> {
    columns: &'a KeptColumns,
    each: F,
}

impl<F: FnMut(&VoteRow<'_>, &RowValues<'_>) -> Result<()> + Send> RowVisitor
    for ColumnCallback<'_, F>
{
    const WHOLE_ROWS: bool = true;

    fn vote(&mut self, vote: &VoteRow<'_>, raw: RawRow<'_>) -> Result<()> {
        (self.each)(vote, &RowValues { columns: self.columns, source: vote.source, raw })
    }

    fn batch(&mut self, _: &arrow_array::RecordBatch, _: &[RowStatus]) -> Result<()> {
        Ok(())
    }
}
