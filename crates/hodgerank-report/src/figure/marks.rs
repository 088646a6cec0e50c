//! What is drawn inside the axes.
//!
//! Each mark becomes one element, or one for each colour, so that thousands of points stay small.
//! Places that are not finite are left out: a line breaks there. Circles of one mark that fall on
//! the same quarter of a pixel are drawn once.

use std::collections::BTreeMap;
use std::collections::HashSet;

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};
use kuva::render::render_utils::arrow_head_path;

use super::frame::Frame;
use super::path::{self, Outline, Place};
use super::{TEXT_SIZE, raw_colour};
use crate::chart::{Anchor, Colour, Mark, Ramp, Shape};
use crate::palette;

/// Sizes and widths of marks are meant for a page; a printed figure is smaller.
const SHRINK: f64 = 0.8;

/// Colours that a heat map or a picture is drawn with.
const LEVELS: f64 = 63.0;

/// Draws one mark.
pub(super) fn draw(mark: &Mark, frame: &Frame, scene: &mut Scene) {
    match mark {
        Mark::Points { colour, shape, size, x, y, .. } => {
            points(*colour, *shape, SHRINK * size, frame.places(x, y), scene);
        }
        Mark::Line { colour, width, dashed, curve, x, y, .. } => {
            let mut outline = Outline::default();
            let places: Vec<Option<Place>> = frame.places(x, y).collect();
            for piece in places.split(Option::is_none) {
                let piece: Vec<Place> = piece.iter().copied().flatten().collect();
                path::run(&mut outline, &piece, *curve);
            }
            stroke(outline, *colour, SHRINK * width, *dashed, scene);
        }
        Mark::Segments { colour, width, arrow, x0, y0, x1, y1, .. } => {
            let ends = frame.places(x0, y0).zip(frame.places(x1, y1));
            let ends = ends.filter_map(|(first, second)| first.zip(second));
            segments(*colour, SHRINK * width, *arrow, ends, scene);
        }
        Mark::Bars { colour, x0, x1, y0, y1, .. } => {
            let corners = frame.places(x0, y0).zip(frame.places(x1, y1));
            bars(*colour, corners.filter_map(|(first, second)| first.zip(second)), scene);
        }
        Mark::Cells { x, y, width, height, value, ramp, .. } => {
            let (half_width, half_height) = (width / 2.0, height / 2.0);
            let boxes = x.iter().zip(y).zip(value).filter_map(|((&x, &y), &value)| {
                let first = frame.place(x - half_width, y - half_height)?;
                let second = frame.place(x + half_width, y + half_height)?;
                (!value.is_nan()).then(|| (ordered(first, second), value))
            });
            cells(*ramp, boxes, scene);
        }
        // Words stand above everything and are never cut: see `texts`.
        Mark::Texts { .. } => {}
    }
}

/// Draws the words of a mark.
pub(super) fn texts(mark: &Mark, frame: &Frame, scene: &mut Scene) {
    let Mark::Texts { colour, anchor, x, y, text } = mark else { return };
    for (place, content) in frame.places(x, y).zip(text) {
        let Some((x, y)) = place else { continue };
        scene.add(Primitive::Text {
            x,
            // Half the height of a capital letter below the middle.
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
            color: Some(raw_colour(*colour)),
        });
    }
}

fn points(
    colour: Colour,
    shape: Shape,
    size: f64,
    places: impl Iterator<Item = Option<Place>>,
    scene: &mut Scene,
) {
    let mut seen = HashSet::new();
    // Quarters of a pixel are written shortly, and nobody sees the difference.
    let quarter = |part: f64| (4.0 * part).round();
    let places = places.flatten().map(|(x, y)| (quarter(x), quarter(y)));
    let places = places.filter(|&(x, y)| seen.insert((x as i64, y as i64)));
    let places = places.map(|(x, y)| (x / 4.0, y / 4.0));
    match shape {
        Shape::Circle => {
            let (cx, cy): (Vec<f64>, Vec<f64>) = places.unzip();
            scene.add(Primitive::CircleBatch {
                cx,
                cy,
                r: quarter(size).max(1.0) / 4.0,
                fill: raw_colour(colour),
                fill_opacity: None,
                stroke: None,
                stroke_width: None,
            });
        }
        shape => {
            let mut outline = Outline::default();
            places.for_each(|place| path::shape(&mut outline, shape, place, size));
            if matches!(shape, Shape::Cross | Shape::Plus) {
                stroke(outline, colour, (0.5 * size).max(0.8), false, scene);
            } else {
                fill(outline, raw_colour(colour), None, scene);
            }
        }
    }
}

