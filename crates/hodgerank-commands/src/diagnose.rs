//! `diagnose`: can these votes support a ranking, and can wrong votes be identified?

mod study_diagnosis;

pub use study_diagnosis::{FlaggedSummary, Identifiability, StudyDiagnosis};

use std::io;

use clap::Args;
use hodgerank::diagnose::{self, DiagnoseOptions, Spread};
use hodgerank::identify::{ConditionOptions, IdentifiableOptions};
use hodgerank::uncertainty::IntervalEngine;
use hodgerank::{FitOptions, IntervalOptions, RankedStudy};
use hodgerank_io::write::Table;

use crate::annotators;
use crate::document::{Document, Figures, UncountedRows, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::min_votes::ItemOptions;
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;
use crate::two_pass::TwoPass;

const SCHEMA: &str = "hodgerank/diagnose/1";

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// How the input is read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Which items are ranked.
    #[command(flatten)]
    pub kept_items: ItemOptions,
    /// How votes are flagged.
    #[command(flatten)]
    pub method: FitOptions,
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
    /// Probability with which a settled place is certain
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, help_heading = "Diagnosis")]
    pub level: f64,
    /// How uncertainty is estimated: sandwich or none [default: sandwich for l2, hlasso, bt and crowd
    /// with up to 300 items]
    #[arg(long, value_name = "ENGINE", help_heading = "Diagnosis")]
    pub intervals: Option<IntervalEngine>,
    /// Exit with code 3 if not all items can be ranked together or wrong votes cannot be identified
    #[arg(long, help_heading = "Diagnosis")]
    pub strict: bool,
}

impl ReadsVotes for DiagnoseArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// The result of `diagnose`: one diagnosis per study.
#[derive(Debug)]
pub struct Diagnosed {
    /// The diagnoses.
    pub studies: Vec<Figures<StudyDiagnosis>>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// Examines the design of each study.
///
/// # Errors
/// If an option is out of range, the votes cannot be read, or a solver fails. `--strict` is applied
/// by [`Diagnosed::check`], after the diagnosis was written.
pub fn diagnose(
    votes: &VoteSource,
    options: &DiagnoseArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<Diagnosed, Failure> {
    let fit = options.method;
    fit.validate()?;
    let conditions =
        ConditionOptions { sigma: options.sigma, kappa: fit.kappa, ..Default::default() };
    conditions.validate()?;
    let mut intervals = IntervalOptions::default();
    (intervals.level, intervals.intervals) = (options.level, options.intervals);
    intervals.validate()?;
    let diagnose_options = DiagnoseOptions {
        few_votes: options.few_votes,
        conditions,
        identifiable: IdentifiableOptions { draws: options.draws, ..Default::default() },
        ..DiagnoseOptions::default()
    };
    let kept = Kept::needed_by(&fit).with_intervals(&fit, &intervals);
    let plan = ReadPlan::new(&options.input, kept, threads).with_items(options.kept_items);
    let mut pass = TwoPass::new(votes, &plan, &fit, observer, |_| Ok(()))?;
    let mut per_annotator = votes_per_annotator(&pass, observer)?.into_iter();
    let diagnose = |study: RankedStudy| {
        let (study, found) = observer.run(Task::Step("diagnosing"), || {
            let study = study.with_uncertainty(&intervals)?;
            let found = diagnose::diagnose_ranked(&study, &diagnose_options)?;
            Ok::<_, hodgerank::Error>((study, found))
        })??;
        let figures = StudyDiagnosis::new(found, &study, &study.items, per_annotator.next());
        Ok(Figures { by: study.by.clone(), figures })
    };
    let studies = std::mem::take(&mut pass.studies).into_iter().map(diagnose);
    let studies = studies.collect::<Result<_, Failure>>()?;
    Ok(Diagnosed { studies, uncounted: pass.uncounted() })
}

/// Returns the votes per annotator of each study; empty if the input does not name annotators.
fn votes_per_annotator(pass: &TwoPass, observer: &dyn Observer) -> Result<Vec<Spread>, Failure> {
    if !pass.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let lists = annotators::list(pass, observer)?;
    let spread = |list: Vec<_>| {
        let votes = |row: &hodgerank::AnnotatorReport<String>| row.votes as f64;
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

impl Document for Diagnosed {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(SCHEMA, &self.studies, &self.methods(), &self.uncounted, provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.studies.iter().map(|study| study.figures.identifiability.flagged.method.name).collect()
    }

    fn table(&self) -> io::Result<Table> {
        Figures::long_table(&self.studies)
    }
}
