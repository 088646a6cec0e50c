//! Descriptions of charts, independent of how they are drawn.
//!
//! The page's script and [`crate::figure`] draw the same [`Chart`]. Marks are stored in columns
//! (`x[k]`, `y[k]`, `hover[k]`), which keeps thousands of points small. They are drawn in order, the
//! first at the bottom.

use hodgerank_io::text::visible_character;
use serde::Serialize;

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Identifier in the page, and file name of the figure: lower-case words joined by hyphens.
    pub id: String,
    /// The title.
    pub title: String,
    /// Alternative text: one to three sentences with the main figures.
    pub alt: String,
    /// What the chart omits or summarises, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Height of the plotting area divided by its width, at the default width.
    pub aspect: f64,
    /// The marks.
    pub marks: Vec<Mark>,
    /// The legend; empty if the chart needs none.
    pub legend: Vec<LegendEntry>,
}

/// An axis. It is reversed if `from` is larger than `to`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// The axis title, with the unit.
    pub name: String,
    /// Value at the left or lower end.
    pub from: f64,
    /// Value at the right or upper end.
    pub to: f64,
    /// The ticks and their labels.
    pub ticks: Ticks,
}

/// The ticks of an axis and their labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Ticks {
    /// Round numbers.
    Numbers,
    /// Round shares, written as percentages: 0.05 is 5%.
    Shares,
    /// Powers of ten; positions are logarithms to base 10.
    Powers,
    /// Labels at 0, 1, 2, …; if they do not all fit, every second, fifth, … of them.
    Labels {
        /// The labels, shortened with [`short_label`].
        labels: Vec<String>,
    },
    /// No line, no ticks and no title.
    Hidden,
}

/// A graphical element of a chart, or many of the same kind and colour.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Mark {
    /// Separate points of one colour and shape.
    Points {
        /// Colour of the points.
        colour: Colour,
        /// Shape of the points.
        shape: PointShape,
        /// Radius in pixels.
        size: f64,
        /// Horizontal positions.
        x: Vec<f64>,
        /// Vertical positions.
        y: Vec<f64>,
        /// Tooltip of each point.
        hover: Hover,
        /// How the points follow the slider, if they do; then `hover` is [`Hover::Rows`].
        #[serde(skip_serializing_if = "Option::is_none")]
        follows: Option<Follows>,
    },
    /// One line through its points.
    Line {
        /// Colour of the line.
        colour: Colour,
        /// Width in pixels.
        width: f64,
        /// Whether it is dashed.
        dashed: bool,
        /// How the points are connected.
        curve: LineCurve,
        /// Horizontal positions.
        x: Vec<f64>,
        /// Vertical positions.
        y: Vec<f64>,
        /// Name of the line; its tooltip adds the values of the nearest point. No tooltip if empty.
        hover: String,
    },
    /// Straight segments, with or without arrowheads.
    Segments {
        /// Colour of the segments.
        colour: Colour,
        /// Width in pixels.
        width: f64,
        /// Whether the second end has an arrowhead.
        arrow: bool,
        /// Horizontal positions of the first ends.
        x0: Vec<f64>,
        /// Vertical positions of the first ends.
        y0: Vec<f64>,
        /// Horizontal positions of the second ends.
        x1: Vec<f64>,
        /// Vertical positions of the second ends.
        y1: Vec<f64>,
        /// Tooltip of each segment.
        hover: Hover,
    },
    /// Rectangles between opposite corners.
    Bars {
        /// Colour of the bars.
        colour: Colour,
        /// Left ends.
        x0: Vec<f64>,
        /// Right ends.
        x1: Vec<f64>,
        /// Lower ends.
        y0: Vec<f64>,
        /// Upper ends.
        y1: Vec<f64>,
        /// Tooltip of each bar.
        hover: Hover,
    },
    /// Rectangles of one size, coloured by a value: a heat map or an image.
    Cells {
        /// Horizontal positions of the centres.
        x: Vec<f64>,
        /// Vertical positions of the centres.
        y: Vec<f64>,
        /// Width of a cell, in units of the axis.
        width: f64,
        /// Height of a cell, in units of the axis.
        height: f64,
        /// Values from 0 to 1.
        value: Vec<f64>,
        /// Colours of the values.
        ramp: Ramp,
        /// Tooltip of each cell.
        hover: Hover,
    },
    /// Horizontal error bars with caps.
    Intervals {
        /// Colour of the bars.
        colour: Colour,
        /// Width in pixels.
        width: f64,
        /// Left ends.
        x0: Vec<f64>,
        /// Right ends.
        x1: Vec<f64>,
        /// Vertical positions.
        y: Vec<f64>,
        /// How the bars follow the slider, if they do.
        #[serde(skip_serializing_if = "Option::is_none")]
        follows: Option<Follows>,
    },
    /// Bands across the whole width, in [`Colour::Band`]: groups of rows.
    Bands {
        /// First ends.
        y0: Vec<f64>,
        /// Second ends.
        y1: Vec<f64>,
        /// How the bands follow the slider, if they do.
        #[serde(skip_serializing_if = "Option::is_none")]
        follows: Option<Follows>,
    },
    /// Texts in the chart.
    Texts {
        /// Colour of the texts.
        colour: Colour,
        /// Alignment relative to the position.
        anchor: Anchor,
        /// Horizontal positions.
        x: Vec<f64>,
        /// Vertical positions.
        y: Vec<f64>,
        /// The texts.
        text: Vec<String>,
    },
}

