//! Who was compared with whom: the graph, and its components.

use kuva::plot::network::{NetworkLayout, NetworkPlot};
use rustc_hash::FxHashMap;

use super::order::{Order, label};
use crate::chart::{Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, Shape, Sign, short};
use crate::document::Section;
use crate::findings::Findings;
use crate::table::{Column, Table, Values};
use crate::words::{counted, percent, thousands};

/// Items drawn: with more, pictures of graphs tell nothing.
const ITEMS: usize = 100;
/// Pairs drawn.
const PAIRS: usize = 1_200;
/// Items up to which all have their names beside them.
const NAMED: usize = 40;
/// Components listed.
const LISTED: usize = 200;

pub(super) fn section(findings: &Findings<'_>, order: &mut Order) -> Section {
    let graph = &findings.ranked.graph;
    let design = &findings.diagnosis.design;
    let mut text = vec![format!(
        "{} of {} possible pairs of items were compared ({}), on average {:.1} times each.",
        thousands(design.pairs as u64),
        thousands(design.items as u64 * (design.items as u64).saturating_sub(1) / 2),
        percent(design.density),
        design.votes_per_pair.mean,
    )];
    let components = graph.components().len();
    if components > 1 {
        text.push(format!(
            "The votes fall into {} that no vote connects: each is ranked on its own, and scores of \
             different components do not compare.",
            counted(components as u64, "component", "components")
        ));
    }
    let charts = if graph.pairs().is_empty() { Vec::new() } else { vec![chart(findings, order)] };
    Section {
        id: "comparisons".to_owned(),
        title: "Who was compared with whom".to_owned(),
        text,
        charts,
        tables: if components > 1 { vec![component_table(findings, order)] } else { Vec::new() },
    }
}

fn component_table(findings: &Findings<'_>, order: &mut Order) -> Table {
    let rows = &findings.ranked.components;
    let listed = &rows[..rows.len().min(LISTED)];
    let components = findings.ranked.graph.components();
    let best = |c: u32| {
        let members = components.members(c as usize - 1).iter();
        members.copied().min_by_key(|&item| order.place[item as usize]).unwrap_or(0)
    };
    let best: Vec<u32> = listed.iter().map(|row| best(row.component)).collect();
    let whole = |values: Vec<i64>| Values::Whole(values.into_iter().map(Some).collect());
    let note = (listed.len() < rows.len())
        .then(|| format!("The largest {} of {}.", listed.len(), thousands(rows.len() as u64)));
    let number =
        |pick: fn(&hodgerank::ComponentSummary) -> i64| whole(listed.iter().map(pick).collect());
    Table {
        id: "components".to_owned(),
        title: "Components".to_owned(),
        note,
        columns: vec![
            Column::new("component", "component", number(|row| row.component.into())),
            Column::new("items", "items", number(|row| row.items as i64)),
            Column::new("votes", "votes", number(|row| row.comparisons as i64)),
            Column::new(
                "best",
                "best item",
                Values::Item(best.into_iter().map(|item| order.number(item)).collect()),
            ),
        ],
    }
}

