//! Lists of flagged votes and of annotators as JSON, CSV and Parquet. One description of a row serves
//! all formats.

use std::io;

use hodgerank::{AnnotatorReport, InputSummary, OutlierSummary, RankedStudy};
use hodgerank_io::write::{Column, Table};
use serde::{Deserialize, Serialize, Serializer};

use crate::certificate::CertificateSummary;
use crate::document::{Document, RejectedSummary, StudyDocument, table_by, write_studies};
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
        vec![
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
        ]
    }
}

impl ListingRow for AnnotatorReport<String> {
    const SCHEMA: &'static str = "hodgerank/annotators/1";
    const KEY: &'static str = "annotators";

    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)> {
        let rows = || rows.iter();
        let number =
            |pick: fn(&Self) -> Option<f64>| Column::Number(rows().map(|row| pick(row)).collect());
        let whole =
            |pick: fn(&Self) -> u64| Column::Whole(rows().map(|row| Some(pick(row))).collect());
        let names = rows().map(|row| Some(row.annotator.clone())).collect();
        vec![
            ("annotator", Column::Text(names)),
            ("votes", whole(|row| row.votes)),
            ("agreement", number(|row| row.agreement)),
            ("flagged", whole(|row| row.flagged)),
            ("flagged_share", number(|row| Some(row.flagged_share))),
            ("flagged_low", number(|row| Some(row.flagged_low))),
            ("flagged_high", number(|row| Some(row.flagged_high))),
            ("flagged_p", number(|row| Some(row.flagged_p))),
            ("flagged_p_adjusted", number(|row| Some(row.flagged_p_adjusted))),
            ("left_share", number(|row| row.left_share)),
            ("left_p", number(|row| row.left_p)),
            ("left_p_adjusted", number(|row| row.left_p_adjusted)),
        ]
    }
}

/// The list of one study.
#[derive(Debug, Serialize)]
#[serde(bound = "R: ListingRow")]
pub struct Listing<R> {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The size of the study.
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
}

/// Lists, one per study.
#[derive(Debug)]
pub struct Listings<R> {
    /// The lists.
    pub lists: Vec<Listing<R>>,
    /// Rejected rows.
    pub rejected: RejectedSummary,
}

impl<R: ListingRow + Send + Sync> Document for Listings<R> {
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(R::SCHEMA, &self.lists, &self.rejected, out)
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
