//! The `hodgerank` program: robust ranking from pairwise votes.
//!
//! A library beside the program, so that other programs have the same flags, messages, tables for
//! eyes and exit codes: what is public here is what `hodgerank-mpi` shares.

mod args;
mod commands;
mod failure;
mod flags;
mod table;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};

pub use commands::clean::CleanArguments;
pub use commands::outliers::{OutliersArguments, write as write_outliers};
pub use commands::rank::{RankArguments, write as write_ranking};
pub use failure::Failure;
pub use flags::{Files, OutputFormat, OutputOptions, RunOptions};
pub use terminal::Terminal;

/// Runs the program with the words of the command line.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.run.quiet);
    let done = arguments.run.start_threads(0).and_then(|threads| match &arguments.command {
        Command::Rank(options) => commands::rank::run(options, threads, &terminal),
        Command::Compare(options) => commands::compare::run(options, threads, &terminal),
        Command::Path(options) => commands::path::run(options, threads, &terminal),
        Command::Outliers(options) => commands::outliers::run(options, threads, &terminal),
        Command::Clean(options) => commands::clean::run(options, threads, &terminal),
        Command::Decompose(options) => commands::decompose::run(options, threads, &terminal),
        Command::Diagnose(options) => commands::diagnose::run(options, threads, &terminal),
        Command::Report(options) => commands::report::run(options, threads, &terminal),
        Command::Simulate(options) => commands::simulate::run(options, &terminal),
        Command::Experiment(options) => commands::experiment::run(options, &terminal),
        Command::Demo(options) => commands::demo::run(options, &terminal),
    });
    terminal.end(done)
}
