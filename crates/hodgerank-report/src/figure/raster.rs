//! Conversion from SVG to PNG.
//!
//! Text is drawn with DejaVu Sans, which is part of the program, so that the image is the same on
//! every machine. System fonts are used only for characters that DejaVu Sans lacks (Chinese,
//! Japanese, Korean, Indian scripts, emoji).

use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kuva::backend::svg::SvgBackend;
use kuva::render::render::Scene;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use super::{DOTS_PER_INCH, FigureError, PIXELS_PER_UNIT};

/// Parses an SVG, with the fonts that its texts need.
pub(super) fn parse(svg: &str) -> Result<Tree, FigureError> {
    let fonts = if svg.chars().all(in_dejavu) { bundled_fonts()? } else { all_fonts()? };
    let family = "DejaVu Sans".to_owned();
    let options = Options { fontdb: fonts, font_family: family, ..Options::default() };
    Tree::from_str(svg, &options).map_err(FigureError::Svg)
}

/// Renders an SVG as a PNG on white, at print resolution.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, FigureError> {
    let tree = parse(svg)?;
    let size = tree.size();
    let pixels = |length: f32| (f64::from(length) * PIXELS_PER_UNIT).round() as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let mut pixmap = Pixmap::new(width, height).ok_or(FigureError::Size { width, height })?;
    pixmap.fill(Color::WHITE);
    let scale = PIXELS_PER_UNIT as f32;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    encode(&pixmap).map_err(FigureError::Png)
}

fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    // The background is opaque, so every pixel is.
    let rgb = pixmap.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]);
    let rgb: Vec<u8> = rgb.collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = (DOTS_PER_INCH / 0.0254).round() as u32;
    let unit = png::Unit::Meter;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(bytes)
}

/// Whether DejaVu Sans covers (nearly all of) the character's script.
fn in_dejavu(character: char) -> bool {
    matches!(character, '\0'..='\u{7ff}' | '\u{10a0}'..='\u{10ff}' | '\u{1d00}'..='\u{2bff}')
}

fn bundled_fonts() -> Result<Arc<Database>, FigureError> {
    static FONTS: OnceLock<Option<Arc<Database>>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| bundled().map(Arc::new));
    fonts.clone().ok_or(FigureError::Font)
}

fn all_fonts() -> Result<Arc<Database>, FigureError> {
    static FONTS: OnceLock<Option<Arc<Database>>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        // The program's own fonts come first: of two fonts with the same name the first is used.
        let mut fonts = bundled()?;
        fonts.load_system_fonts();
        Some(Arc::new(fonts))
    });
    fonts.clone().ok_or(FigureError::Font)
}

/// Extracts the plotting library's fonts from an empty SVG: the library does not expose them, but
/// can embed them in its output.
fn bundled() -> Option<Database> {
    let svg = SvgBackend::new().with_embedded_font(true).render_scene(&Scene::new(1.0, 1.0));
    let mut fonts = Database::new();
    for part in svg.split("base64,").skip(1) {
        fonts.load_font_data(STANDARD.decode(part.split('\'').next()?).ok()?);
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    (!fonts.is_empty()).then_some(fonts)
}
