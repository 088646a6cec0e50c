//! `hodgerank outliers`: votes in order of suspicion, or who cast them.

mod draw;

use std::io;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::outliers::{Lists, Outliers, OutliersOptions, outliers};
use hodgerank_io::write::{Listing, ListingRow, Output};

use crate::args::{Files, OutputFormat, OutputOptions};
use crate::failure::Failure;
use crate::table::Style;
use crate::terminal::Terminal;

/// Flags of `outliers`.
#[derive(Debug, Args)]
pub(crate) struct OutliersArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: OutliersOptions,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    arguments: &OutliersArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let output = Output::create(arguments.output.output.as_deref().unwrap_or("-"))?;
    match outliers(&arguments.files.votes(), &arguments.options, threads, terminal)? {
        Outliers::Votes(lists) => write(&lists, format, &arguments.output, output),
        Outliers::Annotators(lists) => write(&lists, format, &arguments.output, output),
    }
}

fn write<R: ListingRow + draw::Draw + Send + Sync>(
    listed: &Lists<R>,
    format: OutputFormat,
    options: &OutputOptions,
    mut output: Output,
) -> Result<(), Failure> {
    let lists = &listed.lists;
    let written: io::Result<()> = match format {
        OutputFormat::Csv => Listing::table(lists).write_csv(&mut output),
        OutputFormat::Parquet => Listing::table(lists).write_parquet(&mut output),
        OutputFormat::Json => listed.write_json(&mut output),
        OutputFormat::Table => {
            let style = Style::here(options);
            lists.iter().try_for_each(|list| draw::write(list, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}
