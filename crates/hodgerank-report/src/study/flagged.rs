//! The section about flagged votes: a map of items against items, arrows, and a list.

use super::item_order::{ItemOrder, label};
use super::rounded::rounded;
use super::suspects::Suspects;
use crate::chart::{
    Axis, Chart, Colour, Follows, Hover, LegendEntry, LineCurve, Mark, PointShape, Sign, Ticks,
};
use crate::document::{Fold, SUSPECTS, Section};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, percent, thousands};

/// Votes are coloured in bands of this share of all votes, as in the paper.
const BAND_SHARE: f64 = 0.05;
/// Number of bands; the last one contains all remaining votes.
const BANDS: usize = 5;
/// Maximum number of items up to which the map's axes show names.
const MAX_NAMED: usize = 40;
/// Maximum number of distinct votes drawn as arrows.
const MAX_ARROWS: usize = 40;

const SHAPES: [(PointShape, &str); 3] = [
    (PointShape::Circle, "also flagged by all other robust methods"),
    (PointShape::Triangle, "also flagged by some other robust methods"),
    (PointShape::Square, "flagged by no other robust method"),
];

pub(super) fn section(
    findings: &StudyFindings<'_>,
    order: &mut ItemOrder,
    suspects: &Suspects,
) -> Section {
    let mut section = Section::new("flagged", "Flagged votes", Fold::Screen);
    let flagged = findings.flagged();
    section.text.push(match flagged {
        0 => "No vote is flagged.".to_owned(),
        flagged => format!(
            "{} {} flagged ({} of all votes, {}). A flagged vote can still be an honest one, so check it \
             before you discard it.",
            counted(flagged, "vote", "votes"),
            if flagged == 1 { "is" } else { "are" },
            percent(findings.ranked.study.outliers.fraction),
            counted(suspects.in_ranking as u64, "distinct vote", "distinct votes"),
        ),
    });
    if suspects.groups.is_empty() {
        return section;
    }
    if flagged == 0 {
        section.text.push(
            "Move the slider to see which votes would be flagged first if some had to be."
                .to_owned(),
        );
    }
    section.help.push(
        "Votes on the same two items with the same outcome are one distinct vote. Where annotators are \
         known, some of these votes can be flagged and others not, depending on who gave them. Otherwise votes \
         are flagged that contradict the ranking strongly."
            .to_owned(),
    );
    section.charts.push(map(findings, order, suspects));
    let shown = suspects.flagged_in_ranking();
    if !shown.groups.is_empty() {
        section.charts.push(arrows(findings, order, &shown));
    }
    section.tables.push(list(findings, order, suspects));
    section
}

/// Returns the preferred item of a distinct vote, then the other one. A tie counts as a preference
/// for the item with the lower score, because the scores predict the opposite.
fn preferred(findings: &StudyFindings<'_>, g: u32) -> (u32, u32) {
    let groups = findings.ranked.graph.groups();
    let scores = &findings.ranked.fit.scores;
    let g = g as usize;
    let (left, right, y) = (groups.left[g], groups.right[g], groups.y[g]);
    let is_right = y < 0.0 || (y == 0.0 && scores[left as usize] > scores[right as usize]);
    if is_right { (right, left) } else { (left, right) }
}

fn list(findings: &StudyFindings<'_>, order: &mut ItemOrder, suspects: &Suspects) -> PageTable {
    let groups = findings.ranked.graph.groups();
    let scores = &findings.ranked.fit.scores;
    let listed = &suspects.groups;
    let pairs: Vec<(u32, u32)> = listed
        .iter()
        .map(|&g| {
            let (first, second) = preferred(findings, g);
            (order.index(first), order.index(second))
        })
        .collect();
    let residual = |&g: &u32| {
        let (first, second) = preferred(findings, g);
        let difference = scores[first as usize] - scores[second as usize];
        let residual = findings.ranked.fit.residual(groups.y[g as usize].abs(), difference);
        Some(rounded(residual, 10.0))
    };
    let whole = |values: Vec<i64>| Values::Whole(values.into_iter().map(Some).collect());
    let outcome = |&g: &u32| Some(groups.y[g as usize].abs());
    let mut columns = vec![
        PageColumn::new("order", "order", whole((1..=listed.len() as i64).collect()))
            .with_hint("Order of suspicion: 1 is the most suspicious"),
        PageColumn::new(
            "preferred",
            "vote prefers",
            Values::Item(pairs.iter().map(|p| p.0).collect()),
        ),
        PageColumn::new("other", "to", Values::Item(pairs.iter().map(|p| p.1).collect())),
        PageColumn::new("outcome", "outcome", Values::Number(listed.iter().map(outcome).collect()))
            .with_hint("How strongly the vote prefers the first item; 0 is a tie"),
        PageColumn::new(
            "flagged",
            "flagged",
            whole(suspects.flagged.iter().map(|&votes| votes as i64).collect()),
        )
        .with_hint("How many of these votes are flagged"),
        PageColumn::new(
            "votes",
            "votes",
            whole(listed.iter().map(|&g| groups.weight[g as usize] as i64).collect()),
        )
        .with_hint("Votes on these items with this outcome"),
        PageColumn::new(
            "residual",
            "residual",
            Values::Number(listed.iter().map(residual).collect()),
        )
        .with_hint("The outcome minus the outcome that the scores predict"),
        PageColumn::new(
            "agreeing",
            "also flagged by",
            whole(suspects.agreeing.iter().map(|&n| i64::from(n)).collect()),
        )
        .with_hint(&format!(
            "How many of the {} other robust methods flag such votes",
            suspects.others
        )),
    ];
    if suspects.entered.iter().any(Option::is_some) {
        let round = |at: &Option<f64>| at.map(|at| rounded(at, 1.0));
        let entered = Values::Number(suspects.entered.iter().map(round).collect());
        columns.push(
            PageColumn::new("entered", "flagged at", entered)
                .with_hint("λ or time t of the path at which they are first flagged"),
        );
    }
    let note = (suspects.left_out > 0).then(|| {
        format!(
            "Only the {} most suspicious distinct votes are listed; {} more would be flagged at some stop \
             of the slider. `hodgerank outliers` lists all that are flagged.",
            thousands(listed.len() as u64),
            thousands(suspects.left_out as u64),
        )
    });
    PageTable {
        id: SUSPECTS.to_owned(),
        title: "Flagged votes, most suspicious first".to_owned(),
        note,
        columns,
    }
}

