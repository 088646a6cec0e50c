//! The limits of what is read. `docs/limits.md` explains them; a test compares its figures with these.
//!
//! Each limit is far above what a study needs. It prevents that a small or damaged file exhausts the
//! memory of the machine or overflows the stack.

/// Bytes of the name of an item or annotator, or of a value of the `by` column.
pub const MAX_LABEL_BYTES: usize = 1 << 20;
/// Columns of a table, as many as a spreadsheet can have.
pub const MAX_COLUMNS: usize = 16_384;
/// Bytes of a record of a text file: a line, or the lines of a row with quoted line ends.
pub const MAX_RECORD_BYTES: usize = 64 << 20;
/// Bytes of blank lines before the header of a text file.
pub const MAX_BLANK_BYTES: usize = 64 << 20;
/// Nested levels in the schema of a Parquet file.
pub const MAX_NESTING: usize = 100;
/// Bytes of a decompressed Parquet page, or of a decompressed Arrow buffer with less than
/// [`BUFFER_BYTES_PER_ROW`] bytes in a row.
pub const MAX_PAGE_BYTES: u64 = 256 << 20;
/// Bytes in a row up to which a decompressed Arrow buffer can be larger than [`MAX_PAGE_BYTES`].
pub const BUFFER_BYTES_PER_ROW: u64 = 1 << 10;
/// Votes of a study, and the count of a row: 2⁵³. Up to here every sum of counts is exact.
pub const MAX_VOTES: u64 = hodgerank::MAX_VOTES;

#[cfg(test)]
mod tests {
    use super::*;

    /// A figure as the page has it, next to its constant.
    #[test]
    fn the_documentation_has_the_same_figures() {
        let page = include_str!("../../../docs/limits.md");
        let thousands = |number: u64| {
            let digits = number.to_string();
            let groups = digits.as_bytes().rchunks(3).rev();
            groups.map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
        };
        let mebibytes = |bytes: u64| format!("{} MiB", bytes >> 20);
        for (figure, name) in [
            (thousands(MAX_LABEL_BYTES as u64) + " bytes", "MAX_LABEL_BYTES"),
            (thousands(MAX_COLUMNS as u64), "MAX_COLUMNS"),
            (mebibytes(MAX_RECORD_BYTES as u64), "MAX_RECORD_BYTES"),
            (mebibytes(MAX_BLANK_BYTES as u64), "MAX_BLANK_BYTES"),
            (MAX_NESTING.to_string(), "MAX_NESTING"),
            (mebibytes(MAX_PAGE_BYTES), "MAX_PAGE_BYTES"),
            (thousands(BUFFER_BYTES_PER_ROW) + " bytes", "BUFFER_BYTES_PER_ROW"),
            (thousands(MAX_VOTES), "MAX_VOTES"),
        ] {
            let line = page.lines().find(|line| line.contains(&format!("`{name}`")));
            let line = line.unwrap_or_else(|| panic!("{name} is not documented"));
            assert!(line.contains(&format!("| {figure}")), "{name}: {figure} is not in: {line}");
        }
    }
}
