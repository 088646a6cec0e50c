//! γ of each group along a path, true outliers marked.

use hodgerank::path::{Parameter, StopAt};
use hodgerank::solve::bregman;
use hodgerank::solve::huber_lasso;
use hodgerank::{ComparisonGraph, Path};
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Mark, Sign};

use super::{LBI, METHODS, SHOWN, lbi, path};
use crate::columns::{counts, numbers, range, table};
use crate::draw::{OUTLIER, axis, chart, line};
use crate::error::Result;
use crate::study::KnownStudy;

/// Places along the path at which γ is read.
const PLACES: usize = 100;
/// Share of the votes flagged at the end of what is shown: several times the outliers.
const SHOWN_SHARE: f64 = 0.25;

/// γ along the path of a method: as a table, and as lines.
pub(super) fn of(study: &KnownStudy, method: usize) -> Result<(Table, Chart)> {
    let graph = &study.graph;
    let until = StopAt::Flagged(SHOWN_SHARE * graph.groups().votes());
    let path = path(graph, method, until)?;
    let (from, to) = (path.knots[0], path.knots[path.knots.len() - 1]);
    let at = |k: usize| from + (to - from) * k as f64 / (PLACES - 1) as f64;
    let gammas: Vec<Vec<f64>> =
        (0..PLACES).map(|k| gamma(graph, &path, method, at(k))).collect::<Result<_>>()?;
    let is_bad = |g: &usize| study.bad[*g] > 0.0;
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..graph.groups().len()).partition(is_bad);
    let rows = || (0..PLACES).flat_map(|k| (0..graph.groups().len()).map(move |g| (k, g)));
    let mut data = table([
        (path.parameter.as_str(), numbers(rows().map(|(k, _)| at(k)))),
        ("group", counts(rows().map(|(_, g)| g as u64))),
        ("gamma", numbers(rows().map(|(k, g)| gammas[k][g]))),
    ]);
    let truth = rows().map(|(_, g)| study.bad[g] > 0.0).collect();
    data.push("bad", hodgerank_io::write::Column::Truth(truth));

    let groups = graph.groups();
    let trace = |&g: &usize| {
        let points: Vec<(f64, f64)> = (0..PLACES).map(|k| (at(k), gammas[k][g])).collect();
        let (left, right) = (groups.left[g] + 1, groups.right[g] + 1);
        let what = if is_bad(&g) { "bad" } else { "good" };
        let hover = format!("{left} and {right}, y = {}: {what}", groups.y[g]);
        line(if is_bad(&g) { OUTLIER } else { Colour::Muted }, &points, &hover)
    };
    // Outliers on top.
    let marks: Vec<Mark> = good.iter().chain(&bad).map(trace).collect();
    let name = METHODS[method];
    let alt = format!(
        "γ of {} groups of votes along the path of {name}; those of the {} groups of true outliers \
         are marked.",
        groups.len(),
        bad.len()
    );
    let (low, high) = range(gammas.iter().flatten().copied());
    let axis_name = if path.parameter == Parameter::Lambda { "λ" } else { "t" };
    let title = format!("Path of {name}, {} votes, {:.0}% outliers", SHOWN.0, 100.0 * SHOWN.1);
    let x = axis(axis_name, from, to);
    let mut chart =
        chart(&format!("auc-path-{name}"), &title, &alt, x, Axis::numbers("γ", [low, high]), marks);
    chart.legend = vec![
        LegendEntry::new("true outliers", OUTLIER, Sign::Line),
        LegendEntry::new("good votes", Colour::Muted, Sign::Line),
    ];
    Ok((data, chart))
}

fn gamma(graph: &ComparisonGraph, path: &Path, method: usize, at: f64) -> Result<Vec<f64>> {
    if method == LBI {
        let until = StopAt::Value(at);
        return Ok(bregman::compute_path_and_outliers(graph, &lbi(), until)?.1);
    }
    let theta = path.scores_at(at);
    if path.parameter == Parameter::Lambda {
        return Ok(huber_lasso::outliers(graph, &theta, at));
    }
    // γ = r on what is flagged, 0 elsewhere.
    let r = huber_lasso::outliers(graph, &theta, 0.0);
    let mut gamma = vec![0.0; r.len()];
    for g in path.flagged_at(at) {
        gamma[g as usize] = r[g as usize];
    }
    Ok(gamma)
}
