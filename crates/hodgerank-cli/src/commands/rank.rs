//! `hodgerank rank`: votes in, ranking out.

use std::io::{self, IsTerminal as _, Write as _};

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::rank::{RankOptions, Ranked, rank};
use hodgerank_io::write::{Output, RankTable};

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::{self, Style};
use crate::terminal::{Terminal, thousands};

/// Flags of `rank`.
#[derive(Debug, Args)]
pub struct RankArguments {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// How to rank.
    #[command(flatten)]
    pub options: RankOptions,
    /// What to write.
    #[command(flatten)]
    pub output: OutputOptions,
}

pub(crate) fn run(
    arguments: &RankArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    // Everything that can be refused is refused before the work.
    let format = arguments.output.format()?;
    let output = arguments.output.create()?;
    let with_annotators = format == OutputFormat::Json;
    let votes = arguments.files.votes();
    let ranked = rank(&votes, &arguments.options, with_annotators, threads, terminal)?;
    write(&ranked, format, &arguments.output, output)
}

/// Writes the tables in the form asked for.
///
/// # Errors
/// If writing fails.
pub fn write(
    ranked: &Ranked,
    format: OutputFormat,
    options: &OutputOptions,
    mut output: Output,
) -> Result<(), Failure> {
    let Ranked { tables, rejected } = ranked;
    let written = match format {
        OutputFormat::Csv => RankTable::write_csv(tables, &mut output),
        OutputFormat::Parquet => {
            let mut bytes = Vec::new();
            RankTable::write_parquet(tables, &mut bytes)
                .and_then(|()| io::Write::write_all(&mut output, &bytes))
        }
        OutputFormat::Json => ranked.write_json(&mut output),
        OutputFormat::Table => {
            let style = Style::here(options);
            let tables =
                tables.iter().try_for_each(|table| table::write(table, style, &mut output));
            tables.and_then(|()| match rejected.rows {
                0 => Ok(()),
                rows => writeln!(output, "{} rows were rejected and not counted", thousands(rows)),
            })
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}

impl Style {
    /// Fits the terminal, or 100 columns without colour where there is none.
    pub(crate) fn here(options: &OutputOptions) -> Self {
        const PAGE: u16 = 100;
        let screen = !options.plain && options.output.is_none() && io::stdout().is_terminal();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|no| !no.is_empty());
        let width = if screen { comfy_table::Table::new().width() } else { None };
        Self { width: width.unwrap_or(PAGE), styled: screen && !no_colour, top: options.top }
    }
}
