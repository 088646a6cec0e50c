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
    fn row_groups_are_read_apart_and_rows_keep_their_numbers() {
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
        // Others read everything: no vote here, and no error.
        assert_eq!(read(path, Some(&[])).unwrap().studies.len(), 0);
    }

    #[test]
    fn what_cannot_be_split_is_one_piece() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("votes.csv");
        std::fs::write(&text, "winner,loser\na,b\n").unwrap();
        let measured = measure(text.to_str().unwrap(), None).unwrap();
        assert_eq!(measured, Measured { bytes: 17, row_groups: None });
        let packed = folder.path().join("votes.parquet.gz");
        let file = std::fs::File::create(&packed).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&votes()).unwrap();
        encoder.finish().unwrap();
        assert_eq!(measure(packed.to_str().unwrap(), None).unwrap().row_groups, None);
        assert!(matches!(measure("-", None), Err(Error::Formats { .. })));
        let missing = folder.path().join("missing.csv");
        assert!(matches!(measure(missing.to_str().unwrap(), None), Err(Error::Open { .. })));
        std::fs::write(&text, "").unwrap();
        assert!(matches!(measure(text.to_str().unwrap(), None), Err(Error::Empty { .. })));
    }
}
