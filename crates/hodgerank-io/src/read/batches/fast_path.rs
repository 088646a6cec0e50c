//! The fast path: votes whose values have all been seen before, looked up in blocks of rows.
//!
//! | column | lookup |
//! |---|---|
//! | dictionary (each distinct text once, a key in every row) | the key, in a cache for this dictionary |
//! | plain labels and annotators | the text, among the names that have been counted |
//! | plain outcomes | the text, in a cache of outcomes |
//!
//! Caches are filled by rows that were parsed completely, so they contain only values that have been
//! counted. A whole block is looked up before any of its rows is counted. An item that is new in the
//! block is therefore unknown in all of its rows, and these are parsed; an outcome that is also the
//! new item's name keeps its cached meaning in rows without that item.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayAccessor, ArrayRef};
use hodgerank::Labels;

use super::column::{BatchColumn, TextColumn};
use crate::columns::{Layout, Role};
use crate::count::{Counter, NO_ANNOTATOR};
use crate::outcome::{OutcomeAs, Ties};
use crate::parse::parse_outcome;

/// Rows that are looked up together, column by column: consecutive lookups of the same kind overlap
/// in the processor.
pub(super) const BLOCK_ROWS: usize = 256;

/// Maximum number of cached plain outcomes; there can be as many as items.
const MAX_CACHED_OUTCOMES: usize = 1 << 12;

/// The index of an item or annotator that has not been seen.
const UNKNOWN: u32 = u32::MAX - 1;

/// Known dictionary entries and outcomes, kept for all batches of a chunk.
#[derive(Default)]
pub(crate) struct FastPathCache {
    left: DictionaryCache<u32>,
    right: DictionaryCache<u32>,
    annotator: DictionaryCache<u32>,
    outcome: DictionaryCache<KnownOutcome>,
    /// Outcomes of plain columns, and their meanings.
    outcomes: Labels,
    meanings: Vec<KnownOutcome>,
    /// [`Counter::outcome_like_items`] when meanings were cached; a change invalidates them.
    outcome_like_items: usize,
}

/// What is known about each entry of a dictionary.
#[derive(Default)]
struct DictionaryCache<T> {
    dictionary: Option<ArrayRef>,
    known: Vec<T>,
}

impl<T: Copy> DictionaryCache<T> {
    /// Clears the cache unless the dictionary is still the same.
    fn update(&mut self, dictionary: &ArrayRef, unknown: T) {
        let same = self.dictionary.as_ref().is_some_and(|cached| {
            Arc::ptr_eq(cached, dictionary) || cached.to_data().ptr_eq(&dictionary.to_data())
        });
        if !same {
            self.known.clear();
            self.known.resize(dictionary.len(), unknown);
            // Kept alive, so that no other dictionary can get its address.
            self.dictionary = Some(Arc::clone(dictionary));
        }
    }

    fn look_up(&self, keys: &[i32], found: &mut [T]) {
        for (&key, found) in keys.iter().zip(found) {
            *found = self.known[key as usize];
        }
    }
}

/// What an outcome means, independent of the row.
#[derive(Clone, Copy, Default)]
enum KnownOutcome {
    /// Not seen yet, or dependent on the row.
    #[default]
    Unknown,
    /// The label of this item, and no word or number.
    Item(u32),
    /// A word or number, and no label.
    Fixed(f64),
}

/// The columns of a batch, and the lookups of a block of its rows.
pub(super) struct FastPath<'c, 'a> {
    cache: &'c mut FastPathCache,
    left: LookupColumn<'c, 'a>,
    right: LookupColumn<'c, 'a>,
    outcome: Option<LookupColumn<'c, 'a>>,
    annotator: Option<LookupColumn<'c, 'a>>,
    found: BlockLookup,
}

/// The lookups of a block of rows.
struct BlockLookup {
    left: [u32; BLOCK_ROWS],
    right: [u32; BLOCK_ROWS],
    outcome: [KnownOutcome; BLOCK_ROWS],
    annotator: [u32; BLOCK_ROWS],
}

/// A text column without nulls.
#[derive(Clone, Copy)]
enum LookupColumn<'c, 'a> {
    Keyed { keys: &'c [i32], values: &'c BatchColumn<'a>, dictionary: &'a ArrayRef },
    Plain(&'c TextColumn<'a>),
}

