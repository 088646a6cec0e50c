//! The section with the ranking: robust and plain scores.

use super::item_order::{ItemOrder, label, rows_note};
use super::rounded::rounded;
use crate::chart::{Axis, Chart, Colour, Follows, Hover, LegendEntry, Mark, PointShape, Sign};
use crate::document::{RANKING, Section, Slider};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::thousands;

/// Maximum number of items in the chart.
const MAX_DRAWN: usize = 60;

const ROBUST: Colour = Colour::Kind(0);
const PLAIN: Colour = Colour::Kind(1);

pub(super) fn section(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    slider: Option<&Slider>,
) -> Section {
    let method = findings.ranked.fit.method;
    let text = match findings.flagged() {
        0 => format!("Method: {method}. No vote is flagged, so every vote counts."),
        flagged => format!(
            "Method: {method}; {} of {} votes are flagged. {}",
            thousands(flagged),
            thousands(findings.ranked.study.input.comparisons),
            match findings.ranked.fit.outcome_size {
                None => {
                    "The difference of two scores predicts the mean outcome of votes between the two \
                     items, where 1 means that every vote prefers the first. Plain scores use all \
                     votes (least squares)."
                }
                Some(_) => {
                    "If the scores of two items differ by 1, about 73 of 100 careful annotators \
                     prefer the first; by 2, 88; by 3, 95. Plain scores use all votes (least \
                     squares); they are shown in the same unit."
                }
            },
        ),
    };
    let text = match findings.ranked.fit.outcome_size {
        Some(_) if findings.flagged() == 0 => format!(
            "{text} If the scores of two items differ by 1, about 73 of 100 people prefer the first."
        ),
        _ => text,
    };
    Section {
        id: "ranking".to_owned(),
        title: "Ranking".to_owned(),
        text: vec![text],
        charts: vec![chart(findings, order, slider)],
        tables: vec![table(findings, order)],
    }
}

fn table(findings: &StudyFindings<'_>, order: &ItemOrder) -> PageTable {
    let rows = &order.ranking.items[..order.listed];
    let all = order.ranking.items.len();
    let whole = |pick: &dyn Fn(&hodgerank::RankedItem) -> i64| {
        Values::Whole(rows.iter().map(|row| Some(pick(row))).collect())
    };
    let largest = rows.iter().fold(0.0f64, |max, row| max.max(row.score.abs()));
    let number = |pick: &dyn Fn(&hodgerank::RankedItem) -> f64| {
        Values::Number(rows.iter().map(|row| Some(rounded(pick(row), largest))).collect())
    };
    let plain = |row: &hodgerank::RankedItem| i64::from(order.plain_rank[row.item as usize]);
    let mut columns = vec![
        PageColumn::new("rank", "rank", whole(&|row| i64::from(row.rank))),
        PageColumn::new("item", "item", Values::Item((0..rows.len() as u32).collect())),
        PageColumn::new("score", "score", number(&|row| row.score)).with_hint(
            match findings.ranked.fit.outcome_size {
                None => "The difference of two scores predicts the mean outcome between two items",
                Some(_) => "Log-odds: at a difference of 1, 73 of 100 people prefer the first item",
            },
        ),
        PageColumn::new("plain_rank", "plain rank", whole(&plain))
            .with_hint("Rank by all votes (least squares)"),
        PageColumn::new(
            "plain_score",
            "plain score",
            number(&|row| order.plain_score[row.item as usize]),
        )
        .with_hint("Score by all votes (least squares)"),
        PageColumn::new("flagged", "flagged", whole(&|row| row.flagged as i64))
            .with_hint("Flagged votes on this item"),
        PageColumn::new("votes", "votes", whole(&|row| row.comparisons as i64))
            .with_hint("Votes on this item"),
        PageColumn::new("wins", "wins", whole(&|row| row.wins as i64)),
        PageColumn::new("losses", "losses", whole(&|row| row.losses as i64)),
        PageColumn::new("ties", "ties", whole(&|row| row.ties as i64)),
    ];
    if findings.ranked.fit.components.len() > 1 {
        let component =
            PageColumn::new("component", "component", whole(&|row| row.component.into()));
        columns.push(
            component.with_hint("Ranks and scores of different components cannot be compared"),
        );
    }
    let note = (order.listed < all).then(|| {
        format!(
            "Only the best {} of {} items are listed; `hodgerank rank` lists all.",
            thousands(order.listed as u64),
            thousands(all as u64)
        )
    });
    PageTable { id: RANKING.to_owned(), title: "All items, best first".to_owned(), note, columns }
}

fn chart(findings: &StudyFindings<'_>, order: &ItemOrder, slider: Option<&Slider>) -> Chart {
    // Points refer to rows of the page's table, so only listed items can be shown.
    let shown: Vec<usize> = if order.listed < order.ranking.items.len() {
        (0..MAX_DRAWN.min(order.listed)).collect()
    } else {
        order.best_and_worst(MAX_DRAWN)
    };
    let rows: Vec<&hodgerank::RankedItem> =
        shown.iter().map(|&k| &order.ranking.items[k]).collect();
    let plain: Vec<f64> = rows.iter().map(|row| order.plain_score[row.item as usize]).collect();
    let robust: Vec<f64> = rows.iter().map(|row| row.score + 0.0).collect();
    let y: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();
    let hover = || Hover::Rows {
        table: RANKING.to_owned(),
        rows: shown.iter().map(|&k| k as u32).collect(),
    };
    let labels = rows.iter().map(|row| label(findings, row.item)).collect();
    let all = order.ranking.items.len();
    let note = if order.listed < all {
        Some(format!("Only the best {} of {} items are shown.", rows.len(), thousands(all as u64)))
    } else {
        rows_note(rows.len(), all)
    };
    let points = |colour, shape, size, x: Vec<f64>, follows| Mark::Points {
        colour,
        shape,
        size,
        x,
        y: y.clone(),
        hover: hover(),
        follows,
    };
    // The axis includes the scores at every stop of the slider.
    let moved = slider.iter().flat_map(|slider| &slider.scores);
    let moved = moved.flat_map(|scores| shown.iter().map(|&row| scores[row]));
    let x = Axis::numbers("score", plain.iter().chain(&robust).copied().chain(moved));
    let marks = vec![
        Mark::Segments {
            colour: Colour::Faint,
            width: 2.0,
            arrow: false,
            x0: plain.clone(),
            y0: y.clone(),
            x1: robust.clone(),
            y1: y.clone(),
            hover: Hover::Nothing,
        },
        points(PLAIN, PointShape::Diamond, 4.0, plain, None),
        points(ROBUST, PointShape::Circle, 5.0, robust, Some(Follows::Scores)),
    ];
    let best = order.ranking.items.first().map_or(String::new(), |row| label(findings, row.item));
    let worst = order.ranking.items.last().map_or(String::new(), |row| label(findings, row.item));
    Chart {
        id: "ranking".to_owned(),
        title: "Robust and plain scores".to_owned(),
        alt: format!(
            "Each row is an item, best at the top, with its robust score and its plain score by all \
             votes. {best} is first and {worst} last. The table below has all values."
        ),
        note,
        x,
        y: Axis::labels_down("item", labels),
        aspect: (0.12 + 0.032 * rows.len() as f64).max(0.3),
        marks,
        legend: vec![
            LegendEntry::new("robust", ROBUST, Sign::Point(PointShape::Circle)),
            LegendEntry::new("plain (all votes)", PLAIN, Sign::Point(PointShape::Diamond)),
        ],
    }
}
