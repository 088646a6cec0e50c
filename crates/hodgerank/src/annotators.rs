//! Statistics per annotator, with tests that are exact for small numbers of votes.
//!
//! Votes are streamed into one [`AnnotatorTally`] per annotator; nothing else is stored. The report
//! answers two questions about each annotator:
//!
//! 1. Is their share of flagged votes higher than that of all others together? Fisher's exact test,
//!    one-sided: given how many votes are flagged in all, the flagged ones among the annotator's
//!    votes are hypergeometric if flags are independent of annotators. One-sided, because fewer
//!    flags than the others is no reason for suspicion. Each annotator is compared with all others,
//!    bad ones included, which makes the test conservative where many are bad.
//! 2. Do they prefer a side? Two-sided exact binomial test against ½ of the left choices among the
//!    votes that are no ties. It assumes that items were shown on random sides.
//!
//! With many annotators some look suspicious by chance: the p-values of each question are adjusted
//! by Holm's step-down method, so that the probability of any false accusation in a question is at
//! most the level with which the adjusted values are compared.
//!
//! Caution: flags come from a fit to the same votes. An annotator with very many votes pulls the fit
//! towards their own opinion, and votes on pairs of nearly equal items are flagged more easily.
//!
//! Cost: constant per vote; the report takes at most O(votes) terms per annotator.

mod exact;
mod judged;
mod pooled;
mod trials;

pub use judged::{JudgedAnnotator, judge, judge_all, judge_parts, judge_shared};
pub use pooled::StudyVotes;
pub use trials::MAX_EXACT_VOTES;

pub(crate) use exact::normal_quantile;
pub use exact::{binomial_half_two_sided, fisher_more, holm, wilson};

use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::labels::{Labels, natural_order};

/// Counts of the votes of one annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnnotatorTally {
    /// Votes cast.
    pub votes: u64,
    /// Votes other than ties on items whose scores differ.
    pub decided: u64,
    /// Of these, the votes that agree with the ranking.
    pub agreeing: u64,
    /// Votes flagged as outliers.
    pub flagged: u64,
    /// Votes that chose a side.
    pub sided: u64,
    /// Of these, the votes that chose the left side.
    pub left: u64,
}

/// The tallies of all annotators, by their index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnnotatorTallies {
    tallies: Vec<AnnotatorTally>,
}

impl AnnotatorTallies {
    /// Empty tallies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `count` equal votes of an annotator.
    ///
    /// `left_chosen` and `agrees` are `None` for a tie; `agrees` also where the scores are equal,
    /// otherwise it says whether sign(y) is that of θ_left − θ_right. `left` is the side on which
    /// the item was shown, not the side on which groups store it.
    pub fn add(
        &mut self,
        annotator: u32,
        left_chosen: Option<bool>,
        agrees: Option<bool>,
        flagged: bool,
        count: u64,
    ) {
        let tally = self.of(annotator);
        let counted = |holds: bool| if holds { count } else { 0 };
        tally.votes += count;
        tally.decided += counted(agrees.is_some());
        tally.agreeing += counted(agrees == Some(true));
        tally.flagged += counted(flagged);
        tally.sided += counted(left_chosen.is_some());
        tally.left += counted(left_chosen == Some(true));
    }

    /// Adds the tallies of another part of the votes.
    pub fn merge(&mut self, other: &Self) {
        for (annotator, &tally) in (0..).zip(&other.tallies) {
            self.add_tally(annotator, tally);
        }
    }

    /// Adds the tally of an annotator from another part of the votes.
    pub fn add_tally(&mut self, annotator: u32, from: AnnotatorTally) {
        let into = self.of(annotator);
        into.votes += from.votes;
        into.decided += from.decided;
        into.agreeing += from.agreeing;
        into.flagged += from.flagged;
        into.sided += from.sided;
        into.left += from.left;
    }

    fn of(&mut self, annotator: u32) -> &mut AnnotatorTally {
        let index = annotator as usize;
        if index >= self.tallies.len() {
            self.tallies.resize(index + 1, AnnotatorTally::default());
        }
        &mut self.tallies[index]
    }

    /// The tally of each annotator, by index.
    #[must_use]
    pub fn tallies(&self) -> &[AnnotatorTally] {
        &self.tallies
    }

    /// Adds a vote next to the scores; votes without an annotator are ignored.
    ///
    /// `has_sides` says whether left and right are the sides on which the items were shown.
    pub fn add_vote(&mut self, scores: &[f64], vote: &Comparison, has_sides: bool, flagged: bool) {
        let Some(annotator) = vote.annotator else { return };
        let difference = scores[vote.left as usize] - scores[vote.right as usize];
        let is_tie = vote.y == 0.0;
        let left_chosen = (has_sides && !is_tie).then_some(vote.y > 0.0);
        let agrees = (!is_tie && difference != 0.0).then_some((vote.y > 0.0) == (difference > 0.0));
        self.add(annotator, left_chosen, agrees, flagged, vote.count);
    }

