//! Flags that commands and programs share.

use clap::Args;
use hodgerank_commands::{Failure, ReadsVotes, VoteSource};
use hodgerank_io::write::Outputs;

use crate::failure::RunFailure;
use crate::output::{FormattedText, OutputFormat, OutputOptions};
use crate::run::Run;

/// How the program runs.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Number of threads [default: all cores]. Results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads, hide_short_help = true)]
    pub threads: Option<usize>,
    /// No messages and no progress, errors only
    #[arg(long, short, global = true, hide_short_help = true)]
    pub quiet: bool,
}

impl RunOptions {
    /// Starts the thread pool with the requested number of threads, or `default` (0 for all cores),
    /// and returns the number of threads.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn start_threads(&self, default: usize) -> Result<usize, RunFailure> {
        let threads = self.threads.unwrap_or(default);
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        Ok(rayon::current_num_threads())
    }
}

/// The files to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct Files {
    /// Files of votes, or folders, read as one study
    ///
    /// .csv, .tsv, .jsonl, .parquet, .arrow and .xlsx, also .gz and .zst; .db (SQLite), and the folder of a study;
    /// `-` is standard input.
    #[arg(required = true, value_name = "FILE", display_order = 0)]
    files: Vec<String>,
}

impl Files {
    /// The votes in the files.
    #[must_use]
    pub fn votes(&self) -> VoteSource {
        VoteSource::from_names(&self.files)
    }
}

/// Arguments of a command that writes files itself.
#[derive(Debug, Args)]
pub struct FileCommand<A: Args> {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// The command's own arguments.
    #[command(flatten)]
    pub args: A,
}

/// Arguments of a command that returns a document.
#[derive(Debug, Args)]
pub struct DocumentCommand<A: Args> {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// The command's own arguments.
    #[command(flatten)]
    pub args: A,
    /// Where the document is written.
    #[command(flatten)]
    pub output: OutputOptions,
}

impl<A: Args + ReadsVotes> DocumentCommand<A> {
    /// Runs `compute`, writes its document and returns it.
    ///
    /// # Errors
    /// If the output cannot be opened or written, or `compute` fails.
    pub(crate) fn run<D: FormattedText>(
        &self,
        run: &Run<'_>,
        compute: impl FnOnce(&VoteSource, &A, OutputFormat) -> Result<D, Failure>,
    ) -> Result<D, RunFailure> {
        self.run_reading(None, run, compute)
    }

    /// [`DocumentCommand::run`] for a command that reads another file besides the votes.
    ///
    /// # Errors
    /// As [`DocumentCommand::run`].
    pub(crate) fn run_reading<D: FormattedText>(
        &self,
        other_input: Option<&String>,
        run: &Run<'_>,
        compute: impl FnOnce(&VoteSource, &A, OutputFormat) -> Result<D, Failure>,
    ) -> Result<D, RunFailure> {
        let votes = self.files.votes();
        let mut inputs = self.args.input().files(&votes);
        inputs.extend(other_input.cloned());
        let output = self.output.open(&mut Outputs::new(&inputs))?;
        run.record_files(output.names_files());
        let document = compute(&votes, &self.args, output.format)?;
        output.write(&document, &run.provenance::<A>())?;
        Ok(document)
    }
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("expected a whole number from 1 to 1024".to_owned()),
    }
}
