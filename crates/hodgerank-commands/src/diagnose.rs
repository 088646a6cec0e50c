//! `diagnose`: can these votes support a ranking, and can bad ones be found?

mod figures;

pub use figures::*;

use std::io;

use clap::Args;
use hodgerank::FitOptions;
use hodgerank::diagnose::{self, DiagnoseOptions, Spread};
use hodgerank::identify::{FindableOptions, IdentifyOptions};
use hodgerank_io::write::Table;

use crate::annotators;
use crate::document::{Document, Figures, RejectedSummary, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, VoteSource};
use crate::observer::{Observer, Task};
use crate::two_pass::TwoPass;

const SCHEMA: &str = "hodgerank/diagnose/1";

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How the suspected votes are found, whose identifiability is examined
    #[command(flatten)]
    pub method: FitOptions,
    /// Standard deviation of honest votes [default: from the trusted votes]
    #[arg(long, value_name = "NUMBER", help_heading = "Diagnosis", allow_negative_numbers = true)]
    pub sigma: Option<f64>,
    /// Items with fewer votes than this are listed
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Diagnosis")]
    pub few_votes: u64,
    /// Random sets of outliers tried for each share [default: 5; 1 above 20,000 pairs]
    #[arg(long, value_name = "N", help_heading = "Diagnosis",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub draws: Option<u32>,
    /// Fail with exit code 3 if not all items can be ranked together, or bad votes cannot be found
    #[arg(long, help_heading = "Diagnosis")]
    pub strict: bool,
}

/// Diagnoses, one for each study.
#[derive(Debug)]
pub struct Diagnosed {
    /// The figures.
    pub studies: Vec<Figures<DiagnosisFigures>>,
    /// Rejected rows.
    pub rejected: RejectedSummary,
}

/// Examines the votes.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or a solver fails. `--strict` is up to
/// [`Diagnosed::check`], so that the diagnosis can be shown before.
pub fn diagnose(
    votes: &VoteSource,
    options: &DiagnoseArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<Diagnosed, Failure> {
    let fit = options.method;
    fit.validate()?;
    let identify = IdentifyOptions { sigma: options.sigma, kappa: fit.kappa, ..Default::default() };
    identify.validate()?;
    let findable = FindableOptions { draws: options.draws, seed: 0, ..FindableOptions::default() };
    let diagnose_options = DiagnoseOptions { few_votes: options.few_votes, identify, findable };
    let look = TwoPass::new(votes, &options.input, &fit, threads, observer, |_| Ok(()))?;
    let mut per_annotator = votes_per_annotator(&look, observer)?.into_iter();
    let mut studies = Vec::with_capacity(look.studies.len());
    for study in &look.studies {
        let found = observer.run(Task::Step("diagnosing"), || {
            diagnose::diagnose(&study.graph, &study.fit.flagged, &diagnose_options)
        })??;
        let (graph, items) = (&study.graph, &study.items);
        let figures = DiagnosisFigures::new(&found, study, graph, items, per_annotator.next());
        studies.push(Figures { by: study.by.clone(), figures });
    }
    Ok(Diagnosed { studies, rejected: RejectedSummary::from(&look.rejected) })
}

/// How evenly the votes of each study are spread over annotators, where the input names them.
fn votes_per_annotator(look: &TwoPass, observer: &dyn Observer) -> Result<Vec<Spread>, Failure> {
    if !look.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let lists = annotators::list(look, observer)?;
    let spread = |list: Vec<_>| {
        let votes = |row: &hodgerank::AnnotatorReport<String>| row.votes as f64;
        Spread::of(list.iter().map(votes).collect())
    };
    Ok(lists.into_iter().map(spread).collect())
}

impl Diagnosed {
    /// `--strict`: refuses the first study that cannot answer.
    ///
    /// # Errors
    /// [`Failure::Unanswerable`] with the advice that fits.
    pub fn check(&self) -> Result<(), Failure> {
        for study in &self.studies {
            let verdict = &study.figures.verdict;
            let problem = match (verdict.can_rank, verdict.can_find_outliers) {
                (true, true) => continue,
                (false, _) => "the items cannot be ranked on one scale",
                (true, false) => "bad votes cannot be told from good ones",
            };
            let of = study.by.as_ref().map_or(String::new(), |by| format!("{by}: "));
            // Advice on the ranking comes first, on bad votes last.
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
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(SCHEMA, &self.studies, &self.rejected, out)
    }

    fn table(&self) -> io::Result<Table> {
        Figures::long_table(&self.studies)
    }
}
