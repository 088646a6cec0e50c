//! What a report says: the data of the page, which shows it as it is.
//!
//! Everything is words, charts and tables in sections, so that the page's script knows how to draw
//! but nothing of rankings. One thing is more: the [`Slider`], which chart and table rows follow.

use serde::Serialize;

use crate::chart::Chart;
use crate::table::Table;

/// A whole report.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// Name and version of this format: [`Document::SCHEMA`].
    pub schema: &'static str,
    /// What stands at the top, and in the browser's tab.
    pub title: String,
    /// Who made it, with the version.
    pub program: String,
    /// One study, or one for each value of the `--by` column.
    pub studies: Vec<StudyPage>,
}

impl Document {
    /// The version of this format.
    pub const SCHEMA: &'static str = "hodgerank/report/1";
}

/// What is said of one study.
#[derive(Debug, Clone, Serialize)]
pub struct StudyPage {
    /// The value of the `--by` column: its name in the chooser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Names of the items that tables speak of, in full.
    pub items: Vec<String>,
    /// The main figures: shown large.
    pub facts: Vec<Fact>,
    /// What came out, in sentences.
    pub summary: Vec<String>,
    /// What a reader must know before believing it.
    pub warnings: Vec<String>,
    /// The path; absent where the method has none or no vote can be flagged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slider: Option<Slider>,
    /// The rest, in the order of the page.
    pub sections: Vec<Section>,
}

/// A figure shown large.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// What it counts.
    pub name: String,
    /// The figure, ready to be shown.
    pub value: String,
}

/// A part of the page under one heading.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// Its place in the page's address: lower-case words joined by hyphens.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Paragraphs before the charts.
    pub text: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// The path from "trust everything" (stop 0) to "trust less", at a bounded number of its knots.
///
/// Rows are those of the tables whose `id` is [`RANKING`] and [`SUSPECTS`]. At a stop, the columns
/// `rank`, `score` and `flagged` of the ranking are those of the stop, and the suspects are those
/// flagged there. In the chart whose `id` is [`PATH`] a line marks `share` of the stop.
#[derive(Debug, Clone, Serialize)]
pub struct Slider {
    /// What runs along the path: `lambda` or `time`.
    pub parameter: &'static str,
    /// The stop at which the ranking of the report was taken.
    pub chosen: usize,
    /// λ or t at each stop.
    pub at: Vec<f64>,
    /// Votes flagged at each stop.
    pub flagged: Vec<u64>,
    /// Their share of all votes.
    pub share: Vec<f64>,
    /// Share of the votes' energy that the scores explain at each stop.
    pub explained: Vec<f64>,
    /// Share that trusted votes leave unexplained.
    pub unexplained: Vec<f64>,
    /// Share set aside with the flagged votes. The three sum to 1.
    pub set_aside: Vec<f64>,
    /// For each stop, the rank of each row of the ranking.
    pub ranks: Vec<Vec<u32>>,
    /// For each stop, the score of each row of the ranking.
    pub scores: Vec<Vec<f64>>,
    /// For each stop, the flagged votes of each row of the ranking.
    pub item_flagged: Vec<Vec<u64>>,
    /// For each row of the suspects, the stops at which it becomes flagged, trusted again, flagged
    /// again, and so on, in rising order.
    pub turns: Vec<Vec<u32>>,
}

/// The `id` of the table that ranks the items.
pub const RANKING: &str = "ranking";
/// The `id` of the table of the votes flagged somewhere on the path.
pub const SUSPECTS: &str = "suspects";
/// The `id` of the chart of the scores along the path.
pub const PATH: &str = "path";
