//! What a command returns, and how it is written.

use std::io::{self, Write as _};

use hodgerank::InputSummary;
use hodgerank_io::read::InputFile;
use hodgerank_io::write::Table;
use hodgerank_io::{
    BadRow, ExcludedItem, ExcludedItems, ExcludedVotes, Input, PassedOver, Rejected, RejectedValue,
};
use serde::Serialize;
use serde_json::Value;

use crate::provenance::{OptionsSummary, PROGRAM, Program, Provenance};
use hodgerank_io::write::Column;

/// The result of a command: one JSON document, and its main part as a table.
pub trait Document: Send + Sync {
    /// Writes the document as indented JSON.
    ///
    /// # Errors
    /// If writing fails.
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()>;

    /// Writes the document without the parts that take long to compute, if it has such parts.
    ///
    /// # Errors
    /// If writing fails.
    fn write_brief_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_json(provenance, out)
    }

    /// The method with which each study was ranked; empty if the command does not choose one.
    fn methods(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The table for CSV, Parquet and Arrow.
    ///
    /// # Errors
    /// If the table cannot be built.
    fn table(&self) -> io::Result<Table>;

    /// Charts for notebooks, as SVG, one per study.
    fn figures(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The part of a document that belongs to one study.
pub trait StudyDocument: Serialize {
    /// The value of the `--by` column; `None` where there is one study.
    fn by(&self) -> Option<&str>;

    /// The size of the study.
    fn input(&self) -> InputSummary;
}

/// The first keys of every document.
#[derive(Serialize)]
pub(crate) struct Header<'a> {
    schema: &'static str,
    program: Program,
    options: OptionsSummary<'a>,
}

impl<'a> Header<'a> {
    pub(crate) fn new(schema: &'static str, methods: &[&str], provenance: &'a Provenance) -> Self {
        Self { schema, program: PROGRAM, options: provenance.options(methods) }
    }
}

/// What was read: the files, and the size of the study where it has one.
#[derive(Serialize)]
pub(crate) struct InputJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'a [InputFile]>,
    #[serde(flatten)]
    study: Option<InputSummary>,
}

impl<'a> InputJson<'a> {
    /// The files alone; `None` if the votes were in memory.
    pub(crate) fn of_files(provenance: &'a Provenance) -> Option<Self> {
        let files = provenance.files()?;
        Some(Self { files: Some(files), study: None })
    }
}

/// The JSON of one study.
#[derive(Serialize)]
pub(crate) struct StudyJson<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    input: InputJson<'a>,
    #[serde(flatten)]
    study: &'a T,
}

impl<'a, T: StudyDocument> StudyJson<'a, T> {
    /// One of several studies, whose document lists the files.
    pub(crate) fn new(study: &'a T) -> Self {
        let input = InputJson { files: None, study: Some(study.input()) };
        Self { by: study.by(), input, study }
    }

    /// The only study of a document.
    fn only(study: &'a T, provenance: &'a Provenance) -> Self {
        let input = InputJson { files: provenance.files(), study: Some(study.input()) };
        Self { by: None, input, study }
    }
}

/// JSON of all commands that return one result per study: the fields of a single study stand at the
/// top level; with `--by`, the studies are listed under `groups_by`.
#[derive(Serialize)]
struct Envelope<'a, T> {
    #[serde(flatten)]
    header: Header<'a>,
    #[serde(flatten)]
    study: Option<StudyJson<'a, T>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<InputJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups_by: Option<Vec<StudyJson<'a, T>>>,
    #[serde(flatten)]
    uncounted: &'a UncountedRows,
}

/// Writes the JSON document of these studies, which were ranked with these methods.
///
/// # Errors
/// If writing fails.
pub fn write_studies<T: StudyDocument>(
    schema: &'static str,
    studies: &[T],
    methods: &[&str],
    uncounted: &UncountedRows,
    provenance: &Provenance,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let header = Header::new(schema, methods, provenance);
    let (study, input, groups_by) = match studies {
        [only] if only.by().is_none() => (Some(StudyJson::only(only, provenance)), None, None),
        several => {
            let several = several.iter().map(StudyJson::new).collect();
            (None, InputJson::of_files(provenance), Some(several))
        }
    };
    write_json(&Envelope { header, study, input, groups_by, uncounted }, out)
}

/// Writes a value as indented JSON with a final newline.
///
/// # Errors
/// If writing fails.
pub fn write_json(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    // The serialiser writes single tokens: collected here, they cost no virtual call each.
    let mut out = io::BufWriter::with_capacity(JSON_BUFFER_BYTES, out);
    serde_json::to_writer_pretty(&mut out, value)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// How much JSON is collected before it is written.
const JSON_BUFFER_BYTES: usize = 1 << 16;

/// A table whose first column is the value of `--by`, if there is one: `of` returns the value and the
/// number of rows of each study.
pub(crate) fn table_by<'a>(studies: impl Iterator<Item = (Option<&'a str>, usize)>) -> Table {
    let mut by: Vec<Option<String>> = Vec::new();
    let mut has_by = false;
    for (value, rows) in studies {
        has_by |= value.is_some();
        by.extend(std::iter::repeat_n(value.map(str::to_owned), rows));
    }
    let mut table = Table::default();
    if has_by {
        table.push("by", Column::Text(by));
    }
    table
}

/// Figures of one study, with the value of the `--by` column.
#[derive(Debug, Serialize)]
pub struct Figures<T> {
    /// The value of the `--by` column.
    #[serde(skip)]
    pub by: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub figures: T,
}

/// Figures that know the size of their study, which they do not serialise themselves.
pub trait StudyFigures: Serialize {
    /// The size of the study.
    fn input(&self) -> InputSummary;
}

