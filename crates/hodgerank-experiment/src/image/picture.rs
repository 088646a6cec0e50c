//! Pictures: generated, or read from PGM (P2, P5) and PNG, as greys from 0 to 1.

use std::path::Path;

use crate::error::{Error, Result};

/// More would be no experiment but a day's work.
const MAX_PIXELS: usize = 1_000_000;
/// What each colour adds to how bright a pixel looks (ITU-R BT.709).
const BRIGHTNESS: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// A grey picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Greys from 0 (black) to 1 (white), row by row from the top.
    pub grey: Vec<f64>,
}

impl Picture {
    /// A test picture with smooth shades, sharp edges, thin lines and a fine pattern.
    #[must_use]
    pub fn generated(width: usize, height: usize) -> Self {
        let pixel = |place: usize| {
            let x = ((place % width) as f64 + 0.5) / width as f64;
            let y = ((place / width) as f64 + 0.5) / height as f64;
            shade(x, y)
        };
        Self { width, grey: (0..width * height).map(pixel).collect() }
    }

    /// Reads a PGM or a PNG; colours become their brightness, transparency is ignored.
    ///
    /// # Errors
    /// If the file cannot be read, is neither, or has fewer than two pixels or too many.
    pub fn read(file: &Path) -> Result<Self> {
        let bad = |problem: String| Error::Picture { file: file.to_owned(), problem };
        let bytes = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
        let picture = match &bytes[..] {
            [b'P', b'2' | b'5', ..] => pgm(&bytes),
            [0x89, b'P', b'N', b'G', ..] => png(&bytes),
            _ => Err("this is neither".to_owned()),
        };
        let picture = picture.map_err(bad)?;
        match picture.grey.len() {
            2..=MAX_PIXELS => Ok(picture),
            pixels => Err(bad(format!("{pixels} pixels, and it takes 2 to {MAX_PIXELS}"))),
        }
    }
}

fn shade(x: f64, y: f64) -> f64 {
    let from = |u: f64, v: f64| ((x - u).powi(2) + (y - v).powi(2)).sqrt();
    let sky = 0.55 + 0.35 * (1.0 - y) * (2.5 * x).cos().abs();
    let hill = 0.62 + 0.1 * (7.0 * x).sin();
    let mut grey = if y > hill { 0.25 + 0.3 * (y - hill) } else { sky };
    let sun = from(0.72, 0.24);
    if sun < 0.13 {
        grey = 0.95 - 0.6 * sun;
    }
    // A house: wall, roof and a window with bars.
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
    // Ploughed land: a fine pattern.
    if y > 0.86 {
        grey = 0.3 + 0.15 * (60.0 * (x + 0.4 * y)).sin();
    }
    grey.clamp(0.0, 1.0)
}

fn pgm(bytes: &[u8]) -> std::result::Result<Picture, String> {
    let mut place = 2;
    let mut header = [0_usize; 3];
    for (value, what) in header.iter_mut().zip(["width", "height", "largest grey"]) {
        *value = number(bytes, &mut place).ok_or(format!("the {what} is not a number"))?;
    }
    let [width, height, largest] = header;
    if !(1..=0xffff).contains(&largest) {
        return Err(format!("the largest grey is {largest}"));
    }
    let pixels = width.checked_mul(height).filter(|&pixels| pixels <= MAX_PIXELS);
    let pixels = pixels.ok_or(format!("{width} × {height} is more than {MAX_PIXELS} pixels"))?;
    if pixels == 0 {
        return Err("it has no pixels".to_owned());
    }
    let short = || "it ends before its last pixel".to_owned();
    let value = |value: usize| match value <= largest {
        true => Ok(value as f64 / largest as f64),
        false => Err(format!("a grey of {value}, above the largest, {largest}")),
    };
    let grey: std::result::Result<Vec<f64>, String> = if bytes[1] == b'2' {
        (0..pixels).map(|_| value(number(bytes, &mut place).ok_or_else(short)?)).collect()
    } else {
        // One blank ends the header.
        let data = bytes.get(place + 1..).ok_or_else(short)?;
        let size = if largest > 255 { 2 } else { 1 };
        let samples = data.chunks_exact(size).take(pixels);
        let sample =
            |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| sum * 256 + usize::from(byte));
        samples.map(|bytes| value(sample(bytes))).collect()
    };
    let grey = grey?;
    if grey.len() < pixels { Err(short_label()) } else { Ok(Picture { width, grey }) }
}

/// The next number, after blanks and comments (`#` to the end of the line).
fn number(bytes: &[u8], place: &mut usize) -> Option<usize> {
    loop {
        match bytes.get(*place)? {
            b'#' => {
                *place += bytes[*place..].iter().position(|&byte| byte == b'\n')?;
            }
            byte if byte.is_ascii_whitespace() => *place += 1,
            _ => break,
        }
    }
    let digits = bytes[*place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = std::str::from_utf8(&bytes[*place..*place + digits]).ok()?;
    *place += digits;
    text.parse().ok()
}

fn png(bytes: &[u8]) -> std::result::Result<Picture, String> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    if width.checked_mul(height).is_none_or(|pixels| pixels > MAX_PIXELS) {
        return Err(format!("{width} × {height} is more than {MAX_PIXELS} pixels"));
    }
    let size = reader.output_buffer_size().ok_or("it is too large")?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(|error| error.to_string())?;
    let samples = info.color_type.samples();
    let grey = |pixel: &[u8]| match pixel {
        [r, g, b, ..] => {
            let parts = [r, g, b].into_iter().zip(BRIGHTNESS);
            parts.map(|(part, share)| share * f64::from(*part) / 255.0).sum()
        }
        _ => f64::from(pixel[0]) / 255.0,
    };
    let pixels = buffer[..info.buffer_size()].chunks_exact(samples);
    Ok(Picture { width, grey: pixels.map(grey).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_raw_greys_are_read() {
        let plain = pgm(b"P2 # made by hand\n3 2\n4\n0 1 2\n3 4 0\n").unwrap();
        assert_eq!(plain, Picture { width: 3, grey: vec![0.0, 0.25, 0.5, 0.75, 1.0, 0.0] });
        assert_eq!(pgm(b"P5 3 2 4 \x00\x01\x02\x03\x04\x00").unwrap(), plain);
        assert_eq!(pgm(b"P5 1 2 1000 \x03\xe8\x01\xf4").unwrap().grey, [1.0, 0.5]);
        assert!(pgm(b"P5 3 2 4 \x00\x01").unwrap_err().contains("last pixel"));
        assert!(pgm(b"P2 2 1 4 1 9").unwrap_err().contains("grey of 9"));
        assert!(pgm(b"P2 x").is_err() && pgm(b"P5 0 4 255 ").is_err());
    }

    #[test]
    fn colours_become_their_brightness() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[255, 255, 255, 0, 255, 0]).unwrap();
        writer.finish().unwrap();
        let picture = png(&bytes).unwrap();
        assert_eq!(picture.width, 2);
        assert!((picture.grey[0] - 1.0).abs() < 1e-12 && (picture.grey[1] - 0.7152).abs() < 1e-12);
        assert!(png(&bytes[..30]).is_err());
    }

    #[test]
    fn the_generated_picture_has_blacks_and_whites() {
        let picture = Picture::generated(181, 162);
        let (low, high) = crate::columns::range(picture.grey.iter().copied());
        assert!(picture.grey.len() == 29_322 && low < 0.1 && high > 0.9 && high <= 1.0);
    }
}
