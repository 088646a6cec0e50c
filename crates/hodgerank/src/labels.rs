//! Names of items (or annotators), their indices and their natural order.
//!
//! Reading votes spends most of its time on looking up names. With a million items every step of a
//! look-up is a cache miss, so names of up to 24 bytes are stored inside their table entries: one
//! miss for the control bytes of the table, one for the entry, none for the text.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::slice::ParallelSliceMut;
use rustc_hash::FxBuildHasher;

/// A set of distinct names, numbered in order of arrival.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    /// All names, concatenated.
    text: String,
    /// `ends[k]` is where name `k` ends in `text`; it starts where name `k - 1` ends.
    ends: Vec<usize>,
    short: HashTable<ShortEntry>,
    long: HashTable<u32>,
}

/// Maximum length in bytes of names that are stored inside their table entries.
const MAX_SHORT: usize = 24;

/// A name of up to [`MAX_SHORT`] bytes: its length, and its bytes in words that may overlap.
///
/// Overlapping words are read directly from the name. Copying it into a padded buffer would be
/// simpler, but loading words that were just stored byte by byte stalls the processor.
#[derive(Debug, Clone, Copy)]
struct ShortName {
    words: [u64; 3],
    len: u32,
}

/// A name and its index in 32 bytes, so that no entry crosses a cache line.
#[derive(Debug, Clone, Copy)]
struct ShortEntry {
    words: [u64; 3],
    len: u32,
    id: u32,
}

impl ShortEntry {
    fn new(ShortName { words, len }: ShortName, id: u32) -> Self {
        Self { words, len, id }
    }

    fn name(&self) -> ShortName {
        ShortName { words: self.words, len: self.len }
    }

    /// Compares word by word: a derived comparison would reload the words in pairs and stall.
    #[inline]
    fn has_name(&self, name: &ShortName) -> bool {
        let [a, b, c] = [0, 1, 2].map(|k| self.words[k] ^ name.words[k]);
        a | b | c | u64::from(self.len ^ name.len) == 0
    }
}

impl ShortName {
    #[inline]
    fn new(name: &[u8]) -> Option<Self> {
        let words = match (name, name.first_chunk::<8>(), name.last_chunk::<8>()) {
            (_, Some(first), Some(last)) => {
                let middle = match name.len() {
                    ..=16 => 0,
                    17..=MAX_SHORT => u64::from_le_bytes(*name[8..].first_chunk()?),
                    _ => return None,
                };
                [u64::from_le_bytes(*first), u64::from_le_bytes(*last), middle]
            }
            _ => [Self::tiny(name), 0, 0],
        };
        Some(Self { words, len: name.len() as u32 })
    }

    /// Up to seven bytes.
    #[inline]
    fn tiny(name: &[u8]) -> u64 {
        match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
                u64::from(first) | u64::from(last) << 32
            }
            _ => name.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        }
    }

    /// A folded multiplication, and a second one for names above 16 bytes. The constants are digits
    /// of π.
    #[inline]
    fn hash(self) -> u64 {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            product as u64 ^ (product >> 64) as u64
        };
        let [first, last, middle] = self.words;
        let len = u64::from(self.len);
        let hash = fold(first ^ 0x243f_6a88_85a3_08d3, last ^ len ^ 0x1319_8a2e_0370_7344);
        if middle == 0 { hash } else { fold(hash ^ middle, 0xa409_3822_299f_31d1) }
    }
}

