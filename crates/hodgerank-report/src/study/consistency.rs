//! The section about consistency: the Hodge decomposition and the least consistent triangles.

use hodgerank::decompose::{Decomposition, HodgeParts, ItemInconsistency, Triangle};

use super::item_order::ItemOrder;
use super::rounded::rounded;
use crate::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, PointShape, Sign, short_label,
};
use crate::document::Section;
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, percent, thousands};

/// Maximum number of triangles in the chart; the decomposition lists a few more.
const MAX_DRAWN: usize = 6;
const TRIANGLES_PER_ROW: usize = 3;
/// Maximum number of items in the table of inconsistent items.
const MAX_LISTED: usize = 50;

/// Names, explanations and colours of the parts.
const PARTS: [(&str, &str, Colour); 4] = [
    ("one ranking", "gradient: explained by scores", Colour::Kind(0)),
    ("within pairs", "bi-cycles: disagreement about a pair", Colour::Kind(3)),
    ("triangles", "curl: cycles of three items", Colour::Kind(1)),
    ("long cycles", "harmonic: cycles of four or more items", Colour::Kind(2)),
];

fn in_order(parts: &HodgeParts) -> [f64; 4] {
    [parts.gradient, parts.bicycles, parts.curl, parts.harmonic]
}

pub(super) fn section(findings: &StudyFindings<'_>, order: &mut ItemOrder) -> Section {
    let all = &findings.all_votes;
    let mut text = vec![
        "The energy of the votes (the sum of their squared outcomes) is the sum of four parts: \
         what one ranking explains, and three kinds of inconsistency that no ranking can explain."
            .to_owned(),
    ];
    if all.energy == 0.0 {
        text = vec!["All votes are ties, so there is nothing to explain.".to_owned()];
    }
    if let Some(rate) = all.transitivity.rate {
        let sample = if all.transitivity.sampled.is_some() { " in a sample" } else { "" };
        text.push(format!(
            "{} of {} triangles with three clear majorities{sample} are cyclic (transitivity \
             satisfaction rate {rate:.4}).",
            thousands(all.transitivity.cyclic),
            thousands(all.transitivity.decided),
        ));
    }
    let mut charts = Vec::new();
    if all.energy > 0.0 {
        charts.push(shares(findings));
    }
    let worst: Vec<&Triangle> = all.triangles.iter().filter(|t| t.curl > 0.0).collect();
    let mut tables = Vec::new();
    if !worst.is_empty() {
        charts.push(triangles(findings, &worst));
        tables.push(triangle_table(order, &worst));
    }
    tables.extend(item_table(findings, order));
    Section {
        id: "consistency".to_owned(),
        title: "Consistency of the votes".to_owned(),
        text,
        charts,
        tables,
    }
}

fn shares(findings: &StudyFindings<'_>) -> Chart {
    let mut rows: Vec<(&str, &Decomposition)> = vec![("all votes", &findings.all_votes)];
    if let Some(trusted) = findings.trusted_votes.as_ref().filter(|part| part.energy > 0.0) {
        rows.push(("without flagged votes", trusted));
    }
    let marks = PARTS.iter().enumerate().map(|(p, &(name, meaning, colour))| {
        let ends = rows.iter().map(|(_, part)| {
            let shares = in_order(&part.shares);
            let start: f64 = shares[..p].iter().sum();
            (start, start + shares[p])
        });
        let (x0, x1): (Vec<f64>, Vec<f64>) = ends.unzip();
        let words = rows.iter().map(|(of, part)| {
            format!("{of}: {} {name}\n{meaning}", percent(in_order(&part.shares)[p]))
        });
        Mark::Bars {
            colour,
            x0,
            x1,
            y0: (0..rows.len()).map(|row| row as f64 + 0.32).collect(),
            y1: (0..rows.len()).map(|row| row as f64 - 0.32).collect(),
            hover: Hover::Words { words: words.collect() },
        }
    });
    let describe = |(of, part): &(&str, &Decomposition)| {
        let shares = in_order(&part.shares);
        let parts = PARTS
            .iter()
            .zip(shares)
            .map(|((name, _, _), share)| format!("{name} {}", percent(share)));
        format!("Shares of energy, {of}: {}.", parts.collect::<Vec<_>>().join(", "))
    };
    let entry = |&(name, meaning, colour): &(&str, &str, Colour)| {
        LegendEntry::new(format!("{name} ({meaning})"), colour, Sign::Bar)
    };
    Chart {
        id: "shares".to_owned(),
        title: "Energy of the votes by part".to_owned(),
        alt: rows.iter().map(describe).collect::<Vec<_>>().join(" "),
        note: None,
        x: Axis::shares("share of the votes' energy", 1.0),
        y: Axis::labels_down("votes", rows.iter().map(|(of, _)| (*of).to_owned()).collect()),
        aspect: 0.12 + 0.08 * rows.len() as f64,
        marks: marks.collect(),
        legend: PARTS.iter().map(entry).collect(),
    }
}

