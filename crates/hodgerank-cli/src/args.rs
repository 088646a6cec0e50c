//! The commands. One definition serves parsing, `--help` and the documentation.

use clap::{Parser, Subcommand};
use hodgerank_commands::annotators::AnnotatorsArgs;
use hodgerank_commands::certify::CertifyArgs;
use hodgerank_commands::clean::CleanArgs;
use hodgerank_commands::compare::CompareArgs;
use hodgerank_commands::decompose::DecomposeArgs;
use hodgerank_commands::diagnose::DiagnoseArgs;
use hodgerank_commands::outliers::OutliersArgs;
use hodgerank_commands::path::PathArgs;
use hodgerank_commands::predict::PredictArgs;
use hodgerank_commands::rank::RankArgs;
use hodgerank_commands::report::ReportArgs;

use crate::commands::completions::CompletionsArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::experiment::ExperimentArgs;
use crate::commands::man::ManArgs;
use crate::commands::simulate::SimulateCommand;
use crate::flags::{DocumentCommand, FileCommand, RunOptions};

/// Robust ranking from pairwise votes.
///
/// Votes say that one item is preferred to another: image against image, answer against answer,
/// product against product. hodgerank computes the scores that explain them best and flags the votes
/// that contradict all others.
#[derive(Debug, Parser)]
#[command(name = "hodgerank", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct ProgramArgs {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Rank the items of a file of votes
    Rank(Box<DocumentCommand<RankArgs>>),
    /// Find how few votes, or annotators, must be removed for the result to change
    ///
    /// docs/certify.md explains what is proven.
    Certify(Box<DocumentCommand<CertifyArgs>>),
    /// Compare the rankings of several methods
    Compare(Box<DocumentCommand<CompareArgs>>),
    /// List the path of a robust method: scores and flagged votes as more and more votes are flagged
    Path(Box<DocumentCommand<PathArgs>>),
    /// List votes in order of suspicion
    Outliers(Box<DocumentCommand<OutliersArgs>>),
    /// List the annotators: who is careful, careless, contrary, one-sided or random
    Annotators(Box<DocumentCommand<AnnotatorsArgs>>),
    /// Predict which of two items is preferred, and evaluate predictions on held-out votes
    ///
    /// docs/predict.md explains the columns and measures.
    Predict(Box<DocumentCommand<PredictArgs>>),
    /// Write the input without its flagged votes, with all columns
    Clean(Box<FileCommand<CleanArgs>>),
    /// Show where votes contradict each other: within pairs, in triangles or in longer loops
    ///
    /// docs/theory.md explains the parts.
    Decompose(Box<DocumentCommand<DecomposeArgs>>),
    /// Check whether the votes can support a ranking and whether bad votes can be found among them
    ///
    /// docs/theory.md explains the conditions.
    Diagnose(Box<DocumentCommand<DiagnoseArgs>>),
    /// Write a report: one HTML file with charts, tables and a slider
    ///
    /// docs/report.md explains its parts.
    Report(Box<FileCommand<ReportArgs>>),
    /// Generate a synthetic study: votes, some of them bad, and the true scores
    Simulate(SimulateCommand),
    /// Repeat the paper's experiments and compare the results with its claims
    ///
    /// docs/experiments.md shows a run.
    Experiment(ExperimentArgs),
    /// Rank a small synthetic study with bad annotators
    Demo(DemoArgs),
    /// Print completions of commands and flags for a shell
    ///
    /// For bash: hodgerank completions bash > ~/.local/share/bash-completion/completions/hodgerank
    Completions(CompletionsArgs),
    /// Write manual pages to a folder
    ///
    /// hodgerank man ~/.local/share/man/man1 lets `man hodgerank-rank` find them.
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_are_consistent() {
        ProgramArgs::command().debug_assert();
    }
}
