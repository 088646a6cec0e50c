//! Outlines in pixels: written shortly, and thinned to what can be seen.

use std::fmt::Write as _;

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
    let places = if curve == Curve::Smooth {
        places.to_vec()
    } else {
        straightened(&thinned(places), curve)
    };
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

/// Width of the columns that a long line is thinned to: less than two printed dots.
const COLUMN: f64 = 0.5;

/// A line with no more points than can be seen.
///
/// In each narrow column that the line passes, its first, lowest, highest and last points are kept,
/// so that no peak is lost. A line that goes back and forth passes a column more than once.
fn thinned(places: &[Place]) -> Vec<Place> {
    let column = |place: &Place| (place.0 / COLUMN).floor();
    let mut kept = Vec::new();
    for group in places.chunk_by(|one, next| column(one) == column(next)) {
        if group.len() <= 4 {
            kept.extend_from_slice(group);
            continue;
        }
        let by_height = |&one: &usize, &other: &usize| group[one].1.total_cmp(&group[other].1);
        let lowest = (0..group.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..group.len()).max_by(by_height).unwrap_or(0);
        let mut chosen = [0, lowest, highest, group.len() - 1];
        chosen.sort_unstable();
        for (k, &index) in chosen.iter().enumerate() {
            if k == 0 || chosen[k - 1] != index {
                kept.push(group[index]);
            }
        }
    }
    kept
}

/// How far a line may pass from a point that is left out: a sixth of a printed dot.
const TOLERANCE: f64 = 0.05;

/// A straight-sided line without the points that lie on the way between their neighbours.
///
/// From the last kept point, the directions that pass all points since then within [`TOLERANCE`]
/// form a wedge, which narrows; when the next point lies outside, the one before it is kept.
fn straightened(places: &[Place], curve: Curve) -> Vec<Place> {
    let [first, rest @ ..] = places else { return Vec::new() };
    if curve != Curve::Straight {
        return places.to_vec();
    }
    let mut kept = vec![*first];
    let mut from = *first;
    let mut before: Option<Place> = None;
    let mut wedge = Wedge::default();
    for &place in rest {
        if let Some(previous) = before
            && !wedge.narrow(from, place)
        {
            kept.push(previous);
            from = previous;
            wedge = Wedge::default();
            wedge.narrow(from, place);
        } else if before.is_none() {
            wedge.narrow(from, place);
        }
        before = Some(place);
    }
    kept.extend(before);
    kept
}

/// Directions around a first one, as the sines of angles from it.
#[derive(Default)]
struct Wedge {
    first: Option<Place>,
    low: f64,
    high: f64,
    reached: f64,
}

impl Wedge {
    /// Narrows to what passes `place`; false if that lies outside or goes back.
    fn narrow(&mut self, from: Place, place: Place) -> bool {
        let (x, y) = (place.0 - from.0, place.1 - from.1);
        let length = x.hypot(y);
        if length <= TOLERANCE {
            return self.reached <= TOLERANCE;
        }
        let slack = TOLERANCE / length;
        let Some((along, across)) = self.first else {
            *self = Self {
                first: Some((x / length, y / length)),
                low: -slack,
                high: slack,
                reached: length,
            };
            return true;
        };
        let sine = (along * y - across * x) / length;
        let onward = along * x + across * y > 0.0 && length >= self.reached;
        if !onward || sine < self.low || sine > self.high {
            return false;
        }
        self.low = self.low.max(sine - slack);
        self.high = self.high.min(sine + slack);
        self.reached = length;
        true
    }
}

/// Adds the shape of a point of radius `r`; shapes look equally large.
pub(super) fn shape(outline: &mut Outline, shape: Shape, (x, y): Place, r: f64) {
    match shape {
        // Discs are drawn as circles; a square stands in for none of them.
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
    fn a_long_line_keeps_its_peaks() {
        let mut places: Vec<Place> =
            (0..10_000).map(|k| (f64::from(k) / 100.0, f64::from(k % 7))).collect();
        places[5005].1 = 99.0;
        let kept = thinned(&places);
        assert!(kept.len() <= 4 * 201, "{}", kept.len());
        assert!(kept.contains(&places[5005]) && kept.last() == places.last());
        assert_eq!(thinned(&places[..4]), places[..4]);
    }

    #[test]
    fn a_curve_keeps_its_bends_and_loses_the_rest() {
        let level: Vec<Place> = (0..1000).map(|k| (f64::from(k), 3.0)).collect();
        assert_eq!(straightened(&level, Curve::Straight), [level[0], level[999]]);
        let arc: Vec<Place> = (0..2000)
            .map(|k| (f64::from(k) / 2000.0 * 3.0).sin_cos())
            .map(|(sine, cosine)| (300.0 * sine, 300.0 * cosine))
            .collect();
        let kept = straightened(&arc, Curve::Straight);
        assert!(kept.len() < 150, "{}", kept.len());
        for &(x, y) in &arc {
            let nearest = kept.windows(2).map(|ends| {
                let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
                let (dx, dy) = (x1 - x0, y1 - y0);
                let share = (((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                (x - x0 - share * dx).hypot(y - y0 - share * dy)
            });
            assert!(nearest.fold(f64::INFINITY, f64::min) < 3.0 * TOLERANCE);
        }
        let back = [(0.0, 0.0), (10.0, 0.0), (4.0, 0.0), (20.0, 0.0)];
        assert_eq!(straightened(&back, Curve::Straight), back);
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
