//! A table of named columns, written as CSV or Parquet or returned as an Arrow batch.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::spreadsheet::LabelStyle;

/// Columns of equal length, and metadata for formats that can hold it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    columns: Vec<(String, Column)>,
    metadata: Vec<(String, String)>,
}

/// Smaller numbers are written with an exponent.
const MIN_DECIMAL: f64 = 1e-6;

/// The values of a column. A missing value is an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<Option<String>>),
    /// Numbers; whole numbers are written without a decimal point, tiny ones with an exponent.
    Number(Vec<Option<f64>>),
    /// Numbers without gaps, always written with a decimal point or an exponent.
    Real(Vec<f64>),
    /// Counts.
    Whole(Vec<Option<u64>>),
    /// Whole numbers with a sign.
    Signed(Vec<Option<i64>>),
    /// Small counts without gaps.
    Small(Vec<u32>),
    /// True or false.
    Truth(Vec<bool>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Real(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Signed(values) => values.len(),
            Self::Small(values) => values.len(),
            Self::Truth(values) => values.len(),
        }
    }

    /// Writes the cell of a row as text.
    fn write_cell(&self, row: usize, labels: LabelStyle, out: &mut String) {
        let written = match self {
            Self::Text(values) => {
                out.push_str(&labels.cell(values[row].as_deref().unwrap_or_default()));
                Ok(())
            }
            Self::Number(values) => values[row].map_or(Ok(()), |value| match value.abs() {
                // A p-value of a hundred zeros is hard to read.
                size if size > 0.0 && size < MIN_DECIMAL => write!(out, "{value:e}"),
                _ => write!(out, "{value}"),
            }),
            Self::Real(values) => {
                out.push_str(ryu::Buffer::new().format(values[row]));
                Ok(())
            }
            Self::Whole(values) => values[row].map_or(Ok(()), |value| write!(out, "{value}")),
            Self::Signed(values) => values[row].map_or(Ok(()), |value| write!(out, "{value}")),
            Self::Small(values) => write!(out, "{}", values[row]),
            Self::Truth(values) => write!(out, "{}", values[row]),
        };
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(StringArray::from(values.clone())),
            Self::Number(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Real(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Whole(values) => Arc::new(UInt64Array::from(values.clone())),
            Self::Signed(values) => Arc::new(Int64Array::from(values.clone())),
            Self::Small(values) => Arc::new(UInt32Array::from(values.clone())),
            Self::Truth(values) => Arc::new(BooleanArray::from(values.clone())),
        }
    }
}

impl Table {
    /// Whether there is a column of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| column == name)
    }

    /// Adds a column.
    ///
    /// # Panics
    /// If the column is not as long as the columns before it.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        if let Some((_, first)) = self.columns.first() {
            assert_eq!(first.len(), column.len(), "columns have equal lengths");
        }
        self.columns.push((name.into(), column));
    }

    /// Adds metadata: written to Parquet and Arrow, not to CSV.
    pub fn push_metadata(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.metadata.push((key.into(), value.into()));
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes the table as CSV with a header.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(&self, labels: LabelStyle, out: &mut impl Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let from_csv = super::from_csv;
        // Columns of a matrix are named by labels.
        let names = self.columns.iter().map(|(name, _)| labels.cell(name).into_owned());
        writer.write_record(names).map_err(from_csv)?;
        let mut cell = String::new();
        for row in 0..self.rows() {
            for (_, column) in &self.columns {
                cell.clear();
                column.write_cell(row, labels, &mut cell);
                writer.write_field(&cell).map_err(from_csv)?;
            }
            writer.write_record(None::<&[u8]>).map_err(from_csv)?;
        }
        writer.flush()
    }

    /// The table as an Arrow batch.
    ///
    /// # Errors
    /// If the table has no columns.
    pub fn batch(&self) -> io::Result<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter().map(|(_, column)| column.array()).collect();
        let field = |((name, _), array): (&(String, Column), &ArrayRef)| {
            Field::new(name, array.data_type().clone(), array.null_count() > 0)
        };
        let fields: Vec<Field> = self.columns.iter().zip(&arrays).map(field).collect();
        let schema = Schema::new_with_metadata(fields, self.metadata.iter().cloned().collect());
        RecordBatch::try_new(Arc::new(schema), arrays).map_err(io::Error::other)
    }

    /// Writes the table as Parquet.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let batch = self.batch()?;
        let entry = |(key, value): &(String, String)| KeyValue::new(key.clone(), value.clone());
        let metadata = self.metadata.iter().map(entry).collect();
        let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
        let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
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
        table.push("p", Column::Number(vec![Some(2.5e-42), Some(0.0)]));
        table.push("real", Column::Real(vec![1.0, 1e-20]));
        table.push("flagged", Column::Truth(vec![true, false]));
        let mut out = Vec::new();
        table.write_csv(LabelStyle::Exact, &mut out).unwrap();
        let expected = "item,score,p,real,flagged\n\"a,b\",0.5,2.5e-42,1.0,true\n,,0,1e-20,false\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        table.write_parquet(&mut out).unwrap();
        assert_eq!(&out[..4], b"PAR1");
    }
}
