//! `decompose`: where the inconsistency lives.

mod figures;
mod voters;

pub use figures::*;

use std::io;

use clap::Args;
use hodgerank::decompose::{self, DecomposeOptions, Decomposition};
use hodgerank::{FitOptions, Method, RankedStudy};
use hodgerank_io::write::Table;

use crate::document::{Document, Figures, RejectedSummary, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, VoteSource};
use crate::observer::{Observer, Task};
use crate::two_pass::TwoPass;

const SCHEMA: &str = "hodgerank/decompose/1";

/// Arguments of `decompose`.
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
    pub studies: Vec<Figures<DecompositionFigures>>,
    /// Rejected rows.
    pub rejected: RejectedSummary,
}

/// Splits the votes into their four parts; `with_flows` keeps the flows that the table needs.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or there are too many triangles.
pub fn decompose(
    votes: &VoteSource,
    options: &DecomposeArgs,
    with_flows: bool,
    threads: usize,
    observer: &dyn Observer,
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
    let fit = FitOptions::new().method(Method::L2);
    let look = TwoPass::new(votes, &options.input, &fit, threads, observer, |_| Ok(()))?;
    let split = |study: &RankedStudy| -> Result<Decomposition, Failure> {
        let work = || decompose::decompose(&study.graph, &split_options);
        Ok(observer.run(Task::Step("decomposing"), work)??)
    };
    let splits = look.studies.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    let mut voters = voters::behind_triangles(&look, &splits, observer)?.into_iter();
    let mut studies = Vec::with_capacity(splits.len());
    for (study, split) in look.studies.iter().zip(&splits) {
        let (graph, items) = (&study.graph, &study.items);
        let mut figures =
            DecompositionFigures::new(split, study.input, graph, items, options.local);
        if with_flows {
            figures = figures.with_flows(split, graph, items);
        }
        let of_triangles = voters.next().unwrap_or_default();
        for (triangle, annotators) in figures.triangles.iter_mut().zip(of_triangles) {
            triangle.annotators = annotators;
        }
        if let Some(sampled) = figures.transitivity.sampled {
            observer.warn(&format!(
                "triangles are counted and listed from {:.1}% of the pairs; --max-triangles raises \
                 the limit. The shares are exact",
                100.0 * sampled
            ));
        }
        studies.push(Figures { by: study.by.clone(), figures });
    }
    Ok(Decomposed { studies, rejected: RejectedSummary::from(&look.rejected) })
}

impl Document for Decomposed {
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(SCHEMA, &self.studies, &self.rejected, out)
    }

    fn table(&self) -> io::Result<Table> {
        Ok(flow_table(&self.studies))
    }
}
