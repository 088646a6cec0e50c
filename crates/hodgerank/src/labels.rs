//! Names of items (or annotators), their indices and their natural order.
//!
//! Reading votes spends most of its time on looking up names. With a million items every step of a
//! look-up is a cache miss, so names of up to 24 bytes are stored inside their table entries: one
//! miss for the control bytes of the table, one for the entry, none for the text. Callers that look up
//! many names can collect their [`LabelKey`]s first, so that the misses of several look-ups overlap.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rayon::prelude::*;
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

/// Bytes of a natural order that are compared as one number ([`order_prefix`]).
const PREFIX: usize = 16;
/// Names that one task of [`Labels::merge_sorted`] copies.
const NAMES_PER_TASK: usize = 1 << 14;

/// A name of up to 24 bytes, without a reference to its text: its length, and its bytes in words that
/// may overlap.
///
/// Overlapping words are read directly from the name. Copying it into a padded buffer would be
/// simpler, but loading words that were just stored byte by byte stalls the processor.
#[derive(Debug, Clone, Copy)]
pub struct LabelKey {
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
    fn new(LabelKey { words, len }: LabelKey, id: u32) -> Self {
        Self { words, len, id }
    }

    fn name(&self) -> LabelKey {
        LabelKey { words: self.words, len: self.len }
    }

    /// Compares word by word: a derived comparison would reload the words in pairs and stall.
    #[inline]
    fn has_name(&self, name: &LabelKey) -> bool {
        let [a, b, c] = [0, 1, 2].map(|k| self.words[k] ^ name.words[k]);
        a | b | c | u64::from(self.len ^ name.len) == 0
    }
}

impl LabelKey {
    /// The key of a name; none if the name is longer than 24 bytes.
    #[must_use]
    #[inline]
    pub fn new(name: &[u8]) -> Option<Self> {
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

    /// The bytes of the name.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let (len, [first, last, middle]) = (self.len as usize, self.words.map(u64::to_le_bytes));
        let mut name = vec![0; len];
        match len {
            0..4 => name.iter_mut().rev().zip(first).for_each(|(byte, from)| *byte = from),
            4..8 => {
                name[..4].copy_from_slice(&first[..4]);
                name[len - 4..].copy_from_slice(&first[4..]);
            }
            _ => {
                name[..8].copy_from_slice(&first);
                if len > 16 {
                    name[8..16].copy_from_slice(&middle);
                }
                name[len - 8..].copy_from_slice(&last);
            }
        }
        name
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
        match LabelKey::new(name) {
            Some(key) => self.get_key(&key),
            None => self.get_long(name),
        }
    }

    /// The index of the name with this key, if it is in the set.
    #[must_use]
    #[inline]
    pub fn get_key(&self, key: &LabelKey) -> Option<u32> {
        self.short.find(key.hash(), |entry| entry.has_name(key)).map(|entry| entry.id)
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
        self.insert(name, id);
        id
    }

    /// Adds a name, which is in the text already, to the table.
    fn insert(&mut self, name: &str, id: u32) {
        if let Some(short) = LabelKey::new(name.as_bytes()) {
            let hash = |entry: &ShortEntry| entry.name().hash();
            self.short.insert_unique(short.hash(), ShortEntry::new(short, id), hash);
        } else {
            let (text, ends) = (self.text.as_bytes(), &self.ends);
            let hash = |&id: &u32| long_hash(&text[span(ends, id)]);
            self.long.insert_unique(long_hash(name.as_bytes()), id, hash);
        }
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
        let (sorted, mut new_of) = Self::merge_sorted(vec![self.clone()]);
        (sorted, new_of.pop().unwrap_or_default())
    }

    /// The names of all sets sorted by [`natural_order`], and the new index of each old one in each set.
    #[must_use]
    pub fn merge_sorted(mut sets: Vec<Labels>) -> (Labels, Vec<Vec<u32>>) {
        let mut names = Vec::with_capacity(sets.iter().map(Labels::len).sum());
        for (set, labels) in sets.iter().enumerate() {
            let entry = |id: u32| (order_prefix(labels.name(id)), set as u32, id);
            names.par_extend((0..labels.len() as u32).into_par_iter().map(entry));
        }
        let name = |&(_, set, id): &SortEntry| sets[set as usize].name(id);
        names.par_sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| natural_order(name(a), name(b)))
        });
        let is_first = |k: usize| {
            k == 0 || names[k].0 != names[k - 1].0 || name(&names[k]) != name(&names[k - 1])
        };
        let tasks = (0..names.len()).into_par_iter().step_by(NAMES_PER_TASK);
        let parts: Vec<(String, Vec<usize>, Vec<bool>)> = tasks
            .map(|start| {
                let (mut text, mut ends) = (String::new(), Vec::new());
                let here = start..names.len().min(start + NAMES_PER_TASK);
                let firsts: Vec<bool> = here.clone().map(is_first).collect();
                for k in here.filter(|k| firsts[k - start]) {
                    text.push_str(name(&names[k]));
                    ends.push(text.len());
                }
                (text, ends, firsts)
            })
            .collect();
        let mut sorted = Labels::new();
        sorted.text.reserve_exact(parts.iter().map(|part| part.0.len()).sum());
        sorted.ends.reserve_exact(parts.iter().map(|part| part.1.len()).sum());
        let mut new_of: Vec<Vec<u32>> = sets.iter().map(|set| vec![0; set.len()]).collect();
        // The table of the largest set has nearly all names: it is taken over with the new indices.
        let largest = (0..sets.len()).max_by_key(|&set| sets[set].len()).unwrap_or(0);
        let mut missing = Vec::new();
        let (mut new, mut is_known) = (0_u32, true);
        let mut entries = names.iter();
        for (text, ends, firsts) in parts {
            let start = sorted.text.len();
            sorted.text.push_str(&text);
            sorted.ends.extend(ends.iter().map(|end| start + end));
            for (is_first, &(_, set, id)) in firsts.into_iter().zip(&mut entries) {
                if is_first {
                    if !is_known {
                        missing.push(new - 1);
                    }
                    (new, is_known) = (new + 1, false);
                }
                is_known |= set as usize == largest;
                new_of[set as usize][id as usize] = new - 1;
            }
        }
        if !is_known {
            missing.push(new - 1);
        }
        drop(names);
        if let Some(largest_set) = sets.get_mut(largest) {
            sorted.short = std::mem::take(&mut largest_set.short);
            sorted.long = std::mem::take(&mut largest_set.long);
            let new_of = &new_of[largest];
            sorted.short.iter_mut().for_each(|entry| entry.id = new_of[entry.id as usize]);
            sorted.long.iter_mut().for_each(|id| *id = new_of[*id as usize]);
        }
        for id in missing {
            let name = sorted.name(id).to_owned();
            sorted.insert(&name, id);
        }
        (sorted, new_of)
    }
}

