//! Charts for print: draws a [`Chart`] as SVG, PDF and PNG, without a browser.
//!
//! A figure is 16 cm wide unless [`FigureOptions`] say otherwise, and its texts have the same size at every
//! width; a PNG has 300 dpi. The plotting library (kuva) draws axes, ticks, title
//! and legend, and marks are drawn with its primitives; resvg renders the SVG. The SVG names its
//! fonts but does not embed them.
//!
//! - Deterministic: the same chart gives the same bytes. A PNG depends on the machine's fonts only if
//!   its labels have characters that DejaVu Sans lacks.
//! - Cost: linear in the number of points. Long lines are simplified and coinciding points merged.
//! - Drawing never fails. Positions that are not finite are omitted; an axis of zero length is
//!   widened; marks are clipped at the axes, texts are not.
//!
//! Labels are data and are always drawn as literal text.

mod axes;
mod files;
mod frame;
mod legend;
mod marks;
mod number;
mod options;
mod pdf;
mod position;
mod raster;
mod scale;
mod simplify;
mod svg_path;
mod text;

use kuva::backend::svg::SvgBackend;
use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene};

pub use files::write;
pub use options::{FigureOptions, FigureWidth};

use crate::chart::{Chart, Colour, Mark};
use crate::palette;
use frame::Frame;

/// Resolution of a PNG.
const DOTS_PER_INCH: f64 = 300.0;
/// Pixels of a PNG per SVG unit, of which 96 are an inch.
const PIXELS_PER_UNIT: f64 = DOTS_PER_INCH / 96.0;
/// Points of a PDF per SVG unit.
const POINTS_PER_UNIT: f64 = 72.0 / 96.0;
/// Font families of the SVG, in order of preference.
const FONTS: &str = "DejaVu Sans, Arial, sans-serif";
const TITLE_SIZE: u32 = 13;
const LABEL_SIZE: u32 = 11;
const TICK_SIZE: u32 = 10;
const TEXT_SIZE: u32 = 10;
const NOTE_SIZE: u32 = 9;
/// `stroke-dasharray` of a dashed line.
const DASHES: &str = "5 3";
/// How far marks can extend beyond the axes, so that a point on the edge is not cut in half.
const CLIP_MARGIN: f64 = 6.0;

/// A drawn chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    svg: String,
    title: String,
}

/// Why a figure could not be rendered or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The SVG cannot be parsed. This is a bug.
    #[error("the figure cannot be rendered: {0}; please report this")]
    Svg(resvg::usvg::Error),
    /// The image does not fit into memory.
    #[error("an image of {width}×{height} pixels is too large; choose a chart with fewer rows")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The embedded font cannot be read. This is a bug.
    #[error("the embedded font cannot be read; please report this")]
    Font,
    /// The figure cannot be compressed as PDF.
    #[error("the figure cannot be written as PDF: {0}")]
    Pdf(std::io::Error),
    /// The image cannot be encoded as PNG.
    #[error("the image cannot be written as PNG: {0}")]
    Png(png::EncodingError),
    /// A chart's `id` is not a valid file name, or another chart has the same one.
    #[error(
        "`{id}` cannot be used as a file name; expected letters and digits joined by hyphens, and each name once"
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
    /// Returns the figure as SVG.
    #[must_use]
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Consumes the figure and returns its SVG.
    #[must_use]
    pub fn into_svg(self) -> String {
        self.svg
    }

    /// Converts the figure to a PDF of one page, with texts as outlines.
    ///
    /// # Errors
    /// Errors are bugs.
    pub fn pdf(&self) -> Result<Vec<u8>, FigureError> {
        pdf::pdf(&self.svg, &self.title)
    }

    /// Renders the figure as a PNG on white, with 300 dpi recorded in the file.
    ///
    /// # Errors
    /// [`FigureError::Size`] if the image does not fit into memory. Other errors are bugs.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        raster::png(&self.svg)
    }
}

/// Draws a chart with the default options.
#[must_use]
pub fn draw(chart: &Chart) -> Figure {
    draw_with(chart, &FigureOptions::default())
}

/// Draws a chart.
#[must_use]
pub fn draw_with(chart: &Chart, options: &FigureOptions) -> Figure {
    let frame = Frame::new(chart, options);
    let mut scene = frame.scene();
    start_clip(chart, &frame, &mut scene);
    for mark in &chart.marks {
        marks::draw(mark, &frame, &mut scene);
    }
    scene.add(Primitive::GroupEnd);
    scene.add(Primitive::ClipEnd);
    // A white outline keeps texts legible above lines, but not in coloured cells.
    let has_cells = chart.marks.iter().any(|mark| matches!(mark, Mark::Cells { .. }));
    start_group(
        r##"stroke="#fff" stroke-width="2" stroke-linejoin="round" paint-order="stroke""##,
        &mut scene,
    );
    let (inverse, outlined): (Vec<&Mark>, Vec<&Mark>) = chart
        .marks
        .iter()
        .partition(|mark| has_cells || matches!(mark, Mark::Texts { colour: Colour::Paper, .. }));
    outlined.into_iter().for_each(|mark| marks::texts(mark, &frame, &mut scene));
    scene.add(Primitive::GroupEnd);
    if !has_cells || frame.texts_fit_cells(&chart.marks) {
        inverse.into_iter().for_each(|mark| marks::texts(mark, &frame, &mut scene));
    }
    text::escape_formulas(&mut scene);
    Figure { svg: accessible_svg(chart, &scene), title: chart.title.clone() }
}

/// Starts a group that is clipped slightly outside the axes and whose lines have round joins.
fn start_clip(chart: &Chart, frame: &Frame, scene: &mut Scene) {
    // The id must be unique if several figures are embedded in one page.
    let safe = chart.id.chars().filter(|&c| c == '-' || c.is_ascii_alphanumeric());
    let id = format!("inside-{}", safe.collect::<String>());
    let ((left, top), (right, bottom)) = frame.plot_area();
    let (x, y) = (left - CLIP_MARGIN, top - CLIP_MARGIN);
    let (width, height) = (right + CLIP_MARGIN - x, bottom + CLIP_MARGIN - y);
    scene.defs.push(format!(
        r#"<clipPath id="{id}"><rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}"/></clipPath>"#
    ));
    scene.add(Primitive::ClipStart { x, y, width, height, id });
    start_group(r#"stroke-linejoin="round""#, scene);
}

/// Starts a group with these attributes.
fn start_group(attributes: &str, scene: &mut Scene) {
    let extra_attrs = Some(attributes.to_owned());
    scene.add(Primitive::GroupStart { transform: None, title: None, extra_attrs });
}

/// Renders the scene as SVG and adds what the plotting library does not write: a title and a
/// description for screen readers, and a `viewBox`, so that the figure scales.
fn accessible_svg(chart: &Chart, scene: &Scene) -> String {
    let svg = SvgBackend::new().render_scene(scene);
    let (width, height) = (scene.width, scene.height);
    let title = text::escaped(&chart.title);
    let alt = text::escaped(&chart.alt);
    let (tag, rest) = svg.split_once('>').unwrap_or((&svg, ""));
    format!(
        r#"{tag} viewBox="0 0 {width:.2} {height:.2}" role="img"><title>{title}</title><desc>{alt}</desc>{rest}"#
    )
}

/// Converts a colour to the plotting library's type.
fn kuva_colour(colour: Colour) -> Color {
    let [red, green, blue] = palette::colour(colour);
    Color::Rgb(red, green, blue)
}
