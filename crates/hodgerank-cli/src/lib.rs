//! The `hodgerank` program: robust ranking from pairwise votes.
//!
//! A library next to the program, so that `hodgerank-mpi` shares its flags, messages, formatted tables
//! and exit codes.

#![warn(missing_docs, clippy::print_stdout, clippy::print_stderr)]

mod args;
mod commands;
mod failure;
mod flags;
mod output;
mod ranking_table;
mod signals;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use hodgerank_commands::annotators::annotators;
use hodgerank_commands::certify::certify;
use hodgerank_commands::clean::clean;
use hodgerank_commands::compare::compare;
use hodgerank_commands::decompose::decompose;
use hodgerank_commands::diagnose::diagnose;
use hodgerank_commands::outliers::outliers;
use hodgerank_commands::path::path;
use hodgerank_commands::rank::rank;
use hodgerank_commands::report::report;

use args::{Command, ProgramArgs};

pub use failure::RunFailure;
pub use flags::{DocumentCommand, FileCommand, Files, RunOptions};
pub use output::{DocumentOutput, FormattedText, OutputFormat, OutputOptions, Style};
pub use signals::prepare as prepare_for_signals;
pub use terminal::{Terminal, end_parsing};

/// Runs the program with the arguments of the command line.
#[must_use]
pub fn run() -> ExitCode {
    let program = match ProgramArgs::try_parse() {
        Ok(program) => program,
        Err(error) => return terminal::end_parsing(&ProgramArgs::command(), &error),
    };
    let terminal = Terminal::new(program.run.quiet);
    let result = signals::prepare()
        .map_err(RunFailure::Signals)
        .and_then(|()| program.run.start_threads(0))
        .and_then(|threads| run_command(&program, threads, &terminal));
    terminal.end(result)
}

fn run_command(
    program: &ProgramArgs,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), RunFailure> {
    match &program.command {
        Command::Rank(command) => {
            drop(command.run_reading(command.args.against.as_ref(), |votes, args, format| {
                rank(votes, args, format == OutputFormat::Json, threads, terminal)
            })?);
        }
        Command::Certify(command) => {
            drop(command.run(|votes, args, _| certify(votes, args, threads, terminal))?);
        }
        Command::Compare(command) => {
            drop(command.run(|votes, args, _| compare(votes, args, threads, terminal))?);
        }
        Command::Path(command) => {
            drop(command.run(|votes, args, _| path(votes, args, threads, terminal))?);
        }
        Command::Annotators(command) => {
            drop(command.run(|votes, args, _| annotators(votes, args, threads, terminal))?);
        }
        Command::Outliers(command) => {
            drop(command.run(|votes, args, _| outliers(votes, args, threads, terminal))?);
        }
        Command::Predict(command) => {
            commands::predict::run(command, threads, terminal)?;
        }
        Command::Clean(command) => {
            clean(&command.files.votes(), &command.args, threads, terminal)?;
        }
        Command::Decompose(command) => drop(command.run(|votes, args, format| {
            let with_flows = matches!(format, OutputFormat::Csv | OutputFormat::Parquet);
            decompose(votes, args, with_flows, threads, terminal)
        })?),
        Command::Diagnose(command) => {
            let diagnosed =
                command.run(|votes, args, _| diagnose(votes, args, threads, terminal))?;
            if command.args.strict {
                diagnosed.check()?;
            }
        }
        Command::Report(command) => {
            report(&command.files.votes(), &command.args, threads, terminal)?;
        }
        Command::Simulate(command) => commands::simulate::run(command, terminal)?,
        Command::Experiment(args) => commands::experiment::run(args, terminal)?,
        Command::Demo(args) => commands::demo::run(args, terminal)?,
        Command::Completions(args) => commands::completions::run(args)?,
        Command::Man(args) => commands::man::run(args, terminal)?,
    }
    Ok(())
}
