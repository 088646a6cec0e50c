//! `outliers`: votes in order of suspicion.

mod suspects;

pub use suspects::{distinct_votes, votes};

use std::io;

use clap::Args;
use hodgerank::FitOptions;
use hodgerank_io::Input;
use hodgerank_io::read::KeptColumns;
use hodgerank_io::write::{Column, Table};

use crate::document::{Document, UncountedRows};
use crate::failure::Failure;
use crate::input::{InputOptions, Kept, ReadPlan, ReadsVotes, VoteSource};
use crate::listing::{Listings, SuspectVote};
use crate::observer::Observer;
use crate::provenance::Provenance;
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
    /// Columns of the input to list with each vote, such as an identifier or a time
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', conflicts_with = "per_group")]
    pub keep: Vec<String>,
}

impl ReadsVotes for OutliersArgs {
    fn input(&self) -> &InputOptions {
        &self.input
    }
}

/// Votes, or distinct votes, in order of suspicion.
#[derive(Debug)]
pub struct OutliersDocument {
    /// The votes of each study.
    pub votes: Listings<SuspectVote>,
    /// Columns of the input that are listed with them.
    pub keep: Vec<String>,
}

/// Lists votes, or distinct votes.
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
    let plan = ReadPlan::new(&args.input, Kept::needed_by(&options), threads);
    if args.per_group {
        let input = source.read(&plan, observer)?;
        let uncounted = UncountedRows::from(&input);
        let list = |study| -> Result<_, Failure> {
            let ranked = rank_study(study, uncounted.rejected.rows, &options, observer)?;
            Ok(distinct_votes(&ranked, args.all))
        };
        let lists = input.studies.into_iter().map(list).collect::<Result<Vec<_>, _>>()?;
        let votes = Listings { lists, uncounted };
        return Ok(OutliersDocument { votes, keep: Vec::new() });
    }
    let check = |input: &Input| Ok(KeptColumns::new(&input.tables, &args.keep).map(drop)?);
    let pass = TwoPass::new(source, &plan, &options, observer, check)?;
    let lists = votes(&pass, args.all, &args.keep, observer)?;
    let votes = Listings { lists, uncounted: pass.uncounted() };
    Ok(OutliersDocument { votes, keep: args.keep.clone() })
}

impl Document for OutliersDocument {
    fn write_json(&self, provenance: &Provenance, out: &mut dyn io::Write) -> io::Result<()> {
        self.votes.write_json(provenance, out)
    }

    fn methods(&self) -> Vec<&str> {
        self.votes.methods()
    }

    fn table(&self) -> io::Result<Table> {
        let mut table = self.votes.table()?;
        for name in &self.keep {
            let rows = self.votes.lists.iter().flat_map(|list| &list.rows);
            let value = |row: &SuspectVote| row.columns.as_ref()?.get(name)?.clone();
            let values = Column::Text(rows.map(value).collect());
            // The list has columns of its own, such as `order`.
            let is_used = table.has(name);
            table.push(&if is_used { format!("input_{name}") } else { name.clone() }, values);
        }
        Ok(table)
    }
}
