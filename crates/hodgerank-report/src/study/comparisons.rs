//! The section about the comparison graph and its components.

use kuva::plot::network::{NetworkLayout, NetworkPlot};
use rustc_hash::FxHashMap;

use super::item_order::{ItemOrder, label};
use crate::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, Mark, PointShape, Sign, short_label,
};
use crate::document::{Fold, Section};
use crate::findings::StudyFindings;
use crate::table::{PageColumn, PageTable, Values};
use crate::words::{counted, percent, thousands};

/// Maximum number of items in the chart: larger graphs are not legible.
const MAX_ITEMS: usize = 100;
/// Maximum number of pairs in the chart.
const MAX_PAIRS: usize = 1_200;
/// Maximum number of items up to which their names are shown.
const MAX_NAMED: usize = 40;
/// Maximum number of components in the table.
const MAX_LISTED: usize = 200;

pub(super) fn section(findings: &StudyFindings<'_>, order: &mut ItemOrder) -> Section {
    let graph = findings.ranked.graph;
    let design = &findings.diagnosis.design;
    let mut section = Section::new("comparisons", "Which items were compared", Fold::Detail);
    let possible = design.items as u64 * (design.items as u64).saturating_sub(1) / 2;
    let pairs = match design.pairs as u64 {
        1 if possible == 1 => "The only pair of items was compared".to_owned(),
        pairs if pairs == possible => {
            format!("All {} pairs of items were compared", thousands(pairs))
        }
        pairs => format!(
            "{} of {} possible pairs of items {} compared ({})",
            thousands(pairs),
            thousands(possible),
            if pairs == 1 { "was" } else { "were" },
            percent(design.density),
        ),
    };
    let mean = design.votes_per_pair.mean;
    section.text.push(match design.pairs {
        0 => format!("{pairs}."),
        _ if mean == 1.0 => format!("{pairs}, once each."),
        1 => format!("{pairs}, {mean:.0} times."),
        _ => format!("{pairs}, {mean:.1} times on average."),
    });
    let components = graph.components().len();
    if components > 1 {
        section.text.push(format!(
            "The items form {} components that no vote connects. Each is ranked separately; ranks and \
             scores of different components cannot be compared.",
            thousands(components as u64)
        ));
        section.tables.push(component_table(findings, order));
    }
    if !graph.pairs().is_empty() {
        section.charts.push(chart(findings, order));
    }
    section
}

fn component_table(findings: &StudyFindings<'_>, order: &mut ItemOrder) -> PageTable {
    let rows = &findings.ranked.study.components;
    let listed = &rows[..rows.len().min(MAX_LISTED)];
    let components = findings.ranked.graph.components();
    let best = |c: u32| {
        let members = components.members(c as usize - 1).iter();
        members.copied().min_by_key(|&item| order.position[item as usize]).unwrap_or(0)
    };
    let best: Vec<u32> = listed.iter().map(|row| best(row.component)).collect();
    let whole = |values: Vec<i64>| Values::Whole(values.into_iter().map(Some).collect());
    let note = (listed.len() < rows.len()).then(|| {
        let all = thousands(rows.len() as u64);
        format!("The largest {} of {all} components are listed.", listed.len())
    });
    let number =
        |pick: fn(&hodgerank::ComponentSummary) -> i64| whole(listed.iter().map(pick).collect());
    PageTable {
        id: "components".to_owned(),
        title: "Components".to_owned(),
        note,
        columns: vec![
            PageColumn::new("component", "component", number(|row| row.component.into())),
            PageColumn::new("items", "items", number(|row| row.items as i64)),
            PageColumn::new("votes", "votes", number(|row| row.comparisons as i64)),
            PageColumn::new(
                "best",
                "best item",
                Values::Item(best.into_iter().map(|item| order.index(item)).collect()),
            ),
        ],
    }
}

