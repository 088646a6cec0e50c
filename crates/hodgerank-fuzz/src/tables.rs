//! The same cells as CSV, TSV, JSON lines, Parquet, Arrow and SQLite files are read as the same votes.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray};
use hodgerank_io::{Format, Input, ReadOptions, Result};

use crate::Signature;
use crate::choices::Choices;
use crate::read_options::read_options;
use crate::readers::{assert_same, read, signature};
use crate::scratch;

/// Headers: the two item columns, an outcome column if there is one, and optional columns.
const HEADERS: [&[&str]; 10] = [
    &["left", "right", "winner"],
    &["winner", "loser"],
    &["left", "right", "y"],
    &["left", "right", "outcome", "annotator", "count"],
    &["Model A", "model-b", "Label", "judge"],
    &["winner", "loser", "annotator", "count", "by"],
    &["condition_a", "condition_b", "is_a_selected"],
    &["left", "right", "score", "count", "by"],
    &["left", "right", "outcome", "note"],
    &["left", "right", "winner", "outcome"],
];

/// Labels, some of which are also words for outcomes, numbers, or hard to quote.
const LABELS: [&str; 16] = [
    "a",
    "b",
    "c",
    "left",
    "right",
    "1",
    "0",
    "-1",
    "é",
    "tie",
    " d",
    "\"q\"",
    "x,y",
    "l\nm",
    "{\"k\":1}",
    "",
];

const OUTCOMES: [&str; 20] = [
    "left",
    "right",
    "tie",
    "1",
    "-1",
    "0",
    "2.5",
    "a",
    "b",
    "A ",
    "model_b",
    "draw",
    "1e300",
    "nan",
    "inf",
    "true",
    "False",
    "",
    "-0.0",
    "9007199254740993",
];

const COUNTS: [&str; 9] = ["1", "2", "0", "3.0", "9007199254740992", "", "-1", "1.5", "1e3"];

const ANNOTATORS: [&str; 4] = ["ann", "bob", "", "ann "];

struct Cells {
    header: &'static [&'static str],
    rows: Vec<Vec<&'static str>>,
}

impl Cells {
    fn choose(choices: &mut Choices<'_>) -> Self {
        let header = choices.one_of(&HEADERS);
        let mut rows = Vec::new();
        while !choices.is_empty() && rows.len() < 60 {
            let cell = |(column, name): (usize, &&str)| match (column, *name) {
                (0 | 1, _) => choices.one_of(&LABELS),
                (_, "count") => choices.one_of(&COUNTS),
                (_, "annotator" | "judge" | "by" | "note") => choices.one_of(&ANNOTATORS),
                // The label of an item is an outcome too.
                _ if choices.below(4) == 3 => choices.one_of(&LABELS),
                _ => choices.one_of(&OUTCOMES),
            };
            let row: Vec<&str> = header.iter().enumerate().map(cell).collect();
            // Spreadsheet programs write rows of empty cells, which are passed over in text and sheets only.
            if row.iter().any(|cell| !cell.trim().is_empty()) {
                rows.push(row);
            }
        }
        Self { header, rows }
    }

    fn delimited(&self, delimiter: u8) -> Vec<u8> {
        let style = csv::QuoteStyle::Always;
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .quote_style(style)
            .from_writer(Vec::new());
        writer.write_record(self.header).expect("memory can be written");
        self.rows.iter().for_each(|row| writer.write_record(row).expect("memory can be written"));
        writer.into_inner().expect("memory can be written")
    }

    fn json_lines(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for row in &self.rows {
            let cells = self.header.iter().zip(row);
            let object: serde_json::Map<_, _> =
                cells.map(|(name, cell)| ((*name).to_owned(), (*cell).into())).collect();
            serde_json::to_writer(&mut text, &object).expect("memory can be written");
            text.push(b'\n');
        }
        text
    }

    /// Statements that make a table of the cells.
    fn statements(&self) -> String {
        let list = |cells: &[&str]| -> String {
            let cell = |cell: &&str| format!("'{}'", cell.replace('\'', "''"));
            cells.iter().map(cell).collect::<Vec<_>>().join(",")
        };
        let row = |row: &Vec<&str>| format!("INSERT INTO votes VALUES ({});", list(row));
        let rows: String = self.rows.iter().map(row).collect();
        format!("CREATE TABLE votes({}); BEGIN; {rows} COMMIT;", list(self.header))
    }

    fn batch(&self, dictionary: bool) -> RecordBatch {
        let column = |index: usize| -> ArrayRef {
            let values = self.rows.iter().map(|row| row[index]);
            if dictionary {
                Arc::new(values.collect::<DictionaryArray<Int32Type>>())
            } else {
                Arc::new(StringArray::from_iter_values(values))
            }
        };
        let columns = (0..self.header.len()).map(|index| (self.header[index], column(index)));
        RecordBatch::try_from_iter(columns).expect("columns of one length")
    }
}

pub(crate) fn check(bytes: &[u8]) -> Signature {
    let mut choices = Choices::new(bytes);
    let options = ReadOptions { delimiter: None, ..read_options(&mut choices, None) };
    let dictionary = choices.byte() & 1 == 1;
    let cells = Cells::choose(&mut choices);
    if cells.rows.is_empty() {
        return Signature::of("no rows");
    }
    let batch = cells.batch(dictionary);
    let csv = read_as(Format::Csv, &cells.delimited(b','), &options);
    for (format, content) in [
        (Format::Tsv, cells.delimited(b'\t')),
        (Format::Jsonl, cells.json_lines()),
        (Format::Parquet, parquet_file(&batch)),
        (Format::Arrow, arrow_stream(&batch)),
        (Format::Sqlite, database(&cells.statements())),
    ] {
        match (&csv, &read_as(format, &content, &options)) {
            (Ok(csv), Ok(other)) => assert_same(csv, other),
            (Err(_), Err(_)) => {}
            (csv, other) => panic!("CSV: {}, {format}: {}", verdict(csv), verdict(other)),
        }
    }
    match &csv {
        Ok(_) => Signature::of(&verdict(&csv)),
        Err(error) => signature(error),
    }
}

fn verdict(read: &Result<Input>) -> String {
    match read {
        Ok(input) => format!("read, {}", if input.rejected.total > 0 { "rejected" } else { "all" }),
        Err(error) => error.to_string(),
    }
}

fn read_as(format: Format, content: &[u8], options: &ReadOptions) -> Result<Input> {
    let file = scratch::write("table", content);
    read(&file, &ReadOptions { format: Some(format), ..options.clone() })
}

pub(crate) fn parquet_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None)
        .expect("a supported schema");
    writer.write(batch).expect("memory can be written");
    writer.into_inner().expect("memory can be written")
}

/// A database with small pages, which has what these statements make.
pub(crate) fn database(statements: &str) -> Vec<u8> {
    let file = scratch::path("new.db");
    // An earlier execution has left one, unless this is the first.
    let _ = std::fs::remove_file(&file);
    let connection = rusqlite::Connection::open(&file).expect("a new file");
    let options = "PRAGMA page_size = 512; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";
    connection.execute_batch(&format!("{options} {statements}")).expect("valid statements");
    drop(connection);
    std::fs::read(&file).expect("the file exists")
}

pub(crate) fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema())
        .expect("a supported schema");
    writer.write(batch).expect("memory can be written");
    writer.finish().expect("memory can be written");
    writer.into_inner().expect("memory can be written")
}

pub(crate) fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema())
        .expect("a supported schema");
    writer.write(batch).expect("memory can be written");
    writer.finish().expect("memory can be written");
    writer.into_inner().expect("memory can be written")
}
