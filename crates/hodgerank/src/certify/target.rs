//! Which result of the ranking is examined, and when it counts as changed.

use crate::fit::Fit;
use crate::graph::Components;

/// Difference of scores, relative to the largest score, up to which two items have equal scores.
const EQUAL_SCORES: f64 = 1e-9;

/// What is asked about the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Which items are in the first places, in any order; those of the largest component if there are
    /// several.
    Places(usize),
    /// Which of two items is above the other.
    Pair(u32, u32),
}

/// The answer that all votes give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Some items are above others.
    Ordered(Target),
    /// These items have equal scores, so that there is no order that could change.
    Tied(Vec<u32>),
    /// The votes do not compare the items of a pair, even indirectly.
    Incomparable,
    /// There are only this many items, so that all of them are in the first places.
    TooFewItems(usize),
}

/// Items that are above others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The items above, the best first.
    pub upper: Vec<u32>,
    /// The items below, the best first.
    pub lower: Vec<u32>,
}

/// The difference of scores up to which items are equal.
fn tolerance(scores: &[f64]) -> f64 {
    EQUAL_SCORES * scores.iter().map(|score| score.abs()).fold(0.0, f64::max)
}

/// The items of a component, the best first.
fn by_score(items: &[u32], scores: &[f64]) -> Vec<u32> {
    let mut order = items.to_vec();
    order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]).then(a.cmp(&b)));
    order
}

impl Standing {
    /// What the fit of all votes says.
    pub(super) fn new(question: Question, fit: &Fit) -> Self {
        let (scores, components) = (&fit.scores, &fit.components);
        let of = |item: u32| scores[item as usize];
        match question {
            Question::Pair(a, b) => {
                if a == b || components.of[a as usize] != components.of[b as usize] {
                    return Self::Incomparable;
                }
                if (of(a) - of(b)).abs() <= tolerance(scores) {
                    return Self::Tied(vec![a, b]);
                }
                let (upper, lower) = if of(a) > of(b) { (a, b) } else { (b, a) };
                Self::Ordered(Target { upper: vec![upper], lower: vec![lower] })
            }
            Question::Places(places) => {
                let members = if components.is_empty() { &[] } else { components.members(0) };
                if members.len() <= places || places == 0 {
                    return Self::TooFewItems(members.len());
                }
                let mut upper = by_score(members, scores);
                let lower = upper.split_off(places);
                let (last, next) = (of(upper[places - 1]), of(lower[0]));
                if last - next <= tolerance(scores) {
                    let is_tied = |item: &u32| (of(*item) - last).abs() <= tolerance(scores);
                    let all = upper.into_iter().chain(lower);
                    return Self::Tied(all.filter(is_tied).collect());
                }
                Self::Ordered(Target { upper, lower })
            }
        }
    }
}

impl Target {
    /// The clearest pair whose order has changed: an item of `lower`, and one of `upper` that is now below
    /// it and in the same component.
    pub(super) fn inversion(&self, scores: &[f64], components: &Components) -> Option<(u32, u32)> {
        let mut worst: Vec<Option<u32>> = vec![None; components.len()];
        for &item in &self.upper {
            let known = &mut worst[components.of[item as usize] as usize];
            if known.is_none_or(|other| scores[item as usize] < scores[other as usize]) {
                *known = Some(item);
            }
        }
        let mut found: Option<(f64, u32, u32)> = None;
        for &item in &self.lower {
            let Some(upper) = worst[components.of[item as usize] as usize] else { continue };
            let margin = scores[item as usize] - scores[upper as usize];
            if margin > found.map_or(tolerance(scores), |(margin, ..)| margin) {
                found = Some((margin, item, upper));
            }
        }
        found.map(|(_, above, below)| (above, below))
    }

    /// The items in the examined places, the best first, given the scores of other votes. Items of
    /// components without an inversion stay where they are.
    pub(super) fn upper_after(&self, scores: &[f64], components: &Components) -> Vec<u32> {
        let mut places = vec![0_usize; components.len()];
        self.upper.iter().for_each(|&item| places[components.of[item as usize] as usize] += 1);
        let all: Vec<u32> = self.upper.iter().chain(&self.lower).copied().collect();
        let order = by_score(&all, scores);
        let take = |item: &u32| {
            let left = &mut places[components.of[*item as usize] as usize];
            let is_taken = *left > 0;
            *left -= usize::from(is_taken);
            is_taken
        };
        order.into_iter().filter(take).collect()
    }
}
