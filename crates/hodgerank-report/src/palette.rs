//! RGB values of every [`Colour`] in print.
//!
//! Kinds are the colour-blind safe colours of Okabe and Ito, with a darker yellow, because the
//! original is hard to see on white. Steps decrease evenly in lightness (OKLab) from amber to dark
//! purple, so that they keep their order in greyscale.

use crate::chart::{Colour, Ramp};

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// Grid lines.
pub const GRID: Rgb = [0xe6, 0xe6, 0xe6];

const INK: Rgb = [0x1a, 0x1a, 0x1a];
const PAPER: Rgb = [0xff, 0xff, 0xff];
const MUTED: Rgb = [0x6b, 0x6b, 0x6b];
const FAINT: Rgb = [0xc4, 0xc4, 0xc4];
/// [`INK`] with [`BAND_OPACITY`] on white.
const BAND: Rgb = [0xef, 0xef, 0xef];
/// Opacity of bands, which are drawn in the colour of text.
pub const BAND_OPACITY: f64 = 0.07;

const KINDS: [Rgb; 8] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
    [0xe6, 0x9f, 0x00],
    [0x56, 0xb4, 0xe9],
    [0x7a, 0x6a, 0x00],
    [0x00, 0x00, 0x00],
];

const STEPS: [Rgb; 10] = [
    [0xf0, 0xd5, 0x92],
    [0xf4, 0xb5, 0x5d],
    [0xf6, 0x92, 0x30],
    [0xed, 0x72, 0x30],
    [0xda, 0x56, 0x42],
    [0xc3, 0x3d, 0x4f],
    [0xa7, 0x29, 0x59],
    [0x81, 0x28, 0x5c],
    [0x5c, 0x27, 0x53],
    [0x41, 0x1c, 0x49],
];

/// From orange over light grey to blue, which differ for every kind of colour vision.
const DIVERGING: [Rgb; 11] = [
    [0x7f, 0x3b, 0x08],
    [0xb3, 0x58, 0x06],
    [0xe0, 0x82, 0x14],
    [0xfd, 0xb8, 0x63],
    [0xfe, 0xe0, 0xb6],
    [0xf2, 0xf2, 0xf2],
    [0xd1, 0xe5, 0xf0],
    [0x92, 0xc5, 0xde],
    [0x43, 0x93, 0xc3],
    [0x21, 0x66, 0xac],
    [0x05, 0x30, 0x61],
];

/// Returns the RGB value of a colour in print.
#[must_use]
pub fn colour(colour: Colour) -> Rgb {
    match colour {
        Colour::Ink => INK,
        Colour::Paper => PAPER,
        Colour::Muted => MUTED,
        Colour::Faint => FAINT,
        Colour::Band => BAND,
        Colour::Kind(kind) => KINDS[usize::from(kind) % KINDS.len()],
        Colour::Step(step) => STEPS[usize::from(step).min(STEPS.len() - 1)],
        Colour::Diverging(step) => DIVERGING[usize::from(step).min(DIVERGING.len() - 1)],
    }
}

/// Returns the colour of a value from 0 to 1; other values are clamped.
#[must_use]
pub fn ramp(ramp: Ramp, value: f64) -> Rgb {
    let value = value.clamp(0.0, 1.0);
    match ramp {
        Ramp::Grey => [(value * 255.0).round() as u8; 3],
        Ramp::Steps => between(&STEPS, value),
        Ramp::Diverging => between(&DIVERGING, value),
    }
}

/// Interpolates between evenly spaced colours; 0 is the first and 1 the last.
fn between(colours: &[Rgb], value: f64) -> Rgb {
    let scaled = value * (colours.len() - 1) as f64;
    let below = (scaled as usize).min(colours.len() - 2);
    let fraction = scaled - below as f64;
    std::array::from_fn(|k| {
        let (low, high) = (f64::from(colours[below][k]), f64::from(colours[below + 1][k]));
        (low + fraction * (high - low)).round() as u8
    })
}

/// Formats a colour as in CSS: `#rrggbb`.
#[must_use]
pub fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as in WCAG.
    fn luminance(rgb: Rgb) -> f64 {
        let [red, green, blue] = rgb.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn kinds_differ_and_are_visible_on_white() {
        for (k, &kind) in KINDS.iter().enumerate() {
            assert!(1.05 / (luminance(kind) + 0.05) > 2.0, "kind {k} is too pale");
            assert!(KINDS[k + 1..].iter().all(|&other| other != kind));
        }
        assert_eq!(colour(Colour::Kind(9)), KINDS[1]);
        assert_eq!(colour(Colour::Step(200)), STEPS[9]);
    }

    #[test]
    fn diverging_colours_get_darker_towards_both_ends() {
        let (low, high) = DIVERGING.split_at(5);
        assert!(low.windows(2).all(|pair| luminance(pair[0]) < luminance(pair[1])));
        assert!(high.windows(2).all(|pair| luminance(pair[0]) > luminance(pair[1])));
        assert!(luminance(low[4]) < luminance(high[0]));
        assert_eq!(ramp(Ramp::Diverging, 0.5), DIVERGING[5]);
        assert_eq!(colour(Colour::Diverging(99)), DIVERGING[10]);
    }

    #[test]
    fn bands_in_the_legend_look_as_in_the_chart() {
        let mixed = INK.map(|ink| 255.0 - BAND_OPACITY * (255.0 - f64::from(ink)));
        assert_eq!(BAND, mixed.map(|part| part.round() as u8));
    }

    #[test]
    fn steps_get_darker() {
        assert!(STEPS.windows(2).all(|pair| luminance(pair[0]) > luminance(pair[1])));
        assert_eq!(ramp(Ramp::Steps, 0.0), STEPS[0]);
        assert_eq!(ramp(Ramp::Steps, 1.0), STEPS[9]);
        assert_eq!(ramp(Ramp::Steps, f64::NAN).len(), 3);
        assert_eq!(ramp(Ramp::Grey, 2.0), [255; 3]);
        assert_eq!(hex([0, 114, 178]), "#0072b2");
    }
}
