//! `outliers`: votes in order of suspicion, or who cast them.

mod suspects;

pub use suspects::{groups, rows};

use std::io;

use arrow_array::RecordBatch;
use clap::Args;
use hodgerank_io::write::{
    AnnotatorRow, Listing, ListingDocument, ListingRow, RejectedSummary, SuspectRow,
};

use crate::annotators;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::MethodOptions;
use crate::rank_study::{CountedStudy, rank_study};
use crate::two_pass::TwoPass;
use crate::watch::Watch;

/// Options of `outliers`.
#[derive(Debug, Args)]
pub struct OutliersOptions {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: MethodOptions,
    /// List all votes, not only the flagged ones: those that were flagged at some time, then the
    /// rest by their residuals. Memory grows with the number of votes listed
    #[arg(long)]
    pub all: bool,
    /// List equal votes once, with their number; reads the input only once
    #[arg(long)]
    pub per_group: bool,
    /// List the annotators instead: how often they agree with the ranking, are flagged and choose
    /// the left side, and whether that can be chance
    #[arg(long, conflicts_with_all = ["all", "per_group"])]
    pub annotators: bool,
}

/// What was asked for.
#[derive(Debug)]
pub enum Outliers {
    /// Votes, or groups of equal ones.
    Votes(Lists<SuspectRow>),
    /// Annotators.
    Annotators(Lists<AnnotatorRow>),
}

/// Lists, one for each study.
#[derive(Debug)]
pub struct Lists<R> {
    /// The lists.
    pub lists: Vec<Listing<R>>,
    /// Name and version of their JSON.
    pub schema: &'static str,
    /// Rows that were not counted.
    pub rejected: RejectedSummary,
}

/// Lists votes or annotators.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, or a solver fails.
pub fn outliers(
    votes: &Votes,
    options: &OutliersOptions,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Outliers, Failure> {
    let fit = options.method.fit_options()?;
    if options.per_group {
        let input = votes.read(&options.input, threads, watch)?;
        let rejected = RejectedSummary::from(&input.rejected);
        let list = |study| -> Result<_, Failure> {
            let judged = rank_study(CountedStudy::new(study)?, rejected.rows, &fit, watch)?;
            Ok(suspects::groups(&judged, options.all))
        };
        let lists = input.studies.into_iter().map(list).collect::<Result<Vec<_>, _>>()?;
        return Ok(Outliers::votes(lists, rejected));
    }
    let look = TwoPass::new(votes, &options.input, &fit, threads, watch, |input| {
        if options.annotators { annotators::check(&input.tables) } else { Ok(()) }
    })?;
    let rejected = RejectedSummary::from(&look.rejected);
    if options.annotators {
        let rows = annotators::list(&look, watch)?;
        let listed = look.studies.iter().zip(rows);
        let lists = listed.map(|(study, rows)| Listing::new(&study.table, rows)).collect();
        return Ok(Outliers::annotators(lists, rejected));
    }
    let lists = suspects::rows(&look, options.all, watch)?;
    Ok(Outliers::votes(lists, rejected))
}

impl Outliers {
    /// Lists of votes, or of groups of equal ones.
    #[must_use]
    pub fn votes(lists: Vec<Listing<SuspectRow>>, rejected: RejectedSummary) -> Self {
        Self::Votes(Lists { lists, schema: suspects::SCHEMA, rejected })
    }

    /// Lists of annotators.
    #[must_use]
    pub fn annotators(lists: Vec<Listing<AnnotatorRow>>, rejected: RejectedSummary) -> Self {
        Self::Annotators(Lists { lists, schema: annotators::SCHEMA, rejected })
    }
}

impl<R: ListingRow + Send + Sync> Answer for Lists<R> {
    fn write_json(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        let (listing, groups_by) = match &self.lists[..] {
            [only] if only.by.is_none() => (Some(only), None),
            several => (None, Some(several)),
        };
        let Self { schema, rejected, .. } = self;
        ListingDocument { schema, listing, groups_by, rejected }.write_json(&mut out)
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        Listing::table(&self.lists).batch()
    }
}

impl Answer for Outliers {
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Votes(lists) => lists.write_json(out),
            Self::Annotators(lists) => lists.write_json(out),
        }
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        match self {
            Self::Votes(lists) => lists.batch(),
            Self::Annotators(lists) => lists.batch(),
        }
    }
}
