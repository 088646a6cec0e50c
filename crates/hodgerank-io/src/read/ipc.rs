//! Arrow IPC files and streams.

use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};

use super::ReadOptions;
use super::batches::{Memo, Table};
use super::pump::{self, FileReport, PieceReport, Pieces};
use super::shield::{damaged, decode};
use super::source::BoxedRead;
use crate::error::{Error, Result};
use crate::study::Counter;

const FORMAT: &str = "Arrow";

pub(super) fn read_file(
    file: &Arc<str>,
    handle: File,
    options: &ReadOptions,
    counters: &mut [Counter],
) -> Result<FileReport> {
    let open = |handle, columns| FileReader::try_new(BufReader::new(handle), columns);
    let again = handle.try_clone().map_err(|source| Error::read(file, source))?;
    let schema = decode(file, FORMAT, || {
        Ok(open(handle, None).map_err(|error| corrupt(file, &error))?.schema())
    })?;
    read(file, &schema, options, counters, |columns| open(again, Some(columns)))
}

pub(super) fn read_stream(
    file: &Arc<str>,
    reader: BoxedRead,
    options: &ReadOptions,
    counters: &mut [Counter],
) -> Result<FileReport> {
    // A stream is read once, so all its columns are fetched; the wanted ones are picked later.
    let reader = decode(file, FORMAT, || {
        StreamReader::try_new(BufReader::new(reader), None).map_err(|error| corrupt(file, &error))
    })?;
    let schema = reader.schema();
    read(file, &schema, options, counters, |columns| Ok(Projected { reader, columns }))
}

fn read<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send>(
    file: &Arc<str>,
    schema: &Schema,
    options: &ReadOptions,
    counters: &mut [Counter],
    open: impl FnOnce(Vec<usize>) -> Result<I, ArrowError>,
) -> Result<FileReport> {
    let table = Table::new(file, schema, &options.columns)?;
    let batches =
        decode(file, FORMAT, || open(table.wanted.clone()).map_err(|error| corrupt(file, &error)))?;
    let pieces = Batches { file: Arc::clone(file), batches };
    pump::run(pieces, counters, options.on_error, 0, |batch, counter| {
        let mut report = PieceReport::default();
        if let Some(batch) = batch.take() {
            table.count(&batch, &mut Memo::default(), counter, &mut report)?;
        }
        Ok(report)
    })
}

struct Projected<R: Read> {
    reader: StreamReader<BufReader<R>>,
    columns: Vec<usize>,
}

impl<R: Read> Iterator for Projected<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(batch.and_then(|batch| batch.project(&self.columns)))
    }
}

struct Batches<I> {
    file: Arc<str>,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send> Pieces for Batches<I> {
    type Piece = Option<RecordBatch>;

    fn next(&mut self, piece: &mut Option<RecordBatch>) -> Result<bool> {
        let Self { file, batches } = self;
        *piece = decode(file, FORMAT, || {
            batches.next().transpose().map_err(|error| corrupt(file, &error))
        })?;
        Ok(piece.is_some())
    }
}

fn corrupt(file: &Arc<str>, error: &ArrowError) -> Error {
    damaged(file, FORMAT, error)
}
