//! Parquet: chunks are row groups, and text columns are read as dictionaries.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::batches::{BatchParser, BatchSink, FastPathCache};
use super::catch_panics::{damaged, decode};
use super::fingerprint::{ContentHash, HashedRanges};
use super::options::ReadOptions;
use super::parallel::{self, ChunkReport, ChunkSource, FileReport};
use super::parquet_scan::{ScanError, check_nesting};
use super::progress::Progress;
use super::shared_file::SharedFile;
use super::source::OpenedFile;
use crate::error::{Error, Result, Unsupported};
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
    let content = file.content.clone();
    let handle = file.into_file()?;
    let file = &name;
    let corrupt = |error: ParquetError| damaged(file, FORMAT, error);
    let (shared, metadata) = open(file, &handle, content)?;
    let parser = BatchParser::new(file, metadata.schema(), &options.columns, S::WHOLE_ROWS)?;
    let schema = Some(Arc::clone(metadata.schema()));
    let head = TableHead { schema, ..TableHead::new(file, Format::Parquet, &parser.layout) };
    let metadata = if S::WHOLE_ROWS {
        metadata
    } else {
        decode(file, FORMAT, || Ok(with_dictionaries(metadata, &parser.projection)))?
    };
    let with_role: Vec<usize> = parser.layout.index.iter().flatten().copied().collect();
    let role_leaves = leaves(&metadata, &with_role);
    let read_leaves = leaves(&metadata, &parser.projection);
    check_compression(file, metadata.metadata(), &read_leaves)?;
    let hashed = decode(file, FORMAT, || Ok(column_ranges(metadata.metadata(), &role_leaves)))?;
    let shared = shared.hash_only(HashedRanges::new(hashed));
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
                sink.skip_rows(rows);
                return Ok(ChunkReport { rows, span: rows, ..ChunkReport::default() });
            }
            check_pages(file, &shared, metadata.metadata().row_group(group), &read_leaves)?;
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
    let (_, metadata) = open(&name, &file.into_file()?, ContentHash::off())?;
    let groups = metadata.metadata().row_groups().iter();
    Ok(groups.map(|group| group.compressed_size().max(0) as u64).collect())
}

fn open(
    file: &Arc<str>,
    handle: &File,
    content: ContentHash,
) -> Result<(SharedFile, ArrowReaderMetadata)> {
    let shared = handle.try_clone().and_then(|handle| SharedFile::new(handle, content));
    let shared = shared.map_err(|source| Error::read(file, source))?;
    if let Some(Err(ScanError::Refused(feature))) =
        shared.footer().map(|footer| check_nesting(&footer))
    {
        return Err(Error::Unsupported { file: Arc::clone(file), feature });
    }
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

/// The leaves of the schema that belong to these columns.
fn leaves(metadata: &ArrowReaderMetadata, columns: &[usize]) -> Vec<usize> {
    let schema = metadata.parquet_schema();
    let is_wanted = |&leaf: &usize| columns.contains(&schema.get_column_root_idx(leaf));
    (0..schema.num_columns()).filter(is_wanted).collect()
}

/// The bytes of columns in all row groups.
fn column_ranges(metadata: &ParquetMetaData, leaves: &[usize]) -> Vec<Range<u64>> {
    let of_group = |group| leaves.iter().map(move |&leaf| column_range(group, leaf));
    metadata.row_groups().iter().flat_map(of_group).collect()
}

fn column_range(group: &RowGroupMetaData, leaf: usize) -> Range<u64> {
    let (start, length) = group.column(leaf).byte_range();
    start..start.saturating_add(length)
}

/// Refuses compressions that the decoder does not support.
fn check_compression(file: &Arc<str>, metadata: &ParquetMetaData, leaves: &[usize]) -> Result<()> {
    for group in metadata.row_groups() {
        for &leaf in leaves {
            let name = match group.column(leaf).compression() {
                Compression::BROTLI(_) => "Brotli",
                Compression::LZO => "LZO",
                _ => continue,
            };
            let feature = Unsupported::Compression(name.to_owned());
            return Err(Error::Unsupported { file: Arc::clone(file), feature });
        }
    }
    Ok(())
}

/// Refuses a row group with a page that is too large to be decompressed.
fn check_pages(
    file: &Arc<str>,
    shared: &SharedFile,
    group: &RowGroupMetaData,
    leaves: &[usize],
) -> Result<()> {
    for &leaf in leaves {
        let range = decode(file, FORMAT, || Ok(column_range(group, leaf)))?;
        let mut at = range.start;
        while at < range.end.min(shared.len) {
            match shared.page_bytes(at) {
                Ok(bytes) => at = at.saturating_add(bytes),
                // The decoder reports what is wrong.
                Err(ScanError::Malformed) => break,
                Err(ScanError::Refused(feature)) => {
                    return Err(Error::Unsupported { file: Arc::clone(file), feature });
                }
            }
        }
    }
    Ok(())
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
