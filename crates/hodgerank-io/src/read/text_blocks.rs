//! Text in blocks of whole records, cut where a record really ends.
//!
//! A newline inside a quoted field ends no record, so the cutter follows the quotes from the start
//! of each block, which is always the start of a record. It jumps from quote to quote; a block
//! without any is cut at its last newline after one look.

use std::io::Read;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::pump::Pieces;
use super::source::{BYTE_ORDER_MARK, BoxedRead};
use crate::error::{BadRow, Error, Position, Problem, Result, shorten};

/// Large enough to make the lock cheap, small enough to stay in the cache.
const BLOCK: usize = 1 << 20;
/// A record longer than this is a quote that was never closed, not a record.
const LONGEST_RECORD: usize = 64 << 20;

/// How records of a text format end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Records {
    /// At every newline.
    Lines,
    /// At newlines outside of double quotes; fields are separated by this byte.
    Quoted(u8),
}

/// A text file, cut into blocks.
pub(super) struct TextBlocks {
    file: Arc<str>,
    reader: BoxedRead,
    records: Records,
    /// The beginning of a record that the last block could not hold.
    rest: Vec<u8>,
    at_end: bool,
    mark: &'static [u8],
}

impl TextBlocks {
    /// Begins to read; passes over a byte-order mark and refuses text in two-byte characters.
    pub(super) fn start(file: &Arc<str>, reader: BoxedRead) -> Result<Self> {
        let mut blocks = Self {
            file: Arc::clone(file),
            reader,
            records: Records::Lines,
            rest: Vec::new(),
            at_end: false,
            mark: b"",
        };
        blocks.fill(BLOCK)?;
        if blocks.rest.starts_with(&[0xff, 0xfe]) || blocks.rest.starts_with(&[0xfe, 0xff]) {
            return Err(Error::WrongFormat {
                file: Arc::clone(file),
                expected: "UTF-8 text",
                found: "it is UTF-16; save it as UTF-8 (in a spreadsheet: CSV UTF-8)".to_owned(),
            });
        }
        if blocks.rest.starts_with(BYTE_ORDER_MARK) {
            blocks.rest.drain(..BYTE_ORDER_MARK.len());
            blocks.mark = BYTE_ORDER_MARK;
        }
        Ok(blocks)
    }

    /// The byte-order mark of the file, or nothing.
    pub(super) fn mark(&self) -> &'static [u8] {
        self.mark
    }

    /// What has been read and not yet handed out: the header, and a good deal more.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.rest
    }

    /// Says how records end, which is known only after a look at the header.
    pub(super) fn set_records(&mut self, records: Records) {
        self.records = records;
    }

    /// Takes the first record (the header) off, with its line ending.
    pub(super) fn take_record(&mut self) -> Result<Vec<u8>> {
        loop {
            if let Some(end) = first_border(&self.rest, self.records) {
                return Ok(self.rest.drain(..end).collect());
            }
            if self.at_end {
                return Ok(std::mem::take(&mut self.rest));
            }
            self.check_length()?;
            self.fill(2 * self.rest.len())?;
        }
    }

    /// Reads on until `rest` holds `target` bytes or the file ends.
    fn fill(&mut self, target: usize) -> Result<()> {
        let missing = target.saturating_sub(self.rest.len());
        let limited = &mut self.reader.by_ref().take(missing as u64);
        let read = limited.read_to_end(&mut self.rest);
        let read = read.map_err(|source| Error::read(&self.file, source))?;
        self.at_end = read < missing;
        Ok(())
    }

    fn check_length(&self) -> Result<()> {
        if self.rest.len() < LONGEST_RECORD { Ok(()) } else { Err(self.unclosed()) }
    }

    fn unclosed(&self) -> Error {
        let opened = match self.records {
            Records::Quoted(delimiter) => open_quote(&self.rest, delimiter).unwrap_or(0),
            Records::Lines => 0,
        };
        let line = 1 + memchr::memchr_iter(b'\n', &self.rest[..opened]).count() as u64;
        let start = memrchr(b'\n', &self.rest[..opened]).map_or(0, |newline| newline + 1);
        let problem = if matches!(self.records, Records::Lines) {
            Problem::BadJson("a line longer than 64 MiB".to_owned())
        } else {
            Problem::UnclosedQuote
        };
        Error::Row(Box::new(BadRow {
            file: Arc::clone(&self.file),
            position: Position::Line(line),
            column: None,
            value: shorten(&self.rest[start..], 40),
            problem,
            snippet: None,
        }))
    }
}

impl Pieces for TextBlocks {
    type Piece = Vec<u8>;

    fn next(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        self.fill(BLOCK.max(self.rest.len()))?;
        loop {
            if let Some(end) = last_border(&self.rest, self.records) {
                // The reader goes on in the block's old buffer: nothing is allocated.
                block.clear();
                block.extend_from_slice(&self.rest[end..]);
                std::mem::swap(block, &mut self.rest);
                block.truncate(end);
                return Ok(true);
            }
            if self.at_end {
                let unclosed = matches!(self.records,
                    Records::Quoted(delimiter) if open_quote(&self.rest, delimiter).is_some());
                if unclosed {
                    return Err(self.unclosed());
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

/// Where the last whole record of `text` ends.
fn last_border(text: &[u8], records: Records) -> Option<usize> {
    let mut border = None;
    outside_quotes(text, records, |start, end| {
        if let Some(newline) = memrchr(b'\n', &text[start..end]) {
            border = Some(start + newline + 1);
        }
        true
    });
    border
}

/// Where the first record of `text` ends.
fn first_border(text: &[u8], records: Records) -> Option<usize> {
    let mut border = None;
    outside_quotes(text, records, |start, end| {
        border = memchr(b'\n', &text[start..end]).map(|newline| start + newline + 1);
        border.is_none()
    });
    border
}

/// The quote that is open at the end of `text`, if one is.
fn open_quote(text: &[u8], delimiter: u8) -> Option<usize> {
    outside_quotes(text, Records::Quoted(delimiter), |_, _| true)
}

/// Calls `visit` with each stretch of `text` outside of quotes, until it returns `false`. Returns
/// the place of a quote that is still open at the end.
///
/// A quote opens a field only where a field starts; elsewhere it is an ordinary character.
fn outside_quotes(
    text: &[u8],
    records: Records,
    mut visit: impl FnMut(usize, usize) -> bool,
) -> Option<usize> {
    let Records::Quoted(delimiter) = records else {
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

/// The quote that closes a field whose text begins at `from`; doubled quotes are part of the text.
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

    const CSV: Records = Records::Quoted(b',');

    #[test]
    fn borders_are_not_fooled() {
        for (text, first, last) in [
            ("a,b\nc,d\ne", Some(4), Some(8)),
            ("\"a\nb\",c\nd", Some(8), Some(8)),
            ("a\"\n,b\n", Some(3), Some(6)),
            ("\"a\"\"\n\",c\n\"x\n", Some(9), Some(9)),
            ("\"a\n\n\n", None, None),
            ("", None, None),
        ] {
            assert_eq!(first_border(text.as_bytes(), CSV), first, "{text:?}");
            assert_eq!(last_border(text.as_bytes(), CSV), last, "{text:?}");
        }
        assert_eq!(last_border(b"{\"a\n\n", Records::Lines), Some(5));
        assert_eq!(open_quote(b"a,\"b\nc", b','), Some(2));
        assert_eq!(open_quote(b"a,b\"\nc", b','), None);
    }
}
