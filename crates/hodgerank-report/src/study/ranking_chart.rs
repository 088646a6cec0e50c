//! The chart of the ranking: robust and plain scores, error bars, and tiers as bands.

use hodgerank::RankedItem;

use super::item_order::{ItemOrder, MAX_LABEL, label, rows_note};
use super::ranking::{level, marked};
use crate::chart::{
    Anchor, Axis, Chart, Colour, Follows, Hover, LegendEntry, LineCurve, Mark, PointShape, Sign,
};
use crate::document::{RANKING, Slider};
use crate::findings::{ReportInput, StudyFindings};
use crate::words::{counted, thousands};

/// Maximum number of items in the chart.
const MAX_DRAWN: usize = 60;
/// Number of items on the first screen; two more if these are all.
const MAX_BEST: usize = 10;
/// Intervals are cut off at this multiple of the span of all scores beyond the best and the worst score, so
/// that one item of which little is known does not compress the chart.
const MAX_OVERHANG: f64 = 0.6;
/// Space between neighbouring bands, in rows.
const BAND_GAP: f64 = 0.2;

const ROBUST: Colour = Colour::Kind(0);
const PLAIN: Colour = Colour::Kind(1);

pub(super) fn chart(
    findings: &StudyFindings<'_>,
    order: &ItemOrder,
    slider: Option<&Slider>,
) -> Chart {
    // Points refer to rows of the page's table, so only listed items can be shown.
    let shown: Vec<usize> = if order.listed < order.ranking.items.len() {
        (0..MAX_DRAWN.min(order.listed)).collect()
    } else {
        order.best_and_worst(MAX_DRAWN)
    };
    let rows: Vec<&RankedItem> = shown.iter().map(|&k| &order.ranking.items[k]).collect();
    // A row of its own shows where items are left out.
    let gap = shown.windows(2).position(|pair| pair[1] > pair[0] + 1).map(|k| k + 1);
    let place = |k: usize| (k + usize::from(gap.is_some_and(|gap| k >= gap))) as f64;
    let plain: Vec<f64> = rows.iter().map(|row| order.plain_score[row.item as usize]).collect();
    let robust: Vec<f64> = rows.iter().map(|row| row.score + 0.0).collect();
    let y: Vec<f64> = (0..rows.len()).map(place).collect();
    let hover = || Hover::Rows {
        table: RANKING.to_owned(),
        rows: shown.iter().map(|&k| k as u32).collect(),
    };
    let points = |colour, shape, size, x: Vec<f64>, follows| Mark::Points {
        colour,
        shape,
        size,
        x,
        y: y.clone(),
        hover: hover(),
        follows,
    };
    let follows = slider.map(|_| Follows::Ranking);
    // The axis includes the scores at every stop of the slider.
    let moved = slider.iter().flat_map(|slider| &slider.scores);
    let moved = moved.flat_map(|scores| shown.iter().map(|&row| scores[row]));
    let scores: Vec<f64> = plain.iter().chain(&robust).copied().chain(moved).collect();
    let intervals = Intervals::new(&rows, &y, &scores);
    let bands = match findings.ranked.fit.components.len() {
        1 => bands(&rows, &y),
        _ => Vec::new(),
    };
    let ends = intervals.low.iter().chain(&intervals.high).copied();
    let x = Axis::numbers("score", scores.iter().copied().chain(ends));

    let mut marks = Vec::new();
    let mut legend = vec![
        LegendEntry::new("robust", ROBUST, Sign::Point(PointShape::Circle)),
        LegendEntry::new("plain (all votes)", PLAIN, Sign::Point(PointShape::Diamond)),
    ];
    let has_intervals = !intervals.y.is_empty();
    let cut = intervals.cut;
    if has_intervals {
        let name = format!("{} interval of the robust score", level(findings.ranked));
        legend.push(LegendEntry::new(name, ROBUST, Sign::Line));
    }
    if !bands.is_empty() {
        legend.push(LegendEntry::new("tier", Colour::Band, Sign::Bar));
        marks.push(Mark::Bands {
            y0: bands.iter().map(|&(first, _)| first).collect(),
            y1: bands.iter().map(|&(_, last)| last).collect(),
            follows,
        });
    }
    marks.push(Mark::Segments {
        colour: Colour::Faint,
        width: 2.0,
        arrow: false,
        x0: plain.clone(),
        y0: y.clone(),
        x1: robust.clone(),
        y1: y.clone(),
        hover: Hover::Nothing,
    });
    if has_intervals {
        let Intervals { low: x0, high: x1, y, .. } = intervals;
        marks.push(Mark::Intervals { colour: ROBUST, width: 1.5, x0, x1, y, follows });
    }
    marks.push(points(PLAIN, PointShape::Diamond, 4.0, plain, None));
    marks.push(points(ROBUST, PointShape::Circle, 5.0, robust, Some(Follows::Scores)));

    let best =
        order.ranking.items.first().map_or(String::new(), |row| label(findings.ranked, row.item));
    let worst =
        order.ranking.items.last().map_or(String::new(), |row| label(findings.ranked, row.item));
    let certainty = if has_intervals {
        " Error bars show how certain the robust scores are, and bands which items form a tier."
    } else {
        ""
    };
    let mut labels: Vec<String> =
        rows.iter().map(|row| marked(label(findings.ranked, row.item), row, MAX_LABEL)).collect();
    if let Some(gap) = gap {
        labels.insert(gap, "⋮".to_owned());
        let left_out = (order.ranking.items.len() - rows.len()) as u64;
        marks.extend(break_marks(gap as f64, left_out, &x));
    }
    Chart {
        id: "ranking".to_owned(),
        title: "Robust and plain scores".to_owned(),
        alt: format!(
            "Each row is an item, best at the top, with its robust score and its plain score (by all \
             votes). {best} is first and {worst} last.{certainty} The table below has all values."
        ),
        note: note(&rows, order, cut),
        x,
        y: Axis::labels_down("item", labels),
        aspect: (0.12 + 0.032 * rows.len() as f64).max(0.3),
        marks,
        legend,
    }
}

