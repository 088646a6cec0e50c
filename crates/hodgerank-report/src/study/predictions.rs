//! The section with predictions: how probable it is that one item is preferred to another.

use hodgerank::predict::Prediction;
use hodgerank::scale::NoFactor;
use hodgerank::{Method, RankedItem};

use super::item_order::{ItemOrder, label};
use super::ranking::level;
use crate::chart::{Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, Ramp, Sign};
use crate::document::{Fold, Section};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{percent, thousands};

/// Maximum number of items up to which the cells of the matrix contain their values.
const MAX_WRITTEN: usize = 12;

/// Steps of the colour scale on which values are written in ink; on the others, in the colour of the page.
const LIGHT_STEPS: std::ops::RangeInclusive<f64> = 2.0..=8.0;

/// Steps of the colour scale that the legend shows.
const LEGEND_STEPS: [u8; 5] = [0, 2, 5, 8, 10];

pub(super) fn section(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    max_items: usize,
) -> Section {
    let mut section = Section::new("predictions", "Which item would win?", Fold::Screen);
    if let Some(reason) = findings.predictor.no_factor() {
        let why = no_probabilities(findings.ranked.fit.method, reason);
        section.text.push(format!("There are no probabilities here: {why}."));
        return section;
    }
    section
        .text
        .push("The probability that a careful annotator prefers one item to another.".to_owned());
    section.help.push(
        "The probabilities are for annotators who prefer one of the two items: ties, bad votes, lapses and the \
         advantage of a side are not part of them. `hodgerank predict` lists all pairs, and `hodgerank predict \
         --holdout 20%` checks such predictions on votes that the ranking has not seen."
            .to_owned(),
    );
    section.charts.extend(matrix(findings, order, max_items));
    section.tables.extend(neighbours(findings, order));
    section
}

/// Says why the scores of a method give no probabilities.
#[must_use]
pub fn no_probabilities(method: Method, reason: NoFactor) -> String {
    let why = match reason {
        NoFactor::Separable => {
            "no vote contradicts them, apart from lapses, so the votes do not say how large a \
             difference is"
        }
        _ => "the votes agree with them no more often than by chance",
    };
    format!("the scores of {method} give no probabilities: {why}")
}

/// Rounds to a tenth of a percent, which is what the page shows.
fn rounded(share: f64) -> f64 {
    (1000.0 * share).round() / 1000.0
}

fn interval(prediction: &Prediction) -> Option<(f64, f64)> {
    Some((rounded(prediction.low?), rounded(prediction.high?)))
}

/// A heat map of the best items. Pairs that no chain of votes connects, and the diagonal, are blank;
/// `None` if nothing is left.
fn matrix(findings: &StudyFindings<'_>, order: &ItemOrder, max_items: usize) -> Option<Chart> {
    let all = order.ranking.items.len();
    let rows = &order.ranking.items[..all.min(max_items)];
    let (mut x, mut y, mut value) = (Vec::new(), Vec::new(), Vec::new());
    let mut intervals = Vec::new();
    for (r, row) in rows.iter().enumerate() {
        for (c, column) in rows.iter().enumerate().filter(|&(c, _)| c != r) {
            let prediction = findings.predictor.predict(row.item, column.item);
            let Some(probability) = prediction.probability else { continue };
            x.push(c as f64);
            y.push(r as f64);
            value.push(rounded(probability));
            intervals.extend(interval(&prediction));
        }
    }
    if value.is_empty() {
        return None;
    }
    // Intervals are known for all pairs or for none, unless votes do not bound a difference.
    if intervals.len() < value.len() {
        intervals.clear();
    }
    let mut marks = vec![Mark::Cells {
        x: x.clone(),
        y: y.clone(),
        width: 1.0,
        height: 1.0,
        value: value.clone(),
        ramp: Ramp::Diverging,
        hover: Hover::Cells {
            name: "probability".to_owned(),
            interval: format!("{} interval", level(findings.ranked)),
            intervals,
        },
    }];
    if rows.len() <= MAX_WRITTEN {
        let is_strong = |p: f64| !LIGHT_STEPS.contains(&(10.0 * p).round());
        for (colour, strong) in [(Colour::Ink, false), (Colour::Paper, true)] {
            let of_colour = || (0..value.len()).filter(|&k| is_strong(value[k]) == strong);
            marks.push(Mark::Texts {
                colour,
                anchor: Anchor::Middle,
                x: of_colour().map(|k| x[k]).collect(),
                y: of_colour().map(|k| y[k]).collect(),
                text: of_colour().map(|k| format!("{:.0}", 100.0 * value[k])).collect(),
            });
        }
    }
    let labels = || rows.iter().map(|row| label(findings.ranked, row.item)).collect();
    let name = |step: u8| match step {
        0 => "0%: the item of the column is preferred".to_owned(),
        10 => "100%: the item of the row is preferred".to_owned(),
        step => format!("{}%", 10 * step),
    };
    let legend =
        LEGEND_STEPS.map(|step| LegendEntry::new(name(step), Colour::Diverging(step), Sign::Bar));
    let shown = rows.len();
    Some(Chart {
        id: "predictions".to_owned(),
        title: "Probability that the item of the row is preferred to that of the column".to_owned(),
        alt: format!(
            "A matrix of the {} in the order of the ranking. Blue cells: a careful annotator prefers the \
             item of the row; orange cells: that of the column. {} The table below has the probabilities of \
             neighbours in the ranking.",
            crate::words::counted(shown as u64, "best item", "best items"),
            examples(findings, rows),
        ),
        note: (shown < all)
            .then(|| format!("The best {shown} of {} items are shown.", thousands(all as u64))),
        x: Axis::labels("other item, best first", labels()),
        y: Axis::labels_down("preferred item, best first", labels()),
        aspect: 1.0,
        marks,
        legend: legend.to_vec(),
    })
}

