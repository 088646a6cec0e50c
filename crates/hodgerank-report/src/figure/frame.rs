//! Layout of a figure: the size and position of the plotting area and of everything around it.
//!
//! From top to bottom: title, plotting area, tick labels, axis title, legend, note. The width is
//! given; the height follows from the chart's `aspect`. Margins and the number of ticks depend on
//! each other, so both are computed in a few iterations.

use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout};
use kuva::render::render_utils::wrap_text;
use kuva::render::theme::Theme;

use super::legend::LegendPlan;
use super::position::Point;
use super::scale::{LINE_HEIGHT, Scale, TICK_ANGLE, TickPlan, plan};
use super::text::widest;
use super::{
    FONTS, FigureOptions, FigureWidth, LABEL_SIZE, NOTE_SIZE, TEXT_SIZE, TICK_SIZE, TITLE_SIZE,
};
use crate::chart::{Anchor, Axis, Chart, Colour, Mark, Ticks};
use crate::palette;

/// Margin in pixels between what is drawn and the edge of the figure.
pub(super) const EDGE: f64 = 6.0;

/// Length of ticks in pixels.
const TICK_LENGTH: f64 = 4.0;

/// Coordinates in pixels are clamped to ± this value, far outside every figure.
const MAX_COORDINATE: f64 = 1e6;

/// Passes in which margins and ticks are adjusted to each other.
const LAYOUT_PASSES: usize = 4;

/// The layout of a figure.
pub(super) struct Frame {
    pub(super) layout: Layout,
    pub(super) computed: ComputedLayout,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Whether each axis is shown.
    pub(super) axes: [bool; 2],
    /// The number of labels of each axis; `None` for a numeric axis.
    pub(super) labels: [Option<usize>; 2],
    pub(super) legend: LegendPlan,
    pub(super) note: Vec<String>,
    /// Width of the figure in pixels.
    width: f64,
    /// The title, if it is drawn.
    title: Option<String>,
}

impl Frame {
    pub(super) fn new(chart: &Chart, options: &FigureOptions) -> Self {
        let width = options.width.units();
        let (x, y) = (Scale::new(&chart.x), Scale::new(&chart.y));
        let axes = [&chart.x, &chart.y].map(|axis| axis.ticks != Ticks::Hidden);
        let labels = [&chart.x, &chart.y].map(|axis| match &axis.ticks {
            Ticks::Labels { labels } => Some(labels.len()),
            _ => None,
        });
        let aspect = if chart.aspect.is_finite() { chart.aspect.clamp(0.05, 4.0) } else { 0.6 };
        let note = match &chart.note {
            Some(note) => wrap_text(note, wrap_at(note, NOTE_SIZE, width - 4.0 * EDGE)),
            None => Vec::new(),
        };
        let mut frame = Self {
            layout: Layout::new((x.from, x.to), (y.from, y.to)),
            computed: ComputedLayout::from_layout(&Layout::new((0.0, 1.0), (0.0, 1.0))),
            x,
            y,
            axes,
            labels,
            legend: LegendPlan::new(&chart.legend, width),
            note,
            width,
            title: Some(&chart.title).filter(|title| options.title && !title.is_empty()).cloned(),
        };
        let mut inside = width - 80.0;
        let mut text_overflow = [0.0; 2];
        for _ in 0..LAYOUT_PASSES {
            let aspect = legible_aspect(chart, aspect, inside);
            let height = aspect * inside;
            let ticks = [
                plan(&chart.x, x, inside, true, 0.25 * width),
                plan(&chart.y, y, height, false, 0.36 * width),
            ];
            frame.arrange(chart, &ticks, text_overflow, inside, aspect);
            inside = frame.computed.plot_width();
            let [left, right] = frame.overflow(&chart.marks);
            text_overflow = [text_overflow[0] + left, text_overflow[1] + right];
        }
        frame
    }