/// A dashed line across the chart at a row, with the number of items that are left out there.
fn break_marks(row: f64, left_out: u64, x: &Axis) -> [Mark; 2] {
    let (from, to) = (x.from, x.to);
    [
        Mark::Line {
            colour: Colour::Muted,
            width: 1.0,
            dashed: true,
            curve: LineCurve::Straight,
            x: vec![from, to],
            y: vec![row, row],
            hover: String::new(),
        },
        Mark::Texts {
            colour: Colour::Muted,
            anchor: Anchor::Middle,
            x: vec![0.5 * (from + to)],
            y: vec![row],
            text: vec![format!("{} not shown", counted(left_out, "item", "items"))],
        },
    ]
}

/// Scores with error bars, as charts without plain scores show them.
pub(super) struct ScoreMarks {
    /// The horizontal axis.
    pub(super) x: Axis,
    pub(super) marks: Vec<Mark>,
    /// Empty without error bars.
    pub(super) legend: Vec<LegendEntry>,
}

impl ScoreMarks {
    /// The marks of `rows`, one below the other, which are these rows of the table of the ranking.
    pub(super) fn new(ranked: ReportInput<'_>, rows: &[&RankedItem], table_rows: Vec<u32>) -> Self {
        let y: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();
        let scores: Vec<f64> = rows.iter().map(|row| row.score + 0.0).collect();
        let intervals = Intervals::new(rows, &y, &scores);
        let ends = intervals.low.iter().chain(&intervals.high).copied();
        let x = Axis::numbers("score", scores.iter().copied().chain(ends));
        let (mut marks, mut legend) = (Vec::new(), Vec::new());
        if !intervals.y.is_empty() {
            let (cut, name) = (intervals.cut, format!("{} interval", level(ranked)));
            let Intervals { low: x0, high: x1, y, .. } = intervals;
            marks.push(Mark::Intervals { colour: ROBUST, width: 1.5, x0, x1, y, follows: None });
            legend.push(LegendEntry::new("score", ROBUST, Sign::Point(PointShape::Circle)));
            let cut = if cut > 0 { " (cut off at the edge)" } else { "" };
            legend.push(LegendEntry::new(format!("{name}{cut}"), ROBUST, Sign::Line));
        }
        marks.push(Mark::Points {
            colour: ROBUST,
            shape: PointShape::Circle,
            size: 5.0,
            x: scores,
            y,
            hover: Hover::Rows { table: RANKING.to_owned(), rows: table_rows },
            follows: None,
        });
        Self { x, marks, legend }
    }

