//! Sequences of Arrow record batches, from a file, a stream or memory. Chunks are batches.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};

use super::batches::{BatchParser, BatchSink, FastPathCache};
use super::catch_panics::{damaged, decode};
use super::options::ReadOptions;
use super::parallel::{self, ChunkReport, ChunkSource, FileReport};
use crate::error::{Error, Result, Unsupported};
use crate::format::Format;
use crate::table_head::TableHead;

const FORMAT: &str = Format::Arrow.title();

/// Reads record batches. `open` receives the indices of the columns to read.
pub(super) fn read_batches<S, I>(
    file: &Arc<str>,
    schema: &Arc<Schema>,
    options: &ReadOptions,
    sinks: &mut [S],
    open: impl FnOnce(Vec<usize>) -> Result<I, ArrowError>,
) -> Result<(FileReport, TableHead)>
where
    S: BatchSink,
    I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send,
{
    let parser = BatchParser::new(file, schema, &options.columns, S::WHOLE_ROWS)?;
    let head = TableHead {
        schema: Some(Arc::clone(schema)),
        ..TableHead::new(file, Format::Arrow, &parser.layout)
    };
    let batches = decode_arrow(file, || open(parser.projection.clone()))?;
    let chunks = Batches { file: Arc::clone(file), batches };
    let report = parallel::read_chunks(chunks, sinks, options.on_error, 0, |batch, sink| {
        let mut report = ChunkReport::default();
        if let Some(batch) = batch.take() {
            sink.batch(&parser, &batch, &mut FastPathCache::default(), &mut report)?;
        }
        Ok(report)
    })?;
    Ok((report, head))
}

/// Record batches as chunks.
struct Batches<I> {
    file: Arc<str>,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send> ChunkSource for Batches<I> {
    type Chunk = Option<RecordBatch>;

    fn next(&mut self, batch: &mut Option<RecordBatch>) -> Result<bool> {
        *batch = decode_arrow(&self.file, || self.batches.next().transpose())?;
        Ok(batch.is_some())
    }
}

/// Runs a decoder of Arrow data.
pub(super) fn decode_arrow<T>(
    file: &Arc<str>,
    decoder: impl FnOnce() -> Result<T, ArrowError>,
) -> Result<T> {
    let explain = |error: ArrowError| match error {
        ArrowError::ExternalError(reason) => match reason.downcast::<Unsupported>() {
            Ok(feature) => Error::Unsupported { file: Arc::clone(file), feature: *feature },
            Err(reason) => damaged(file, FORMAT, reason),
        },
        other => damaged(file, FORMAT, other),
    };
    decode(file, FORMAT, || decoder().map_err(explain))
}
