//! Where the inconsistency lives: shares of energy, and the worst triangles drawn.

use hodgerank::decompose::{Decomposition, HodgeParts, ItemInconsistency, Triangle};

use super::order::Order;
use super::slider::rounded;
use crate::chart::{Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, Shape, Sign, short};
use crate::document::Section;
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::{percent, thousands};

/// Triangles drawn; the decomposition lists a few more.
const DRAWN: usize = 6;
const IN_A_ROW: usize = 3;
/// Items in the table of inconsistent ones.
const LISTED: usize = 50;

/// The parts: their names, what they are, and their colours.
const PARTS: [(&str, &str, Colour); 4] = [
    ("one ranking", "gradient: what scores explain", Colour::Kind(0)),
    ("within pairs", "bi-cycles: votes on one pair that disagree", Colour::Kind(3)),
    ("triangles", "curl: circles of three items", Colour::Kind(1)),
    ("long loops", "harmonic: longer circles", Colour::Kind(2)),
];

fn in_order(parts: &HodgeParts) -> [f64; 4] {
    [parts.gradient, parts.bicycles, parts.curl, parts.harmonic]
}

pub(super) fn section(findings: &Findings<'_>, order: &mut Order) -> Section {
    let all = &findings.all_votes;
    let mut text = vec![
        "The votes' energy (the sum of their squared outcomes) parts into what one ranking \
         explains and three ways to contradict every ranking."
            .to_owned(),
    ];
    if all.energy == 0.0 {
        text = vec!["All votes are ties: there is nothing to explain.".to_owned()];
    }
    if let Some(rate) = all.transitivity.rate {
        let sample = if all.transitivity.sampled.is_some() { " of a sample" } else { "" };
        text.push(format!(
            "{} of {} triangles{sample} with three clear majorities run in a circle \
             (transitivity satisfaction rate {rate:.4}).",
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
        title: "How consistent the votes are".to_owned(),
        text,
        charts,
        tables,
    }
}

fn shares(findings: &Findings<'_>) -> Chart {
    let mut rows: Vec<(&str, &Decomposition)> = vec![("all votes", &findings.all_votes)];
    if let Some(trusted) = findings.trusted_votes.as_ref().filter(|part| part.energy > 0.0) {
        rows.push(("trusted votes", trusted));
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
    let said = |(of, part): &(&str, &Decomposition)| {
        let shares = in_order(&part.shares);
        let parts = PARTS
            .iter()
            .zip(shares)
            .map(|((name, _, _), share)| format!("{name} {}", percent(share)));
        format!("Of {of}: {}.", parts.collect::<Vec<_>>().join(", "))
    };
    let entry = |&(name, meaning, colour): &(&str, &str, Colour)| {
        LegendEntry::new(format!("{name} ({meaning})"), colour, Sign::Bar)
    };
    Chart {
        id: "shares".to_owned(),
        title: "What the votes' energy is made of".to_owned(),
        alt: rows.iter().map(said).collect::<Vec<_>>().join(" "),
        note: None,
        x: Axis::shares("share of the votes' energy", 1.0),
        y: Axis::labels_down("votes", rows.iter().map(|(of, _)| (*of).to_owned()).collect()),
        aspect: 0.12 + 0.08 * rows.len() as f64,
        marks: marks.collect(),
        legend: PARTS.iter().map(entry).collect(),
    }
}

/// Corners of a triangle around (0, 0), the first on top.
const CORNERS: [(f64, f64); 3] = [(0.0, 1.0), (0.87, -0.5), (-0.87, -0.5)];
const WIDE: f64 = 3.4;
const HIGH: f64 = 2.9;

fn triangles(findings: &Findings<'_>, worst: &[&Triangle]) -> Chart {
    let items = findings.ranked.items;
    let drawn = &worst[..worst.len().min(DRAWN)];
    let name = |item: u32| short(items.name(item), 14);
    let (mut x0, mut y0, mut x1, mut y1) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut said = Vec::new();
    let (mut node_x, mut node_y, mut node_words) = (Vec::new(), Vec::new(), Vec::new());
    let (mut name_x, mut name_y, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut flow_x, mut flow_y, mut flows) = (Vec::new(), Vec::new(), Vec::new());
    for (k, triangle) in drawn.iter().enumerate() {
        let (column, row) = ((k % IN_A_ROW) as f64, (k / IN_A_ROW) as f64);
        let at = |corner: usize| {
            let (x, y) = CORNERS[corner];
            (WIDE * column + x, -HIGH * row + y)
        };
        for corner in 0..3 {
            let (x, y) = at(corner);
            let item = triangle.items[corner];
            node_x.push(x);
            node_y.push(y);
            node_words.push(short(items.name(item), 60));
            name_x.push(x);
            name_y.push(y + if corner == 0 { 0.22 } else { -0.28 });
            names.push(name(item));
            // An arrow runs to the item that wins on average.
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
            said.push(format!(
                "{winner} over {loser} by {:.2} on average of {} votes",
                flow.abs(),
                thousands(triangle.votes[corner])
            ));
            let (x, y) = between(0.5);
            let (centre_x, centre_y) = (WIDE * column, -HIGH * row);
            flow_x.push(x + 0.75 * (x - centre_x));
            flow_y.push(y + 0.45 * (y - centre_y) - 0.05);
            flows.push(format!("{:.2}", flow.abs()));
        }
    }
    let rows = drawn.len().div_ceil(IN_A_ROW) as f64;
    let columns = drawn.len().min(IN_A_ROW) as f64;
    let texts = |colour, x, y, text| Mark::Texts { colour, anchor: Anchor::Middle, x, y, text };
    let worst_said = drawn.first().map_or(String::new(), |t| {
        let [a, b, c] = t.items.map(name);
        format!(
            "The worst is {a}, {b}, {c}, whose mean votes sum to {:.2} round the circle.",
            t.curl
        )
    });
    Chart {
        id: "triangles".to_owned(),
        title: "The worst triangles".to_owned(),
        alt: format!(
            "Three items each, with arrows to the item that wins on average and by how much. In a \
             ranking the three sum to nothing round the circle. {worst_said}"
        ),
        note: None,
        x: Axis::hidden(-0.5 * WIDE, WIDE * (columns - 0.5)),
        y: Axis::hidden(-HIGH * (rows - 1.0) - 1.1, 1.5),
        aspect: (rows * HIGH / (columns * WIDE)).min(0.9),
        marks: vec![
            Mark::Segments {
                colour: Colour::Kind(1),
                width: 2.0,
                arrow: true,
                x0,
                y0,
                x1,
                y1,
                hover: Hover::Words { words: said },
            },
            Mark::Points {
                colour: Colour::Kind(0),
                shape: Shape::Circle,
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

fn triangle_table(order: &mut Order, worst: &[&Triangle]) -> Table {
    let mut corner =
        |c: usize| Values::Item(worst.iter().map(|t| order.number(t.items[c])).collect());
    let (first, second, third) = (corner(0), corner(1), corner(2));
    let flow =
        |c: usize| Values::Number(worst.iter().map(|t| Some(rounded(t.flows[c], 1.0))).collect());
    let votes = |t: &&Triangle| Some(t.votes.iter().sum::<u64>() as i64);
    Table {
        id: "triangles".to_owned(),
        title: "Worst triangles".to_owned(),
        note: None,
        columns: vec![
            Column::new("first", "first", first),
            Column::new("second", "second", second),
            Column::new("third", "third", third),
            Column::new("first_second", "first over second", flow(0)).with_hint("Mean vote"),
            Column::new("second_third", "second over third", flow(1)).with_hint("Mean vote"),
            Column::new("third_first", "third over first", flow(2)).with_hint("Mean vote"),
            Column::new(
                "curl",
                "round the circle",
                Values::Number(worst.iter().map(|t| Some(rounded(t.curl, 1.0))).collect()),
            )
            .with_hint("Sum of the three; 0 in any ranking"),
            Column::new("votes", "votes", Values::Whole(worst.iter().map(votes).collect())),
        ],
    }
}

/// Items whose votes agree least with one ranking.
fn item_table(findings: &Findings<'_>, order: &mut Order) -> Option<Table> {
    let worst = findings.all_votes.worst_items(findings.ranked.graph, LISTED);
    if worst.is_empty() {
        return None;
    }
    let number = |pick: &dyn Fn(&ItemInconsistency) -> f64| {
        worst.iter().map(|row| Some(rounded(pick(row), 1.0))).collect::<Vec<_>>()
    };
    let all = order.ranking.items.len();
    Some(Table {
        id: "inconsistent-items".to_owned(),
        title: "Items whose votes agree least with one ranking".to_owned(),
        note: (worst.len() < all)
            .then(|| format!("The first {} of {} items.", worst.len(), thousands(all as u64))),
        columns: vec![
            Column::new(
                "item",
                "item",
                Values::Item(worst.iter().map(|row| order.number(row.item)).collect()),
            ),
            Column::new(
                "share",
                "inconsistent share",
                Values::Share(number(&|row| row.local.share)),
            )
            .with_hint("Share of the energy of its votes that no ranking explains"),
            Column::new("energy", "energy", Values::Number(number(&|row| row.local.inconsistent)))
                .with_hint("That energy itself"),
        ],
    })
}
