//! `hodgerank report`: one HTML file that a study's owner shows to others.

use clap::Args;
use hodgerank_commands::report::{ReportOptions, report};

use crate::failure::Failure;
use crate::flags::Files;
use crate::terminal::Terminal;

/// Flags of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: ReportOptions,
}

pub(crate) fn run(
    arguments: &ReportArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    Ok(report(&arguments.files.votes(), &arguments.options, threads, terminal)?)
}
