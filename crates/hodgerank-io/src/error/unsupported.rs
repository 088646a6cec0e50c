//! Encodings, features and sizes that are recognised but cannot be read.

use crate::limits::{MAX_BLANK_BYTES, MAX_COLUMNS, MAX_NESTING};

/// Encodings of text that are recognised but cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongEncoding {
    /// UTF-16 with a byte-order mark.
    #[error("this is not UTF-8 text: it is UTF-16")]
    Utf16,
    /// A workbook of Excel 97 to 2003.
    #[error("this is not a text file: it is a workbook of Excel 97 to 2003 (.xls)")]
    OldWorkbook,
    /// Lines that end with a carriage return alone.
    #[error("this is not a text file with line ends: its lines end with a bare carriage return")]
    CarriageReturn,
}

/// Features and sizes of files that are not supported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// A compression of Parquet columns.
    #[error("it is compressed with {0}, which is not supported")]
    Compression(String),
    /// A schema with too many nested levels.
    #[error("its columns are nested in more than {MAX_NESTING} levels")]
    Nesting,
    /// Too many columns.
    #[error("it has {0} columns, more than {MAX_COLUMNS}")]
    Columns(usize),
    /// A part of a column that is decompressed as a whole and is too large.
    #[error("a part of a column takes {} MB when it is decompressed; the limit is {} MB", bytes.div_ceil(1_000_000), max / 1_000_000)]
    PageBytes {
        /// Bytes after decompression.
        bytes: u64,
        /// Maximum number of bytes.
        max: u64,
    },
    /// Too many blank lines before the header.
    #[error("it begins with more than {} MiB of blank lines", MAX_BLANK_BYTES >> 20)]
    BlankLines,
}