    /// Statistics and tests of every annotator with votes, the most suspicious first.
    ///
    /// Order: the smaller of the two adjusted p-values, then the larger share of flagged votes,
    /// then the label. Indices depend on the order of the votes; the result does not.
    ///
    /// # Errors
    /// [`Error::BadOption`] for a level that is not between 0 and 1.
    ///
    /// # Panics
    /// If an annotator with votes has no label.
    pub fn report(
        &self,
        labels: &Labels,
        options: &AnnotatorOptions,
    ) -> Result<Vec<AnnotatorReport>> {
        options.validate()?;
        let annotators = self.tallies.iter().enumerate().filter(|(_, tally)| tally.votes > 0);
        let votes: u64 = self.tallies.iter().map(|tally| tally.votes).sum();
        let flagged: u64 = self.tallies.iter().map(|tally| tally.flagged).sum();
        let mut reports: Vec<AnnotatorReport> = annotators
            .map(|(index, tally)| {
                let (low, high) = wilson(tally.flagged, tally.votes, options.level);
                AnnotatorReport {
                    annotator: index as u32,
                    votes: tally.votes,
                    agreement: share(tally.agreeing, tally.decided),
                    flagged: tally.flagged,
                    flagged_share: tally.flagged as f64 / tally.votes as f64,
                    flagged_low: low,
                    flagged_high: high,
                    flagged_p: fisher_more(tally.flagged, tally.votes, flagged, votes),
                    flagged_p_adjusted: 1.0,
                    left_share: share(tally.left, tally.sided),
                    left_p: options
                        .has_sides
                        .then(|| binomial_half_two_sided(tally.left, tally.sided)),
                    left_p_adjusted: None,
                }
            })
            .collect();
        let flagged_p = holm(&reports.iter().map(|report| report.flagged_p).collect::<Vec<_>>());
        for (report, p) in reports.iter_mut().zip(flagged_p) {
            report.flagged_p_adjusted = p;
        }
        let left_p: Option<Vec<f64>> = reports.iter().map(|report| report.left_p).collect();
        for (report, p) in reports.iter_mut().zip(left_p.map_or(Vec::new(), |p| holm(&p))) {
            report.left_p_adjusted = Some(p);
        }
        reports.sort_by(|a, b| {
            let by_share = b.flagged_share.total_cmp(&a.flagged_share);
            let by_label = || natural_order(labels.name(a.annotator), labels.name(b.annotator));
            a.suspicion().total_cmp(&b.suspicion()).then(by_share).then_with(by_label)
        });
        Ok(reports)
    }
}

/// Options of [`AnnotatorTallies::report`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `level` | 0.95 | confidence of the interval of the flagged share | above 0, below 1 |
/// | `has_sides` | true | whether left and right are the sides on which items were shown | |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnotatorOptions {
    /// Confidence of the interval of the flagged share.
    pub level: f64,
    /// Whether left and right are the sides on which items were shown.
    pub has_sides: bool,
}

impl Default for AnnotatorOptions {
    fn default() -> Self {
        Self { level: 0.95, has_sides: true }
    }
}

impl AnnotatorOptions {
    /// Checks that all values are in range.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that is not.
    pub fn validate(&self) -> Result<()> {
        if self.level > 0.0 && self.level < 1.0 {
            return Ok(());
        }
        let (value, expected) = (self.level.to_string(), "a number between 0 and 1, both excluded");
        Err(Error::BadOption { option: "level", value, expected })
    }
}

/// Statistics and tests of one annotator. `A` is the annotator: an index, or a label
/// ([`AnnotatorReport::with_label`]).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AnnotatorReport<A = u32> {
    /// The annotator.
    pub annotator: A,
    /// Votes cast.
    pub votes: u64,
    /// Share of votes that agree with the ranking, among votes that are not ties on items with
    /// different scores; `None` without such votes.
    pub agreement: Option<f64>,
    /// Flagged votes.
    pub flagged: u64,
    /// Their share of the annotator's votes.
    pub flagged_share: f64,
    /// Lower end of Wilson's interval of that share.
    pub flagged_low: f64,
    /// Upper end of it.
    pub flagged_high: f64,
    /// Probability of at least as many flagged votes if flags did not depend on the annotator.
    pub flagged_p: f64,
    /// `flagged_p` after Holm's correction for the number of annotators.
    pub flagged_p_adjusted: f64,
    /// Share of left choices among votes that are not ties; `None` without such votes.
    pub left_share: Option<f64>,
    /// Probability of a left share at least as uneven if both sides were equally likely; `None` if
    /// the sides are unknown.
    pub left_p: Option<f64>,
    /// `left_p` after Holm's correction for the number of annotators.
    pub left_p_adjusted: Option<f64>,
}

impl<A> AnnotatorReport<A> {
    /// The smaller of the two adjusted p-values.
    #[must_use]
    pub fn suspicion(&self) -> f64 {
        self.left_p_adjusted.map_or(self.flagged_p_adjusted, |p| self.flagged_p_adjusted.min(p))
    }

    fn with_annotator<B>(self, annotator: impl FnOnce(A) -> B) -> AnnotatorReport<B> {
        AnnotatorReport {
            annotator: annotator(self.annotator),
            votes: self.votes,
            agreement: self.agreement,
            flagged: self.flagged,
            flagged_share: self.flagged_share,
            flagged_low: self.flagged_low,
            flagged_high: self.flagged_high,
            flagged_p: self.flagged_p,
            flagged_p_adjusted: self.flagged_p_adjusted,
            left_share: self.left_share,
            left_p: self.left_p,
            left_p_adjusted: self.left_p_adjusted,
        }
    }
}

impl AnnotatorReport {
    /// The report with the annotator's label.
    #[must_use]
    pub fn with_label(self, annotators: &Labels) -> AnnotatorReport<&str> {
        self.with_annotator(|annotator| annotators.name(annotator))
    }
}

impl AnnotatorReport<&str> {
    /// The report with an owned label.
    #[must_use]
    pub fn into_owned(self) -> AnnotatorReport<String> {
        self.with_annotator(str::to_owned)
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
