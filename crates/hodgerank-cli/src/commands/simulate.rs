//! `hodgerank simulate`: synthetic studies with known true scores.

use std::io::Write as _;

use clap::Args;
use hodgerank_commands::simulate::{SimulateArgs, SyntheticStudy};
use hodgerank_io::Format;
use hodgerank_io::write::Output;

use crate::failure::RunFailure;
use crate::terminal::{Terminal, thousands};

/// Arguments of `simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateCommand {
    #[command(flatten)]
    study: SimulateArgs,
    #[arg(long, short, value_name = "FILE", help = output_help())]
    output: Option<String>,
    /// Format of the votes [default: by the extension of --output]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File for the true scores (CSV: item,score)
    #[arg(long, value_name = "FILE")]
    truth: Option<String>,
}

pub(crate) fn run(command: &SimulateCommand, terminal: &Terminal) -> Result<(), RunFailure> {
    let study = SyntheticStudy::new(&command.study)?;
    let format = command.format()?;
    let output = Output::create(command.output.as_deref().unwrap_or("-"))?;
    let truth = command.truth.as_deref().map(Output::create).transpose()?;
    if let Some(truth) = truth {
        write_truth(truth, &study.items, study.simulation.truth())?;
    }
    let name = command.output.as_deref().unwrap_or("standard output");
    let (written, bad) = study.write(output, name, format, terminal)?;
    written.finish()?;
    terminal.note(&format!(
        "{} votes on {} items, {} of them bad (seed {})",
        thousands(command.study.votes),
        thousands(command.study.items as u64),
        thousands(bad),
        command.study.seed
    ));
    Ok(())
}

impl SimulateCommand {
    fn format(&self) -> Result<Format, RunFailure> {
        match (self.format, &self.output) {
            (Some(format), _) => Ok(format),
            (None, None) => Ok(Format::Csv),
            (None, Some(path)) => Format::from_file_name(path).ok_or_else(|| {
                RunFailure::usage(
                    format!("{path}: the extension does not determine the format"),
                    format!("use the extension {}, or add --format", Format::writable_extensions()),
                )
            }),
        }
    }
}

fn output_help() -> String {
    format!("File of votes: {} [default: CSV on standard output]", Format::writable_extensions())
}

fn write_truth(mut out: Output, items: &[String], truth: &[f64]) -> Result<(), RunFailure> {
    let mut text = String::from("item,score\n");
    for (item, score) in items.iter().zip(truth) {
        text.push_str(&format!("{item},{score}\n"));
    }
    out.write_all(text.as_bytes()).map_err(|error| out.error(error))?;
    out.finish()?;
    Ok(())
}
