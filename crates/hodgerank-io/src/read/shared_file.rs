//! A Parquet file that several threads read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::fingerprint::{ContentHash, HashedRanges};
use super::parquet_scan::{ScanError, check_page};

/// A file that several threads read at different positions, without a shared cursor.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<File>,
    pub(super) len: u64,
    content: ContentHash,
    /// Which bytes are hashed; `None` for all, while the metadata is read.
    hashed: Option<HashedRanges>,
}

impl SharedFile {
    pub(super) fn new(file: File, content: ContentHash) -> io::Result<Self> {
        let len = file.metadata()?.len();
        content.add_range(len, b"");
        Ok(Self { file: Arc::new(file), len, content, hashed: None })
    }

    /// Hashes only what is read in these ranges from here on.
    pub(super) fn hash_only(self, ranges: HashedRanges) -> Self {
        Self { hashed: Some(ranges), ..self }
    }

    /// The metadata at the end of the file; `None` if it cannot be found.
    pub(super) fn footer(&self) -> Option<Vec<u8>> {
        const TAIL: usize = 8;
        let end = self.len.checked_sub(TAIL as u64)?;
        let tail = self.bytes_at(end, TAIL).ok()?;
        let length = u32::from_le_bytes(*tail.first_chunk()?);
        self.bytes_at(end.checked_sub(length.into())?, length as usize).ok()
    }

    /// The number of bytes of the page at a position, with its header.
    pub(super) fn page_bytes(&self, at: u64) -> Result<u64, ScanError> {
        /// Most headers are much shorter. A header with statistics can be longer.
        const HEADER_BYTES: [u64; 2] = [1 << 10, 1 << 20];
        let mut scanned = Err(ScanError::Malformed);
        for bytes in HEADER_BYTES {
            let bytes = bytes.min(self.len - at) as usize;
            let header = self.bytes_at(at, bytes).map_err(|_| ScanError::Malformed)?;
            scanned = check_page(&header);
            if scanned != Err(ScanError::Malformed) {
                break;
            }
        }
        scanned
    }

    fn bytes_at(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        ReadFrom { file: Arc::clone(&self.file), at: start }.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<ReadFrom>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(ReadFrom { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len);
        if end.is_none() {
            return Err(ParquetError::EOF("the file is cut off".to_owned()));
        }
        let bytes = self.bytes_at(start, length)?;
        // Data of pages; their headers are read as streams of no fixed length.
        if self.hashed.as_ref().is_none_or(|hashed| hashed.contains(start)) {
            self.content.add_range(start, &bytes);
        }
        Ok(bytes.into())
    }
}

pub(super) struct ReadFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
