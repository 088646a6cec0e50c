//! `rank`: votes in, ranking out.

use std::io;

use arrow_array::RecordBatch;
use clap::Args;
use hodgerank::{ComparisonGraph, Labels};
use hodgerank_io::write::{Document, RankTable, RejectedSummary};
use hodgerank_io::{Input, Study};

use crate::annotators;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::input::{InputOptions, Votes};
use crate::method::MethodOptions;
use crate::rank_study::{CountedStudy, RankedStudy, rank_study};
use crate::two_pass::TwoPass;
use crate::watch::Watch;
use crate::words::visible;

/// Options of `rank`.
#[derive(Debug, Args)]
#[command(about = None, long_about = None)]
pub struct RankOptions {
    /// How to read.
    #[command(flatten)]
    pub input: InputOptions,
    /// How to rank.
    #[command(flatten)]
    pub method: MethodOptions,
    /// Fail with exit code 3 when some items cannot be compared with others, even indirectly
    #[arg(long)]
    pub require_connected: bool,
}

/// Rankings, one for each study.
#[derive(Debug)]
pub struct Ranked {
    /// The rankings.
    pub tables: Vec<RankTable>,
    /// Rows that were not counted.
    pub rejected: RejectedSummary,
}

/// Ranks the items. The annotators are looked at only if asked for: that takes a second pass.
///
/// # Errors
/// If an option makes no sense, the votes cannot be read, or a solver fails.
pub fn rank(
    votes: &Votes,
    options: &RankOptions,
    with_annotators: bool,
    threads: usize,
    watch: &dyn Watch,
) -> Result<Ranked, Failure> {
    let fit = options.method.fit_options()?;
    let connected = |study: &Study| {
        let graph = ComparisonGraph::new(study.items.len(), study.groups.clone())?;
        check_connected(&graph, &study.items, study.by.as_deref())
    };
    let check = |input: &Input| match options.require_connected {
        true => input.studies.iter().try_for_each(connected),
        false => Ok(()),
    };
    if with_annotators {
        let look = TwoPass::new(votes, &options.input, &fit, threads, watch, check)?;
        return ranked_with_annotators(look, watch);
    }
    let input = votes.read(&options.input, threads, watch)?;
    check(&input)?;
    let rejected = RejectedSummary::from(&input.rejected);
    let rank = |study| Ok(rank_study(CountedStudy::new(study)?, rejected.rows, &fit, watch)?.table);
    let tables = input.studies.into_iter().map(rank).collect::<Result<_, Failure>>()?;
    Ok(Ranked { tables, rejected })
}

/// The rankings and, where the input says who voted, what a second pass tells of the annotators.
fn ranked_with_annotators(look: TwoPass, watch: &dyn Watch) -> Result<Ranked, Failure> {
    let known = look.tables.iter().any(|table| table.has_annotator);
    let lists = if known { annotators::list(&look, watch)? } else { Vec::new() };
    let mut lists = lists.into_iter();
    let table = |study: RankedStudy| RankTable { annotators: lists.next(), ..study.table };
    let rejected = RejectedSummary::from(&look.rejected);
    Ok(Ranked { tables: look.studies.into_iter().map(table).collect(), rejected })
}

/// Refuses votes that do not connect all items (`--require-connected`).
///
/// # Errors
/// [`Failure::Unanswerable`] that lists the components.
pub fn check_connected(
    graph: &ComparisonGraph,
    items: &Labels,
    by: Option<&str>,
) -> Result<(), Failure> {
    const LISTED: usize = 10;
    const NAMES: usize = 5;
    let components = graph.components();
    if components.len() <= 1 {
        return Ok(());
    }
    let describe = |(c, members): (usize, &[u32])| {
        let names: Vec<String> =
            members.iter().take(NAMES).map(|&i| visible(items.name(i))).collect();
        let more = if members.len() > NAMES { ", …" } else { "" };
        format!("\n  component {} ({} items): {}{more}", c + 1, members.len(), names.join(", "))
    };
    let mut problem = match by {
        Some(by) => format!("{}: ", visible(by)),
        None => String::new(),
    };
    problem.push_str(&format!("the votes fall into {} components:", components.len()));
    problem.extend(components.iter().enumerate().take(LISTED).map(describe));
    if components.len() > LISTED {
        problem.push_str(&format!("\n  … and {} more", components.len() - LISTED));
    }
    let help = "collect votes between the components, or leave --require-connected out to rank \
                each on its own";
    Err(Failure::Unanswerable { problem, help: help.to_owned() })
}

impl Answer for Ranked {
    fn write_json(&self, mut out: &mut dyn io::Write) -> io::Result<()> {
        let (table, groups_by) = match &self.tables[..] {
            [only] if only.by.is_none() => (Some(only), None),
            several => (None, Some(several)),
        };
        let rejected = &self.rejected;
        Document { schema: Document::SCHEMA, table, groups_by, rejected }.write_json(&mut out)
    }

    fn batch(&self) -> io::Result<RecordBatch> {
        RankTable::batch(&self.tables)
    }
}
