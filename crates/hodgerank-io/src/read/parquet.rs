//! Parquet: chunks are row groups, and text columns are read as dictionaries.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::batches::{BatchParser, BatchSink, FastPathCache};
use super::catch_panics::{damaged, decode};
use super::options::ReadOptions;
use super::parallel::{self, ChunkReport, ChunkSource, FileReport};
use super::progress::Progress;
use super::source::OpenedFile;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::table_head::TableHead;

const FORMAT: &str = Format::Parquet.title();

/// Rows decoded at a time: few enough for the columns to fit in the processor's cache.
const BATCH_ROWS: usize = 1 << 13;

/// Reads a file, or only some of its row groups.
pub(super) fn read<S: BatchSink>(
    file: OpenedFile,
    row_groups: Option<&[usize]>,
    options: &ReadOptions,
    progress: &Progress,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let name = Arc::clone(&file.name);
    let handle = file.into_file()?;
    let file = &name;
    let corrupt = |error: ParquetError| damaged(file, FORMAT, error);
    let (shared, metadata) = open(file, &handle)?;
    let parser = BatchParser::new(file, metadata.schema(), &options.columns, S::WHOLE_ROWS)?;
    let schema = Some(Arc::clone(metadata.schema()));
    let head = TableHead { schema, ..TableHead::new(file, Format::Parquet, &parser.layout) };
    let metadata = if S::WHOLE_ROWS {
        metadata
    } else {
        decode(file, FORMAT, || Ok(with_dictionaries(metadata, &parser.projection)))?
    };
    let mask = ProjectionMask::roots(metadata.parquet_schema(), parser.projection.iter().copied());
    let groups = 0..metadata.metadata().num_row_groups();
    let report = parallel::read_chunks(
        RowGroups(groups),
        sinks,
        options.on_error,
        0,
        |&mut group, sink| {
            if row_groups.is_some_and(|wanted| !wanted.contains(&group)) {
                // Rows of skipped row groups still count in the positions of later rows.
                let rows = metadata.metadata().row_group(group).num_rows().max(0) as u64;
                return Ok(ChunkReport { rows, span: rows, ..ChunkReport::default() });
            }
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                shared.clone(),
                metadata.clone(),
            );
            let builder = builder
                .with_row_groups(vec![group])
                .with_projection(mask.clone())
                .with_batch_size(BATCH_ROWS);
            let mut reader = decode(file, FORMAT, || builder.build().map_err(corrupt))?;
            let mut next = || {
                decode(file, FORMAT, || reader.next().transpose().map_err(|e| corrupt(e.into())))
            };
            let (mut report, mut cache) = (ChunkReport::default(), FastPathCache::default());
            while let Some(batch) = next()? {
                sink.batch(&parser, &batch, &mut cache, &mut report)?;
            }
            progress.advance(metadata.metadata().row_group(group).compressed_size().max(0) as u64);
            Ok(report)
        },
    )?;
    Ok((report, head))
}

/// The compressed sizes of a file's row groups.
pub(super) fn row_group_bytes(file: OpenedFile) -> Result<Vec<u64>> {
    let name = Arc::clone(&file.name);
    let (_, metadata) = open(&name, &file.into_file()?)?;
    let groups = metadata.metadata().row_groups().iter();
    Ok(groups.map(|group| group.compressed_size().max(0) as u64).collect())
}

fn open(file: &Arc<str>, handle: &File) -> Result<(SharedFile, ArrowReaderMetadata)> {
    let shared = handle.try_clone().and_then(SharedFile::new);
    let shared = shared.map_err(|source| Error::read(file, source))?;
    let metadata = decode(file, FORMAT, || {
        let loaded = ArrowReaderMetadata::load(&shared, ArrowReaderOptions::new());
        loaded.map_err(|error| damaged(file, FORMAT, error))
    })?;
    Ok((shared, metadata))
}

/// Requests the projected text columns as dictionaries, which is how Parquet stores them.
fn with_dictionaries(metadata: ArrowReaderMetadata, projection: &[usize]) -> ArrowReaderMetadata {
    let fields = metadata.schema().fields().iter().enumerate().map(|(index, field)| {
        let is_text =
            matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if !is_text || !projection.contains(&index) {
            return Arc::clone(field);
        }
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(Field::new(field.name(), kind, field.is_nullable()))
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    // If a column cannot be read as a dictionary, plain text gives the same votes more slowly.
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}

struct RowGroups(Range<usize>);

impl ChunkSource for RowGroups {
    type Chunk = usize;

    fn next(&mut self, group: &mut usize) -> Result<bool> {
        let next = self.0.next();
        *group = next.unwrap_or(0);
        Ok(next.is_some())
    }
}

/// A file that several threads read at different positions, without a shared cursor.
#[derive(Clone)]
struct SharedFile {
    file: Arc<File>,
    len: u64,
}

impl SharedFile {
    fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), len })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<ReadFrom>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(ReadFrom { file: Arc::clone(&self.file), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.len);
        if end.is_none() {
            return Err(ParquetError::EOF("the file is cut off".to_owned()));
        }
        let mut bytes = vec![0; length];
        ReadFrom { file: Arc::clone(&self.file), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

struct ReadFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for ReadFrom {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
