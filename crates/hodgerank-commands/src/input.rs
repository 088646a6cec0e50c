//! Where votes are read from, and how.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use hodgerank::uncertainty::{self, IntervalEngine};
use hodgerank::{FitOptions, IntervalOptions, Study};
use hodgerank_io::memory;
use hodgerank_io::read::{MemoryTable, Progress, TableHead};
use hodgerank_io::{
    ColumnNames, DatabaseRows, Error, FileStudies, Format, Input, OnError, OutcomeAs, ReadOptions,
    Sources, Ties,
};

use crate::annotators;
use crate::different_studies;
use crate::exclude::{self, Exclusion};
use crate::failure::Failure;
use crate::folders::Folders;
use crate::min_votes::ItemOptions;
use crate::observer::{Observer, Task};
use crate::places;
use crate::row_options::RowOptions;
use crate::spellings;

/// Where votes are read from.
#[derive(Debug, Clone)]
pub enum VoteSource {
    /// Files, read as one study; `-` is standard input.
    Files(Vec<String>),
    /// Files of folders.
    Folders(Folders),
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
    /// Files, and the files of folders, with these names; `-` is standard input.
    #[must_use]
    pub fn from_names(names: &[String]) -> Self {
        match Folders::expand(names) {
            Some(folders) => Self::Folders(folders),
            None => Self::Files(names.to_vec()),
        }
    }

