//! The subcommands. One definition serves parsing, `--help` and the documentation.

use clap::{Parser, Subcommand};

use crate::commands::{
    clean::CleanArguments, compare::CompareArguments, decompose::DecomposeArguments,
    demo::DemoOptions, diagnose::DiagnoseArguments, experiment::ExperimentArguments,
    outliers::OutliersArguments, path::PathArguments, rank::RankArguments, report::ReportArguments,
    simulate::SimulateArguments,
};
use crate::flags::RunOptions;

/// Robust ranking from pairwise votes.
///
/// Votes say that one item is preferred to another: image against image, answer against answer,
/// product against product. hodgerank finds the scores that explain them best.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rank the items of a file of votes
    Rank(Box<RankArguments>),
    /// Rank with all methods, side by side
    Compare(Box<CompareArguments>),
    /// List the whole path from trusting every vote to trusting fewer and fewer
    Path(Box<PathArguments>),
    /// List votes in order of suspicion, or the annotators who cast them
    Outliers(Box<OutliersArguments>),
    /// Write the input without its flagged votes, all columns kept
    Clean(Box<CleanArguments>),
    /// Tell where the inconsistency of the votes lives: in pairs, triangles or longer loops
    ///
    /// docs/theory.md explains the parts.
    Decompose(Box<DecomposeArguments>),
    /// Tell whether the votes can support a ranking, and whether bad ones can be found among them
    ///
    /// docs/theory.md explains the conditions.
    Diagnose(Box<DiagnoseArguments>),
    /// Write a report that people look at: one HTML file with charts, tables and a slider
    ///
    /// docs/report.md explains its parts.
    Report(Box<ReportArguments>),
    /// Make a synthetic study: votes, some of them bad, and the truth behind them
    Simulate(SimulateArguments),
    /// Repeat the paper's experiments: what it claims beside what is found
    ///
    /// docs/experiments.md shows a run.
    Experiment(ExperimentArguments),
    /// Show the main job on a small study with bad annotators
    Demo(DemoOptions),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_are_consistent() {
        Arguments::command().debug_assert();
    }
}
