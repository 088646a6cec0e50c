//! Charts on paper: a [`Chart`] becomes an SVG and a PNG, without a browser.
//!
//! A figure is as wide as the text of a page, 16 cm; a PNG has 300 dots to the inch. Axes, ticks,
//! title and legend are the plotting library's (kuva), marks are its primitives, and resvg turns
//! the SVG into dots. The SVG names its fonts but does not hold them.
//!
//! - Same chart, same bytes: nothing depends on time, threads or chance. A PNG depends on the
//!   machine's fonts only where its labels have letters that DejaVu Sans lacks.
//! - Cost: linear in the number of places; a long line and crowded points shrink to what can be
//!   seen.
//! - Failure: drawing never fails. Places that are not finite are left out; an axis without a
//!   length is widened; marks beyond the axes are cut off there, words are not.
//!
//! Labels are data: whatever they hold comes out as text.

mod files;
mod frame;
mod legend;
mod marks;
mod number;
mod path;
mod raster;
mod scale;
mod surround;
mod text;
mod thin;

use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene};

pub use files::write;

use crate::chart::{Chart, Colour};
use crate::palette;
use frame::Frame;

/// Resolution of a PNG.
const DOTS_PER_INCH: f64 = 300.0;
/// Dots of a PNG for one unit of the SVG, of which 96 are an inch.
const PIXELS_PER_UNIT: f64 = DOTS_PER_INCH / 96.0;
/// Width of a figure in units of the SVG: 16 cm, 1890 dots.
const WIDTH: f64 = 604.75;
/// Fonts that the SVG asks for.
const FONTS: &str = "DejaVu Sans, Arial, sans-serif";
const TITLE_SIZE: u32 = 13;
const LABEL_SIZE: u32 = 11;
const TICK_SIZE: u32 = 10;
const TEXT_SIZE: u32 = 10;
const NOTE_SIZE: u32 = 9;
/// Dashes of a dashed line.
const DASHES: &str = "5 3";
/// How far marks may reach beyond the axes: a point on the edge is seen in full.
const BLEED: f64 = 6.0;

/// A chart that has been drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    svg: String,
}

/// Why a figure could not be made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The drawing is not an SVG that can be read again.
    #[error("the figure cannot be turned into dots: {0}; please report this")]
    Svg(resvg::usvg::Error),
    /// The drawing has more dots than can be held.
    #[error("a picture of {width}×{height} dots is too large; choose a chart with fewer rows")]
    Size {
        /// Dots across.
        width: u32,
        /// Dots down.
        height: u32,
    },
    /// The font that travels with the program cannot be read.
    #[error("the program's own font cannot be read; please report this")]
    Font,
    /// The dots cannot be written as PNG.
    #[error("the picture cannot be written as PNG: {0}")]
    Png(png::EncodingError),
    /// A chart's `id` is no name for a file, or another chart has it.
    #[error(
        "`{id}` cannot name the files of a figure; expected words of letters and digits joined by hyphens, each name once"
    )]
    Name {
        /// The chart's `id`.
        id: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] hodgerank_io::Error),
}

impl Figure {
    /// The drawing.
    #[must_use]
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The drawing, handed over.
    #[must_use]
    pub fn into_svg(self) -> String {
        self.svg
    }

    /// The drawing in dots, on white, with its resolution noted in the file.
    ///
    /// # Errors
    /// If the drawing is too large for memory. Other failures are bugs.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        raster::png(&self.svg)
    }
}

/// Draws a chart.
#[must_use]
pub fn draw(chart: &Chart) -> Figure {
    let frame = Frame::new(chart);
    let mut scene = frame.scene();
    start_clip(chart, &frame, &mut scene);
    for mark in &chart.marks {
        marks::draw(mark, &frame, &mut scene);
    }
    scene.add(Primitive::GroupEnd);
    scene.add(Primitive::ClipEnd);
    // A rim of white keeps words legible above lines.
    start_group(
        r##"stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke""##,
        &mut scene,
    );
    for mark in &chart.marks {
        marks::texts(mark, &frame, &mut scene);
    }
    scene.add(Primitive::GroupEnd);
    text::protect(&mut scene);
    Figure { svg: described(chart, &scene) }
}

/// What follows is cut off a little beyond the axes, and lines have round corners.
fn start_clip(chart: &Chart, frame: &Frame, scene: &mut Scene) {
    // Unique among figures that are put into one page.
    let letters =
        chart.id.chars().filter(|&letter| letter == '-' || letter.is_ascii_alphanumeric());
    let id = format!("inside-{}", letters.collect::<String>());
    let ((left, top), (right, bottom)) = frame.inside();
    let (x, y) = (left - BLEED, top - BLEED);
    let (width, height) = (right + BLEED - x, bottom + BLEED - y);
    scene.defs.push(format!(
        r#"<clipPath id="{id}"><rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}"/></clipPath>"#
    ));
    scene.add(Primitive::ClipStart { x, y, width, height, id });
    start_group(r#"stroke-linejoin="round""#, scene);
}

/// What follows has these attributes, up to the end of the group.
fn start_group(attributes: &str, scene: &mut Scene) {
    let extra_attrs = Some(attributes.to_owned());
    scene.add(Primitive::GroupStart { transform: None, title: None, extra_attrs });
}

/// The scene as SVG, with what the plotting library has no words for: a title and a description for
/// readers who cannot see it, and a box of view, so that it scales. They go into and behind the
/// opening tag.
fn described(chart: &Chart, scene: &Scene) -> String {
    let svg = SvgBackend::new().render_scene(scene);
    let (width, height) = (scene.width, scene.height);
    let title = text::escaped(&chart.title);
    let alt = text::escaped(&chart.alt);
    let (tag, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    format!(
        r#"{tag} viewBox="0 0 {width:.2} {height:.2}" role="img"><title>{title}</title><desc>{alt}</desc>{rest}"#
    )
}

/// A colour as the plotting library holds it.
fn raw_colour(colour: Colour) -> Color {
    let [red, green, blue] = palette::colour(colour);
    Color::Rgb(red, green, blue)
}
