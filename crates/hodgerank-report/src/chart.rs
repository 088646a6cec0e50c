//! What a chart shows, free of how it is drawn.
//!
//! The page draws a [`Chart`] with its own script, a figure is drawn from the same value. Marks are
//! columns (`x[k]`, `y[k]`, `hover[k]`), so that thousands of points stay small. Marks are drawn in
//! their order, the first at the bottom.

use serde::Serialize;

/// One chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its name in the page and of its file: lower-case words joined by hyphens.
    pub id: String,
    /// What stands above it.
    pub title: String,
    /// What a reader who cannot see it should know: a sentence or three, with the main figures.
    pub alt: String,
    /// What was left out or summed up, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Height of the plotting area as a multiple of its width, on a page of ordinary width.
    pub aspect: f64,
    /// What is drawn.
    pub marks: Vec<Mark>,
    /// What colours and shapes mean; empty where the chart says it itself.
    pub legend: Vec<LegendEntry>,
}

/// One axis. Where `from` is larger than `to` it runs the other way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// What it measures, with its unit.
    pub name: String,
    /// Value at the left or lower end.
    pub from: f64,
    /// Value at the right or upper end.
    pub to: f64,
    /// What stands beside its ticks.
    pub ticks: Ticks,
}

/// What stands beside the ticks of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ticks {
    /// Round numbers.
    Numbers,
    /// Round shares, written as percentages: 0.05 is 5%.
    Shares,
    /// Powers of ten; positions are logarithms to base 10.
    Powers,
    /// These texts at 0, 1, 2, …; where there is no room for all, every second, fifth, … of them.
    Labels {
        /// The texts, ready to be shown: see [`short`].
        labels: Vec<String>,
    },
    /// The axis is only a space to draw in: no line, no ticks, no name.
    Hidden,
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Mark {
    /// Separate points of one colour and shape.
    Points {
        /// Their colour.
        colour: Colour,
        /// Their shape.
        shape: Shape,
        /// Radius in pixels.
        size: f64,
        /// Places.
        x: Vec<f64>,
        /// Places.
        y: Vec<f64>,
        /// What is said of each under the pointer.
        hover: Hover,
        /// How they follow the slider, if they do; then they tell of rows ([`Hover::Rows`]).
        #[serde(skip_serializing_if = "Option::is_none")]
        follows: Option<Follows>,
    },
    /// One line through its points.
    Line {
        /// Its colour.
        colour: Colour,
        /// Its width in pixels.
        width: f64,
        /// Whether it is dashed.
        dashed: bool,
        /// How it runs from point to point.
        curve: Curve,
        /// Places.
        x: Vec<f64>,
        /// Places.
        y: Vec<f64>,
        /// What the line is, said under the pointer with the values of the nearest point.
        hover: String,
    },
    /// Straight pieces, with or without heads.
    Segments {
        /// Their colour.
        colour: Colour,
        /// Their width in pixels.
        width: f64,
        /// Whether the second end has the head of an arrow.
        arrow: bool,
        /// First ends.
        x0: Vec<f64>,
        /// First ends.
        y0: Vec<f64>,
        /// Second ends.
        x1: Vec<f64>,
        /// Second ends.
        y1: Vec<f64>,
        /// What is said of each under the pointer.
        hover: Hover,
    },
    /// Rectangles between opposite corners.
    Bars {
        /// Their colour.
        colour: Colour,
        /// Left ends.
        x0: Vec<f64>,
        /// Right ends.
        x1: Vec<f64>,
        /// Lower ends.
        y0: Vec<f64>,
        /// Upper ends.
        y1: Vec<f64>,
        /// What is said of each under the pointer.
        hover: Hover,
    },
    /// Rectangles of one size coloured by a value: a heat map, or a picture.
    Cells {
        /// Centres.
        x: Vec<f64>,
        /// Centres.
        y: Vec<f64>,
        /// Width of each, in units of the axis.
        width: f64,
        /// Height of each, in units of the axis.
        height: f64,
        /// Values from 0 to 1.
        value: Vec<f64>,
        /// What a value looks like.
        ramp: Ramp,
        /// What is said of each under the pointer.
        hover: Hover,
    },
    /// Words in the chart.
    Texts {
        /// Their colour.
        colour: Colour,
        /// Which end of each stands at its place.
        anchor: Anchor,
        /// Places.
        x: Vec<f64>,
        /// Places.
        y: Vec<f64>,
        /// The words.
        text: Vec<String>,
    },
}

/// What is said of each piece of a mark under the pointer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Hover {
    /// Nothing.
    Nothing,
    /// These words; `\n` parts lines.
    Words {
        /// One text for each piece.
        words: Vec<String>,
    },
    /// A row of a table of the same study: its cells with the names of their columns.
    Rows {
        /// The table's `id`.
        table: String,
        /// One row for each piece.
        rows: Vec<u32>,
    },
}

/// How points follow the slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Follows {
    /// A point is there while its row of the table of suspects is flagged.
    Flags,
    /// A point's `x` is the score of its row of the ranking.
    Scores,
}