impl<'c, 'a> LookupColumn<'c, 'a> {
    /// `None` if there are nulls, or cells are neither text nor dictionary keys.
    fn new(column: &'c BatchColumn<'a>) -> Option<Self> {
        match column {
            BatchColumn::Dictionary { keys, array, values, dictionary, .. }
                if array.logical_null_count() == 0 =>
            {
                Some(Self::Keyed { keys, values, dictionary })
            }
            BatchColumn::Text(texts, nulls)
                if nulls.is_none_or(|nulls| nulls.null_count() == 0) =>
            {
                Some(Self::Plain(texts))
            }
            _ => None,
        }
    }

    fn prepare<T: Copy>(&self, cache: &mut DictionaryCache<T>, unknown: T) {
        if let Self::Keyed { dictionary, .. } = self {
            cache.update(dictionary, unknown);
        }
    }

    /// Looks up rows: keys in `cache`, texts with `lookup`.
    fn look_up<T: Copy>(
        &self,
        rows: Range<usize>,
        cache: &DictionaryCache<T>,
        lookup: impl Fn(&[u8]) -> T,
        found: &mut [T],
    ) {
        match self {
            Self::Keyed { keys, .. } => cache.look_up(&keys[rows], found),
            Self::Plain(TextColumn::Small(texts)) => look_up_texts(texts, rows, lookup, found),
            Self::Plain(TextColumn::Large(texts)) => look_up_texts(texts, rows, lookup, found),
            Self::Plain(TextColumn::View(texts)) => look_up_texts(texts, rows, lookup, found),
        }
    }

    /// Whether the cell of a row has a property.
    fn has(&self, row: usize, property: impl FnOnce(&[u8]) -> bool) -> bool {
        match self {
            Self::Keyed { keys, values, .. } => {
                let mut scratch = String::new();
                let text = values.text(keys[row] as usize, &mut scratch);
                text.is_some_and(|text| property(text.as_bytes()))
            }
            Self::Plain(texts) => property(texts.value(row).as_bytes()),
        }
    }

    /// Stores the lookup of a row's dictionary entry in `cache`.
    fn learn<T: Copy>(
        &self,
        row: usize,
        cache: &mut DictionaryCache<T>,
        lookup: impl FnOnce(&[u8]) -> T,
    ) {
        if let Self::Keyed { keys, values, .. } = self {
            let key = keys[row] as usize;
            if let Some(text) = values.text(key, &mut String::new()) {
                cache.known[key] = lookup(text.as_bytes());
            }
        }
    }
}

/// Looks up each text, for one layout of text.
fn look_up_texts<'t, T>(
    texts: &impl ArrayAccessor<Item = &'t str>,
    rows: Range<usize>,
    lookup: impl Fn(&[u8]) -> T,
    found: &mut [T],
) {
    for (row, found) in rows.zip(found) {
        *found = lookup(texts.value(row).as_bytes());
    }
}

