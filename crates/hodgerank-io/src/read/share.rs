//! Reading a part of the input: some of its files, or some row groups of a Parquet file.
//!
//! What a part holds is counted as if all were read: rows keep their numbers. Whether several
//! parts go together is for whoever hears of them all to check ([`crate::Input::check`]).

use std::sync::Arc;

use super::source::{Content, Format, Source, Sources};
use super::{Progress, parquet};
use crate::error::{Error, Result};

/// A file to read, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The file.
    pub path: String,
    /// The row groups to read of a Parquet file; all where this is not said.
    pub row_groups: Option<Vec<usize>>,
}

/// How large a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes of each row group of a Parquet file that can be read in any order.
    pub row_groups: Option<Vec<u64>>,
}

impl Sources {
    /// Files, or parts of them, to read as often as needed.
    #[must_use]
    pub fn shares(shares: &[Share]) -> Self {
        let source = |Share { path, row_groups }: &Share| Source::File {
            path: path.clone(),
            copy: None,
            row_groups: row_groups.clone(),
        };
        Self(shares.iter().map(source).collect())
    }
}

/// Opens a file to see how large it is, and what it can be split into.
///
/// # Errors
/// If it is no file that can be opened again and again, is empty, or is damaged at its ends.
pub fn measure(path: &str, format: Option<Format>) -> Result<Measured> {
    let streams = || Error::Formats {
        problem: format!("{path}: standard input and pipes cannot be shared out"),
        help: "write the votes to files first".to_owned(),
    };
    if path == "-" {
        return Err(streams());
    }
    let metadata = std::fs::metadata(path);
    let metadata = metadata.map_err(|source| Error::Open { file: path.into(), source })?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(streams());
    }
    let source = Source::File { path: path.to_owned(), copy: None, row_groups: None };
    let opened = source.open(format, &Arc::new(Progress::default()))?;
    let row_groups = match opened.content {
        Content::Parquet(handle) if !opened.compressed => {
            Some(parquet::row_group_bytes(&opened.name, &handle)?)
        }
        _ => None,
    };
    Ok(Measured { bytes: metadata.len(), row_groups })
}
