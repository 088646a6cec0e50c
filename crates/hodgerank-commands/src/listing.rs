//! Lists of flagged votes and of annotators as JSON, CSV and Parquet. One description of a row serves
//! all formats.

use std::collections::BTreeMap;
use std::io;

use hodgerank::{InputSummary, OutlierSummary, RankedStudy};
use hodgerank_io::write::{Column, Table};
use serde::{Deserialize, Serialize, Serializer};

use crate::certificate::CertificateSummary;
use crate::document::{Document, StudyDocument, UncountedRows, table_by, write_studies};
use crate::provenance::Provenance;
use crate::ranked::{MethodSummary, warnings};

/// A row of a list.
pub trait ListingRow: Serialize {
    /// Name and version of the JSON document.
    const SCHEMA: &'static str;

    /// The JSON key of the rows.
    const KEY: &'static str;

    /// The columns of these rows, with their JSON names.
    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)>;
}

/// A vote, or a distinct vote with its count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectVote {
    /// Position in the order of suspicion, from 1.
    pub order: u64,
    /// The item on the left, as in the input; for a distinct vote, the first by label.
    pub left: String,
    /// The item on the right.
    pub right: String,
    /// How much `left` was preferred; negative where `right` was.
    pub outcome: f64,
    /// How many times the vote was cast.
    pub count: u64,
    /// The annotator.
    pub annotator: Option<String>,
    /// λ or time at which the vote was first flagged.
    pub entry: Option<f64>,
    /// The size of its residual there.
    pub size: Option<f64>,
    /// Outcome − (score of left − score of right), at the final scores.
    pub residual: f64,
    /// How many of these votes are flagged.
    pub flagged: u64,
    /// The probability that the vote is bad, if the method estimates it.
    pub probability: Option<f64>,
    /// Why it is flagged, if it is: a phrase of [`hodgerank::FlagReason`].
    pub reason: Option<String>,
    /// The number of the row in its file, from 1, without the header and blank lines; none for a
    /// distinct vote.
    pub row: Option<u64>,
    /// The file, if there are several.
    pub file: Option<String>,
    /// Values of the columns of the input that were asked for; none if none were.
    pub columns: Option<BTreeMap<String, Option<String>>>,
}

impl SuspectVote {
    /// Names and values of the columns of the input that were asked for; a missing value is empty.
    pub fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        let columns = self.columns.iter().flatten();
        columns.map(|(name, value)| (name.as_str(), value.as_deref().unwrap_or("")))
    }
}

impl ListingRow for SuspectVote {
    const SCHEMA: &'static str = "hodgerank/outliers/1";
    const KEY: &'static str = "votes";

    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)> {
        let rows = || rows.iter();
        let text = |pick: fn(&Self) -> &str| {
            Column::Text(rows().map(|row| Some(pick(row).to_owned())).collect())
        };
        let number =
            |pick: fn(&Self) -> Option<f64>| Column::Number(rows().map(|row| pick(row)).collect());
        let whole =
            |pick: fn(&Self) -> u64| Column::Whole(rows().map(|row| Some(pick(row))).collect());
        let mut columns = vec![
            ("order", whole(|row| row.order)),
            ("left", text(|row| &row.left)),
            ("right", text(|row| &row.right)),
            ("outcome", number(|row| Some(row.outcome))),
            ("count", whole(|row| row.count)),
            ("annotator", Column::Text(rows().map(|row| row.annotator.clone()).collect())),
            ("entry", number(|row| row.entry)),
            ("size", number(|row| row.size)),
            ("residual", number(|row| Some(row.residual))),
            ("flagged", whole(|row| row.flagged)),
            ("probability", number(|row| row.probability)),
            ("reason", Column::Text(rows().map(|row| row.reason.clone()).collect())),
            ("row", Column::Whole(rows().map(|row| row.row).collect())),
        ];
        if rows().any(|row| row.file.is_some()) {
            columns.push(("file", Column::Text(rows().map(|row| row.file.clone()).collect())));
        }
        columns
    }
}

/// The list of one study.
#[derive(Debug, Serialize)]
#[serde(bound = "R: ListingRow")]
pub struct Listing<R> {
    /// The value of the `--by` column.
    #[serde(skip)]
    pub by: Option<String>,
    /// The size of the study.
    #[serde(skip)]
    pub input: InputSummary,
    /// How votes were flagged.
    pub method: MethodSummary,
    /// How many votes are flagged.
    pub outliers: OutlierSummary,
    /// How the method ended.
    pub status: &'static str,
    /// What was checked about the fit.
    pub certificate: CertificateSummary,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// The rows, under [`ListingRow::KEY`].
    #[serde(flatten, serialize_with = "under_key")]
    pub rows: Vec<R>,
}

fn under_key<R: ListingRow, S: Serializer>(rows: &[R], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(R::KEY, rows)])
}

impl<R> Listing<R> {
    /// The list of a ranked study.
    #[must_use]
    pub fn new(study: &RankedStudy, rows: Vec<R>) -> Self {
        Self {
            by: study.by.clone(),
            input: study.input,
            method: MethodSummary::new(study),
            outliers: study.outliers,
            status: study.fit.status.as_str(),
            certificate: CertificateSummary::new(&study.fit.certificate),
            warnings: warnings(study),
            rows,
        }
    }
}

impl<R: ListingRow> StudyDocument for Listing<R> {
    fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    fn input(&self) -> InputSummary {
        self.input
    }
}

/// Lists, one per study.
#[derive(Debug)]
pub struct Listings<R> {
    /// The lists.
    pub lists: Vec<Listing<R>>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

impl<R: ListingRow + Send + Sync> Document for Listings<R> {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        let methods = self.methods();
        write_studies(R::SCHEMA, &self.lists, &methods, &self.uncounted, provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.lists.iter().map(|list| list.method.name).collect()
    }

    fn table(&self) -> io::Result<Table> {
        let mut table =
            table_by(self.lists.iter().map(|list| (list.by.as_deref(), list.rows.len())));
        let rows: Vec<&R> = self.lists.iter().flat_map(|list| &list.rows).collect();
        for (name, column) in R::columns(&rows) {
            table.push(name, column);
        }
        Ok(table)
    }
}
