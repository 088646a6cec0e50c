//! A ranking as JSON, CSV and Parquet. One description of a row serves all three.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use hodgerank::{Labels, Ranking};
use parquet::arrow::ArrowWriter;
use serde::Serialize;

use super::cross_validation::CrossValidationSummary;
use super::{AnnotatorRow, from_csv};
use crate::error::BadRow;
use crate::study::Rejected;

/// The JSON of `rank`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// Name and version of this format.
    pub schema: &'static str,
    /// The ranking; absent with `--by`.
    #[serde(flatten)]
    pub table: Option<&'a RankTable>,
    /// One ranking for each value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups_by: Option<&'a [RankTable]>,
    /// Rows that were not counted.
    pub rejected: &'a RejectedSummary,
}

/// A ranking with everything that is said about it.
#[derive(Debug, Clone, Serialize)]
pub struct RankTable {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was read.
    pub input: InputSummary,
    /// How it was ranked.
    pub method: MethodSummary,
    /// The items, best first.
    pub ranking: Vec<RankedRow>,
    /// The components, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentSummary>,
    /// Votes that the method does not trust.
    pub outliers: OutlierSummary,
    /// Who cast the votes, the most suspicious first; absent where that was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotators: Option<Vec<AnnotatorRow>>,
    /// How the method ended.
    pub status: &'static str,
    /// What a reader of the ranking must know.
    pub warnings: Vec<String>,
}

/// What was read.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct InputSummary {
    /// Rows counted.
    pub rows: u64,
    /// Rows of the whole input that were not counted.
    pub rejected: u64,
    /// Votes: rows times their counts.
    pub comparisons: u64,
    /// Different items.
    pub items: usize,
    /// Different votes.
    pub groups: usize,
    /// Different annotators.
    pub annotators: usize,
    /// Connected components.
    pub components: usize,
}

/// How the items were ranked. What a method does not have is left out.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MethodSummary {
    /// The method.
    pub name: &'static str,
    /// How it was chosen, if nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<&'static str>,
    /// Strength of the ridge penalty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// λ at which the path stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Time at which the path stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Damping of lbi, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Step of lbi, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// How λ was cross-validated, with `--outliers cv`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cv: Option<CrossValidationSummary>,
    /// The linear solver (of the largest component).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<&'static str>,
    /// Its iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    /// Its relative residual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

/// One item.
#[derive(Debug, Clone, Serialize)]
pub struct RankedRow {
    /// Rank in its component, 1 is best.
    pub rank: u32,
    /// The item's name.
    pub item: String,
    /// Its score.
    pub score: f64,
    /// Its component, from 1.
    pub component: u32,
    /// Votes in which it took part.
    pub comparisons: u64,
    /// Votes that prefer it.
    pub wins: u64,
    /// Votes that prefer the other item.
    pub losses: u64,
    /// Votes that prefer neither.
    pub ties: u64,
    /// Votes on it that the method does not trust.
    pub flagged: u64,
}

/// One connected component.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ComponentSummary {
    /// Its number, from 1; the largest comes first.
    pub component: u32,
    /// How many items it has.
    pub items: usize,
    /// How many votes.
    pub comparisons: u64,
}

/// Votes that the method does not trust.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct OutlierSummary {
    /// How many.
    pub comparisons: u64,
    /// Their share of all votes.
    pub fraction: f64,
}

/// Rows that were not counted.
#[derive(Debug, Clone, Serialize)]
pub struct RejectedSummary {
    /// How many.
    pub rows: u64,
    /// The first of them.
    pub first: Vec<RejectedRow>,
}

/// One row that was not counted.
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
        Self { rows: rejected.total, first: rejected.first.iter().map(row).collect() }
    }
}

impl RankedRow {
    /// The rows of a ranking, with the items' names.
    #[must_use]
    pub fn of(ranking: &Ranking, items: &Labels) -> Vec<Self> {
        let row = |row: &hodgerank::RankedItem| Self {
            rank: row.rank,
            item: items.name(row.item).to_owned(),
            // A score of minus zero would be printed as such.
            score: row.score + 0.0,
            component: row.component,
            comparisons: row.comparisons,
            wins: row.wins,
            losses: row.losses,
            ties: row.ties,
            flagged: row.flagged,
        };
        ranking.items.iter().map(row).collect()
    }
}

impl Document<'_> {
    /// The version of this format.
    pub const SCHEMA: &'static str = "hodgerank/rank/1";

    /// Writes the document, indented.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

impl RankTable {
    /// Writes rankings as one CSV table; with `--by` its value is the first column.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_csv(tables: &[Self], out: &mut impl Write) -> io::Result<()> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(out);
        let by = tables.iter().any(|table| table.by.is_some());
        let names = COLUMNS.iter().skip(usize::from(!by)).copied();
        writer.write_record(names).map_err(from_csv)?;
        for table in tables {
            for row in &table.ranking {
                if by {
                    writer.serialize((table.by.as_deref().unwrap_or(""), row)).map_err(from_csv)?;
                } else {
                    writer.serialize(row).map_err(from_csv)?;
                }
            }
        }
        writer.flush()
    }

    /// Writes rankings as one Parquet table, with the number of rejected rows in its metadata.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_parquet(tables: &[Self], out: &mut (impl Write + Send)) -> io::Result<()> {
        let batch = Self::batch(tables)?;
        let failed = |error: parquet::errors::ParquetError| io::Error::other(error);
        let mut writer = ArrowWriter::try_new(out, batch.schema(), None).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        writer.close().map(drop).map_err(failed)
    }

    /// Rankings as one table, with the number of rejected rows in its metadata.
    ///
    /// # Errors
    /// If the table would be too large.
    pub fn batch(tables: &[Self]) -> io::Result<RecordBatch> {
        let by = tables.iter().any(|table| table.by.is_some());
        // Gathered first: text columns are built from as many values as are announced.
        let rows: Vec<(&str, &RankedRow)> = tables
            .iter()
            .flat_map(|table| {
                let by = table.by.as_deref().unwrap_or("");
                table.ranking.iter().map(move |row| (by, row))
            })
            .collect();
        let whole = |pick: fn(&RankedRow) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|&(_, row)| pick(row))))
        };
        let small = |pick: fn(&RankedRow) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|&(_, row)| pick(row))))
        };
        let columns: [ArrayRef; COLUMNS.len()] = [
            Arc::new(StringArray::from_iter_values(rows.iter().map(|&(by, _)| by))),
            small(|row| row.rank),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|(_, row)| &row.item))),
            Arc::new(Float64Array::from_iter_values(rows.iter().map(|(_, row)| row.score))),
            small(|row| row.component),
            whole(|row| row.comparisons),
            whole(|row| row.wins),
            whole(|row| row.losses),
            whole(|row| row.ties),
            whole(|row| row.flagged),
        ];
        let first = usize::from(!by);
        let rejected = tables.first().map_or(0, |table| table.input.rejected);
        let field = |(name, array): (&&str, &ArrayRef)| {
            let kind: DataType = array.data_type().clone();
            Field::new(*name, kind, false)
        };
        let fields: Vec<Field> = COLUMNS.iter().zip(&columns).skip(first).map(field).collect();
        let metadata = [("hodgerank.rejected".to_owned(), rejected.to_string())].into();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        RecordBatch::try_new(schema, columns[first..].to_vec()).map_err(io::Error::other)
    }
}

const COLUMNS: [&str; 10] = [
    "by",
    "rank",
    "item",
    "score",
    "component",
    "comparisons",
    "wins",
    "losses",
    "ties",
    "flagged",
];
