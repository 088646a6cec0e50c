//! Predicted probabilities next to the shares of votes that agree with them.

use hodgerank::predict::CalibrationBin;

use crate::chart::{
    Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Sign, Ticks,
};
use crate::words::{counted, percent};

/// Space around the ends of the axes, so that marks at 0 and 1 are drawn in full.
const MARGIN: f64 = 0.03;
/// Radii of the smallest and the largest point, in pixels. Areas are proportional to numbers of votes.
const SIZES: (f64, f64) = (2.0, 9.0);

/// The chart of a calibration table. On the diagonal, predictions and votes agree.
#[must_use]
pub fn calibration_chart(bins: &[CalibrationBin], method: &str) -> Chart {
    let point = |bin: &CalibrationBin| Some((bin.mean_prediction?, bin.preferred_left?, bin.votes));
    let points: Vec<(f64, f64, u64)> = bins.iter().filter_map(point).collect();
    let axis = |name: &str| Axis {
        name: name.to_owned(),
        from: -MARGIN,
        to: 1.0 + MARGIN,
        ticks: Ticks::Shares,
    };
    let line = |colour, dashed, x: Vec<f64>, y: Vec<f64>| Mark::Line {
        colour,
        width: 1.5,
        dashed,
        curve: LineCurve::Straight,
        x,
        y,
        hover: String::new(),
    };
    let xs = || points.iter().map(|point| point.0);
    let ys = || points.iter().map(|point| point.1);
    let most = points.iter().map(|point| point.2).max().unwrap_or(1) as f64;
    let mut marks = vec![
        line(Colour::Muted, true, vec![0.0, 1.0], vec![0.0, 1.0]),
        line(Colour::Kind(0), false, xs().collect(), ys().collect()),
    ];
    marks.extend(points.iter().map(|&(x, y, votes)| Mark::Points {
        colour: Colour::Kind(0),
        shape: PointShape::Circle,
        size: (SIZES.1 * (votes as f64 / most).sqrt()).max(SIZES.0),
        x: vec![x],
        y: vec![y],
        hover: Hover::Nothing,
        follows: None,
    }));
    let describe = |&(x, y, votes): &(f64, f64, u64)| {
        format!("{} predicted, {} of {}", percent(x), percent(y), counted(votes, "vote", "votes"))
    };
    let described: Vec<String> = points.iter().map(describe).collect();
    Chart {
        id: "calibration".to_owned(),
        title: "Predictions and held-out votes".to_owned(),
        alt: format!(
            "Share of held-out votes for the left item, against the predicted probability: {}.",
            described.join("; ")
        ),
        note: None,
        x: axis("predicted probability that the left item is preferred"),
        y: axis("share of votes that prefer it"),
        aspect: 0.8,
        marks,
        legend: vec![
            LegendEntry::new(method, Colour::Kind(0), Sign::Point(PointShape::Circle)),
            LegendEntry::new("votes as predicted", Colour::Muted, Sign::Dashes),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hodgerank::predict::Evaluation;

    #[test]
    fn bins_with_votes_are_points() {
        let found = Evaluation::new([(2.0, true, 8), (2.0, false, 1), (-1.0, false, 4)]);
        let chart = calibration_chart(&found.calibration, "bt");
        let points = chart.marks.iter().filter(|mark| matches!(mark, Mark::Points { .. }));
        assert_eq!(points.count(), 2);
        assert!(chart.alt.contains("88.1% predicted, 88.9% of 9 votes"), "{}", chart.alt);
        let empty = calibration_chart(&Evaluation::new([]).calibration, "bt");
        assert!(crate::figure::draw(&empty).into_svg().starts_with("<svg"));
    }
}
