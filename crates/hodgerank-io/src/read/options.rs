//! How files are read.

use std::sync::Arc;

use crate::columns::ColumnNames;
use crate::excluded::ExcludedAnnotators;
use crate::format::Format;

/// What to do with a row that cannot be read as a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnError {
    /// End with an error that names file, line, column and value.
    #[default]
    Stop,
    /// Leave the row out, count it and list the first ten.
    Skip,
}

/// What is read of a SQLite database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseRows {
    /// All rows of this table or view.
    Table(String),
    /// The rows that this statement returns.
    Query(String),
}

/// How to read.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `columns` | found by name | which columns to use |
/// | `format` | from content and name | the format of the files |
/// | `delimiter` | `,` (`;` or tab if the header has no comma) | field separator of CSV |
/// | `sheet` | the first one | sheet of Excel workbooks |
/// | `database_rows` | the votes of a study, or the only table | table or query of SQLite databases |
/// | `on_error` | stop | what to do with a bad row |
/// | `annotator_votes` | no | whether to keep every vote with its annotator |
/// | `sides` | no | whether to count votes by the side of the preferred item |
/// | `excluded` | nobody | annotators whose votes are not counted |
/// | `hash_files` | no | whether to hash the files |
/// | `threads` | all cores | number of reading threads; never changes the result |
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which columns to use.
    pub columns: ColumnNames,
    /// The format of the files; `None` to detect it from content and name.
    pub format: Option<Format>,
    /// Field separator of CSV files; `None` to detect it from the header.
    pub delimiter: Option<u8>,
    /// The sheet of Excel workbooks; `None` for the first one.
    pub sheet: Option<String>,
    /// The table or query of SQLite databases; `None` for the votes of a study, or the only table.
    pub database_rows: Option<DatabaseRows>,
    /// What to do with a row that cannot be read as a vote.
    pub on_error: OnError,
    /// Whether to keep every vote with its annotator, for methods that judge people: 36 bytes of
    /// memory per vote.
    pub annotator_votes: bool,
    /// Whether to count votes by the side of the preferred item too, where sides are known and votes are
    /// not kept anyway: for methods that estimate an advantage of the left side.
    pub sides: bool,
    /// Annotators whose votes are not counted.
    pub excluded: Option<Arc<ExcludedAnnotators>>,
    /// Whether to hash the files, for [`super::Sources::files`].
    pub hash_files: bool,
    /// Number of reading threads; 0 for all cores.
    pub threads: usize,
}

impl ReadOptions {
    /// Number of reading threads, at least 1.
    pub(crate) fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        }
    }
}
