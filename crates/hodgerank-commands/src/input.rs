//! Where votes are read from, and how.

use std::sync::Arc;

use clap::Args;
use hodgerank::uncertainty::{self, IntervalEngine};
use hodgerank::{FitOptions, IntervalOptions, Study};
use hodgerank_io::memory;
use hodgerank_io::read::{MemoryTable, Progress};
use hodgerank_io::{ColumnNames, Format, Input, OnError, OutcomeAs, ReadOptions, Sources};

use crate::annotators;
use crate::exclude::{self, Exclusion};
use crate::failure::Failure;
use crate::min_votes::ItemOptions;
use crate::observer::{Observer, Task};
use crate::places;

/// Where votes are read from.
#[derive(Debug, Clone)]
pub enum VoteSource {
    /// Files, read as one study; `-` is standard input.
    Files(Vec<String>),
    /// A table in memory.
    Table(Arc<MemoryTable>),
}

/// What is kept of the rows besides distinct votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Every vote with its annotator.
    pub annotator_votes: bool,
    /// The number of votes by side.
    pub sides: bool,
}

/// How a command reads its votes.
#[derive(Debug, Clone, Copy)]
pub struct ReadPlan<'a> {
    /// Columns, formats and annotators to leave out.
    pub input: &'a InputOptions,
    /// Items to leave out.
    pub items: ItemOptions,
    /// What is kept of the rows.
    pub kept: Kept,
    /// Number of reading threads.
    pub threads: usize,
}

impl<'a> ReadPlan<'a> {
    /// Reads all votes that the options leave.
    #[must_use]
    pub fn new(input: &'a InputOptions, kept: Kept, threads: usize) -> Self {
        Self { input, items: ItemOptions::default(), kept, threads }
    }

    /// The same without items that these options leave out.
    #[must_use]
    pub fn with_items(self, items: ItemOptions) -> Self {
        Self { items, ..self }
    }
}

impl Kept {
    /// What the method needs, or may need once the votes are known.
    #[must_use]
    pub fn needed_by(fit: &FitOptions) -> Self {
        Self { annotator_votes: fit.uses_annotators(), sides: fit.uses_sides() }
    }

    /// The same with annotators, if intervals are to be estimated that they change.
    #[must_use]
    pub fn with_intervals(self, fit: &FitOptions, intervals: &IntervalOptions) -> Self {
        let has_intervals = match intervals.intervals {
            Some(IntervalEngine::None) => false,
            Some(IntervalEngine::Bootstrap) => true,
            _ => fit.method.is_none_or(uncertainty::supports),
        };
        Self { annotator_votes: self.annotator_votes || has_intervals, ..self }
    }

    /// The same options of the reader, with this kept.
    #[must_use]
    pub fn apply(self, options: ReadOptions) -> ReadOptions {
        let Self { annotator_votes, sides } = self;
        ReadOptions { annotator_votes, sides, ..options }
    }
}

impl VoteSource {
    /// The files; empty if the votes are in memory.
    #[must_use]
    pub fn files(&self) -> &[String] {
        match self {
            Self::Files(files) => files,
            Self::Table(_) => &[],
        }
    }

    /// Bytes to read, as far as known.
    pub(crate) fn bytes(&self) -> u64 {
        let size = |file: &String| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        self.files().iter().map(size).sum()
    }

    /// The sources, for one pass.
    pub(crate) fn once(&self, observer: &dyn Observer) -> Result<Sources, Failure> {
        places::check_inputs(self.files(), observer)?;
        Ok(match self {
            Self::Files(files) => Sources::once(files),
            Self::Table(table) => Sources::table(table),
        })
    }

    /// The sources, for several passes.
    pub(crate) fn again(&self, observer: &dyn Observer) -> Result<Sources, Failure> {
        places::check_inputs(self.files(), observer)?;
        Ok(match self {
            Self::Files(files) => Sources::repeatable(files),
            Self::Table(table) => Sources::table(table),
        })
    }

    /// Reads the votes once.
    pub(crate) fn read(
        &self,
        plan: &ReadPlan<'_>,
        observer: &dyn Observer,
    ) -> Result<Input, Failure> {
        let exclusion = plan.input.exclusion()?;
        let sources = match exclusion {
            Some(Exclusion::Suspicious) => self.again(observer)?,
            _ => self.once(observer)?,
        };
        let mut options = plan.kept.apply(plan.input.read_options(plan.threads));
        let mut input = read(&sources, &mut options, exclusion.as_ref(), self.bytes(), observer)?;
        plan.items.apply(&mut input, observer)?;
        Ok(input)
    }
}

