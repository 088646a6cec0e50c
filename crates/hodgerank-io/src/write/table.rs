//! A table of named columns, written as CSV or Parquet: for results that are plain tables.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use parquet::arrow::ArrowWriter;

/// Columns of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    columns: Vec<(String, Column)>,
}

/// The values of a column; an absent value is an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<Option<String>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Counts.
    Whole(Vec<Option<u64>>),
    /// True or false.
    Truth(Vec<bool>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Truth(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Self::Text(values) => values[row].clone().unwrap_or_default(),
            Self::Number(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Self::Whole(values) => values[row].map_or(String::new(), |value| value.to_string()),
            Self::Truth(values) => values[row].to_string(),
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(StringArray::from(values.clone())),
            Self::Number(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
            Self::Truth(values) => Arc::new(BooleanArray::from(values.clone())),
        }
    }
}

impl Table {
    /// Adds a column.
    ///
    /// # Panics
    /// If it is not as long as the columns before it.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        if let Some((_, first)) = self.columns.first() {
            assert_eq!(first.len(), column.len(), "columns of equal length");
        }
        self.columns.push((name.into(), column));
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes the table as CSV with a header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let from_csv = super::from_csv;
        writer.write_record(self.columns.iter().map(|(name, _)| name)).map_err(from_csv)?;
        for row in 0..self.rows() {
            let cells = self.columns.iter().map(|(_, column)| column.cell(row));
            writer.write_record(cells).map_err(from_csv)?;
        }
        writer.flush()
    }

    /// The table as an Arrow batch.
    ///
    /// # Errors
    /// If the table has no columns.
    pub fn batch(&self) -> io::Result<RecordBatch> {
        let columns = self.columns.iter().map(|(name, column)| (name, column.array()));
        RecordBatch::try_from_iter(columns).map_err(io::Error::other)
    }

    /// Writes the table as Parquet.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let batch = self.batch()?;
        let mut writer = ArrowWriter::try_new(out, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close().map(drop).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_a_header_and_empty_cells() {
        let mut table = Table::default();
        table.push("item", Column::Text(vec![Some("a,b".to_owned()), None]));
        table.push("score", Column::Number(vec![Some(0.5), None]));
        table.push("flagged", Column::Truth(vec![true, false]));
        let mut out = Vec::new();
        table.write_csv(&mut out).unwrap();
        assert_eq!(out, b"item,score,flagged\n\"a,b\",0.5,true\n,,false\n");
        let mut out = Vec::new();
        table.write_parquet(&mut out).unwrap();
        assert_eq!(&out[..4], b"PAR1");
    }
}