    /// The files; empty if the votes are in memory.
    #[must_use]
    pub fn files(&self) -> &[String] {
        match self {
            Self::Files(files) => files,
            Self::Folders(folders) => &folders.files,
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
        self.check(observer)?;
        Ok(match self {
            Self::Files(_) | Self::Folders(_) => Sources::once(self.files()),
            Self::Table(table) => Sources::table(table),
        })
    }

    fn check(&self, observer: &dyn Observer) -> Result<(), Failure> {
        if let Self::Folders(folders) = self {
            folders.check(observer)?;
        }
        places::check_inputs(self.files(), observer)
    }

    /// The sources, for several passes.
    pub(crate) fn again(&self, observer: &dyn Observer) -> Result<Sources, Failure> {
        self.check(observer)?;
        Ok(match self {
            Self::Files(_) | Self::Folders(_) => Sources::repeatable(self.files()),
            Self::Table(table) => Sources::table(table),
        })
    }

    /// The failure to read these votes. If an outcome is not understood, it also says whether labels
    /// differ in spelling, so that one suggestion solves both problems.
    pub(crate) fn explained(&self, failure: Failure, options: &ReadOptions) -> Failure {
        /// Larger inputs are not read once more.
        const MAX_BYTES: u64 = 64 << 20;
        let is_file = |file: &String| Path::new(file).is_file();
        let can_read = self.bytes() <= MAX_BYTES && self.files().iter().all(is_file);
        match failure {
            Failure::File(Error::Row(mut row))
                if can_read && options.columns.spellings.is_none() && row.problem.is_outcome() =>
            {
                let mut sources = match self {
                    Self::Table(table) => Sources::table(table),
                    _ => Sources::once(self.files()),
                };
                let found = sources.read_spellings(options, &Arc::default());
                row.misspelt = found.is_ok_and(|found| !found.joined().is_empty());
                Failure::File(Error::Row(row))
            }
            other => other,
        }
    }

    /// Reads the votes once.
    pub(crate) fn read(
        &self,
        plan: &ReadPlan<'_>,
        observer: &dyn Observer,
    ) -> Result<Input, Failure> {
        let exclusion = plan.input.exclusion()?;
        let is_suspicious = matches!(exclusion, Some(Exclusion::Suspicious));
        let mut sources = match is_suspicious || plan.input.rows.joins_spellings() {
            true => self.again(observer)?,
            false => self.once(observer)?,
        };
        let mut options = plan.kept.apply(plan.input.read_options(self.files(), plan.threads)?);
        plan.input.join_spellings(&mut sources, &mut options, self.bytes(), observer)?;
        let read = read(&sources, &mut options, exclusion.as_ref(), self.bytes(), observer);
        let mut input = read.map_err(|failure| self.explained(failure, &options))?;
        plan.input.check_used(&input.tables)?;
        different_studies::note(self, &options, observer);
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
    options.hash_files = observer.file_record().is_some();
    let resolve = |exclusion: &Exclusion| exclusion.resolve(sources, options, bytes, observer);
    let excluded = exclusion.map(resolve).transpose()?.map(Arc::new);
    options.excluded.clone_from(&excluded);
    let input = pass(sources, options, bytes, observer)?;
    if let Some(record) = observer.file_record() {
        record.set(sources.files());
    }
    observer.list_uncounted(&input);
    if options.columns.spellings.is_none() {
        spellings::warn_of_variants(&input, observer);
    }
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
    // The files, which come first, have the order 0.
    /// Column of the preferred item (with --loser)
    #[arg(long, value_name = "COLUMN", requires = "loser", display_order = 1)]
    winner: Option<String>,
    /// Column of the other item (with --winner)
    #[arg(long, value_name = "COLUMN", requires = "winner", display_order = 2, conflicts_with_all = ["left", "right", "outcome"])]
    loser: Option<String>,
    /// Column of the item on the left
    #[arg(long, value_name = "COLUMN", requires = "right", display_order = 3)]
    left: Option<String>,
    /// Column of the item on the right
    #[arg(long, value_name = "COLUMN", requires = "left", display_order = 4)]
    right: Option<String>,
    /// Column of the outcome: a word, an item's label or a number (positive: left preferred)
    #[arg(long, value_name = "COLUMN", display_order = 5)]
    outcome: Option<String>,
    /// How to read the outcome: auto, label, word, number, selected, or the meaning of each value,
    /// such as 1=left,2=right,3=tie
    #[arg(long, value_name = "KIND")]
    outcome_as: Option<OutcomeAs>,
    /// How a tie counts
    #[arg(long, value_enum, default_value_t = Ties::Zero, value_name = "HOW")]
    ties: Ties,
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
    /// Rank each value of this column separately, or each pair of values of two columns: --by scene,codec
    #[arg(long, value_name = "COLUMN", conflicts_with = "by_file")]
    by: Option<String>,
    /// Rank each file separately
    #[arg(long)]
    by_file: bool,
    /// Which rows are votes, and what their values mean.
    #[command(flatten)]
    pub(crate) rows: RowOptions,
    /// Format of the files [default: from their names and contents]
    #[arg(long, value_enum, value_name = "FORMAT")]
    input_format: Option<Format>,
    /// Field separator of CSV files [default: comma; semicolon or tab if the header has no comma]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    delimiter: Option<u8>,
    /// Sheet of Excel workbooks [default: the first one]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Table or view of SQLite databases [default: the votes of a study, or the only table]
    #[arg(long, value_name = "NAME", conflicts_with = "query")]
    table: Option<String>,
    /// Query of SQLite databases whose rows are read, such as "SELECT * FROM votes WHERE day > 3"
    #[arg(long, value_name = "SQL")]
    query: Option<String>,
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

    /// The column whose values are ranked separately; none if there are two, whose names are part of the
    /// names of studies.
    #[must_use]
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref().filter(|by| !by.contains(','))
    }

    /// The options of the reader of these files, with this many threads.
    ///
    /// # Errors
    /// [`Failure::Usage`] if options contradict each other.
    pub fn read_options(&self, files: &[String], threads: usize) -> Result<ReadOptions, Failure> {
        Ok(ReadOptions {
            columns: ColumnNames {
                winner: self.winner.clone(),
                loser: self.loser.clone(),
                left: self.left.clone(),
                right: self.right.clone(),
                outcome: self.outcome.clone(),
                annotator: self.annotator.clone(),
                count: self.count.clone(),
                by: self.by.clone(),
                by_file: self.by_file.then(|| file_studies(files)),
                filters: self.rows.filters()?,
                values: self.rows.values()?,
                spellings: None,
                outcome_as: self.outcome_as.clone(),
                outcome_default: self.outcome_default.clone(),
                ties: self.ties,
            },
            format: self.input_format,
            delimiter: self.delimiter,
            sheet: self.sheet.clone(),
            database_rows: self.database_rows(),
            on_error: self.on_error,
            annotator_votes: false,
            sides: false,
            excluded: None,
            hash_files: false,
            threads,
        })
    }

    /// Finds the spellings of labels in a pass of its own, if they are to be joined.
    pub(crate) fn join_spellings(
        &self,
        sources: &mut Sources,
        options: &mut ReadOptions,
        bytes: u64,
        observer: &dyn Observer,
    ) -> Result<(), Failure> {
        if !self.rows.joins_spellings() {
            return Ok(());
        }
        let progress = Arc::new(Progress::default());
        let reading = Task::Reading(bytes, &progress);
        let found = observer.run(reading, || sources.read_spellings(options, &progress))??;
        spellings::announce_joined(&found, observer);
        options.columns.spellings = Some(Arc::new(found));
        Ok(())
    }

    /// What is read of databases.
    fn database_rows(&self) -> Option<DatabaseRows> {
        let table = self.table.clone().map(DatabaseRows::Table);
        table.or_else(|| self.query.clone().map(DatabaseRows::Query))
    }

    /// Refuses `--sheet` if no file is a workbook, and `--table` and `--query` if none is a database.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an option that no file can use.
    pub fn check_used(&self, tables: &[TableHead]) -> Result<(), Failure> {
        let has = |format: Format| tables.iter().any(|table| table.stored_as == format);
        let options = [
            ("--sheet", &self.sheet, Format::Xlsx, "Excel workbooks"),
            ("--table", &self.table, Format::Sqlite, "SQLite databases"),
            ("--query", &self.query, Format::Sqlite, "SQLite databases"),
        ];
        match options.into_iter().find(|(_, value, format, _)| value.is_some() && !has(*format)) {
            Some((flag, _, _, files)) => Err(Failure::usage(
                format!("{flag} is an option for {files}, and no input is one"),
                format!("leave {flag} out"),
            )),
            None => Ok(()),
        }
    }

    /// Refuses what needs all votes on one machine.
    ///
    /// # Errors
    /// [`Failure::Usage`] if spellings of labels are to be joined.
    pub fn check_distributed(&self) -> Result<(), Failure> {
        match self.rows.joins_spellings() {
            false => Ok(()),
            true => Err(Failure::usage(
                "--normalise labels needs all labels on one machine",
                "give each item one spelling first, or use the program `hodgerank`",
            )),
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

/// Files are called by their names, unless two have the same.
fn file_studies(files: &[String]) -> FileStudies {
    let name = |file: &String| Path::new(file).file_name().map(std::ffi::OsStr::to_owned);
    let names: BTreeSet<_> = files.iter().map(name).collect();
    if names.len() == files.len() { FileStudies::Name } else { FileStudies::Path }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text {
        "\\t" | "tab" => Ok(b'\t'),
        _ if text.len() == 1 && !matches!(text, "\"" | "\n" | "\r") => Ok(text.as_bytes()[0]),
        _ => Err("expected one ASCII character, such as ';', or tab".to_owned()),
    }
}
