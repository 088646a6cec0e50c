//! Votes without the position bias of some annotators: the mean of an annotator's votes is subtracted from
//! each of them.
//!
//! If items were shown on random sides, the mean vote estimates the annotator's pull to the left: an
//! annotator without bias prefers the left item half of the time. What the annotator says about the items
//! is in the differences between their votes, which stay. Somebody who always chose the same side says nothing,
//! and all of their votes become ties.

use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::graph::Groups;

/// The mean vote of each annotator, by index; zero without votes.
#[must_use]
pub fn mean_outcomes(votes: &AnnotatorVotes) -> Vec<f64> {
    let mean = |a: usize| {
        let (sum, count) = votes.of(a).iter().fold((0.0, 0.0), |(sum, number), vote| {
            let count = f64::from(vote.count);
            (sum + count * votes.y(vote), number + count)
        });
        if count > 0.0 { sum / count } else { 0.0 }
    };
    (0..votes.annotators()).map(mean).collect()
}

/// The votes, distinct and by annotator, once the mean of the votes of each of `biased` is subtracted from
/// them.
///
/// # Errors
/// [`Error::NoSides`] if sides are unknown: a winner has no side. Otherwise if a vote refers to an item that
/// does not exist.
pub fn without_bias(
    items: usize,
    votes: &AnnotatorVotes,
    biased: &[u32],
) -> Result<(Groups, AnnotatorVotes)> {
    if !votes.has_sides() {
        return Err(Error::NoSides);
    }
    let means = mean_outcomes(votes);
    let mut pull = vec![0.0; votes.annotators() + 1];
    biased.iter().for_each(|&a| pull[a as usize] = means[a as usize]);
    let comparison = |annotator: usize, vote: &AnnotatorVote| {
        let y = votes.y(vote) - pull[annotator];
        let vote = Comparison::new(vote.left, vote.right, y).with_count(u64::from(vote.count));
        let is_known = annotator < votes.annotators();
        Comparison { annotator: is_known.then_some(annotator as u32), ..vote }
    };
    let all: Vec<Comparison> = (0..=votes.annotators())
        .flat_map(|a| votes.of(a).iter().map(move |vote| (a, vote)))
        .map(|(a, vote)| comparison(a, vote))
        .collect();
    let groups = Groups::merge(items, &all)?.groups;
    Ok((groups, AnnotatorVotes::from_comparisons(votes.annotators(), &all, true)))
}