    /// Adds the tiers of rows of one component.
    pub(super) fn with_tiers(mut self, rows: &[&RankedItem]) -> Self {
        let y: Vec<f64> = (0..rows.len()).map(|k| k as f64).collect();
        let bands = bands(rows, &y);
        if !bands.is_empty() {
            let (y0, y1) = bands.into_iter().unzip();
            self.marks.insert(0, Mark::Bands { y0, y1, follows: None });
            self.legend.push(LegendEntry::new("tier", Colour::Band, Sign::Bar));
        }
        self
    }

    pub(super) fn has_intervals(&self) -> bool {
        self.marks.iter().any(|mark| matches!(mark, Mark::Intervals { .. }))
    }
}

/// The names of rows with their ranks.
pub(super) fn ranked_names(ranked: ReportInput<'_>, rows: &[&RankedItem]) -> Vec<String> {
    let name = |row: &&RankedItem| marked(label(ranked, row.item), row, MAX_LABEL);
    let mut names: Vec<String> = rows.iter().map(name).collect();
    // Ranks before names that are numbers would look like decimals.
    if !names.iter().any(|name| name.starts_with(|first: char| first.is_ascii_digit())) {
        names.iter_mut().zip(rows).for_each(|(name, row)| *name = format!("{}. {name}", row.rank));
    }
    names
}

/// The best items with their error bars, for the first screen; `None` without items.
pub(super) fn overview(ranked: ReportInput<'_>, order: &ItemOrder) -> Option<Chart> {
    let is_connected = ranked.fit.components.len() == 1;
    let all: Vec<u32> = (0..order.listed as u32)
        .filter(|&k| is_connected || order.ranking.items[k as usize].component == 1)
        .collect();
    let count = match is_connected {
        true => order.ranking.items.len(),
        false => all.len(),
    };
    let shown = if all.len() <= MAX_BEST + 2 { all.len() } else { MAX_BEST };
    let rows: Vec<&RankedItem> =
        all[..shown].iter().map(|&k| &order.ranking.items[k as usize]).collect();
    let best = label(ranked, rows.first()?.item);
    let scores = ScoreMarks::new(ranked, &rows, all[..shown].to_vec());
    let mut notes = Vec::new();
    if shown < count {
        notes.push(format!("The best {shown} of {} items.", thousands(count as u64)));
    }
    if !is_connected {
        notes.push("Only the largest component; the others are ranked separately.".to_owned());
    }
    if rows.iter().any(|row| row.provisional) {
        notes.push("* provisional: too little is known about the item.".to_owned());
    }
    let certainty = match scores.has_intervals() {
        true => " Error bars show how certain the scores are.",
        false => "",
    };
    Some(Chart {
        id: "overview".to_owned(),
        title: if shown < count { "The best items" } else { "The ranking" }.to_owned(),
        alt: format!("Each row is an item with its score; {best} is first.{certainty}"),
        note: (!notes.is_empty()).then(|| notes.join(" ")),
        x: scores.x,
        y: Axis::labels_down("", ranked_names(ranked, &rows)),
        aspect: 0.08 + 0.034 * shown as f64,
        marks: scores.marks,
        legend: scores.legend,
    })
}

