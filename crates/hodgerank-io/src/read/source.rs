//! Opening: what kind of file it is, how it is compressed, and whether it can be read in any order.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use super::{MemoryTable, Progress};
use crate::error::{Error, Result};

/// Formats of votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Fields separated by commas (or semicolons).
    Csv,
    /// Fields separated by tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    Arrow,
}

impl Format {
    /// The format that a file name's ending stands for, under a possible `.gz` or `.zst`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let stem = lower.strip_suffix(".gz").or(lower.strip_suffix(".zst")).unwrap_or(&lower);
        match Path::new(stem).extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }
}

impl Format {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Jsonl => "JSON lines",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        }
    }
}

pub(super) type BoxedRead = Box<dyn Read + Send>;

pub(super) struct Opened<'a> {
    pub(super) name: Arc<str>,
    pub(super) content: Content<'a>,
    /// Compressed as a whole, so that it must be read from front to back.
    pub(super) compressed: bool,
}

pub(super) enum Content<'a> {
    Table(&'a MemoryTable),
    Text(Format, BoxedRead),
    Parquet(File),
    ArrowFile(File),
    ArrowStream(BoxedRead),
}

/// UTF-8 text may begin with it; it is no part of the text.
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// First bytes of the formats that have some.
mod magic {
    pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];
    pub(super) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
    pub(super) const PARQUET: &[u8] = b"PAR1";
    pub(super) const ARROW_FILE: &[u8] = b"ARROW1";
    pub(super) const ARROW_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff];
}

/// Where votes come from.
#[derive(Debug)]
pub struct Sources(pub(super) Vec<Source>);

#[derive(Debug)]
pub(super) enum Source {
    File {
        path: String,
        /// A copy of what can be read only once.
        copy: Option<File>,
        /// The row groups to read of a Parquet file; all where this is not said.
        row_groups: Option<Vec<usize>>,
    },
    Table(Arc<MemoryTable>),
}

impl Sources {
    /// Files to read once; `-` is standard input.
    #[must_use]
    pub fn once(files: &[String]) -> Self {
        let source =
            |path: &String| Source::File { path: path.clone(), copy: None, row_groups: None };
        Self(files.iter().map(source).collect())
    }

    /// Files to read more than once. Standard input and pipes are copied to temporary files.
    ///
    /// # Errors
    /// If a copy cannot be made.
    pub fn again(files: &[String]) -> Result<Self> {
        let source = |path: &String| {
            let is_pipe = || std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
            let copy = match path.as_str() {
                "-" => Some(spool(Box::new(io::stdin()))),
                _ if is_pipe() => Some(File::open(path).and_then(|pipe| spool(Box::new(pipe)))),
                _ => None,
            };
            let copy = copy.transpose().map_err(|source| Error::read(&name_of(path), source))?;
            Ok(Source::File { path: path.clone(), copy, row_groups: None })
        };
        files.iter().map(source).collect::<Result<_>>().map(Self)
    }

    /// A table in memory.
    #[must_use]
    pub fn table(table: &Arc<MemoryTable>) -> Self {
        Self(vec![Source::Table(Arc::clone(table))])
    }
}

impl Source {
    /// Opens a file or, for `-`, standard input. A table in memory needs no opening.
    pub(super) fn open(
        &self,
        format: Option<Format>,
        progress: &Arc<Progress>,
    ) -> Result<Opened<'_>> {
        match self {
            Self::File { path, copy, .. } => open(path, copy.as_ref(), format, progress),
            Self::Table(table) => {
                let (name, content) = (Arc::clone(table.name()), Content::Table(table));
                Ok(Opened { name, content, compressed: false })
            }
        }
    }

    /// The row groups to read, where not all are wanted.
    pub(super) fn row_groups(&self) -> Option<&[usize]> {
        match self {
            Self::File { row_groups, .. } => row_groups.as_deref(),
            Self::Table(_) => None,
        }
    }
}

fn name_of(path: &str) -> Arc<str> {
    if path == "-" { "standard input".into() } else { path.into() }
}