fn segments(
    colour: Colour,
    width: f64,
    arrow: bool,
    ends: impl Iterator<Item = (Place, Place)>,
    scene: &mut Scene,
) {
    let mut shafts = Outline::default();
    let mut heads = String::new();
    for (first, mut second) in ends {
        let (across, down) = (second.0 - first.0, second.1 - first.1);
        let length = across.hypot(down);
        if arrow && length > 0.0 {
            let (ux, uy) = (across / length, down / length);
            // A head is never longer than its arrow, and the shaft ends inside it.
            let head = (4.0 + 2.5 * width).min(length);
            heads += &arrow_head_path(second.0, second.1, ux, uy, head, 0.4 * head);
            second = (second.0 - 0.8 * head * ux, second.1 - 0.8 * head * uy);
        }
        shafts.start(first);
        shafts.line(second);
    }
    stroke(shafts, colour, width, false, scene);
    if !heads.is_empty() {
        path(heads, Some(raw_colour(colour)), Color::None, 0.0, None, scene);
    }
}

fn bars(colour: Colour, corners: impl Iterator<Item = (Place, Place)>, scene: &mut Scene) {
    let mut outline = Outline::default();
    let mut narrowest = f64::INFINITY;
    for (first, second) in corners {
        let (low, high) = ordered(first, second);
        narrowest = narrowest.min(high.0 - low.0).min(high.1 - low.1);
        outline.rectangle(low, high);
    }
    // Neighbours are parted by a hair of white, where there is room for it.
    fill(outline, raw_colour(colour), (narrowest >= 4.0).then_some(0.6), scene);
}

type Cell = ((Place, Place), f64);

/// Cells of one colour are one element; neighbours of one colour in a row are one rectangle.
fn cells(ramp: Ramp, boxes: impl Iterator<Item = Cell>, scene: &mut Scene) {
    let mut outlines: BTreeMap<u8, Outline> = BTreeMap::new();
    let mut open: Option<(u8, Place, Place)> = None;
    let mut close = |run: Option<(u8, Place, Place)>| {
        if let Some((level, low, high)) = run {
            outlines.entry(level).or_default().rectangle(low, high);
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
    // Without smoothed edges no light shows between neighbours.
    super::start_group(r#"shape-rendering="crispEdges""#, scene);
    for (level, outline) in outlines {
        let [red, green, blue] = palette::ramp(ramp, f64::from(level) / LEVELS);
        fill(outline, Color::Rgb(red, green, blue), None, scene);
    }
    scene.add(Primitive::GroupEnd);
}

/// The upper left and the lower right corner.
fn ordered(first: Place, second: Place) -> (Place, Place) {
    let low = (first.0.min(second.0), first.1.min(second.1));
    (low, (first.0.max(second.0), first.1.max(second.1)))
}

fn fill(outline: Outline, colour: Color, parting: Option<f64>, scene: &mut Scene) {
    if let Some(d) = outline.finish() {
        let stroke = if parting.is_some() { Color::Rgb(255, 255, 255) } else { Color::None };
        path(d, Some(colour), stroke, parting.unwrap_or(0.0), None, scene);
    }
}

fn stroke(outline: Outline, colour: Colour, width: f64, dashed: bool, scene: &mut Scene) {
    if let Some(d) = outline.finish() {
        let dashes = dashed.then(|| super::DASHES.to_owned());
        path(d, None, raw_colour(colour), width.max(0.25), dashes, scene);
    }
}

fn path(
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
