//! SVG path data, with as few characters as possible.

use std::fmt::Write as _;

use super::position::Point;
use super::simplify;
use crate::chart::{LineCurve, PointShape};

/// The `d` attribute of an SVG path, with coordinates rounded to a hundredth of a pixel.
#[derive(Default)]
pub(super) struct SvgPath(String);

impl SvgPath {
    /// Starts a new subpath.
    pub(super) fn start(&mut self, at: Point) {
        self.command('M', &[at]);
    }

    /// Adds a straight line.
    pub(super) fn line(&mut self, to: Point) {
        self.command('L', &[to]);
    }

    /// Adds a Bézier curve with horizontal tangents at both ends.
    pub(super) fn level_curve(&mut self, from: Point, to: Point) {
        let middle = f64::midpoint(from.0, to.0);
        self.command('C', &[(middle, from.1), (middle, to.1), to]);
    }

    /// Adds a closed polygon.
    pub(super) fn polygon(&mut self, corners: &[Point]) {
        for (k, &corner) in corners.iter().enumerate() {
            self.command(if k == 0 { 'M' } else { 'L' }, &[corner]);
        }
        self.0.push('Z');
    }

    /// Adds a rectangle between two opposite corners.
    pub(super) fn rectangle(&mut self, (x0, y0): Point, (x1, y1): Point) {
        self.command('M', &[(x0, y0)]);
        self.0.push('H');
        self.number(x1);
        self.0.push('V');
        self.number(y1);
        self.0.push('H');
        self.number(x0);
        self.0.push('Z');
    }

    /// Returns the path data; `None` if nothing was drawn.
    pub(super) fn finish(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }

    fn command(&mut self, letter: char, positions: &[Point]) {
        self.0.push(letter);
        for (k, &(x, y)) in positions.iter().enumerate() {
            if k > 0 {
                self.0.push(' ');
            }
            self.number(x);
            self.0.push(' ');
            self.number(y);
        }
    }

    fn number(&mut self, value: f64) {
        let rounded = (value * 100.0).round() as i64;
        let (whole, part) = ((rounded / 100).abs(), (rounded % 100).abs());
        let sign = if rounded < 0 { "-" } else { "" };
        // Writing to a string cannot fail.
        let _ = match part {
            0 => write!(self.0, "{sign}{whole}"),
            part if part % 10 == 0 => write!(self.0, "{sign}{whole}.{}", part / 10),
            part => write!(self.0, "{sign}{whole}.{part:02}"),
        };
    }
}

/// Adds a line through `positions`, simplified where the difference cannot be seen.
pub(super) fn add_line(path: &mut SvgPath, positions: &[Point], curve: LineCurve) {
    let positions = simplify::line(positions, curve);
    for (k, &position) in positions.iter().enumerate() {
        match (k.checked_sub(1).map(|before| positions[before]), curve) {
            (None, _) => path.start(position),
            (Some(_), LineCurve::Straight) => path.line(position),
            (Some(before), LineCurve::Step) => {
                path.line((position.0, before.1));
                path.line(position);
            }
            (Some(before), LineCurve::Smooth) => path.level_curve(before, position),
        }
    }
}

/// Adds a point of radius `r`. Shapes are scaled to look equally large.
pub(super) fn add_shape(path: &mut SvgPath, shape: PointShape, (x, y): Point, r: f64) {
    match shape {
        // Circles are drawn as SVG circles and never reach this function.
        PointShape::Circle | PointShape::Square => {
            let half = 0.886 * r;
            path.rectangle((x - half, y - half), (x + half, y + half));
        }
        PointShape::Triangle => {
            let (half, up, down) = (1.2 * r, 1.25 * r, 0.85 * r);
            path.polygon(&[(x, y - up), (x + half, y + down), (x - half, y + down)]);
        }
        PointShape::Diamond => {
            let half = 1.25 * r;
            path.polygon(&[(x, y - half), (x + half, y), (x, y + half), (x - half, y)]);
        }
        PointShape::Cross => {
            let arm = 0.85 * r;
            path.start((x - arm, y - arm));
            path.line((x + arm, y + arm));
            path.start((x - arm, y + arm));
            path.line((x + arm, y - arm));
        }
        PointShape::Plus => {
            let arm = 1.15 * r;
            path.start((x - arm, y));
            path.line((x + arm, y));
            path.start((x, y - arm));
            path.line((x, y + arm));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let mut path = SvgPath::default();
        path.start((0.1 + 0.2, -0.004));
        path.line((-12.345, 7.0));
        assert_eq!(path.finish().unwrap(), "M0.3 0L-12.35 7");
        assert_eq!(SvgPath::default().finish(), None);
    }

    #[test]
    fn lines_are_straight_stepped_or_smooth() {
        let positions = [(0.0, 0.0), (10.0, 5.0)];
        let drawn = |curve| {
            let mut path = SvgPath::default();
            add_line(&mut path, &positions, curve);
            path.finish().unwrap()
        };
        assert_eq!(drawn(LineCurve::Straight), "M0 0L10 5");
        assert_eq!(drawn(LineCurve::Step), "M0 0L10 0L10 5");
        assert_eq!(drawn(LineCurve::Smooth), "M0 0C5 0 5 5 10 5");
    }
}
