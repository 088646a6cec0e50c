//! `hodgerank diagnose`: can these votes support a ranking, and can bad ones be found?

mod draw;

use clap::Args;
use hodgerank::diagnose::{DiagnoseOptions, Spread, diagnose};
use hodgerank::identify::{FindableOptions, IdentifyOptions};
use hodgerank_io::write::{DiagnosisFigures, OfStudy, Output, RejectedSummary};

use super::annotators;
use super::second_look::SecondLook;
use crate::args::{InputOptions, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::method::MethodOptions;
use crate::table::Style;
use crate::terminal::{Terminal, Work};

const SCHEMA: &str = "hodgerank/diagnose/1";

/// Flags of `diagnose`.
#[derive(Debug, Args)]
pub(crate) struct DiagnoseArguments {
    #[command(flatten)]
    input: InputOptions,
    /// How the suspected votes are found, whose identifiability is examined
    #[command(flatten)]
    method: MethodOptions,
    /// Standard deviation of honest votes [default: from the trusted votes]
    #[arg(long, value_name = "NUMBER", help_heading = "Diagnosis", allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// Items with fewer votes than this are listed
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Diagnosis")]
    few_votes: u64,
    /// Random sets of outliers tried for each share [default: 5; 1 above 20,000 pairs]
    #[arg(long, value_name = "N", help_heading = "Diagnosis",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    draws: Option<u32>,
    /// Fail with exit code 3 if not all items can be ranked together, or bad votes cannot be found
    #[arg(long, help_heading = "Diagnosis")]
    strict: bool,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    options: &DiagnoseArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let fit_options = options.method.fit_options()?;
    let identify =
        IdentifyOptions { sigma: options.sigma, kappa: fit_options.kappa, ..Default::default() };
    identify.validate()?;
    let findable = FindableOptions { draws: options.draws, seed: 0, ..FindableOptions::default() };
    let diagnose_options = DiagnoseOptions { few_votes: options.few_votes, identify, findable };
    let format = options.output.format()?;
    let mut output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;

    let look = SecondLook::new(&options.input, &fit_options, threads, terminal, |_| Ok(()))?;
    let mut per_annotator = votes_per_annotator(&look, terminal)?.into_iter();
    let mut studies = Vec::with_capacity(look.studies.len());
    for study in &look.studies {
        let found = terminal.watch(Work::Step("diagnosing"), || {
            diagnose(&study.graph, &study.fit.flagged, &diagnose_options)
        })?;
        let (graph, items) = (&study.graph, &study.items);
        let figures =
            DiagnosisFigures::new(&found, &study.table, graph, items, per_annotator.next());
        studies.push(OfStudy { by: study.table.by.clone(), figures });
    }
    let rejected = RejectedSummary::from(&look.rejected);
    let written = match format {
        OutputFormat::Json => OfStudy::write_json(&studies, SCHEMA, &rejected, &mut output),
        OutputFormat::Csv => {
            OfStudy::long_table(&studies).and_then(|table| table.write_csv(&mut output))
        }
        OutputFormat::Parquet => {
            OfStudy::long_table(&studies).and_then(|table| table.write_parquet(&mut output))
        }
        OutputFormat::Table => {
            let style = Style::here(&options.output);
            studies.iter().try_for_each(|study| draw::write(study, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    if options.strict { check(&studies) } else { Ok(()) }
}

/// How evenly the votes of each study are spread over annotators, where the input names them.
fn votes_per_annotator(look: &SecondLook, terminal: &Terminal) -> Result<Vec<Spread>, Failure> {
    if !look.tables.iter().any(|table| table.has_annotator) {
        return Ok(Vec::new());
    }
    let lists = annotators::list(look, terminal)?;
    let spread = |list: Vec<_>| {
        let votes = |row: &hodgerank_io::write::AnnotatorRow| row.votes as f64;
        Spread::of(list.iter().map(votes).collect())
    };
    Ok(lists.into_iter().map(spread).collect())
}

/// `--strict`: the first study that cannot answer.
fn check(studies: &[OfStudy<DiagnosisFigures>]) -> Result<(), Failure> {
    for study in studies {
        let verdict = &study.figures.verdict;
        let problem = match (verdict.can_rank, verdict.can_find_outliers) {
            (true, true) => continue,
            (false, _) => "the items cannot be ranked on one scale",
            (true, false) => "bad votes cannot be told from good ones",
        };
        let of = study.by.as_ref().map_or(String::new(), |by| format!("{by}: "));
        // Advice on the ranking comes first, on bad votes last.
        let fitting = if verdict.can_rank { verdict.advice.last() } else { verdict.advice.first() };
        let help = fitting.cloned();
        return Err(Failure::Unanswerable {
            problem: format!("{of}{problem}"),
            help: help.unwrap_or_else(|| "see the findings of the diagnosis".to_owned()),
        });
    }
    Ok(())
}
