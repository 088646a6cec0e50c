//! `decompose`: where the inconsistency lives.

mod voters;

use std::io;

use arrow_array::RecordBatch;
use clap::Args;
use hodgerank::decompose::{self, DecomposeOptions, Decomposition};
use hodgerank::fit::{FitOptions, Method};
use hodgerank_io::write::{DecompositionFigures, OfStudy, RejectedSummary, flow_table};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::rank_study::RankedStudy;
use crate::two_pass::TwoPass;
use crate::watch::{Watch, Work};

const SCHEMA: &str = "hodgerank/decompose/1";

/// Options of `decompose`.
#[derive(Debug, Args)]
pub struct DecomposeArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Worst triangles listed
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    pub triangles: usize,
    /// Strongest loops listed
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Decomposition")]
    pub loops: usize,
    /// Most inconsistent items and pairs listed
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    pub local: usize,
    /// Most places to look at for triangles. Above it triangles are listed and counted from a
    /// sample, which is said; shares never are
    #[arg(long, value_name = "N", default_value_t = DecomposeOptions::default().max_triangles,
          help_heading = "Decomposition")]
    pub max_triangles: u64,
    /// Seed of that sample
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Decomposition")]
    pub seed: u64,
}

/// Decompositions, one for each study.
#[derive(Debug)]
pub struct Decomposed {
    /// The figures.
    pub studies: Vec<OfStudy<DecompositionFigures>>,
    /// Rows that were not counted.
    pub rejected: RejectedSummary,
}

/// Splits the votes into their four parts; `with_flows` keeps the flows that the table needs.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, or there are too many triangles.
pub fn decompose(
    votes: &Votes,
    options: &DecomposeArgs,
    with_flows: bool,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Decomposed, Failure> {
    let split_options = DecomposeOptions {
        top_triangles: options.triangles,
        top_loops: options.loops,
        max_triangles: options.max_triangles,
        seed: options.seed,
        ..DecomposeOptions::default()
    };
    split_options.validate()?;
    // The first pass of `outliers`, with the method whose flow the gradient part is.
    let fit = FitOptions { method: Some(Method::L2), ..FitOptions::default() };
    let look = TwoPass::new(votes, &options.input, &fit, threads, watch, |_| Ok(()))?;
    let split = |study: &RankedStudy| -> Result<Decomposition, Failure> {
        let work = || decompose::decompose(&study.graph, &split_options);
        Ok(watch.watch(Work::Step("decomposing"), work)??)
    };
    let splits = look.studies.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    let mut voters = voters::behind_triangles(&look, &splits, watch)?.into_iter();
    let mut studies = Vec::with_capacity(splits.len());
    for (study, split) in look.studies.iter().zip(&splits) {
        let (graph, items) = (&study.graph, &study.items);
        let mut figures =
            DecompositionFigures::new(split, study.table.input, graph, items, options.local);
        if with_flows {
            figures = figures.with_flows(split, graph, items);
        }
        let of_triangles = voters.next().unwrap_or_default();
        for (triangle, annotators) in figures.triangles.iter_mut().zip(of_triangles) {
            triangle.annotators = annotators;
        }
        if let Some(sampled) = figures.transitivity.sampled {
            watch.warn(&format!(
                "triangles are counted and listed from {:.1}% of the pairs; --max-triangles raises \
                 the limit. The shares are exact",
                100.0 * sampled
            ));
        }
        studies.push(OfStudy { by: study.table.by.clone(), figures });
    }
    Ok(Decomposed { studies, rejected: RejectedSummary::from(&look.rejected) })
}

impl Answer for Decomposed {
    fn write_json(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        OfStudy::write_json(&self.studies, SCHEMA, &self.rejected, &mut out)
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        flow_table(&self.studies).batch()
    }
}
