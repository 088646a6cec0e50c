//! Sources of votes: detects format and compression, and opens files for streaming or seeking.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::memory::MemoryTable;
use super::progress::Progress;
use crate::error::{Error, Result};
use crate::format::Format;

pub(super) type BoxedRead = Box<dyn Read + Send>;

/// Optional first bytes of UTF-8 text; not a part of the text.
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Where votes are read from: files or a table in memory.
#[derive(Debug)]
pub struct Sources(pub(super) Vec<Source>);

#[derive(Debug)]
pub(super) enum Source {
    File {
        path: String,
        /// A temporary copy of a stream that can be read only once.
        copy: Option<File>,
        /// The row groups of a Parquet file to read; `None` for all.
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
    /// If a stream cannot be copied.
    pub fn repeatable(files: &[String]) -> Result<Self> {
        let source = |path: &String| {
            let is_pipe = || std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
            let copy = match path.as_str() {
                "-" => Some(copy_to_file(Box::new(io::stdin()))),
                _ if is_pipe() => {
                    Some(File::open(path).and_then(|pipe| copy_to_file(Box::new(pipe))))
                }
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

/// An opened source.
pub(super) enum Opened<'a> {
    File(OpenedFile),
    Table(&'a MemoryTable),
}

impl Source {
    /// Opens a file or, for `-`, standard input. `format` overrides the file name's extension.
    pub(super) fn open(
        &self,
        format: Option<Format>,
        progress: &Arc<Progress>,
    ) -> Result<Opened<'_>> {
        match self {
            Self::File { path, copy, .. } => {
                OpenedFile::open(path, copy.as_ref(), format, progress).map(Opened::File)
            }
            Self::Table(table) => Ok(Opened::Table(table)),
        }
    }

    /// The row groups to read; `None` for all.
    pub(super) fn row_groups(&self) -> Option<&[usize]> {
        match self {
            Self::File { row_groups, .. } => row_groups.as_deref(),
            Self::Table(_) => None,
        }
    }
}

/// A file of a known format, decompressed while it is read.
pub(super) struct OpenedFile {
    pub(super) name: Arc<str>,
    pub(super) format: Format,
    /// Whether the whole file is compressed, so that it can only be read from start to end.
    pub(super) compressed: bool,
    first_bytes: Vec<u8>,
    reader: BoxedRead,
    /// A handle of a regular file on disk.
    on_disk: Option<File>,
}

impl OpenedFile {
    fn open(
        path: &str,
        copy: Option<&File>,
        format: Option<Format>,
        progress: &Arc<Progress>,
    ) -> Result<Self> {
        let name = name_of(path);
        let cannot_open = |source| Error::Open { file: Arc::clone(&name), source };
        let cannot_read = |source| Error::read(&name, source);
        let mut on_disk = None;
        let raw: BoxedRead = if let Some(copy) = copy {
            let mut file = copy.try_clone().map_err(cannot_open)?;
            file.seek(SeekFrom::Start(0)).map_err(cannot_open)?;
            on_disk = Some(file.try_clone().map_err(cannot_open)?);
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
                on_disk = Some(file.try_clone().map_err(cannot_open)?);
            }
            Box::new(file)
        };
        let counting = Box::new(CountingReader { inner: raw, progress: Arc::clone(progress) });
        let (first_bytes, reader) = peek(counting).map_err(cannot_read)?;
        let (compressed, (first_bytes, reader)) = if first_bytes.starts_with(GZIP_MAGIC) {
            let decoder = flate2::bufread::MultiGzDecoder::new(io::BufReader::new(reader));
            (true, peek(Box::new(decoder)).map_err(cannot_read)?)
        } else if first_bytes.starts_with(ZSTD_MAGIC) {
            let decoder = zstd::Decoder::new(reader).map_err(cannot_read)?;
            (true, peek(Box::new(decoder)).map_err(cannot_read)?)
        } else {
            (false, (first_bytes, reader))
        };
        if first_bytes.is_empty() {
            return Err(Error::Empty { file: name });
        }
        let format = detect_format(&name, path, format, &first_bytes)?;
        Ok(Self { name, format, compressed, first_bytes, reader, on_disk })
    }

    pub(super) fn starts_with(&self, magic: &[u8]) -> bool {
        self.first_bytes.starts_with(magic)
    }

    /// The content from start to end.
    pub(super) fn into_reader(self) -> BoxedRead {
        self.reader
    }

    /// The content as a file that can be read at any position. Streams and compressed files are
    /// copied to a temporary file.
    pub(super) fn into_file(self) -> Result<File> {
        let file = match self.on_disk {
            Some(mut file) if !self.compressed => file.seek(SeekFrom::Start(0)).map(|_| file),
            _ => copy_to_file(self.reader),
        };
        file.map_err(|source| Error::read(&self.name, source))
    }
}

fn name_of(path: &str) -> Arc<str> {
    if path == "-" { "standard input".into() } else { path.into() }
}

/// Binary formats are recognised by their first bytes, which must not contradict `given` or the
/// file name. For text, `given`, the name and the first character decide, in this order.
fn detect_format(
    name: &Arc<str>,
    path: &str,
    given: Option<Format>,
    first_bytes: &[u8],
) -> Result<Format> {
    let found = Format::from_magic(first_bytes);
    match (found, given.or_else(|| Format::from_file_name(path))) {
        (Some(found), None) => Ok(found),
        (None, None) => Ok(Format::from_first_character(first_character(first_bytes))),
        (found, Some(expected))
            if found == Some(expected) || (found.is_none() && expected.is_text()) =>
        {
            Ok(expected)
        }
        (found, Some(expected)) => {
            Err(Error::WrongFormat { file: Arc::clone(name), expected, found })
        }
    }
}

/// The first character after a byte-order mark and whitespace.
fn first_character(text: &[u8]) -> Option<u8> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    text.trim_ascii_start().first().copied()
}

/// The first bytes, and a reader that returns the whole content including them.
fn peek(mut reader: BoxedRead) -> io::Result<(Vec<u8>, BoxedRead)> {
    const PEEKED_BYTES: u64 = 16;
    let mut first_bytes = Vec::new();
    reader.by_ref().take(PEEKED_BYTES).read_to_end(&mut first_bytes)?;
    Ok((first_bytes.clone(), Box::new(Cursor::new(first_bytes).chain(reader))))
}

/// Copies a stream to an unnamed temporary file.
fn copy_to_file(mut reader: BoxedRead) -> io::Result<File> {
    let mut file = tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        let problem = format!("no temporary copy can be made in {}: {error}", folder.display());
        io::Error::new(error.kind(), problem)
    })?;
    io::copy(&mut reader, &mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Adds the bytes that are read to a [`Progress`].
struct CountingReader {
    inner: BoxedRead,
    progress: Arc<Progress>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.advance(bytes as u64);
        Ok(bytes)
    }
}
