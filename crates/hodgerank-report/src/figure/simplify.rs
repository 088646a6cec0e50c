//! Line simplification: removes points that make no visible difference, in linear time.

use super::position::Point;
use crate::chart::LineCurve;

/// Returns the points of a line that affect how it looks.
pub(super) fn line(positions: &[Point], curve: LineCurve) -> Vec<Point> {
    match curve {
        LineCurve::Straight => merge_collinear(&decimate(positions)),
        LineCurve::Step => decimate(positions),
        // The tangent is horizontal at every point, so that each of them shapes the curve.
        LineCurve::Smooth => positions.to_vec(),
    }
}

/// Width in pixels of the columns in which points are merged: less than two printed dots.
const COLUMN_WIDTH: f64 = 0.5;

/// Keeps at most four points in each narrow column: the first, lowest, highest and last.
///
/// Peaks are kept. A line that goes back and forth may pass a column more than once.
fn decimate(positions: &[Point]) -> Vec<Point> {
    let column = |position: &Point| (position.0 / COLUMN_WIDTH).floor();
    let mut kept = Vec::new();
    for group in positions.chunk_by(|one, next| column(one) == column(next)) {
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

/// Largest distance in pixels between the line and a removed point: a sixth of a printed dot.
const MAX_DEVIATION: f64 = 0.05;

/// Removes points that lie on the straight line between their neighbours.
///
/// The directions from the last kept point that pass all later points within [`MAX_DEVIATION`] form
/// a wedge. When the next point lies outside the wedge, the point before it is kept and a new wedge
/// starts there.
fn merge_collinear(positions: &[Point]) -> Vec<Point> {
    let [first, rest @ ..] = positions else { return Vec::new() };
    let mut kept = vec![*first];
    let mut from = *first;
    let mut before: Option<Point> = None;
    let mut wedge = Wedge::default();
    for &position in rest {
        if let Some(previous) = before
            && !wedge.narrow(from, position)
        {
            kept.push(previous);
            from = previous;
            wedge = Wedge::default();
            wedge.narrow(from, position);
        } else if before.is_none() {
            wedge.narrow(from, position);
        }
        before = Some(position);
    }
    kept.extend(before);
    kept
}

/// A range of directions, as the sines of their angles to the first one.
#[derive(Default)]
struct Wedge {
    first: Option<Point>,
    low: f64,
    high: f64,
    reached: f64,
}

impl Wedge {
    /// Narrows the wedge to the directions that pass `position`. Returns false if the position lies
    /// outside the wedge or behind an earlier one.
    fn narrow(&mut self, from: Point, position: Point) -> bool {
        let (x, y) = (position.0 - from.0, position.1 - from.1);
        let length = x.hypot(y);
        if length <= MAX_DEVIATION {
            return self.reached <= MAX_DEVIATION;
        }
        let slack = MAX_DEVIATION / length;
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
    fn decimation_keeps_peaks() {
        let mut positions: Vec<Point> =
            (0..10_000).map(|k| (f64::from(k) / 100.0, f64::from(k % 7))).collect();
        positions[5005].1 = 99.0;
        let kept = decimate(&positions);
        assert!(kept.len() <= 4 * 201, "{}", kept.len());
        assert!(kept.contains(&positions[5005]) && kept.last() == positions.last());
        assert_eq!(decimate(&positions[..4]), positions[..4]);
    }

    #[test]
    fn only_collinear_points_are_removed() {
        let level: Vec<Point> = (0..1000).map(|k| (f64::from(k), 3.0)).collect();
        assert_eq!(merge_collinear(&level), [level[0], level[999]]);
        let arc: Vec<Point> = (0..2000)
            .map(|k| (f64::from(k) / 2000.0 * 3.0).sin_cos())
            .map(|(sine, cosine)| (300.0 * sine, 300.0 * cosine))
            .collect();
        let kept = merge_collinear(&arc);
        assert!(kept.len() < 150, "{}", kept.len());
        for &(x, y) in &arc {
            let nearest = kept.windows(2).map(|ends| {
                let ((x0, y0), (x1, y1)) = (ends[0], ends[1]);
                let (dx, dy) = (x1 - x0, y1 - y0);
                let share = (((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                (x - x0 - share * dx).hypot(y - y0 - share * dy)
            });
            assert!(nearest.fold(f64::INFINITY, f64::min) < 3.0 * MAX_DEVIATION);
        }
        let back = [(0.0, 0.0), (10.0, 0.0), (4.0, 0.0), (20.0, 0.0)];
        assert_eq!(merge_collinear(&back), back);
    }
}
