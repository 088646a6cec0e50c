//! Arrow IPC files and streams.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileReader, StreamDecoder, read_footer_length};
use arrow_ipc::{Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema};

use super::arrow_batches::{decode_arrow, read_batches};
use super::batches::BatchSink;
use super::fingerprint::{ContentHash, HashedFile};
use super::options::ReadOptions;
use super::parallel::FileReport;
use super::source::{BoxedRead, OpenedFile};
use crate::error::{Error, Result, Unsupported};
use crate::format::ARROW_FILE_MAGIC;
use crate::limits::{BUFFER_BYTES_PER_ROW, MAX_PAGE_BYTES};
use crate::table_head::TableHead;

/// Reads an Arrow file or stream.
pub(super) fn read<S: BatchSink>(
    file: OpenedFile,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let name = Arc::clone(&file.name);
    if file.starts_with(ARROW_FILE_MAGIC) {
        let content = file.content.clone();
        read_file(&name, file.into_file()?, &content, options, sinks)
    } else {
        read_stream(&name, file.into_reader(), options, sinks)
    }
}

fn read_file<S: BatchSink>(
    file: &Arc<str>,
    handle: File,
    content: &ContentHash,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    // Blocks are read as a whole, whichever columns are wanted, so every pass reads the same bytes.
    let open = |handle, columns| {
        FileReader::try_new(BufReader::new(HashedFile::new(handle, content.clone())), columns)
    };
    let mut again = handle.try_clone().map_err(|source| Error::read(file, source))?;
    let schema = decode_arrow(file, || {
        check_blocks(&mut again)?;
        Ok(open(handle, None)?.schema())
    })?;
    read_batches(file, &schema, options, sinks, |columns| open(again, Some(columns)))
}

fn read_stream<S: BatchSink>(
    file: &Arc<str>,
    reader: BoxedRead,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let mut stream = BatchStream::new(reader);
    let schema = decode_arrow(file, || stream.schema())?;
    // The decoder of streams has no projection: it is applied to the decoded batches.
    let (report, head) = read_batches(file, &schema, options, sinks, |columns| {
        Ok(stream.map(move |batch| batch.and_then(|batch| batch.project(&columns))))
    })?;
    Ok((report, TableHead { stream: true, ..head }))
}

/// Rejects a file whose footer claims more bytes than the file has. The reader would allocate as
/// much, and a failed allocation aborts the process.
fn check_blocks(file: &mut File) -> Result<(), ArrowError> {
    /// The length of the footer, and the magic bytes.
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

/// Rejects compressed buffers whose claimed decompressed length is beyond the limit.
fn check_lengths(
    message: &Message<'_>,
    mut claim_at: impl FnMut(usize) -> Result<[u8; CLAIM], ArrowError>,
) -> Result<(), ArrowError> {
    let dictionary = || message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or_else(dictionary) else { return Ok(()) };
    if batch.compression().is_none() {
        return Ok(());
    }
    let rows = u64::try_from(batch.length()).unwrap_or(0);
    let max = MAX_PAGE_BYTES.max(rows.saturating_mul(BUFFER_BYTES_PER_ROW));
    for buffer in batch.buffers().into_iter().flatten() {
        if buffer.length() < CLAIM as i64 {
            continue;
        }
        let claim =
            i64::from_le_bytes(claim_at(usize::try_from(buffer.offset()).map_err(invalid)?)?);
        // The claim is -1 for an uncompressed buffer.
        let bytes = u64::try_from(claim).unwrap_or(0);
        if bytes > max {
            let refused = Unsupported::PageBytes { bytes, max };
            return Err(ArrowError::ExternalError(Box::new(refused)));
        }
    }
    Ok(())
}

/// Each message begins with these four bytes, followed by four bytes for the length of its metadata.
const CONTINUATION: [u8; 4] = [0xff; 4];
const PREFIX: usize = 8;
/// Bytes at the start of a compressed buffer that claim its decompressed length.
const CLAIM: usize = 8;

fn cut_off() -> ArrowError {
    ArrowError::IpcError("the file is cut off".to_owned())
}

fn invalid(error: impl std::fmt::Display) -> ArrowError {
    ArrowError::IpcError(error.to_string())
}

/// Decodes a stream. Memory grows only as bytes arrive, whatever lengths the stream claims.
struct BatchStream {
    reader: BoxedRead,
    decoder: StreamDecoder,
    /// A batch that was decoded together with the schema.
    first: Option<RecordBatch>,
}

impl BatchStream {
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

    /// The next complete message; empty at the end of the stream.
    fn next_message(&mut self) -> Result<Vec<u8>, ArrowError> {
        let mut bytes = Vec::new();
        let mut read = |bytes: &mut Vec<u8>, wanted: u64| {
            let read = self.reader.by_ref().take(wanted).read_to_end(bytes)?;
            if (read as u64) < wanted && !bytes.is_empty() { Err(cut_off()) } else { Ok(()) }
        };
        read(&mut bytes, PREFIX as u64)?;
        let Some((start, length)) = bytes.split_first_chunk() else { return Ok(bytes) };
        if *start != CONTINUATION {
            return Err(invalid("a message has a wrong prefix"));
        }
        let length = length.first_chunk().copied().map_or(0, u32::from_le_bytes);
        if length == 0 {
            return Ok(bytes);
        }
        read(&mut bytes, length.into())?;
        let metadata_end = bytes.len();
        let message = root_as_message(&bytes[PREFIX..]).map_err(invalid)?;
        let body = u64::try_from(message.bodyLength()).map_err(invalid)?;
        read(&mut bytes, body)?;
        let message = root_as_message(&bytes[PREFIX..metadata_end]).map_err(invalid)?;
        check_lengths(&message, |offset| {
            let claim = bytes[metadata_end..].get(offset..).and_then(|rest| rest.first_chunk());
            claim.copied().ok_or_else(cut_off)
        })?;
        Ok(bytes)
    }
}

impl Iterator for BatchStream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.first.take() {
            Some(batch) => Some(Ok(batch)),
            None => self.next_batch().transpose(),
        }
    }
}
