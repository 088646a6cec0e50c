//! Who cast the doubtful votes: a second pass over the input, for `outliers --annotators` and the JSON
//! of `rank`. Memory grows with annotators, not with rows.

use hodgerank::annotators::{AnnotatorOptions, AnnotatorReport, AnnotatorTallies};
use hodgerank::{Comparison, Labels};
use hodgerank_io::read::{TableHead, Vote, second_pass};
use hodgerank_io::write::AnnotatorRow;
use hodgerank_report::words::thousands;

use crate::failure::Failure;
use crate::two_pass::TwoPass;
use crate::watch::Watch;

pub(crate) const SCHEMA: &str = "hodgerank/annotators/1";

/// Refuses files that do not say who voted.
///
/// # Errors
/// [`Failure::Usage`] that names the first such file.
pub fn check(tables: &[TableHead]) -> Result<(), Failure> {
    match tables.iter().find(|table| !table.has_annotator) {
        None => Ok(()),
        Some(table) => Err(Failure::usage(
            format!("{}: no column says who cast the votes", table.file),
            "name the column with --annotator; known names are annotator, annotator_id, rater, \
             worker, worker_id and judge",
        )),
    }
}

/// What the annotators of each study did.
#[derive(Debug)]
pub struct Tallied {
    /// Their names, for each study.
    pub names: Vec<Labels>,
    /// Their counts, for each study.
    pub tallies: Vec<AnnotatorTallies>,
    /// Whether left and right mean anything in all files.
    pub sides: bool,
    /// Votes that do not say who cast them.
    pub unsigned: u64,
}

/// The annotators of each study, the most suspicious first.
///
/// # Errors
/// If the second pass fails.
pub fn list(look: &TwoPass, watch: &dyn Watch) -> Result<Vec<Vec<AnnotatorRow>>, Failure> {
    tally(look, watch)?.report(watch)
}

/// Counts what each annotator did.
///
/// # Errors
/// If the second pass fails.
pub fn tally(look: &TwoPass, watch: &dyn Watch) -> Result<Tallied, Failure> {
    // Winner and loser do not tell who stood on the left.
    let sides = look.tables.iter().all(|table| table.has_sides);
    let mut names: Vec<Labels> = look.studies.iter().map(|_| Labels::new()).collect();
    let mut tallies: Vec<AnnotatorTallies> = vec![AnnotatorTallies::new(); look.studies.len()];
    let mut unsigned = 0;
    let each = |vote: &Vote<'_>| {
        if vote.annotator.is_empty() {
            unsigned += vote.count;
            return Ok(());
        }
        let scores = &look.studies[vote.study].fit.scores;
        let cast = Comparison {
            annotator: Some(names[vote.study].intern(vote.annotator)),
            ..Comparison::new(vote.left, vote.right, vote.y)
        };
        count(&mut tallies[vote.study], scores, cast, sides, vote.flagged, vote.count);
        Ok(())
    };
    look.pass(watch, |progress| {
        second_pass(&look.sources, &look.options, progress, &look.judged(), each)
    })?;
    Ok(Tallied { names, tallies, sides, unsigned })
}

impl Tallied {
    /// What the counts tell of the annotators of each study, the most suspicious first.
    ///
    /// # Errors
    /// If the tests cannot be made.
    pub fn report(&self, watch: &dyn Watch) -> Result<Vec<Vec<AnnotatorRow>>, Failure> {
        if self.unsigned > 0 {
            watch.warn(&format!("{} votes do not say who cast them", thousands(self.unsigned)));
        }
        let studies = self.names.iter().zip(&self.tallies);
        studies.map(|(names, tallies)| rows(tallies, names, self.sides)).collect()
    }
}

/// Counts votes that say the same of one annotator beside the scores; `sides` says whether left and
/// right mean anything.
pub fn count(
    tallies: &mut AnnotatorTallies,
    scores: &[f64],
    vote: Comparison,
    sides: bool,
    flagged: bool,
    votes: u64,
) {
    let Some(annotator) = vote.annotator else { return };
    let difference = scores[vote.left as usize] - scores[vote.right as usize];
    let is_tie = vote.y == 0.0;
    let left_chosen = (sides && !is_tie).then_some(vote.y > 0.0);
    let agrees = (!is_tie && difference != 0.0).then_some((vote.y > 0.0) == (difference > 0.0));
    tallies.add(annotator, left_chosen, agrees, flagged, votes);
}

/// What the counts tell, the most suspicious first.
///
/// # Errors
/// If the tests cannot be made.
pub fn rows(
    tallies: &AnnotatorTallies,
    names: &Labels,
    sides: bool,
) -> Result<Vec<AnnotatorRow>, Failure> {
    let reports = tallies.report(&AnnotatorOptions::default())?;
    Ok(reports.iter().map(|report| row(report, names, sides)).collect())
}

fn row(report: &AnnotatorReport, names: &Labels, sides: bool) -> AnnotatorRow {
    AnnotatorRow {
        annotator: names.name(report.annotator).to_owned(),
        votes: report.tally.votes,
        agreement: report.agreement,
        flagged: report.tally.flagged,
        flagged_share: report.flagged,
        flagged_low: report.flagged_interval.0,
        flagged_high: report.flagged_interval.1,
        flagged_p: report.flagged_p,
        flagged_p_adjusted: report.flagged_p_adjusted,
        left_share: report.left,
        left_p: sides.then_some(report.left_p),
        left_p_adjusted: sides.then_some(report.left_p_adjusted),
    }
}
