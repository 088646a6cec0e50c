//! Rows of a database, packed into one buffer.

use std::hash::Hasher;
use std::io::Write as _;

use rusqlite::types::ValueRef;

use crate::error::shorten;

/// Rows in a block.
const MAX_ROWS: usize = 4096;
/// Bytes from which a block is complete.
const MAX_BYTES: usize = 1 << 18;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Null,
    Text,
    Whole,
    Decimal,
    Blob,
}

/// A value as text: numbers in decimal, a BLOB in hexadecimal digits, NULL empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    pub(super) kind: CellKind,
    /// Not always UTF-8: SQLite does not check text.
    pub(super) text: &'a [u8],
}

impl Cell<'_> {
    /// The value in a message.
    pub(super) fn shown(self) -> String {
        const MAX_SHOWN: usize = 60;
        match self.kind {
            CellKind::Blob => format!("BLOB {}", shorten(self.text, MAX_SHOWN)),
            _ => shorten(self.text, MAX_SHOWN),
        }
    }
}

/// Some rows, one after the other.
#[derive(Debug, Default)]
pub(super) struct RowBlock {
    columns: usize,
    text: Vec<u8>,
    /// The type of each value, and where its text ends.
    cells: Vec<(CellKind, usize)>,
}

impl RowBlock {
    /// A block for rows with so many columns.
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, text: Vec::with_capacity(MAX_BYTES), cells: Vec::new() }
    }

    /// Whether it has enough rows.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= MAX_BYTES || self.cells.len() >= MAX_ROWS * self.columns
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Bytes of all values.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Adds the next value of the current row.
    pub(super) fn push(&mut self, value: ValueRef<'_>) {
        // Writing to memory does not fail.
        let kind = match value {
            ValueRef::Null => CellKind::Null,
            ValueRef::Text(text) => {
                self.text.extend_from_slice(text);
                CellKind::Text
            }
            ValueRef::Integer(number) => {
                let _ = write!(self.text, "{number}");
                CellKind::Whole
            }
            ValueRef::Real(number) => {
                let _ = write!(self.text, "{number}");
                CellKind::Decimal
            }
            ValueRef::Blob(bytes) => {
                bytes.iter().for_each(|byte| drop(write!(self.text, "{byte:02X}")));
                CellKind::Blob
            }
        };
        self.cells.push((kind, self.text.len()));
    }

    /// The rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = BlockRow<'_>> {
        let starts = (0..self.cells.len()).step_by(self.columns.max(1));
        starts.map(|first| BlockRow { block: self, first })
    }

    /// Adds types and values of some columns to a hash.
    pub(super) fn hash(&self, is_hashed: &[bool], hash: &mut impl Hasher) {
        for row in self.rows() {
            for (cell, _) in row.cells().zip(is_hashed).filter(|(_, is_hashed)| **is_hashed) {
                hash.write_u8(cell.kind as u8);
                hash.write_usize(cell.text.len());
                hash.write(cell.text);
            }
        }
    }
}

/// A row of a block.
#[derive(Clone, Copy)]
pub(super) struct BlockRow<'a> {
    block: &'a RowBlock,
    /// The index of its first value.
    first: usize,
}

impl<'a> BlockRow<'a> {
    /// The value at a position.
    #[inline]
    pub(super) fn cell(self, column: usize) -> Cell<'a> {
        let index = self.first + column;
        let start = if index == 0 { 0 } else { self.block.cells[index - 1].1 };
        let (kind, end) = self.block.cells[index];
        Cell { kind, text: &self.block.text[start..end] }
    }

    /// All values.
    pub(super) fn cells(self) -> impl Iterator<Item = Cell<'a>> {
        (0..self.block.columns).map(move |column| self.cell(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_types() {
        let values = [
            ValueRef::Text(b"a"),
            ValueRef::Null,
            ValueRef::Integer(-7),
            ValueRef::Real(2.5),
            ValueRef::Real(3.0),
            ValueRef::Blob(&[0, 255]),
        ];
        let mut block = RowBlock::new(3);
        values.into_iter().for_each(|value| block.push(value));
        let rows: Vec<Vec<(CellKind, String)>> = block
            .rows()
            .map(|row| row.cells().map(|cell| (cell.kind, cell.shown())).collect())
            .collect();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            rows,
            [
                [
                    (CellKind::Text, text("a")),
                    (CellKind::Null, text("")),
                    (CellKind::Whole, text("-7"))
                ],
                [
                    (CellKind::Decimal, text("2.5")),
                    (CellKind::Decimal, text("3")),
                    (CellKind::Blob, text("BLOB 00FF"))
                ],
            ]
        );
    }

    #[test]
    fn the_hash_tells_values_and_types_apart() {
        let hash = |values: &[ValueRef<'_>], used: &[bool]| {
            let mut block = RowBlock::new(values.len());
            values.iter().for_each(|&value| block.push(value));
            let mut hash = twox_hash::XxHash64::with_seed(0);
            block.hash(used, &mut hash);
            hash.finish()
        };
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let all = [true, true];
        assert_ne!(hash(&[text("ab"), text("c")], &all), hash(&[text("a"), text("bc")], &all));
        assert_ne!(hash(&[text("1")], &all), hash(&[ValueRef::Integer(1)], &all));
        let one = hash(&[text("a"), text("b")], &[true, false]);
        assert_eq!(one, hash(&[text("a"), text("c")], &[true, false]));
    }
}
