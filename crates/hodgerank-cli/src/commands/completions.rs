//! `hodgerank completions SHELL`: what a shell needs to complete commands and flags.

use std::io::Write as _;

use clap::Args;
use clap_complete::{Shell, generate};
use hodgerank_io::write::Outputs;

use crate::args::definition;
use crate::failure::RunFailure;

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Writes the completions to standard output.
pub(crate) fn run(args: &CompletionsArgs) -> Result<(), RunFailure> {
    let mut script = Vec::new();
    generate(args.shell, &mut definition(), "hodgerank", &mut script);
    let mut output = Outputs::new(&[]).standard()?;
    output.write_all(&script).map_err(|error| output.error(error))?;
    Ok(output.finish()?)
}