fn chart(findings: &Findings<'_>, order: &Order) -> Chart {
    let graph = &findings.ranked.graph;
    let pairs = graph.pairs();
    let all = order.ranking.items.len();
    // Where not all can be drawn: items spread evenly over the ranking.
    let drawn = all.min(ITEMS);
    let items: Vec<u32> = (0..drawn).map(|k| order.ranking.items[k * all / drawn].item).collect();
    let number: FxHashMap<u32, usize> = items.iter().enumerate().map(|(k, &i)| (i, k)).collect();
    let ends = |p: usize| Some((*number.get(&pairs.left[p])?, *number.get(&pairs.right[p])?));
    let mut edges: Vec<(usize, usize, usize)> =
        (0..pairs.len()).filter_map(|p| ends(p).map(|(a, b)| (p, a, b))).collect();
    edges.sort_by(|a, b| pairs.weight[b.0].total_cmp(&pairs.weight[a.0]).then(a.0.cmp(&b.0)));
    let among = edges.len();
    edges.truncate(PAIRS);
    let places = layout(drawn, &edges);
    let place = |k: usize| places[k];

    let words = |&(p, a, b): &(usize, usize, usize)| {
        let (a, b) = (label(findings, items[a]), label(findings, items[b]));
        format!("{a} – {b}: {}", counted(pairs.weight[p] as u64, "vote", "votes"))
    };
    let mut marks = vec![Mark::Segments {
        colour: Colour::Faint,
        width: if edges.len() > 300 { 0.6 } else { 1.2 },
        arrow: false,
        x0: edges.iter().map(|&(_, a, _)| place(a).0).collect(),
        y0: edges.iter().map(|&(_, a, _)| place(a).1).collect(),
        x1: edges.iter().map(|&(_, _, b)| place(b).0).collect(),
        y1: edges.iter().map(|&(_, _, b)| place(b).1).collect(),
        hover: Hover::Words { words: edges.iter().map(words).collect() },
    }];
    let record = |k: usize| &order.ranking.items[order.place[items[k] as usize] as usize];
    let components = graph.components().len().min(8);
    for c in 0..components {
        let is_last = c + 1 == components;
        let own: Vec<usize> = (0..drawn)
            .filter(|&k| {
                let component = record(k).component as usize - 1;
                component == c || (is_last && component > c)
            })
            .collect();
        let words = own.iter().map(|&k| {
            let row = record(k);
            let votes = counted(row.comparisons, "vote", "votes");
            format!(
                "{}\nrank {}, {votes}",
                short(findings.ranked.items.name(row.item), 60),
                row.rank
            )
        });
        marks.push(Mark::Points {
            colour: Colour::Kind(c as u8),
            shape: Shape::Circle,
            size: if drawn > NAMED { 4.0 } else { 6.0 },
            x: own.iter().map(|&k| place(k).0).collect(),
            y: own.iter().map(|&k| place(k).1).collect(),
            hover: Hover::Words { words: words.collect() },
            follows: None,
        });
    }
    if drawn <= NAMED {
        marks.push(Mark::Texts {
            colour: Colour::Ink,
            anchor: Anchor::Middle,
            x: (0..drawn).map(|k| place(k).0).collect(),
            y: (0..drawn).map(|k| place(k).1 + 0.035).collect(),
            text: items.iter().map(|&item| label(findings, item)).collect(),
        });
    }
    let mut notes = Vec::new();
    if drawn < all {
        let all = thousands(all as u64);
        notes.push(format!("{drawn} of {all} items are drawn, spread evenly over the ranking."));
    }
    if edges.len() < among {
        let (shown, among) = (thousands(edges.len() as u64), thousands(among as u64));
        notes.push(format!("The {shown} pairs with most votes of {among} between them are drawn."));
    }
    let legend = if graph.components().len() > 1 {
        let entry = |c: usize| {
            let name = match c + 1 == components && graph.components().len() > components {
                true => format!("components {} and on", c + 1),
                false => format!("component {}", c + 1),
            };
            LegendEntry::new(name, Colour::Kind(c as u8), Sign::Point(Shape::Circle))
        };
        (0..components).map(entry).collect()
    } else {
        vec![
            LegendEntry::new("item", Colour::Kind(0), Sign::Point(Shape::Circle)),
            LegendEntry::new("compared", Colour::Faint, Sign::Line),
        ]
    };
    Chart {
        id: "comparisons".to_owned(),
        title: "The comparison graph".to_owned(),
        alt: format!(
            "Points are items, lines join items that were compared: {} items, {} pairs, {}.",
            thousands(all as u64),
            thousands(pairs.len() as u64),
            counted(graph.components().len() as u64, "component", "components"),
        ),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
        x: Axis::hidden(-0.1, 1.1),
        y: Axis::hidden(-0.06, 1.1),
        aspect: 0.66,
        marks,
        legend,
    }
}

/// Places in the unit square by forces: items that were compared come close.
fn layout(items: usize, edges: &[(usize, usize, usize)]) -> Vec<(f64, f64)> {
    let mut plot = NetworkPlot::new().with_layout(NetworkLayout::ForceDirected);
    for item in 0..items {
        plot = plot.with_node(item.to_string());
    }
    for &(_, a, b) in edges {
        plot = plot.with_edge(a.to_string(), b.to_string(), 1.0);
    }
    plot.compute_positions()
}
