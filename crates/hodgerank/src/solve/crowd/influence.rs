//! The slope of a vote of a crowd: what it adds to the estimating equations of the scores.

use super::result::Crowd;
use crate::model::behaviour::OfBehaviours;
use crate::model::votes::{Voice, VoteModel, outcome_of};

/// Behaviours that are less probable than this do not count.
const MIN_PROBABILITY: f32 = 1e-4;
/// The probability of a behaviour from which there is no doubt about it.
const CERTAIN: f32 = 0.9999;

/// What a vote adds to the sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VoteSlope {
    /// ∂/∂d of the log-likelihood.
    pub(crate) gradient: f64,
    /// −∂²/∂d², expected.
    pub(crate) information: f64,
}

/// The slopes of the votes of a crowd.
pub(crate) struct CrowdSlopes<'a> {
    crowd: &'a Crowd,
    model: VoteModel,
}

/// The slopes of the votes of one annotator.
pub(crate) struct VoterSlopes<'a> {
    all: &'a CrowdSlopes<'a>,
    voice: Voice,
}

impl<'a> CrowdSlopes<'a> {
    pub(crate) fn new(crowd: &'a Crowd) -> Self {
        Self { crowd, model: crowd.estimates.vote_model() }
    }

    pub(crate) fn crowd(&self) -> &'a Crowd {
        self.crowd
    }

    /// The slopes of typical votes, if all are typical and their information depends on nothing but the pair.
    pub(crate) fn typical(&'a self) -> Option<VoterSlopes<'a>> {
        let estimates = &self.crowd.estimates;
        let is_plain = !estimates.uses_people()
            && estimates.noise.is_none()
            && estimates.tie_odds == 0.0
            && estimates.side_advantage == 0.0;
        is_plain.then_some(VoterSlopes { all: self, voice: Voice::TYPICAL })
    }

    /// The slopes of the votes of an annotator, or of an unknown person.
    pub(crate) fn of_annotator(&'a self, annotator: Option<u32>) -> VoterSlopes<'a> {
        let position = annotator.and_then(|annotator| self.crowd.position(annotator));
        let own = position.filter(|_| self.crowd.estimates.uses_people());
        let voice = own.map_or(Voice::TYPICAL, |a| self.crowd.annotators[a].voice());
        VoterSlopes { all: self, voice }
    }

    /// The behaviours that an annotator may have, with their probabilities and the slopes of the votes under each;
    /// none if there is no doubt about them, or they are not in the model.
    pub(crate) fn uncertain_behaviours(
        &'a self,
        annotator: u32,
    ) -> Option<Vec<(f64, VoterSlopes<'a>)>> {
        let position = self.crowd.position(annotator)?;
        let behaviour: &OfBehaviours = &self.crowd.annotators[position].behaviour;
        if !self.crowd.estimates.uses_people() || behaviour.iter().any(|r| *r > CERTAIN) {
            return None;
        }
        let likely = self.crowd.behaviours().iter().zip(behaviour);
        let likely = likely.filter(|(_, r)| **r > MIN_PROBABILITY);
        let slopes = |(own, &r): (&crate::model::behaviour::Behaviour, &f32)| {
            (f64::from(r), VoterSlopes { all: self, voice: own.voice() })
        };
        Some(likely.map(slopes).collect())
    }
}

impl VoterSlopes<'_> {
    /// The slope of a vote on items as they were shown; `y` is positive if the left item was preferred.
    #[inline]
    pub(crate) fn of_vote(&self, left: u32, right: u32, y: f64) -> VoteSlope {
        let CrowdSlopes { crowd, model } = self.all;
        let scores = &crowd.solution.scores;
        let d = scores[left as usize] - scores[right as usize];
        let Voice { weight, sharpness, side } = self.voice;
        if let Some(graded) = crowd.graded() {
            let vote = graded.vote(self.voice, d, y);
            return VoteSlope { gradient: vote.gradient, information: vote.information };
        }
        let terms = model.at(sharpness * d + model.advantage + side);
        VoteSlope {
            gradient: weight * sharpness * terms.slope[outcome_of(y)],
            information: weight * sharpness * sharpness * terms.information,
        }
    }
}
