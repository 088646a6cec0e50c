//! Flags. One definition serves parsing, `--help` and the documentation.

use clap::{Args, Parser, Subcommand, ValueEnum};
use hodgerank_commands::Votes;
use hodgerank_commands::rank::RankOptions;

use crate::commands::{
    clean::CleanArguments, compare::CompareArguments, decompose::DecomposeArguments,
    demo::DemoOptions, diagnose::DiagnoseArguments, experiment::ExperimentArguments,
    outliers::OutliersArguments, path::PathArguments, report::ReportArguments,
    simulate::SimulateArguments,
};
use crate::failure::Failure;

/// Robust ranking from pairwise votes.
///
/// Votes say that one item is preferred to another: image against image, answer against answer,
/// product against product. hodgerank finds the scores that explain them best.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Number of threads [default: all cores]. Results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
    /// No messages and no progress, errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
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

/// Flags of `rank`.
#[derive(Debug, Args)]
pub(crate) struct RankArguments {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) options: RankOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// The files to read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Files {
    /// Files of votes, read as one study: .csv, .tsv, .jsonl, .parquet, .arrow, also .gz and .zst;
    /// `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Files {
    pub(crate) fn votes(&self) -> Votes {
        Votes::Files(self.files.clone())
    }
}

/// Where results go, and as what.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    /// Form of the result [default: by the ending of --output, else table]
    #[arg(long, value_enum)]
    format: Option<OutputFormat>,
    /// File to write; it appears whole or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Rows shown in a table, 0 for all; other formats always have all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) top: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For eyes
    Table,
    /// Comma-separated values
    Csv,
    /// One JSON document
    Json,
    /// Apache Parquet
    Parquet,
}

impl OutputOptions {
    pub(crate) fn format(&self) -> Result<OutputFormat, Failure> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = &self.output else { return Ok(OutputFormat::Table) };
        let lower = path.to_ascii_lowercase();
        let stem = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
        match std::path::Path::new(stem).extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(OutputFormat::Csv),
            Some("json") => Ok(OutputFormat::Json),
            Some("parquet") => Ok(OutputFormat::Parquet),
            Some("txt") => Ok(OutputFormat::Table),
            _ => Err(Failure::usage(
                format!("{path}: the ending does not say what to write"),
                "end the name in .csv, .json, .parquet or .txt, or add --format \
                 table|csv|json|parquet",
            )),
        }
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a whole number from 1 to 1024".to_owned()),
    }
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
