//! Names, sizes and hashes of the files that were read, so that a result can say what it was computed from.
//!
//! The hash is XXH64 of the whole file, as `xxh64sum` prints it. Text and compressed files are hashed while
//! they are read. Of Parquet and Arrow files only some columns are read, so these files are hashed
//! afterwards, unless they are so large that it would take long. A database has no hash if some of its rows are
//! in a write-ahead log.

use std::fs::{self, File};
use std::hash::Hasher as _;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Serialize;
use twox_hash::XxHash64;

use super::database::has_log;
use super::fingerprint::ContentHash;

/// Larger files are not read a second time for their hash.
const MAX_BYTES_TO_HASH: u64 = 1 << 30;

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputFile {
    /// Its name as given; `-` is standard input.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Sixteen hexadecimal digits; `None` for a large file, or a share of one, that was read in part,
    /// and for a database that another program has open.
    pub xxh64: Option<String>,
}

impl InputFile {
    /// The file of this name, if it is not hashed.
    #[must_use]
    pub fn unhashed(name: &str) -> Self {
        let bytes = fs::metadata(name).map_or(0, |file| file.len());
        Self { name: name.to_owned(), bytes, xxh64: None }
    }

    /// The file of this name, of which `content` has hashed what was read from start to end.
    pub(super) fn new(name: &str, content: &ContentHash) -> io::Result<Self> {
        let (read, hash) = content.stream();
        let size = match name {
            "-" => None,
            path => Some(fs::metadata(path)?).filter(fs::Metadata::is_file).map(|file| file.len()),
        };
        let (bytes, hash) = match size {
            Some(bytes) if bytes != read => {
                let is_hashed = bytes <= MAX_BYTES_TO_HASH && !has_log(Path::new(name));
                (bytes, is_hashed.then(|| hash_file(name)).transpose()?)
            }
            _ => (read, Some(hash)),
        };
        let xxh64 = hash.map(|hash| format!("{hash:016x}"));
        Ok(Self { name: name.to_owned(), bytes, xxh64 })
    }
}

/// The hash of the whole content of a file.
pub(super) fn hash_file(path: &str) -> io::Result<u64> {
    const BUFFER_BYTES: usize = 1 << 18;
    let mut file = File::open(path)?;
    let mut hasher = XxHash64::with_seed(0);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            read => hasher.write(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes.csv");
        fs::write(&path, "abc").unwrap();
        let name = path.to_str().unwrap();
        // XXH64 with the seed 0, by the reference implementation.
        let expected = InputFile {
            name: name.to_owned(),
            bytes: 3,
            xxh64: Some("44bc2cf5ad770999".to_owned()),
        };
        let all = ContentHash::on();
        all.add(b"abc");
        assert_eq!(InputFile::new(name, &all).unwrap(), expected);
        let some = ContentHash::on();
        some.add(b"a");
        some.add_range(1, b"bc");
        assert_eq!(InputFile::new(name, &some).unwrap(), expected);
        let stream = InputFile::new("-", &all).unwrap();
        assert_eq!(stream, InputFile { name: "-".to_owned(), ..expected });
    }
}
