//! Statistics of annotators: a second pass over the input, for the JSON of `rank` and the report. Memory grows with the number of annotators, not with rows.

mod judge;

pub use judge::{
    AnnotatorRow, AnnotatorsArgs, AnnotatorsDocument, EvidenceVote, JudgedAnnotators, annotators,
    judged_annotators, study_votes,
};

use hodgerank::annotators::{AnnotatorOptions, AnnotatorTallies};
use hodgerank::{AnnotatorReport, Comparison, Labels};
use hodgerank_io::read::{TableHead, VoteRow, second_pass};
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::observer::Observer;
use crate::two_pass::TwoPass;

/// Refuses files without an annotator column.
///
/// # Errors
/// [`Failure::Usage`] that names the first such file.
pub fn check(tables: &[TableHead]) -> Result<(), Failure> {
    match tables.iter().find(|table| !table.has_annotator) {
        None => Ok(()),
        Some(table) => Err(Failure::usage(
            format!("{}: there is no column of annotators", table.file),
            "name the column with --annotator; known names are annotator, annotator_id, rater, \
             worker, worker_id and judge",
        )),
    }
}

/// Counts of the votes of each annotator.
#[derive(Debug)]
pub struct AnnotatorCounts {
    /// Labels of the annotators, per study.
    pub labels: Vec<Labels>,
    /// Their counts, per study.
    pub tallies: Vec<AnnotatorTallies>,
    /// Whether the sides of the items are known in all files.
    pub has_sides: bool,
    /// Votes without an annotator.
    pub without_annotator: u64,
}

/// The annotators of each study, the most suspicious first.
///
/// # Errors
/// If the second pass fails.
pub fn list(
    pass: &TwoPass,
    observer: &dyn Observer,
) -> Result<Vec<Vec<AnnotatorReport<String>>>, Failure> {
    tally(pass, observer)?.report(observer)
}

/// Counts the votes of each annotator.
///
/// # Errors
/// If the second pass fails.
pub fn tally(pass: &TwoPass, observer: &dyn Observer) -> Result<AnnotatorCounts, Failure> {
    // Winner and loser do not say which item was on the left.
    let has_sides = pass.tables.iter().all(|table| table.has_sides);
    let mut labels: Vec<Labels> = pass.studies.iter().map(|_| Labels::new()).collect();
    let mut tallies: Vec<AnnotatorTallies> = vec![AnnotatorTallies::new(); pass.studies.len()];
    let mut without_annotator = 0;
    let each = |vote: &VoteRow<'_>| {
        if vote.annotator.is_empty() {
            without_annotator += vote.count;
            return Ok(());
        }
        let scores = &pass.studies[vote.study].fit.scores;
        let annotator = Some(labels[vote.study].intern(vote.annotator));
        let &VoteRow { left, right, y, count, .. } = vote;
        let cast = Comparison { annotator, left, right, y, count };
        tallies[vote.study].add_vote(scores, &cast, has_sides, vote.flagged);
        Ok(())
    };
    pass.second_pass(observer, |progress| {
        second_pass(&pass.sources, &pass.options, progress, &pass.study_flags(&[]), each)
    })?;
    Ok(AnnotatorCounts { labels, tallies, has_sides, without_annotator })
}

impl AnnotatorCounts {
    /// Statistics and tests of the annotators of each study, the most suspicious first.
    ///
    /// # Errors
    /// If the tests cannot be computed.
    pub fn report(
        &self,
        observer: &dyn Observer,
    ) -> Result<Vec<Vec<AnnotatorReport<String>>>, Failure> {
        if self.without_annotator > 0 {
            let votes = thousands(self.without_annotator);
            observer.warn(&format!("{votes} votes have no annotator"));
        }
        let studies = self.labels.iter().zip(&self.tallies);
        studies.map(|(labels, tallies)| reports(tallies, labels, self.has_sides)).collect()
    }
}

/// Statistics and tests of annotators, the most suspicious first.
///
/// # Errors
/// If the tests cannot be computed.
pub fn reports(
    tallies: &AnnotatorTallies,
    labels: &Labels,
    has_sides: bool,
) -> Result<Vec<AnnotatorReport<String>>, Failure> {
    let reports = tallies.report(labels, &AnnotatorOptions { has_sides, ..Default::default() })?;
    Ok(reports.iter().map(|report| report.with_label(labels).into_owned()).collect())
}
