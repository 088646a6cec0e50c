//! Reading a share of the input: some of its files, or some row groups of a Parquet file.
//!
//! Row numbers are those of the whole file. Checks that need all shares are left to the caller
//! ([`crate::Input::check`]).

use std::sync::Arc;

use super::database::DatabaseCopy;
use super::fingerprint::ContentHash;
use super::parquet;
use super::progress::Progress;
use super::source::{Opened, Source, Sources};
use crate::error::{Error, Result};
use crate::format::Format;

/// A file to read completely or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The file.
    pub path: String,
    /// The row groups of a Parquet file to read; `None` for all.
    pub row_groups: Option<Vec<usize>>,
}

/// The size of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSize {
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes of each row group, for a Parquet file that is not compressed as a whole.
    pub row_groups: Option<Vec<u64>>,
}

impl Sources {
    /// Files or parts of files, which can be read more than once.
    #[must_use]
    pub fn shares(shares: &[Share]) -> Self {
        let source = |Share { path, row_groups }: &Share| Source::File {
            path: path.clone(),
            spool: None,
            row_groups: row_groups.clone(),
            copy: Some(DatabaseCopy::default()),
        };
        Self::for_several_passes(shares.iter().map(source).collect())
    }
}

/// Measures a file and the row groups that it can be divided into.
///
/// # Errors
/// [`Error::NotShareable`] for a stream; other errors if the file cannot be opened, is empty, or is
/// damaged at its start or end.
pub fn measure(path: &str, format: Option<Format>) -> Result<FileSize> {
    if path == "-" {
        return Err(Error::NotShareable { file: path.into() });
    }
    let metadata = std::fs::metadata(path);
    let metadata = metadata.map_err(|source| Error::Open { file: path.into(), source })?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(Error::NotShareable { file: path.into() });
    }
    let source = Source::file(path);
    let row_groups =
        match source.open(format, &Arc::new(Progress::default()), &ContentHash::off())? {
            Opened::File(file) if file.format == Format::Parquet && !file.compressed => {
                Some(parquet::row_group_bytes(file)?)
            }
            _ => None,
        };
    Ok(FileSize { bytes: metadata.len(), row_groups })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, RecordBatch, StringArray};

    use super::*;
    use crate::study::Input;
    use crate::{OnError, ReadOptions};

    /// Ten votes in row groups of four; the seventh is bad.
    fn votes() -> Vec<u8> {
        let column = |text: Vec<String>| Arc::new(StringArray::from(text)) as ArrayRef;
        let winners = (0..10).map(|k| format!("w{}", k % 3)).collect();
        let losers = (0..10).map(|k| if k == 6 { "w0".to_owned() } else { format!("l{k}") });
        let columns = [("winner", column(winners)), ("loser", column(losers.collect()))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4)).build();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn read(path: &str, row_groups: Option<&[usize]>) -> Result<Input> {
        let share = Share { path: path.to_owned(), row_groups: row_groups.map(<[_]>::to_vec) };
        let options = ReadOptions { on_error: OnError::Skip, threads: 2, ..Default::default() };
        Sources::shares(&[share]).read_part(&options, &Arc::new(Progress::default()))
    }

    #[test]
    fn row_groups_are_read_separately_and_rows_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("votes.parquet");
        std::fs::write(&path, votes()).unwrap();
        let path = path.to_str().unwrap();
        let measured = measure(path, None).unwrap();
        assert_eq!(measured.row_groups.unwrap().len(), 3);
        let rows = |input: &Input| input.studies.iter().map(|study| study.rows).sum::<u64>();
        let whole = read(path, None).unwrap();
        let ends = read(path, Some(&[0, 2])).unwrap();
        let middle = read(path, Some(&[1])).unwrap();
        assert_eq!([rows(&whole), rows(&ends), rows(&middle)], [9, 6, 3]);
        assert_eq!(ends.rejected.total, 0);
        for input in [whole, middle] {
            assert_eq!(input.rejected.total, 1);
            assert_eq!(input.rejected.first[0].position, crate::Position::Row(7));
        }
        // No votes, but no error either: other processes read the rest.
        assert_eq!(read(path, Some(&[])).unwrap().studies.len(), 0);
    }

    #[test]
    fn other_files_have_no_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("votes.csv");
        std::fs::write(&text, "winner,loser\na,b\n").unwrap();
        let measured = measure(text.to_str().unwrap(), None).unwrap();
        assert_eq!(measured, FileSize { bytes: 17, row_groups: None });
        let packed = folder.path().join("votes.parquet.gz");
        let file = std::fs::File::create(&packed).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&votes()).unwrap();
        encoder.finish().unwrap();
        assert_eq!(measure(packed.to_str().unwrap(), None).unwrap().row_groups, None);
        assert!(matches!(measure("-", None), Err(Error::NotShareable { .. })));
        let missing = folder.path().join("missing.csv");
        assert!(matches!(measure(missing.to_str().unwrap(), None), Err(Error::Open { .. })));
        std::fs::write(&text, "").unwrap();
        assert!(matches!(measure(text.to_str().unwrap(), None), Err(Error::Empty { .. })));
    }
}
