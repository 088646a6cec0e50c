//! The `hodgerank` program: robust ranking from pairwise votes.

mod args;
mod commands;
mod failure;
mod table;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Arguments, Command};
use terminal::Terminal;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let terminal = Terminal::new(arguments.quiet);
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads.unwrap_or(0));
    let done = threads.build_global().map_err(failure::Failure::from).and_then(|()| {
        let threads = rayon::current_num_threads();
        match &arguments.command {
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
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough (`| head`): that is not an error.
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            terminal.fail(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
