//! The main entry point: [`Ranker::rank`] turns [`Votes`] into a [`Ranked`] result.

use std::fmt;

use crate::annotators::{AnnotatorOptions, AnnotatorReport, AnnotatorTallies};
use crate::comparison::Comparison;
use crate::error::Result;
use crate::fit::{self, Fit};
use crate::labels::Labels;
use crate::options::{FitOptions, Ranker};
use crate::path::Path;
use crate::ranked_study::RankedStudy;
use crate::ranking::RankedItem;
use crate::status::Status;
use crate::study::Study;
use crate::votes::{SortedVotes, Votes};

impl Ranker {
    /// A ranker with default options: a robust method that chooses how many votes to flag.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ranker with these options.
    pub fn with_options(options: FitOptions) -> Self {
        Self { options }
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &FitOptions {
        &self.options
    }

    /// Ranks the items and flags votes.
    ///
    /// # Errors
    /// If there are no votes, a vote compares an item with itself or is not finite, an option is
    /// invalid, or a solver fails.
    ///
    /// ```
    /// use hodgerank::{Ranker, Votes};
    ///
    /// let mut votes = Votes::new();
    /// votes.prefer("cat", "dog");
    /// votes.prefer("dog", "cow");
    /// let ranked = Ranker::new().rank(&votes)?;
    /// assert_eq!(ranked.ranking().next().map(|row| row.item), Some("cat"));
    /// # Ok::<(), hodgerank::Error>(())
    /// ```
    pub fn rank(&self, votes: &Votes) -> Result<Ranked> {
        self.options.validate()?;
        let SortedVotes { study, votes: sorted, group_of } = votes.sorted()?;
        let annotators = study.annotators.clone();
        let study = RankedStudy::new(study, 0, &self.options)?;
        let flagged_groups = &study.fit.flagged;
        let is_flagged = |k: usize| match study.fit.crowd_flags() {
            Some(flags) => flags.is_flagged(&sorted[k]),
            None => group_of[k].is_some_and(|g| flagged_groups[g as usize] > 0.0),
        };
        let mut tallies = AnnotatorTallies::new();
        let mut flagged = Vec::new();
        for (k, vote) in sorted.iter().enumerate() {
            tallies.add_vote(&study.fit.scores, vote, votes.has_sides(), is_flagged(k));
            if is_flagged(k) {
                flagged.push(k);
            }
        }
        // In order of suspicion; votes that the method does not order keep the order of addition.
        let mut order = vec![u32::MAX; flagged_groups.len()];
        for (place, entry) in (0..).zip(&study.fit.entries) {
            order[entry.group as usize] = place;
        }
        flagged.sort_by_key(|&k| group_of[k].map_or(u32::MAX, |g| order[g as usize]));
        let flagged = flagged.into_iter().map(|k| sorted[k]).collect();
        let options = AnnotatorOptions { has_sides: votes.has_sides(), ..Default::default() };
        let reports = tallies.report(&annotators, &options)?;
        Ok(Ranked { study, annotators, flagged, reports })
    }

    /// Computes the path of a robust method: the fits from "no vote flagged" to as many flagged
    /// votes as the outlier rule selects ([`crate::fit::path`]). Indices of items refer to
    /// `study.items`.
    ///
    /// # Errors
    /// If the method has no path, an option is invalid, or a solver fails.
    pub fn path(&self, study: &Study) -> Result<Path> {
        self.options.validate()?;
        let path = fit::path(&study.clone().into_graph()?, &self.options);
        path.map_err(|error| error.with_labels(&study.items))
    }
}

/// A ranking, its flagged votes and its annotators. Returned by [`Ranker::rank`].
#[derive(Debug, Clone)]
pub struct Ranked {
    study: RankedStudy,
    annotators: Labels,
    /// In order of suspicion.
    flagged: Vec<Comparison>,
    reports: Vec<AnnotatorReport>,
}

/// A vote that the method does not trust.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FlaggedVote<'a> {
    /// The item on the left (the winner, if the sides are unknown).
    pub left: &'a str,
    /// The item on the right.
    pub right: &'a str,
    /// How much the left item was preferred; negative for the right one, 0 for a tie.
    pub outcome: f64,
    /// How many times the vote was cast.
    pub count: u64,
    /// The annotator, if known.
    pub annotator: Option<&'a str>,
    /// Outcome − (score of left − score of right).
    pub residual: f64,
}

impl Ranked {
    /// The items, best first. Ranks and scores of different components do not compare.
    pub fn ranking(&self) -> impl ExactSizeIterator<Item = RankedItem<&str>> {
        self.study.rows()
    }

    /// The score of an item, if it is known.
    #[must_use]
    pub fn score(&self, item: &str) -> Option<f64> {
        let index = self.study.items.get(item.as_bytes())?;
        Some(self.study.fit.scores[index as usize])
    }

    /// The flagged votes in order of suspicion. A vote of which the method flags only a part of its
    /// count is listed.
    pub fn flagged(&self) -> impl ExactSizeIterator<Item = FlaggedVote<'_>> {
        self.flagged.iter().map(|vote| {
            let RankedStudy { items, fit: Fit { scores, .. }, .. } = &self.study;
            let difference = scores[vote.left as usize] - scores[vote.right as usize];
            FlaggedVote {
                left: items.name(vote.left),
                right: items.name(vote.right),
                outcome: vote.y,
                count: vote.count,
                annotator: vote.annotator.map(|annotator| self.annotators.name(annotator)),
                residual: vote.y - difference,
            }
        })
    }

    /// Statistics of each annotator, the most suspicious first.
    pub fn annotators(&self) -> impl ExactSizeIterator<Item = AnnotatorReport<&str>> {
        self.reports.iter().map(|report| report.with_label(&self.annotators))
    }

    /// How the method ended.
    #[must_use]
    pub fn status(&self) -> Status {
        self.study.fit.status
    }

    /// Everything else: comparison graph, fit, components.
    #[must_use]
    pub fn study(&self) -> &RankedStudy {
        &self.study
    }
}

impl fmt::Display for FlaggedVote<'_> {
    /// `cow over cat, by ann (2 times)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { left, right, outcome, count, annotator, .. } = self;
        match outcome.total_cmp(&0.0) {
            _ if *outcome == 0.0 => write!(f, "{left} tied with {right}")?,
            std::cmp::Ordering::Greater => write!(f, "{left} over {right}")?,
            _ => write!(f, "{right} over {left}")?,
        }
        if outcome.abs() != 1.0 && *outcome != 0.0 {
            write!(f, " by {}", outcome.abs())?;
        }
        if let Some(annotator) = annotator {
            write!(f, ", annotator {annotator}")?;
        }
        if *count != 1 {
            write!(f, " ({count} times)")?;
        }
        Ok(())
    }
}