/// A map of preferred item against other item, both in the order of the ranking.
fn map(findings: &StudyFindings<'_>, order: &ItemOrder, suspects: &Suspects) -> Chart {
    let all = order.ranking.items.len();
    let band = |k: usize| ((suspects.depth[k] / BAND_SHARE) as usize).min(BANDS - 1);
    let shape = |k: usize| match suspects.agreeing[k] {
        n if n == suspects.others && n > 0 => 0,
        0 => 2,
        _ => 1,
    };
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); BANDS * SHAPES.len()];
    for k in 0..suspects.groups.len() {
        bins[band(k) * SHAPES.len() + shape(k)].push(k as u32);
    }
    // Names are at 0, 1, 2, …; numbers of places start at 1.
    let first = if all <= MAX_NAMED { 0.0 } else { 1.0 };
    let (start, end) = (first - 0.5, first + all as f64 - 0.5);
    let position = |item: u32| first + f64::from(order.position[item as usize]);
    let size = (120.0 / all as f64).clamp(1.6, 6.0);
    let mut marks = vec![Mark::Line {
        colour: Colour::Faint,
        width: 1.0,
        dashed: true,
        curve: LineCurve::Straight,
        x: vec![start, end],
        y: vec![start, end],
        hover: String::new(),
    }];
    // The most suspicious votes are drawn last, on top.
    for bin in (0..bins.len()).rev().filter(|&bin| !bins[bin].is_empty()) {
        let rows = &bins[bin];
        let ends = |&k: &u32| preferred(findings, suspects.groups[k as usize]);
        marks.push(Mark::Points {
            colour: band_colour(bin / SHAPES.len()),
            shape: SHAPES[bin % SHAPES.len()].0,
            size,
            x: rows.iter().map(|k| position(ends(k).1)).collect(),
            y: rows.iter().map(|k| position(ends(k).0)).collect(),
            hover: Hover::Rows { table: SUSPECTS.to_owned(), rows: rows.clone() },
            follows: Some(Follows::Flags),
        });
    }
    let used = |b: usize| (0..SHAPES.len()).any(|s| !bins[b * SHAPES.len() + s].is_empty());
    let mut legend: Vec<LegendEntry> = (0..BANDS)
        .filter(|&b| used(b))
        .map(|b| {
            let (from, to) = (100.0 * BAND_SHARE * b as f64, 100.0 * BAND_SHARE * (b + 1) as f64);
            let name = match b {
                0 => format!("most suspicious {to:.0}% of votes"),
                b if b + 1 == BANDS => format!("beyond {from:.0}%"),
                _ => format!("{from:.0}% to {to:.0}%"),
            };
            LegendEntry::new(name, band_colour(b), Sign::Bar)
        })
        .collect();
    let seen = |s: usize| (0..BANDS).any(|b| !bins[b * SHAPES.len() + s].is_empty());
    let signs = SHAPES.iter().enumerate().filter(|&(s, _)| seen(s));
    legend.extend(
        signs.map(|(_, &(shape, name))| LegendEntry::new(name, Colour::Muted, Sign::Point(shape))),
    );
    let axis = |name: &str, down: bool| {
        let labels =
            || order.ranking.items.iter().map(|row| label(findings.ranked, row.item)).collect();
        let name = format!("{name}, best first");
        if all <= MAX_NAMED {
            return if down {
                Axis::labels_down(&name, labels())
            } else {
                Axis::labels(&name, labels())
            };
        }
        let (from, to) = if down { (end, start) } else { (start, end) };
        Axis { name: format!("{name} (place in the ranking)"), from, to, ticks: Ticks::Numbers }
    };
    let shown = suspects.flagged_in_ranking();
    let upsets = shown.groups.iter().filter(|&&g| {
        let (first, second) = preferred(findings, g);
        order.position[first as usize] > order.position[second as usize]
    });
    Chart {
        id: "outlier-map".to_owned(),
        title: "Map of flagged votes".to_owned(),
        alt: format!(
            "Each mark is a distinct vote: its row is the item that the vote prefers, its column \
             the other item, both in the order of the ranking. Marks below the dashed line prefer \
             the item that ranks lower: {} of {} ({}) do. Darker marks are more suspicious.",
            thousands(upsets.count() as u64),
            counted(shown.groups.len() as u64, "distinct vote", "distinct votes"),
            counted(shown.listed_votes(), "flagged vote", "flagged votes"),
        ),
        note: (shown.left_out > 0).then(|| {
            let shown = thousands(shown.groups.len() as u64);
            format!(
                "{shown} of {} distinct votes are shown.",
                thousands(suspects.in_ranking as u64)
            )
        }),
        x: axis("other item", false),
        y: axis("preferred item", true),
        aspect: 0.8,
        marks,
        legend,
    }
}

