//! Text in blocks of complete records.
//!
//! A newline inside a quoted field does not end a record. Each block starts at a record, and quotes
//! are followed from there, skipping from quote to quote; a block without quotes ends at its last
//! newline.

use std::io::Read;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::parallel::ChunkSource;
use super::source::{BYTE_ORDER_MARK, BoxedRead};
use crate::error::{BadRow, Error, Position, Problem, Result, Unsupported, WrongEncoding, shorten};
use crate::limits::{MAX_BLANK_BYTES, MAX_RECORD_BYTES};

/// Large enough for the lock to be cheap, small enough for the processor's cache.
const BLOCK_BYTES: usize = 1 << 20;

/// How records of a text format end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordSyntax {
    /// At every newline.
    Lines,
    /// At newlines outside double quotes; fields are separated by this byte.
    Quoted(u8),
}

/// A text file, divided into blocks.
pub(super) struct TextBlocks {
    file: Arc<str>,
    reader: BoxedRead,
    syntax: RecordSyntax,
    /// Text that has been read but not returned: the start of the next block.
    rest: Vec<u8>,
    at_end: bool,
    byte_order_mark: &'static [u8],
}

impl TextBlocks {
    /// Starts to read. Skips a byte-order mark and rejects UTF-16.
    pub(super) fn start(file: &Arc<str>, reader: BoxedRead) -> Result<Self> {
        let mut blocks = Self {
            file: Arc::clone(file),
            reader,
            syntax: RecordSyntax::Lines,
            rest: Vec::new(),
            at_end: false,
            byte_order_mark: b"",
        };
        blocks.fill(BLOCK_BYTES)?;
        if blocks.rest.starts_with(&[0xff, 0xfe]) || blocks.rest.starts_with(&[0xfe, 0xff]) {
            return Err(Error::Encoding { file: Arc::clone(file), encoding: WrongEncoding::Utf16 });
        }
        if blocks.rest.starts_with(BYTE_ORDER_MARK) {
            blocks.rest.drain(..BYTE_ORDER_MARK.len());
            blocks.byte_order_mark = BYTE_ORDER_MARK;
        }
        Ok(blocks)
    }

    /// The byte-order mark of the file; empty if it has none.
    pub(super) fn byte_order_mark(&self) -> &'static [u8] {
        self.byte_order_mark
    }

    /// Text that has been read but not returned: at first the header and up to a block of rows.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.rest
    }

    /// The complete records at the start of the text; at least one, unless the file is empty.
    pub(super) fn first_records(&mut self) -> Result<&[u8]> {
        while first_record_end(&self.rest, self.syntax).is_none() && !self.at_end {
            self.check_length()?;
            self.fill(2 * self.rest.len())?;
        }
        let end = if self.at_end { None } else { last_record_end(&self.rest, self.syntax) };
        Ok(&self.rest[..end.unwrap_or(self.rest.len())])
    }

    /// Removes and returns all blank lines at the start.
    pub(super) fn take_blank_lines(&mut self) -> Result<Vec<u8>> {
        let mut blank = Vec::new();
        loop {
            let is_text = |byte: &u8| !byte.is_ascii_whitespace();
            let text = self.rest.iter().position(is_text);
            let end = match text {
                None if self.at_end => self.rest.len(),
                _ => {
                    let spaces = &self.rest[..text.unwrap_or(self.rest.len())];
                    memrchr(b'\n', spaces).map_or(0, |newline| newline + 1)
                }
            };
            blank.extend(self.rest.drain(..end));
            if text.is_some() || self.at_end {
                return Ok(blank);
            }
            if blank.len() + self.rest.len() > MAX_BLANK_BYTES {
                let (file, feature) = (Arc::clone(&self.file), Unsupported::BlankLines);
                return Err(Error::Unsupported { file, feature });
            }
            self.fill(self.rest.len() + BLOCK_BYTES)?;
        }
    }

    /// Sets how records end, which can depend on the header.
    pub(super) fn set_syntax(&mut self, syntax: RecordSyntax) {
        self.syntax = syntax;
    }

    /// Removes and returns the next record (the header), with its line end.
    pub(super) fn take_record(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(end) = first_record_end(&self.rest, self.syntax) {
                return Ok(self.rest.drain(..end).collect());
            }
            if self.at_end {
                return Ok(std::mem::take(&mut self.rest));
            }
            self.check_length()?;
            self.fill(2 * self.rest.len())?;
        }
    }

    /// Reads until `rest` has `target` bytes or the file ends.
    fn fill(&mut self, target: usize) -> Result<()> {
        let missing = target.saturating_sub(self.rest.len());
        let limited = &mut self.reader.by_ref().take(missing as u64);
        let read = limited.read_to_end(&mut self.rest);
        let read = read.map_err(|source| Error::read(&self.file, source))?;
        self.at_end = read < missing;
        Ok(())
    }

    fn check_length(&self) -> Result<()> {
        if self.rest.len() < MAX_RECORD_BYTES { Ok(()) } else { Err(self.too_long()) }
    }

    fn open_quote(&self) -> Option<usize> {
        match self.syntax {
            RecordSyntax::Quoted(delimiter) => open_quote(&self.rest, delimiter),
            RecordSyntax::Lines => None,
        }
    }

    /// The error for a record that does not end: most likely a quote was never closed.
    fn too_long(&self) -> Error {
        let quote = self.open_quote();
        let opened = quote.unwrap_or(0);
        let line = 1 + memchr::memchr_iter(b'\n', &self.rest[..opened]).count() as u64;
        let start = memrchr(b'\n', &self.rest[..opened]).map_or(0, |newline| newline + 1);
        let problem = match quote {
            Some(_) => Problem::UnclosedQuote,
            None => Problem::RecordTooLong,
        };
        Error::Row(Box::new(BadRow {
            file: Arc::clone(&self.file),
            position: Position::Line(line),
            column: None,
            value: shorten(&self.rest[start..], 40),
            problem,
            snippet: None,
            others: Vec::new(),
            rows: 0,
            misspelt: false,
        }))
    }
}

