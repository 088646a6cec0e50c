//! The section that compares all methods.

use hodgerank::{Ranking, kendall};

use super::item_order::{ItemOrder, label};
use super::rounded::rounded;
use crate::chart::{Anchor, Axis, Chart, Colour, Hover, LineCurve, Mark, PointShape, Ticks};
use crate::document::{Fold, Section};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, listed, thousands};

/// Maximum number of items in the bump chart.
const MAX_DRAWN: usize = 30;

pub(super) fn section(findings: &StudyFindings<'_>, order: &ItemOrder) -> Section {
    let mut section = Section::new("methods", "Do other methods agree?", Fold::Detail);
    section.text.push(format!(
        "The same votes ranked by {}. Where lines are horizontal, the methods agree.",
        counted(findings.methods.len() as u64, "method", "methods")
    ));
    section.help.push(
        "Robust methods decide how many votes they flag by the same rule as the ranking, as `hodgerank compare` \
         does."
            .to_owned(),
    );
    if !findings.left_out.is_empty() {
        let names: Vec<String> =
            findings.left_out.iter().map(|method| method.as_str().to_owned()).collect();
        section.text.push(format!(
            "Left out, because the study is too large for them: {}. `hodgerank compare` runs more \
             methods but can take long.",
            listed(&names)
        ));
    }
    section.charts.push(bump(findings, order));
    section.tables.push(table(findings));
    section
}

fn table(findings: &StudyFindings<'_>) -> PageTable {
    let fits = &findings.methods;
    let own = &findings.ranked.fit.scores;
    let plain = &findings.all_votes.scores;
    let tau = |scores: &[f64]| {
        Values::Number(
            fits.iter().map(|fit| Some(rounded(kendall::tau(&fit.scores, scores), 1.0))).collect(),
        )
    };
    let name = |fit: &hodgerank::fit::Fit| fit.method.as_str().to_owned();
    let flagged = |fit: &hodgerank::fit::Fit| Some(fit.flagged.iter().sum::<f64>() as i64);
    PageTable {
        id: "methods".to_owned(),
        title: "Methods".to_owned(),
        note: None,
        columns: vec![
            PageColumn::new("method", "method", Values::Text(fits.iter().map(name).collect())),
            PageColumn::new(
                "flagged",
                "flagged",
                Values::Whole(fits.iter().map(flagged).collect()),
            )
            .with_hint("Number of flagged votes"),
            PageColumn::new("tau", "τ with the ranking", tau(own)).with_hint(
                "Kendall's τ with this report's ranking: 1 is the same order, −1 the opposite",
            ),
            PageColumn::new("tau_plain", "τ with plain", tau(plain))
                .with_hint("Kendall's τ with the ranking by all votes (least squares)"),
            PageColumn::new(
                "status",
                "status",
                Values::Text(fits.iter().map(|fit| fit.status.to_string()).collect()),
            ),
        ],
    }
}

fn bump(findings: &StudyFindings<'_>, order: &ItemOrder) -> Chart {
    let fits = &findings.methods;
    let graph = findings.ranked.graph;
    let drawn = order.ranking.items.len().min(MAX_DRAWN);
    let items: Vec<u32> = order.ranking.items[..drawn].iter().map(|row| row.item).collect();
    // Positions instead of ranks: lines of items that share a rank would overlap.
    let positions: Vec<Vec<u32>> = fits
        .iter()
        .map(|fit| {
            let mut position = vec![0; graph.items()];
            let ranking = Ranking::within(graph, &fit.components, &fit.scores);
            for (k, row) in ranking.items.iter().enumerate() {
                position[row.item as usize] = k as u32 + 1;
            }
            items.iter().map(|&item| position[item as usize]).collect()
        })
        .collect();
    let row = |k: usize| positions.iter().map(move |positions| f64::from(positions[k]));
    let changes = |k: usize| row(k).any(|position| position != f64::from(positions[0][k]));
    let x: Vec<f64> = (0..fits.len()).map(|m| m as f64).collect();
    let mut colours = (0..drawn)
        .map(|k| (k, changes(k)))
        .fold((Vec::new(), 0u8), |(mut colours, next), (_, changes)| {
            colours.push(if changes { Colour::Kind(next) } else { Colour::Muted });
            (colours, next.wrapping_add(u8::from(changes)) % 8)
        })
        .0;
    if colours.iter().all(|&colour| colour == Colour::Muted) {
        colours.fill(Colour::Kind(0));
    }
    let mut marks = Vec::new();
    for k in 0..drawn {
        let name = label(findings.ranked, items[k]);
        let y: Vec<f64> = row(k).collect();
        marks.push(Mark::Line {
            colour: colours[k],
            width: if changes(k) { 2.5 } else { 1.5 },
            dashed: false,
            curve: LineCurve::Smooth,
            x: x.clone(),
            y: y.clone(),
            hover: name.clone(),
        });
        let words = |(fit, position): (&hodgerank::fit::Fit, &f64)| {
            format!("{name}: place {position} by {}", fit.method)
        };
        let words = fits.iter().zip(&y).map(words).collect();
        marks.push(Mark::Points {
            colour: colours[k],
            shape: PointShape::Circle,
            size: 3.5,
            x: x.clone(),
            y,
            hover: Hover::Words { words },
            follows: None,
        });
    }
    let last = fits.len() as f64 - 1.0;
    let lowest = positions.iter().flatten().copied().max().unwrap_or(1);
    // Limits the axis: a line far below the others would compress them.
    let bottom = f64::from(lowest.min(2 * drawn as u32 + 2)) + 0.5;
    marks.push(Mark::Texts {
        colour: Colour::Ink,
        anchor: Anchor::Start,
        x: vec![last + 0.15; drawn],
        y: (0..drawn).map(|k| row(k).next_back().unwrap_or(0.0).min(bottom)).collect(),
        text: items.iter().map(|&item| label(findings.ranked, item)).collect(),
    });
    let names = fits.iter().map(|fit| fit.method.as_str().to_owned()).collect();
    let moving = (0..drawn).filter(|&k| changes(k)).count();
    Chart {
        id: "bump".to_owned(),
        title: "Place of the items by method".to_owned(),
        alt: format!(
            "One line per item, at the height of its place by each method. Items whose place depends on \
             the method: {moving} of the {drawn} shown."
        ),
        note: (drawn < order.ranking.items.len()).then(|| {
            let all = thousands(order.ranking.items.len() as u64);
            format!("The best {drawn} of {all} items are shown.")
        }),
        x: Axis { from: -0.3, to: last + 1.6, ..Axis::labels("method", names) },
        y: Axis { name: "place".to_owned(), from: bottom, to: 0.5, ticks: Ticks::Numbers },
        aspect: (0.12 + 0.028 * bottom).clamp(0.35, 1.4),
        marks,
        legend: Vec::new(),
    }
}
