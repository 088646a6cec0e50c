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
mod page;
mod ranking_table;
mod run;
mod signals;
mod terminal;
mod text_table;
mod width;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, FromArgMatches as _};
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

use args::{Command, ProgramArgs, definition};
use run::Run;

pub use failure::RunFailure;
pub use flags::{DocumentCommand, FileCommand, Files, RunOptions};
pub use output::{DocumentOutput, FormattedText, OutputFormat, OutputOptions, Style};
pub use page::Page;
pub use signals::prepare as prepare_for_signals;
pub use terminal::{Terminal, end_parsing};

/// Runs the program with the arguments of the command line.
#[must_use]
pub fn run() -> ExitCode {
    ExitCode::from(run_with(&std::env::args_os().collect::<Vec<_>>()))
}

/// Runs the program with these arguments, of which the first is its name, and returns its exit code.
#[must_use]
pub fn run_with(arguments: &[OsString]) -> u8 {
    let definition = definition();
    let parsed = definition.clone().try_get_matches_from(arguments).and_then(|matches| {
        let program = ProgramArgs::from_arg_matches(&matches)?;
        Ok((matches, program))
    });
    let (matches, program) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return terminal::end_parsing_of(arguments, &definition, &error),
    };
    let terminal = Terminal::new(program.run.quiet);
    let result = signals::prepare()
        .map_err(RunFailure::Signals)
        .and_then(|()| program.run.start_threads(0))
        .and_then(|threads| run_command(&program, &matches, threads, &terminal));
    terminal.exit_code(result)
}

fn run_command(
    program: &ProgramArgs,
    matches: &ArgMatches,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), RunFailure> {
    let run = &Run::new(terminal, matches.subcommand().map_or(matches, |(_, matches)| matches));
    match &program.command {
        Command::Rank(command) => {
            drop(command.run_reading(
                command.args.against.as_ref(),
                run,
                |votes, args, format| rank(votes, args, format == OutputFormat::Json, threads, run),
            )?);
        }
        Command::Certify(command) => {
            drop(command.run(run, |votes, args, _| certify(votes, args, threads, run))?);
        }
        Command::Compare(command) => {
            drop(command.run(run, |votes, args, _| compare(votes, args, threads, run))?);
        }
        Command::Path(command) => {
            drop(command.run(run, |votes, args, _| path(votes, args, threads, run))?);
        }
        Command::Annotators(command) => {
            drop(command.run(run, |votes, args, _| annotators(votes, args, threads, run))?);
        }
        Command::Outliers(command) => {
            drop(command.run(run, |votes, args, _| outliers(votes, args, threads, run))?);
        }
        Command::Predict(command) => {
            commands::predict::run(command, threads, run)?;
        }
        Command::Next(command) => commands::next::run(command, threads, run)?,
        Command::Clean(command) => {
            clean(&command.files.votes(), &command.args, threads, terminal)?;
        }
        Command::Decompose(command) => drop(command.run(run, |votes, args, format| {
            let with_flows = matches!(format, OutputFormat::Csv | OutputFormat::Parquet);
            decompose(votes, args, with_flows, threads, run)
        })?),
        Command::Diagnose(command) => {
            let diagnosed =
                command.run(run, |votes, args, _| diagnose(votes, args, threads, run))?;
            if command.args.strict {
                diagnosed.check()?;
            }
        }
        Command::Report(command) => {
            report(&command.files.votes(), &command.args, threads, terminal)?;
        }
        Command::Sql(args) => commands::sql::run(args)?,
        Command::Study(args) => commands::study::run(args, terminal)?,
        Command::Simulate(command) => commands::simulate::run(command, terminal)?,
        Command::Experiment(args) => commands::experiment::run(args, terminal)?,
        Command::Demo(args) => commands::demo::run(args, terminal)?,
        Command::Completions(args) => commands::completions::run(args)?,
        Command::Man(args) => commands::man::run(args, terminal)?,
    }
    Ok(())
}
