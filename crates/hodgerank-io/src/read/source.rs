//! Sources of votes: detects format and compression, and opens files for streaming or seeking.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::{Arc, OnceLock};

use super::database::DatabaseCopy;
use super::fingerprint::{ContentHash, Fingerprint};
use super::input_file::InputFile;
use super::memory::MemoryTable;
use super::progress::Progress;
use super::spool::{Spool, copy_to_file};
use crate::error::{Error, Result, WrongEncoding};
use crate::format::Format;

pub(super) type BoxedRead = Box<dyn Read + Send>;

/// Optional first bytes of UTF-8 text; not a part of the text.
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

const OLD_WORKBOOK_MAGIC: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0];
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Where votes are read from: files or a table in memory.
///
/// Sources that can be read more than once remember what the first pass has read. A later pass that
/// reads anything else ends with [`Error::Changed`].
#[derive(Debug)]
pub struct Sources {
    pub(super) list: Vec<Source>,
    /// What the first pass has read; `None` if there is only one pass.
    first_pass: Option<OnceLock<Vec<Fingerprint>>>,
    /// Names, sizes and hashes of the files, if they are wanted and have been read.
    files: OnceLock<Vec<InputFile>>,
}

#[derive(Debug)]
pub(super) enum Source {
    File {
        path: String,
        /// For a stream that can be read only once, if several passes read it.
        spool: Option<Spool>,
        /// The row groups of a Parquet file to read; `None` for all.
        row_groups: Option<Vec<usize>>,
        /// For a database that other programs may write to, if several passes read it.
        copy: Option<DatabaseCopy>,
    },
    Table(Arc<MemoryTable>),
}

impl Sources {
    /// Files to read once; `-` is standard input.
    #[must_use]
    pub fn once(files: &[String]) -> Self {
        let source = |path: &String| Source::file(path);
        Self { list: files.iter().map(source).collect(), first_pass: None, files: OnceLock::new() }
    }

    /// Files to read more than once. The first pass over standard input or a pipe copies it to a
    /// temporary file, from which later passes read.
    #[must_use]
    pub fn repeatable(files: &[String]) -> Self {
        let source = |path: &String| {
            let is_pipe = || std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir());
            let spool = (path == "-" || is_pipe()).then(Spool::default);
            let copy = Some(DatabaseCopy::default());
            Source::File { path: path.clone(), spool, row_groups: None, copy }
        };
        Self::for_several_passes(files.iter().map(source).collect())
    }

    /// A table in memory.
    #[must_use]
    pub fn table(table: &Arc<MemoryTable>) -> Self {
        Self::for_several_passes(vec![Source::Table(Arc::clone(table))])
    }

    pub(super) fn for_several_passes(list: Vec<Source>) -> Self {
        Self { list, first_pass: Some(OnceLock::new()), files: OnceLock::new() }
    }

    /// Whether passes over a source must read the same bytes. A temporary copy cannot change, and the
    /// first pass, which writes it, reads other bytes than later ones if the format has to be read in
    /// ranges.
    pub(super) fn can_change(&self, source: &Source) -> bool {
        let is_copied = matches!(source, Source::File { spool: Some(_), .. });
        self.first_pass.is_some() && !is_copied
    }

    /// A hash for what a pass reads of a source; `hash_files` if the hash of the file is wanted.
    pub(super) fn content_hash(&self, source: &Source, hash_files: bool) -> ContentHash {
        match self.can_change(source) || (hash_files && !self.was_read()) {
            true => ContentHash::on(),
            false => ContentHash::off(),
        }
    }

    /// The files that were read, in their order; empty unless [`super::ReadOptions::hash_files`].
    pub fn files(&self) -> &[InputFile] {
        self.files.get().map_or(&[], Vec::as_slice)
    }

    /// Remembers the files that the first pass has read.
    pub(super) fn remember_files(&self, files: Vec<InputFile>) {
        self.files.get_or_init(|| files);
    }

    /// Makes the next pass the first one. Temporary copies of streams remain.
    pub(crate) fn forget_first_pass(&mut self) {
        if let Some(first) = &mut self.first_pass {
            *first = OnceLock::new();
        }
    }

    /// Whether the first pass is over.
    pub(super) fn was_read(&self) -> bool {
        self.first_pass.as_ref().is_some_and(|first| first.get().is_some())
    }

    /// Remembers what the first pass has read of each source, or compares a later pass with it.
    pub(super) fn check_unchanged(&self, read: Vec<Fingerprint>) -> Result<()> {
        let Some(first) = &self.first_pass else { return Ok(()) };
        let Err(read) = first.set(read) else { return Ok(()) };
        let first = first.get().map_or(&[][..], Vec::as_slice);
        for ((source, before), now) in self.list.iter().zip(first).zip(&read) {
            if let Some(difference) = before.difference(now) {
                return Err(Error::Changed { file: source.name(), difference });
            }
        }
        Ok(())
    }
}

/// An opened source.
pub(super) enum Opened<'a> {
    File(OpenedFile),
    Table(&'a MemoryTable),
}

impl Source {
    /// A file to read once.
    pub(super) fn file(path: &str) -> Self {
        Self::File { path: path.to_owned(), spool: None, row_groups: None, copy: None }
    }

    /// The name in messages.
    pub(super) fn name(&self) -> Arc<str> {
        match self {
            Self::File { path, .. } => name_of(path),
            Self::Table(table) => table.name(),
        }
    }