impl ChunkSource for TextBlocks {
    type Chunk = Vec<u8>;

    fn next(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        self.fill(BLOCK_BYTES.max(self.rest.len()))?;
        loop {
            if let Some(end) = last_record_end(&self.rest, self.syntax) {
                // `rest` gets the block's old buffer: nothing is allocated.
                block.clear();
                block.extend_from_slice(&self.rest[end..]);
                std::mem::swap(block, &mut self.rest);
                block.truncate(end);
                return Ok(true);
            }
            if self.at_end {
                if self.open_quote().is_some() {
                    return Err(self.too_long());
                }
                block.clear();
                std::mem::swap(block, &mut self.rest);
                return Ok(!block.is_empty());
            }
            self.check_length()?;
            self.fill(2 * self.rest.len())?;
        }
    }
}

/// The end of the last complete record of `text`.
fn last_record_end(text: &[u8], syntax: RecordSyntax) -> Option<usize> {
    let mut end_of_record = None;
    outside_quotes(text, syntax, |start, end| {
        if let Some(newline) = memrchr(b'\n', &text[start..end]) {
            end_of_record = Some(start + newline + 1);
        }
        true
    });
    end_of_record
}

/// The end of the first record of `text`.
fn first_record_end(text: &[u8], syntax: RecordSyntax) -> Option<usize> {
    let mut end_of_record = None;
    outside_quotes(text, syntax, |start, end| {
        end_of_record = memchr(b'\n', &text[start..end]).map(|newline| start + newline + 1);
        end_of_record.is_none()
    });
    end_of_record
}

/// The position of a quote that is still open at the end of `text`.
fn open_quote(text: &[u8], delimiter: u8) -> Option<usize> {
    outside_quotes(text, RecordSyntax::Quoted(delimiter), |_, _| true)
}

/// Calls `visit` with each range of `text` outside quotes, until it returns `false`. Returns the
/// position of a quote that is still open at the end.
///
/// A quote has a meaning only at the start of a field; elsewhere it is an ordinary character.
fn outside_quotes(
    text: &[u8],
    syntax: RecordSyntax,
    mut visit: impl FnMut(usize, usize) -> bool,
) -> Option<usize> {
    let RecordSyntax::Quoted(delimiter) = syntax else {
        visit(0, text.len());
        return None;
    };
    let mut start = 0;
    let mut at = 0;
    while let Some(quote) = memchr(b'"', &text[at..]).map(|offset| at + offset) {
        let opens = quote == 0 || text[quote - 1] == delimiter || text[quote - 1] == b'\n';
        if !opens {
            at = quote + 1;
            continue;
        }
        if !visit(start, quote) {
            return None;
        }
        match closing_quote(text, quote + 1) {
            Some(close) => (start, at) = (close + 1, close + 1),
            None => return Some(quote),
        }
    }
    visit(start, text.len());
    None
}

/// The position of the quote that closes a field whose text starts at `from`; doubled quotes are
/// part of the text.
pub(super) fn closing_quote(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let quote = at + memchr(b'"', &text[at..])?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: RecordSyntax = RecordSyntax::Quoted(b',');

    #[test]
    fn record_ends() {
        for (text, first, last) in [
            ("a,b\nc,d\ne", Some(4), Some(8)),
            ("\"a\nb\",c\nd", Some(8), Some(8)),
            ("a\"\n,b\n", Some(3), Some(6)),
            ("\"a\"\"\n\",c\n\"x\n", Some(9), Some(9)),
            ("\"a\n\n\n", None, None),
            ("", None, None),
        ] {
            assert_eq!(first_record_end(text.as_bytes(), CSV), first, "{text:?}");
            assert_eq!(last_record_end(text.as_bytes(), CSV), last, "{text:?}");
        }
        assert_eq!(last_record_end(b"{\"a\n\n", RecordSyntax::Lines), Some(5));
        assert_eq!(open_quote(b"a,\"b\nc", b','), Some(2));
        assert_eq!(open_quote(b"a,b\"\nc", b','), None);
    }
}
