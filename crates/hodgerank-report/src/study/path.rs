//! Scores along the path: what the slider walks through.

use hodgerank::Method;
use hodgerank::{ComparisonGraph, Labels, Path, Ranking};

use super::order::{CHART_LABEL, Order, ends, label, rows_note};
use super::slider::votes_at_knots;
use crate::chart::{Anchor, Axis, Chart, Colour, Curve, LegendEntry, Mark, Sign, short};
use crate::document::{PATH, Section, Slider};
use crate::findings::Findings;
use crate::words::percent;

/// Lines in the chart.
const DRAWN: usize = 60;
/// Lines with their names at the end.
const NAMED: usize = 24;

pub(super) fn section(
    findings: &Findings<'_>,
    order: &Order,
    slider: &Slider,
    method: Method,
) -> Section {
    let last = slider.share.last().copied().unwrap_or(0.0);
    let parameter = if slider.parameter == "lambda" { "λ falls" } else { "time t grows" };
    let mut text = vec![format!(
        "The path of {}: from the left, where every vote counts, more and more votes are set aside \
         as {parameter}, the least believable first, up to {} of all votes. The slider above walks \
         along it. The report's ranking was taken at {}.",
        method.as_str(),
        percent(last),
        percent(slider.share[slider.chosen]),
    )];
    if method != findings.ranked.fit.method {
        text.push(format!(
            "The ranking itself is by {}, which has no path of its own scores: at the report's \
             choice the slider shows that ranking, elsewhere the path of {}.",
            findings.ranked.fit.method.as_str(),
            method.as_str(),
        ));
    }
    Section {
        id: PATH.to_owned(),
        title: "From trusting everything to trusting less".to_owned(),
        text,
        charts: vec![chart(findings, order, slider)],
        tables: Vec::new(),
    }
}

fn chart(findings: &Findings<'_>, order: &Order, slider: &Slider) -> Chart {
    let mut shown = order.ends(DRAWN);
    shown.retain(|&row| row < order.listed);
    let name = |&row: &usize| label(findings, order.ranking.items[row].item);
    let scores = |&row: &usize| slider.scores.iter().map(|scores| scores[row]).collect();
    let best = order.ranking.items.first().map_or(String::new(), |row| label(findings, row.item));
    let last = slider.share.last().copied().unwrap_or(0.0);
    Lines {
        share: slider.share.clone(),
        names: shown.iter().map(name).collect(),
        scores: shown.iter().map(scores).collect(),
        of_items: order.ranking.items.len(),
        alt: format!(
            "One line for each item: its score while the share of votes set aside grows from 0 to \
             {}. {best} leads where the ranking was taken, at {}.",
            percent(last),
            percent(slider.share[slider.chosen]),
        ),
    }
    .chart()
}

/// The scores along a path by itself, the best at its end first.
#[must_use]
pub fn path_chart(path: &Path, graph: &ComparisonGraph, items: &Labels) -> Chart {
    /// Places along the path that a line runs through.
    const STOPS: usize = 200;
    let votes = votes_at_knots(path, &graph.groups().weight);
    let all = graph.groups().votes();
    let knots = path.snapshot_knots();
    let step = knots.len().div_ceil(STOPS).max(1);
    let mut stops: Vec<usize> = (0..knots.len()).step_by(step).collect();
    stops.extend((!(knots.len() - 1).is_multiple_of(step)).then(|| knots.len() - 1));
    let ranking = Ranking::new(graph, path.last_scores());
    let shown = ends(ranking.items.len(), DRAWN);
    let item = |&row: &usize| ranking.items[row].item;
    let name = |row: &usize| short(items.name(item(row)), CHART_LABEL);
    let scores = |row: &usize| {
        let of = |&stop: &usize| path.snapshot(stop)[item(row) as usize];
        stops.iter().map(of).collect()
    };
    let share: Vec<f64> = stops.iter().map(|&stop| votes[knots[stop] as usize] / all).collect();
    let last = share.last().copied().unwrap_or(0.0);
    let names: Vec<String> = shown.iter().map(name).collect();
    Lines {
        alt: format!(
            "One line for each item: its score while the share of votes set aside grows from 0 to \
             {}. {} leads at the end.",
            percent(last),
            names.first().map_or("", String::as_str),
        ),
        share,
        scores: shown.iter().map(scores).collect(),
        names,
        of_items: ranking.items.len(),
    }
    .chart()
}

