//! The commands. Their flags are those of `hodgerank`, with a few for several machines only.

mod clean;
mod method;
mod outliers;
mod rank;

pub use clean::MpiCleanArgs;
pub use outliers::MpiOutliersArgs;
pub use rank::MpiRankArgs;

use clap::{Command as Clap, CommandFactory as _, Parser, Subcommand};
use hodgerank_cli::RunOptions;

use crate::checkpoint::Fingerprint;
use crate::comm::CollectiveError;
use crate::session::Session;

/// Robust ranking from pairwise votes, over several machines: mpirun -n P hodgerank-mpi rank FILE…
///
/// Each process reads some of the files (or row groups of Parquet files); no process holds all
/// votes. Flags and output are those of `hodgerank`.
#[derive(Debug, Parser)]
#[command(name = "hodgerank-mpi", version, propagate_version = true, max_term_width = 100)]
pub struct MpiArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: MpiCommand,
    /// How to run.
    #[command(flatten)]
    pub run: RunOptions,
}

/// The commands that can be distributed.
#[derive(Debug, Subcommand)]
pub enum MpiCommand {
    /// Rank the items of files of votes
    ///
    /// As `hodgerank rank`, with the methods that --method lists. The JSON lists annotators only if the
    /// method judges them (crowd).
    Rank(Box<MpiRankArgs>),
    /// List votes in order of suspicion
    ///
    /// As `hodgerank outliers`; each process lists the rows that it read. The numbers in `order`
    /// are those of all rows together.
    Outliers(Box<MpiOutliersArgs>),
    /// Write the input without its flagged votes, with all columns
    ///
    /// As `hodgerank clean`; each process writes the rows that it read.
    Clean(Box<MpiCleanArgs>),
}

impl MpiArgs {
    /// Returns the definition of the flags, with the help of those that differ from `hodgerank`'s.
    #[must_use]
    pub fn clap() -> Clap {
        let command = Self::command().mut_arg("threads", |threads| {
            threads.help(
                "Number of threads of each process [default: the node's cores divided by its \
                 processes]",
            )
        });
        command.mut_subcommands(|subcommand| {
            subcommand.mut_arg("method", |argument| argument.help(method::help()))
        })
    }
}

impl MpiCommand {
    /// Runs the command. Collective.
    ///
    /// # Errors
    /// If any process fails; all then return an error.
    pub fn run(self, session: &Session, fingerprint: Fingerprint) -> Result<(), CollectiveError> {
        match self {
            Self::Rank(args) => rank::run(session, *args, fingerprint),
            Self::Outliers(args) => outliers::run(session, &args, fingerprint),
            Self::Clean(args) => clean::run(session, &args, fingerprint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_consistent() {
        MpiArgs::clap().debug_assert();
    }
}
