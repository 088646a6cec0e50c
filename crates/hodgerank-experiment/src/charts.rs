//! Charts that several experiments share.

use hodgerank_report::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Ramp, Sign, Ticks,
};

/// The colour of outliers.
pub(crate) const OUTLIER: Colour = Colour::Kind(1);

pub(crate) fn axis(name: &str, from: f64, to: f64) -> Axis {
    Axis { name: name.to_owned(), from, to, ticks: Ticks::Numbers }
}

/// Returns a chart without note and legend.
pub(crate) fn chart(id: &str, title: &str, alt: &str, x: Axis, y: Axis, marks: Vec<Mark>) -> Chart {
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        alt: alt.to_owned(),
        note: None,
        x,
        y,
        aspect: 0.75,
        marks,
        legend: Vec::new(),
    }
}

pub(crate) fn line(colour: Colour, points: &[(f64, f64)], hover: &str) -> Mark {
    Mark::Line {
        colour,
        width: 1.5,
        dashed: false,
        curve: LineCurve::Straight,
        x: points.iter().map(|p| p.0).collect(),
        y: points.iter().map(|p| p.1).collect(),
        hover: hover.to_owned(),
    }
}

pub(crate) fn points(
    colour: Colour,
    shape: PointShape,
    positions: &[(f64, f64)],
    words: Vec<String>,
) -> Mark {
    Mark::Points {
        colour,
        shape,
        size: 3.0,
        x: positions.iter().map(|p| p.0).collect(),
        y: positions.iter().map(|p| p.1).collect(),
        hover: if words.is_empty() { Hover::Nothing } else { Hover::Words { words } },
        follows: None,
    }
}

/// Returns a heat map over numbers of votes and shares of outliers; `value[row][column]` is from
/// `min` to 1.
pub(crate) fn heat_map(
    id: &str,
    title: &str,
    alt: &str,
    grid: &Grid,
    value: &[Vec<f64>],
    min: f64,
) -> Chart {
    let cells =
        || (0..grid.shares.len()).flat_map(|r| (0..grid.samples.len()).map(move |c| (r, c)));
    let words = |(r, c): (usize, usize)| {
        let (samples, share) = (grid.samples[c], 100.0 * grid.shares[r]);
        format!("{samples} votes, {share:.0}% outliers: {:.3}", value[r][c])
    };
    let marks = vec![Mark::Cells {
        x: cells().map(|(_, c)| c as f64).collect(),
        y: cells().map(|(r, _)| r as f64).collect(),
        width: 1.0,
        height: 1.0,
        value: cells().map(|(r, c)| ((value[r][c] - min) / (1.0 - min)).clamp(0.0, 1.0)).collect(),
        ramp: Ramp::Steps,
        hover: Hover::Words { words: cells().map(words).collect() },
    }];
    let samples = grid.samples.iter().map(u64::to_string).collect();
    let shares = grid.shares.iter().map(|share| format!("{:.0}%", 100.0 * share)).collect();
    let (x, y) = (Axis::labels("votes", samples), Axis::labels("outliers", shares));
    let mut chart = chart(id, title, alt, x, y, marks);
    let entry = |step: u8| {
        let value = min + (1.0 - min) * f64::from(step) / 9.0;
        LegendEntry::new(format!("{value:.2}"), Colour::Step(step), Sign::Bar)
    };
    chart.legend = [0, 3, 6, 9].map(entry).to_vec();
    chart
}

/// The numbers of votes (columns) and shares of outliers (rows) of a heat map.
pub(crate) struct Grid {
    pub(crate) samples: Vec<u64>,
    pub(crate) shares: Vec<f64>,
}

impl Grid {
    /// Returns every cell as (row, column), row by row.
    pub(crate) fn cells(&self) -> Vec<(usize, usize)> {
        let columns = self.samples.len();
        (0..self.shares.len()).flat_map(|r| (0..columns).map(move |c| (r, c))).collect()
    }

    /// Splits values that are given row by row into rows.
    pub(crate) fn rows(&self, values: &[f64]) -> Vec<Vec<f64>> {
        values.chunks(self.samples.len()).map(<[f64]>::to_vec).collect()
    }
}

/// Returns a bump chart: the rank of each item by each method.
pub(crate) fn bump(
    id: &str,
    title: &str,
    methods: &[&str],
    items: &[String],
    ranks: &[Vec<u32>],
) -> Chart {
    let reference = &ranks[0];
    let line = |item: usize| Mark::Line {
        colour: Colour::Kind((reference[item] as usize - 1) as u8 % 8),
        width: 2.0,
        dashed: false,
        curve: LineCurve::Smooth,
        x: (0..methods.len()).map(|m| m as f64).collect(),
        y: ranks.iter().map(|of_method| f64::from(of_method[item])).collect(),
        hover: items[item].clone(),
    };
    let names = |end: usize, shift: f64, anchor| Mark::Texts {
        colour: Colour::Ink,
        anchor,
        x: vec![end as f64 + shift; items.len()],
        y: ranks[end].iter().map(|&rank| f64::from(rank)).collect(),
        text: items.iter().map(|item| hodgerank_report::chart::short_label(item, 12)).collect(),
    };
    let last = methods.len() - 1;
    let mut marks: Vec<Mark> = (0..items.len()).map(line).collect();
    marks.push(names(0, -0.1, Anchor::End));
    marks.push(names(last, 0.1, Anchor::Start));
    let differs = |item: &usize| ranks.iter().any(|of_method| of_method[*item] != reference[*item]);
    let differing = (0..items.len()).filter(differs).count();
    let alt = format!(
        "{} items; the rank of {differing} of them differs between {} and another method.",
        items.len(),
        methods[0]
    );
    let x = Axis::labels("method", methods.iter().map(|&m| m.to_owned()).collect());
    // Rank 1 is at the top.
    let y = axis("rank", items.len() as f64 + 0.5, 0.5);
    chart(id, title, &alt, x, y, marks)
}
