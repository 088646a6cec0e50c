//! Checks of a Parquet file that are made before it is decoded.
//!
//! The decoder converts the schema recursively, so a deeply nested one would overflow the stack, and
//! it decompresses a page as a whole, so a small file could exhaust the memory. Both are found in
//! structures of Thrift's compact protocol, which are scanned here without recursion.

use crate::error::Unsupported;
use crate::limits::{MAX_NESTING, MAX_PAGE_BYTES};

/// Why a scan ended early.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ScanError {
    /// The bytes end too early, or are not what is expected. The decoder will say more.
    Malformed,
    /// The file exceeds a limit.
    Refused(Unsupported),
}

type Scan<T> = Result<T, ScanError>;

/// Checks how deeply the schema in a file's footer is nested.
pub(super) fn check_nesting(footer: &[u8]) -> Scan<()> {
    /// The field of the file's metadata that holds the schema: a list of elements in depth-first
    /// order, each with the number of its children.
    const SCHEMA: i64 = 2;
    const CHILDREN: i64 = 5;
    let mut scanner = Scanner { rest: footer };
    let mut id = 0;
    while let Some(kind) = scanner.field(&mut id)? {
        if id != SCHEMA || kind != LIST {
            scanner.skip(kind)?;
            continue;
        }
        let (element_kind, elements) = scanner.list()?;
        if element_kind != STRUCT {
            return Err(ScanError::Malformed);
        }
        // For each open element, the number of children that follow.
        let mut open: Vec<i64> = Vec::new();
        for _ in 0..elements {
            let (mut id, mut children) = (0, 0);
            while let Some(kind) = scanner.field(&mut id)? {
                if id == CHILDREN && kind == I32 {
                    children = scanner.signed()?;
                } else {
                    scanner.skip(kind)?;
                }
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(parent) = open.last_mut() {
                *parent -= 1;
            }
            if open.len() > MAX_NESTING {
                return Err(ScanError::Refused(Unsupported::Nesting));
            }
            if children > 0 {
                open.push(children);
            }
        }
        return Ok(());
    }
    Err(ScanError::Malformed)
}

/// Checks the decompressed size of a page, given the bytes from its header on. Returns the number of
/// bytes from the start of the header to the next page.
pub(super) fn check_page(bytes: &[u8]) -> Scan<u64> {
    const UNCOMPRESSED: i64 = 2;
    const COMPRESSED: i64 = 3;
    let mut scanner = Scanner { rest: bytes };
    let (mut id, mut uncompressed, mut compressed) = (0, 0, 0);
    while let Some(kind) = scanner.field(&mut id)? {
        match (id, kind) {
            (UNCOMPRESSED, I32) => uncompressed = scanner.signed()?,
            (COMPRESSED, I32) => compressed = scanner.signed()?,
            _ => scanner.skip(kind)?,
        }
    }
    let size = |size: i64| u64::try_from(size).map_err(|_| ScanError::Malformed);
    let (uncompressed, compressed) = (size(uncompressed)?, size(compressed)?);
    if uncompressed > MAX_PAGE_BYTES {
        let (bytes, max) = (uncompressed, MAX_PAGE_BYTES);
        return Err(ScanError::Refused(Unsupported::PageBytes { bytes, max }));
    }
    Ok((bytes.len() - scanner.rest.len()) as u64 + compressed)
}

/// Types of the compact protocol.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

struct Scanner<'a> {
    rest: &'a [u8],
}

/// A value that is being skipped.
enum Skipped {
    Struct,
    /// Values of these types in turn: one type for a list, two for a map.
    Values {
        kinds: [u8; 2],
        remaining: u64,
    },
}

