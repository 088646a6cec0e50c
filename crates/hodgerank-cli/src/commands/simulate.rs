//! `hodgerank simulate`: synthetic studies with known true scores.

use std::io::Write as _;

use clap::Args;
use hodgerank_commands::simulate::{SimulateArgs, SyntheticStudy};
use hodgerank_io::Format;
use hodgerank_io::text::visible_name;
use hodgerank_io::write::{Output, Outputs};

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
    let mut outputs = Outputs::new(&[]);
    let output = outputs.claim("--output", command.output.as_deref().unwrap_or("-"))?;
    let truth = command.truth.as_deref().map(|name| outputs.claim("--truth", name)).transpose()?;
    let output = output.open()?;
    let truth = match truth {
        Some(truth) => Some(write_truth(truth.open()?, &study.items, study.simulation.truth())?),
        None => None,
    };
    let name = command.output.as_deref().unwrap_or("standard output");
    let (written, bad) = study.write(output, name, format, terminal)?;
    Output::finish_all([written].into_iter().chain(truth))?;
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
                    format!("{}: the extension does not determine the format", visible_name(path)),
                    format!("use the extension {}, or add --format", Format::writable_extensions()),
                )
            }),
        }
    }
}

fn output_help() -> String {
    format!("File of votes: {} [default: CSV on standard output]", Format::writable_extensions())
}

/// Writes the true scores and returns the output, which is not finished.
fn write_truth(mut out: Output, items: &[String], truth: &[f64]) -> Result<Output, RunFailure> {
    let mut text = String::from("item,score\n");
    for (item, score) in items.iter().zip(truth) {
        text.push_str(&format!("{item},{score}\n"));
    }
    out.write_all(text.as_bytes()).map_err(|error| out.error(error))?;
    Ok(out)
}
