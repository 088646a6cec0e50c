//! The scatter plot of annotators: agreement against the share of votes for the left item, or against
//! the expected agreement if sides are unknown.

use hodgerank::annotators::JudgedAnnotator;
use hodgerank::solve::crowd::AnnotatorClass;

use crate::chart::{
    Anchor, Axis, Chart, Colour, Hover, LegendEntry, LineCurve, Mark, PointShape, Sign, Ticks,
    short_label,
};
use crate::words::{counted, percent, thousands};

/// Maximum number of points.
const MAX_DRAWN: usize = 2_000;
/// Maximum number of names next to points, and of candidates for them: of hundreds, a few names would
/// be arbitrary.
const MAX_NAMES: usize = 12;
const MAX_CANDIDATES: usize = 40;
/// Radii in pixels, from few to many votes: points of one radius are one mark.
const SIZES: [f64; 4] = [2.5, 3.5, 4.5, 6.0];
/// Above this number of points they are smaller, by this factor.
const MANY: usize = 500;
const SMALL: f64 = 0.6;
/// Minimum length of the axis of expected agreement.
const MIN_SPAN: f64 = 0.2;
/// Both ends of an axis of shares have room for whole points.
const MARGIN: f64 = 0.03;

type Annotator = JudgedAnnotator<String>;

/// An annotator in the plot.
#[derive(Clone, Copy)]
struct Dot<'a> {
    row: &'a Annotator,
    x: f64,
    y: f64,
}

/// Returns the chart with at most `max_drawn` points, and at most [`MAX_DRAWN`]; `None` if no annotator
/// has a position. The most problematic annotators come first in `rows`.
pub(super) fn chart(rows: &[Annotator], max_drawn: usize) -> Option<Chart> {
    let has_sides = rows.iter().any(|row| row.left_share.is_some());
    let x = |row: &Annotator| if has_sides { row.left_share } else { row.expected_agreement };
    let position = |row: &Annotator| x(row).zip(row.agreement);
    let all: Vec<Dot<'_>> =
        rows.iter().filter_map(|row| position(row).map(|(x, y)| Dot { row, x, y })).collect();
    if all.is_empty() {
        return None;
    }
    let number = all.len();
    let (drawn, thinning) = thinned(all, max_drawn.min(MAX_DRAWN));
    let mut notes = vec!["Larger marks have more votes.".to_owned()];
    notes.extend(thinning);
    if number < rows.len() {
        let missing = (rows.len() - number) as u64;
        let are = if missing == 1 { "is" } else { "are" };
        notes.push(format!(
            "{} with only ties {are} not drawn.",
            counted(missing, "annotator", "annotators")
        ));
    }
    let shares = |name: &str| Axis {
        name: name.to_owned(),
        from: -MARGIN,
        to: 1.0 + MARGIN,
        ticks: Ticks::Shares,
    };
    let x = match has_sides {
        true => shares("share of votes for the left item"),
        false => expected_axis(&drawn),
    };
    let y = shares("agreement with the ranking");
    let (lines, expectation) = if has_sides { means(rows) } else { diagonal(&x) };
    let mut marks = lines;
    marks.extend(points(&drawn));
    marks.extend(names(&drawn, &x));
    let mut legend: Vec<LegendEntry> = classes(&drawn)
        .map(|class| {
            let (colour, shape) = symbol(class);
            LegendEntry::new(class_name(class), colour, Sign::Point(shape))
        })
        .collect();
    legend.push(LegendEntry::new("expected of a careful annotator", Colour::Muted, Sign::Dashes));
    let counts: Vec<String> = classes(&drawn)
        .map(|class| {
            let number = drawn.iter().filter(|dot| dot.row.class == class).count();
            format!("{} {}", class_name(class), thousands(number as u64))
        })
        .collect();
    let (title, across) = match has_sides {
        true => ("Agreement and left share of each annotator", "their share of left votes"),
        false => ("Agreement of each annotator, as it is and as expected", "what is expected"),
    };
    Some(Chart {
        id: "annotators".to_owned(),
        title: title.to_owned(),
        alt: format!(
            "One mark per annotator: how often their votes agree with the ranking, against {across}. \
             {expectation} Annotators by class: {}.",
            counts.join(", ")
        ),
        note: Some(notes.join(" ")),
        x,
        y,
        aspect: 0.6,
        marks,
        legend,
    })
}

