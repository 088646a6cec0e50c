//! `diagnose`: can these votes support a ranking, and can wrong votes be identified?

mod study_diagnosis;

pub use study_diagnosis::{FlaggedSummary, Identifiability, StudyDiagnosis};

use std::io;

use arrow_array::RecordBatch;
use clap::Args;
use hodgerank::diagnose::{self, DiagnoseOptions, Spread};
use hodgerank::identify::{ConditionOptions, IdentifiableOptions};
use hodgerank_io::write::{OfStudy, RejectedSummary};

use crate::annotators;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::MethodOptions;
use crate::two_pass::TwoPass;
use crate::watch::{Watch, Work};

const SCHEMA: &str = "hodgerank/diagnose/1";

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// How the input is read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How votes are flagged.
    #[command(flatten)]
    pub method: MethodOptions,
    /// Standard deviation of the noise of correct votes [default: estimated from the votes that are
    /// not flagged]
    #[arg(long, value_name = "NUMBER", help_heading = "Diagnosis", allow_negative_numbers = true)]
    pub sigma: Option<f64>,
    /// List items with fewer votes than this
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Diagnosis")]
    pub few_votes: u64,
    /// Number of random sets of wrong votes to try for each share [default: 5; 1 above 20,000 pairs]
    #[arg(long, value_name = "N", help_heading = "Diagnosis",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub draws: Option<u32>,
    /// Exit with code 3 if not all items can be ranked together or wrong votes cannot be identified
    #[arg(long, help_heading = "Diagnosis")]
    pub strict: bool,
}

/// The result of `diagnose`: one diagnosis per study.
#[derive(Debug)]
pub struct Diagnosed {
    /// The diagnoses.
    pub studies: Vec<OfStudy<StudyDiagnosis>>,
    /// Rows that were rejected.
    pub rejected: RejectedSummary,
}

/// Examines the design of each study.
///
/// # Errors
/// If an option is out of range, the votes cannot be read, or a solver fails. `--strict` is applied
/// by [`Diagnosed::check`], after the diagnosis was written.
pub fn diagnose(
    votes: &Votes,
    options: &DiagnoseArgs,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Diagnosed, Failure> {
    let fit = options.method.fit_options()?;
    let conditions =
        ConditionOptions { sigma: options.sigma, kappa: fit.kappa, ..Default::default() };
    conditions.validate()?;
    let diagnose_options = DiagnoseOptions {
        few_votes: options.few_votes,
        conditions,
        identifiable: IdentifiableOptions { draws: options.draws, ..Default::default() },
        ..DiagnoseOptions::default()
    };
    let look = TwoPass::new(votes, &options.input, &fit, threads, watch, |_| Ok(()))?;
    let mut per_annotator = votes_per_annotator(&look, watch)?.into_iter();
    let mut studies = Vec::with_capacity(look.studies.len());
    for study in &look.studies {
        let found = watch.watch(Work::Step("diagnosing"), || {
            diagnose::diagnose(&study.graph, &study.fit.flagged, &diagnose_options)
        })??;
        let figures = StudyDiagnosis::new(found, &study.table, &study.items, per_annotator.next());
        studies.push(OfStudy { by: study.table.by.clone(), figures });
    }
    Ok(Diagnosed { studies, rejected: RejectedSummary::from(&look.rejected) })
}

/// Returns the votes per annotator of each study; empty if the input does not name annotators.
fn votes_per_annotator(look: &TwoPass, watch: &dyn Watch) -> Result<Vec<Spread>, Failure> {
    if !look.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let lists = annotators::list(look, watch)?;
    let spread = |list: Vec<_>| {
        let votes = |row: &hodgerank_io::write::AnnotatorRow| row.votes as f64;
        Spread::of(list.iter().map(votes).collect())
    };
    Ok(lists.into_iter().map(spread).collect())
}

impl Diagnosed {
    /// Applies `--strict`.
    ///
    /// # Errors
    /// [`Failure::Unanswerable`] with fitting advice for the first study whose items cannot be ranked
    /// together or whose wrong votes cannot be identified.
    pub fn check(&self) -> Result<(), Failure> {
        for study in &self.studies {
            let verdict = &study.figures.verdict;
            let problem = match (verdict.can_rank, verdict.can_find_outliers) {
                (true, true) => continue,
                (false, _) => "the items cannot all be ranked together",
                (true, false) => "wrong votes cannot be identified",
            };
            let of = study.by.as_ref().map_or(String::new(), |by| format!("{by}: "));
            // Advice on the ranking comes first, on wrong votes last.
            let fitting =
                if verdict.can_rank { verdict.advice.last() } else { verdict.advice.first() };
            let help = fitting.cloned();
            return Err(Failure::Unanswerable {
                problem: format!("{of}{problem}"),
                help: help.unwrap_or_else(|| "see the findings of the diagnosis".to_owned()),
            });
        }
        Ok(())
    }
}

impl Answer for Diagnosed {
    fn write_json(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        OfStudy::write_json(&self.studies, SCHEMA, &self.rejected, &mut out)
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        OfStudy::long_table(&self.studies)?.batch()
    }
}
