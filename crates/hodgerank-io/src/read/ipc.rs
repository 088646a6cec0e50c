//! Arrow IPC files and streams.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder, read_footer_length};
use arrow_ipc::{Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use super::batches::{Memo, Table};
use super::pump::{self, FileReport, PieceReport, Pieces};
use super::rows::RowSink;
use super::shield::{damaged, decode};
use super::source::BoxedRead;
use super::{Format, ReadOptions, TableHead};
use crate::error::{Error, Result};

const FORMAT: &str = "Arrow";

pub(super) fn read_file<S: RowSink>(
    file: &Arc<str>,
    handle: File,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let open = |handle, columns| FileReader::try_new(BufReader::new(handle), columns);
    let mut again = handle.try_clone().map_err(|source| Error::read(file, source))?;
    let schema = decode_arrow(file, || {
        check_blocks(&mut again)?;
        Ok(open(handle, None)?.schema())
    })?;
    read(file, &schema, options, sinks, |columns| open(again, Some(columns)))
}

pub(super) fn read_stream<S: RowSink>(
    file: &Arc<str>,
    reader: BoxedRead,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let mut stream = Stream::new(reader);
    let schema = decode_arrow(file, || stream.schema())?;
    // A stream is read once, so all its columns are fetched; the wanted ones are picked later.
    let (report, head) = read(file, &schema, options, sinks, |columns| {
        Ok(stream.map(move |batch| batch.and_then(|batch| batch.project(&columns))))
    })?;
    Ok((report, TableHead { stream: true, ..head }))
}

pub(super) fn read<S: RowSink, I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send>(
    file: &Arc<str>,
    schema: &Arc<Schema>,
    options: &ReadOptions,
    sinks: &mut [S],
    open: impl FnOnce(Vec<usize>) -> Result<I, ArrowError>,
) -> Result<(FileReport, TableHead)> {
    let table = Table::new(file, schema, &options.columns, S::WHOLE)?;
    let head = TableHead {
        schema: Some(Arc::clone(schema)),
        ..TableHead::new(file, Format::Arrow, &table.layout)
    };
    let batches = decode_arrow(file, || open(table.wanted.clone()))?;
    let pieces = Batches { file: Arc::clone(file), batches };
    let report = pump::run(pieces, sinks, options.on_error, 0, |batch, sink| {
        let mut report = PieceReport::default();
        if let Some(batch) = batch.take() {
            sink.batch(&table, &batch, &mut Memo::default(), &mut report)?;
        }
        Ok(report)
    })?;
    Ok((report, head))
}

/// Refuses a file that speaks of more bytes than there are: the reader would ask for as much memory,
/// and a program that does not get it is ended at once.
fn check_blocks(file: &mut File) -> Result<(), ArrowError> {
    const TAIL: u64 = 10;
    let length = file.metadata()?.len();
    let mut read = |start: u64, bytes: &mut [u8]| {
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(bytes)
    };
    let mut tail = [0; TAIL as usize];
    read(length.checked_sub(TAIL).ok_or_else(cut_off)?, &mut tail)?;
    let mut footer = vec![0; read_footer_length(tail)?];
    let start = (length - TAIL).checked_sub(footer.len() as u64).ok_or_else(cut_off)?;
    read(start, &mut footer)?;
    let footer = root_as_footer(&footer).map_err(invalid)?;
    for block in [footer.dictionaries(), footer.recordBatches()].into_iter().flatten().flatten() {
        let sizes = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end: i128 = sizes.into_iter().map(i128::from).sum();
        if sizes.into_iter().any(|size| size < 0) || end > i128::from(length) {
            return Err(cut_off());
        }
        let start = block.offset() as u64;
        let mut message = vec![0; block.metaDataLength() as usize];
        read(start, &mut message)?;
        let body = start + message.len() as u64;
        let prefix = if message.starts_with(&CONTINUATION) { PREFIX } else { PREFIX / 2 };
        let message =
            root_as_message(message.get(prefix..).ok_or_else(cut_off)?).map_err(invalid)?;
        check_lengths(&message, |offset| {
            let mut claim = [0; CLAIM];
            read(body.saturating_add(offset as u64), &mut claim)?;
            Ok(claim)
        })?;
    }
    Ok(())
}

/// Compressed columns say how long they will be. Refuses what could not be held in memory.
fn check_lengths(
    message: &Message<'_>,
    mut claim_at: impl FnMut(usize) -> Result<[u8; CLAIM], ArrowError>,
) -> Result<(), ArrowError> {
    let dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten() {
        if buffer.length() < CLAIM as i64 {
            continue;
        }
        let claim =
            i64::from_le_bytes(claim_at(usize::try_from(buffer.offset()).map_err(invalid)?)?);
        // The claim is -1 for a column that is stored as it is. Reserved memory is not yet used.
        let room = usize::try_from(claim).map_or(Ok(()), |c| Vec::<u8>::new().try_reserve_exact(c));
        room.map_err(invalid)?;
    }
    Ok(())
}

/// A message of a stream begins with these four bytes and four for the length of its description.
const CONTINUATION: [u8; 4] = [0xff; 4];
const PREFIX: usize = 8;
/// Bytes of a compressed column that say how long it will be.
const CLAIM: usize = 8;

fn cut_off() -> ArrowError {
    ArrowError::IpcError("the file is cut off".to_owned())
}

fn invalid(error: impl std::fmt::Display) -> ArrowError {
    ArrowError::IpcError(error.to_string())
}

/// A stream that takes memory only as bytes arrive, whatever lengths it claims.
struct Stream {
    reader: BoxedRead,
    decoder: StreamDecoder,
    /// A batch that came while the schema was looked for.
    first: Option<RecordBatch>,
}

impl Stream {
    fn new(reader: BoxedRead) -> Self {
        Self { reader, decoder: StreamDecoder::new(), first: None }
    }

    fn schema(&mut self) -> Result<Arc<Schema>, ArrowError> {
        self.first = self.next_batch()?;
        self.decoder.schema().ok_or_else(|| invalid("there is no schema"))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let mut message = Buffer::from_vec(self.next_message()?);
            if message.is_empty() {
                return self.decoder.finish().map(|()| None);
            }
            if let Some(batch) = self.decoder.decode(&mut message)? {
                return Ok(Some(batch));
            }
        }
    }

    /// The next message as a whole; empty at the end.
    fn next_message(&mut self) -> Result<Vec<u8>, ArrowError> {
        let mut bytes = Vec::new();
        let mut read = |bytes: &mut Vec<u8>, wanted: u64| {
            let read = self.reader.by_ref().take(wanted).read_to_end(bytes)?;
            if (read as u64) < wanted && !bytes.is_empty() { Err(cut_off()) } else { Ok(()) }
        };
        read(&mut bytes, PREFIX as u64)?;
        let Some((start, length)) = bytes.split_first_chunk() else { return Ok(bytes) };
        if *start != CONTINUATION {
            return Err(invalid("a message does not begin as one"));
        }
        let length = length.first_chunk().copied().map_or(0, u32::from_le_bytes);
        if length == 0 {
            return Ok(bytes);
        }
        read(&mut bytes, length.into())?;
        let description = bytes.len();
        let message = root_as_message(&bytes[PREFIX..]).map_err(invalid)?;
        let body = u64::try_from(message.bodyLength()).map_err(invalid)?;
        read(&mut bytes, body)?;
        let message = root_as_message(&bytes[PREFIX..description]).map_err(invalid)?;
        check_lengths(&message, |offset| {
            let claim = bytes[description..].get(offset..).and_then(|rest| rest.first_chunk());
            claim.copied().ok_or_else(cut_off)
        })?;
        Ok(bytes)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(batch) => Some(Ok(batch)),
            None => self.next_batch().transpose(),
        }
    }
}

struct Batches<I> {
    file: Arc<str>,
    batches: I,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send> Pieces for Batches<I> {
    type Piece = Option<RecordBatch>;

    fn next(&mut self, piece: &mut Option<RecordBatch>) -> Result<bool> {
        *piece = decode_arrow(&self.file, || self.batches.next().transpose())?;
        Ok(piece.is_some())
    }
}

fn decode_arrow<T>(file: &Arc<str>, decoder: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    decode(file, FORMAT, || decoder().map_err(|error| damaged(file, FORMAT, error)))
}
