//! `outliers`: votes in order of suspicion, or statistics of the annotators.

mod suspects;

pub use suspects::{distinct_votes, votes};

use std::io;

use clap::Args;
use hodgerank::{AnnotatorReport, FitOptions};
use hodgerank_io::write::Table;

use crate::annotators;
use crate::document::{Document, RejectedSummary};
use crate::failure::Failure;
use crate::input::{InputOptions, VoteSource};
use crate::listing::{Listing, Listings, SuspectVote};
use crate::observer::Observer;
use crate::ranked::rank_study;
use crate::two_pass::TwoPass;

/// Arguments of `outliers`.
#[derive(Debug, Args)]
pub struct OutliersArgs {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: FitOptions,
    /// List all votes, not only the flagged ones: first those that were flagged at some point of the
    /// path, then the others by their residuals. Memory grows with the number of votes listed
    #[arg(long)]
    pub all: bool,
    /// List each distinct vote once, with its count; reads the input only once
    #[arg(long)]
    pub per_group: bool,
    /// List the annotators instead: how often they agree with the ranking, are flagged and choose
    /// the left side, with tests whether that can be chance
    #[arg(long, conflicts_with_all = ["all", "per_group"])]
    pub annotators: bool,
}

/// Lists of votes or of annotators.
#[derive(Debug)]
pub enum OutliersDocument {
    /// Votes, or distinct votes.
    Votes(Listings<SuspectVote>),
    /// Annotators.
    Annotators(Listings<AnnotatorReport<String>>),
}

/// Lists votes or annotators.
///
/// # Errors
/// If an option is invalid, the votes cannot be read, or a solver fails.
pub fn outliers(
    source: &VoteSource,
    args: &OutliersArgs,
    threads: usize,
    observer: &dyn Observer,
) -> Result<OutliersDocument, Failure> {
    let options = args.method;
    options.validate()?;
    if args.per_group {
        let input = source.read(&args.input, options.needs_annotators(), threads, observer)?;
        let rejected = RejectedSummary::from(&input.rejected);
        let list = |study| -> Result<_, Failure> {
            let ranked = rank_study(study, rejected.rows, &options, observer)?;
            Ok(distinct_votes(&ranked, args.all))
        };
        let lists = input.studies.into_iter().map(list).collect::<Result<Vec<_>, _>>()?;
        return Ok(OutliersDocument::Votes(Listings { lists, rejected }));
    }
    let pass = TwoPass::new(source, &args.input, &options, threads, observer, |input| {
        if args.annotators { annotators::check(&input.tables) } else { Ok(()) }
    })?;
    let rejected = RejectedSummary::from(&pass.rejected);
    if args.annotators {
        let rows = annotators::list(&pass, observer)?;
        let listed = pass.studies.iter().zip(rows);
        let lists = listed.map(|(study, rows)| Listing::new(study, rows)).collect();
        return Ok(OutliersDocument::Annotators(Listings { lists, rejected }));
    }
    let lists = votes(&pass, args.all, observer)?;
    Ok(OutliersDocument::Votes(Listings { lists, rejected }))
}

impl Document for OutliersDocument {
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Votes(lists) => lists.write_json(out),
            Self::Annotators(lists) => lists.write_json(out),
        }
    }

    fn table(&self) -> io::Result<Table> {
        match self {
            Self::Votes(lists) => lists.table(),
            Self::Annotators(lists) => lists.table(),
        }
    }
}
