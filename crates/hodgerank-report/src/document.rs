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
    /// What the values of [`StudyPage::by`] are, if there are several studies: the `--by` column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
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
    /// How many votes agree with the ranking; absent if no vote can agree or disagree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<Headline>,
    /// The best items, on the first screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview: Option<Chart>,
    /// The results in three or four sentences, on the first screen.
    pub summary: Vec<Sentence>,
    /// Further results, folded.
    pub more: Vec<Sentence>,
    /// The size of the study in figures.
    pub facts: Vec<Fact>,
    /// Warnings about the data or the computation.
    pub warnings: Vec<String>,
    /// The path; absent if no vote is flagged anywhere on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slider: Option<Slider>,
    /// The sections, in the order of the page.
    pub sections: Vec<Section>,
}

/// The number of the first screen, and the sentence that it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Headline {
    /// The number: `74%`.
    pub value: String,
    /// The rest of the sentence.
    pub text: String,
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

/// A figure about the study.
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
    /// Whether it is folded, and what is printed.
    pub fold: Fold,
    /// Paragraphs before the charts.
    pub text: Vec<String>,
    /// Paragraphs that explain how to read charts and tables, folded and not printed.
    pub help: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<PageTable>,
}

/// Whether a section is folded at first. Readers can open and close all but the first kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// Always open.
    Never,
    /// Folded on the screen, printed in any case.
    Screen,
    /// Folded, and printed only if a reader has opened it.
    Detail,
}

impl Section {
    /// Returns a section without content.
    #[must_use]
    pub fn new(id: &str, title: &str, fold: Fold) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            fold,
            text: Vec::new(),
            help: Vec::new(),
            charts: Vec::new(),
            tables: Vec::new(),
        }
    }
}

/// The path from "no vote flagged" (stop 0) to "many votes flagged", at a bounded number of knots.
///
/// Rows refer to the tables [`RANKING`] and [`SUSPECTS`]. At a stop, the columns `rank`, `score` and
/// `flagged` of the ranking show the values of that stop, and the table of flagged votes lists those
/// flagged there. Its column `flagged` belongs to the report's ranking; at other stops all votes of a row
/// are flagged. The columns `margin` and `tier` and the ranges of ranks belong to the report's ranking and
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
    /// Share of all votes that are not flagged and agree with the scores, at each stop.
    pub agree: Vec<f64>,
    /// Share of all votes that are not flagged and contradict the scores. The rest are ties, or votes on
    /// items with equal scores.
    pub disagree: Vec<f64>,
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