/// A name to be sorted: the prefix of its order, its set and its index there.
type SortEntry = ([u64; 2], u32, u32);

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

/// The first bytes of a name, encoded so that different prefixes have the natural order of their names.
///
/// A number is the byte of a digit, the number of its digits and its digits, without leading zeros.
fn order_prefix(name: &str) -> [u64; 2] {
    let mut prefix = [0; PREFIX];
    let mut free = prefix.iter_mut();
    let mut rest = name.as_bytes();
    while let (Some(&byte), Some(place)) = (rest.first(), free.next()) {
        let digits = leading_digits(rest);
        if digits == 0 {
            (*place, rest) = (byte, &rest[1..]);
            continue;
        }
        *place = b'0';
        let number = without_zeros(&rest[..digits]);
        let length = u8::try_from(number.len()).unwrap_or(u8::MAX);
        free.by_ref().zip([length].iter().chain(number)).for_each(|(place, &byte)| *place = byte);
        if length == u8::MAX {
            // Longer numbers differ in a length that is not encoded.
            break;
        }
        rest = &rest[digits..];
    }
    let (words, _) = prefix.as_chunks::<8>();
    [u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1])]
}

fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (without_zeros(a), without_zeros(b));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// A number without its leading zeros.
fn without_zeros(digits: &[u8]) -> &[u8] {
    &digits[digits.iter().take_while(|&&digit| digit == b'0').count()..]
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
    fn prefixes_have_the_order_of_names() {
        let long = "9".repeat(300);
        let mut names: Vec<String> =
            ["", "a", "a\0", "a\0b", "a0", "a0\0", "a00", "a/", "a:", "é"].map(String::from).into();
        for number in ["0", "007", "7", "12", "012", "1234567890123", &long, &long[1..]] {
            names.extend(["", "item-", "a1b"].map(|stem| format!("{stem}{number}")));
            names.extend(["x", "-a-long-suffix-a", "3"].map(|end| format!("item-{number}{end}")));
        }
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))) {
            let order = order_prefix(a).cmp(&order_prefix(b));
            assert!(order.is_eq() || order == natural_order(a, b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn merged_sets_are_those_of_all_names() {
        let name = |k: usize| match k % 3 {
            0 => format!("item-{k:05}"),
            1 => format!("a name of more than twenty-four bytes {k}"),
            _ => format!("{k}"),
        };
        let names: Vec<String> = (0..40_000).map(|k| name(k * 7919 % 50_000)).collect();
        let set = |range: std::ops::Range<usize>| -> Labels {
            names[range].iter().map(String::as_str).collect()
        };
        let sets = vec![set(0..10_000), set(5000..40_000), Labels::new(), set(0..10)];
        let (merged, new_of) = Labels::merge_sorted(sets.clone());
        let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
        expected.sort_unstable_by(|a, b| natural_order(a, b));
        expected.dedup();
        assert!(merged.iter().eq(expected.iter().copied()));
        for (id, name) in expected.iter().enumerate() {
            assert_eq!(merged.get(name.as_bytes()), Some(id as u32));
        }
        for (set, new_of) in sets.iter().zip(&new_of) {
            assert!(set.iter().eq(new_of.iter().map(|&new| merged.name(new))));
        }
        assert!(Labels::merge_sorted(Vec::new()).0.is_empty());
    }

    #[test]
    fn keys_have_the_bytes_of_their_names() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        for length in 0..=24 {
            let key = LabelKey::new(&text.as_bytes()[..length]).unwrap();
            assert_eq!(key.to_bytes(), text.as_bytes()[..length]);
        }
        assert!(LabelKey::new(&text.as_bytes()[..25]).is_none());
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
