//! The table of file formats: names, extensions, first bytes, and what can be done with each.

use std::fmt;
use std::path::Path;

/// A file format for votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Fields separated by commas (or semicolons).
    Csv,
    /// Fields separated by tabs.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    Arrow,
    /// A sheet of an Excel workbook.
    Xlsx,
    /// A table or query of a SQLite database.
    Sqlite,
}

/// Facts about a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatInfo {
    /// The name on the command line and in Python.
    pub name: &'static str,
    /// The name in sentences.
    pub title: &'static str,
    /// One line for `--help`.
    pub description: &'static str,
    /// File name extensions, the usual one first.
    pub extensions: &'static [&'static str],
    /// What every file begins with: one of these. Empty for text formats.
    pub magic: &'static [&'static [u8]],
    /// The first character of text by which the format is recognised if the file name does not tell.
    pub first_character: Option<u8>,
    /// The field separator of written files, for formats that have one.
    pub delimiter: Option<u8>,
    /// Whether a header or schema lists the columns; otherwise each row names its own.
    pub has_header: bool,
    /// Whether files of this format can be written.
    pub can_write: bool,
}

/// The first bytes of an Arrow IPC file; a stream begins with a message instead.
pub(crate) const ARROW_FILE_MAGIC: &[u8] = b"ARROW1";

/// A text format with a header that can be read and written.
const DEFAULTS: FormatInfo = FormatInfo {
    name: "",
    title: "",
    description: "",
    extensions: &[],
    magic: &[],
    first_character: None,
    delimiter: None,
    has_header: true,
    can_write: true,
};

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] =
        &[Self::Csv, Self::Tsv, Self::Jsonl, Self::Parquet, Self::Arrow, Self::Xlsx, Self::Sqlite];

    /// The format of text that no other row of the table recognises.
    pub(crate) const DEFAULT: Self = Self::Csv;

    /// The format's row of the table.
    #[must_use]
    pub const fn info(self) -> FormatInfo {
        match self {
            Self::Csv => FormatInfo {
                name: "csv",
                title: "CSV",
                description: "Fields separated by commas",
                extensions: &["csv"],
                delimiter: Some(b','),
                ..DEFAULTS
            },
            Self::Tsv => FormatInfo {
                name: "tsv",
                title: "TSV",
                description: "Fields separated by tabs",
                extensions: &["tsv", "tab"],
                delimiter: Some(b'\t'),
                ..DEFAULTS
            },
            Self::Jsonl => FormatInfo {
                name: "jsonl",
                title: "JSON lines",
                description: "One JSON object per line",
                extensions: &["jsonl", "ndjson"],
                first_character: Some(b'{'),
                has_header: false,
                ..DEFAULTS
            },
            Self::Parquet => FormatInfo {
                name: "parquet",
                title: "Parquet",
                description: "Apache Parquet",
                extensions: &["parquet", "pq"],
                magic: &[b"PAR1"],
                ..DEFAULTS
            },
            Self::Arrow => FormatInfo {
                name: "arrow",
                title: "Arrow",
                description: "Apache Arrow, file or stream",
                extensions: &["arrow", "arrows", "feather", "ipc"],
                magic: &[ARROW_FILE_MAGIC, &[0xff; 4]],
                ..DEFAULTS
            },
            Self::Xlsx => FormatInfo {
                name: "xlsx",
                title: "Excel",
                description: "Sheet of an Excel workbook",
                extensions: &["xlsx", "xlsm"],
                magic: &[b"PK\x03\x04"],
                can_write: false,
                ..DEFAULTS
            },
            Self::Sqlite => FormatInfo {
                name: "sqlite",
                title: "SQLite",
                description: "SQLite database, such as that of a study",
                extensions: &["db", "sqlite", "sqlite3"],
                magic: &[b"SQLite format 3\0"],
                can_write: false,
                ..DEFAULTS
            },
        }
    }

    /// The name on the command line and in Python, such as `jsonl`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.info().name
    }

    /// The name in sentences, such as `JSON lines`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.info().title
    }

    /// The usual file name extension, without a dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        self.info().extensions[0]
    }

    /// Whether files are text; other formats have magic bytes.
    #[must_use]
    pub const fn is_text(self) -> bool {
        self.info().magic.is_empty()
    }

    /// The format that a file name's extension stands for, before an optional `.gz` or `.zst`.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let stem = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
        let extension = Path::new(stem).extension()?.to_str()?;
        Self::find(|info| info.extensions.contains(&extension))
    }

    /// The format whose files begin with these bytes; `None` for text.
    pub(crate) fn from_magic(first_bytes: &[u8]) -> Option<Self> {
        Self::find(|info| info.magic.iter().any(|magic| first_bytes.starts_with(magic)))
    }

    /// The most likely format of text without a telling name, given its first character.
    pub(crate) fn from_first_character(character: Option<u8>) -> Self {
        let recognised =
            |info: FormatInfo| character.is_some() && info.first_character == character;
        Self::find(recognised).unwrap_or(Self::DEFAULT)
    }

    /// The usual extensions of the formats that can be written, as in `.csv, .tsv or .arrow`.
    #[must_use]
    pub fn writable_extensions() -> String {
        let writable = Self::ALL.iter().filter(|format| format.info().can_write);
        let mut list: Vec<String> =
            writable.map(|format| format!(".{}", format.extension())).collect();
        let last = list.pop().unwrap_or_default();
        if list.is_empty() { last } else { format!("{} or {last}", list.join(", ")) }
    }

    fn find(accepts: impl Fn(FormatInfo) -> bool) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| accepts(format.info()))
    }
}

impl fmt::Display for Format {
    /// Writes the name on the command line and in Python.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let FormatInfo { name, description, .. } = self.info();
        Some(clap::builder::PossibleValue::new(name).help(description))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn file_names() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.b.TSV.gz", Some(Format::Tsv)),
            ("a.ndjson.zst", Some(Format::Jsonl)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.feather", Some(Format::Arrow)),
            ("study.db", Some(Format::Sqlite)),
            ("votes", None),
            ("votes.gz", None),
        ] {
            assert_eq!(Format::from_file_name(name), format, "{name}");
        }
        assert_eq!(Format::writable_extensions(), ".csv, .tsv, .jsonl, .parquet or .arrow");
    }

    #[test]
    fn first_bytes() {
        assert_eq!(Format::from_magic(b"PAR1..."), Some(Format::Parquet));
        assert_eq!(Format::from_magic(b"ARROW1\0\0"), Some(Format::Arrow));
        assert_eq!(Format::from_magic(&[0xff; 8]), Some(Format::Arrow));
        assert_eq!(Format::from_magic(b"PK\x03\x04"), Some(Format::Xlsx));
        assert_eq!(Format::from_magic(b"SQLite format 3\0\x10\0"), Some(Format::Sqlite));
        assert_eq!(Format::from_magic(b"left,right"), None);
        assert_eq!(Format::from_first_character(Some(b'{')), Format::Jsonl);
        assert_eq!(Format::from_first_character(Some(b'l')), Format::Csv);
        assert_eq!(Format::from_first_character(None), Format::Csv);
    }

    #[test]
    fn names_and_extensions_are_unique() {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.as_str()).collect();
        let extensions: Vec<&str> =
            Format::ALL.iter().flat_map(|format| format.info().extensions).copied().collect();
        for list in [names, extensions] {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len(), "{list:?}");
        }
    }
}