/// How a line runs from point to point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Curve {
    /// Straight.
    Straight,
    /// Level until the next point.
    Step,
    /// Level at each point and smooth in between, as in a bump chart.
    Smooth,
}

/// Which end of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// Its first letter.
    Start,
    /// Its middle.
    Middle,
    /// Its last letter.
    End,
}

/// Colours by what they are for. Pages in the dark have other values than pages in the light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub enum Colour {
    /// As the text.
    Ink,
    /// Less than the text: what stands behind.
    Muted,
    /// Barely there.
    Faint,
    /// One of eight kinds that people with any colour vision can tell apart; larger numbers start
    /// again.
    Kind(u8),
    /// A step from weak (0) to strong (9); larger numbers are 9.
    Step(u8),
}

impl From<Colour> for String {
    /// The name of a variable of the page's style.
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Ink => "ink".to_owned(),
            Colour::Muted => "muted".to_owned(),
            Colour::Faint => "faint".to_owned(),
            Colour::Kind(kind) => format!("kind-{}", kind % 8),
            Colour::Step(step) => format!("step-{}", step.min(9)),
        }
    }
}

/// Colours of a value from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ramp {
    /// The steps from weak to strong.
    Steps,
    /// Black to white.
    Grey,
}

/// Shapes of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle on its base.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A lying cross.
    Cross,
    /// A standing cross.
    Plus,
}

/// What a colour and a shape mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegendEntry {
    /// What they mean.
    pub name: String,
    /// The colour.
    pub colour: Colour,
    /// What is drawn beside the name.
    pub sign: Sign,
}

/// What is drawn in a legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "shape", rename_all = "lowercase")]
pub enum Sign {
    /// A point.
    Point(Shape),
    /// A line.
    Line,
    /// A dashed line.
    Dashes,
    /// A filled rectangle.
    Bar,
}

impl Axis {
    /// An axis of numbers that holds all values with a little room at both ends.
    #[must_use]
    pub fn numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        if least > most {
            (least, most) = (0.0, 1.0);
        }
        let room = if most > least { 0.05 * (most - least) } else { 0.5 };
        Self { name: name.to_owned(), from: least - room, to: most + room, ticks: Ticks::Numbers }
    }

    /// An axis of shares from 0 to `most`.
    #[must_use]
    pub fn shares(name: &str, most: f64) -> Self {
        let to = if most > 0.0 { most } else { 1.0 };
        Self { name: name.to_owned(), from: 0.0, to, ticks: Ticks::Shares }
    }

    /// An axis of labels at 0, 1, 2, … from left to right.
    #[must_use]
    pub fn labels(name: &str, labels: Vec<String>) -> Self {
        let to = labels.len() as f64 - 0.5;
        Self { name: name.to_owned(), from: -0.5, to, ticks: Ticks::Labels { labels } }
    }

    /// An axis of labels, the first of them on top.
    #[must_use]
    pub fn labels_down(name: &str, labels: Vec<String>) -> Self {
        let Self { name, from, to, ticks } = Self::labels(name, labels);
        Self { name, from: to, to: from, ticks }
    }

    /// Only a space to draw in.
    #[must_use]
    pub fn hidden(from: f64, to: f64) -> Self {
        Self { name: String::new(), from, to, ticks: Ticks::Hidden }
    }
}

impl LegendEntry {
    /// What a colour and a sign mean.
    #[must_use]
    pub fn new(name: impl Into<String>, colour: Colour, sign: Sign) -> Self {
        Self { name: name.into(), colour, sign }
    }
}

/// A label as charts show it: on one line, at most `most` characters, cut with an ellipsis.
///
/// Control characters and invisible marks of direction become symbols: a label is only text.
#[must_use]
pub fn short(label: &str, most: usize) -> String {
    let mut letters = label.chars().map(shown);
    let mut text: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}

fn shown(letter: char) -> char {
    match letter {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + letter as u32).unwrap_or('�'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => '�',
        '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => '�',
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_cut_and_stay_text() {
        assert_eq!(short("espresso", 8), "espresso");
        assert_eq!(short("espresso", 5), "espr…");
        assert_eq!(short("a\nb\u{202e}c", 9), "a␊b�c");
        assert_eq!(short("קפה ☕️", 20), "קפה ☕️");
    }

    #[test]
    fn what_the_page_reads() {
        let mark = Mark::Points {
            colour: Colour::Step(12),
            shape: Shape::Diamond,
            size: 3.0,
            x: vec![1.0],
            y: vec![2.0],
            hover: Hover::Rows { table: "suspects".to_owned(), rows: vec![0] },
            follows: None,
        };
        let json = serde_json::to_string(&mark).unwrap();
        let expected = r#"{"kind":"points","colour":"step-9","shape":"diamond","size":3.0,"x":[1.0],"y":[2.0],"hover":{"from":"rows","table":"suspects","rows":[0]}}"#;
        assert_eq!(json, expected);
        let sign = serde_json::to_string(&[Sign::Point(Shape::Circle), Sign::Line]).unwrap();
        assert_eq!(sign, r#"[{"kind":"point","shape":"circle"},{"kind":"line"}]"#);
    }
}
