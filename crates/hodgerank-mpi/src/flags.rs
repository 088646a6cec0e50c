//! Flags. Those of a command are those of `hodgerank`; a few are for many machines only.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Command as Clap, CommandFactory, Parser, Subcommand};
use hodgerank_cli::{RankArguments, RunOptions};

use crate::clean::CleanArguments;
use crate::outliers::OutliersArguments;

/// Robust ranking from pairwise votes, over many machines: mpirun -n P hodgerank-mpi rank FILE…
///
/// Each rank reads some of the files (or row groups of Parquet files); no rank holds all votes.
/// Flags and output are those of `hodgerank`.
#[derive(Debug, Parser)]
#[command(name = "hodgerank-mpi", version, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to run.
    #[command(flatten)]
    pub run: RunOptions,
}

/// What can be done by many ranks.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Rank the items of files of votes
    ///
    /// As `hodgerank rank`, with the methods l2, ridge, lbi and hlasso. The JSON has no report on
    /// annotators.
    Rank(Box<SharedRankArguments>),
    /// List votes in order of suspicion, or the annotators who cast them
    ///
    /// As `hodgerank outliers`; each rank lists the rows that it read. The numbers in `order` are
    /// those of all rows together.
    Outliers(Box<OutliersArguments>),
    /// Write the input without its flagged votes, all columns kept
    ///
    /// As `hodgerank clean`; each rank writes the rows that it read.
    Clean(Box<CleanArguments>),
}

/// Flags of `rank`.
#[derive(Debug, Args)]
pub struct SharedRankArguments {
    /// Those of one machine.
    #[command(flatten)]
    pub rank: RankArguments,
    /// Keeping the state.
    #[command(flatten)]
    pub checkpoint: CheckpointOptions,
}

/// Keeping the state of long work, so that a run that was killed can go on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct CheckpointOptions {
    /// Folder that keeps the state of the solver, one file for each rank; removed at the end
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,
    /// How often the state is kept: 90s, 15m, 2h
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_time, requires = "checkpoint")]
    pub every: Duration,
    /// Go on from the state in the folder of --checkpoint; the run must be the same: files, ranks
    /// and options
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

impl Arguments {
    /// The flags, with help that says what is different here.
    #[must_use]
    pub fn clap() -> Clap {
        let command = Self::command().mut_arg("threads", |threads| {
            threads.help(
                "Number of threads of each rank [default: the node's cores, shared by its ranks]",
            )
        });
        command.mut_subcommands(|subcommand| {
            subcommand.mut_arg("method", |method| {
                method.help("How to find the scores: l2, ridge, lbi or hlasso [default: lbi]")
            })
        })
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 90s, 15m or 2h".to_owned();
    let (number, seconds) = match text.char_indices().last() {
        Some((end, 's')) => (&text[..end], 1.0),
        Some((end, 'm')) => (&text[..end], 60.0),
        Some((end, 'h')) => (&text[..end], 3600.0),
        _ => return Err(expected()),
    };
    let number: f64 = number.parse().map_err(|_| expected())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_consistent() {
        Arguments::clap().debug_assert();
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("0.5m"), Ok(Duration::from_secs(30)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_secs(7200)));
        for bad in ["", "s", "60", "-1s", "1 d", "nans"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
