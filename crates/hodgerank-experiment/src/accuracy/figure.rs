//! The chart of all crowds.

use hodgerank_report::chart::{Axis, Chart, Colour, LegendEntry, PointShape, Sign};

use super::crowds::Cell;
use super::estimator::Estimator;
use super::summary::Summary;
use crate::charts::{axis, chart, points};
use crate::statistics::range;

/// A method with its colour and shape.
type Series = (Estimator, Colour, PointShape);

const SERIES: [Series; 5] = [
    (Estimator::Iss, Colour::Kind(2), PointShape::Triangle),
    (Estimator::Plain, Colour::Kind(3), PointShape::Square),
    (Estimator::BradleyTerry, Colour::Kind(4), PointShape::Triangle),
    (Estimator::Oracle, Colour::Kind(1), PointShape::Square),
    (Estimator::Crowd, Colour::Kind(0), PointShape::Circle),
];

/// Distance of ticks, to which the axis is rounded.
const TICK: f64 = 0.05;

/// Plots the mean τ of each method over the designs of each crowd. l2, which is near plain, is left
/// out.
pub(super) fn draw(summary: &Summary) -> Chart {
    let mut crowds: Vec<Cell> = summary.cells.iter().map(|means| means.cell).collect();
    crowds.dedup_by_key(|cell| (cell.crowd.as_str(), cell.answers as u8));
    let tau = |estimator: Estimator, crowd: &Cell| {
        let is_in = |cell: &Cell| (cell.crowd, cell.answers) == (crowd.crowd, crowd.answers);
        summary.tau(estimator, is_in)
    };
    let (mut marks, mut legend) = (Vec::new(), Vec::new());
    let mut all: Vec<f64> = Vec::new();
    for (estimator, colour, shape) in SERIES {
        let rows = || crowds.iter().map(|crowd| tau(estimator, crowd)).enumerate();
        let defined = || rows().filter(|(_, tau)| tau.is_finite());
        let positions: Vec<(f64, f64)> = defined().map(|(row, tau)| (tau, row as f64)).collect();
        let name = estimator.as_str();
        let words = defined()
            .map(|(row, tau)| format!("{}: {name} {tau:.3}", crowds[row].crowd_name()))
            .collect();
        all.extend(positions.iter().map(|position| position.0));
        marks.push(points(colour, shape, &positions, words));
        legend.push(LegendEntry::new(name, colour, Sign::Point(shape)));
    }
    let (low, high) = range(all);
    let (low, high) = ((low / TICK).floor() * TICK, (high / TICK).ceil() * TICK);
    let of = |estimator| summary.tau(estimator, |_| true);
    let alt = format!(
        "Mean τ of each method on each crowd; on average plain {:.3}, crowd {:.3}, oracle {:.3}.",
        of(Estimator::Plain),
        of(Estimator::Crowd),
        of(Estimator::Oracle)
    );
    let names = crowds.iter().map(Cell::crowd_name).collect();
    let mut chart = chart(
        "accuracy",
        "Accuracy on simulated crowds",
        &alt,
        axis("mean τ with the truth", low, high),
        Axis::labels_down("crowd", names),
        marks,
    );
    chart.aspect = 0.6;
    chart.legend = legend;
    chart
}
