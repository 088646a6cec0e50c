//! The votes that are not trusted: list, map of item against item, arrows against the order.

use super::order::{Order, label};
use super::suspects::Suspects;
use crate::chart::{
    Axis, Chart, Colour, Curve, Follows, Hover, LegendEntry, Mark, Shape, Sign, Ticks,
};
use crate::document::{SUSPECTS, Section};
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::{counted, percent, thousands};

/// A band of strength is this share of all votes, as in the paper.
const BAND: f64 = 0.05;
/// Bands that have colours of their own; the rest shares the last.
const BANDS: usize = 5;
/// Items up to which the map's axes carry names.
const NAMED: usize = 40;
/// Votes drawn as arrows.
const ARROWS: usize = 40;

const SHAPES: [(Shape, &str); 3] = [
    (Shape::Circle, "all other robust methods flag it too"),
    (Shape::Triangle, "some of them do"),
    (Shape::Square, "none of them does"),
];

pub(super) fn section(findings: &Findings<'_>, order: &mut Order, suspects: &Suspects) -> Section {
    let ranked = findings.ranked;
    let text = match findings.flagged() {
        0 => "No vote is flagged in the ranking. The slider shows which votes would be the first \
              to be set aside."
            .to_owned(),
        flagged => format!(
            "{} ({} of all) contradict the ranking so strongly that they are set aside. A vote \
             can be honest and still be here: read it as a list of votes to look at.",
            counted(flagged, "vote", "votes"),
            percent(ranked.outliers.fraction),
        ),
    };
    let charts = if suspects.groups.is_empty() {
        Vec::new()
    } else {
        vec![map(findings, order, suspects), arrows(findings, order, suspects)]
    };
    Section {
        id: "flagged".to_owned(),
        title: "Votes not to be trusted".to_owned(),
        text: vec![text],
        charts,
        tables: vec![list(findings, order, suspects)],
    }
}

/// The two items of a group: the one that it prefers, then the other. A tie prefers the one that
/// the scores put lower, compared with what they expect.
fn preferred(findings: &Findings<'_>, g: u32) -> (u32, u32) {
    let groups = findings.ranked.graph.groups();
    let scores = &findings.ranked.fit.scores;
    let g = g as usize;
    let (left, right, y) = (groups.left[g], groups.right[g], groups.y[g]);
    let is_right = y < 0.0 || (y == 0.0 && scores[left as usize] > scores[right as usize]);
    if is_right { (right, left) } else { (left, right) }
}

fn list(findings: &Findings<'_>, order: &mut Order, suspects: &Suspects) -> Table {
    let groups = findings.ranked.graph.groups();
    let scores = &findings.ranked.fit.scores;
    let listed = &suspects.groups;
    let pairs: Vec<(u32, u32)> = listed
        .iter()
        .map(|&g| {
            let (first, second) = preferred(findings, g);
            (order.number(first), order.number(second))
        })
        .collect();
    let residual = |&g: &u32| {
        let (first, second) = preferred(findings, g);
        let expected = scores[first as usize] - scores[second as usize];
        Some(super::slider::rounded(groups.y[g as usize].abs() - expected, 10.0))
    };
    let whole = |values: Vec<i64>| Values::Whole(values.into_iter().map(Some).collect());
    let outcome = |&g: &u32| Some(groups.y[g as usize].abs());
    let mut columns = vec![
        Column::new("order", "order", whole((1..=listed.len() as i64).collect()))
            .with_hint("1 is the least believable"),
        Column::new("preferred", "vote prefers", Values::Item(pairs.iter().map(|p| p.0).collect())),
        Column::new("other", "to", Values::Item(pairs.iter().map(|p| p.1).collect())),
        Column::new("outcome", "by", Values::Number(listed.iter().map(outcome).collect()))
            .with_hint("The outcome of the vote; 0 is a tie"),
        Column::new(
            "votes",
            "votes",
            whole(listed.iter().map(|&g| groups.weight[g as usize] as i64).collect()),
        )
        .with_hint("How many votes say the same"),
        Column::new("residual", "misses by", Values::Number(listed.iter().map(residual).collect()))
            .with_hint("Outcome of the vote less what the scores expect"),
        Column::new(
            "agreeing",
            "methods agree",
            whole(suspects.agreeing.iter().map(|&n| i64::from(n)).collect()),
        )
        .with_hint(&format!(
            "How many of the {} other robust methods flag it as well",
            suspects.others
        )),
    ];
    if suspects.entered.iter().any(Option::is_some) {
        let round = |at: &Option<f64>| at.map(|at| super::slider::rounded(at, 1.0));
        let entered = Values::Number(suspects.entered.iter().map(round).collect());
        columns.push(
            Column::new("entered", "enters at", entered)
                .with_hint("λ or time t of the path at which it is first flagged"),
        );
    }
    let note = (suspects.left_out > 0).then(|| {
        format!(
            "The {} least believable different votes are listed and drawn; {} more are flagged \
             somewhere on the path. `hodgerank outliers` writes all.",
            thousands(listed.len() as u64),
            thousands(suspects.left_out as u64),
        )
    });
    Table {
        id: SUSPECTS.to_owned(),
        title: "Flagged votes, least believable first".to_owned(),
        note,
        columns,
    }
}