impl<'c, 'a> FastPath<'c, 'a> {
    /// `None` if the fast path cannot be used: other column types, nulls, counts, or rows that must be
    /// parsed one by one.
    pub(super) fn new(
        layout: &Layout,
        columns: &'c [BatchColumn<'a>],
        cache: &'c mut FastPathCache,
    ) -> Option<Self> {
        if layout.has(Role::Count) || layout.needs_parsing() {
            return None;
        }
        let column = |role: Role| LookupColumn::new(&columns[role as usize]);
        let optional = |role: Role| match layout.has(role) {
            true => column(role).map(Some),
            false => Some(None),
        };
        let (left, right) = (column(Role::Left)?, column(Role::Right)?);
        let (outcome, annotator) = (optional(Role::Outcome)?, optional(Role::Annotator)?);
        left.prepare(&mut cache.left, UNKNOWN);
        right.prepare(&mut cache.right, UNKNOWN);
        if let Some(outcome) = outcome {
            outcome.prepare(&mut cache.outcome, KnownOutcome::Unknown);
        }
        if let Some(annotator) = annotator {
            annotator.prepare(&mut cache.annotator, UNKNOWN);
        }
        let found = BlockLookup {
            left: [UNKNOWN; BLOCK_ROWS],
            right: [UNKNOWN; BLOCK_ROWS],
            // Without an outcome column, the left item is the winner.
            outcome: [KnownOutcome::Fixed(1.0); BLOCK_ROWS],
            annotator: [NO_ANNOTATOR; BLOCK_ROWS],
        };
        Some(Self { cache, left, right, outcome, annotator, found })
    }

    /// Looks up a block of at most [`BLOCK_ROWS`] rows.
    pub(super) fn look_up(&mut self, rows: Range<usize>, counter: &Counter) {
        let Self { cache, left, right, outcome, annotator, found } = self;
        let item = |name: &[u8]| counter.item_id(name).unwrap_or(UNKNOWN);
        left.look_up(rows.clone(), &cache.left, item, &mut found.left);
        right.look_up(rows.clone(), &cache.right, item, &mut found.right);
        if let Some(outcome) = outcome {
            let (outcomes, meanings) = (&cache.outcomes, &cache.meanings);
            let meaning = |text: &[u8]| match outcomes.get(text) {
                Some(id) => meanings[id as usize],
                None => KnownOutcome::Unknown,
            };
            outcome.look_up(rows.clone(), &cache.outcome, meaning, &mut found.outcome);
        }
        if let Some(annotator) = annotator {
            let id = |name: &[u8]| counter.annotator_id(name).unwrap_or(UNKNOWN);
            annotator.look_up(rows, &cache.annotator, id, &mut found.annotator);
        }
    }

    /// The vote of a row of the block, if all its values are known and it is valid.
    #[inline]
    pub(super) fn vote(&self, row: usize) -> Option<(u32, u32, f64, Option<u32>)> {
        let (left, right) = (self.found.left[row], self.found.right[row]);
        let annotator = self.found.annotator[row];
        if left == UNKNOWN || right == UNKNOWN || left == right || annotator == UNKNOWN {
            return None;
        }
        let y = match self.found.outcome[row] {
            KnownOutcome::Fixed(y) => y,
            KnownOutcome::Item(item) if item == left => 1.0,
            KnownOutcome::Item(item) if item == right => -1.0,
            KnownOutcome::Item(_) | KnownOutcome::Unknown => return None,
        };
        Some((left, right, y, self.annotator.map(|_| annotator)))
    }

    /// Caches the values of a row that was parsed. Rows of excluded annotators were not counted, and
    /// nothing is learnt from them.
    pub(super) fn learn(&mut self, row: usize, layout: &Layout, counter: &Counter) {
        let Self { cache, left, right, outcome, annotator, .. } = self;
        let is_counted = |name: &[u8]| counter.annotator_id(name).is_some();
        if annotator.is_some_and(|annotator| !annotator.has(row, is_counted)) {
            return;
        }
        let item = |name: &[u8]| counter.item_id(name).unwrap_or(UNKNOWN);
        left.learn(row, &mut cache.left, item);
        right.learn(row, &mut cache.right, item);
        if let Some(annotator) = annotator {
            let id = |name: &[u8]| counter.annotator_id(name).unwrap_or(UNKNOWN);
            annotator.learn(row, &mut cache.annotator, id);
        }
        let Some(outcome) = outcome else { return };
        if cache.outcome_like_items != counter.outcome_like_items() {
            cache.outcome_like_items = counter.outcome_like_items();
            cache.outcome.known.fill(KnownOutcome::Unknown);
            cache.meanings.fill(KnownOutcome::Unknown);
        }
        let meaning = |text: &[u8]| match outcome_meaning(&layout.outcome_as, text, counter) {
            // Other meanings of ties are left to the parser.
            KnownOutcome::Fixed(0.0) if layout.ties != Ties::Zero => KnownOutcome::Unknown,
            known => known,
        };
        match outcome {
            LookupColumn::Keyed { .. } => outcome.learn(row, &mut cache.outcome, meaning),
            LookupColumn::Plain(texts) => {
                let text = texts.value(row);
                if cache.outcomes.len() < MAX_CACHED_OUTCOMES
                    || cache.outcomes.get(text.as_bytes()).is_some()
                {
                    let id = cache.outcomes.intern(text) as usize;
                    cache.meanings.resize(cache.outcomes.len(), KnownOutcome::Unknown);
                    cache.meanings[id] = meaning(text.as_bytes());
                }
            }
        }
    }
}

/// The meaning of an outcome, if it does not depend on the row.
fn outcome_meaning(outcome_as: &OutcomeAs, text: &[u8], counter: &Counter) -> KnownOutcome {
    let by_label = matches!(outcome_as, OutcomeAs::Auto | OutcomeAs::Label);
    let item = counter.item_id(text).filter(|_| by_label);
    let fixed = parse_outcome(outcome_as, text, false, false).ok();
    match (item, fixed) {
        (Some(item), None) => KnownOutcome::Item(item),
        (None, Some(parsed)) => KnownOutcome::Fixed(parsed.y),
        // Both a label and a word or number: the row decides.
        _ => KnownOutcome::Unknown,
    }
}
