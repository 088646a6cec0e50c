//! `hodgerank clean`: the input without its flagged votes.

use clap::Args;
use hodgerank_commands::clean::{CleanOptions, clean};

use crate::failure::Failure;
use crate::flags::Files;
use crate::terminal::Terminal;

/// Flags of `clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// How to clean.
    #[command(flatten)]
    pub options: CleanOptions,
}

pub(crate) fn run(
    arguments: &CleanArguments,
    threads: usize,
    terminal: &Terminal,
) -> Result<(), Failure> {
    clean(&arguments.files.votes(), &arguments.options, threads, terminal)?;
    Ok(())
}
