//! The section about consistency: the Hodge decomposition and cycles of three majorities.

use hodgerank::decompose::{Decomposition, HodgeParts, ItemInconsistency, Triangle};

use super::item_order::ItemOrder;
use super::rounded::rounded;
use crate::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, PointShape, Sign, short_label,
};
use crate::document::{Fold, Section};
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
    let mut section =
        Section::new("consistency", "Do the votes contradict each other?", Fold::Detail);
    let all = &findings.all_votes;
    if all.energy == 0.0 {
        section.text.push("All votes are ties, so no vote contradicts another.".to_owned());
        return section;
    }
    section.text.extend(cycles(all));
    section.help.push(
        "The energy of the votes is the sum of their squared outcomes. It consists of four parts: what one \
         ranking explains, votes on the same pair that disagree, cycles of three items and longer cycles. No \
         ranking can explain the last three."
            .to_owned(),
    );
    section.charts.push(shares(findings));
    let worst: Vec<&Triangle> = all.triangles.iter().collect();
    if !worst.is_empty() {
        section.help.push(
            "In a cycle, most votes prefer the first item to the second, the second to the third, and the \
             third to the first. Cycles that many votes confirm come first."
                .to_owned(),
        );
        section.charts.push(triangles(findings, &worst));
        section.tables.push(triangle_table(order, &worst));
    }
    section.tables.extend(item_table(findings, order));
    section
}

/// How many triangles are cycles of majorities.
fn cycles(votes: &Decomposition) -> Option<String> {
    let found = &votes.transitivity;
    let sample = if found.sampled.is_some() { " in a sample" } else { "" };
    let triangles = |number| counted(number, "triangle", "triangles");
    match (found.cyclic, found.rate) {
        (_, None) => None,
        (0, _) => Some(format!(
            "No majorities form a cycle: wherever most votes prefer a to b and b to c, they also prefer a to \
             c ({} of three majorities{sample}).",
            triangles(found.decided)
        )),
        (cyclic, Some(rate)) => Some(format!(
            "{} of {} of three majorities{sample} {}: a beats b, b beats c, and c beats a. The others are \
             transitive ({}).",
            thousands(cyclic),
            triangles(found.decided),
            if cyclic == 1 { "is a cycle" } else { "are cycles" },
            percent(rate),
        )),
    }
}

fn shares(findings: &StudyFindings<'_>) -> Chart {
    let mut rows: Vec<(&str, &Decomposition)> = vec![("all votes", &findings.all_votes)];
    if let Some(trusted) = findings.trusted_votes.as_ref().filter(|part| part.energy > 0.0) {
        rows.push(("not flagged", trusted));
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
        y: Axis::labels_down("", rows.iter().map(|(of, _)| (*of).to_owned()).collect()),
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
            // Arrows point to the item that the majority prefers.
            let next = (corner + 1) % 3;
            let flow = triangle.flows[corner];
            let (from, to) = (at(next), at(corner));
            let between = |t: f64| (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1));
            let (tail, head) = (between(0.14), between(0.86));
            x0.push(tail.0);
            y0.push(tail.1);
            x1.push(head.0);
            y1.push(head.1);
            arrow_words.push(format!(
                "{} over {}: mean vote {flow:.2} ({})",
                name(item),
                name(triangle.items[next]),
                counted(triangle.votes[corner], "vote", "votes")
            ));
            let (x, y) = between(0.5);
            let (centre_x, centre_y) = (COLUMN_DISTANCE * column, -ROW_DISTANCE * row);
            flow_x.push(x + 0.75 * (x - centre_x));
            flow_y.push(y + 0.45 * (y - centre_y) - 0.05);
            flows.push(format!("{flow:.2}"));
        }
    }
    let rows = drawn.len().div_ceil(TRIANGLES_PER_ROW) as f64;
    let columns = drawn.len().min(TRIANGLES_PER_ROW) as f64;
    let texts = |colour, x, y, text| Mark::Texts { colour, anchor: Anchor::Middle, x, y, text };
    let example = drawn.first().map_or(String::new(), |t| {
        let [a, b, c] = t.items.map(name);
        format!("The clearest is {a} over {b}, {b} over {c}, {c} over {a}.")
    });
    let shown = match drawn.len() < worst.len() {
        true => "The clearest cycles of three majorities",
        false => "Cycles of three majorities",
    };
    Chart {
        id: "triangles".to_owned(),
        title: shown.to_owned(),
        alt: format!(
            "Three items each, with arrows to the item that the majority prefers. The numbers are the mean \
             votes. {example}"
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
            "arrow to the item that the majority prefers",
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
    let votes =
        |c: usize| Values::Whole(worst.iter().map(|t| i64::try_from(t.votes[c]).ok()).collect());
    let number = |pick: fn(&Triangle) -> f64, largest: f64| {
        Values::Number(worst.iter().map(|t| Some(rounded(pick(t), largest))).collect())
    };
    let most = worst.iter().fold(1.0f64, |most, t| most.max(t.energy));
    PageTable {
        id: "triangles".to_owned(),
        title: "Cycles of three majorities, the clearest first".to_owned(),
        note: None,
        columns: vec![
            PageColumn::new("first", "first", first),
            PageColumn::new("second", "second", second),
            PageColumn::new("third", "third", third),
            PageColumn::new("first_second", "first over second", flow(0)).with_hint("Mean vote"),
            PageColumn::new("second_third", "second over third", flow(1)).with_hint("Mean vote"),
            PageColumn::new("third_first", "third over first", flow(2)).with_hint("Mean vote"),
            PageColumn::new("votes", "votes", votes(0)).with_hint("Votes on first and second"),
            PageColumn::new("votes_2", "votes", votes(1)).with_hint("Votes on second and third"),
            PageColumn::new("votes_3", "votes", votes(2)).with_hint("Votes on third and first"),
            PageColumn::new("curl", "curl", number(|t| t.curl, 1.0))
                .with_hint("Sum of the three mean votes"),
            PageColumn::new("energy", "energy", number(|t| t.energy, most)).with_hint(
                "Energy of the votes that the cycle alone explains: the order of the table",
            ),
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
            format!("The first {} of {} items are listed.", worst.len(), thousands(all as u64))
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