/// Which items are left out, and what cannot be seen otherwise.
fn note(rows: &[&RankedItem], order: &ItemOrder, cut: usize) -> Option<String> {
    let all = order.ranking.items.len();
    let mut notes = Vec::new();
    if order.listed < all {
        let all = thousands(all as u64);
        notes.push(format!("The best {} of {all} items are shown.", rows.len()));
    } else {
        notes.extend(rows_note(rows.len(), all));
    }
    if cut > 0 {
        notes.push(format!(
            "{} cut off at the edge of the chart.",
            counted(cut as u64, "interval is", "intervals are")
        ));
    }
    if rows.iter().any(|row| row.provisional) {
        notes.push(super::ranking::PROVISIONAL.to_owned());
    }
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// The error bars of some rows.
struct Intervals {
    low: Vec<f64>,
    high: Vec<f64>,
    y: Vec<f64>,
    /// The number of intervals that are longer than their bars.
    cut: usize,
}

impl Intervals {
    /// The error bars of rows at the heights `y`. All scores of the chart decide what is long.
    fn new(rows: &[&RankedItem], y: &[f64], scores: &[f64]) -> Self {
        let (least, most) = scores
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &s| (a.min(s), b.max(s)));
        let overhang = MAX_OVERHANG * (most - least);
        // Scores that are all equal do not say which intervals are long.
        let (least, most) = match overhang > 0.0 {
            true => (least - overhang, most + overhang),
            false => (f64::MIN, f64::MAX),
        };
        let mut found = Self { low: Vec::new(), high: Vec::new(), y: Vec::new(), cut: 0 };
        for (&y, row) in y.iter().zip(rows) {
            // Votes do not bound the score of an item alone in its component.
            let Some((low, high)) = row.interval.filter(|(low, high)| (high - low).is_finite())
            else {
                continue;
            };
            found.cut += usize::from(low < least || high > most);
            found.low.push(low.max(least));
            found.high.push(high.min(most));
            found.y.push(y);
        }
        found
    }
}

/// The ends of the bands of consecutive rows of one tier, at the heights `y`.
fn bands(rows: &[&RankedItem], y: &[f64]) -> Vec<(f64, f64)> {
    if rows.iter().any(|row| row.tier.is_none()) {
        return Vec::new();
    }
    let places: Vec<(Option<u32>, f64)> =
        rows.iter().map(|row| row.tier).zip(y.iter().copied()).collect();
    let runs = places.chunk_by(|a, b| a.0 == b.0 && b.1 == a.1 + 1.0);
    let half = 0.5 - BAND_GAP / 2.0;
    runs.map(|run| (run[0].1 - half, run[run.len() - 1].1 + half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(score: f64, interval: Option<(f64, f64)>, tier: u32) -> RankedItem {
        RankedItem {
            rank: 1,
            item: 0,
            score,
            se: None,
            interval,
            rank_range: None,
            tier: Some(tier),
            component: 1,
            comparisons: 1,
            wins: 1,
            losses: 0,
            ties: 0,
            flagged: 0,
            provisional: false,
        }
    }

    #[test]
    fn long_intervals_are_cut_off_and_unbounded_ones_left_out() {
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let rows = [
            row(1.0, Some((0.5, 1.5)), 1),
            row(0.0, Some(unbounded), 2),
            row(-1.0, Some((-9.0, 1.7)), 2),
        ];
        let rows: Vec<&RankedItem> = rows.iter().collect();
        let y = [0.0, 1.0, 2.0];
        let found = Intervals::new(&rows, &y, &[1.0, 0.0, -1.0]);
        assert_eq!((found.low, found.high), (vec![0.5, -2.2], vec![1.5, 1.7]));
        assert_eq!((found.y, found.cut), (vec![0.0, 2.0], 1));
        // Equal scores have no span to compare intervals with.
        assert_eq!(Intervals::new(&rows[..1], &y[..1], &[1.0]).cut, 0);
        let ends: Vec<(f64, f64)> = bands(&rows, &y);
        assert_eq!(ends.len(), 2);
        assert!(ends[0].1 < 0.5 && 0.5 < ends[1].0 && ends[1].1 > 2.0, "{ends:?}");
        // A tier on both sides of a break has two bands.
        assert_eq!(bands(&rows, &[0.0, 1.0, 3.0]).len(), 3);
    }
}