impl Labels {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of memory that the names take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let tables = self.short.capacity() * size_of::<ShortEntry>() + self.long.capacity() * 4;
        self.text.capacity() + self.ends.capacity() * size_of::<usize>() + tables
    }

    /// The name with index `id`.
    ///
    /// # Panics
    /// If no name has that index.
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        &self.text[span(&self.ends, id)]
    }

    /// The index of `name`, if it is in the set.
    #[must_use]
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        if let Some(short) = ShortName::new(name) {
            return self
                .short
                .find(short.hash(), |entry| entry.has_name(&short))
                .map(|entry| entry.id);
        }
        self.get_long(name)
    }

    /// A separate function, so that the code for short names stays small enough to inline.
    #[cold]
    fn get_long(&self, name: &[u8]) -> Option<u32> {
        let text = self.text.as_bytes();
        self.long.find(long_hash(name), |&id| &text[span(&self.ends, id)] == name).copied()
    }

    /// Returns the index of `name` and adds it if it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.get(name.as_bytes()) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        if let Some(short) = ShortName::new(name.as_bytes()) {
            let hash = |entry: &ShortEntry| entry.name().hash();
            self.short.insert_unique(short.hash(), ShortEntry::new(short, id), hash);
        } else {
            let (text, ends) = (self.text.as_bytes(), &self.ends);
            let hash = |&id: &u32| long_hash(&text[span(ends, id)]);
            self.long.insert_unique(long_hash(name.as_bytes()), id, hash);
        }
        id
    }

    /// All names in order of their indices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len() as u32).map(|id| self.name(id))
    }

    /// The same names sorted by [`natural_order`], and the new index of each old one.
    ///
    /// Numbering names by order, not by arrival, makes results independent of the order of rows, the
    /// file format and the number of threads.
    #[must_use]
    pub fn sorted(&self) -> (Labels, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| natural_order(self.name(a), self.name(b)));
        let mut sorted = Labels::new();
        sorted.text.reserve(self.text.len());
        let mut new_of = vec![0; self.len()];
        for old in order {
            new_of[old as usize] = sorted.intern(self.name(old));
        }
        (sorted, new_of)
    }
}

impl<'a> FromIterator<&'a str> for Labels {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut labels = Self::new();
        for name in names {
            labels.intern(name);
        }
        labels
    }
}

fn long_hash(name: &[u8]) -> u64 {
    FxBuildHasher.hash_one(name)
}

#[inline]
fn span(ends: &[usize], id: u32) -> std::ops::Range<usize> {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    start..ends[id]
}

/// Natural order of names: runs of digits compare as numbers, so `clip2` < `clip10`.
///
/// A total order: names that differ only in leading zeros are ordered by their bytes.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a.as_bytes(), b.as_bytes());
    loop {
        let digits = (leading_digits(x), leading_digits(y));
        let step = match digits {
            (0, _) | (_, 0) => match (x.first(), y.first()) {
                (None, None) => return a.cmp(b),
                (None, _) => return Ordering::Less,
                (_, None) => return Ordering::Greater,
                (Some(p), Some(q)) => {
                    let order = p.cmp(q);
                    (x, y) = (&x[1..], &y[1..]);
                    order
                }
            },
            (p, q) => {
                let order = compare_numbers(&x[..p], &y[..q]);
                (x, y) = (&x[p..], &y[q..]);
                order
            }
        };
        if step.is_ne() {
            return step;
        }
    }
}

fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let strip = |digits: &[u8]| digits.iter().take_while(|&&digit| digit == b'0').count();
    let (a, b) = (&a[strip(a)..], &b[strip(b)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_compare_as_numbers() {
        let mut names = ["clip10", "2", "clip2", "10", "1", "clip02", "clip", "b", "é", ""];
        names.sort_unstable_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["", "1", "2", "10", "b", "clip", "clip02", "clip2", "clip10", "é"]);
    }

    #[test]
    fn sorting_renumbers_and_preserves_every_name() {
        let labels: Labels = ["b", "a10", "a9", "b"].into_iter().collect();
        assert_eq!(labels.len(), 3);
        let (sorted, new_of) = labels.sorted();
        assert_eq!(sorted.iter().collect::<Vec<_>>(), ["a9", "a10", "b"]);
        assert_eq!(new_of, [2, 1, 0]);
        assert_eq!(sorted.get(b"a10"), Some(1));
        assert_eq!(sorted.get(b"c"), None);
    }

    #[test]
    fn names_of_any_length_are_distinguished() {
        let mut labels = Labels::new();
        let names: Vec<String> = (0..60)
            .flat_map(|length| ["x".repeat(length), "x".repeat(length) + "\0", "é".repeat(length)])
            .collect();
        for (id, name) in names.iter().enumerate().skip(3) {
            assert_eq!(labels.get(name.as_bytes()), None, "{name:?}");
            assert_eq!(labels.intern(name) as usize, id - 3);
        }
        for (id, name) in names.iter().enumerate().skip(3) {
            assert_eq!(labels.get(name.as_bytes()), Some(id as u32 - 3));
            assert_eq!(labels.name(id as u32 - 3), name);
        }
    }
}
