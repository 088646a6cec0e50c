//! `decompose`: how much of the votes one ranking explains, and where the rest is inconsistent.

mod flow_row;
mod flow_table;
mod study_decomposition;
mod triangle_annotators;

pub use flow_row::FlowRow;
pub use flow_table::flow_table;
pub use study_decomposition::{AnnotatorVotes, BettiSummary, ListedTriangle, StudyDecomposition};

use std::io;

use clap::Args;
use hodgerank::decompose::{self, DecomposeOptions, Decomposition};
use hodgerank::{FitOptions, Method, RankedStudy};
use hodgerank_io::write::Table;

use crate::document::{Document, Figures, UncountedRows, write_studies};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::observer::{Observer, Task};
use crate::provenance::Provenance;
use crate::two_pass::TwoPass;

const SCHEMA: &str = "hodgerank/decompose/1";

/// Arguments of `decompose`.
#[derive(Debug, Args)]
pub struct DecomposeArgs {
    /// How the input is read.
    #[command(flatten)]
    pub input: InputOptions,
    /// Number of cycles of three majorities to list, best supported by votes first
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    pub triangles: usize,
    /// Number of loops to list, strongest first
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Decomposition")]
    pub loops: usize,
    /// Number of items and of pairs to list, most inconsistent first
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Decomposition")]
    pub local: usize,
    /// Maximum number of candidates to check in the search for triangles. Above it, triangles are
    /// counted and listed from a random sample, with a warning; the shares are always exact
    #[arg(long, value_name = "N", default_value_t = DecomposeOptions::default().max_triangles,
          help_heading = "Decomposition")]
    pub max_triangles: u64,
    /// Random seed of that sample
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Decomposition")]
    pub seed: u64,
}

impl ReadsVotes for DecomposeArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// The result of `decompose`: one decomposition per study.
#[derive(Debug)]
pub struct Decomposed {
    /// The decompositions.
    pub studies: Vec<Figures<StudyDecomposition>>,
    /// Rows that were not counted.
    pub uncounted: UncountedRows,
}

/// Splits the votes into their four parts. `with_flows` adds the flows that [`flow_table()`] needs.
///
/// # Errors
/// If an option is out of range, the votes cannot be read, or there are too many triangles.
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
    // The gradient part is the fit of l2.
    let fit = FitOptions::new().method(Method::L2);
    let plan = ReadPlan::new(&options.input, Kept::needed_by(&fit), threads);
    let pass = TwoPass::new(votes, &plan, &fit, observer, |_| Ok(()))?;
    let split = |study: &RankedStudy| -> Result<Decomposition, Failure> {
        let work = || decompose::decompose(&study.graph, &split_options);
        Ok(observer.run(Task::Step("decomposing"), work)??)
    };
    let splits = pass.studies.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    let mut annotators = triangle_annotators::of_triangles(&pass, &splits, observer)?.into_iter();
    let mut studies = Vec::with_capacity(splits.len());
    for (study, split) in pass.studies.iter().zip(&splits) {
        let (graph, items) = (&study.graph, &study.items);
        let mut figures = StudyDecomposition::new(split, study.input, graph, items, options.local);
        if with_flows {
            figures = figures.with_flows(split, graph, items);
        }
        let of_triangles = annotators.next().unwrap_or_default();
        for (triangle, annotators) in figures.triangles.iter_mut().zip(of_triangles) {
            triangle.annotators = annotators;
        }
        if let Some(sampled) = figures.transitivity.sampled {
            observer.warn(&format!(
                "triangles are counted and listed from a sample of {:.1}% of the pairs; the shares \
                 are exact. Raise --max-triangles to use all pairs",
                100.0 * sampled
            ));
        }
        studies.push(Figures { by: study.by.clone(), figures });
    }
    Ok(Decomposed { studies, uncounted: pass.uncounted() })
}

impl Document for Decomposed {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        write_studies(SCHEMA, &self.studies, &[], &self.uncounted, provenance, out)
    }

    fn table(&self) -> io::Result<Table> {
        Ok(flow_table(&self.studies))
    }
}
