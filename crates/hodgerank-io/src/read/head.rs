//! What a file is, before its rows: format, header or schema, and the columns that were found.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use super::Format;
use crate::columns::{Layout, Role};
use crate::error::{Error, Result};

/// What a file is.
#[derive(Debug, Clone)]
pub struct TableHead {
    /// The file.
    pub file: Arc<str>,
    /// Its format.
    pub format: Format,
    /// Whether it says who cast the votes.
    pub has_annotator: bool,
    /// Whether items stand on sides: left and right, and not winner and loser.
    pub has_sides: bool,
    pub(super) columns: Vec<String>,
    /// What stands before the first row of a text file: a byte-order mark, blank lines, the
    /// header.
    pub(crate) text: Vec<u8>,
    pub(super) delimiter: u8,
    /// Of Parquet and Arrow files.
    pub(crate) schema: Option<SchemaRef>,
    /// An Arrow stream, not an Arrow file.
    pub(crate) stream: bool,
}

impl TableHead {
    pub(super) fn new(file: &Arc<str>, format: Format, layout: &Layout) -> Self {
        Self {
            file: Arc::clone(file),
            format,
            has_annotator: layout.has(Role::Annotator),
            has_sides: layout.has(Role::Outcome),
            columns: layout.names.clone(),
            text: Vec::new(),
            delimiter: 0,
            schema: None,
            stream: false,
        }
    }

    /// What must be equal where rows of several files are to stand in one: format, separator and
    /// columns, as one text.
    #[must_use]
    pub fn likeness(&self) -> String {
        let fields = self.schema.as_ref().map(|schema| schema.fields());
        let columns = if self.format == Format::Jsonl { &[][..] } else { &self.columns };
        format!("{} {} {columns:?} {fields:?}", self.format.name(), self.delimiter)
    }

    /// Checks that the rows of all files can stand below each other in one file.
    ///
    /// # Errors
    /// [`Error::Formats`] that names the first two files that do not go together.
    pub fn check_alike(tables: &[Self]) -> Result<()> {
        let Some((first, rest)) = tables.split_first() else { return Ok(()) };
        for other in rest {
            let difference = if first.format != other.format {
                format!("one is {}, the other {}", first.format.name(), other.format.name())
            } else if first.delimiter != other.delimiter {
                "their fields are separated by different characters".to_owned()
            } else if first.schema.as_ref().map(|schema| schema.fields())
                != other.schema.as_ref().map(|schema| schema.fields())
                || (first.format != Format::Jsonl && first.columns != other.columns)
            {
                "their columns differ".to_owned()
            } else {
                continue;
            };
            return Err(Error::Formats {
                problem: format!(
                    "{} and {} cannot be put into one file: {difference}",
                    first.file, other.file
                ),
                help: "bring the files to the same format and columns first, or clean each on its \
                       own"
                .to_owned(),
            });
        }
        Ok(())
    }
}
