//! Flags that subcommands and programs share.

use clap::{Args, ValueEnum};
use hodgerank_commands::Votes;
use hodgerank_io::write::Output;

use crate::failure::Failure;

/// How a program runs.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Number of threads [default: all cores]. Results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// No messages and no progress, errors only
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

impl RunOptions {
    /// Starts the threads, as many as asked for, else `default` (0 for all cores); says how many.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn start_threads(&self, default: usize) -> Result<usize, Failure> {
        let threads = self.threads.unwrap_or(default);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        Ok(rayon::current_num_threads())
    }
}

/// The files to read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct Files {
    /// Files of votes, read as one study: .csv, .tsv, .jsonl, .parquet, .arrow, also .gz and .zst;
    /// `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Files {
    /// The votes in them.
    #[must_use]
    pub fn votes(&self) -> Votes {
        Votes::Files(self.files.clone())
    }
}

/// Where results go, and as what.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Form of the result [default: by the ending of --output, else table]
    #[arg(long, value_enum)]
    pub format: Option<OutputFormat>,
    /// File to write; it appears whole or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Rows shown in a table, 0 for all; other formats always have all
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub top: usize,
    /// Plain text even where standard output looks like a terminal; not a flag.
    #[arg(skip)]
    pub plain: bool,
}

/// What a result can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
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
    /// What to write.
    ///
    /// # Errors
    /// If neither the flag nor the name of the output tells.
    pub fn format(&self) -> Result<OutputFormat, Failure> {
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

    /// Opens the output.
    ///
    /// # Errors
    /// If it cannot be written to.
    pub fn create(&self) -> Result<Output, Failure> {
        Ok(Output::create(self.output.as_deref().unwrap_or("-"))?)
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a whole number from 1 to 1024".to_owned()),
    }
}
