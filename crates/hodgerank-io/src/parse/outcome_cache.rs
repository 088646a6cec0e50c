//! Recent outcome cells and their meanings: most columns repeat a few short words or numbers.

use super::{ParsedOutcome, word_or_number};
use crate::error::Problem;

const ENTRIES: usize = 16;
/// Longer cells are not remembered.
const MAX_BYTES: usize = 8;

/// The meaning of words and numbers that were read before.
#[derive(Debug, Default)]
pub(crate) struct OutcomeCache {
    entries: [Option<(Key, ParsedOutcome)>; ENTRIES],
}

/// The bytes of a short cell, and their number.
type Key = (u64, u8);

impl OutcomeCache {
    /// As [`word_or_number`], and whether the cell was seen before.
    #[inline]
    pub(crate) fn word_or_number(&mut self, text: &[u8]) -> Result<(ParsedOutcome, bool), Problem> {
        let Some(key) = key(text) else {
            return word_or_number(text).map(|parsed| (parsed, false));
        };
        let entry = &mut self.entries[place(key)];
        match *entry {
            Some((known, parsed)) if known == key => Ok((parsed, true)),
            _ => {
                let parsed = word_or_number(text)?;
                *entry = Some((key, parsed));
                Ok((parsed, false))
            }
        }
    }
}

/// The first and the last four bytes, or up to three bytes: different for different cells of the same
/// length.
#[inline]
fn key(text: &[u8]) -> Option<Key> {
    let length = text.len();
    let bytes = match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        _ if length > MAX_BYTES || length == 0 => return None,
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => [text[0], text[length / 2], text[length - 1]]
            .iter()
            .fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
    };
    Some((bytes, length as u8))
}

#[inline]
fn place((bytes, length): Key) -> usize {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    ((bytes ^ u64::from(length)).wrapping_mul(MULTIPLIER) >> 60) as usize % ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_cells_have_the_same_meaning() {
        let mut cache = OutcomeCache::default();
        let cells = ["left", "right", "tie", "a", "b", "1", "-1", "0", "10", "100", "1.5", "-0.25"];
        for round in 0..3 {
            for text in cells.iter().chain(&["both_bad", "model_a", "tie (bothbad)", "TIE"]) {
                let (parsed, _) = cache.word_or_number(text.as_bytes()).unwrap();
                let expected = word_or_number(text.as_bytes()).unwrap();
                assert_eq!(parsed, expected, "{text}, round {round}");
            }
        }
        cache.word_or_number(b"1").unwrap();
        assert!(cache.word_or_number(b"1").unwrap().1);
        assert!(cache.word_or_number(b"lefft").is_err());
        assert!(cache.word_or_number(b"").is_err());
    }

    #[test]
    fn different_cells_have_different_keys() {
        let cells: Vec<String> = (0..200_000).map(|k: u32| format!("{:x}", k * 7919)).collect();
        let mut keys: Vec<_> = cells.iter().map(|cell| key(cell.as_bytes())).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), cells.len());
        assert_eq!(key(b"123456789"), None);
    }
}
