//! The ranking of a study that still collects votes: only what a fit says, because it is drawn anew every second.

use hodgerank::{RankedItem, RankedStudy};
use serde::Serialize;

use super::item_order::label;
use super::ranking::{PROVISIONAL, certainty, component, standing, votes};
use super::ranking_chart::{ScoreMarks, ranked_names};
use crate::chart::{Axis, Chart, Colour, Hover, Mark, Ticks};
use crate::document::RANKING;
use crate::findings::ReportInput;
use crate::table::PageTable;
use crate::words::{counted, thousands};

/// Maximum number of items in the chart.
const MAX_DRAWN: usize = 40;
/// Maximum number of rows of the table.
const MAX_LISTED: usize = 1_000;

/// The chart and the table of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveRanking {
    /// Full names of the items that the table refers to.
    pub items: Vec<String>,
    /// Scores with error bars and tiers; those of the largest component.
    pub chart: Chart,
    /// All items, best first.
    pub table: PageTable,
    /// How to read the chart.
    pub help: Option<String>,
}

/// Describes the ranking of a study; `None` without items.
#[must_use]
pub fn live_ranking(study: &RankedStudy) -> Option<LiveRanking> {
    let ranked = ReportInput::new(study, &[]);
    let all = &study.ranking.items;
    let listed = &all[..all.len().min(MAX_LISTED)];
    let is_connected = ranked.fit.components.len() == 1;
    let in_chart = |row: &&RankedItem| is_connected || row.component == 1;
    let shown: Vec<(u32, &RankedItem)> =
        (0..).zip(listed).filter(|(_, row)| in_chart(row)).take(MAX_DRAWN).collect();
    let rows: Vec<&RankedItem> = shown.iter().map(|(_, row)| *row).collect();
    let best = label(ranked, rows.first()?.item);
    let table_rows = shown.iter().map(|(k, _)| *k).collect();
    let scores = ScoreMarks::new(ranked, &rows, table_rows).with_tiers(&rows);
    let count = all.iter().filter(in_chart).count();
    let mut notes = Vec::new();
    if rows.len() < count {
        let count = thousands(count as u64);
        notes.push(format!("The best {} of {count} items are shown.", rows.len()));
    }
    if !is_connected {
        notes.push("Only the largest component; the others are ranked separately.".to_owned());
    }
    let provisional = all.iter().any(|row| row.provisional).then(|| PROVISIONAL.to_owned());
    let chart = Chart {
        id: "live".to_owned(),
        title: "Scores so far".to_owned(),
        alt: format!(
            "Each row is an item with its score so far; {best} is first. Error bars show how certain the \
             scores are, and bands which items form a tier. The table below has all values."
        ),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
        x: scores.x,
        y: Axis::labels_down("", ranked_names(ranked, &rows)),
        aspect: 0.08 + 0.034 * rows.len() as f64,
        marks: scores.marks,
        legend: scores.legend,
    };
    let mut columns = standing(ranked, listed);
    columns.push(votes(listed));
    columns.extend(component(ranked, listed));
    let title = "All items, best first".to_owned();
    let table = PageTable { id: RANKING.to_owned(), title, note: provisional, columns };
    let items = listed.iter().map(|row| study.items.name(row.item).to_owned()).collect();
    Some(LiveRanking { items, chart, table, help: certainty(ranked, false) })
}

/// The chart of the votes in each of the last minutes; `minutes[0]` is the last one.
#[must_use]
pub fn votes_per_minute(minutes: &[usize]) -> Chart {
    let most = minutes.iter().copied().max().unwrap_or(0);
    let ago = |k: usize| -(k as f64);
    let words = (0..).zip(minutes).map(|(k, &votes)| {
        let votes = counted(votes as u64, "vote", "votes");
        format!("{votes}, {} ago", counted(k + 1, "minute", "minutes"))
    });
    let bars = Mark::Bars {
        colour: Colour::Kind(0),
        x0: (0..minutes.len()).map(|k| ago(k) - 0.9).collect(),
        x1: (0..minutes.len()).map(|k| ago(k) - 0.1).collect(),
        y0: vec![0.0; minutes.len()],
        y1: minutes.iter().map(|&votes| votes as f64).collect(),
        hover: Hover::Words { words: words.collect() },
    };
    let axis =
        |name: &str, from, to| Axis { name: name.to_owned(), from, to, ticks: Ticks::Numbers };
    let last = minutes.first().copied().unwrap_or(0);
    Chart {
        id: "minutes".to_owned(),
        title: "Votes per minute".to_owned(),
        alt: format!(
            "A bar for each of the last {} minutes. There were {} in the last one, and at most {} in one.",
            minutes.len(),
            counted(last as u64, "vote", "votes"),
            thousands(most as u64)
        ),
        note: None,
        x: axis("minutes", ago(minutes.len()), 0.0),
        y: axis("votes", 0.0, most.max(1) as f64),
        aspect: 0.12,
        marks: vec![bars],
        legend: Vec::new(),
    }
}
