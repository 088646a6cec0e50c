//! How much each vote of an annotator says about the scores: its slope at the result.

use super::behaviour::Behaviour;
use super::graded;
use super::likelihood::POINTS;
use super::result::{Crowd, FavouriteItem};
use super::slopes::{ActivePoints, Lines, VoteSlope};

/// What the slopes of an annotator's votes depend on.
pub(crate) struct VoterSlopes<'a> {
    crowd: &'a Crowd,
    active: ActivePoints,
    /// The same behaviours, for graded votes.
    likely: Vec<(&'a Behaviour, f64)>,
    /// How much the annotator's answers depend on the items.
    follows: f64,
    noise: Option<f64>,
    favourite: Option<FavouriteItem>,
}

impl Crowd {
    /// The slopes of the votes of an annotator at this position in [`Crowd::annotators`], or of an unknown
    /// person.
    pub(crate) fn slopes_of(&self, position: Option<usize>) -> VoterSlopes<'_> {
        let (behaviour, noise, favourite): (&[f32; POINTS], _, _) = self.behaviour_of(position);
        let likely = self.likely(behaviour);
        let follows = likely.iter().map(|(point, r)| r * point.line().0.abs()).sum();
        let active = ActivePoints::new(&Lines::new(self.points()), behaviour);
        VoterSlopes { crowd: self, active, likely, follows, noise, favourite }
    }
}

impl VoterSlopes<'_> {
    /// The slope of a vote on items as they were shown; `y` is positive if the left item was preferred.
    pub(crate) fn of_vote(&self, left: u32, right: u32, y: f64) -> VoteSlope {
        // Votes for a favourite do not count.
        if self.favourite.is_some_and(|own| own.is_on(left, right)) {
            return VoteSlope { gradient: 0.0, information: 0.0 };
        }
        let d = self.crowd.difference(left, right);
        if let Some(noise) = self.noise {
            return graded::slope_of_vote(&self.likely, d, y, noise, self.crowd.outcome_unit());
        }
        let p = 1.0 / (1.0 + (-d).exp());
        let q = 1.0 / (1.0 + d.exp());
        let mut total = match y {
            y if y > 0.0 => self.active.slope(0, p, q),
            y if y < 0.0 => {
                let towards = self.active.slope(1, q, p);
                VoteSlope { gradient: -towards.gradient, ..towards }
            }
            _ => VoteSlope { gradient: 0.0, information: 0.0 },
        };
        let tie_odds = self.crowd.estimates.tie_odds;
        if tie_odds > 0.0 {
            let odds = tie_odds * (p * q).sqrt();
            let (tie, lean) = (odds / (1.0 + odds), 0.5 * (q - p));
            let is_tie = if y == 0.0 { 1.0 } else { 0.0 };
            total.gradient += self.follows * (is_tie - tie) * lean;
            total.information += self.follows * tie * (1.0 - tie) * lean * lean;
        }
        total
    }
}
