//! The section about the path: scores against the share of flagged votes.

use hodgerank::Method;
use hodgerank::{ComparisonGraph, Labels, Path, Ranking};

use super::item_order::{ItemOrder, MAX_LABEL, best_and_worst, label, rows_note};
use super::stops::votes_at_knots;
use crate::chart::{Anchor, Axis, Chart, Colour, LegendEntry, LineCurve, Mark, Sign, short_label};
use crate::document::{Fold, PATH, Section, Slider};
use crate::findings::StudyFindings;
use crate::words::percent;

/// Maximum number of lines in the chart.
const MAX_DRAWN: usize = 60;
/// Maximum number of lines up to which they are labelled at their ends.
const MAX_NAMED: usize = 24;

pub(super) fn section(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    slider: &Slider,
    method: Method,
) -> Section {
    let last = slider.share.last().copied().unwrap_or(0.0);
    let parameter = if slider.parameter == "lambda" { "λ decreases" } else { "time t increases" };
    let mut section =
        Section::new(PATH, "How scores change as more votes are flagged", Fold::Detail);
    section.text.push(format!(
        "At the left no vote is flagged. To the right more and more are, the most suspicious first, up to \
         {} of all votes. The report's ranking is at {}.",
        percent(last),
        percent(slider.share[slider.chosen]),
    ));
    section.help.push(format!(
        "This is the path of the method {method}: more votes are flagged as {parameter}. The slider at the top \
         of the page moves along it."
    ));
    let own = findings.ranked.fit.method;
    if method != own {
        section.help.push(format!(
            "The method of the report's ranking, {own}, has no path. The slider shows the report's ranking \
             at its own stop, and the path of {method} at all other stops.",
        ));
    }
    section.charts.push(chart(findings, order, slider));
    section
}

fn chart(findings: &StudyFindings<'_>, order: &ItemOrder, slider: &Slider) -> Chart {
    let mut shown = order.best_and_worst(MAX_DRAWN);
    shown.retain(|&row| row < order.listed);
    let name = |&row: &usize| label(findings.ranked, order.ranking.items[row].item);
    // The ranking of a method without a path is not on the path of another one.
    let is_own =
        findings.path.as_ref().is_some_and(|(path, _)| *path == findings.ranked.fit.method);
    let is_on_path = |stop: &usize| is_own || *stop != slider.chosen;
    let stops: Vec<usize> = (0..slider.scores.len()).filter(is_on_path).collect();
    let scores = |&row: &usize| stops.iter().map(|&stop| slider.scores[stop][row]).collect();
    let best =
        order.ranking.items.first().map_or(String::new(), |row| label(findings.ranked, row.item));
    let last = slider.share.last().copied().unwrap_or(0.0);
    ScoreLines {
        share: stops.iter().map(|&stop| slider.share[stop]).collect(),
        names: shown.iter().map(name).collect(),
        scores: shown.iter().map(scores).collect(),
        item_count: order.ranking.items.len(),
        alt: format!(
            "One line per item: its score as the share of flagged votes increases from 0 to {}. \
             {best} is best in the report's ranking, at {}.",
            percent(last),
            percent(slider.share[slider.chosen]),
        ),
    }
    .chart()
}

/// Returns a chart of the scores along a path. Items are ordered by their score at the end of it.
#[must_use]
pub fn path_chart(path: &Path, graph: &ComparisonGraph, items: &Labels) -> Chart {
    /// Maximum number of knots in a line.
    const MAX_KNOTS: usize = 200;
    let votes = votes_at_knots(path, &graph.groups().weight);
    let all = graph.groups().votes();
    let knots = path.snapshot_knots();
    let step = knots.len().div_ceil(MAX_KNOTS).max(1);
    let mut stops: Vec<usize> = (0..knots.len()).step_by(step).collect();
    stops.extend((!(knots.len() - 1).is_multiple_of(step)).then(|| knots.len() - 1));
    let ranking = Ranking::new(graph, path.last_scores());
    let shown = best_and_worst(ranking.items.len(), MAX_DRAWN);
    let item = |&row: &usize| ranking.items[row].item;
    let name = |row: &usize| short_label(items.name(item(row)), MAX_LABEL);
    let scores = |row: &usize| {
        let of = |&stop: &usize| path.snapshot(stop)[item(row) as usize];
        stops.iter().map(of).collect()
    };
    let share: Vec<f64> = stops.iter().map(|&stop| votes[knots[stop] as usize] / all).collect();
    let last = share.last().copied().unwrap_or(0.0);
    let names: Vec<String> = shown.iter().map(name).collect();
    ScoreLines {
        alt: format!(
            "One line per item: its score as the share of flagged votes increases from 0 to {}. {} \
             is best at the end.",
            percent(last),
            names.first().map_or("", String::as_str),
        ),
        share,
        scores: shown.iter().map(scores).collect(),
        names,
        item_count: ranking.items.len(),
    }
    .chart()
}

