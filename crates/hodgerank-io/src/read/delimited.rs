//! CSV and TSV: fields separated by one byte, optionally quoted.

mod fields;

pub(super) use fields::field_texts;

use std::sync::Arc;

use memchr::{memchr, memchr_iter, memchr2_iter};

use super::options::ReadOptions;
use super::parallel::{self, ChunkReport, FileReport};
use super::rows::{RawContent, RawRow, RowSink};
use super::source::{BoxedRead, OpenedFile};
use super::text_blocks::{RecordSyntax, TextBlocks, closing_quote};
use crate::columns::{Layout, ROLES, Role};
use crate::error::{
    BadRow, ColumnProblem, Error, Position, Problem, Result, WrongEncoding, shorten,
};
use crate::format::Format;
use crate::labels::trimmed;
use crate::parse::Cells;
use crate::table_head::TableHead;
use fields::{Field, next_field, sample_rows, without_line_end};

/// Reads a file of fields separated by the format's delimiter, or that of the options.
pub(super) fn read<S: RowSink>(
    file: OpenedFile,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let (format, name) = (file.format, Arc::clone(&file.name));
    let reader = file.into_reader();
    read_text(TextSource { name, format, reader, decimal_comma: false }, options, sinks)
}

/// Text with a header.
pub(super) struct TextSource {
    pub(super) name: Arc<str>,
    pub(super) format: Format,
    pub(super) reader: BoxedRead,
    /// Whether numbers can have a decimal comma even if commas separate fields.
    pub(super) decimal_comma: bool,
}

/// Reads text of fields.
pub(super) fn read_text<S: RowSink>(
    source: TextSource,
    options: &ReadOptions,
    sinks: &mut [S],
) -> Result<(FileReport, TableHead)> {
    let TextSource { name, format, reader, decimal_comma } = source;
    let mut blocks = TextBlocks::start(&name, reader)?;
    let file = &name;
    let mut text = blocks.byte_order_mark().to_vec();
    text.append(&mut blocks.take_blank_lines()?);
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter_of(format, blocks.buffered()));
    blocks.set_syntax(RecordSyntax::Quoted(delimiter));
    let header = blocks.take_record()?;
    if header.is_empty() {
        return Err(Error::Empty { file: Arc::clone(file) });
    }
    text.extend_from_slice(&header);
    let header_lines = memchr_iter(b'\n', &text).count() as u64;
    let names = header_names(file, &header, delimiter)?;
    let sample = || sample_rows(blocks.buffered(), delimiter);
    let mut layout = Layout::find_or_guess(file, names, &options.columns, sample)?;
    layout.decimal_comma = decimal_comma || delimiter != b',';
    let head = TableHead { text, delimiter, ..TableHead::new(file, format, &layout) };
    let parser = DelimitedParser::new(file, delimiter, layout);
    let report =
        parallel::read_chunks(blocks, sinks, options.on_error, header_lines, |block, sink| {
            let report = parser.count(block, sink);
            sink.end_text_chunk(report.rows).map(|()| report)
        })?;
    Ok((report, head))
}

/// The format's delimiter. For CSV, a header without commas can have semicolons or tabs instead.
fn delimiter_of(format: Format, text: &[u8]) -> u8 {
    let delimiter = format.info().delimiter.unwrap_or(b',');
    if format != Format::Csv {
        return delimiter;
    }
    let line = text.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let has = |byte| memchr(byte, line.unwrap_or(b"")).is_some();
    [delimiter, b';', b'\t'].into_iter().find(|&byte| has(byte)).unwrap_or(delimiter)
}

fn header_names(file: &Arc<str>, header: &[u8], delimiter: u8) -> Result<Vec<String>> {
    let bad = |problem: Problem, column: usize, value: &[u8]| Error::Columns {
        file: Arc::clone(file),
        problem: ColumnProblem::Header { column: column + 1, value: shorten(value, 60), problem },
    };
    let record = without_line_end(header);
    if memchr(b'\r', record).is_some() {
        let encoding = WrongEncoding::CarriageReturn;
        return Err(Error::Encoding { file: Arc::clone(file), encoding });
    }
    let mut names = Vec::new();
    let mut at = 0;
    loop {
        let column = names.len();
        let field = next_field(record, at, delimiter);
        let field = field.map_err(|problem| bad(problem, column, &record[at..]))?;
        let name = field.text(record);
        let name = std::str::from_utf8(&name).map_err(|_| bad(Problem::BadUtf8, column, &name))?;
        names.push(name.trim().to_owned());
        match field.next {
            Some(next) => at = next,
            None => return Ok(names),
        }
    }
}