fn band_colour(band: usize) -> Colour {
    Colour::Step([9, 6, 4, 3, 2][band])
}

/// The most suspicious votes as arrows to the items that they prefer.
fn arrows(findings: &StudyFindings<'_>, order: &ItemOrder, suspects: &Suspects) -> Chart {
    let drawn = suspects.groups.len().min(MAX_ARROWS);
    let ends: Vec<(u32, u32)> =
        suspects.groups[..drawn].iter().map(|&g| preferred(findings, g)).collect();
    // Only items with an arrow have a row.
    let mut items: Vec<u32> = ends.iter().flat_map(|&(a, b)| [a, b]).collect();
    items.sort_by_key(|&item| order.position[item as usize]);
    items.dedup();
    let row = |item: u32| {
        let position = order.position[item as usize];
        items.partition_point(|&other| order.position[other as usize] < position) as f64
    };
    let labels: Vec<String> = items.iter().map(|&item| label(findings.ranked, item)).collect();
    let x: Vec<f64> = (1..=drawn).map(|k| k as f64).collect();
    let groups = findings.ranked.graph.groups();
    let words = |(k, &(first, second)): (usize, &(u32, u32))| {
        let g = suspects.groups[k] as usize;
        let votes = counted(suspects.flagged[k] as u64, "flagged vote", "flagged votes");
        let (first, second) = (label(findings.ranked, first), label(findings.ranked, second));
        format!("{}. {votes}: {first} preferred to {second} (outcome {})", k + 1, groups.y[g].abs())
    };
    let hover = || Hover::Words { words: ends.iter().enumerate().map(words).collect() };
    let tails: Vec<f64> = ends.iter().map(|&(_, second)| row(second)).collect();
    let marks = vec![
        Mark::Segments {
            colour: Colour::Kind(1),
            width: 2.0,
            arrow: true,
            x0: x.clone(),
            y0: tails.clone(),
            x1: x.clone(),
            y1: ends.iter().map(|&(first, _)| row(first)).collect(),
            hover: hover(),
        },
        Mark::Points {
            colour: Colour::Kind(1),
            shape: PointShape::Circle,
            size: 3.0,
            x: x.clone(),
            y: tails,
            hover: hover(),
            follows: None,
        },
    ];
    let down = ends.iter().filter(|&&(first, second)| row(first) > row(second)).count();
    Chart {
        id: "arrows".to_owned(),
        title: "The most suspicious flagged votes".to_owned(),
        alt: format!(
            "Arrows for {}, pointing to the item that the votes prefer. Items are in the order of the \
             ranking, best at the top; {down} of the arrows {} down, against the ranking.",
            match drawn {
                1 => "the most suspicious distinct vote".to_owned(),
                _ => format!("the {drawn} most suspicious distinct votes"),
            },
            if down == 1 { "points" } else { "point" },
        ),
        note: (drawn < suspects.in_ranking).then(|| {
            let all = thousands(suspects.in_ranking as u64);
            format!("{drawn} of {all} distinct votes are shown, with their items.")
        }),
        x: Axis {
            name: "order of suspicion".to_owned(),
            from: 0.0,
            to: drawn as f64 + 1.0,
            ticks: Ticks::Numbers,
        },
        aspect: (0.15 + 0.03 * labels.len() as f64).clamp(0.4, 1.5),
        y: Axis::labels_down("item, best at the top", labels),
        marks,
        legend: vec![LegendEntry::new("arrow to the preferred item", Colour::Kind(1), Sign::Line)],
    }
}
