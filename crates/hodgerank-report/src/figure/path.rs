//! Outlines in pixels, written shortly.

use std::fmt::Write as _;

use super::thin;
use crate::chart::{Curve, Shape};

/// A place in the figure, in pixels.
pub(super) type Place = (f64, f64);

/// The description of an outline, to a hundredth of a pixel.
#[derive(Default)]
pub(super) struct Outline(String);

impl Outline {
    /// Starts a new piece.
    pub(super) fn start(&mut self, at: Place) {
        self.command('M', &[at]);
    }

    /// A straight line.
    pub(super) fn line(&mut self, to: Place) {
        self.command('L', &[to]);
    }

    /// A curve that leaves and arrives level.
    pub(super) fn level_curve(&mut self, from: Place, to: Place) {
        let middle = f64::midpoint(from.0, to.0);
        self.command('C', &[(middle, from.1), (middle, to.1), to]);
    }

    /// A closed shape with straight sides.
    pub(super) fn polygon(&mut self, corners: &[Place]) {
        for (k, &corner) in corners.iter().enumerate() {
            self.command(if k == 0 { 'M' } else { 'L' }, &[corner]);
        }
        self.0.push('Z');
    }

    /// A rectangle between two corners.
    pub(super) fn rectangle(&mut self, (x0, y0): Place, (x1, y1): Place) {
        self.command('M', &[(x0, y0)]);
        self.0.push('H');
        self.number(x1);
        self.0.push('V');
        self.number(y1);
        self.0.push('H');
        self.number(x0);
        self.0.push('Z');
    }

    /// What was drawn, if anything.
    pub(super) fn finish(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }

    fn command(&mut self, letter: char, places: &[Place]) {
        self.0.push(letter);
        for (k, &(x, y)) in places.iter().enumerate() {
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

/// Adds a line through `places` that runs as `curve` says.
pub(super) fn run(outline: &mut Outline, places: &[Place], curve: Curve) {
    let places = thin::line(places, curve);
    for (k, &place) in places.iter().enumerate() {
        match (k.checked_sub(1).map(|before| places[before]), curve) {
            (None, _) => outline.start(place),
            (Some(_), Curve::Straight) => outline.line(place),
            (Some(before), Curve::Step) => {
                outline.line((place.0, before.1));
                outline.line(place);
            }
            (Some(before), Curve::Smooth) => outline.level_curve(before, place),
        }
    }
}

/// Adds the shape of a point of radius `r`; shapes look equally large.
pub(super) fn shape(outline: &mut Outline, shape: Shape, (x, y): Place, r: f64) {
    match shape {
        // Circles have an element of their own and do not come here.
        Shape::Circle | Shape::Square => {
            let half = 0.886 * r;
            outline.rectangle((x - half, y - half), (x + half, y + half));
        }
        Shape::Triangle => {
            let (half, up, down) = (1.2 * r, 1.25 * r, 0.85 * r);
            outline.polygon(&[(x, y - up), (x + half, y + down), (x - half, y + down)]);
        }
        Shape::Diamond => {
            let half = 1.25 * r;
            outline.polygon(&[(x, y - half), (x + half, y), (x, y + half), (x - half, y)]);
        }
        Shape::Cross => {
            let arm = 0.85 * r;
            outline.start((x - arm, y - arm));
            outline.line((x + arm, y + arm));
            outline.start((x - arm, y + arm));
            outline.line((x + arm, y - arm));
        }
        Shape::Plus => {
            let arm = 1.15 * r;
            outline.start((x - arm, y));
            outline.line((x + arm, y));
            outline.start((x, y - arm));
            outline.line((x, y + arm));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let mut outline = Outline::default();
        outline.start((0.1 + 0.2, -0.004));
        outline.line((-12.345, 7.0));
        assert_eq!(outline.finish().unwrap(), "M0.3 0L-12.35 7");
        assert_eq!(Outline::default().finish(), None);
    }

    #[test]
    fn ways_to_run() {
        let places = [(0.0, 0.0), (10.0, 5.0)];
        let drawn = |curve| {
            let mut outline = Outline::default();
            run(&mut outline, &places, curve);
            outline.finish().unwrap()
        };
        assert_eq!(drawn(Curve::Straight), "M0 0L10 5");
        assert_eq!(drawn(Curve::Step), "M0 0L10 0L10 5");
        assert_eq!(drawn(Curve::Smooth), "M0 0C5 0 5 5 10 5");
    }
}
