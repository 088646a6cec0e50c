//! `hodgerank outliers`: votes in order of suspicion, or who cast them.

mod draw;

use std::io;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::outliers::{Lists, Outliers, OutliersOptions, outliers};
use hodgerank_io::write::{Listing, ListingRow, Output};

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::Style;
use crate::terminal::Terminal;

/// Flags of `outliers`.
#[derive(Debug, Args)]
pub struct OutliersArguments {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// What to list.
    #[command(flatten)]
    pub options: OutliersOptions,
    /// What to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

pub(crate) fn run(
    arguments: &OutliersArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let output = arguments.output.create()?;
    let found = outliers(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    write(&found, format, &arguments.output, output)
}

/// Writes the lists in the form asked for.
///
/// # Errors
/// If writing fails.
pub fn write(
    found: &Outliers,
    format: OutputFormat,
    options: &OutputOptions,
    output: Output,
) -> Result<(), Failure> {
    match found {
        Outliers::Votes(lists) => write_lists(lists, format, options, output),
        Outliers::Annotators(lists) => write_lists(lists, format, options, output),
    }
}

fn write_lists<R: ListingRow + draw::Draw + Send + Sync>(
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
