//! The marks inside the axes.
//!
//! Each mark becomes one SVG element, or one per colour, which keeps figures with thousands of points
//! small. Positions that are not finite are omitted and interrupt a line. Points of one mark that
//! coincide to a quarter of a pixel are drawn once.

use std::collections::BTreeMap;
use std::collections::HashSet;

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};
use kuva::render::render_utils::arrow_head_path;

use super::frame::Frame;
use super::position::Point;
use super::svg_path::{SvgPath, add_line, add_shape};
use super::{TEXT_SIZE, kuva_colour};
use crate::chart::{Anchor, Colour, Mark, PointShape, Ramp};
use crate::palette::{self, BAND_OPACITY};

/// Factor from sizes on screen, which charts specify, to sizes in a printed figure.
const PRINT_SCALE: f64 = 0.8;

/// Half the height of the cap of an error bar, in pixels.
const HALF_CAP: f64 = 2.5;

/// Number of steps into which the values of a heat map or an image are rounded.
const LEVELS: f64 = 63.0;

/// Draws one mark.
pub(super) fn draw(mark: &Mark, frame: &Frame, scene: &mut Scene) {
    match mark {
        Mark::Points { colour, shape, size, x, y, .. } => {
            points(*colour, *shape, PRINT_SCALE * size, frame.positions(x, y), scene);
        }
        Mark::Line { colour, width, dashed, curve, x, y, .. } => {
            let mut path = SvgPath::default();
            let positions: Vec<Option<Point>> = frame.positions(x, y).collect();
            for segment in positions.split(Option::is_none) {
                let segment: Vec<Point> = segment.iter().copied().flatten().collect();
                add_line(&mut path, &segment, *curve);
            }
            stroke(path, *colour, PRINT_SCALE * width, *dashed, scene);
        }
        Mark::Segments { colour, width, arrow, x0, y0, x1, y1, .. } => {
            let ends = frame.positions(x0, y0).zip(frame.positions(x1, y1));
            let ends = ends.filter_map(|(first, second)| first.zip(second));
            segments(*colour, PRINT_SCALE * width, *arrow, ends, scene);
        }
        Mark::Bars { colour, x0, x1, y0, y1, .. } => {
            let corners = frame.positions(x0, y0).zip(frame.positions(x1, y1));
            bars(*colour, corners.filter_map(|(first, second)| first.zip(second)), scene);
        }
        Mark::Cells { x, y, width, height, value, ramp, .. } => {
            let (half_width, half_height) = (width / 2.0, height / 2.0);
            let boxes = x.iter().zip(y).zip(value).filter_map(|((&x, &y), &value)| {
                let first = frame.position(x - half_width, y - half_height)?;
                let second = frame.position(x + half_width, y + half_height)?;
                (!value.is_nan()).then(|| (ordered(first, second), value))
            });
            cells(*ramp, boxes, scene);
        }
        Mark::Intervals { colour, width, x0, x1, y, .. } => {
            let mut path = SvgPath::default();
            for (low, high) in frame.positions(x0, y).zip(frame.positions(x1, y)) {
                if let Some((low, high)) = low.zip(high) {
                    add_error_bar(&mut path, low, high);
                }
            }
            stroke(path, *colour, PRINT_SCALE * width, false, scene);
        }
        Mark::Bands { y0, y1, .. } => {
            let ((left, _), (right, _)) = frame.plot_area();
            let mut path = SvgPath::default();
            let heights = |ends: &[f64]| -> Vec<Option<f64>> {
                let x = vec![0.0; ends.len()];
                frame.positions(&x, ends).map(|place| place.map(|(_, y)| y)).collect()
            };
            for (first, second) in heights(y0).into_iter().zip(heights(y1)) {
                if let Some((first, second)) = first.zip(second) {
                    let (low, high) = ordered((left, first), (right, second));
                    path.rectangle(low, high);
                }
            }
            if let Some(d) = path.finish() {
                let (fill, opacity) = (Some(kuva_colour(Colour::Ink)), Some(BAND_OPACITY));
                let (stroke, stroke_width, stroke_dasharray) = (Color::None, 0.0, None);
                let data = PathData { d, fill, stroke, stroke_width, opacity, stroke_dasharray };
                scene.add(Primitive::Path(Box::new(data)));
            }
        }
        // Texts are drawn above everything else and are never clipped: see `texts`.
        Mark::Texts { .. } => {}
    }
}

/// Adds a line with caps at both ends.
fn add_error_bar(path: &mut SvgPath, low: Point, high: Point) {
    let cap = |(x, y): Point| ((x, y - HALF_CAP), (x, y + HALF_CAP));
    for (from, to) in [(low, high), cap(low), cap(high)] {
        path.start(from);
        path.line(to);
    }
}

/// Draws the texts of a mark.
pub(super) fn texts(mark: &Mark, frame: &Frame, scene: &mut Scene) {
    let Mark::Texts { colour, anchor, x, y, text } = mark else { return };
    for (position, content) in frame.positions(x, y).zip(text) {
        let Some((x, y)) = position else { continue };
        scene.add(Primitive::Text {
            x,
            // Half the height of a capital letter: centres the text vertically.
            y: y + 0.36 * f64::from(TEXT_SIZE),
            content: content.clone(),
            size: TEXT_SIZE,
            anchor: match anchor {
                Anchor::Start => TextAnchor::Start,
                Anchor::Middle => TextAnchor::Middle,
                Anchor::End => TextAnchor::End,
            },
            rotate: None,
            bold: false,
            color: Some(kuva_colour(*colour)),
        });
    }
}