/// Tooltips of the elements of a mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum Hover {
    /// No tooltips.
    Nothing,
    /// A text for each element; `\n` separates lines.
    Words {
        /// One text for each element.
        words: Vec<String>,
    },
    /// The cells of a table row of the same study, with the names of their columns.
    Rows {
        /// The table's `id`.
        table: String,
        /// One row for each element.
        rows: Vec<u32>,
    },
    /// For cells: the labels of row and column, the value as a percentage, and its interval.
    Cells {
        /// What the values are.
        name: String,
        /// What the intervals are.
        interval: String,
        /// The interval of each value; empty if there are none.
        intervals: Vec<(f64, f64)>,
    },
}

/// How a mark follows the slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Follows {
    /// A point is shown while its row in the table of flagged votes is flagged.
    Flags,
    /// A point's `x` is the score of its row in the ranking.
    Scores,
    /// The mark is shown while the slider is at the report's ranking.
    Ranking,
}

/// How a line connects its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineCurve {
    /// Straight lines.
    Straight,
    /// Constant until the next point.
    Step,
    /// Smooth curves with horizontal tangents at the points, as in a bump chart.
    Smooth,
}

/// Which part of a text is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// The start.
    Start,
    /// The middle.
    Middle,
    /// The end.
    End,
}

/// Colours by purpose. Their values differ between the light theme, the dark theme and print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "String")]
pub enum Colour {
    /// The colour of text.
    Ink,
    /// The colour of the page, for texts on strong colours.
    Paper,
    /// Less contrast than text, for the background of a chart.
    Muted,
    /// Little contrast, for grids and connections.
    Faint,
    /// The background of a group of rows: translucent, so that the grid stays visible.
    Band,
    /// One of eight colour-blind safe categories, modulo 8.
    Kind(u8),
    /// A step of a sequential scale from weak (0) to strong (9); larger numbers mean 9.
    Step(u8),
    /// A step of a diverging scale: 0 and 10 are the ends, 5 is the middle; larger numbers mean 10.
    Diverging(u8),
}

impl From<Colour> for String {
    /// Returns the name of a CSS variable of the page.
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Ink => "ink".to_owned(),
            Colour::Paper => "card".to_owned(),
            Colour::Muted => "muted".to_owned(),
            Colour::Faint => "faint".to_owned(),
            Colour::Band => "band".to_owned(),
            Colour::Kind(kind) => format!("kind-{}", kind % 8),
            Colour::Step(step) => format!("step-{}", step.min(9)),
            Colour::Diverging(step) => format!("diverging-{}", step.min(10)),
        }
    }
}

/// A colour scale for values from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ramp {
    /// The steps of [`Colour::Step`].
    Steps,
    /// The steps of [`Colour::Diverging`]; 0.5 is in the middle.
    Diverging,
    /// Black to white.
    Grey,
}