impl<T: StudyFigures> StudyDocument for Figures<T> {
    fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn input(&self) -> InputSummary {
        self.figures.input()
    }
}

impl<T: StudyFigures> Figures<T> {
    /// All figures as rows of a name (`design.items`) and a value; lists count from 1.
    ///
    /// # Errors
    /// If a figure cannot be written as JSON.
    pub fn long_table(studies: &[Self]) -> io::Result<Table> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut rows = Vec::with_capacity(studies.len());
        for study in studies {
            let before = names.len();
            let mut figures = serde_json::to_value(&study.figures)?;
            figures["input"] = serde_json::to_value(study.input())?;
            flatten(String::new(), &figures, &mut |name, value| {
                names.push(Some(name));
                values.push(value);
            });
            rows.push((study.by(), names.len() - before));
        }
        let mut table = table_by(rows.into_iter());
        table.push("figure", Column::Text(names));
        table.push("value", Column::Text(values));
        Ok(table)
    }
}

fn flatten(name: String, value: &Value, write: &mut impl FnMut(String, Option<String>)) {
    let below =
        |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(field, value)| flatten(below(field), value, write));
        }
        Value::Array(values) => {
            let numbered = values.iter().enumerate();
            numbered.for_each(|(k, value)| flatten(below(&(k + 1).to_string()), value, write));
        }
        Value::Null => write(name, None),
        Value::String(text) => write(name, Some(text.clone())),
        Value::Bool(_) | Value::Number(_) => write(name, Some(value.to_string())),
    }
}

/// Rows of the input that were not counted.
#[derive(Debug, Clone, Default, Serialize)]
pub struct UncountedRows {
    /// Rows that could not be read as votes.
    pub rejected: RejectedSummary,
    /// Rows of excluded annotators; none if nobody was to be excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<ExcludedSummary>,
    /// Items with few votes that were left out; none if none was to be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded_items: Option<ExcludedItemsSummary>,
    /// Rows that are no votes, or that were not wanted; none if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<PassedOver>,
}

impl UncountedRows {
    /// The rows that were not counted.
    #[must_use]
    pub fn new(rejected: &Rejected, excluded: Option<&ExcludedVotes>) -> Self {
        let excluded = excluded.map(ExcludedSummary::from);
        Self { rejected: rejected.into(), excluded, excluded_items: None, passed_over: None }
    }

    /// The same with items that were left out.
    #[must_use]
    pub fn with_items(self, items: Option<&ExcludedItems>) -> Self {
        Self { excluded_items: items.map(ExcludedItemsSummary::from), ..self }
    }

    /// The same with rows that were passed over.
    #[must_use]
    pub fn with_passed_over(self, rows: PassedOver) -> Self {
        Self { passed_over: (!rows.is_empty()).then_some(rows), ..self }
    }
}

impl From<&Input> for UncountedRows {
    fn from(input: &Input) -> Self {
        Self::new(&input.rejected, input.excluded.as_ref())
            .with_items(input.excluded_items.as_ref())
            .with_passed_over(input.passed_over)
    }
}

/// What was left out with excluded annotators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExcludedSummary {
    /// Number of annotators.
    pub annotators: usize,
    /// Number of their rows.
    pub rows: u64,
    /// Number of their votes.
    pub votes: u64,
}

impl From<&ExcludedVotes> for ExcludedSummary {
    fn from(excluded: &ExcludedVotes) -> Self {
        let (annotators, rows) = (excluded.annotators(), excluded.rows());
        Self { annotators, rows, votes: excluded.votes }
    }
}

/// Items that were left out because of few votes.
#[derive(Debug, Clone, Serialize)]
pub struct ExcludedItemsSummary {
    /// Items with fewer votes were left out.
    pub min_votes: u64,
    /// Number of votes on them.
    pub votes: u64,
    /// The items.
    pub items: Vec<ExcludedItem>,
}

impl From<&ExcludedItems> for ExcludedItemsSummary {
    fn from(excluded: &ExcludedItems) -> Self {
        let ExcludedItems { min_votes, votes, items, .. } = excluded;
        Self { min_votes: *min_votes, votes: *votes, items: items.clone() }
    }
}

/// Rows of the input that could not be read as votes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RejectedSummary {
    /// How many.
    pub rows: u64,
    /// The first of them.
    pub first: Vec<RejectedRow>,
    /// All of them by fault: the first row with each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<RejectedValues>,
}

/// Rejected rows that have the same fault.
#[derive(Debug, Clone, Serialize)]
pub struct RejectedValues {
    /// The first of them.
    #[serde(flatten)]
    pub first: RejectedRow,
    /// How many there are.
    pub rows: u64,
}

/// A row that could not be read as a vote.
#[derive(Debug, Clone, Serialize)]
pub struct RejectedRow {
    /// The file.
    pub file: String,
    /// Its line, or row of a table.
    pub position: String,
    /// The column at fault.
    pub column: Option<String>,
    /// The value at fault.
    pub value: String,
    /// What is wrong with it.
    pub problem: String,
}

impl From<&Rejected> for RejectedSummary {
    fn from(rejected: &Rejected) -> Self {
        let row = |row: &BadRow| RejectedRow {
            file: row.file.to_string(),
            position: row.position.to_string(),
            column: row.column.as_ref().map(|(_, name)| name.clone()),
            value: row.value.clone(),
            problem: row.problem.to_string(),
        };
        let of_value =
            |value: &RejectedValue| RejectedValues { first: row(&value.first), rows: value.rows };
        Self {
            rows: rejected.total,
            first: rejected.first.iter().map(row).collect(),
            values: rejected.values.iter().map(of_value).collect(),
        }
    }
}