/// Finds votes in blocks of records.
struct DelimitedParser {
    file: Arc<str>,
    delimiter: u8,
    layout: Layout,
    /// For each column, its (first) role or `NO_ROLE`.
    role_of: Vec<u8>,
    /// Further roles of columns, each with the column's first role.
    shared: Vec<(usize, usize)>,
}

const NO_ROLE: u8 = ROLES as u8;

impl DelimitedParser {
    fn new(file: &Arc<str>, delimiter: u8, layout: Layout) -> Self {
        let mut role_of = vec![NO_ROLE; layout.names.len()];
        let mut shared = Vec::new();
        for (role, first) in layout.first_role().into_iter().enumerate() {
            if role != first {
                shared.push((role, first));
            } else if let Some(index) = layout.index[role] {
                role_of[index] = role as u8;
            }
        }
        Self { file: Arc::clone(file), delimiter, layout, role_of, shared }
    }

    fn count(&self, block: &[u8], sink: &mut impl RowSink) -> ChunkReport {
        let span = memchr_iter(b'\n', block).count() as u64;
        let mut report = ChunkReport { span, ..ChunkReport::default() };
        let valid = std::str::from_utf8(block).is_ok();
        if valid && memchr(b'"', block).is_none() {
            self.count_plain(block, sink, &mut report);
        } else {
            self.count_quoted(block, sink, &mut report);
        }
        report
    }

    /// For a block without quotes: every delimiter separates fields, every newline ends a record.
    fn count_plain<S: RowSink>(&self, block: &[u8], sink: &mut S, report: &mut ChunkReport) {
        let columns = self.role_of.len();
        let mut cells: [&[u8]; ROLES + 1] = [b""; ROLES + 1];
        let (mut record, mut start, mut column) = (0, 0, 0);
        let last = (!block.ends_with(b"\n")).then_some(block.len());
        for end in memchr2_iter(self.delimiter, b'\n', block).chain(last) {
            let ends_record = block.get(end) != Some(&self.delimiter);
            let mut field = &block[start..end];
            if ends_record {
                field = field.strip_suffix(b"\r").unwrap_or(field);
            }
            if column < columns {
                cells[self.role_of[column] as usize] = trimmed(field);
            }
            column += 1;
            start = end + 1;
            if ends_record {
                if column == columns {
                    report.rows += 1;
                    for &(role, first) in &self.shared {
                        cells[role] = cells[first];
                    }
                    let wanted = cells.first_chunk().expect("one longer");
                    let whole: &[u8] =
                        if S::WHOLE_ROWS { &block[record..start.min(block.len())] } else { b"" };
                    let raw = RawRow { number: report.rows, content: RawContent::Text(whole) };
                    match sink.row(&self.layout, wanted, raw) {
                        Ok(fate) => report.note(fate),
                        Err(fault) => {
                            let text = &block[record..start.min(block.len())];
                            self.reject(block, text, fault, wanted, sink, report);
                        }
                    }
                } else if column == 1 && field.is_empty() {
                    sink.blank(&block[record..start.min(block.len())]);
                } else {
                    report.rows += 1;
                    self.reject_length(
                        block,
                        &block[record..start.min(block.len())],
                        column,
                        sink,
                        report,
                    );
                }
                (record, column) = (start, 0);
            }
        }
    }

