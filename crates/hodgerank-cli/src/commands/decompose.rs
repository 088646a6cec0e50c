//! `hodgerank decompose`: how much of the votes one ranking explains, and where the rest is
//! inconsistent.

mod draw;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::decompose::{DecomposeArgs, decompose, flow_table};

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::Style;
use crate::terminal::Terminal;

/// Command-line arguments of `decompose`.
#[derive(Debug, Args)]
pub(crate) struct DecomposeArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: DecomposeArgs,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    arguments: &DecomposeArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let mut output = arguments.output.create()?;
    let with_flows = matches!(format, OutputFormat::Csv | OutputFormat::Parquet);
    let votes = arguments.files.votes();
    let decomposed = decompose(&votes, &arguments.options, with_flows, threads, terminal)?;
    let studies = &decomposed.studies;
    let written = match format {
        OutputFormat::Json => decomposed.write_json(&mut output),
        OutputFormat::Csv => flow_table(studies).write_csv(&mut output),
        OutputFormat::Parquet => flow_table(studies).write_parquet(&mut output),
        OutputFormat::Table => {
            let style = Style::here(&arguments.output);
            studies.iter().try_for_each(|study| draw::write(study, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    Ok(())
}
