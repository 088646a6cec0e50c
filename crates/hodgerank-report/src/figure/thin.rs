//! Long lines with no more points than can be seen. Cost: linear in the number of points.

use super::path::Place;
use crate::chart::Curve;

/// The points of a line that matter for how it looks.
pub(super) fn line(places: &[Place], curve: Curve) -> Vec<Place> {
    match curve {
        Curve::Straight => straightened(&thinned(places)),
        Curve::Step => thinned(places),
        // Each point has a bend of its own.
        Curve::Smooth => places.to_vec(),
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
fn straightened(places: &[Place]) -> Vec<Place> {
    let [first, rest @ ..] = places else { return Vec::new() };
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(straightened(&level), [level[0], level[999]]);
        let arc: Vec<Place> = (0..2000)
            .map(|k| (f64::from(k) / 2000.0 * 3.0).sin_cos())
            .map(|(sine, cosine)| (300.0 * sine, 300.0 * cosine))
            .collect();
        let kept = straightened(&arc);
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
        assert_eq!(straightened(&back), back);
    }
}
