//! γ of each distinct vote along a path, with the true outliers highlighted.
use hodgerank::path::{Parameter, StopAt};
use hodgerank::solve::bregman::{self, BregmanOptions};
use hodgerank::solve::huber_lasso;
use hodgerank::{ComparisonGraph, Method, Path};
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, Mark, Sign};

use crate::charts::{OUTLIER, axis, chart, line};
use crate::columns::{counts, numbers, table};
use crate::error::Result;
use crate::labelled_study::LabelledStudy;
use crate::statistics::range;

/// Number of points along the path at which γ is evaluated.
const SAMPLES: usize = 100;

/// Returns γ along a path as a table and as a chart. `lbi` are the options of linearised Bregman
/// iteration.
pub(super) fn of(
    study: &LabelledStudy,
    method: Method,
    path: &Path,
    lbi: &BregmanOptions,
) -> Result<(Table, Chart)> {
    let graph = &study.graph;
    let (from, to) = (path.knots[0], path.knots[path.knots.len() - 1]);
    let at = |k: usize| from + (to - from) * k as f64 / (SAMPLES - 1) as f64;
    let gamma = |k: usize| match method {
        Method::Bregman => {
            Ok(bregman::compute_path_and_outliers(graph, lbi, StopAt::Value(at(k)))?.1)
        }
        _ => Ok(gamma_on_path(graph, path, at(k))),
    };
    let gammas: Vec<Vec<f64>> = (0..SAMPLES).map(gamma).collect::<Result<_>>()?;
    let is_bad = |g: &usize| study.bad[*g] > 0.0;
    let (bad, good): (Vec<usize>, Vec<usize>) = (0..graph.groups().len()).partition(is_bad);
    let rows = || (0..SAMPLES).flat_map(|k| (0..graph.groups().len()).map(move |g| (k, g)));
    let mut data = table([
        (path.parameter.as_str(), numbers(rows().map(|(k, _)| at(k)))),
        ("group", counts(rows().map(|(_, g)| g as u64))),
        ("gamma", numbers(rows().map(|(k, g)| gammas[k][g]))),
    ]);
    let truth = rows().map(|(_, g)| study.bad[g] > 0.0).collect();
    data.push("bad", hodgerank_io::write::Column::Truth(truth));

    let groups = graph.groups();
    let trace = |&g: &usize| {
        let points: Vec<(f64, f64)> = (0..SAMPLES).map(|k| (at(k), gammas[k][g])).collect();
        let (left, right) = (groups.left[g] + 1, groups.right[g] + 1);
        let what = if is_bad(&g) { "bad" } else { "good" };
        let hover = format!("{left} and {right}, y = {}: {what}", groups.y[g]);
        line(if is_bad(&g) { OUTLIER } else { Colour::Muted }, &points, &hover)
    };
    // Outliers are drawn last, on top.
    let marks: Vec<Mark> = good.iter().chain(&bad).map(trace).collect();
    let alt = format!(
        "γ of {} distinct votes along the path of {method}; the {} true outliers among them are \
         highlighted.",
        groups.len(),
        bad.len()
    );
    let (low, high) = range(gammas.iter().flatten().copied());
    let axis_name = if path.parameter == Parameter::Lambda { "λ" } else { "t" };
    let (x, y) = (axis(axis_name, from, to), Axis::numbers("γ", [low, high]));
    let mut chart =
        chart(&format!("auc-path-{method}"), &format!("Path of {method}"), &alt, x, y, marks);
    chart.legend = vec![
        LegendEntry::new("true outliers", OUTLIER, Sign::Line),
        LegendEntry::new("good votes", Colour::Muted, Sign::Line),
    ];
    Ok((data, chart))
}

/// Returns γ of hlasso, or of iss: the residual of flagged votes, 0 elsewhere.
fn gamma_on_path(graph: &ComparisonGraph, path: &Path, at: f64) -> Vec<f64> {
    let theta = path.scores_at(at);
    if path.parameter == Parameter::Lambda {
        return huber_lasso::outliers(graph, &theta, at);
    }
    let r = huber_lasso::outliers(graph, &theta, 0.0);
    let mut gamma = vec![0.0; r.len()];
    for g in path.flagged_at(at) {
        gamma[g as usize] = r[g as usize];
    }
    gamma
}
