//! Where votes come from, and how they are read.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use hodgerank_io::read::{MemoryTable, Progress};
use hodgerank_io::{ColumnNames, Format, Input, OnError, OutcomeAs, ReadOptions, Sources};

use crate::failure::Failure;
use crate::observer::{Observer, Task};
use crate::places;

/// Votes to read.
#[derive(Debug, Clone)]
pub enum VoteSource {
    /// Files, read as one study; `-` is standard input.
    Files(Vec<String>),
    /// A table in memory.
    Table(Arc<MemoryTable>),
}

impl VoteSource {
    /// The files; none where the votes are in memory.
    #[must_use]
    pub fn files(&self) -> &[String] {
        match self {
            Self::Files(files) => files,
            Self::Table(_) => &[],
        }
    }

    /// Bytes to read, as far as that is known.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |file: &String| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        self.files().iter().map(size).sum()
    }

    /// To be read once.
    pub(crate) fn once(&self, observer: &dyn Observer) -> Result<Sources, Failure> {
        places::check_inputs(self.files(), observer)?;
        Ok(match self {
            Self::Files(files) => Sources::once(files),
            Self::Table(table) => Sources::table(table),
        })
    }

    /// To be read more than once.
    pub(crate) fn again(&self, observer: &dyn Observer) -> Result<Sources, Failure> {
        places::check_inputs(self.files(), observer)?;
        Ok(match self {
            Self::Files(files) => Sources::again(files)?,
            Self::Table(table) => Sources::table(table),
        })
    }

    /// Reads the votes once.
    pub(crate) fn read(
        &self,
        options: &InputOptions,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Input, Failure> {
        let sources = self.once(observer)?;
        let progress = Arc::new(Progress::default());
        let reading = Task::Reading(self.bytes(), &progress);
        let read_options = options.read_options(threads);
        let input = observer.run(reading, || sources.read(&read_options, &progress))??;
        observer.list_rejected(&input.rejected);
        Ok(input)
    }
}

/// What to read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputOptions {
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
    /// How to read the outcome if the flag is not given; not a flag.
    #[arg(skip)]
    outcome_default: Option<OutcomeAs>,
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

/// What a file of votes can be.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum InputFormat {
    /// Fields separated by commas
    Csv,
    /// Fields separated by tabs
    Tsv,
    /// One JSON object a line
    Jsonl,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow, file or stream
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
    /// Sets how to read the outcome unless `--outcome-as` is given.
    pub fn default_outcome_as(&mut self, how: OutcomeAs) {
        self.outcome_default = self.outcome_default.or(Some(how));
    }

    /// How to read, with this many threads.
    #[must_use]
    pub fn read_options(&self, threads: usize) -> ReadOptions {
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
                outcome_as: self
                    .outcome_as
                    .map(|kind| match kind {
                        OutcomeKind::Auto => OutcomeAs::Auto,
                        OutcomeKind::Label => OutcomeAs::Label,
                        OutcomeKind::Word => OutcomeAs::Word,
                        OutcomeKind::Number => OutcomeAs::Number,
                        OutcomeKind::Selected => OutcomeAs::Selected,
                    })
                    .or(self.outcome_default),
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

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ if text.len() == 1 && !matches!(text, "\"" | "\n" | "\r") => Ok(text.as_bytes()[0]),
        _ => Err("expected one ASCII character, such as ';', or tab".to_owned()),
    }
}
