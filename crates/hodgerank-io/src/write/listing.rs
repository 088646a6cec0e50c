//! Lists (suspicious votes, annotators) as JSON, CSV and Parquet. One description of a row serves
//! all three.

use std::io::{self, Write};

use serde::{Deserialize, Serialize, Serializer};

use super::ranking::{InputSummary, MethodSummary, OutlierSummary, RankTable, RejectedSummary};
use super::{Column, Table};

/// A row of a list.
pub trait ListingRow: Serialize {
    /// What JSON calls the rows.
    const KEY: &'static str;

    /// The columns of these rows, under the names that they have in JSON.
    fn columns(rows: &[&Self]) -> Vec<(&'static str, Column)>;
}

/// A vote, or a group of equal ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuspectRow {
    /// Place in the order of suspicion, from 1.
    pub order: u64,
    /// The item on the left, as in the input; for a group, the one that comes first by name.
    pub left: String,
    /// The item on the right.
    pub right: String,
    /// How much `left` was preferred; negative where `right` was.
    pub outcome: f64,
    /// How many times the vote was cast.
    pub count: u64,
    /// Who cast it.
    pub annotator: Option<String>,
    /// λ or t at which its group was first flagged.
    pub entry: Option<f64>,
    /// How badly it fitted there: the size of its residual.
    pub size: Option<f64>,
    /// What the final scores leave of it: outcome − (score of left − score of right).
    pub residual: f64,
    /// How many of these votes are flagged.
    pub flagged: u64,
}

/// An annotator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotatorRow {
    /// The name.
    pub annotator: String,
    /// Votes cast.
    pub votes: u64,
    /// Share of the votes on items of different scores, ties apart, that agree with the ranking.
    pub agreement: Option<f64>,
    /// Votes that are flagged.
    pub flagged: u64,
    /// Their share.
    pub flagged_share: f64,
    /// Lower end of Wilson's 95% interval of the share.
    pub flagged_low: f64,
    /// Upper end of it.
    pub flagged_high: f64,
    /// Probability of as many flags or more if flags did not care who voted.
    pub flagged_p: f64,
    /// The same after Holm's correction.
    pub flagged_p_adjusted: f64,
    /// Share of left choices; absent where items do not stand on sides.
    pub left_share: Option<f64>,
    /// Probability of a share as uneven if both sides were equally likely.
    pub left_p: Option<f64>,
    /// The same after Holm's correction.
    pub left_p_adjusted: Option<f64>,
}

impl ListingRow for SuspectRow {
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
        ]
    }
}

impl ListingRow for AnnotatorRow {
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

/// The list of one study, with what is said about it.
#[derive(Debug, Serialize)]
#[serde(bound = "R: ListingRow")]
pub struct Listing<R> {
    /// The value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What was read.
    pub input: InputSummary,
    /// How votes were flagged.
    pub method: MethodSummary,
    /// How many were.
    pub outliers: OutlierSummary,
    /// How the method ended.
    pub status: &'static str,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// The rows, under their own name.
    #[serde(flatten, serialize_with = "under_key")]
    pub rows: Vec<R>,
}

fn under_key<R: ListingRow, S: Serializer>(rows: &[R], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(R::KEY, rows)])
}

impl<R> Listing<R> {
    /// A list under the heading of its study's ranking.
    #[must_use]
    pub fn new(study: &RankTable, rows: Vec<R>) -> Self {
        Self {
            by: study.by.clone(),
            input: study.input,
            method: study.method.clone(),
            outliers: study.outliers,
            status: study.status,
            warnings: study.warnings.clone(),
            rows,
        }
    }
}

impl<R: ListingRow> Listing<R> {
    /// Lists as one table; with `--by` its value is the first column.
    #[must_use]
    pub fn table(lists: &[Self]) -> Table {
        let mut table = Table::default();
        if lists.iter().any(|list| list.by.is_some()) {
            let of = |list: &Self| std::iter::repeat_n(list.by.clone(), list.rows.len());
            table.push("by", Column::Text(lists.iter().flat_map(of).collect()));
        }
        let rows: Vec<&R> = lists.iter().flat_map(|list| &list.rows).collect();
        for (name, column) in R::columns(&rows) {
            table.push(name, column);
        }
        table
    }
}

/// Lists as a JSON document.
#[derive(Debug, Serialize)]
#[serde(bound = "R: ListingRow")]
pub struct ListingDocument<'a, R> {
    /// Name and version of this format.
    pub schema: &'static str,
    /// The list; absent with `--by`.
    #[serde(flatten)]
    pub listing: Option<&'a Listing<R>>,
    /// One list for each value of the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups_by: Option<&'a [Listing<R>]>,
    /// Rows that were not counted.
    pub rejected: &'a RejectedSummary,
}

impl<R: ListingRow> ListingDocument<'_, R> {
    /// Writes the document, indented.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        out.write_all(b"\n")
    }
}
