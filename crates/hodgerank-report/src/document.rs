//! The data of a report, which the page's script displays.
//!
//! A report consists of sections with texts, charts and tables, so that the script contains no
//! knowledge about rankings. The exception is the [`Slider`], which charts and tables follow.

use serde::Serialize;

use crate::chart::Chart;
use crate::table::PageTable;

/// A report on one or more studies.
#[derive(Debug, Clone, Serialize)]
pub struct ReportPage {
    /// Name and version of this format: [`ReportPage::SCHEMA`].
    pub schema: &'static str,
    /// The heading, also shown in the browser's tab.
    pub title: String,
    /// Name and version of the program that wrote it.
    pub program: String,
    /// One study, or one for each value of the `--by` column.
    pub studies: Vec<StudyPage>,
}

impl ReportPage {
    /// Name and version of this format.
    pub const SCHEMA: &'static str = "hodgerank/report/1";
}

/// The part of a report about one study.
#[derive(Debug, Clone, Serialize)]
pub struct StudyPage {
    /// The value of the `--by` column, by which readers choose the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Full names of the items that tables refer to.
    pub items: Vec<String>,
    /// The main figures, shown large.
    pub facts: Vec<Fact>,
    /// The results in a few sentences.
    pub summary: Vec<Sentence>,
    /// Warnings about the data or the computation.
    pub warnings: Vec<String>,
    /// The path; absent if no vote is flagged anywhere on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slider: Option<Slider>,
    /// The sections, in the order of the page.
    pub sections: Vec<Section>,
}

/// A sentence or two of the summary.
#[derive(Debug, Clone, Serialize)]
pub struct Sentence {
    /// The text.
    pub text: String,
    /// `id` of the section that says more, to which the page links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<&'static str>,
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self { text, section: None }
    }
}

/// A main figure, shown large.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// What the figure measures.
    pub name: String,
    /// The formatted value.
    pub value: String,
}

/// A section of the page.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// Anchor in the page's address: lower-case words joined by hyphens.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Paragraphs before the charts.
    pub text: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<PageTable>,
}

/// The path from "no vote flagged" (stop 0) to "many votes flagged", at a bounded number of knots.
///
/// Rows refer to the tables [`RANKING`] and [`SUSPECTS`]. At a stop, the columns `rank`, `score` and
/// `flagged` of the ranking show the values of that stop, and the table of flagged votes lists those
/// flagged there. The columns `margin` and `tier` and the ranges of ranks belong to the report's ranking and
/// are shown at its stop only. In the chart [`PATH`] a line marks the stop's `share`.
#[derive(Debug, Clone, Serialize)]
pub struct Slider {
    /// The parameter of the path: `lambda` or `time`.
    pub parameter: &'static str,
    /// The stop that corresponds to the report's ranking.
    pub chosen: usize,
    /// λ or t at each stop.
    pub at: Vec<f64>,
    /// Votes flagged at each stop.
    pub flagged: Vec<u64>,
    /// Flagged votes as a share of all votes, at each stop.
    pub share: Vec<f64>,
    /// Share of the votes' energy that the scores explain, at each stop.
    pub explained: Vec<f64>,
    /// Share of the energy that is the residual of the votes that are not flagged.
    pub unexplained: Vec<f64>,
    /// Share of the energy that belongs to flagged votes. The three shares sum to 1.
    #[serde(rename = "set_aside")]
    pub flagged_energy: Vec<f64>,
    /// For each stop, the rank of each row of the ranking.
    pub ranks: Vec<Vec<u32>>,
    /// For each stop, the score of each row of the ranking.
    pub scores: Vec<Vec<f64>>,
    /// For each stop, the number of flagged votes of each row of the ranking.
    pub item_flagged: Vec<Vec<u64>>,
    /// For each row of [`SUSPECTS`], the stops at which it changes: flagged, not flagged, flagged
    /// again, and so on, in increasing order.
    pub turns: Vec<Vec<u32>>,
}

/// `id` of the table that ranks the items.
pub const RANKING: &str = "ranking";
/// `id` of the table of votes that are flagged somewhere on the path.
pub const SUSPECTS: &str = "suspects";
/// `id` of the chart of scores along the path.
pub const PATH: &str = "path";