/// One line for each of the items shown.
struct ScoreLines {
    /// Share of flagged votes at each knot, increasing.
    share: Vec<f64>,
    names: Vec<String>,
    /// For each name, the score at each knot.
    scores: Vec<Vec<f64>>,
    /// Number of all items, shown or not.
    item_count: usize,
    alt: String,
}

impl ScoreLines {
    fn chart(self) -> Chart {
        let Self { share, names, scores, item_count, alt } = self;
        let shown = names.len();
        // The best items have colours of their own; if there are few items, all have.
        let is_highlighted = |k: usize| shown <= 8 || k < 7;
        let y = Axis::numbers("score", scores.iter().flatten().copied());
        let last = share.last().copied().unwrap_or(0.0);
        let ends: Vec<f64> = scores.iter().filter_map(|line| line.last().copied()).collect();
        let line = |(k, scores): (usize, Vec<f64>)| Mark::Line {
            colour: if is_highlighted(k) { Colour::Kind(k as u8) } else { Colour::Muted },
            width: if is_highlighted(k) { 2.0 } else { 1.0 },
            dashed: false,
            curve: LineCurve::Straight,
            x: share.clone(),
            y: scores,
            hover: names[k].clone(),
        };
        // Highlighted lines are drawn last, on top.
        let mut marks: Vec<Mark> = scores.into_iter().enumerate().rev().map(line).collect();
        let named = shown <= MAX_NAMED;
        if named {
            marks.push(Mark::Texts {
                colour: Colour::Ink,
                anchor: Anchor::Start,
                x: vec![1.015 * last; shown],
                y: spread(ends, (y.to - y.from) / 26.0),
                text: names.clone(),
            });
        }
        let mut x = Axis::shares("share of votes flagged", last);
        if named {
            // Space for the names.
            x.to = 1.25 * last;
        }
        Chart {
            id: PATH.to_owned(),
            title: "Scores along the path".to_owned(),
            alt,
            note: rows_note(shown, item_count),
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

/// Moves values apart, keeping their order, until neighbours are at least `gap` apart. Values that
/// have to move stay centred on their mean.
fn spread(values: Vec<f64>, gap: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)));
    // Runs of values exactly `gap` apart: their mean and count.
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for &k in &order {
        let mut run = (values[k], 1);
        while let Some(&(mean, count)) = runs.last() {
            let min_distance = 0.5 * gap * (count + run.1) as f64;
            if run.0 - mean >= min_distance {
                break;
            }
            runs.pop();
            let total = count + run.1;
            let sum = mean * count as f64 + run.0 * run.1 as f64;
            run = (sum / total as f64, total);
        }
        runs.push(run);
    }
    let mut spread = values;
    let mut next = order.iter();
    for (mean, count) in runs {
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
    fn names_do_not_overlap() {
        let apart = spread(vec![0.0, 0.01, 0.02, 5.0], 1.0);
        assert!((apart[0] + 0.99).abs() < 1e-12, "{apart:?}");
        assert!((apart[2] - apart[0] - 2.0).abs() < 1e-12, "{apart:?}");
        assert_eq!(apart[3], 5.0);
        assert_eq!(spread(Vec::new(), 1.0), Vec::<f64>::new());
    }
}
