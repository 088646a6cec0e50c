//! Columns that are added to flagged rows: which row it was, and why it is flagged.
//!
//! | column | when |
//! |---|---|
//! | `row` | always |
//! | `file` | if there are several files |
//! | `reason` | always |
//! | `probability` | if the method estimates the probability that a vote is bad |
//!
//! If the input has a column of one of these names, the new one begins with `flagged_`.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use hodgerank::FlagReason;
use serde_json::{Map, Value};

use super::csv_field::push_field;
use crate::read::{ExcludedRow, VoteRow};
use crate::table_head::TableHead;

/// Which row it was, and why it is flagged.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFlag {
    source: usize,
    row: u64,
    reason: Option<FlagReason>,
    probability: Option<f64>,
}

impl From<&VoteRow<'_>> for RowFlag {
    fn from(vote: &VoteRow<'_>) -> Self {
        let &VoteRow { source, row, reason, probability, .. } = vote;
        Self { source, row, reason, probability }
    }
}

impl From<&ExcludedRow> for RowFlag {
    fn from(row: &ExcludedRow) -> Self {
        let &ExcludedRow { source, row, reason, .. } = row;
        Self { source, row, reason: Some(reason), probability: None }
    }
}

/// A column that is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagColumn {
    Row,
    File,
    Reason,
    Probability,
}

impl FlagColumn {
    fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::File => "file",
            Self::Reason => "reason",
            Self::Probability => "probability",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Row => DataType::UInt64,
            Self::File | Self::Reason => DataType::Utf8,
            Self::Probability => DataType::Float64,
        }
    }
}

/// The columns that are added to the flagged rows of an input.
#[derive(Debug)]
pub(super) struct FlagColumns {
    columns: Vec<(FlagColumn, String)>,
    files: Vec<Arc<str>>,
    /// The separator of a delimited file; 0 for other formats.
    delimiter: u8,
}

impl FlagColumns {
    /// `with_file` says whether there are several files, some of which may be read elsewhere.
    pub(super) fn new(tables: &[TableHead], with_file: bool, has_probability: bool) -> Self {
        let is_used = |name: &str| {
            let used = tables.iter().flat_map(|table| &table.columns);
            used.into_iter().any(|column| column == name)
        };
        let mut columns = vec![FlagColumn::Row, FlagColumn::Reason];
        if with_file {
            columns.insert(1, FlagColumn::File);
        }
        if has_probability {
            columns.push(FlagColumn::Probability);
        }
        let named = |column: FlagColumn| (column, unused(column.name(), is_used));
        Self {
            columns: columns.into_iter().map(named).collect(),
            files: tables.iter().map(|table| Arc::clone(&table.file)).collect(),
            delimiter: tables.first().map_or(0, |table| table.delimiter),
        }
    }

    /// What precedes the first row of a text file, with the new columns in its header.
    pub(super) fn head(&self, text: &[u8]) -> Vec<u8> {
        match self.delimiter {
            0 => text.to_vec(),
            _ => self.delimited(text, |(_, name)| name.clone()),
        }
    }

    /// A row of a text file with the new columns.
    pub(super) fn text_row(&self, text: &[u8], flag: &RowFlag) -> Vec<u8> {
        match self.delimiter {
            0 => self.json_row(text, flag),
            _ => self.delimited(text, |&(column, _)| self.cell(column, flag)),
        }
    }

    /// Adds one field for each column before the line end.
    fn delimited(&self, text: &[u8], field: impl Fn(&(FlagColumn, String)) -> String) -> Vec<u8> {
        let (content, line_end) = split_line_end(text);
        let mut row = content.to_vec();
        for column in &self.columns {
            row.push(self.delimiter);
            push_field(&mut row, field(column).as_bytes(), self.delimiter);
        }
        row.extend_from_slice(line_end);
        row
    }

    /// Adds one key for each column before the closing brace.
    fn json_row(&self, text: &[u8], flag: &RowFlag) -> Vec<u8> {
        let object = text.trim_ascii_end();
        let after = &text[object.len()..];
        let mut row = object.strip_suffix(b"}").unwrap_or(object).to_vec();
        // Objects have keys of their own. This one was read before, so it is valid.
        let own: Map<String, Value> = serde_json::from_slice(object).unwrap_or_default();
        for (column, name) in &self.columns {
            let name = unused(name, |name| own.contains_key(name));
            let value: Value = match column {
                FlagColumn::Row => flag.row.into(),
                FlagColumn::Probability => flag.probability.into(),
                FlagColumn::File | FlagColumn::Reason => self.cell(*column, flag).into(),
            };
            let key = Value::from(name);
            row.extend_from_slice(format!(",{key}:{value}").as_bytes());
        }
        row.push(b'}');
        row.extend_from_slice(after);
        row
    }