fn open<'a>(
    path: &str,
    copy: Option<&File>,
    format: Option<Format>,
    progress: &Arc<Progress>,
) -> Result<Opened<'a>> {
    let name = name_of(path);
    let cannot_open = |source| Error::Open { file: Arc::clone(&name), source };
    let cannot_read = |source| Error::Read { file: Arc::clone(&name), source };
    // A plain file on disk can be read in any order; everything else only once, front to back.
    let mut plain_file = None;
    let raw: BoxedRead = if let Some(copy) = copy {
        let mut file = copy.try_clone().map_err(cannot_open)?;
        file.seek(SeekFrom::Start(0)).map_err(cannot_open)?;
        plain_file = Some(file.try_clone().map_err(cannot_open)?);
        Box::new(file)
    } else if path == "-" {
        Box::new(io::stdin())
    } else {
        let file = File::open(path).map_err(cannot_open)?;
        let metadata = file.metadata().map_err(cannot_open)?;
        if metadata.is_dir() {
            return Err(cannot_open(io::Error::other("it is a folder; name the files in it")));
        }
        if metadata.is_file() {
            plain_file = Some(file.try_clone().map_err(cannot_open)?);
        }
        Box::new(file)
    };
    let counted = Box::new(Counted { inner: raw, progress: Arc::clone(progress) });
    let (head, reader) = peek(counted).map_err(cannot_read)?;
    let (compressed, (head, reader)) = if head.starts_with(magic::GZIP) {
        let decoder = flate2::bufread::MultiGzDecoder::new(io::BufReader::new(reader));
        (true, peek(Box::new(decoder)).map_err(cannot_read)?)
    } else if head.starts_with(magic::ZSTD) {
        let decoder = zstd::Decoder::new(reader).map_err(cannot_read)?;
        (true, peek(Box::new(decoder)).map_err(cannot_read)?)
    } else {
        (false, (head, reader))
    };
    if head.is_empty() {
        return Err(Error::Empty { file: name });
    }
    let format = format_of(&name, path, format, &head)?;
    let seekable = |reader: BoxedRead| match plain_file {
        Some(mut file) if !compressed => {
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        }
        _ => spool(reader),
    };
    let content = match format {
        Format::Parquet => Content::Parquet(seekable(reader).map_err(cannot_read)?),
        Format::Arrow if head.starts_with(magic::ARROW_FILE) => {
            Content::ArrowFile(seekable(reader).map_err(cannot_read)?)
        }
        Format::Arrow => Content::ArrowStream(reader),
        text => Content::Text(text, reader),
    };
    Ok(Opened { name, content, compressed })
}

/// The content decides where it can; then the flag, the name's ending, and a look at the text.
fn format_of(name: &Arc<str>, path: &str, given: Option<Format>, head: &[u8]) -> Result<Format> {
    let wrong = |expected, found: &str| {
        Err(Error::WrongFormat { file: Arc::clone(name), expected, found: found.to_owned() })
    };
    let content = if head.starts_with(magic::PARQUET) {
        Some(Format::Parquet)
    } else if head.starts_with(magic::ARROW_FILE) || head.starts_with(magic::ARROW_STREAM) {
        Some(Format::Arrow)
    } else {
        None
    };
    let wanted = given.or_else(|| Format::of_name(path));
    match (content, wanted) {
        (Some(found), None) => Ok(found),
        (Some(found), Some(wanted)) if found == wanted => Ok(found),
        (Some(Format::Parquet), Some(_)) => wrong("what it was said to be", "it is a Parquet file"),
        (Some(_), Some(_)) => wrong("what it was said to be", "it is an Arrow file"),
        (None, Some(Format::Parquet)) => wrong("a Parquet file", "it does not begin with PAR1"),
        (None, Some(Format::Arrow)) => wrong("an Arrow file or stream", "it does not begin as one"),
        (None, Some(text)) => Ok(text),
        (None, None) if text_of(head).starts_with(b"{") => Ok(Format::Jsonl),
        (None, None) => Ok(Format::Csv),
    }
}

/// What follows a byte-order mark and blanks.
fn text_of(head: &[u8]) -> &[u8] {
    head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start()
}

/// The first bytes, and a reader that still gives all of them.
fn peek(mut reader: BoxedRead) -> io::Result<(Vec<u8>, BoxedRead)> {
    const LONGEST: u64 = 16;
    let mut head = Vec::new();
    reader.by_ref().take(LONGEST).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(reader))))
}

/// Copies what can be read only once into an unnamed temporary file.
fn spool(mut reader: BoxedRead) -> io::Result<File> {
    let mut file = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        let problem = format!("no temporary copy can be made in {}: {error}", folder.display());
        io::Error::new(error.kind(), problem)
    })?;
    io::copy(&mut reader, &mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

struct Counted {
    inner: BoxedRead,
    progress: Arc<Progress>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.advance(bytes as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (name, format) in [
            ("a.csv", Some(Format::Csv)),
            ("a.b.TSV.gz", Some(Format::Tsv)),
            ("a.ndjson.zst", Some(Format::Jsonl)),
            ("a.parquet", Some(Format::Parquet)),
            ("a.feather", Some(Format::Arrow)),
            ("votes", None),
            ("votes.gz", None),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }
}
