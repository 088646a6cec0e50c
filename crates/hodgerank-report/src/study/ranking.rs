//! The ranking: robust beside plain.

use super::order::{Order, label, rows_note};
use super::slider::rounded;
use crate::chart::{Axis, Chart, Colour, Follows, Hover, LegendEntry, Mark, Shape, Sign};
use crate::document::{RANKING, Section, Slider};
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::thousands;

/// Items in the chart.
const DRAWN: usize = 60;

pub(super) const ROBUST: Colour = Colour::Kind(0);
pub(super) const PLAIN: Colour = Colour::Kind(1);

pub(super) fn section(findings: &Findings<'_>, order: &Order, slider: Option<&Slider>) -> Section {
    let method = findings.ranked.fit.method.as_str();
    let text = match findings.flagged() {
        0 => format!("Scores by {method}; no vote is flagged, so every vote counts."),
        flagged => format!(
            "Scores by {method}, with {} of {} votes set aside. A score is a place on the scale of \
             the votes: the difference of two scores is the outcome to expect between two items, \
             where 1 means that every vote prefers the first. \"Plain\" trusts every vote.",
            thousands(flagged),
            thousands(findings.ranked.input.comparisons),
        ),
    };
    Section {
        id: "ranking".to_owned(),
        title: "Ranking".to_owned(),
        text: vec![text],
        charts: vec![chart(findings, order, slider)],
        tables: vec![table(findings, order)],
    }
}

fn table(findings: &Findings<'_>, order: &Order) -> Table {
    let rows = &order.ranking.items[..order.listed];
    let all = order.ranking.items.len();
    let whole = |pick: &dyn Fn(&hodgerank::RankedItem) -> i64| {
        Values::Whole(rows.iter().map(|row| Some(pick(row))).collect())
    };
    let largest = rows.iter().fold(0.0f64, |most, row| most.max(row.score.abs()));
    let number = |pick: &dyn Fn(&hodgerank::RankedItem) -> f64| {
        Values::Number(rows.iter().map(|row| Some(rounded(pick(row), largest))).collect())
    };
    let plain = |row: &hodgerank::RankedItem| i64::from(order.plain_rank[row.item as usize]);
    let mut columns = vec![
        Column::new("rank", "rank", whole(&|row| i64::from(row.rank))),
        Column::new("item", "item", Values::Item((0..rows.len() as u32).collect())),
        Column::new("score", "score", number(&|row| row.score))
            .with_hint("Difference of two scores: the outcome to expect between two items"),
        Column::new("plain_rank", "plain rank", whole(&plain))
            .with_hint("Rank when every vote counts"),
        Column::new(
            "plain_score",
            "plain score",
            number(&|row| order.plain_score[row.item as usize]),
        )
        .with_hint("Score when every vote counts"),
        Column::new("flagged", "flagged", whole(&|row| row.flagged as i64))
            .with_hint("Votes on this item that are not trusted"),
        Column::new("votes", "votes", whole(&|row| row.comparisons as i64))
            .with_hint("Votes in which this item took part"),
        Column::new("wins", "wins", whole(&|row| row.wins as i64)),
        Column::new("losses", "losses", whole(&|row| row.losses as i64)),
        Column::new("ties", "ties", whole(&|row| row.ties as i64)),
    ];
    if findings.ranked.graph.components().len() > 1 {
        let component = Column::new("component", "component", whole(&|row| row.component.into()));
        columns
            .push(component.with_hint("Ranks and scores of different components do not compare"));
    }
    let note = (order.listed < all).then(|| {
        format!(
            "The best {} of {} items are listed; `hodgerank rank` writes all.",
            thousands(order.listed as u64),
            thousands(all as u64)
        )
    });
    Table { id: RANKING.to_owned(), title: "All items, best first".to_owned(), note, columns }
}

fn chart(findings: &Findings<'_>, order: &Order, slider: Option<&Slider>) -> Chart {
    // The page's table must have the rows that the points speak of.
    let shown = order.ends(DRAWN);
    let shown: Vec<usize> = if order.listed < order.ranking.items.len() {
        (0..DRAWN.min(order.listed)).collect()
    } else {
        shown
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
        Some(format!("The best {} of {} items are drawn.", rows.len(), thousands(all as u64)))
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
    // Points that follow the slider stay inside.
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
        points(PLAIN, Shape::Diamond, 4.0, plain, None),
        points(ROBUST, Shape::Circle, 5.0, robust, Some(Follows::Scores)),
    ];
    let best = order.ranking.items.first().map_or(String::new(), |row| label(findings, row.item));
    let worst = order.ranking.items.last().map_or(String::new(), |row| label(findings, row.item));
    Chart {
        id: "ranking".to_owned(),
        title: "Scores, robust and plain".to_owned(),
        alt: format!(
            "Each row is an item, best on top, with its robust score and its score when every vote \
             counts. {best} is first and {worst} last. The table below has all values."
        ),
        note,
        x,
        y: Axis::labels_down("item", labels),
        aspect: (0.12 + 0.032 * rows.len() as f64).max(0.3),
        marks,
        legend: vec![
            LegendEntry::new("robust", ROBUST, Sign::Point(Shape::Circle)),
            LegendEntry::new("plain (every vote counts)", PLAIN, Sign::Point(Shape::Diamond)),
        ],
    }
}
