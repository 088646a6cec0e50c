//! Names of items (or annotators) and their indices, and the order in which people expect them.
//!
//! Looking a name up is what reading votes spends most of its time on. With a million items every
//! step of a look-up is a cache miss, so a name of up to 24 bytes stands inside its table
//! entry: one miss for the table's control bytes, one for the entry, none for the text.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::slice::ParallelSliceMut;
use rustc_hash::FxBuildHasher;

/// A set of distinct names, numbered in order of arrival.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    /// All names, one after the other.
    text: String,
    /// `ends[k]` is where name `k` ends in `text`; it starts where name `k - 1` ends.
    ends: Vec<usize>,
    short: HashTable<Entry>,
    long: HashTable<u32>,
}

/// Longest name that stands inside its table entry.
const SHORT: usize = 24;

/// A name of up to [`SHORT`] bytes: its length, and its bytes in words that may overlap.
///
/// Overlapping words are read straight from the name. Copying it into a padded buffer would be
/// simpler, but reading back what was just written byte by byte stalls the processor.
#[derive(Debug, Clone, Copy)]
struct ShortName {
    words: [u64; 3],
    len: u32,
}

/// A name and its index in 32 bytes, so that none lies across two cache lines.
#[derive(Debug, Clone, Copy)]
struct Entry {
    words: [u64; 3],
    len: u32,
    id: u32,
}

impl Entry {
    fn new(ShortName { words, len }: ShortName, id: u32) -> Self {
        Self { words, len, id }
    }

    fn name(&self) -> ShortName {
        ShortName { words: self.words, len: self.len }
    }

    /// Word by word: a derived comparison would load the words back from memory in pairs, and stall.
    #[inline]
    fn bears(&self, name: &ShortName) -> bool {
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
                    17..=SHORT => u64::from_le_bytes(*name[8..].first_chunk()?),
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

    /// A folded multiplication, and one more for long names; the constants are digits of π, for want
    /// of structure.
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

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name with index `id`.
    ///
    /// # Panics
    /// If no name has that index.
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        &self.text[span(&self.ends, id)]
    }

    /// The index of `name`, if it is known.
    #[must_use]
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        if let Some(short) = ShortName::new(name) {
            return self
                .short
                .find(short.hash(), |entry| entry.bears(&short))
                .map(|entry| entry.id);
        }
        self.get_long(name)
    }

    /// Apart, for what it needs would weigh on the short names.
    #[cold]
    fn get_long(&self, name: &[u8]) -> Option<u32> {
        let text = self.text.as_bytes();
        self.long.find(long_hash(name), |&id| &text[span(&self.ends, id)] == name).copied()
    }

    /// The index of `name`, which is added when it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.get(name.as_bytes()) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        if let Some(short) = ShortName::new(name.as_bytes()) {
            let hash = |entry: &Entry| entry.name().hash();
            self.short.insert_unique(short.hash(), Entry::new(short, id), hash);
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

    /// The same names in the order of [`natural_order`], and where each old index went.
    ///
    /// Numbering names by their order, not by arrival, makes results independent of the order of
    /// the rows, of the file format and of the number of threads that read it.
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

/// Order in which people list names: runs of digits compare as numbers, so `clip2` < `clip10`.
///
/// A total order: names that differ only in leading zeros are told apart by their bytes.
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
    fn sorting_renumbers_and_keeps_every_name() {
        let labels: Labels = ["b", "a10", "a9", "b"].into_iter().collect();
        assert_eq!(labels.len(), 3);
        let (sorted, new_of) = labels.sorted();
        assert_eq!(sorted.iter().collect::<Vec<_>>(), ["a9", "a10", "b"]);
        assert_eq!(new_of, [2, 1, 0]);
        assert_eq!(sorted.get(b"a10"), Some(1));
        assert_eq!(sorted.get(b"c"), None);
    }

    #[test]
    fn names_of_any_length_are_told_apart() {
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
