//! Behaviours: what share of an annotator's answers is honest, contrary, or always on one side.
//!
//! The distribution of behaviours in a crowd is a mixture of fixed points, whose shares are estimated.
//! Points of a class differ in their rates, so that an annotator has rates of their own without a
//! parametric prior on them.
//!
//! P(left) = h p + c (1 − p) + l,  p the probability that an honest vote prefers the left item.

use std::fmt;

/// What kind of annotator someone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum AnnotatorClass {
    /// Votes honestly, but for a few lapses.
    Careful,
    /// Votes honestly with many lapses.
    Careless,
    /// Votes at random.
    Coin,
    /// Prefers the worse item.
    Contrary,
    /// Prefers the left side, whatever the items.
    Left,
    /// Prefers the right side, whatever the items.
    Right,
    /// Votes honestly, by a taste that is not that of the ranking.
    Taste,
    /// Prefers one item, or rejects it, whatever it is compared with.
    Fan,
}

impl AnnotatorClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Careful,
        Self::Careless,
        Self::Coin,
        Self::Contrary,
        Self::Left,
        Self::Right,
        Self::Taste,
        Self::Fan,
    ];

    /// Whether the annotator should not be trusted. A different taste is not a reason.
    #[must_use]
    pub fn is_suspicious(self) -> bool {
        !matches!(self, Self::Careful | Self::Taste)
    }

    /// The name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Careful => "careful",
            Self::Careless => "careless",
            Self::Coin => "coin",
            Self::Contrary => "contrary",
            Self::Left => "left",
            Self::Right => "right",
            Self::Taste => "taste",
            Self::Fan => "fan",
        }
    }
}

impl fmt::Display for AnnotatorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The share of honest answers above which an annotator is not called one-sided.
const MAX_HONEST: f64 = 0.5;
/// The share of contrary answers from which an annotator is called contrary.
const MIN_CONTRARY: f64 = 0.5;

/// Groups of points that enter or leave the model together. Small lapses are a group of their own:
/// an annotator with them is careful, but the scale of the scores depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointGroup {
    Careful,
    Lapse,
    Careless,
    Coin,
    Contrary,
    Left,
    Right,
}

/// A behaviour: shares of answers that sum to one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Behaviour {
    pub(super) group: PointGroup,
    pub(super) honest: f64,
    pub(super) contrary: f64,
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Behaviour {
    pub(super) fn class(&self) -> AnnotatorClass {
        match self.group {
            PointGroup::Careful | PointGroup::Lapse => AnnotatorClass::Careful,
            PointGroup::Careless => AnnotatorClass::Careless,
            PointGroup::Coin => AnnotatorClass::Coin,
            // Mostly random is not contrary.
            PointGroup::Contrary if self.contrary < MIN_CONTRARY => AnnotatorClass::Coin,
            PointGroup::Contrary => AnnotatorClass::Contrary,
            // Mostly honest is not one-sided: some lapses fall on the same side by chance.
            PointGroup::Left | PointGroup::Right if self.honest > MAX_HONEST => {
                AnnotatorClass::Careless
            }
            PointGroup::Left => AnnotatorClass::Left,
            PointGroup::Right => AnnotatorClass::Right,
        }
    }

    /// P(left) = slope · p + offset.
    pub(super) fn line(&self) -> (f64, f64) {
        (self.honest - self.contrary, self.contrary + self.left)
    }
}

/// Number of points that treat both sides alike, and of those for each side.
pub(super) const SYMMETRIC_POINTS: usize = 19;
pub(super) const SIDED_POINTS: usize = 9;

/// Σ over the points. Those for the left and for the right are added up apart: if sides are swapped, so
/// are the two sums, and the total has the same bits.
#[inline]
pub(super) fn sum_of_points(values: &[f64]) -> f64 {
    let (both, sided) = values.split_at(SYMMETRIC_POINTS.min(values.len()));
    let (left, right) = sided.split_at(SIDED_POINTS.min(sided.len()));
    both.iter().sum::<f64>() + (left.iter().sum::<f64>() + right.iter().sum::<f64>())
}

/// The points: careful first, then the others that treat both sides alike, then those for the left and
/// those for the right. Without sides there are none of these.
pub(super) fn behaviours(has_sides: bool) -> Vec<Behaviour> {
    let mut points = Vec::new();
    // What is neither honest nor contrary falls on both sides equally.
    let mut add = |group, honest: f64, contrary: f64| {
        let side = 0.5 * (1.0 - honest - contrary);
        points.push(Behaviour { group, honest, contrary, left: side, right: side });
    };
    add(PointGroup::Careful, 1.0, 0.0);
    [0.97, 0.94].into_iter().for_each(|h| add(PointGroup::Lapse, h, 0.0));
    [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3].into_iter().for_each(|h| add(PointGroup::Careless, h, 0.0));
    [(0.15, 0.0), (0.0, 0.0), (0.0, 0.15)]
        .into_iter()
        .for_each(|(h, c)| add(PointGroup::Coin, h, c));
    [1.0, 0.9, 0.8, 0.6, 0.4, 0.3].into_iter().for_each(|c| add(PointGroup::Contrary, 0.0, c));
    debug_assert_eq!(points.len(), SYMMETRIC_POINTS);
    if has_sides {
        for group in [PointGroup::Left, PointGroup::Right] {
            let mut add = |honest: f64, side: f64, other: f64| {
                let (left, right) =
                    if group == PointGroup::Left { (side, other) } else { (other, side) };
                points.push(Behaviour { group, honest, contrary: 0.0, left, right });
            };
            [0.8, 0.6, 0.4, 0.2].into_iter().for_each(|h| add(h, 1.0 - h, 0.0));
            [0.65, 0.8, 0.9, 0.97, 0.995].into_iter().for_each(|s| add(0.0, s, 1.0 - s));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one() {
        for has_sides in [false, true] {
            let points = behaviours(has_sides);
            assert_eq!(points.len(), if has_sides { 37 } else { 19 });
            assert_eq!(points[0].group, PointGroup::Careful);
            for point in points {
                let sum = point.honest + point.contrary + point.left + point.right;
                assert!((sum - 1.0).abs() < 1e-12, "{point:?}");
                let (slope, offset) = point.line();
                // P(left) at p = 1 and p = 0.
                assert!((slope + offset - point.honest - point.left).abs() < 1e-12);
                assert!((offset - point.contrary - point.left).abs() < 1e-12);
            }
        }
    }
}
