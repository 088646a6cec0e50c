//! `hodgerank decompose`: where the inconsistency lives.

mod draw;
mod voters;

use clap::Args;
use hodgerank::decompose::{DecomposeOptions, Decomposition, decompose};
use hodgerank::fit::{FitOptions, Method};
use hodgerank_io::write::{DecompositionFigures, OfStudy, Output, RejectedSummary, flow_table};

use super::second_look::SecondLook;
use crate::args::{InputOptions, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::table::Style;
use crate::terminal::{Terminal, Work};

const SCHEMA: &str = "hodgerank/decompose/1";

/// Flags of `decompose`.
#[derive(Debug, Args)]
pub(crate) struct DecomposeArguments {
    #[command(flatten)]
    input: InputOptions,
    /// Worst triangles listed
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    triangles: usize,
    /// Strongest loops listed
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Decomposition")]
    loops: usize,
    /// Most inconsistent items and pairs listed
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    local: usize,
    /// Most places to look at for triangles. Above it triangles are listed and counted from a
    /// sample, which is said; shares never are
    #[arg(long, value_name = "N", default_value_t = DecomposeOptions::default().max_triangles,
          help_heading = "Decomposition")]
    max_triangles: u64,
    /// Seed of that sample
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Decomposition")]
    seed: u64,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    options: &DecomposeArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let decompose_options = DecomposeOptions {
        top_triangles: options.triangles,
        top_loops: options.loops,
        max_triangles: options.max_triangles,
        seed: options.seed,
        ..DecomposeOptions::default()
    };
    decompose_options.validate()?;
    let format = options.output.format()?;
    let mut output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;

    // The first pass of `outliers`, with the method whose flow the gradient part is.
    let fit = FitOptions { method: Some(Method::L2), ..FitOptions::default() };
    let look = SecondLook::new(&options.input, &fit, threads, terminal, |_| Ok(()))?;
    let split = |study: &super::rank::JudgedStudy| -> Result<Decomposition, Failure> {
        let work = || decompose(&study.graph, &decompose_options);
        Ok(terminal.watch(Work::Step("decomposing"), work)?)
    };
    let splits = look.studies.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    let mut voters = voters::behind_triangles(&look, &splits, terminal)?.into_iter();
    let mut studies = Vec::with_capacity(splits.len());
    for (study, split) in look.studies.iter().zip(&splits) {
        let (graph, items) = (&study.graph, &study.items);
        let mut figures =
            DecompositionFigures::new(split, study.table.input, graph, items, options.local);
        if matches!(format, OutputFormat::Csv | OutputFormat::Parquet) {
            figures = figures.with_flows(split, graph, items);
        }
        let of_triangles = voters.next().unwrap_or_default();
        for (triangle, annotators) in figures.triangles.iter_mut().zip(of_triangles) {
            triangle.annotators = annotators;
        }
        if let Some(sampled) = figures.transitivity.sampled {
            terminal.warn(&format!(
                "triangles are counted and listed from {:.1}% of the pairs; --max-triangles raises \
                 the limit. The shares are exact",
                100.0 * sampled
            ));
        }
        studies.push(OfStudy { by: study.table.by.clone(), figures });
    }
    let written = match format {
        OutputFormat::Json => {
            let rejected = RejectedSummary::from(&look.rejected);
            OfStudy::write_json(&studies, SCHEMA, &rejected, &mut output)
        }
        OutputFormat::Csv => flow_table(&studies).write_csv(&mut output),
        OutputFormat::Parquet => flow_table(&studies).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&options.output);
            studies.iter().try_for_each(|study| draw::write(study, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}