    /// Computes margins and height for these ticks. `text_overflow` is the space in pixels that
    /// texts of the chart need on the left and on the right.
    fn arrange(
        &mut self,
        chart: &Chart,
        ticks: &[TickPlan; 2],
        text_overflow: [f64; 2],
        inside: f64,
        aspect: f64,
    ) {
        let [x_ticks, y_ticks] = ticks;
        self.layout = self.kuva_layout(chart, ticks, inside, aspect);
        let mut computed = ComputedLayout::from_layout(&self.layout);
        let label = f64::from(LABEL_SIZE);
        if self.axes[1] {
            // The plotting library underestimates wide characters.
            computed.margin_left += y_ticks.widest - computed.y_tick_label_px;
            computed.y_tick_label_px = y_ticks.widest;
        }
        let lines = match (&self.layout.x_label, self.layout.x_label_wrap) {
            (Some(name), Some(characters)) => wrap_text(name, characters).len() as f64,
            _ => 1.0,
        };
        let (tick, half) = (f64::from(TICK_SIZE), x_ticks.widest / 2.0 + 0.5 * EDGE);
        let (mut below, mut left, mut right) = (0.0, 2.0 * EDGE, 2.0 * EDGE);
        if x_ticks.rotated {
            let (sine, cosine) = TICK_ANGLE.to_radians().sin_cos();
            below = sine.abs() * x_ticks.widest + 0.8 * tick;
            left = cosine * x_ticks.widest;
        } else if self.axes[0] {
            below = 1.2 * tick;
            (left, right) = (left.max(half), right.max(half));
        }
        let name = if self.axes[0] { TICK_LENGTH + 1.3 * label * lines + 10.0 } else { 2.0 * EDGE };
        computed.margin_left = (computed.margin_left + text_overflow[0]).max(left);
        computed.margin_right = (computed.margin_right + text_overflow[1]).max(right);
        let max_margin = 0.4 * self.width;
        computed.margin_left = computed.margin_left.min(max_margin);
        computed.margin_right = computed.margin_right.min(max_margin);
        computed.legend_bottom_extra = self.legend.height() + self.note_height();
        computed.margin_bottom = below + name + computed.legend_bottom_extra;
        let inside = computed.plot_width();
        let height = computed.margin_top + aspect * inside + computed.margin_bottom;
        computed.height = height.ceil();
        computed.recompute_transforms();
        self.computed = computed;
    }

    /// Returns the layout options of the plotting library.
    fn kuva_layout(
        &self,
        chart: &Chart,
        [x_ticks, y_ticks]: &[TickPlan; 2],
        width: f64,
        aspect: f64,
    ) -> Layout {
        let name = |axis: &Axis| (axis.ticks != Ticks::Hidden).then(|| axis.name.clone());
        let title = self.title.as_deref().unwrap_or_default();
        let ink = palette::hex(palette::colour(Colour::Ink));
        let theme = Theme {
            axis_color: ink.clone(),
            tick_color: ink.clone(),
            text_color: ink,
            grid_color: palette::hex(palette::GRID),
            ..Theme::light()
        };
        let mut layout = Layout::new((self.x.from, self.x.to), (self.y.from, self.y.to))
            .with_theme(theme)
            .with_font_family(FONTS)
            .with_title_size(TITLE_SIZE)
            .with_label_size(LABEL_SIZE)
            .with_tick_size(TICK_SIZE)
            .with_body_size(TEXT_SIZE)
            .with_axis_line_width(0.8)
            .with_tick_width(0.8)
            .with_tick_length(TICK_LENGTH)
            .with_grid_line_width(0.6)
            .with_x_axis_min(self.x.from)
            .with_x_axis_max(self.x.to)
            .with_y_axis_min(self.y.from)
            .with_y_axis_max(self.y.to)
            .with_x_tick_format(x_ticks.format.clone())
            .with_y_tick_format(y_ticks.format.clone())
            .with_title_wrap(wrap_at(title, TITLE_SIZE, self.width - 4.0 * EDGE))
            .with_x_label_wrap(wrap_at(&chart.x.name, LABEL_SIZE, width))
            .with_y_label_wrap(wrap_at(&chart.y.name, LABEL_SIZE, (aspect * width).max(60.0)));
        if x_ticks.rotated {
            layout = layout.with_x_tick_rotate(TICK_ANGLE);
        }
        layout.title.clone_from(&self.title);
        layout.width = Some(self.width);
        (layout.log_x, layout.log_y) = (self.x.log, self.y.log);
        (layout.x_tick_step, layout.y_tick_step) = (x_ticks.step, y_ticks.step);
        if self.x.log {
            layout.x_label_overlap = AxisLabelOverlap::Thin;
        }
        layout.x_label = name(&chart.x);
        layout.y_label = name(&chart.y);
        layout.suppress_x_ticks = !self.axes[0];
        layout.suppress_y_ticks = !self.axes[1];
        layout
    }