    fn cell(&self, column: FlagColumn, flag: &RowFlag) -> String {
        match column {
            FlagColumn::Row => flag.row.to_string(),
            FlagColumn::File => self.file(flag).to_owned(),
            FlagColumn::Reason => {
                flag.reason.map_or(String::new(), |reason| reason.as_str().to_owned())
            }
            FlagColumn::Probability => flag.probability.map_or(String::new(), |p| p.to_string()),
        }
    }

    fn file(&self, flag: &RowFlag) -> &str {
        self.files.get(flag.source).map_or("", |file| file)
    }

    /// The schema of batches with the new columns.
    pub(super) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let own = schema.fields().iter().map(Arc::clone);
        let new = self.columns.iter();
        let new = new.map(|(column, name)| Arc::new(Field::new(name, column.data_type(), true)));
        let fields: Vec<Arc<Field>> = own.chain(new).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Flagged rows with the new columns; `flags` has one element for each row.
    pub(super) fn batch(&self, rows: &RecordBatch, flags: &[RowFlag]) -> io::Result<RecordBatch> {
        let mut columns = rows.columns().to_vec();
        for (column, _) in &self.columns {
            let flags = flags.iter();
            let values: ArrayRef = match column {
                FlagColumn::Row => {
                    Arc::new(flags.map(|flag| Some(flag.row)).collect::<UInt64Array>())
                }
                FlagColumn::File => {
                    Arc::new(flags.map(|flag| Some(self.file(flag))).collect::<StringArray>())
                }
                FlagColumn::Reason => {
                    let reason = |flag: &RowFlag| flag.reason.map(FlagReason::as_str);
                    Arc::new(flags.map(reason).collect::<StringArray>())
                }
                FlagColumn::Probability => {
                    Arc::new(flags.map(|flag| flag.probability).collect::<Float64Array>())
                }
            };
            columns.push(values);
        }
        RecordBatch::try_new(self.schema(&rows.schema()), columns).map_err(io::Error::other)
    }
}

/// The name, or else the first that is not used when it is prefixed.
fn unused(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let mut name = name.to_owned();
    while is_used(&name) {
        name.insert_str(0, "flagged_");
    }
    name
}

fn split_line_end(text: &[u8]) -> (&[u8], &[u8]) {
    let content = text.strip_suffix(b"\n").unwrap_or(text);
    let content = content.strip_suffix(b"\r").unwrap_or(content);
    text.split_at(content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(delimiter: u8) -> FlagColumns {
        let names = [FlagColumn::Row, FlagColumn::File, FlagColumn::Reason];
        FlagColumns {
            columns: names.map(|column| (column, column.name().to_owned())).to_vec(),
            files: vec!["a.csv".into(), "b, \"c\".csv".into()],
            delimiter,
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn fields_are_added_before_the_line_end() {
        let reason = Some(FlagReason::AgainstRanking);
        let flag = RowFlag { source: 1, row: 7, reason, probability: None };
        let csv = columns(b',');
        assert_eq!(text(csv.head(b"left,right\r\n")), "left,right,row,file,reason\r\n");
        assert_eq!(
            text(csv.text_row(b"x,y", &flag)),
            "x,y,7,\"b, \"\"c\"\".csv\",against the ranking"
        );
        let json = columns(0);
        assert_eq!(text(json.head(b"")), "");
        let expected =
            r#"{"left":"x" ,"row":7,"file":"b, \"c\".csv","reason":"against the ranking"}"#;
        assert_eq!(text(json.text_row(b"{\"left\":\"x\" } \n", &flag)), format!("{expected} \n"));
        let row = text(json.text_row(br#"{"row":1,"flagged_row":2}"#, &flag));
        assert!(row.starts_with(r#"{"row":1,"flagged_row":2,"flagged_flagged_row":7,"#), "{row}");
    }
}