    /// For a block with quotes or invalid UTF-8.
    fn count_quoted<S: RowSink>(&self, block: &[u8], sink: &mut S, report: &mut ChunkReport) {
        let mut owned: [Vec<u8>; ROLES] = Default::default();
        let mut rest = block;
        while !rest.is_empty() {
            let (record, after) = self.split_record(rest);
            rest = after;
            let text = without_line_end(record);
            if text.is_empty() {
                sink.blank(record);
                continue;
            }
            report.rows += 1;
            if let Err(error) = std::str::from_utf8(text) {
                let column = self.column_at(text, error.valid_up_to());
                let problem = Problem::BadUtf8;
                report.reject((column, b""), &problem.clone(), || {
                    self.bad_field(block, text, column, problem)
                });
                continue;
            }
            match self.split_fields(text, &mut owned) {
                Err((column, problem)) => {
                    report.reject((column, b""), &problem.clone(), || {
                        self.bad_field(block, text, column, problem)
                    });
                }
                Ok(columns) if columns != self.role_of.len() => {
                    self.reject_length(block, record, columns, sink, report);
                }
                Ok(_) => {
                    let mut cells: Cells<'_> = std::array::from_fn(|role| trimmed(&owned[role]));
                    for &(role, first) in &self.shared {
                        cells[role] = cells[first];
                    }
                    let raw = RawRow { number: report.rows, content: RawContent::Text(record) };
                    match sink.row(&self.layout, &cells, raw) {
                        Ok(fate) => report.note(fate),
                        Err(fault) => self.reject(block, record, fault, &cells, sink, report),
                    }
                }
            }
        }
    }

    /// Rejects a row with a bad cell, unless all its cells are empty. `record` includes the line end.
    #[cold]
    fn reject<S: RowSink>(
        &self,
        block: &[u8],
        record: &[u8],
        (role, problem): (Role, Problem),
        cells: &Cells<'_>,
        sink: &mut S,
        report: &mut ChunkReport,
    ) {
        if self.is_blank(record) {
            sink.blank(record);
            return report.was_blank();
        }
        let text = without_line_end(record);
        report.reject((role as usize, cells[role as usize]), &problem.clone(), || {
            self.bad_cell(block, text, role, cells, problem)
        });
    }

    /// Rejects a row with too few or too many fields, unless they are all empty.
    #[cold]
    fn reject_length<S: RowSink>(
        &self,
        block: &[u8],
        record: &[u8],
        found: usize,
        sink: &mut S,
        report: &mut ChunkReport,
    ) {
        if self.is_blank(record) {
            sink.blank(record);
            return report.was_blank();
        }
        let problem = Problem::FieldCount { found, expected: self.role_of.len() };
        let text = without_line_end(record);
        report.reject((0, b""), &problem, || self.bad_length(block, text, found));
    }

    /// Whether a row has empty cells only, as spreadsheet programs write below a table.
    fn is_blank(&self, record: &[u8]) -> bool {
        let record = without_line_end(record);
        let mut at = 0;
        while let Ok(field) = next_field(record, at, self.delimiter) {
            if !trimmed(&field.text(record)).is_empty() {
                return false;
            }
            match field.next {
                Some(next) => at = next,
                None => return true,
            }
        }
        false
    }