/// Predictions of the first item, in words.
fn examples(findings: &StudyFindings<'_>, rows: &[RankedItem]) -> String {
    let [first, others @ ..] = rows else { return String::new() };
    let others: Vec<&RankedItem> =
        others.iter().filter(|row| row.component == first.component).collect();
    let ends = match &others[..] {
        [second, .., last] => vec![*second, *last],
        few => few.to_vec(),
    };
    let told = ends.iter().filter_map(|other| {
        let probability = findings.predictor.predict(first.item, other.item).probability?;
        Some(format!("to {} ({})", label(findings.ranked, other.item), percent(probability)))
    });
    let told: Vec<String> = told.collect();
    format!("{} is preferred {}.", label(findings.ranked, first.item), crate::words::listed(&told))
}

/// Predictions of neighbours in the ranking; `None` if there are none.
fn neighbours(findings: &StudyFindings<'_>, order: &ItemOrder) -> Option<PageTable> {
    let mut rows: Vec<usize> = (0..order.listed).collect();
    let row = |k: usize| &order.ranking.items[k];
    // Stable, so that items of equal rank stay in order.
    rows.sort_by_key(|&k| (row(k).component, row(k).rank));
    let pairs: Vec<(usize, usize)> = rows
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .filter(|&(a, b)| row(a).component == row(b).component)
        .collect();
    let predictions: Vec<Prediction> =
        pairs.iter().map(|&(a, b)| findings.predictor.predict(row(a).item, row(b).item)).collect();
    if predictions.is_empty() {
        return None;
    }
    let items = |of: fn(&(usize, usize)) -> usize| {
        Values::Item(pairs.iter().map(|pair| of(pair) as u32).collect())
    };
    let ranks = pairs.iter().map(|&(a, _)| Some(i64::from(row(a).rank))).collect();
    let probabilities = predictions.iter().map(|p| p.probability.map(rounded)).collect();
    let mut columns = vec![
        PageColumn::new("rank", "rank", Values::Whole(ranks)).with_hint("Rank of the first item"),
        PageColumn::new("item", "item", items(|pair| pair.0)),
        PageColumn::new("next", "preferred to", items(|pair| pair.1))
            .with_hint("The next item of the ranking"),
        PageColumn::new("probability", "probability", Values::Share(probabilities)).with_hint(
            "Probability that a careful annotator who prefers one of the two prefers the first",
        ),
    ];
    if predictions.iter().any(|prediction| prediction.low.is_some()) {
        let intervals = Values::Interval(predictions.iter().map(interval).collect());
        let name = format!("{} interval", level(findings.ranked));
        columns.push(PageColumn::new("interval", &name, intervals));
    }
    Some(PageTable {
        id: "neighbours".to_owned(),
        title: "Neighbours in the ranking".to_owned(),
        note: None,
        columns,
    })
}
