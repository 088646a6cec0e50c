//! Rows of winner, loser and annotator as files.

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

fn batch(rows: &[[String; 3]]) -> RecordBatch {
    let column = |k: usize| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(row[k].as_str())).collect::<StringArray>())
    };
    let columns = [("winner", column(0)), ("loser", column(1)), ("annotator", column(2))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// A Parquet file with several row groups.
pub(crate) fn parquet(rows: &[[String; 3]]) -> Vec<u8> {
    let batch = batch(rows);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(50)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn arrow_file(rows: &[[String; 3]]) -> Vec<u8> {
    let batch = batch(rows);
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn arrow_stream(rows: &[[String; 3]]) -> Vec<u8> {
    let batch = batch(rows);
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}