/// One line for each of some items.
struct Lines {
    /// Share of votes set aside, growing.
    share: Vec<f64>,
    names: Vec<String>,
    /// For each name its scores, as many as shares.
    scores: Vec<Vec<f64>>,
    /// How many items there are, drawn or not.
    of_items: usize,
    alt: String,
}

impl Lines {
    fn chart(self) -> Chart {
        let Self { share, names, scores, of_items, alt } = self;
        let shown = names.len();
        // The best stand out; where there are few items, all do.
        let stands_out = |k: usize| shown <= 8 || k < 7;
        let y = Axis::numbers("score", scores.iter().flatten().copied());
        let last = share.last().copied().unwrap_or(0.0);
        let ends: Vec<f64> = scores.iter().filter_map(|line| line.last().copied()).collect();
        let line = |(k, scores): (usize, Vec<f64>)| Mark::Line {
            colour: if stands_out(k) { Colour::Kind(k as u8) } else { Colour::Muted },
            width: if stands_out(k) { 2.0 } else { 1.0 },
            dashed: false,
            curve: Curve::Straight,
            x: share.clone(),
            y: scores,
            hover: names[k].clone(),
        };
        // Those that stand out are drawn last.
        let mut marks: Vec<Mark> = scores.into_iter().enumerate().rev().map(line).collect();
        let named = shown <= NAMED;
        if named {
            marks.push(Mark::Texts {
                colour: Colour::Ink,
                anchor: Anchor::Start,
                x: vec![1.015 * last; shown],
                y: spread(ends, (y.to - y.from) / 26.0),
                text: names.clone(),
            });
        }
        let mut x = Axis::shares("share of votes set aside", last);
        if named {
            // Room for the names.
            x.to = 1.25 * last;
        }
        Chart {
            id: PATH.to_owned(),
            title: "Scores along the path".to_owned(),
            alt,
            note: rows_note(shown, of_items),
            x,
            y,
            aspect: 0.6,
            marks,
            legend: if named {
                Vec::new()
            } else {
                let entry = |k: usize| {
                    LegendEntry::new(names[k].clone(), Colour::Kind(k as u8), Sign::Line)
                };
                let others = LegendEntry::new("other items", Colour::Muted, Sign::Line);
                (0..7.min(shown)).map(entry).chain([others]).collect()
            },
        }
    }
}

/// Moves values apart, in their order, until neighbours are at least `gap` from each other.
pub(super) fn spread(values: Vec<f64>, gap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)));
    // Blocks of touching values, each around the mean of what it holds.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &k in &order {
        let mut block = (values[k], 1);
        while let Some(&(mean, count)) = blocks.last() {
            let room = 0.5 * gap * (count + block.1) as f64;
            if block.0 - mean >= room {
                break;
            }
            blocks.pop();
            let together = count + block.1;
            let sum = mean * count as f64 + block.0 * block.1 as f64;
            block = (sum / together as f64, together);
        }
        blocks.push(block);
    }
    let mut spread = values;
    let mut next = order.iter();
    for (mean, count) in blocks {
        let first = mean - 0.5 * gap * (count as f64 - 1.0);
        for (step, &k) in next.by_ref().take(count).enumerate() {
            spread[k] = first + gap * step as f64;
        }
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn names_do_not_cover_each_other() {
        let apart = spread(vec![0.0, 0.01, 0.02, 5.0], 1.0);
        assert!((apart[0] + 0.99).abs() < 1e-12, "{apart:?}");
        assert!((apart[2] - apart[0] - 2.0).abs() < 1e-12, "{apart:?}");
        assert_eq!(apart[3], 5.0);
        assert_eq!(spread(Vec::new(), 1.0), Vec::<f64>::new());
    }
}
