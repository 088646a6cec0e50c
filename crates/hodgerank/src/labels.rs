//! Names of items (or annotators) and their indices, and the order in which people expect them.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of distinct names, numbered in order of arrival.
///
/// All names live in one string, so a million of them cost their bytes and about ten more each.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    text: String,
    /// `ends[k]` is where name `k` ends in `text`; it starts where name `k - 1` ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
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
        let text = self.text.as_bytes();
        self.table.find(hash(name), |&id| &text[span(&self.ends, id)] == name).copied()
    }

    /// The index of `name`, which is added when it is new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(id) = self.get(name.as_bytes()) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let (text, ends) = (self.text.as_bytes(), &self.ends);
        self.table.insert_unique(hash(name.as_bytes()), id, |&id| hash(&text[span(ends, id)]));
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
        order.sort_unstable_by(|&a, &b| natural_order(self.name(a), self.name(b)));
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

#[inline]
fn hash(name: &[u8]) -> u64 {
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
}
