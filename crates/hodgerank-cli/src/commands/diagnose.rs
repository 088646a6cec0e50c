//! `hodgerank diagnose`: can these votes support a ranking, and can wrong votes be identified?

mod draw;

use clap::Args;
use hodgerank_commands::Answer as _;
use hodgerank_commands::diagnose::{DiagnoseArgs, diagnose};
use hodgerank_io::write::OfStudy;

use crate::failure::Failure;
use crate::flags::{Files, OutputFormat, OutputOptions};
use crate::table::Style;
use crate::terminal::Terminal;

/// Command-line arguments of `diagnose`.
#[derive(Debug, Args)]
pub(crate) struct DiagnoseArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: DiagnoseArgs,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(
    arguments: &DiagnoseArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let format = arguments.output.format()?;
    let mut output = arguments.output.create()?;
    let diagnosed = diagnose(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    let studies = &diagnosed.studies;
    let written = match format {
        OutputFormat::Json => diagnosed.write_json(&mut output),
        OutputFormat::Csv => {
            OfStudy::long_table(studies).and_then(|table| table.write_csv(&mut output))
        }
        OutputFormat::Parquet => {
            OfStudy::long_table(studies).and_then(|table| table.write_parquet(&mut output))
        }
        OutputFormat::Table => {
            let style = Style::here(&arguments.output);
            studies.iter().try_for_each(|study| draw::write(study, style, &mut output))
        }
    };
    written.map_err(|error| output.error(error))?;
    output.finish()?;
    if arguments.options.strict { Ok(diagnosed.check()?) } else { Ok(()) }
}
