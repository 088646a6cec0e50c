//! The short way: votes whose parts were all seen before, looked up a block of rows at a time.
//!
//! | column | what is looked up |
//! |---|---|
//! | a dictionary: each distinct text once, a small key in every row | the key, in what was learnt of this dictionary |
//! | plain labels and annotators | the text, among the names that the count has met |
//! | plain outcomes | the text, among the outcomes that were learnt |
//!
//! What is learnt comes from rows that took the general way, so nothing is known that the count has
//! not met. A block is looked up before any of its rows is counted. An item that is new in the
//! block is therefore unknown in all of its rows, which take the general way; and an outcome that
//! the new item's name could be taken for keeps its meaning in the rows without that item.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayAccessor, ArrayRef};
use hodgerank::Labels;

use super::column::{Column, Texts};
use crate::columns::{Layout, Role};
use crate::outcome::{OutcomeAs, understand};
use crate::study::Counter;

/// Rows that are looked up together: one column after the other, so that look-ups of one kind follow
/// each other closely and the processor works on several at once.
pub(super) const BLOCK: usize = 256;

/// Distinct plain outcomes that are remembered; labels of the preferred item may be many.
const MAX_OUTCOMES: usize = 1 << 12;

/// No item.
const UNKNOWN: u32 = u32::MAX;

/// What was learnt of dictionaries and outcomes, for all batches of a piece.
#[derive(Default)]
pub(in super::super) struct Memo {
    left: DictionaryMemo<u32>,
    right: DictionaryMemo<u32>,
    annotator: DictionaryMemo<bool>,
    outcome: DictionaryMemo<Meaning>,
    /// Outcomes of plain columns, and what they mean.
    outcomes: Labels,
    meaning: Vec<Meaning>,
    /// Meanings hold as long as no new item could be taken for an outcome.
    outcome_like_items: usize,
}

#[derive(Default)]
struct DictionaryMemo<T> {
    dictionary: Option<ArrayRef>,
    meaning: Vec<T>,
}

impl<T: Copy> DictionaryMemo<T> {
    /// Forgets everything unless the dictionary is still the same.
    fn update(&mut self, dictionary: &ArrayRef, unknown: T) {
        let same = self.dictionary.as_ref().is_some_and(|known| {
            Arc::ptr_eq(known, dictionary) || known.to_data().ptr_eq(&dictionary.to_data())
        });
        if !same {
            self.meaning.clear();
            self.meaning.resize(dictionary.len(), unknown);
            // Held on to, so that its address cannot be given to another.
            self.dictionary = Some(Arc::clone(dictionary));
        }
    }

    fn look_up(&self, keys: &[i32], found: &mut [T]) {
        for (&key, found) in keys.iter().zip(found) {
            *found = self.meaning[key as usize];
        }
    }
}

#[derive(Clone, Copy, Default)]
enum Meaning {
    /// Not seen yet, or in need of a look at the row each time.
    #[default]
    Unknown,
    /// The label of this item and nothing else.
    Item(u32),
    /// The same in every row.
    Fixed(f64),
}

/// The columns of a batch, and what is known of a block of its rows.
pub(super) struct Known<'c, 'a> {
    memo: &'c mut Memo,
    left: Source<'c, 'a>,
    right: Source<'c, 'a>,
    outcome: Option<Source<'c, 'a>>,
    annotator: Option<Source<'c, 'a>>,
    found: Block,
}

/// What is known of the rows of a block.
struct Block {
    left: [u32; BLOCK],
    right: [u32; BLOCK],
    outcome: [Meaning; BLOCK],
    annotator: [bool; BLOCK],
}

/// A column without nulls.
#[derive(Clone, Copy)]
enum Source<'c, 'a> {
    Keyed { keys: &'c [i32], values: &'c Column<'a>, dictionary: &'a ArrayRef },
    Plain(&'c Texts<'a>),
}

impl<'c, 'a> Source<'c, 'a> {
    /// `None` where there are nulls, or cells are neither text nor keys.
    fn new(column: &'c Column<'a>) -> Option<Self> {
        match column {
            Column::Dictionary { keys, array, values, dictionary, .. }
                if array.logical_null_count() == 0 =>
            {
                Some(Self::Keyed { keys, values, dictionary })
            }
            Column::Text(texts, nulls) if nulls.is_none_or(|nulls| nulls.null_count() == 0) => {
                Some(Self::Plain(texts))
            }
            _ => None,
        }
    }

    fn prepare<T: Copy>(&self, memo: &mut DictionaryMemo<T>, unknown: T) {
        if let Self::Keyed { dictionary, .. } = self {
            memo.update(dictionary, unknown);
        }
    }

    /// Looks rows up: keys in `memo`, texts by `know`.
    fn look_up<T: Copy>(
        &self,
        rows: Range<usize>,
        memo: &DictionaryMemo<T>,
        know: impl Fn(&[u8]) -> T,
        found: &mut [T],
    ) {
        match self {
            Self::Keyed { keys, .. } => memo.look_up(&keys[rows], found),
            Self::Plain(Texts::Small(texts)) => know_texts(texts, rows, know, found),
            Self::Plain(Texts::Large(texts)) => know_texts(texts, rows, know, found),
            Self::Plain(Texts::View(texts)) => know_texts(texts, rows, know, found),
        }
    }

    /// Notes in `memo` what the text behind a row's key means.
    fn learn<T: Copy>(
        &self,
        row: usize,
        memo: &mut DictionaryMemo<T>,
        know: impl FnOnce(&[u8]) -> T,
    ) {
        if let Self::Keyed { keys, values, .. } = self {
            let key = keys[row] as usize;
            if let Some(text) = values.text(key, &mut String::new()) {
                memo.meaning[key] = know(text.as_bytes());
            }
        }
    }
}