fn points(
    colour: Colour,
    shape: PointShape,
    size: f64,
    positions: impl Iterator<Item = Option<Point>>,
    scene: &mut Scene,
) {
    let mut seen = HashSet::new();
    // Coordinates in quarters of a pixel need few characters, and the difference is invisible.
    let quarter = |part: f64| (4.0 * part).round();
    let positions = positions.flatten().map(|(x, y)| (quarter(x), quarter(y)));
    let positions = positions.filter(|&(x, y)| seen.insert((x as i64, y as i64)));
    let positions = positions.map(|(x, y)| (x / 4.0, y / 4.0));
    match shape {
        PointShape::Circle => {
            let (cx, cy): (Vec<f64>, Vec<f64>) = positions.unzip();
            scene.add(Primitive::CircleBatch {
                cx,
                cy,
                r: quarter(size).max(1.0) / 4.0,
                fill: kuva_colour(colour),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            });
        }
        shape => {
            let mut path = SvgPath::default();
            positions.for_each(|position| add_shape(&mut path, shape, position, size));
            if matches!(shape, PointShape::Cross | PointShape::Plus) {
                stroke(path, colour, (0.5 * size).max(0.8), false, scene);
            } else {
                fill(path, kuva_colour(colour), None, scene);
            }
        }
    }
}

fn segments(
    colour: Colour,
    width: f64,
    arrow: bool,
    ends: impl Iterator<Item = (Point, Point)>,
    scene: &mut Scene,
) {
    let mut shafts = SvgPath::default();
    let mut heads = String::new();
    for (first, mut second) in ends {
        let (across, down) = (second.0 - first.0, second.1 - first.1);
        let length = across.hypot(down);
        if arrow && length > 0.0 {
            let (ux, uy) = (across / length, down / length);
            // The head is never longer than the arrow, and the shaft ends inside the head.
            let head = (4.0 + 2.5 * width).min(length);
            heads += &arrow_head_path(second.0, second.1, ux, uy, head, 0.4 * head);
            second = (second.0 - 0.8 * head * ux, second.1 - 0.8 * head * uy);
        }
        shafts.start(first);
        shafts.line(second);
    }
    stroke(shafts, colour, width, false, scene);
    if !heads.is_empty() {
        add_path(heads, Some(kuva_colour(colour)), Color::None, 0.0, None, scene);
    }
}

fn bars(colour: Colour, corners: impl Iterator<Item = (Point, Point)>, scene: &mut Scene) {
    let mut path = SvgPath::default();
    let mut narrowest = f64::INFINITY;
    for (first, second) in corners {
        let (low, high) = ordered(first, second);
        narrowest = narrowest.min(high.0 - low.0).min(high.1 - low.1);
        path.rectangle(low, high);
    }
    // A thin white border separates neighbours where they are wide enough.
    fill(path, kuva_colour(colour), (narrowest >= 4.0).then_some(0.6), scene);
}

/// The corners of a cell and its value.
type ShadedCell = ((Point, Point), f64);

/// Draws cells of one colour as one element, and adjacent cells of one colour as one rectangle.
fn cells(ramp: Ramp, boxes: impl Iterator<Item = ShadedCell>, scene: &mut Scene) {
    let mut paths: BTreeMap<u8, SvgPath> = BTreeMap::new();
    let mut open: Option<(u8, Point, Point)> = None;
    let mut close = |run: Option<(u8, Point, Point)>| {
        if let Some((level, low, high)) = run {
            paths.entry(level).or_default().rectangle(low, high);
        }
    };
    for ((low, high), value) in boxes {
        let level = (value.clamp(0.0, 1.0) * LEVELS).round() as u8;
        let near = |one: f64, other: f64| (one - other).abs() < 0.01;
        match &mut open {
            Some((same, from, to))
                if *same == level
                    && near(to.0, low.0)
                    && near(from.1, low.1)
                    && near(to.1, high.1) =>
            {
                to.0 = high.0;
            }
            _ => close(open.replace((level, low, high))),
        }
    }
    close(open);
    // Antialiased edges would leave light gaps between adjacent cells.
    super::start_group(r#"shape-rendering="crispEdges""#, scene);
    for (level, path) in paths {
        let [red, green, blue] = palette::ramp(ramp, f64::from(level) / LEVELS);
        fill(path, Color::Rgb(red, green, blue), None, scene);
    }
    scene.add(Primitive::GroupEnd);
}

/// Returns the upper left and the lower right corner.
fn ordered(first: Point, second: Point) -> (Point, Point) {
    let low = (first.0.min(second.0), first.1.min(second.1));
    (low, (first.0.max(second.0), first.1.max(second.1)))
}

/// Draws a filled path, with a white border of the given width if any.
fn fill(path: SvgPath, colour: Color, border: Option<f64>, scene: &mut Scene) {
    if let Some(d) = path.finish() {
        let stroke = if border.is_some() { Color::Rgb(255, 255, 255) } else { Color::None };
        add_path(d, Some(colour), stroke, border.unwrap_or(0.0), None, scene);
    }
}

fn stroke(path: SvgPath, colour: Colour, width: f64, dashed: bool, scene: &mut Scene) {
    if let Some(d) = path.finish() {
        let dashes = dashed.then(|| super::DASHES.to_owned());
        add_path(d, None, kuva_colour(colour), width.max(0.25), dashes, scene);
    }
}

fn add_path(
    d: String,
    fill: Option<Color>,
    stroke: Color,
    stroke_width: f64,
    stroke_dasharray: Option<String>,
    scene: &mut Scene,
) {
    let data = PathData { d, fill, stroke, stroke_width, opacity: None, stroke_dasharray };
    scene.add(Primitive::Path(Box::new(data)));
}
