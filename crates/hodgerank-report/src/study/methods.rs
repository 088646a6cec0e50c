//! All methods side by side.

use hodgerank::{Ranking, kendall};

use super::order::{Order, label};
use super::slider::rounded;
use crate::chart::{Anchor, Axis, Chart, Colour, Curve, Hover, Mark, Shape, Ticks};
use crate::document::Section;
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::{listed, thousands};

/// Items in the bump chart.
const DRAWN: usize = 30;

pub(super) fn section(findings: &Findings<'_>, order: &Order) -> Section {
    let mut text = vec![format!(
        "The same votes by {} methods, each with as many votes set aside as in the ranking where \
         it can set votes aside. Lines that run level mean that the methods agree.",
        findings.methods.len()
    )];
    if !findings.left_out.is_empty() {
        let names: Vec<String> =
            findings.left_out.iter().map(|method| method.as_str().to_owned()).collect();
        text.push(format!(
            "Left out, because this is much data for them: {}. `hodgerank compare` runs those that \
             can.",
            listed(&names)
        ));
    }
    Section {
        id: "methods".to_owned(),
        title: "Do other methods agree?".to_owned(),
        text,
        charts: vec![bump(findings, order)],
        tables: vec![table(findings)],
    }
}

fn table(findings: &Findings<'_>) -> Table {
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
    Table {
        id: "methods".to_owned(),
        title: "Methods".to_owned(),
        note: None,
        columns: vec![
            Column::new("method", "method", Values::Text(fits.iter().map(name).collect())),
            Column::new("flagged", "flagged", Values::Whole(fits.iter().map(flagged).collect()))
                .with_hint("Votes set aside"),
            Column::new("tau", "τ with the ranking", tau(own))
                .with_hint("Kendall's τ: 1 is the same order, −1 the opposite one"),
            Column::new("tau_plain", "τ with plain", tau(plain))
                .with_hint("Kendall's τ with the order in which every vote counts"),
            Column::new(
                "status",
                "status",
                Values::Text(fits.iter().map(|fit| fit.status.to_string()).collect()),
            ),
        ],
    }
}

fn bump(findings: &Findings<'_>, order: &Order) -> Chart {
    let fits = &findings.methods;
    let graph = &findings.ranked.graph;
    let drawn = order.ranking.items.len().min(DRAWN);
    let items: Vec<u32> = order.ranking.items[..drawn].iter().map(|row| row.item).collect();
    // Places, not ranks: lines of equal ranks would cover each other.
    let places: Vec<Vec<u32>> = fits
        .iter()
        .map(|fit| {
            let mut place = vec![0; graph.items()];
            for (k, row) in Ranking::new(graph, &fit.scores).items.iter().enumerate() {
                place[row.item as usize] = k as u32 + 1;
            }
            items.iter().map(|&item| place[item as usize]).collect()
        })
        .collect();
    let row = |k: usize| places.iter().map(move |places| f64::from(places[k]));
    let changes = |k: usize| row(k).any(|place| place != f64::from(places[0][k]));
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
        let name = label(findings, items[k]);
        let y: Vec<f64> = row(k).collect();
        marks.push(Mark::Line {
            colour: colours[k],
            width: if changes(k) { 2.5 } else { 1.5 },
            dashed: false,
            curve: Curve::Smooth,
            x: x.clone(),
            y: y.clone(),
            hover: name.clone(),
        });
        let words = |(fit, place): (&hodgerank::fit::Fit, &f64)| {
            format!("{name}: place {place} by {}", fit.method.as_str())
        };
        let words = fits.iter().zip(&y).map(words).collect();
        marks.push(Mark::Points {
            colour: colours[k],
            shape: Shape::Circle,
            size: 3.5,
            x: x.clone(),
            y,
            hover: Hover::Words { words },
            follows: None,
        });
    }
    let last = fits.len() as f64 - 1.0;
    let deepest = places.iter().flatten().copied().max().unwrap_or(1);
    // A line that leaves the chart far below would squeeze the rest.
    let bottom = f64::from(deepest.min(2 * drawn as u32 + 2)) + 0.5;
    marks.push(Mark::Texts {
        colour: Colour::Ink,
        anchor: Anchor::Start,
        x: vec![last + 0.15; drawn],
        y: (0..drawn).map(|k| row(k).next_back().unwrap_or(0.0).min(bottom)).collect(),
        text: items.iter().map(|&item| label(findings, item)).collect(),
    });
    let names = fits.iter().map(|fit| fit.method.as_str().to_owned()).collect();
    let moving = (0..drawn).filter(|&k| changes(k)).count();
    Chart {
        id: "bump".to_owned(),
        title: "Places of the items by method".to_owned(),
        alt: format!(
            "One line for each item, from method to method at the height of its place. {moving} of \
             the {drawn} items drawn change their place between methods; the others keep it."
        ),
        note: (drawn < order.ranking.items.len()).then(|| {
            let all = thousands(order.ranking.items.len() as u64);
            format!("The best {drawn} of {all} items are drawn.")
        }),
        x: Axis { from: -0.3, to: last + 1.6, ..Axis::labels("method", names) },
        y: Axis { name: "place".to_owned(), from: bottom, to: 0.5, ticks: Ticks::Numbers },
        aspect: (0.12 + 0.028 * bottom).clamp(0.35, 1.4),
        marks,
        legend: Vec::new(),
    }
}
