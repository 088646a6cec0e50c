//! Grey images: generated, or read from PGM (P2, P5) and PNG files.
//!
//! The crate `image` is not used, because it would change results: it rescales PGM samples to 8 or 16
//! bits (1 of 4 becomes 64/255 instead of 0.25) and accepts samples above the maximum. It would also
//! add several crates to the build, while `png` is needed for figures anyway.

use std::path::Path;

use crate::error::{Error, Result};

/// Maximum number of pixels; the experiment would take too long with more.
const MAX_PIXELS: usize = 1_000_000;
/// Weights of red, green and blue in the luminance (ITU-R BT.709).
const LUMINANCE: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// A grey image.
#[derive(Debug, Clone, PartialEq)]
pub struct GreyImage {
    /// Width in pixels.
    pub width: usize,
    /// Greys from 0 (black) to 1 (white), row by row from the top.
    pub grey: Vec<f64>,
}

impl GreyImage {
    /// Generates a test image with smooth shades, sharp edges, thin lines and a fine pattern.
    #[must_use]
    pub fn generated(width: usize, height: usize) -> Self {
        let pixel = |index: usize| {
            let x = ((index % width) as f64 + 0.5) / width as f64;
            let y = ((index / width) as f64 + 0.5) / height as f64;
            shade(x, y)
        };
        Self { width, grey: (0..width * height).map(pixel).collect() }
    }

    /// Reads a PGM or PNG file. Colours become their luminance; transparency is ignored.
    ///
    /// # Errors
    /// [`Error::Image`] if the file cannot be read, is neither PGM nor PNG, or has fewer than 2 or
    /// more than 1,000,000 pixels.
    pub fn read(file: &Path) -> Result<Self> {
        let bad = |problem: String| Error::Image { file: file.to_owned(), problem };
        let bytes = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
        let image = match &bytes[..] {
            [b'P', b'2' | b'5', ..] => pgm(&bytes),
            [0x89, b'P', b'N', b'G', ..] => png(&bytes),
            _ => Err("unknown file format".to_owned()),
        };
        let image = image.map_err(bad)?;
        match image.grey.len() {
            2..=MAX_PIXELS => Ok(image),
            pixels => Err(bad(format!("{pixels} pixels; 2 to {MAX_PIXELS} are supported"))),
        }
    }
}

/// The test image: sky, hill, sun, house and field, at coordinates from 0 to 1.
fn shade(x: f64, y: f64) -> f64 {
    let from = |u: f64, v: f64| ((x - u).powi(2) + (y - v).powi(2)).sqrt();
    let sky = 0.55 + 0.35 * (1.0 - y) * (2.5 * x).cos().abs();
    let hill = 0.62 + 0.1 * (7.0 * x).sin();
    let mut grey = if y > hill { 0.25 + 0.3 * (y - hill) } else { sky };
    let sun = from(0.72, 0.24);
    if sun < 0.13 {
        grey = 0.95 - 0.6 * sun;
    }
    // A house with a wall, a roof and a window.
    let wall = (0.14..0.42).contains(&x) && (0.45..0.82).contains(&y);
    if wall {
        grey = 0.75 - 0.4 * (x - 0.14);
    }
    if (0.25..0.45).contains(&y) && (x - 0.28).abs() < 0.9 * (y - 0.25) {
        grey = 0.12 + 0.5 * (0.45 - y);
    }
    if (0.2..0.34).contains(&x) && (0.54..0.7).contains(&y) {
        let bar = (x - 0.27).abs() < 0.008 || (y - 0.62).abs() < 0.008;
        grey = if bar { 0.05 } else { 0.9 };
    }
    // A field with a fine pattern.
    if y > 0.86 {
        grey = 0.3 + 0.15 * (60.0 * (x + 0.4 * y)).sin();
    }
    grey.clamp(0.0, 1.0)
}

