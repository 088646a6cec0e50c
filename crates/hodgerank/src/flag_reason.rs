//! Why a vote is flagged, or left out with its annotator.

use std::fmt;
use std::ops::Range;

use crate::graph::Groups;
use crate::solve::crowd::AnnotatorClass;

/// Why a vote is flagged, or left out with its annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FlagReason {
    /// The annotator was excluded by name.
    Excluded,
    /// The annotator prefers the left side, whatever the items.
    FavoursLeft,
    /// The annotator prefers the right side, whatever the items.
    FavoursRight,
    /// The annotator prefers the worse item.
    Contrary,
    /// The annotator votes at random.
    Random,
    /// The vote is more likely a lapse than honest.
    Lapse,
    /// The vote is flagged because a number of votes was asked for: it is one of those that are most
    /// likely lapses.
    PossibleLapse,
    /// The vote contradicts the ranking, and most votes on the same pair contradict the vote.
    AgainstMajority,
    /// The vote contradicts the ranking.
    AgainstRanking,
    /// The vote agrees with the ranking but is far stronger than the scores imply.
    TooStrong,
    /// The vote is a tie, or far weaker than the scores imply.
    TooWeak,
}

/// A majority is clear if it has at least this share of the votes on a pair …
const CLEAR_SHARE: f64 = 2.0 / 3.0;
/// … and at least this many votes.
const CLEAR_VOTES: f64 = 3.0;

impl FlagReason {
    /// The phrase in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Excluded => "annotator excluded",
            Self::FavoursLeft => "annotator favours the left side",
            Self::FavoursRight => "annotator favours the right side",
            Self::Contrary => "annotator answers the opposite",
            Self::Random => "annotator votes at random",
            Self::Lapse => "more likely a lapse than honest",
            Self::PossibleLapse => "among the likeliest lapses",
            Self::AgainstMajority => "against a clear majority",
            Self::AgainstRanking => "against the ranking",
            Self::TooStrong => "stronger than the scores imply",
            Self::TooWeak => "weaker than the scores imply",
        }
    }

    /// The reason that the class of an annotator is; none for careful and careless ones.
    #[must_use]
    pub fn of_class(class: AnnotatorClass) -> Option<Self> {
        match class {
            AnnotatorClass::Careful | AnnotatorClass::Careless => None,
            AnnotatorClass::Coin => Some(Self::Random),
            AnnotatorClass::Contrary => Some(Self::Contrary),
            AnnotatorClass::Left => Some(Self::FavoursLeft),
            AnnotatorClass::Right => Some(Self::FavoursRight),
        }
    }

    /// The reason of a vote that was flagged by the probability that it is a lapse.
    #[must_use]
    pub fn of_probability(probability: f64) -> Self {
        if probability > 0.5 { Self::Lapse } else { Self::PossibleLapse }
    }

    /// The reason of each distinct vote, if its residual is why it is flagged.
    ///
    /// # Panics
    /// If there are fewer scores than items.
    #[must_use]
    pub fn of_residuals(groups: &Groups, scores: &[f64]) -> Vec<Self> {
        let mut reasons = Vec::with_capacity(groups.len());
        while reasons.len() < groups.len() {
            let g = reasons.len();
            let (left, right) = (groups.left[g] as usize, groups.right[g] as usize);
            let pair = groups.of_pair(groups.left[g], groups.right[g]);
            let difference = scores[left] - scores[right];
            let majority = clear_majority(groups, pair.clone());
            reasons.extend(pair.map(|g| Self::of_residual(groups.y[g], difference, majority)));
        }
        reasons
    }

    /// `majority` is the sign of the outcome that most votes on the pair have, or 0.
    fn of_residual(y: f64, difference: f64, majority: f64) -> Self {
        if y * difference < 0.0 {
            return if y * majority < 0.0 { Self::AgainstMajority } else { Self::AgainstRanking };
        }
        if y.abs() < difference.abs() { Self::TooWeak } else { Self::TooStrong }
    }
}

fn clear_majority(groups: &Groups, pair: Range<usize>) -> f64 {
    let weight = |holds: fn(f64) -> bool| -> f64 {
        pair.clone().filter(|&g| holds(groups.y[g])).map(|g| groups.weight[g]).sum()
    };
    let all = weight(|_| true);
    let is_clear = |votes: f64| votes >= CLEAR_VOTES && votes >= CLEAR_SHARE * all;
    match (weight(|y| y > 0.0), weight(|y| y < 0.0)) {
        (left, _) if is_clear(left) => 1.0,
        (_, right) if is_clear(right) => -1.0,
        _ => 0.0,
    }
}

impl fmt::Display for FlagReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Comparison;

    #[test]
    fn reasons_follow_from_residuals_and_majorities() {
        let vote = |left, right, y, count| Comparison { count, ..Comparison::new(left, right, y) };
        let votes = [
            vote(0, 1, -1.0, 1),
            vote(0, 1, 0.0, 1),
            vote(0, 1, 1.0, 4),
            vote(0, 1, 5.0, 1),
            vote(0, 2, -1.0, 2),
            vote(0, 2, 1.0, 3),
        ];
        let groups = Groups::merge(3, &votes).unwrap().groups;
        let scores = [1.0, -0.5, -1.0];
        use FlagReason::{AgainstMajority, AgainstRanking, TooStrong, TooWeak};
        assert_eq!(
            FlagReason::of_residuals(&groups, &scores),
            [AgainstMajority, TooWeak, TooWeak, TooStrong, AgainstRanking, TooWeak]
        );
    }

    #[test]
    fn classes_that_carry_information_are_no_reason() {
        let excluded = AnnotatorClass::ALL.into_iter().filter_map(FlagReason::of_class);
        assert_eq!(excluded.count(), 4);
        assert_eq!(FlagReason::of_class(AnnotatorClass::Careless), None);
        assert_eq!(FlagReason::of_probability(0.4), FlagReason::PossibleLapse);
    }
}
