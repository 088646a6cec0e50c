//! Options of figures.

use std::str::FromStr;

/// SVG units per inch.
const UNITS_PER_INCH: f64 = 96.0;
const CENTIMETRES_PER_INCH: f64 = 2.54;
/// Narrower figures have no room for labels, wider ones are not printed.
const MIN_WIDTH: f64 = 5.0;
const MAX_WIDTH: f64 = 100.0;
/// Units of length, in centimetres.
const UNITS: [(&str, f64); 4] =
    [("cm", 1.0), ("mm", 0.1), ("in", CENTIMETRES_PER_INCH), ("pt", CENTIMETRES_PER_INCH / 72.0)];

/// How figures are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureOptions {
    /// The width. Default: 16 cm.
    pub width: FigureWidth,
    /// Whether the title is drawn; papers have captions instead. Default: yes.
    pub title: bool,
}

impl Default for FigureOptions {
    fn default() -> Self {
        Self { width: FigureWidth::default(), title: true }
    }
}

/// The width of a figure, from 5 cm to 1 m: `8cm`, `84mm`, `3.5in` or `252pt`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureWidth {
    centimetres: f64,
}

impl Default for FigureWidth {
    fn default() -> Self {
        Self { centimetres: 16.0 }
    }
}

impl FigureWidth {
    /// The width in SVG units.
    pub(super) fn units(self) -> f64 {
        // Whole hundredths, as coordinates are written.
        (100.0 * self.centimetres / CENTIMETRES_PER_INCH * UNITS_PER_INCH).round() / 100.0
    }
}

impl FromStr for FigureWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = UNITS.iter().find_map(|(unit, centimetres)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(number * centimetres)
        });
        match parsed {
            Some(centimetres) if (MIN_WIDTH..=MAX_WIDTH).contains(&centimetres) => {
                Ok(Self { centimetres })
            }
            _ => {
                Err("expected a width from 5 cm to 1 m, such as 8cm, 84mm, 3.5in or 252pt"
                    .to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_have_units() {
        for (text, units) in
            [("8cm", 302.36), ("80 mm", 302.36), ("3.5in", 336.0), ("252pt", 336.0)]
        {
            assert_eq!(text.parse::<FigureWidth>().unwrap().units(), units, "{text}");
        }
        for wrong in ["8", "cm", "0cm", "-8cm", "2m", "NaNcm", "infcm", "8 inches"] {
            assert!(wrong.parse::<FigureWidth>().unwrap_err().contains("such as 8cm"), "{wrong}");
        }
    }
}