/// What is known of each text, for one layout of text.
fn know_texts<'t, T>(
    texts: &impl ArrayAccessor<Item = &'t str>,
    rows: Range<usize>,
    know: impl Fn(&[u8]) -> T,
    found: &mut [T],
) {
    for (row, found) in rows.zip(found) {
        *found = know(texts.value(row).as_bytes());
    }
}

impl<'c, 'a> Known<'c, 'a> {
    /// `None` where the short way cannot be taken: other column types, nulls, counts, `--by`.
    pub(super) fn new(
        layout: &Layout,
        columns: &'c [Column<'a>],
        memo: &'c mut Memo,
    ) -> Option<Self> {
        if layout.has(Role::Count) || layout.has(Role::By) {
            return None;
        }
        let column = |role: Role| Source::new(&columns[role as usize]);
        let optional = |role: Role| match layout.has(role) {
            true => column(role).map(Some),
            false => Some(None),
        };
        let (left, right) = (column(Role::Left)?, column(Role::Right)?);
        let (outcome, annotator) = (optional(Role::Outcome)?, optional(Role::Annotator)?);
        left.prepare(&mut memo.left, UNKNOWN);
        right.prepare(&mut memo.right, UNKNOWN);
        if let Some(outcome) = outcome {
            outcome.prepare(&mut memo.outcome, Meaning::Unknown);
        }
        if let Some(annotator) = annotator {
            annotator.prepare(&mut memo.annotator, false);
        }
        let found = Block {
            left: [UNKNOWN; BLOCK],
            right: [UNKNOWN; BLOCK],
            // Without such columns the winner stands on the left, and nobody has to be known.
            outcome: [Meaning::Fixed(1.0); BLOCK],
            annotator: [true; BLOCK],
        };
        Some(Self { memo, left, right, outcome, annotator, found })
    }

    /// Looks up at most [`BLOCK`] rows.
    pub(super) fn look_up(&mut self, rows: Range<usize>, counter: &Counter) {
        let Self { memo, left, right, outcome, annotator, found } = self;
        let item = |name: &[u8]| counter.known_item(name).unwrap_or(UNKNOWN);
        left.look_up(rows.clone(), &memo.left, item, &mut found.left);
        right.look_up(rows.clone(), &memo.right, item, &mut found.right);
        if let Some(outcome) = outcome {
            let (outcomes, meaning) = (&memo.outcomes, &memo.meaning);
            let mean = |text: &[u8]| match outcomes.get(text) {
                Some(id) => meaning[id as usize],
                None => Meaning::Unknown,
            };
            outcome.look_up(rows.clone(), &memo.outcome, mean, &mut found.outcome);
        }
        if let Some(annotator) = annotator {
            let known = |name: &[u8]| counter.knows_annotator(name);
            annotator.look_up(rows, &memo.annotator, known, &mut found.annotator);
        }
    }

    /// The vote of a row of the block, where all its parts are known and well.
    #[inline]
    pub(super) fn vote(&self, row: usize) -> Option<(u32, u32, f64)> {
        let (left, right) = (self.found.left[row], self.found.right[row]);
        if left == UNKNOWN || right == UNKNOWN || left == right || !self.found.annotator[row] {
            return None;
        }
        let y = match self.found.outcome[row] {
            Meaning::Fixed(y) => y,
            Meaning::Item(item) if item == left => 1.0,
            Meaning::Item(item) if item == right => -1.0,
            Meaning::Item(_) | Meaning::Unknown => return None,
        };
        Some((left, right, y))
    }

    /// Remembers the parts of a row that was counted the general way.
    pub(super) fn learn(&mut self, row: usize, layout: &Layout, counter: &Counter) {
        let Self { memo, left, right, outcome, annotator, .. } = self;
        let item = |name: &[u8]| counter.known_item(name).unwrap_or(UNKNOWN);
        left.learn(row, &mut memo.left, item);
        right.learn(row, &mut memo.right, item);
        if let Some(annotator) = annotator {
            annotator.learn(row, &mut memo.annotator, |name| counter.knows_annotator(name));
        }
        let Some(outcome) = outcome else { return };
        if memo.outcome_like_items != counter.outcome_like_items() {
            memo.outcome_like_items = counter.outcome_like_items();
            memo.outcome.meaning.fill(Meaning::Unknown);
            memo.meaning.fill(Meaning::Unknown);
        }
        let mean = |text: &[u8]| meaning(layout.outcome_as, text, counter);
        match outcome {
            Source::Keyed { .. } => outcome.learn(row, &mut memo.outcome, mean),
            Source::Plain(texts) => {
                let text = texts.value(row);
                if memo.outcomes.len() < MAX_OUTCOMES
                    || memo.outcomes.get(text.as_bytes()).is_some()
                {
                    let id = memo.outcomes.intern(text) as usize;
                    memo.meaning.resize(memo.outcomes.len(), Meaning::Unknown);
                    memo.meaning[id] = mean(text.as_bytes());
                }
            }
        }
    }
}

/// What an outcome means in every row, if that does not depend on the row.
fn meaning(how: OutcomeAs, text: &[u8], counter: &Counter) -> Meaning {
    let by_label = matches!(how, OutcomeAs::Auto | OutcomeAs::Label);
    let item = counter.known_item(text).filter(|_| by_label);
    let fixed = understand(how, text, false, false).ok();
    match (item, fixed) {
        (Some(item), None) => Meaning::Item(item),
        (None, Some(reading)) => Meaning::Fixed(reading.y),
        // Both: the row is looked at.
        _ => Meaning::Unknown,
    }
}
