//! `hodgerank clean`: the input without its flagged votes.

use clap::Args;
use hodgerank_commands::clean::{CleanOptions, clean};

use crate::args::Files;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Flags of `clean`.
#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    options: CleanOptions,
}

pub(crate) fn run(
    arguments: &CleanArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    clean(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    Ok(())
}