/// Item against item, both in the order of the ranking.
fn map(findings: &Findings<'_>, order: &Order, suspects: &Suspects) -> Chart {
    let all = order.ranking.items.len();
    let band = |k: usize| ((suspects.depth[k] / BAND) as usize).min(BANDS - 1);
    let shape = |k: usize| match suspects.agreeing[k] {
        n if n == suspects.others && n > 0 => 0,
        0 => 2,
        _ => 1,
    };
    let mut bins: Vec<Vec<u32>> = vec![Vec::new(); BANDS * SHAPES.len()];
    for k in 0..suspects.groups.len() {
        bins[band(k) * SHAPES.len() + shape(k)].push(k as u32);
    }
    let place = |item: u32| f64::from(order.place[item as usize]);
    let size = (120.0 / all as f64).clamp(1.6, 6.0);
    let mut marks = vec![Mark::Line {
        colour: Colour::Faint,
        width: 1.0,
        dashed: true,
        curve: Curve::Straight,
        x: vec![-0.5, all as f64 - 0.5],
        y: vec![-0.5, all as f64 - 0.5],
        hover: String::new(),
    }];
    // The strongest last, on top.
    for bin in (0..bins.len()).rev().filter(|&bin| !bins[bin].is_empty()) {
        let rows = &bins[bin];
        let ends = |&k: &u32| preferred(findings, suspects.groups[k as usize]);
        marks.push(Mark::Points {
            colour: band_colour(bin / SHAPES.len()),
            shape: SHAPES[bin % SHAPES.len()].0,
            size,
            x: rows.iter().map(|k| place(ends(k).1)).collect(),
            y: rows.iter().map(|k| place(ends(k).0)).collect(),
            hover: Hover::Rows { table: SUSPECTS.to_owned(), rows: rows.clone() },
            follows: Some(Follows::Flags),
        });
    }
    let used = |b: usize| (0..SHAPES.len()).any(|s| !bins[b * SHAPES.len() + s].is_empty());
    let mut legend: Vec<LegendEntry> = (0..BANDS)
        .filter(|&b| used(b))
        .map(|b| {
            let (from, to) = (100.0 * BAND * b as f64, 100.0 * BAND * (b + 1) as f64);
            let name = match b {
                0 => format!("first {to:.0}% of votes flagged"),
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
        let labels = || order.ranking.items.iter().map(|row| label(findings, row.item)).collect();
        let name = format!("{name}, best first");
        if all <= NAMED {
            return if down {
                Axis::labels_down(&name, labels())
            } else {
                Axis::labels(&name, labels())
            };
        }
        let (from, to) = (-0.5, all as f64 - 0.5);
        let (from, to) = if down { (to, from) } else { (from, to) };
        Axis { name: format!("{name} (place from 0)"), from, to, ticks: Ticks::Numbers }
    };
    let upset = suspects.groups.iter().filter(|&&g| {
        let (first, second) = preferred(findings, g);
        order.place[first as usize] > order.place[second as usize]
    });
    Chart {
        id: "outlier-map".to_owned(),
        title: "Map of flagged votes".to_owned(),
        alt: format!(
            "Each mark is a vote: its row is the item that the vote prefers, its column the other \
             one, both in the order of the ranking. Marks below the dashed line prefer the item \
             that ranks lower: {} of {} different votes do. Darker marks were flagged earlier.",
            thousands(upset.count() as u64),
            thousands(suspects.groups.len() as u64),
        ),
        note: (suspects.left_out > 0).then(|| {
            let listed = thousands(suspects.groups.len() as u64);
            format!("The {listed} least believable different votes are drawn.")
        }),
        x: axis("item that the vote puts second", false),
        y: axis("item that the vote prefers", true),
        aspect: 0.8,
        marks,
        legend,
    }
}

fn band_colour(band: usize) -> Colour {
    Colour::Step([9, 6, 4, 3, 2][band])
}

/// The least believable votes as arrows to the item that they prefer.
fn arrows(findings: &Findings<'_>, order: &Order, suspects: &Suspects) -> Chart {
    let drawn = suspects.groups.len().min(ARROWS);
    let ends: Vec<(u32, u32)> =
        suspects.groups[..drawn].iter().map(|&g| preferred(findings, g)).collect();
    // Only items that an arrow touches have a row.
    let mut items: Vec<u32> = ends.iter().flat_map(|&(a, b)| [a, b]).collect();
    items.sort_by_key(|&item| order.place[item as usize]);
    items.dedup();
    let row = |item: u32| {
        let place = order.place[item as usize];
        items.partition_point(|&other| order.place[other as usize] < place) as f64
    };
    let labels: Vec<String> = items.iter().map(|&item| label(findings, item)).collect();
    let x: Vec<f64> = (1..=drawn).map(|k| k as f64).collect();
    let groups = findings.ranked.graph.groups();
    let words = |(k, &(first, second)): (usize, &(u32, u32))| {
        let g = suspects.groups[k] as usize;
        let votes = counted(groups.weight[g] as u64, "vote", "votes");
        let (first, second) = (label(findings, first), label(findings, second));
        format!("{}. {votes}: {first} over {second} (outcome {})", k + 1, groups.y[g].abs())
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
            shape: Shape::Circle,
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
        title: "The least believable votes against the order".to_owned(),
        alt: format!(
            "Arrows for the {drawn} least believable different votes, from the item that the vote \
             puts second to the one that it prefers; items stand in the order of the ranking, best \
             on top. {down} of the arrows point down, against the ranking."
        ),
        note: (drawn < suspects.groups.len()).then(|| {
            format!(
                "The first {drawn} of {} different votes are drawn, and the items that they touch.",
                thousands(suspects.groups.len() as u64)
            )
        }),
        x: Axis {
            name: "order of suspicion".to_owned(),
            from: 0.0,
            to: drawn as f64 + 1.0,
            ticks: Ticks::Numbers,
        },
        aspect: (0.15 + 0.03 * labels.len() as f64).clamp(0.4, 1.5),
        y: Axis::labels_down("item, best on top", labels),
        marks,
        legend: vec![LegendEntry::new(
            "from the second to the preferred",
            Colour::Kind(1),
            Sign::Line,
        )],
    }
}
