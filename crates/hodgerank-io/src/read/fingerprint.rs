//! What was read of a source, so that a later pass can check that it reads the same votes.
//!
//! The bytes of the file are hashed as they are read, before they are decompressed or parsed. A
//! stream is one sequence of bytes. Parquet and Arrow files are read in ranges, by several threads
//! in any order: each range is hashed together with its position, and the hashes are added up.
//! Of a database, the values of used columns are hashed, in the order of the rows.
//! Bytes that only one of the passes reads (columns without a role) are left out.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use twox_hash::XxHash64;

/// What one pass has read of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// Rows, including rejected ones.
    pub(super) rows: u64,
    /// Bytes that were hashed.
    bytes: u64,
    hash: u64,
}

impl Fingerprint {
    /// The number of rows alone, for a source that cannot change.
    pub(super) fn of_rows(rows: u64) -> Self {
        Self { rows, bytes: 0, hash: 0 }
    }

    /// How a later pass differs from this one, in words; `None` if it does not.
    pub(super) fn difference(&self, later: &Self) -> Option<String> {
        if self == later {
            None
        } else if self.rows != later.rows {
            Some(format!("it had {} rows at first and {} later", self.rows, later.rows))
        } else if self.bytes != later.bytes {
            Some(format!("it had {} bytes at first and {} later", self.bytes, later.bytes))
        } else {
            Some("its size is the same, but its content is not".to_owned())
        }
    }
}

/// A hash of the bytes that are read; shared by all readers of a source.
#[derive(Debug, Clone, Default)]
pub(super) struct ContentHash(Option<Arc<Mutex<HashState>>>);

#[derive(Debug)]
struct HashState {
    stream: XxHash64,
    stream_bytes: u64,
    ranges: u64,
    bytes: u64,
}

impl ContentHash {
    /// Hashes nothing: for a source that is read once.
    pub(super) fn off() -> Self {
        Self(None)
    }

    /// Hashes everything that is added.
    pub(super) fn on() -> Self {
        let state =
            HashState { stream: XxHash64::with_seed(0), stream_bytes: 0, ranges: 0, bytes: 0 };
        Self(Some(Arc::new(Mutex::new(state))))
    }

    /// Whether anything is hashed.
    pub(super) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds the next bytes of a stream. The result depends on their order, but not on how they are
    /// divided into calls.
    pub(super) fn add(&self, bytes: &[u8]) {
        let Some(state) = &self.0 else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.stream.write(bytes);
        state.stream_bytes += bytes.len() as u64;
        state.bytes += bytes.len() as u64;
    }

    /// Adds the bytes at a position of a file. The result does not depend on the order of calls.
    pub(super) fn add_range(&self, start: u64, bytes: &[u8]) {
        let Some(state) = &self.0 else { return };
        // Hashed before the lock is taken: several threads read ranges at the same time.
        let hash = XxHash64::oneshot(start, bytes);
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ranges = state.ranges.wrapping_add(hash);
        state.bytes += bytes.len() as u64;
    }

    /// Number and hash of the bytes that were read from start to end.
    pub(super) fn stream(&self) -> (u64, u64) {
        let Some(state) = &self.0 else { return (0, XxHash64::with_seed(0).finish()) };
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.stream_bytes, state.stream.finish())
    }

    /// What was read, after `rows` rows.
    pub(super) fn finish(&self, rows: u64) -> Fingerprint {
        let Some(state) = &self.0 else { return Fingerprint::of_rows(rows) };
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = state.stream.finish().wrapping_add(state.ranges.rotate_left(1));
        Fingerprint { rows, bytes: state.bytes, hash }
    }
}

/// The ranges of a file that are hashed: sorted, without overlaps.
#[derive(Debug, Clone, Default)]
pub(super) struct HashedRanges(Arc<[Range<u64>]>);

impl HashedRanges {
    pub(super) fn new(mut ranges: Vec<Range<u64>>) -> Self {
        ranges.sort_unstable_by_key(|range| range.start);
        Self(ranges.into())
    }

    pub(super) fn contains(&self, position: u64) -> bool {
        let after = self.0.partition_point(|range| range.start <= position);
        after > 0 && position < self.0[after - 1].end
    }
}

/// A file that is hashed where it is read.
pub(super) struct HashedFile {
    file: File,
    at: u64,
    content: ContentHash,
}

impl HashedFile {
    /// The position of `file` must be set before the first read.
    pub(super) fn new(file: File, content: ContentHash) -> Self {
        Self { file, at: 0, content }
    }
}

impl Read for HashedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.content.add_range(self.at, &buffer[..read]);
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for HashedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(position)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_stream(parts: &[&[u8]]) -> Fingerprint {
        let content = ContentHash::on();
        parts.iter().for_each(|part| content.add(part));
        content.finish(0)
    }

    #[test]
    fn a_stream_is_one_sequence_of_bytes() {
        assert_eq!(of_stream(&[b"abc", b"def"]), of_stream(&[b"a", b"", b"bcdef"]));
        assert_ne!(of_stream(&[b"abc", b"def"]), of_stream(&[b"def", b"abc"]));
    }

    #[test]
    fn ranges_can_be_read_in_any_order() {
        let of_ranges = |ranges: &[(u64, &[u8])]| {
            let content = ContentHash::on();
            ranges.iter().for_each(|&(start, bytes)| content.add_range(start, bytes));
            content.finish(0)
        };
        assert_eq!(of_ranges(&[(0, b"abc"), (7, b"def")]), of_ranges(&[(7, b"def"), (0, b"abc")]));
        assert_ne!(of_ranges(&[(0, b"abc"), (7, b"def")]), of_ranges(&[(0, b"def"), (7, b"abc")]));
    }

    #[test]
    fn hashed_ranges_have_ends() {
        let ranges = HashedRanges::new(vec![20..30, 5..10]);
        let inside: Vec<u64> = (0..40).filter(|&at| ranges.contains(at)).collect();
        assert_eq!(inside, (5..10).chain(20..30).collect::<Vec<_>>());
    }

    #[test]
    fn differences_are_put_in_words() {
        let first = Fingerprint { rows: 4, bytes: 10, hash: 1 };
        let words = |later: Fingerprint| first.difference(&later).unwrap_or_default();
        assert_eq!(words(first), "");
        assert!(words(Fingerprint { rows: 3, ..first }).contains("4 rows at first and 3 later"));
        assert!(words(Fingerprint { bytes: 9, ..first }).contains("10 bytes at first and 9 later"));
        assert!(words(Fingerprint { hash: 2, ..first }).contains("its content is not"));
    }
}