impl Scanner<'_> {
    fn byte(&mut self) -> Scan<u8> {
        let (&byte, rest) = self.rest.split_first().ok_or(ScanError::Malformed)?;
        self.rest = rest;
        Ok(byte)
    }

    fn bytes(&mut self, count: u64) -> Scan<()> {
        let count = usize::try_from(count).map_err(|_| ScanError::Malformed)?;
        self.rest = self.rest.get(count..).ok_or(ScanError::Malformed)?;
        Ok(())
    }

    fn unsigned(&mut self) -> Scan<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ScanError::Malformed)
    }

    /// A signed number: the lowest bit is the sign.
    fn signed(&mut self) -> Scan<i64> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The type of the next field of a structure, whose number is left in `id`; `None` at its end.
    fn field(&mut self, id: &mut i64) -> Scan<Option<u8>> {
        let header = self.byte()?;
        if header == 0 {
            return Ok(None);
        }
        *id = match header >> 4 {
            0 => self.signed()?,
            step => id.wrapping_add(step.into()),
        };
        Ok(Some(header & 0xf))
    }

    /// The type and number of a list's elements.
    fn list(&mut self) -> Scan<(u8, u64)> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.unsigned()?,
            count => count.into(),
        };
        Ok((header & 0xf, count))
    }

    /// Skips the value of a field.
    fn skip(&mut self, kind: u8) -> Scan<()> {
        if matches!(kind, TRUE | FALSE) {
            // The type of the field is its value.
            return Ok(());
        }
        let mut open = Vec::new();
        self.enter(kind, &mut open)?;
        while let Some(last) = open.last_mut() {
            let next = match last {
                Skipped::Struct => match self.field(&mut 0)? {
                    None => {
                        open.pop();
                        continue;
                    }
                    Some(TRUE | FALSE) => continue,
                    Some(kind) => kind,
                },
                Skipped::Values { remaining: 0, .. } => {
                    open.pop();
                    continue;
                }
                Skipped::Values { kinds, remaining } => {
                    *remaining -= 1;
                    kinds.swap(0, 1);
                    kinds[1]
                }
            };
            self.enter(next, &mut open)?;
        }
        Ok(())
    }

    /// Skips a simple value, or opens a composite one.
    fn enter(&mut self, kind: u8, open: &mut Vec<Skipped>) -> Scan<()> {
        match kind {
            TRUE | FALSE | BYTE => self.bytes(1),
            I16 | I32 | I64 => self.unsigned().map(|_| ()),
            DOUBLE => self.bytes(8),
            UUID => self.bytes(16),
            BINARY => self.unsigned().and_then(|length| self.bytes(length)),
            STRUCT => {
                open.push(Skipped::Struct);
                Ok(())
            }
            LIST | SET => {
                let (kind, remaining) = self.list()?;
                open.push(Skipped::Values { kinds: [kind, kind], remaining });
                Ok(())
            }
            MAP => {
                let entries = self.unsigned()?;
                if entries > 0 {
                    let kinds = self.byte()?;
                    let kinds = [kinds >> 4, kinds & 0xf];
                    open.push(Skipped::Values { kinds, remaining: entries.saturating_mul(2) });
                }
                Ok(())
            }
            _ => Err(ScanError::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer with a field before the schema, and a schema in which each group has one child.
    fn footer(levels: usize) -> Vec<u8> {
        // Version 1, then a list of structures with a long count.
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        let mut count = levels + 1;
        while count >= 0x80 {
            bytes.push(count as u8 | 0x80);
            count >>= 7;
        }
        bytes.push(count as u8);
        for level in 0..=levels {
            // Name "a" (field 4), then the number of children (field 5) unless it is the last one.
            bytes.extend([0x48, 1, b'a']);
            if level < levels {
                bytes.extend([0x15, 2]);
            }
            bytes.push(0);
        }
        bytes
    }

    #[test]
    fn deeply_nested_schemas_are_refused() {
        assert_eq!(check_nesting(&footer(1)), Ok(()));
        assert_eq!(check_nesting(&footer(MAX_NESTING)), Ok(()));
        let refused = Err(ScanError::Refused(Unsupported::Nesting));
        assert_eq!(check_nesting(&footer(MAX_NESTING + 1)), refused);
        assert_eq!(check_nesting(&footer(1_000_000)), refused);
        let whole = footer(3);
        for end in 0..whole.len() {
            assert_eq!(check_nesting(&whole[..end]), Err(ScanError::Malformed), "{end}");
        }
    }

    #[test]
    fn values_of_all_types_are_skipped() {
        let mut scanner = Scanner {
            rest: &[
                0x11, 0x35, 4, 0x18, 2, 7, 7, 0x19, 0x21, 1, 2, 0x1b, 1, 0x58, 9, 1, 7, 0x1c, 0x12,
                0, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42,
            ],
        };
        scanner.skip(STRUCT).unwrap();
        assert_eq!(scanner.rest, [42]);
    }

    #[test]
    fn large_pages_are_refused() {
        let header = |uncompressed: u64| {
            let mut bytes = vec![0x15, 0, 0x15];
            let mut value = uncompressed << 1;
            while value >= 0x80 {
                bytes.push(value as u8 | 0x80);
                value >>= 7;
            }
            bytes.extend([value as u8, 0x15, 20, 0]);
            bytes
        };
        let small = header(1000);
        assert_eq!(check_page(&small), Ok(small.len() as u64 + 10));
        let refused = Unsupported::PageBytes { bytes: 500_000_000, max: MAX_PAGE_BYTES };
        assert_eq!(check_page(&header(500_000_000)), Err(ScanError::Refused(refused)));
    }
}