    /// The first record of `text` with its line end, and the rest. Blocks end at record ends, so a
    /// quote that is not closed in `text` is never closed.
    fn split_record<'a>(&self, text: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let mut at = 0;
        loop {
            if text.get(at) == Some(&b'"') {
                match closing_quote(text, at + 1) {
                    Some(close) => at = close + 1,
                    None => return (text, b""),
                }
            }
            match memchr::memchr2(self.delimiter, b'\n', &text[at..]) {
                None => return (text, b""),
                Some(offset) if text[at + offset] == b'\n' => {
                    return text.split_at(at + offset + 1);
                }
                Some(offset) => at += offset + 1,
            }
        }
    }

    /// Copies the fields with roles to `cells`. Returns the number of fields, or a bad field.
    fn split_fields(
        &self,
        record: &[u8],
        cells: &mut [Vec<u8>; ROLES],
    ) -> Result<usize, (usize, Problem)> {
        let (mut at, mut column) = (0, 0);
        loop {
            let field =
                next_field(record, at, self.delimiter).map_err(|problem| (column, problem))?;
            if let Some(&role) = self.role_of.get(column)
                && let Some(cell) = cells.get_mut(role as usize)
            {
                cell.clear();
                cell.extend_from_slice(&field.text(record));
            }
            column += 1;
            match field.next {
                Some(next) => at = next,
                None => return Ok(column),
            }
        }
    }

    fn bad_cell(
        &self,
        block: &[u8],
        record: &[u8],
        role: Role,
        cells: &Cells<'_>,
        problem: Problem,
    ) -> BadRow {
        let column = self.layout.column(role);
        let index = self.layout.index[role as usize].unwrap_or(0);
        let fault = self.field_span(record, index);
        let value = shorten(cells[role as usize], 60);
        BadRow { column, value, ..self.bad_at(block, record, problem, fault) }
    }

    fn bad_length(&self, block: &[u8], record: &[u8], found: usize) -> BadRow {
        let expected = self.role_of.len();
        let problem = Problem::FieldCount { found, expected };
        // For a short row, the first missing column.
        let column = self.layout.names.get(found).map(|name| (found + 1, name.clone()));
        let value = shorten(without_line_end(record), 60);
        BadRow { column, value, ..self.bad_at(block, record, problem, 0..record.len()) }
    }

    /// A field that is not UTF-8 or has bad quotes.
    fn bad_field(&self, block: &[u8], record: &[u8], column: usize, problem: Problem) -> BadRow {
        let fault = self.field_span(record, column);
        let value = shorten(&record[fault.clone()], 60);
        let column = self.layout.names.get(column).map(|name| (column + 1, name.clone()));
        BadRow { column, value, ..self.bad_at(block, record, problem, fault) }
    }

    fn bad_at(
        &self,
        block: &[u8],
        record: &[u8],
        problem: Problem,
        fault: std::ops::Range<usize>,
    ) -> BadRow {
        // `record` is a slice of `block`.
        let offset = record.as_ptr() as usize - block.as_ptr() as usize;
        let line = 1 + memchr_iter(b'\n', &block[..offset]).count() as u64;
        const SHOWN: usize = 100;
        let record = without_line_end(record);
        let fault = fault.start.min(record.len())..fault.end.min(record.len());
        // Long rows are shown from shortly before the bad field.
        let mut from = if record.len() <= SHOWN { 0 } else { fault.start.saturating_sub(20) };
        while from > 0 && record[from] & 0xc0 == 0x80 {
            from -= 1;
        }
        let text = shorten(&record[from..], SHOWN);
        let marked = fault.start - from..fault.end - from;
        let fits = marked.end <= text.len()
            && text.is_char_boundary(marked.start)
            && text.is_char_boundary(marked.end)
            && !text.contains(['\n', '\r', '\u{fffd}']);
        BadRow {
            file: Arc::clone(&self.file),
            position: Position::Line(line),
            column: None,
            value: String::new(),
            problem,
            snippet: fits.then_some((text, marked)),
            others: Vec::new(),
            rows: 0,
            misspelt: false,
        }
    }

    /// The column (from 0) of the field that contains a byte.
    fn column_at(&self, record: &[u8], offset: usize) -> usize {
        let (mut at, mut column) = (0, 0);
        while let Ok(Field { next: Some(next), .. }) = next_field(record, at, self.delimiter) {
            if next > offset {
                break;
            }
            (at, column) = (next, column + 1);
        }
        column
    }

    /// The range of a column's field in a record, including quotes.
    fn field_span(&self, record: &[u8], index: usize) -> std::ops::Range<usize> {
        let mut at = 0;
        for column in 0.. {
            let Ok(field) = next_field(record, at, self.delimiter) else {
                return at..record.len();
            };
            let end = field.next.map_or(record.len(), |next| next - 1);
            if column == index {
                return at..end;
            }
            match field.next {
                Some(next) => at = next,
                None => break,
            }
        }
        0..record.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_determines_the_delimiter() {
        assert_eq!(delimiter_of(Format::Csv, b"a,b;c\n"), b',');
        assert_eq!(delimiter_of(Format::Csv, b"\na;b\n1,2"), b';');
        assert_eq!(delimiter_of(Format::Csv, b"a\tb\n"), b'\t');
        assert_eq!(delimiter_of(Format::Tsv, b"a,b\n"), b'\t');
    }
}
