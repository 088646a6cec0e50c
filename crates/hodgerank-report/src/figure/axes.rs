//! Draws everything around the marks: axes, axis titles, chart title, legend and note.

use kuva::render::axis::{add_axes_and_grid, add_labels_and_title};
use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::frame::{EDGE, Frame, note_row};
use super::{NOTE_SIZE, TITLE_SIZE, kuva_colour};
use crate::chart::Colour;

impl Frame {
    /// Returns a scene with axes, titles, legend and note, and nothing inside the axes.
    pub(super) fn scene(&self) -> Scene {
        let mut scene = Scene::new(self.computed.width, self.computed.height);
        scene.font_family = self.computed.font_family.clone();
        scene.text_color = Some(self.computed.theme.text_color.clone());
        if self.axes.contains(&true) {
            add_axes_and_grid(&mut scene, &self.computed, &self.layout);
            self.hide_axes(&mut scene);
        }
        add_labels_and_title(&mut scene, &self.computed, &self.layout);
        align_title_left(&mut scene);
        let top = self.computed.height - self.note_height() - self.legend.height();
        self.legend.draw(self.computed.margin_left, top, &self.computed.theme, &mut scene);
        for (k, line) in self.note.iter().enumerate() {
            let rows = (self.note.len() - k) as f64;
            scene.add(Primitive::Text {
                x: 2.0 * EDGE,
                y: self.computed.height - EDGE - (rows - 1.0) * note_row() - 2.0,
                content: line.clone(),
                size: NOTE_SIZE,
                anchor: TextAnchor::Start,
                rotate: None,
                bold: false,
                color: Some(kuva_colour(Colour::Muted)),
            });
        }
        scene
    }

    /// Removes the line and grid of hidden axes, and ticks without a label. The plotting library
    /// draws both axes or none, and ticks over their whole length.
    fn hide_axes(&self, scene: &mut Scene) {
        let bottom = self.computed.height - self.computed.margin_bottom;
        let left = self.computed.margin_left;
        let has_x_tick = self.tick_filter(0, |value| self.computed.map_x(self.x.position(value)));
        let has_y_tick = self.tick_filter(1, |value| self.computed.map_y(self.y.position(value)));
        scene.elements.retain(|element| match element {
            Primitive::Line { x1, x2, y1, y2, .. } => {
                let (is_vertical, is_horizontal) = (x1 == x2, y1 == y2);
                if is_horizontal && *y1 == bottom && *x2 > left {
                    self.axes[0]
                } else if is_vertical && *x1 == left && *y1 < bottom {
                    self.axes[1]
                } else if is_vertical {
                    has_x_tick(*x1)
                } else {
                    has_y_tick(*y1)
                }
            }
            _ => true,
        });
    }

    /// Returns a predicate: whether an axis can have a tick at a pixel.
    fn tick_filter(&self, axis: usize, pixel: impl Fn(f64) -> f64) -> impl Fn(f64) -> bool {
        let ends = match (self.axes[axis], self.labels[axis]) {
            (false, _) | (true, Some(0)) => (f64::INFINITY, f64::NEG_INFINITY),
            (true, None) => (f64::NEG_INFINITY, f64::INFINITY),
            (true, Some(labels)) => {
                let (first, last) = (pixel(0.0), pixel((labels - 1) as f64));
                (first.min(last) - 0.5, first.max(last) + 0.5)
            }
        };
        move |at| ends.0 <= at && at <= ends.1
    }
}

/// Aligns the title with the left edge of the figure, which leaves the most room for long titles.
fn align_title_left(scene: &mut Scene) {
    for element in &mut scene.elements {
        if let Primitive::Text { x, anchor, size: TITLE_SIZE, .. } = element {
            (*x, *anchor) = (2.0 * EDGE, TextAnchor::Start);
        }
    }
}
