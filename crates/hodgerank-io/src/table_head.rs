//! Format and columns of a file: what is known before its rows are read.

use std::sync::Arc;

use arrow_schema::SchemaRef;

use crate::columns::{Layout, Role};
use crate::error::{Error, Result};
use crate::format::Format;

/// Format and columns of a file.
#[derive(Debug, Clone)]
pub struct TableHead {
    /// The file.
    pub file: Arc<str>,
    /// The format of its rows: CSV for a sheet of a workbook and for a database.
    pub format: Format,
    /// The format of the file itself.
    pub stored_as: Format,
    /// Whether there is a column of annotators.
    pub has_annotator: bool,
    /// Whether items have sides: the columns are left and right, not winner and loser.
    pub has_sides: bool,
    pub(crate) columns: Vec<String>,
    /// What precedes the first row of a text file: a byte-order mark and, if there is a header, blank
    /// lines and the header.
    pub(crate) text: Vec<u8>,
    /// Blank lines before the first row of a text file without a header.
    pub(crate) blank_lines: Vec<u8>,
    /// The field separator of a delimited file; 0 for other formats.
    pub(crate) delimiter: u8,
    /// The schema of a table of record batches; none for text.
    pub(crate) schema: Option<SchemaRef>,
    /// Whether it is an Arrow stream, not an Arrow file.
    pub(crate) stream: bool,
}

impl TableHead {
    pub(crate) fn new(file: &Arc<str>, format: Format, layout: &Layout) -> Self {
        Self {
            file: Arc::clone(file),
            format,
            stored_as: format,
            has_annotator: layout.has(Role::Annotator),
            has_sides: layout.has(Role::Outcome),
            columns: layout.names.clone(),
            text: Vec::new(),
            blank_lines: Vec::new(),
            delimiter: 0,
            schema: None,
            stream: false,
        }
    }

    /// A text that is equal for files whose rows can be written to one file: format, separator and
    /// columns.
    #[must_use]
    pub fn schema_key(&self) -> String {
        let fields = self.schema.as_ref().map(|schema| schema.fields());
        format!("{} {} {:?} {fields:?}", self.format, self.delimiter, self.header_columns())
    }

    /// The columns that the header lists; none if each row names its own.
    fn header_columns(&self) -> &[String] {
        if self.format.info().has_header { &self.columns } else { &[] }
    }

    /// Checks that the rows of all files can be written to one file.
    ///
    /// # Errors
    /// [`Error::Incompatible`] that names the first two files whose format or columns differ.
    pub fn check_alike(tables: &[Self]) -> Result<()> {
        let Some((first, rest)) = tables.split_first() else { return Ok(()) };
        for other in rest {
            let difference = if first.format != other.format {
                format!("one is {}, the other {}", first.format.title(), other.format.title())
            } else if first.delimiter != other.delimiter {
                "their fields are separated by different characters".to_owned()
            } else if first.schema.as_ref().map(|schema| schema.fields())
                != other.schema.as_ref().map(|schema| schema.fields())
                || first.header_columns() != other.header_columns()
            {
                "their columns differ".to_owned()
            } else {
                continue;
            };
            let (first, second) = (Arc::clone(&first.file), Arc::clone(&other.file));
            return Err(Error::Incompatible { first, second, difference });
        }
        Ok(())
    }
}
