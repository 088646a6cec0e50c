//! Flags. One definition serves parsing, `--help` and the documentation.

use clap::{Args, Parser, Subcommand, ValueEnum};
use hodgerank_io::{ColumnNames, Format, OnError, OutcomeAs, ReadOptions};

use crate::commands::{
    clean::CleanOptions, compare::CompareOptions, decompose::DecomposeArguments, demo::DemoOptions,
    diagnose::DiagnoseArguments, experiment::ExperimentArguments, outliers::OutliersOptions,
    path::PathOptions, report::ReportOptions, simulate::SimulateArguments,
};
use crate::failure::Failure;
use crate::method::MethodOptions;

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
    Rank(Box<RankOptions>),
    /// Rank with all methods, side by side
    Compare(Box<CompareOptions>),
    /// List the whole path from trusting every vote to trusting fewer and fewer
    Path(Box<PathOptions>),
    /// List votes in order of suspicion, or the annotators who cast them
    Outliers(Box<OutliersOptions>),
    /// Write the input without its flagged votes, all columns kept
    Clean(Box<CleanOptions>),
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
    Report(Box<ReportOptions>),
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
pub(crate) struct RankOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) method: MethodOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
    /// Fail with exit code 3 when some items cannot be compared with others, even indirectly
    #[arg(long)]
    pub(crate) require_connected: bool,
}

/// What to read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputOptions {
    /// Files of votes, read as one study: .csv, .tsv, .jsonl, .parquet, .arrow, also .gz and .zst;
    /// `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Column of the preferred item (with --loser)
    #[arg(long, value_name = "COLUMN", requires = "loser")]
    winner: Option<String>,
    /// Column of the other item (with --winner)
    #[arg(long, value_name = "COLUMN", requires = "winner", conflicts_with_all = ["left", "right", "outcome"])]
    loser: Option<String>,
    /// Column of the item on the left
    #[arg(long, value_name = "COLUMN", requires = "right")]
    left: Option<String>,
    /// Column of the item on the right
    #[arg(long, value_name = "COLUMN", requires = "left")]
    right: Option<String>,
    /// Column that says who won: a word, an item's label or a number (positive: left preferred)
    #[arg(long, value_name = "COLUMN")]
    outcome: Option<String>,
    /// How to read the outcome, where its column could be understood in several ways
    #[arg(long, value_enum, value_name = "KIND")]
    outcome_as: Option<OutcomeKind>,
    /// Column of who cast the vote
    #[arg(long, value_name = "COLUMN")]
    annotator: Option<String>,
    /// Column of how many times the vote was cast
    #[arg(long, value_name = "COLUMN")]
    count: Option<String>,
    /// Rank each value of this column on its own
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// What the files are, where name and content do not tell
    #[arg(long, value_enum, value_name = "FORMAT")]
    input_format: Option<InputFormat>,
    /// Field separator of CSV files [default: comma; semicolon or tab if the header has no comma]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// What to do with a row that makes no sense
    #[arg(long, value_enum, default_value_t = OnErrorName::Stop, value_name = "WHAT")]
    on_error: OnErrorName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OutcomeKind {
    /// An item's label, else a word, else a number
    Auto,
    /// The label of the preferred item, or a word for a tie
    Label,
    /// left, right, tie, a, b, model_a, model_b, both_bad, draw
    Word,
    /// A number, positive when the left item is preferred
    Number,
    /// 1 when the left item was selected, 0 when the right one was
    Selected,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum InputFormat {
    Csv,
    Tsv,
    Jsonl,
    Parquet,
    Arrow,
}

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Self {
        match format {
            InputFormat::Csv => Self::Csv,
            InputFormat::Tsv => Self::Tsv,
            InputFormat::Jsonl => Self::Jsonl,
            InputFormat::Parquet => Self::Parquet,
            InputFormat::Arrow => Self::Arrow,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnErrorName {
    /// End with an error that names file, line, column and value
    Stop,
    /// Leave the row out, count it and list the first ten
    Skip,
}

impl InputOptions {
    pub(crate) fn read_options(&self, threads: usize) -> ReadOptions {
        ReadOptions {
            columns: ColumnNames {
                winner: self.winner.clone(),
                loser: self.loser.clone(),
                left: self.left.clone(),
                right: self.right.clone(),
                outcome: self.outcome.clone(),
                annotator: self.annotator.clone(),
                count: self.count.clone(),
                by: self.by.clone(),
                outcome_as: self.outcome_as.map(|kind| match kind {
                    OutcomeKind::Auto => OutcomeAs::Auto,
                    OutcomeKind::Label => OutcomeAs::Label,
                    OutcomeKind::Word => OutcomeAs::Word,
                    OutcomeKind::Number => OutcomeAs::Number,
                    OutcomeKind::Selected => OutcomeAs::Selected,
                }),
            },
            format: self.input_format.map(Format::from),
            delimiter: self.delimiter,
            on_error: match self.on_error {
                OnErrorName::Stop => OnError::Stop,
                OnErrorName::Skip => OnError::Skip,
            },
            threads,
        }
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

/// A share of a whole: `5%` or `0.05`.
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&(number * scale)) => Ok(number * scale),
        _ => Err("expected a share from 0 to 1 or from 0% to 100%, such as 5%".to_owned()),
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a whole number from 1 to 1024".to_owned()),
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ if text.len() == 1 && !matches!(text, "\"" | "\n" | "\r") => Ok(text.as_bytes()[0]),
        _ => Err("expected one ASCII character, such as ';', or tab".to_owned()),
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

    #[test]
    fn shares() {
        assert_eq!(parse_share("5%"), Ok(0.05));
        assert_eq!(parse_share("0.25"), Ok(0.25));
        assert!(parse_share("101%").is_err());
        assert!(parse_share("-1").is_err());
        assert!(parse_share("nan").is_err());
        assert!(parse_share("five").is_err());
    }
}