/// Shapes of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PointShape {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A rotated square.
    Diamond,
    /// An ×.
    Cross,
    /// A +.
    Plus,
}

/// An entry of a legend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegendEntry {
    /// The text.
    pub name: String,
    /// The colour of the symbol.
    pub colour: Colour,
    /// The symbol.
    pub sign: Sign,
}

/// The symbol of a legend entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "shape", rename_all = "lowercase")]
pub enum Sign {
    /// A point.
    Point(PointShape),
    /// A line.
    Line,
    /// A dashed line.
    Dashes,
    /// A filled rectangle.
    Bar,
}

impl Axis {
    /// Returns a numeric axis that contains all finite values, with a margin at both ends.
    #[must_use]
    pub fn numbers(name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let margin = if high > low { 0.05 * (high - low) } else { 0.5 };
        Self { name: name.to_owned(), from: low - margin, to: high + margin, ticks: Ticks::Numbers }
    }

    /// Returns an axis of shares from 0 to `max`, or to 1 if `max` is not positive.
    #[must_use]
    pub fn shares(name: &str, max: f64) -> Self {
        let to = if max > 0.0 { max } else { 1.0 };
        Self { name: name.to_owned(), from: 0.0, to, ticks: Ticks::Shares }
    }

    /// Returns an axis with labels at 0, 1, 2, …, from left to right or from bottom to top.
    #[must_use]
    pub fn labels(name: &str, labels: Vec<String>) -> Self {
        let to = labels.len() as f64 - 0.5;
        Self { name: name.to_owned(), from: -0.5, to, ticks: Ticks::Labels { labels } }
    }

    /// Returns a reversed axis of labels: the first one is at the top.
    #[must_use]
    pub fn labels_down(name: &str, labels: Vec<String>) -> Self {
        let Self { name, from, to, ticks } = Self::labels(name, labels);
        Self { name, from: to, to: from, ticks }
    }

    /// Returns an axis without line, ticks and title.
    #[must_use]
    pub fn hidden(from: f64, to: f64) -> Self {
        Self { name: String::new(), from, to, ticks: Ticks::Hidden }
    }
}

impl LegendEntry {
    /// Returns a legend entry.
    #[must_use]
    pub fn new(name: impl Into<String>, colour: Colour, sign: Sign) -> Self {
        Self { name: name.into(), colour, sign }
    }
}

/// Formats a label for a chart: on one line, at most `max_characters` long, truncated with an
/// ellipsis.
///
/// Control characters and directional marks are replaced by symbols.
#[must_use]
pub fn short_label(label: &str, max_characters: usize) -> String {
    let mut characters = label.chars().map(visible_character);
    let mut text: String = characters.by_ref().take(max_characters).collect();
    if characters.next().is_some() {
        text.pop();
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_truncated_and_control_characters_visible() {
        assert_eq!(short_label("espresso", 8), "espresso");
        assert_eq!(short_label("espresso", 5), "espr…");
        assert_eq!(short_label("a\nb\u{202e}c", 9), "a␊b�c");
        assert_eq!(short_label("קפה ☕️", 20), "קפה ☕️");
    }

    #[test]
    fn json_has_the_keys_that_the_page_reads() {
        let mark = Mark::Points {
            colour: Colour::Step(12),
            shape: PointShape::Diamond,
            size: 3.0,
            x: vec![1.0],
            y: vec![2.0],
            hover: Hover::Rows { table: "suspects".to_owned(), rows: vec![0] },
            follows: None,
        };
        let json = serde_json::to_string(&mark).unwrap();
        let expected = r#"{"kind":"points","colour":"step-9","shape":"diamond","size":3.0,"x":[1.0],"y":[2.0],"hover":{"from":"rows","table":"suspects","rows":[0]}}"#;
        assert_eq!(json, expected);
        let sign = serde_json::to_string(&[Sign::Point(PointShape::Circle), Sign::Line]).unwrap();
        assert_eq!(sign, r#"[{"kind":"point","shape":"circle"},{"kind":"line"}]"#);
    }
}
