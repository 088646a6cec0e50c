//! The legend, in columns below the chart, so that it never covers a mark.

use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::scatter::MarkerShape;
use kuva::render::render::{Scene, render_legend_at};
use kuva::render::theme::Theme;

use super::text::widest;
use super::{DASHES, TEXT_SIZE};
use crate::chart::{self, PointShape, Sign, short_label};
use crate::palette;

/// Width of the symbol before a name, as the plotting library draws it.
const SYMBOL_WIDTH: f64 = 25.0;
/// Space between columns.
const GAP: f64 = 14.0;
/// Margin left and right of the legend.
const MARGIN: f64 = 8.0;
/// Height of a row, as the plotting library draws it.
const ROW_HEIGHT: f64 = 1.5 * TEXT_SIZE as f64;
/// Longer names are truncated, and names that do not fit.
const MAX_CHARACTERS: usize = 80;

/// The layout of a legend.
pub(super) struct LegendPlan {
    entries: Vec<LegendEntry>,
    column: f64,
    rows: usize,
    /// Width of the figure.
    width: f64,
}

impl LegendPlan {
    pub(super) fn new(legend: &[chart::LegendEntry], width: f64) -> Self {
        let room = width - 2.0 * MARGIN - SYMBOL_WIDTH;
        let entries: Vec<LegendEntry> = legend.iter().map(|one| entry(one, room)).collect();
        if entries.is_empty() {
            return Self { entries, column: 0.0, rows: 0, width };
        }
        let names: Vec<&str> = entries.iter().map(|entry| entry.label.as_str()).collect();
        let column = SYMBOL_WIDTH + widest(&names, TEXT_SIZE) + GAP;
        let columns = (((width - 2.0 * MARGIN) / column) as usize).clamp(1, entries.len());
        let rows = entries.len().div_ceil(columns);
        Self { entries, column, rows, width }
    }

    pub(super) fn height(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.rows as f64 * ROW_HEIGHT + 10.0 }
    }

    /// Draws the legend below `top`, aligned with the plotting area if it fits.
    pub(super) fn draw(&self, left: f64, top: f64, theme: &Theme, scene: &mut Scene) {
        if self.rows == 0 {
            return;
        }
        let width = self.column * self.entries.len().div_ceil(self.rows) as f64;
        let left = left.min(self.width - MARGIN - width).max(MARGIN);
        for (k, column) in self.entries.chunks(self.rows).enumerate() {
            let x = left + self.column * k as f64;
            let y = top + 6.0;
            render_legend_at(column, None, None, false, scene, x, y, self.column, TEXT_SIZE, theme);
        }
    }
}

/// An entry whose name fits into `room` pixels.
fn entry(entry: &chart::LegendEntry, room: f64) -> LegendEntry {
    let (shape, dasharray) = match entry.sign {
        Sign::Point(shape) => (LegendShape::Marker(marker(shape)), None),
        Sign::Line => (LegendShape::Line, None),
        Sign::Dashes => (LegendShape::Line, Some(DASHES.to_owned())),
        Sign::Bar => (LegendShape::Rect, None),
    };
    let color = palette::hex(palette::colour(entry.colour));
    let mut characters = MAX_CHARACTERS;
    let mut label = short_label(&entry.name, characters);
    while characters > 8 && widest([&label], TEXT_SIZE) > room {
        characters -= 1;
        label = short_label(&entry.name, characters);
    }
    LegendEntry { label, color, shape, dasharray }
}

fn marker(shape: PointShape) -> MarkerShape {
    match shape {
        PointShape::Circle => MarkerShape::Circle,
        PointShape::Square => MarkerShape::Square,
        PointShape::Triangle => MarkerShape::Triangle,
        PointShape::Diamond => MarkerShape::Diamond,
        PointShape::Cross => MarkerShape::Cross,
        PointShape::Plus => MarkerShape::Plus,
    }
}
