//! The chart of all rules.

use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, PointShape, Sign};

use super::{Rule, RuleMeans};
use crate::charts::{chart, points};

/// Name, colour, shape and value of a measure.
type Measure = (&'static str, Colour, PointShape, fn(&RuleMeans) -> f64);

/// Plots F1, precision and recall of each rule, the best F1 at the top.
pub(super) fn draw(rules: &[Rule], means: &[RuleMeans]) -> Chart {
    let mut order: Vec<usize> = (0..rules.len()).filter(|&k| means[k].f1.is_finite()).collect();
    order.sort_by(|&a, &b| means[b].f1.total_cmp(&means[a].f1));
    let measures: [Measure; 3] = [
        ("precision", Colour::Kind(2), PointShape::Triangle, |mean| mean.precision),
        ("recall", Colour::Kind(3), PointShape::Square, |mean| mean.recall),
        ("F1", Colour::Kind(0), PointShape::Circle, |mean| mean.f1),
    ];
    let (mut marks, mut legend) = (Vec::new(), Vec::new());
    for (name, colour, shape, of) in measures {
        let rows = || order.iter().enumerate().filter(|(_, k)| of(&means[**k]).is_finite());
        let positions: Vec<(f64, f64)> =
            rows().map(|(row, &k)| (of(&means[k]), row as f64)).collect();
        let words = rows().map(|(_, &k)| format!("{}: {name} {:.3}", rules[k].name, of(&means[k])));
        marks.push(points(colour, shape, &positions, words.collect()));
        legend.push(LegendEntry::new(name, colour, Sign::Point(shape)));
    }
    let names: Vec<String> = order.iter().map(|&k| rules[k].name.to_owned()).collect();
    let best = names.first().cloned().unwrap_or_default();
    let alt = format!("Mean F1, precision and recall of each rule; {best} has the best F1.");
    let x = Axis { name: "mean over studies with bad votes".to_owned(), ..Axis::shares("", 1.0) };
    let mut chart = chart(
        "selection",
        "Rules for how many votes to flag",
        &alt,
        x,
        Axis::labels_down("rule", names),
        marks,
    );
    chart.aspect = 0.6;
    chart.legend = legend;
    chart
}
