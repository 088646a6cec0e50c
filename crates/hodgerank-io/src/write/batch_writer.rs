//! Writes record batches in every format that can be written.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::format::Format;

/// A file that is being written.
pub(super) enum BatchWriter<W: Write + Send> {
    Delimited { out: W, buffer: Vec<u8>, delimiter: u8 },
    JsonLines { out: W, buffer: Vec<u8> },
    Parquet(Box<ArrowWriter<W>>),
    ArrowFile(Box<FileWriter<W>>),
    ArrowStream(Box<StreamWriter<W>>),
}

impl<W: Write + Send> BatchWriter<W> {
    /// Starts a file. `stream` chooses Arrow's stream format over its file format.
    ///
    /// Text formats accept columns of numbers, booleans and dictionaries of text. Text and column
    /// names are written without quoting: they must not contain separators or quotes.
    pub(super) fn new(
        out: W,
        format: Format,
        schema: &SchemaRef,
        stream: bool,
    ) -> io::Result<Self> {
        Ok(match format {
            Format::Xlsx | Format::Sqlite => {
                let problem = format!("{} files cannot be written", format.title());
                return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
            }
            Format::Csv | Format::Tsv => {
                let delimiter = format.info().delimiter.unwrap_or(b',');
                let mut buffer = Vec::new();
                for (index, field) in schema.fields().iter().enumerate() {
                    if index > 0 {
                        buffer.push(delimiter);
                    }
                    buffer.extend_from_slice(field.name().as_bytes());
                }
                buffer.push(b'\n');
                Self::Delimited { out, buffer, delimiter }
            }
            Format::Jsonl => Self::JsonLines { out, buffer: Vec::new() },
            Format::Parquet => {
                let properties =
                    WriterProperties::builder().set_compression(Compression::SNAPPY).build();
                let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties))?;
                Self::Parquet(Box::new(writer))
            }
            Format::Arrow if stream => {
                let writer = StreamWriter::try_new(out, schema).map_err(io::Error::other)?;
                Self::ArrowStream(Box::new(writer))
            }
            Format::Arrow => {
                let writer = FileWriter::try_new(out, schema).map_err(io::Error::other)?;
                Self::ArrowFile(Box::new(writer))
            }
        })
    }

    /// Writes the rows of a batch.
    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match self {
            Self::Delimited { out, buffer, delimiter } => {
                write_delimited(batch, *delimiter, buffer)?;
                out.write_all(buffer)?;
                buffer.clear();
                Ok(())
            }
            Self::JsonLines { out, buffer } => {
                write_json_lines(batch, buffer)?;
                out.write_all(buffer)?;
                buffer.clear();
                Ok(())
            }
            Self::Parquet(writer) => writer.write(batch).map_err(io::Error::from),
            Self::ArrowFile(writer) => writer.write(batch).map_err(io::Error::other),
            Self::ArrowStream(writer) => writer.write(batch).map_err(io::Error::other),
        }
    }

    /// Completes the file and returns its output.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Delimited { mut out, buffer, .. } | Self::JsonLines { mut out, buffer } => {
                out.write_all(&buffer)?;
                Ok(out)
            }
            Self::Parquet(writer) => writer.into_inner().map_err(io::Error::from),
            Self::ArrowFile(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(io::Error::other)
            }
            Self::ArrowStream(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(io::Error::other)
            }
        }
    }
}

/// A column of a batch that can be written as text.
enum TextCells<'a> {
    Dictionary { keys: &'a [i32], values: &'a StringArray },
    Number(&'a [f64]),
    Boolean(&'a BooleanArray),
}

impl<'a> TextCells<'a> {
    fn of_columns(batch: &'a RecordBatch) -> io::Result<Vec<Self>> {
        batch.columns().iter().map(Self::new).collect()
    }

    fn new(array: &'a ArrayRef) -> io::Result<Self> {
        if let Some(dictionary) = array.as_dictionary_opt::<Int32Type>()
            && let Some(values) = dictionary.values().as_string_opt()
        {
            Ok(Self::Dictionary { keys: dictionary.keys().values(), values })
        } else if let Some(numbers) = array.as_primitive_opt::<Float64Type>() {
            Ok(Self::Number(numbers.values()))
        } else if let Some(booleans) = array.as_boolean_opt() {
            Ok(Self::Boolean(booleans))
        } else {
            let problem = format!("{} cannot be written as text", array.data_type());
            Err(io::Error::new(io::ErrorKind::Unsupported, problem))
        }
    }
}

fn write_delimited(batch: &RecordBatch, delimiter: u8, out: &mut Vec<u8>) -> io::Result<()> {
    let columns = TextCells::of_columns(batch)?;
    for row in 0..batch.num_rows() {
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(delimiter);
            }
            match column {
                TextCells::Dictionary { keys, values } => {
                    out.extend_from_slice(values.value(keys[row] as usize).as_bytes());
                }
                TextCells::Number(numbers) => write!(out, "{}", numbers[row])?,
                TextCells::Boolean(booleans) => out.push(b'0' + u8::from(booleans.value(row))),
            }
        }
        out.push(b'\n');
    }
    Ok(())
}

fn write_json_lines(batch: &RecordBatch, out: &mut Vec<u8>) -> io::Result<()> {
    let columns = TextCells::of_columns(batch)?;
    let schema = batch.schema();
    let keys: Vec<String> =
        schema.fields().iter().map(|field| format!("\"{}\":", field.name())).collect();
    for row in 0..batch.num_rows() {
        for (index, (column, key)) in columns.iter().zip(&keys).enumerate() {
            out.push(if index == 0 { b'{' } else { b',' });
            out.extend_from_slice(key.as_bytes());
            match column {
                TextCells::Dictionary { keys, values } => {
                    out.push(b'"');
                    out.extend_from_slice(values.value(keys[row] as usize).as_bytes());
                    out.push(b'"');
                }
                TextCells::Number(numbers) => write!(out, "{}", numbers[row])?,
                TextCells::Boolean(booleans) => write!(out, "{}", booleans.value(row))?,
            }
        }
        out.extend_from_slice(b"}\n");
    }
    Ok(())
}