fn chart(findings: &StudyFindings<'_>, order: &ItemOrder) -> Chart {
    let graph = findings.ranked.graph;
    let pairs = graph.pairs();
    let all = order.ranking.items.len();
    // If not all items can be drawn, they are sampled evenly over the ranking.
    let drawn = all.min(MAX_ITEMS);
    let items: Vec<u32> = (0..drawn).map(|k| order.ranking.items[k * all / drawn].item).collect();
    let index: FxHashMap<u32, usize> = items.iter().enumerate().map(|(k, &i)| (i, k)).collect();
    let ends = |p: usize| Some((*index.get(&pairs.left[p])?, *index.get(&pairs.right[p])?));
    let mut edges: Vec<(usize, usize, usize)> =
        (0..pairs.len()).filter_map(|p| ends(p).map(|(a, b)| (p, a, b))).collect();
    edges.sort_by(|a, b| pairs.weight[b.0].total_cmp(&pairs.weight[a.0]).then(a.0.cmp(&b.0)));
    let among = edges.len();
    edges.truncate(MAX_PAIRS);
    let positions = layout(drawn, &edges);
    let position = |k: usize| positions[k];

    let words = |&(p, a, b): &(usize, usize, usize)| {
        let (a, b) = (label(findings.ranked, items[a]), label(findings.ranked, items[b]));
        format!("{a} – {b}: {}", counted(pairs.weight[p] as u64, "vote", "votes"))
    };
    let mut marks = vec![Mark::Segments {
        colour: Colour::Faint,
        width: if edges.len() > 300 { 0.6 } else { 1.2 },
        arrow: false,
        x0: edges.iter().map(|&(_, a, _)| position(a).0).collect(),
        y0: edges.iter().map(|&(_, a, _)| position(a).1).collect(),
        x1: edges.iter().map(|&(_, _, b)| position(b).0).collect(),
        y1: edges.iter().map(|&(_, _, b)| position(b).1).collect(),
        hover: Hover::Words { words: edges.iter().map(words).collect() },
    }];
    let record = |k: usize| &order.ranking.items[order.position[items[k] as usize] as usize];
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
                short_label(findings.ranked.items.name(row.item), 60),
                row.rank
            )
        });
        marks.push(Mark::Points {
            colour: Colour::Kind(c as u8),
            shape: PointShape::Circle,
            size: if drawn > MAX_NAMED { 4.0 } else { 6.0 },
            x: own.iter().map(|&k| position(k).0).collect(),
            y: own.iter().map(|&k| position(k).1).collect(),
            hover: Hover::Words { words: words.collect() },
            follows: None,
        });
    }
    if drawn <= MAX_NAMED {
        marks.push(Mark::Texts {
            colour: Colour::Ink,
            anchor: Anchor::Middle,
            x: (0..drawn).map(|k| position(k).0).collect(),
            y: (0..drawn).map(|k| position(k).1 + 0.035).collect(),
            text: items.iter().map(|&item| label(findings.ranked, item)).collect(),
        });
    }
    let mut notes = Vec::new();
    if drawn < all {
        let all = thousands(all as u64);
        notes.push(format!("{drawn} of {all} items are shown, sampled evenly over the ranking."));
    }
    if edges.len() < among {
        let (shown, among) = (thousands(edges.len() as u64), thousands(among as u64));
        notes.push(format!(
            "Of the {among} pairs among them, the {shown} with the most votes are shown."
        ));
    }
    let legend = if graph.components().len() > 1 {
        let entry = |c: usize| {
            let name = match c + 1 == components && graph.components().len() > components {
                true => format!("components {} and above", c + 1),
                false => format!("component {}", c + 1),
            };
            LegendEntry::new(name, Colour::Kind(c as u8), Sign::Point(PointShape::Circle))
        };
        (0..components).map(entry).collect()
    } else {
        vec![
            LegendEntry::new("item", Colour::Kind(0), Sign::Point(PointShape::Circle)),
            LegendEntry::new("compared", Colour::Faint, Sign::Line),
        ]
    };
    Chart {
        id: "comparisons".to_owned(),
        title: "The comparison graph".to_owned(),
        alt: format!(
            "Points are items; lines connect items that were compared: {}, {}, {}.",
            counted(all as u64, "item", "items"),
            counted(pairs.len() as u64, "pair", "pairs"),
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

/// Force-directed layout in the unit square.
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
