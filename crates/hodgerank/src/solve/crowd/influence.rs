//! How much each vote of an annotator says about the scores: its slope at the result.

use super::behaviour::Behaviour;
use super::graded::GradedVote;
use super::likelihood::POINTS;
use super::result::{Crowd, FavouriteItem};
use super::slopes::{ActivePoints, Lines, MAX_SCORE, VoteSlope, likely};

/// The probability of being careful from which an annotator's votes have the slopes of careful ones.
const CERTAINLY_CAREFUL: f32 = 1.0 - 1e-6;

/// The probability from which there is no doubt about a behaviour.
const CERTAIN: f32 = 1.0 - 1e-3;

/// What the slopes of an annotator's votes depend on.
pub(crate) struct VoterSlopes<'a> {
    all: &'a CrowdSlopes<'a>,
    active: ActivePoints,
    /// The same behaviours, for graded votes.
    likely: Vec<(&'a Behaviour, f64)>,
    /// How much the annotator's answers depend on the items.
    follows: f64,
    noise: Option<f64>,
    favourite: Option<FavouriteItem>,
}

/// The slopes of all votes of a crowd.
pub(crate) struct CrowdSlopes<'a> {
    crowd: &'a Crowd,
    lines: Lines,
    /// e^θ of each item, and e^b: an exponential per vote would take most of the time.
    odds: Vec<f64>,
    advantage: f64,
}

impl<'a> CrowdSlopes<'a> {
    pub(crate) fn new(crowd: &'a Crowd) -> Self {
        let odds = |score: &f64| score.clamp(-MAX_SCORE, MAX_SCORE).exp();
        let odds = crowd.solution.scores.iter().map(odds).collect();
        let advantage = crowd.estimates.side_advantage.exp();
        Self { crowd, lines: Lines::new(crowd.points()), odds, advantage }
    }

    pub(crate) fn crowd(&self) -> &'a Crowd {
        self.crowd
    }

    /// The slopes of careful votes, if the information of these depends on nothing but the pair.
    pub(crate) fn careful(&'a self) -> Option<VoterSlopes<'a>> {
        let estimates = &self.crowd.estimates;
        let is_plain = estimates.noise.is_none()
            && estimates.tie_odds == 0.0
            && estimates.side_advantage == 0.0;
        let mut behaviour = [0.0; POINTS];
        behaviour[0] = 1.0;
        is_plain.then(|| self.of_behaviour(&behaviour, None, None))
    }

    /// Whether the votes of an annotator are certainly careful.
    pub(crate) fn is_careful(&self, annotator: u32) -> bool {
        let position = self.crowd.position(annotator);
        let (behaviour, _, favourite) = self.crowd.behaviour_of(position);
        behaviour[0] > CERTAINLY_CAREFUL && favourite.is_none()
    }

    /// The slopes of the votes of an annotator, or of an unknown person.
    pub(crate) fn of_annotator(&'a self, annotator: Option<u32>) -> VoterSlopes<'a> {
        let position = annotator.and_then(|annotator| self.crowd.position(annotator));
        let (behaviour, noise, favourite) = self.crowd.behaviour_of(position);
        self.of_behaviour(behaviour, noise, favourite)
    }

    /// The behaviours that an annotator may have, with their probabilities and the slopes of the votes under each;
    /// none if there is no doubt about them.
    pub(crate) fn uncertain_behaviours(
        &'a self,
        annotator: u32,
    ) -> Option<Vec<(f64, VoterSlopes<'a>)>> {
        let position = self.crowd.position(annotator)?;
        let (behaviour, noise, favourite) = self.crowd.behaviour_of(Some(position));
        let is_certain = behaviour.iter().any(|r| *r > CERTAIN);
        // Single graded votes may be lapses.
        if is_certain && noise.is_none() {
            return None;
        }
        let of_point = |(k, r): (usize, f64)| {
            let mut only = [0.0; POINTS];
            only[k] = 1.0;
            (r, self.of_behaviour(&only, noise, favourite))
        };
        Some(likely(behaviour).map(of_point).collect())
    }

    fn of_behaviour(
        &'a self,
        behaviour: &[f32; POINTS],
        noise: Option<f64>,
        favourite: Option<FavouriteItem>,
    ) -> VoterSlopes<'a> {
        let likely = self.crowd.likely(behaviour);
        let follows = likely.iter().map(|(point, r)| r * point.line().0.abs()).sum();
        let active = ActivePoints::new(&self.lines, behaviour);
        VoterSlopes { all: self, active, likely, follows, noise, favourite }
    }
}

impl VoterSlopes<'_> {
    /// The variance of the slope of a vote, because it may be honest or not; zero unless votes are graded, whose
    /// information does not account for it.
    pub(crate) fn variance_of_vote(&self, left: u32, right: u32, y: f64) -> f64 {
        let is_counted = !self.favourite.is_some_and(|own| own.is_on(left, right));
        match self.graded_vote(left, right, y) {
            Some(vote) if is_counted => vote.variance(),
            _ => 0.0,
        }
    }

    /// What is known about a graded vote; none for votes of one size.
    fn graded_vote(&self, left: u32, right: u32, y: f64) -> Option<GradedVote> {
        let crowd = self.all.crowd;
        let of_noise = |noise: f64| {
            let d = crowd.difference(left, right);
            GradedVote::new(&self.likely, d, y, noise, crowd.outcome_unit())
        };
        self.noise.map(of_noise)
    }

    /// The slope of a vote on items as they were shown; `y` is positive if the left item was preferred.
    #[inline]
    pub(crate) fn of_vote(&self, left: u32, right: u32, y: f64) -> VoteSlope {
        // Votes for a favourite do not count.
        if self.favourite.is_some_and(|own| own.is_on(left, right)) {
            return VoteSlope { gradient: 0.0, information: 0.0 };
        }
        let crowd = self.all.crowd;
        if let Some(vote) = self.graded_vote(left, right, y) {
            return vote.slope();
        }
        let for_left = self.all.odds[left as usize] * self.all.advantage;
        let for_right = self.all.odds[right as usize];
        let per_odds = 1.0 / (for_left + for_right);
        let (p, q) = (for_left * per_odds, for_right * per_odds);
        let mut total = VoteSlope { gradient: 0.0, information: 0.0 };
        if y != 0.0 {
            // Selected, not branched on: sides alternate at random.
            let side = usize::from(y < 0.0);
            let (same, other) = if side == 0 { (p, q) } else { (q, p) };
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let towards = self.active.slope(side, same, other);
            total = VoteSlope { gradient: sign * towards.gradient, ..towards };
        }
        let tie_odds = crowd.estimates.tie_odds;
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