/// Corners of a triangle around (0, 0), the first at the top.
const CORNERS: [(f64, f64); 3] = [(0.0, 1.0), (0.87, -0.5), (-0.87, -0.5)];
/// Horizontal and vertical distance between the centres of triangles.
const COLUMN_DISTANCE: f64 = 3.4;
const ROW_DISTANCE: f64 = 2.9;

fn triangles(findings: &StudyFindings<'_>, worst: &[&Triangle]) -> Chart {
    let items = findings.ranked.items;
    let drawn = &worst[..worst.len().min(MAX_DRAWN)];
    let name = |item: u32| short_label(items.name(item), 14);
    let (mut x0, mut y0, mut x1, mut y1) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut arrow_words = Vec::new();
    let (mut node_x, mut node_y, mut node_words) = (Vec::new(), Vec::new(), Vec::new());
    let (mut name_x, mut name_y, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut flow_x, mut flow_y, mut flows) = (Vec::new(), Vec::new(), Vec::new());
    for (k, triangle) in drawn.iter().enumerate() {
        let (column, row) = ((k % TRIANGLES_PER_ROW) as f64, (k / TRIANGLES_PER_ROW) as f64);
        let at = |corner: usize| {
            let (x, y) = CORNERS[corner];
            (COLUMN_DISTANCE * column + x, -ROW_DISTANCE * row + y)
        };
        for corner in 0..3 {
            let (x, y) = at(corner);
            let item = triangle.items[corner];
            node_x.push(x);
            node_y.push(y);
            node_words.push(short_label(items.name(item), 60));
            name_x.push(x);
            name_y.push(y + if corner == 0 { 0.22 } else { -0.28 });
            names.push(name(item));
            // Arrows point to the item that wins on average.
            let next = (corner + 1) % 3;
            let flow = triangle.flows[corner];
            let (from, to) =
                if flow >= 0.0 { (at(next), at(corner)) } else { (at(corner), at(next)) };
            let between = |t: f64| (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            let (tail, head) = (between(0.14), between(0.86));
            x0.push(tail.0);
            y0.push(tail.1);
            x1.push(head.0);
            y1.push(head.1);
            let (a, b) = (name(item), name(triangle.items[next]));
            let (winner, loser) = if flow >= 0.0 { (a, b) } else { (b, a) };
            arrow_words.push(format!(
                "{winner} over {loser} by {:.2} on average ({})",
                flow.abs(),
                counted(triangle.votes[corner], "vote", "votes")
            ));
            let (x, y) = between(0.5);
            let (centre_x, centre_y) = (COLUMN_DISTANCE * column, -ROW_DISTANCE * row);
            flow_x.push(x + 0.75 * (x - centre_x));
            flow_y.push(y + 0.45 * (y - centre_y) - 0.05);
            flows.push(format!("{:.2}", flow.abs()));
        }
    }
    let rows = drawn.len().div_ceil(TRIANGLES_PER_ROW) as f64;
    let columns = drawn.len().min(TRIANGLES_PER_ROW) as f64;
    let texts = |colour, x, y, text| Mark::Texts { colour, anchor: Anchor::Middle, x, y, text };
    let example = drawn.first().map_or(String::new(), |t| {
        let [a, b, c] = t.items.map(name);
        format!(
            "The least consistent one is {a}, {b}, {c}: its mean votes sum to {:.2} around the \
             cycle.",
            t.curl
        )
    });
    Chart {
        id: "triangles".to_owned(),
        title: "The least consistent triangles".to_owned(),
        alt: format!(
            "Three items each, with arrows to the item that wins on average and by how much. In a \
             ranking the three sum to zero around the cycle. {example}"
        ),
        note: None,
        x: Axis::hidden(-0.5 * COLUMN_DISTANCE, COLUMN_DISTANCE * (columns - 0.5)),
        y: Axis::hidden(-ROW_DISTANCE * (rows - 1.0) - 1.1, 1.5),
        aspect: (rows * ROW_DISTANCE / (columns * COLUMN_DISTANCE)).min(0.9),
        marks: vec![
            Mark::Segments {
                colour: Colour::Kind(1),
                width: 2.0,
                arrow: true,
                x0,
                y0,
                x1,
                y1,
                hover: Hover::Words { words: arrow_words },
            },
            Mark::Points {
                colour: Colour::Kind(0),
                shape: PointShape::Circle,
                size: 6.0,
                x: node_x,
                y: node_y,
                hover: Hover::Words { words: node_words },
                follows: None,
            },
            texts(Colour::Ink, name_x, name_y, names),
            texts(Colour::Muted, flow_x, flow_y, flows),
        ],
        legend: vec![LegendEntry::new(
            "arrow to the item that wins on average",
            Colour::Kind(1),
            Sign::Line,
        )],
    }
}

fn triangle_table(order: &mut ItemOrder, worst: &[&Triangle]) -> PageTable {
    let mut corner =
        |c: usize| Values::Item(worst.iter().map(|t| order.index(t.items[c])).collect());
    let (first, second, third) = (corner(0), corner(1), corner(2));
    let flow =
        |c: usize| Values::Number(worst.iter().map(|t| Some(rounded(t.flows[c], 1.0))).collect());
    let votes = |t: &&Triangle| Some(t.votes.iter().sum::<u64>() as i64);
    PageTable {
        id: "triangles".to_owned(),
        title: "Least consistent triangles".to_owned(),
        note: None,
        columns: vec![
            PageColumn::new("first", "first", first),
            PageColumn::new("second", "second", second),
            PageColumn::new("third", "third", third),
            PageColumn::new("first_second", "first over second", flow(0)).with_hint("Mean vote"),
            PageColumn::new("second_third", "second over third", flow(1)).with_hint("Mean vote"),
            PageColumn::new("third_first", "third over first", flow(2)).with_hint("Mean vote"),
            PageColumn::new(
                "curl",
                "sum around the cycle",
                Values::Number(worst.iter().map(|t| Some(rounded(t.curl, 1.0))).collect()),
            )
            .with_hint("Sum of the three mean votes; 0 in any ranking"),
            PageColumn::new("votes", "votes", Values::Whole(worst.iter().map(votes).collect())),
        ],
    }
}

/// The items whose votes are least consistent.
fn item_table(findings: &StudyFindings<'_>, order: &mut ItemOrder) -> Option<PageTable> {
    let worst = findings.all_votes.worst_items(findings.ranked.graph, MAX_LISTED);
    if worst.is_empty() {
        return None;
    }
    let number = |pick: &dyn Fn(&ItemInconsistency) -> f64| {
        worst.iter().map(|row| Some(rounded(pick(row), 1.0))).collect::<Vec<_>>()
    };
    let all = order.ranking.items.len();
    Some(PageTable {
        id: "inconsistent-items".to_owned(),
        title: "Items with the least consistent votes".to_owned(),
        note: (worst.len() < all).then(|| {
            format!("Only the first {} of {} items are listed.", worst.len(), thousands(all as u64))
        }),
        columns: vec![
            PageColumn::new(
                "item",
                "item",
                Values::Item(worst.iter().map(|row| order.index(row.item)).collect()),
            ),
            PageColumn::new(
                "share",
                "inconsistent share",
                Values::Share(number(&|row| row.local.share)),
            )
            .with_hint("Share of the energy of its votes that no ranking explains"),
            PageColumn::new(
                "energy",
                "energy",
                Values::Number(number(&|row| row.local.inconsistent)),
            )
            .with_hint("Energy of its votes that no ranking explains"),
        ],
    })
}