/// The axis of expected agreement, which is between one half and one and similar for all.
fn expected_axis(drawn: &[Dot<'_>]) -> Axis {
    let values = drawn.iter().map(|dot| dot.x);
    let axis = Axis::numbers("agreement expected on the same pairs", values);
    let widen = (0.5 * (MIN_SPAN - (axis.to - axis.from))).max(0.0);
    let from = (axis.from - widen).max(0.5 - MARGIN);
    let to = (axis.to + widen).min(1.0 + MARGIN);
    Axis { from, to, ticks: Ticks::Shares, ..axis }
}

/// Keeps at most `max` annotators: the most problematic, and a regular sample of those who are not
/// suspicious. Returns a note if some are missing.
fn thinned(dots: Vec<Dot<'_>>, max: usize) -> (Vec<Dot<'_>>, Option<String>) {
    let all = dots.len();
    if all <= max {
        return (dots, None);
    }
    let (mut drawn, others): (Vec<Dot<'_>>, Vec<Dot<'_>>) =
        dots.into_iter().partition(|dot| dot.row.is_suspicious());
    let suspicious = drawn.len();
    // A quarter of the room shows how the others vote.
    drawn.truncate(max - (max / 4).min(others.len()));
    let kept = drawn.len();
    let step = others.len().div_ceil((max - kept).max(1)).max(1);
    let sample = others.len().div_ceil(step);
    drawn.extend(others.iter().step_by(step));
    let problematic = if kept == suspicious { "all" } else { "the most problematic" };
    let note = format!(
        "{} of {} annotators are drawn: {problematic} {} who are suspicious, and {} of the others.",
        thousands(drawn.len() as u64),
        thousands(all as u64),
        thousands(kept as u64),
        thousands(sample as u64),
    );
    (drawn, Some(note))
}

/// The classes that occur, in the order in which they are drawn: the last is on top.
fn classes<'a>(drawn: &'a [Dot<'_>]) -> impl Iterator<Item = Option<AnnotatorClass>> + 'a {
    let occurs = |class: &Option<AnnotatorClass>| drawn.iter().any(|dot| dot.row.class == *class);
    std::iter::once(None).chain(AnnotatorClass::ALL.map(Some)).filter(occurs)
}

fn class_name(class: Option<AnnotatorClass>) -> &'static str {
    class.map_or("too few votes", AnnotatorClass::as_str)
}

/// Colour is not the only cue: every class has a shape of its own, except left and right, which are at
/// opposite ends of the chart.
fn symbol(class: Option<AnnotatorClass>) -> (Colour, PointShape) {
    match class {
        None => (Colour::Muted, PointShape::Circle),
        Some(AnnotatorClass::Careful) => (Colour::Kind(0), PointShape::Circle),
        Some(AnnotatorClass::Careless) => (Colour::Kind(4), PointShape::Triangle),
        Some(AnnotatorClass::Coin) => (Colour::Kind(3), PointShape::Cross),
        Some(AnnotatorClass::Contrary) => (Colour::Kind(1), PointShape::Diamond),
        Some(AnnotatorClass::Left) => (Colour::Kind(2), PointShape::Square),
        Some(AnnotatorClass::Right) => (Colour::Kind(6), PointShape::Square),
    }
}

/// One mark for each class and size; small points are above large ones.
fn points(drawn: &[Dot<'_>]) -> Vec<Mark> {
    let most = drawn.iter().map(|dot| dot.row.votes).max().unwrap_or(1).max(1) as f64;
    // The area of a point is about in proportion to the votes.
    let size_of = |dot: &Dot<'_>| {
        let relative = (dot.row.votes as f64 / most).sqrt();
        ((relative * SIZES.len() as f64) as usize).min(SIZES.len() - 1)
    };
    let scale = if drawn.len() > MANY { SMALL } else { 1.0 };
    let mut marks = Vec::new();
    for class in classes(drawn) {
        for level in (0..SIZES.len()).rev() {
            let own: Vec<&Dot<'_>> = drawn
                .iter()
                .filter(|dot| dot.row.class == class && size_of(dot) == level)
                .collect();
            if own.is_empty() {
                continue;
            }
            let (colour, shape) = symbol(class);
            marks.push(Mark::Points {
                colour,
                shape,
                size: scale * SIZES[level],
                x: own.iter().map(|dot| dot.x).collect(),
                y: own.iter().map(|dot| dot.y).collect(),
                hover: Hover::Words { words: own.iter().map(|dot| words(dot.row)).collect() },
                follows: None,
            });
        }
    }
    marks
}

fn words(row: &Annotator) -> String {
    let sure = row.probability.map_or(String::new(), |p| format!(", probability {}", percent(p)));
    let beside = |name: &str, found: Option<f64>, expected: Option<f64>| match found.zip(expected) {
        None => String::new(),
        Some((found, expected)) => {
            format!("\n{name} {}, expected {}", percent(found), percent(expected))
        }
    };
    format!(
        "{}: {}{sure}\n{}{}{}",
        short_label(&row.annotator, 60),
        row.verdict,
        counted(row.votes, "vote", "votes"),
        beside("agreement", row.agreement, row.expected_agreement),
        beside("left share", row.left_share, row.expected_left_share),
    )
}

/// The names of one-sided and contrary annotators, the clearest cases first. Names that would cover a
/// point or another name are left out.
fn names(drawn: &[Dot<'_>], x: &Axis) -> Vec<Mark> {
    let is_named = |dot: &&Dot<'_>| {
        let class = dot.row.class;
        class.is_some_and(|class| {
            matches!(class, AnnotatorClass::Contrary | AnnotatorClass::Left | AnnotatorClass::Right)
        })
    };
    let mut candidates: Vec<&Dot<'_>> = drawn.iter().filter(is_named).collect();
    if candidates.len() > MAX_CANDIDATES {
        return Vec::new();
    }
    candidates.sort_by_key(|dot| {
        let is_contrary = dot.row.class == Some(AnnotatorClass::Contrary);
        !(is_contrary || dot.row.is_always_one_side())
    });
    let (span, middle) = (x.to - x.from, 0.5 * (x.from + x.to));
    let mut labels: Vec<Label> = Vec::new();
    for dot in candidates {
        let label = Label::new(dot, span, dot.x > middle);
        let covers = |other: &Dot<'_>| label.covers((other.x, other.x), other.y);
        let overlaps = |other: &Label| label.covers(other.ends, other.y);
        if labels.len() < MAX_NAMES && !drawn.iter().any(covers) && !labels.iter().any(overlaps) {
            labels.push(label);
        }
    }
    let (before, after): (Vec<Label>, Vec<Label>) =
        labels.into_iter().partition(|label| label.is_before);
    let texts = |labels: Vec<Label>, anchor, x: fn(&Label) -> f64| Mark::Texts {
        colour: Colour::Ink,
        anchor,
        x: labels.iter().map(x).collect(),
        y: labels.iter().map(|label| label.y).collect(),
        text: labels.into_iter().map(|label| label.text).collect(),
    };
    vec![
        texts(before, Anchor::End, |label| label.ends.1),
        texts(after, Anchor::Start, |label| label.ends.0),
    ]
}

/// A name next to a point.
struct Label {
    text: String,
    /// About where it starts and ends.
    ends: (f64, f64),
    y: f64,
    /// Whether it is on the left of its point.
    is_before: bool,
}

impl Label {
    /// The label of a point on an axis of length `span`.
    fn new(dot: &Dot<'_>, span: f64, is_before: bool) -> Self {
        let text = short_label(&dot.row.annotator, 16);
        let gap = 0.025 * span;
        let width = 0.0125 * span * text.chars().count() as f64;
        let ends = match is_before {
            true => (dot.x - gap - width, dot.x - gap),
            false => (dot.x + gap, dot.x + gap + width),
        };
        Self { text, ends, y: dot.y, is_before }
    }

    /// Whether the label covers a part of something between `ends` at height `y`.
    fn covers(&self, ends: (f64, f64), y: f64) -> bool {
        (self.y - y).abs() < 0.035 && self.ends.0 < ends.1 && ends.0 < self.ends.1
    }
}

/// Lines at what is expected of careful annotators, on average over all votes.
fn means(rows: &[Annotator]) -> (Vec<Mark>, String) {
    let mean = |pick: fn(&Annotator) -> Option<f64>| {
        let (sum, votes) = rows
            .iter()
            .filter_map(|row| pick(row).map(|share| (share, row.votes as f64)))
            .fold((0.0, 0.0), |(sum, votes), (share, own)| (sum + own * share, votes + own));
        if votes > 0.0 { sum / votes } else { 0.5 }
    };
    let (agreement, left) =
        (mean(|row| row.expected_agreement), mean(|row| row.expected_left_share));
    let ends = [-MARGIN, 1.0 + MARGIN];
    let lines = vec![
        dashed([left; 2], ends, "expected left share"),
        dashed(ends, [agreement; 2], "expected agreement"),
    ];
    let expectation = format!(
        "Dashed lines show what is expected of careful annotators on average: {} agreement and {} \
         votes for the left item.",
        percent(agreement),
        percent(left)
    );
    (lines, expectation)
}

/// The line on which agreement is as expected.
fn diagonal(x: &Axis) -> (Vec<Mark>, String) {
    let ends = [x.from.max(0.0), x.to.min(1.0)];
    let lines = vec![dashed(ends, ends, "as expected")];
    (lines, "On the dashed line, agreement is as expected of a careful annotator.".to_owned())
}

fn dashed(x: [f64; 2], y: [f64; 2], name: &str) -> Mark {
    Mark::Line {
        colour: Colour::Muted,
        width: 1.0,
        dashed: true,
        curve: LineCurve::Straight,
        x: x.to_vec(),
        y: y.to_vec(),
        hover: name.to_owned(),
    }
}