fn pgm(bytes: &[u8]) -> std::result::Result<GreyImage, String> {
    let mut position = 2;
    let mut header = [0_usize; 3];
    for (value, what) in header.iter_mut().zip(["width", "height", "maximum grey"]) {
        *value = number(bytes, &mut position).ok_or(format!("the {what} is not a number"))?;
    }
    let [width, height, max] = header;
    if !(1..=0xffff).contains(&max) {
        return Err(format!("the maximum grey is {max}, which is not from 1 to 65535"));
    }
    let pixels = width.checked_mul(height).filter(|&pixels| pixels <= MAX_PIXELS);
    let pixels = pixels.ok_or(format!("{width} × {height} is more than {MAX_PIXELS} pixels"))?;
    if pixels == 0 {
        return Err("the image has no pixels".to_owned());
    }
    let truncated = || "the file ends before the last pixel".to_owned();
    let value = |value: usize| match value <= max {
        true => Ok(value as f64 / max as f64),
        false => Err(format!("a grey of {value} is above the maximum, {max}")),
    };
    let grey: std::result::Result<Vec<f64>, String> = if bytes[1] == b'2' {
        (0..pixels).map(|_| value(number(bytes, &mut position).ok_or_else(truncated)?)).collect()
    } else {
        // One whitespace character ends the header.
        let data = bytes.get(position + 1..).ok_or_else(truncated)?;
        let size = if max > 255 { 2 } else { 1 };
        let samples = data.chunks_exact(size).take(pixels);
        let sample =
            |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| sum * 256 + usize::from(byte));
        samples.map(|bytes| value(sample(bytes))).collect()
    };
    let grey = grey?;
    if grey.len() < pixels { Err(truncated()) } else { Ok(GreyImage { width, grey }) }
}

/// Reads the next number, after whitespace and comments (`#` to the end of the line).
fn number(bytes: &[u8], position: &mut usize) -> Option<usize> {
    loop {
        match bytes.get(*position)? {
            b'#' => {
                *position += bytes[*position..].iter().position(|&byte| byte == b'\n')?;
            }
            byte if byte.is_ascii_whitespace() => *position += 1,
            _ => break,
        }
    }
    let digits = bytes[*position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[*position..*position + digits]).ok()?;
    *position += digits;
    text.parse().ok()
}

fn png(bytes: &[u8]) -> std::result::Result<GreyImage, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.checked_mul(height).is_none_or(|pixels| pixels > MAX_PIXELS) {
        return Err(format!("{width} × {height} is more than {MAX_PIXELS} pixels"));
    }
    let size = reader.output_buffer_size().ok_or("the image is too large")?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(|error| error.to_string())?;
    let samples = info.color_type.samples();
    let grey = |pixel: &[u8]| match pixel {
        [r, g, b, ..] => {
            let parts = [r, g, b].into_iter().zip(LUMINANCE);
            parts.map(|(part, weight)| weight * f64::from(*part) / 255.0).sum()
        }
        _ => f64::from(pixel[0]) / 255.0,
    };
    let pixels = buffer[..info.buffer_size()].chunks_exact(samples);
    Ok(GreyImage { width, grey: pixels.map(grey).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::range;

    #[test]
    fn plain_and_binary_pgm_files_are_read() {
        let plain = pgm(b"P2 # made by hand\n3 2\n4\n0 1 2\n3 4 0\n").unwrap();
        assert_eq!(plain, GreyImage { width: 3, grey: vec![0.0, 0.25, 0.5, 0.75, 1.0, 0.0] });
        assert_eq!(pgm(b"P5 3 2 4 \x00\x01\x02\x03\x04\x00").unwrap(), plain);
        assert_eq!(pgm(b"P5 1 2 1000 \x03\xe8\x01\xf4").unwrap().grey, [1.0, 0.5]);
        assert!(pgm(b"P5 3 2 4 \x00\x01").unwrap_err().contains("last pixel"));
        assert!(pgm(b"P2 2 1 4 1 9").unwrap_err().contains("grey of 9"));
        assert!(pgm(b"P2 x").is_err() && pgm(b"P5 0 4 255 ").is_err());
    }

    #[test]
    fn colours_become_their_luminance() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[255, 255, 255, 0, 255, 0]).unwrap();
        writer.finish().unwrap();
        let image = png(&bytes).unwrap();
        assert_eq!(image.width, 2);
        assert!((image.grey[0] - 1.0).abs() < 1e-12 && (image.grey[1] - 0.7152).abs() < 1e-12);
        assert!(png(&bytes[..30]).is_err());
    }

    #[test]
    fn the_generated_image_has_blacks_and_whites() {
        let image = GreyImage::generated(181, 162);
        let (low, high) = range(image.grey.iter().copied());
        assert!(image.grey.len() == 29_322 && low < 0.1 && high > 0.9 && high <= 1.0);
    }
}
