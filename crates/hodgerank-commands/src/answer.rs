//! What every command's answer can be turned into.

use std::io;

use arrow_array::RecordBatch;

/// The answer of a command: one JSON document, and its main part as a table.
pub trait Answer: Send + Sync {
    /// Writes the document, indented, as with `--format json`.
    ///
    /// # Errors
    /// If writing fails.
    fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()>;

    /// The table, as with `--format parquet`.
    ///
    /// # Errors
    /// If the table cannot be made.
    fn batch(&self) -> io::Result<RecordBatch>;

    /// What a notebook shows of the answer, as SVG, one for each study.
    fn pictures(&self) -> Vec<String> {
        Vec::new()
    }
}
