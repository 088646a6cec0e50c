//! Spellings of labels: those that differ only in case, spaces or Unicode form can name one item.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::RecordBatch;
use hodgerank::{Labels, natural_order};

use super::spelling_key;
use crate::columns::{Layout, Role};
use crate::error::{Problem, Result};
use crate::parse::{Cells, Row, RowFate};
use crate::read::{
    BatchParser, BatchSink, ChunkReport, FastPathCache, OnError, Progress, RawRow, ReadOptions,
    RowSink, Sources,
};

/// The name of the item that each spelling stands for.
#[derive(Debug, Default)]
pub struct Spellings {
    known: Labels,
    /// For each spelling, the one that names the item.
    name_of: Vec<u32>,
    /// The naming spelling of each key.
    by_key: HashMap<String, u32>,
}

/// Spellings that were joined, the one that names the item first.
pub type JoinedSpellings = Vec<String>;

impl Spellings {
    /// Joins spellings with the same key, given with their numbers of uses. The most frequent one names
    /// the item; of equally frequent ones, the first in natural order.
    fn new(uses: &BTreeMap<String, u64>) -> Self {
        let mut joined = Self::default();
        let mut best: HashMap<String, (&str, u64)> = HashMap::with_capacity(uses.len());
        for (spelling, &number) in uses {
            joined.known.intern(spelling);
            let name = best.entry(spelling_key(spelling)).or_insert((spelling, number));
            let is_better =
                number > name.1 || (number == name.1 && natural_order(spelling, name.0).is_lt());
            if is_better {
                *name = (spelling, number);
            }
        }
        let id = |name: &str| joined.known.get(name.as_bytes()).unwrap_or_default();
        joined.name_of = uses.keys().map(|spelling| id(best[&spelling_key(spelling)].0)).collect();
        joined.by_key = best.into_iter().map(|(key, (name, _))| (key, id(name))).collect();
        joined
    }

    /// The name of the item that a label stands for: the label itself if no item is like it.
    #[inline]
    pub(crate) fn name<'a>(&'a self, label: &'a [u8]) -> &'a [u8] {
        let id = match self.known.get(label) {
            Some(id) => Some(self.name_of[id as usize]),
            None => {
                let key = std::str::from_utf8(label).ok().map(spelling_key);
                key.and_then(|key| self.by_key.get(&key).copied())
            }
        };
        id.map_or(label, |id| self.known.name(id).as_bytes())
    }

    /// The items that have several spellings, in natural order.
    #[must_use]
    pub fn joined(&self) -> Vec<JoinedSpellings> {
        let mut groups: BTreeMap<u32, JoinedSpellings> = BTreeMap::new();
        for (id, (spelling, &name)) in self.known.iter().zip(&self.name_of).enumerate() {
            let group =
                groups.entry(name).or_insert_with(|| vec![self.known.name(name).to_owned()]);
            if id as u32 != name {
                group.push(spelling.to_owned());
            }
        }
        in_order(groups.into_values())
    }
}

/// Labels that differ only in case, spaces or Unicode form, in natural order.
#[must_use]
pub fn variants(labels: &Labels) -> Vec<JoinedSpellings> {
    // Most labels are their own keys. Only others can be a second spelling.
    let mut groups: HashMap<String, JoinedSpellings> = HashMap::new();
    for label in labels.iter() {
        let key = spelling_key(label);
        if key == label {
            continue;
        }
        let plain = labels.get(key.as_bytes()).map(|_| key.clone());
        groups.entry(key).or_insert_with(|| plain.into_iter().collect()).push(label.to_owned());
    }
    in_order(groups.into_values())
}

fn in_order(groups: impl Iterator<Item = JoinedSpellings>) -> Vec<JoinedSpellings> {
    let mut groups: Vec<JoinedSpellings> = groups.filter(|group| group.len() > 1).collect();
    groups.sort_by(|a, b| natural_order(&a[0], &b[0]));
    groups
}

impl Sources {
    /// Reads the spellings of all items, in a pass of its own before the first one. The sources must be
    /// repeatable.
    ///
    /// # Errors
    /// If a file cannot be read or lacks a column. Bad rows are left to the first pass.
    pub fn read_spellings(
        &mut self,
        options: &ReadOptions,
        progress: &Arc<Progress>,
    ) -> Result<Spellings> {
        let options = ReadOptions { on_error: OnError::Skip, ..options.clone() };
        let mut counters: Vec<SpellingCounter> =
            (0..options.threads()).map(|_| SpellingCounter::default()).collect();
        self.read_rows(&options, progress, &mut counters)?;
        self.forget_first_pass();
        let mut uses: BTreeMap<String, u64> = BTreeMap::new();
        for counter in &counters {
            for (label, &number) in counter.labels.iter().zip(&counter.uses) {
                *uses.entry(label.to_owned()).or_insert(0) += number;
            }
        }
        Ok(Spellings::new(&uses))
    }
}

/// Counts how often each label names an item.
#[derive(Debug, Default)]
struct SpellingCounter {
    labels: Labels,
    uses: Vec<u64>,
}

impl SpellingCounter {
    fn count(&mut self, label: &[u8]) {
        if label.is_empty() {
            return;
        }
        let known = self.labels.get(label);
        let id = known.unwrap_or_else(|| self.labels.intern(&String::from_utf8_lossy(label)));
        self.uses.resize(self.labels.len(), 0);
        self.uses[id as usize] += 1;
    }
}

impl RowSink for SpellingCounter {
    const WHOLE_ROWS: bool = false;

    fn row(
        &mut self,
        layout: &Layout,
        cells: &Cells<'_>,
        _: RawRow<'_>,
    ) -> Result<RowFate, (Role, Problem)> {
        if Row::is_filtered(layout, cells) {
            return Ok(RowFate::Filtered);
        }
        for role in [Role::Left, Role::Right] {
            self.count(cells[role as usize]);
        }
        Ok(RowFate::Counted)
    }
}

impl BatchSink for SpellingCounter {
    fn batch(
        &mut self,
        parser: &BatchParser,
        batch: &RecordBatch,
        _: &mut FastPathCache,
        report: &mut ChunkReport,
    ) -> Result<()> {
        parser.each_row(batch, self, report, |_| {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_spelling_names_the_item() {
        let uses = [("Cat", 3), ("cat", 5), (" CAT", 1), ("b2", 1), ("B 2", 1), ("dog", 9)];
        let uses = uses.map(|(spelling, number)| (spelling.to_owned(), number)).into();
        let spellings = Spellings::new(&uses);
        let name =
            |label: &str| String::from_utf8(spellings.name(label.as_bytes()).to_vec()).unwrap();
        assert_eq!(
            ["Cat", "cat", "CAT", "cAt", "dog"].map(name),
            ["cat", "cat", "cat", "cat", "dog"]
        );
        assert_eq!(name("b2"), name("B 2"));
        assert_eq!(name("bird"), "bird");
        assert_eq!(spellings.joined().len(), 2);
        assert_eq!(spellings.joined()[1], ["cat", " CAT", "Cat"]);
    }

    #[test]
    fn variants_are_found_among_plain_and_other_labels() {
        let labels: Labels =
            ["Espresso", "espresso", "Flat White", "FLAT WHITE", "tea"].into_iter().collect();
        let found = variants(&labels);
        assert_eq!(found, [vec!["Flat White", "FLAT WHITE"], vec!["espresso", "Espresso"]]);
        assert!(variants(&["tea", "Latte"].into_iter().collect()).is_empty());
    }
}