    /// Returns how far texts extend beyond the figure on the left and on the right, in pixels.
    fn overflow(&self, marks: &[Mark]) -> [f64; 2] {
        let mut out = [0.0_f64; 2];
        for mark in marks {
            let Mark::Texts { anchor, x, y, text, .. } = mark else { continue };
            for (position, text) in self.positions(x, y).zip(text) {
                let Some((x, _)) = position else { continue };
                let width = widest([text], TEXT_SIZE);
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                out[0] = out[0].max(EDGE - left);
                out[1] = out[1].max(left + width + EDGE - self.width);
            }
        }
        out
    }

    /// Whether the texts in cells are narrower than the cells.
    pub(super) fn texts_fit_cells(&self, marks: &[Mark]) -> bool {
        let cell = marks.iter().find_map(|mark| match mark {
            Mark::Cells { width, .. } => {
                let end = |x: f64| self.position(x, 0.0).map(|(x, _)| x);
                Some((end(*width)? - end(0.0)?).abs())
            }
            _ => None,
        });
        let texts = marks.iter().filter_map(|mark| match mark {
            Mark::Texts { text, .. } => Some(text),
            _ => None,
        });
        cell.is_none_or(|cell| texts.flatten().all(|text| widest([text], TEXT_SIZE) <= cell))
    }

    pub(super) fn note_height(&self) -> f64 {
        if self.note.is_empty() { 0.0 } else { self.note.len() as f64 * note_row() + EDGE }
    }

    /// Converts values of the axes to pixels; `None` if the result is not finite.
    pub(super) fn position(&self, x: f64, y: f64) -> Option<Point> {
        let x = self.computed.map_x(self.x.position(x));
        let y = self.computed.map_y(self.y.position(y));
        let finite = x.is_finite() && y.is_finite();
        let clamped = |value: f64| value.clamp(-MAX_COORDINATE, MAX_COORDINATE);
        finite.then(|| (clamped(x), clamped(y)))
    }

    /// Converts columns of values to pixels.
    pub(super) fn positions<'a>(
        &'a self,
        x: &'a [f64],
        y: &'a [f64],
    ) -> impl Iterator<Item = Option<Point>> + 'a {
        x.iter().zip(y).map(|(&x, &y)| self.position(x, y))
    }

    /// Returns the upper left and lower right corners of the plotting area.
    pub(super) fn plot_area(&self) -> (Point, Point) {
        let computed = &self.computed;
        let corner = (computed.margin_left, computed.margin_top);
        (corner, (corner.0 + computed.plot_width(), corner.1 + computed.plot_height()))
    }
}

/// The aspect ratio at which the rows of a narrow chart have room for their labels: charts do not get lower
/// than they are at the default width, unless both axes have the same unit.
fn legible_aspect(chart: &Chart, aspect: f64, inside: f64) -> f64 {
    let Ticks::Labels { labels } = &chart.y.ticks else { return aspect };
    if matches!(chart.x.ticks, Ticks::Labels { .. }) {
        return aspect;
    }
    let rows = LINE_HEIGHT * labels.len() as f64;
    let default_height = aspect * (FigureWidth::default().units() - 80.0);
    aspect.max(rows.min(default_height) / inside.max(1.0))
}

/// Returns the number of characters per line at which every line of a text fits into `width` pixels.
fn wrap_at(text: &str, size: u32, width: f64) -> usize {
    let mut characters = (2.0 * width / f64::from(size)) as usize;
    while characters > 8 && widest(&wrap_text(text, characters), size) > width {
        characters -= 1 + characters / 20;
    }
    characters.max(8)
}

/// Height in pixels of a line of the note.
pub(super) fn note_row() -> f64 {
    1.35 * f64::from(NOTE_SIZE)
}
