//! Votes with labels, added one by one: the input of [`Ranker`](crate::Ranker).

use crate::annotator_votes::AnnotatorVotes;
use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::graph::{Groups, SideCounts};
use crate::labels::Labels;
use crate::study::{Study, check_votes};

/// Pairwise votes on labelled items.
///
/// ```
/// use hodgerank::{Vote, Votes};
///
/// let mut votes = Votes::new();
/// votes.prefer("cat", "dog");
/// votes.tie("cat", "cow");
/// votes.add(Vote::new("dog", "cow", 2.0).annotator("ann").count(3));
/// assert_eq!((votes.len(), votes.items().count()), (3, 3));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Votes {
    items: Labels,
    annotators: Labels,
    votes: Vec<Comparison>,
    /// Votes whose items were not shown on known sides.
    without_sides: usize,
}

/// One vote on labelled items.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "a vote counts once it is added to `Votes`"]
pub struct Vote<'a> {
    left: &'a str,
    right: &'a str,
    outcome: f64,
    annotator: Option<&'a str>,
    count: u64,
    has_sides: bool,
}

impl<'a> Vote<'a> {
    /// A vote on items that were shown on the left and on the right.
    ///
    /// `outcome` says how much the left item is preferred: positive for the left item, negative for
    /// the right one, 0 for a tie. Its size counts: in graded votes, 2 is twice the preference of 1.
    pub fn new(left: &'a str, right: &'a str, outcome: f64) -> Self {
        Self { left, right, outcome, annotator: None, count: 1, has_sides: true }
    }

    /// A vote that prefers `winner` to `loser`; the sides are unknown.
    pub fn prefer(winner: &'a str, loser: &'a str) -> Self {
        Self { has_sides: false, ..Self::new(winner, loser, 1.0) }
    }

    /// A vote that prefers neither item; the sides are unknown.
    pub fn tie(item: &'a str, other: &'a str) -> Self {
        Self { has_sides: false, ..Self::new(item, other, 0.0) }
    }

    /// Sets the annotator.
    pub fn annotator(self, annotator: &'a str) -> Self {
        Self { annotator: Some(annotator), ..self }
    }

    /// Sets how many times the vote was cast.
    pub fn count(self, count: u64) -> Self {
        Self { count, ..self }
    }
}

impl Votes {
    /// No votes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vote that prefers `winner` to `loser`.
    pub fn prefer(&mut self, winner: &str, loser: &str) {
        self.add(Vote::prefer(winner, loser));
    }

    /// Adds a vote that prefers neither item.
    pub fn tie(&mut self, item: &str, other: &str) {
        self.add(Vote::tie(item, other));
    }

    /// Adds a vote.
    pub fn add(&mut self, vote: Vote<'_>) {
        let Vote { left, right, outcome, annotator, count, has_sides } = vote;
        self.without_sides += usize::from(!has_sides);
        self.votes.push(Comparison {
            left: self.items.intern(left),
            right: self.items.intern(right),
            y: outcome,
            annotator: annotator.map(|annotator| self.annotators.intern(annotator)),
            count,
        });
    }

    /// The number of votes added; a vote with a count is one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.votes.len()
    }

    /// Whether no vote was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.votes.is_empty()
    }

    /// Labels of the items, in the order of their first vote.
    pub fn items(&self) -> impl ExactSizeIterator<Item = &str> {
        self.items.iter()
    }

    /// Labels of the annotators, in the order of their first vote.
    pub fn annotators(&self) -> impl ExactSizeIterator<Item = &str> {
        self.annotators.iter()
    }

    /// Whether the sides of all votes are known.
    #[must_use]
    pub fn has_sides(&self) -> bool {
        self.without_sides == 0
    }

    /// The study of these votes: distinct votes on items in natural order.
    ///
    /// # Errors
    /// If there are no votes or more than [`MAX_VOTES`](crate::MAX_VOTES), a vote compares an item
    /// with itself or its outcome is not finite.
    pub fn study(&self) -> Result<Study> {
        Ok(self.sorted()?.study)
    }

    /// The study, and the votes with the item indices of the study.
    pub(crate) fn sorted(&self) -> Result<SortedVotes> {
        if self.votes.is_empty() {
            return Err(Error::NoVotes);
        }
        let (items, new_index) = self.items.sorted();
        let (annotators, new_annotator) = self.annotators.sorted();
        let renumber = |vote: &Comparison| Comparison {
            left: new_index[vote.left as usize],
            right: new_index[vote.right as usize],
            annotator: vote.annotator.map(|annotator| new_annotator[annotator as usize]),
            ..*vote
        };
        let votes: Vec<Comparison> = self.votes.iter().map(renumber).collect();
        let comparisons = votes.iter().fold(0, |sum: u64, vote| sum.saturating_add(vote.count));
        check_votes(comparisons)?;
        let merged = Groups::merge(items.len(), &votes)?;
        let number = annotators.len();
        let annotator_votes = (number > 0)
            .then(|| AnnotatorVotes::from_comparisons(number, &votes, self.has_sides()));
        let sides = (number == 0 && self.has_sides())
            .then(|| SideCounts::of_comparisons(items.len(), &votes));
        let study = Study {
            by: None,
            items,
            groups: merged.groups,
            annotators,
            annotator_votes,
            sides,
            rows: votes.len() as u64,
            comparisons,
        };
        Ok(SortedVotes { study, votes, group_of: merged.group_of })
    }
}

impl<'a> Extend<Vote<'a>> for Votes {
    fn extend<I: IntoIterator<Item = Vote<'a>>>(&mut self, votes: I) {
        votes.into_iter().for_each(|vote| self.add(vote));
    }
}

/// Votes next to their study.
pub(crate) struct SortedVotes {
    pub(crate) study: Study,
    /// In the order in which they were added, with the item indices of the study.
    pub(crate) votes: Vec<Comparison>,
    /// The distinct vote of each vote; `None` for a count of zero.
    pub(crate) group_of: Vec<Option<u32>>,
}
