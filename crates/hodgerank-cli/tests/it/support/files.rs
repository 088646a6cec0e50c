//! Votes as files of every format.

use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// One vote: left item, right item and outcome (`left`, `right` or `tie`).
pub(crate) type Vote = (String, String, &'static str);

/// Pseudo-random votes on `items` items, the same in every run: the smaller number usually wins.
pub(crate) fn votes(items: usize, votes: usize) -> Vec<Vote> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let vote = |_| {
        let left = draw(items);
        let right = (left + 1 + draw(items - 1)) % items;
        let outcome = match draw(10) {
            0 => "tie",
            1 if left < right => "right",
            1 => "left",
            _ if left < right => "left",
            _ => "right",
        };
        (format!("clip-{left}"), format!("clip-{right}"), outcome)
    };
    (0..votes).map(vote).collect()
}

/// Votes with some outliers.
pub(crate) fn study() -> Vec<Vote> {
    votes(12, 3000)
}

/// Votes as text, with a header.
pub(crate) fn separated(votes: &[Vote], separator: &str) -> String {
    let row = |left: &str, right: &str, winner: &str| {
        format!("{left}{separator}{right}{separator}{winner}\n")
    };
    let rows = votes.iter().map(|(left, right, winner)| row(left, right, winner));
    std::iter::once(row("left", "right", "winner")).chain(rows).collect()
}

/// Votes as CSV with the annotators `p0` to `p6`.
#[allow(dead_code, reason = "not used by all crates that share this file")]
pub(crate) fn annotated(votes: &[Vote]) -> String {
    let row = |(k, (left, right, winner)): (usize, &Vote)| {
        format!("{left},{right},{winner},p{}\n", k % 7)
    };
    let header = "left,right,winner,annotator\n".to_owned();
    std::iter::once(header).chain(votes.iter().enumerate().map(row)).collect()
}

pub(crate) fn json_lines(votes: &[Vote]) -> String {
    let row = |(left, right, winner): &Vote| {
        format!("{{\"left\": \"{left}\", \"right\": \"{right}\", \"winner\": \"{winner}\"}}\n")
    };
    votes.iter().map(row).collect()
}

/// Votes as text columns.
pub(crate) fn batch(votes: &[Vote]) -> RecordBatch {
    table(vec![
        ("left", text(votes.iter().map(|vote| vote.0.as_str()))),
        ("right", text(votes.iter().map(|vote| vote.1.as_str()))),
        ("winner", text(votes.iter().map(|vote| vote.2))),
    ])
}

pub(crate) fn text<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

pub(crate) fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(nullable).expect("columns of one length")
}

/// A Parquet file with a row group for every `rows` rows.
pub(crate) fn parquet(batch: &RecordBatch, rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// An Arrow file of several batches.
pub(crate) fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    file(parts(batch), batch, IpcWriteOptions::default())
}

/// An Arrow file with compressed columns.
pub(crate) fn packed_arrow_file(batch: &RecordBatch) -> Vec<u8> {
    file([batch.clone()], batch, packed())
}

/// An Arrow stream of several batches.
pub(crate) fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    stream(parts(batch), batch, IpcWriteOptions::default())
}

/// An Arrow stream with compressed columns.
pub(crate) fn packed_arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    stream([batch.clone()], batch, packed())
}

fn file(
    parts: impl IntoIterator<Item = RecordBatch>,
    whole: &RecordBatch,
    options: IpcWriteOptions,
) -> Vec<u8> {
    let schema = whole.schema();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    parts.into_iter().for_each(|part| writer.write(&part).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn stream(
    parts: impl IntoIterator<Item = RecordBatch>,
    whole: &RecordBatch,
    options: IpcWriteOptions,
) -> Vec<u8> {
    let schema = whole.schema();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    parts.into_iter().for_each(|part| writer.write(&part).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn packed() -> IpcWriteOptions {
    let options = IpcWriteOptions::default();
    options.try_with_compression(Some(CompressionType::LZ4_FRAME)).unwrap()
}

fn parts(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let step = batch.num_rows().div_ceil(3).max(1);
    let starts = (0..batch.num_rows()).step_by(step);
    starts.map(move |start| batch.slice(start, step.min(batch.num_rows() - start)))
}

pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(bytes.as_ref(), 0).unwrap()
}
