//! `hodgerank outliers`: votes in order of suspicion, or who cast them.

mod draw;
mod votes;

use std::io;

use clap::Args;
use hodgerank_io::write::{Listing, ListingDocument, ListingRow, Output, RejectedSummary};

use super::second_look::SecondLook;
use super::{annotators, rank};
use crate::args::{InputOptions, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::method::MethodOptions;
use crate::table::Style;
use crate::terminal::Terminal;

/// Flags of `outliers`.
#[derive(Debug, Args)]
pub(crate) struct OutliersOptions {
    #[command(flatten)]
    input: InputOptions,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    output: OutputOptions,
    /// List all votes, not only the flagged ones: those that were flagged at some time, then the
    /// rest by their residuals. Memory grows with the number of votes listed
    #[arg(long)]
    all: bool,
    /// List equal votes once, with their number; reads the input only once
    #[arg(long)]
    per_group: bool,
    /// List the annotators instead: how often they agree with the ranking, are flagged and choose
    /// the left side, and whether that can be chance
    #[arg(long, conflicts_with_all = ["all", "per_group"])]
    annotators: bool,
}

pub(crate) fn run(
    options: &OutliersOptions,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let fit_options = options.method.fit_options()?;
    let format = options.output.format()?;
    let output = Output::create(options.output.output.as_deref().unwrap_or("-"))?;
    if options.per_group {
        let input = rank::read(&options.input, threads, terminal)?;
        terminal.list_rejected(&input.rejected);
        let rejected = RejectedSummary::from(&input.rejected);
        let list = |study| -> Result<_, Failure> {
            let judged = rank::judge(study, rejected.rows, &fit_options, terminal)?;
            Ok(votes::groups(&judged, options.all))
        };
        let lists = input.studies.into_iter().map(list).collect::<Result<Vec<_>, _>>()?;
        return write(&lists, votes::SCHEMA, &rejected, format, &options.output, output);
    }
    let look = SecondLook::new(&options.input, &fit_options, threads, terminal, |input| {
        if options.annotators { annotators::check(&input.tables) } else { Ok(()) }
    })?;
    let rejected = RejectedSummary::from(&look.rejected);
    if options.annotators {
        let rows = annotators::list(&look, terminal)?;
        let listed = look.studies.iter().zip(rows);
        let lists: Vec<_> = listed.map(|(study, rows)| Listing::new(&study.table, rows)).collect();
        write(&lists, annotators::SCHEMA, &rejected, format, &options.output, output)
    } else {
        let lists = votes::rows(&look, options.all, terminal)?;
        write(&lists, votes::SCHEMA, &rejected, format, &options.output, output)
    }
}

fn write<R: ListingRow + draw::Draw>(
    lists: &[Listing<R>],
    schema: &'static str,
    rejected: &RejectedSummary,
    format: OutputFormat,
    options: &OutputOptions,
    mut output: Output,
) -> Result<(), Failure> {
    let written: io::Result<()> = match format {
        OutputFormat::Csv => Listing::table(lists).write_csv(&mut output),
        OutputFormat::Parquet => Listing::table(lists).write_parquet(&mut output),
        OutputFormat::Json => {
            let (listing, groups_by) = match lists {
                [only] if only.by.is_none() => (Some(only), None),
                several => (None, Some(several)),
            };
            ListingDocument { schema, listing, groups_by, rejected }.write_json(&mut output)
        }
        OutputFormat::Table => {
            let style = Style::here(options);
            lists.iter().try_for_each(|list| draw::write(list, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}