    /// The name of a file, as given.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Table(_) => None,
        }
    }

    /// Opens a file or, for `-`, standard input. `format` overrides the file name's extension.
    pub(super) fn open(
        &self,
        format: Option<Format>,
        progress: &Arc<Progress>,
        content: &ContentHash,
    ) -> Result<Opened<'_>> {
        match self {
            Self::File { path, spool, .. } => {
                OpenedFile::open(path, spool.as_ref(), format, progress, content).map(Opened::File)
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

    /// Where rows of a database are kept for later passes; `None` if there are none.
    pub(super) fn copy(&self) -> Option<&DatabaseCopy> {
        match self {
            Self::File { copy, .. } => copy.as_ref(),
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
    /// Hashes what is read through `reader`; ranges of the file are added by those who read them.
    pub(super) content: ContentHash,
    first_bytes: Vec<u8>,
    reader: BoxedRead,
    /// A handle of a regular file on disk.
    on_disk: Option<File>,
    /// Whether that file has the name of the source; a temporary copy has none.
    has_path: bool,
}

impl OpenedFile {
    fn open(
        path: &str,
        spool: Option<&Spool>,
        format: Option<Format>,
        progress: &Arc<Progress>,
        content: &ContentHash,
    ) -> Result<Self> {
        let name = name_of(path);
        let cannot_open = |source| Error::Open { file: Arc::clone(&name), source };
        let cannot_read = |source| Error::read(&name, source);
        let (mut on_disk, mut has_path) = (None, false);
        let raw: BoxedRead = if let Some(copy) = spool.and_then(Spool::copy) {
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
                has_path = true;
                on_disk = Some(file.try_clone().map_err(cannot_open)?);
            }
            Box::new(file)
        };
        let raw = match spool.filter(|spool| spool.copy().is_none()) {
            Some(spool) => spool.record(raw).map_err(cannot_read)?,
            None => raw,
        };
        let (progress, content) = (Arc::clone(progress), content.clone());
        let observed = ObservedReader { inner: raw, progress, content: content.clone() };
        let (compressed, first_bytes, reader) =
            decompress(Box::new(observed)).map_err(cannot_read)?;
        if first_bytes.is_empty() {
            return Err(Error::Empty { file: name });
        }
        let format = detect_format(&name, path, format, &first_bytes)?;
        Ok(Self { name, format, compressed, content, first_bytes, reader, on_disk, has_path })
    }

    pub(super) fn starts_with(&self, magic: &[u8]) -> bool {
        self.first_bytes.starts_with(magic)
    }

    /// One of the first 20 bytes.
    pub(super) fn byte(&self, index: usize) -> Option<u8> {
        self.first_bytes.get(index).copied()
    }

    /// Whether the content is that of a file on disk, which can be opened by its name.
    pub(super) fn has_path(&self) -> bool {
        self.has_path && !self.compressed
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

/// Opens a file that is not a table of votes, decompressed while it is read; `-` is standard input.
///
/// # Errors
/// [`Error::Open`] or [`Error::Read`].
pub fn open_file(path: &str) -> Result<Box<dyn Read + Send>> {
    let name = name_of(path);
    let raw: BoxedRead = match path {
        "-" => Box::new(io::stdin()),
        path => Box::new(
            File::open(path).map_err(|source| Error::Open { file: Arc::clone(&name), source })?,
        ),
    };
    let (_, _, reader) = decompress(raw).map_err(|source| Error::read(&name, source))?;
    Ok(reader)
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
    if first_bytes.starts_with(OLD_WORKBOOK_MAGIC) {
        let encoding = WrongEncoding::OldWorkbook;
        return Err(Error::Encoding { file: Arc::clone(name), encoding });
    }
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

/// Whether the content is compressed, its first bytes, and a reader that decompresses all of it.
fn decompress(raw: BoxedRead) -> io::Result<(bool, Vec<u8>, BoxedRead)> {
    let (first_bytes, reader) = peek(raw)?;
    let decoder: BoxedRead = if first_bytes.starts_with(GZIP_MAGIC) {
        Box::new(flate2::bufread::MultiGzDecoder::new(io::BufReader::new(reader)))
    } else if first_bytes.starts_with(ZSTD_MAGIC) {
        Box::new(zstd::Decoder::new(reader)?)
    } else {
        return Ok((false, first_bytes, reader));
    };
    let (first_bytes, reader) = peek(decoder)?;
    Ok((true, first_bytes, reader))
}

/// The first bytes, and a reader that returns the whole content including them.
fn peek(mut reader: BoxedRead) -> io::Result<(Vec<u8>, BoxedRead)> {
    const PEEKED_BYTES: u64 = 20;
    let mut first_bytes = Vec::new();
    reader.by_ref().take(PEEKED_BYTES).read_to_end(&mut first_bytes)?;
    Ok((first_bytes.clone(), Box::new(Cursor::new(first_bytes).chain(reader))))
}

/// Counts the bytes that are read in a [`Progress`], and hashes them.
struct ObservedReader {
    inner: BoxedRead,
    progress: Arc<Progress>,
    content: ContentHash,
}

impl Read for ObservedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.advance(bytes as u64);
        self.content.add(&buffer[..bytes]);
        Ok(bytes)
    }
}