/// Reads the votes without those of excluded annotators, whom it adds to the options. Sources must be
/// repeatable if suspicious annotators are to be excluded.
pub(crate) fn read(
    sources: &Sources,
    options: &mut ReadOptions,
    exclusion: Option<&Exclusion>,
    bytes: u64,
    observer: &dyn Observer,
) -> Result<Input, Failure> {
    let resolve = |exclusion: &Exclusion| exclusion.resolve(sources, options, bytes, observer);
    let excluded = exclusion.map(resolve).transpose()?.map(Arc::new);
    options.excluded.clone_from(&excluded);
    let input = pass(sources, options, bytes, observer)?;
    observer.list_rejected(&input.rejected);
    if let Some((exclusion, excluded)) = exclusion.zip(excluded) {
        annotators::check(&input.tables)?;
        exclusion.announce(&excluded, &input, observer);
    }
    Ok(input)
}

/// One pass over the sources.
fn pass(
    sources: &Sources,
    options: &ReadOptions,
    bytes: u64,
    observer: &dyn Observer,
) -> Result<Input, Failure> {
    let progress = Arc::new(Progress::default());
    let reading = Task::Reading(bytes, &progress);
    let input = observer.run(reading, || sources.read(options, &progress))??;
    check_memory(&input)?;
    Ok(input)
}

/// Checks that the memory suffices to rank the largest study by least squares. Other methods can need
/// more.
///
/// # Errors
/// [`hodgerank_io::Error::Memory`] if it does not.
pub(crate) fn check_memory(input: &Input) -> Result<(), Failure> {
    const BYTES_PER_ITEM: u64 = 64;
    const BYTES_PER_DISTINCT_VOTE: u64 = 96;
    let needed = |study: &Study| {
        BYTES_PER_ITEM * study.items.len() as u64
            + BYTES_PER_DISTINCT_VOTE * study.groups.len() as u64
    };
    let needed = input.studies.iter().map(needed).max().unwrap_or(0);
    Ok(memory::require("ranking the votes", needed)?)
}

/// How votes are read.
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
    /// Column of the outcome: a word, an item's label or a number (positive: left preferred)
    #[arg(long, value_name = "COLUMN")]
    outcome: Option<String>,
    /// How to read the outcome: auto, label, word, number, selected, or the meaning of each value,
    /// such as 1=left,2=right,3=tie
    #[arg(long, value_name = "KIND")]
    outcome_as: Option<OutcomeAs>,
    /// Column of the annotator
    #[arg(long, value_name = "COLUMN")]
    annotator: Option<String>,
    /// Leave out the votes of these annotators: names, a file with one name per line, or `suspicious`
    /// for those whom `hodgerank annotators` finds one-sided, contrary or random
    #[arg(long, value_name = "NAME,…|FILE|suspicious")]
    exclude_annotators: Option<String>,
    /// Column of the number of times that the vote was cast
    #[arg(long, value_name = "COLUMN")]
    count: Option<String>,
    /// Rank each value of this column separately
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Format of the files [default: from their names and contents]
    #[arg(long, value_enum, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Field separator of CSV files [default: comma; semicolon or tab if the header has no comma]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// What to do with an invalid row
    #[arg(long, value_enum, default_value_t = OnError::Stop, value_name = "WHAT")]
    on_error: OnError,
    /// How to read the outcome if the flag is not given; not a flag.
    #[arg(skip)]
    outcome_default: Option<OutcomeAs>,
}

impl InputOptions {
    /// Sets how to read the outcome unless `--outcome-as` is given.
    pub fn default_outcome_as(&mut self, how: OutcomeAs) {
        self.outcome_default.get_or_insert(how);
    }

    /// The options of the reader, with this many threads.
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
                outcome_as: self.outcome_as.clone(),
                outcome_default: self.outcome_default.clone(),
            },
            format: self.input_format,
            delimiter: self.delimiter,
            on_error: self.on_error,
            annotator_votes: false,
            sides: false,
            excluded: None,
            threads,
        }
    }

    /// Whose votes are left out.
    ///
    /// # Errors
    /// [`Failure::Usage`] if there are no names, or their file cannot be read.
    pub fn exclusion(&self) -> Result<Option<Exclusion>, Failure> {
        self.exclude_annotators.as_deref().map(Exclusion::parse).transpose()
    }

    /// All files that are read: those of the votes, and that of annotators to exclude.
    #[must_use]
    pub fn files(&self, votes: &VoteSource) -> Vec<String> {
        let names = self.exclude_annotators.as_deref().and_then(exclude::names_file);
        votes.files().iter().cloned().chain(names.map(str::to_owned)).collect()
    }
}

/// Arguments of a command that reads votes.
pub trait ReadsVotes {
    /// How votes are read.
    fn input(&self) -> &InputOptions;
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ if text.len() == 1 && !matches!(text, "\"" | "\n" | "\r") => Ok(text.as_bytes()[0]),
        _ => Err("expected one ASCII character, such as ';', or tab".to_owned()),
    }
}
