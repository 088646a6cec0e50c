//! Merging of counts of many distinct votes: a vote is one word, and words are sorted by buckets.
//!
//! From the highest bit to the lowest, a word has the left item, the right item, the place of the
//! outcome among all outcomes, and the count. Sorted words are sorted groups. Buckets are ranges of
//! left items, small enough to be sorted in the cache, one per task.

use rayon::prelude::*;

use super::Tally;
use crate::comparison::positive_zero;
use crate::graph::groups::{GroupKey, Groups, from_order_bits, order_bits};

/// Words per bucket that tasks aim at.
const BUCKET: usize = 1 << 14;
/// Most buckets: a task writes to all of them at the same time.
const MAX_BUCKET_BITS: u32 = 10;

/// Where the parts of a word are.
#[derive(Debug)]
pub(super) struct WordLayout {
    item_bits: u32,
    outcome_bits: u32,
    count_bits: u32,
    /// [`order_bits`] of all outcomes in either orientation, ascending.
    outcomes: Vec<u64>,
}

/// The words of one source, and where those of each bucket start and end.
struct Bucketed {
    words: Vec<u64>,
    starts: Vec<usize>,
}

/// The columns of consecutive groups, to be filled by one task.
struct GroupsMut<'a> {
    left: &'a mut [u32],
    right: &'a mut [u32],
    y: &'a mut [f64],
    weight: &'a mut [f64],
}

impl WordLayout {
    /// None if a vote does not fit into a word.
    pub(super) fn new(tallies: &[Tally], new_of: &[Vec<u32>], dense: &Groups) -> Option<Self> {
        let items = new_of.iter().flatten().max().map_or(0, |&item| item + 1);
        let both = |&y: &f64| [order_bits(y), order_bits(positive_zero(-y))];
        let of_tallies = tallies.iter().flat_map(|tally| tally.outcomes.iter().flat_map(both));
        let mut outcomes: Vec<u64> = of_tallies.collect();
        outcomes.sort_unstable();
        outcomes.dedup();
        let bits = |numbers: u64| 64 - numbers.leading_zeros();
        let (item_bits, outcome_bits) = (bits(u64::from(items)), bits(outcomes.len() as u64));
        let count_bits = 64_u32.checked_sub(2 * item_bits + outcome_bits).filter(|&bits| bits > 0);
        let layout = Self { item_bits, outcome_bits, count_bits: count_bits?, outcomes };
        let fits = |&weight: &f64| weight <= layout.max_count() as f64;
        dense.weight.iter().all(fits).then_some(layout)
    }

    fn max_count(&self) -> u64 {
        u64::MAX >> (64 - self.count_bits)
    }

    #[inline]
    fn word(&self, left: u32, right: u32, outcome: u32, count: u64) -> u64 {
        let pair = u64::from(left) << self.item_bits | u64::from(right);
        (pair << self.outcome_bits | u64::from(outcome)) << self.count_bits | count
    }

    fn outcome(&self, bits: u64) -> u32 {
        self.outcomes.binary_search(&bits).map_or(0, |place| place as u32)
    }

    /// The words of a tally; votes with counts that do not fit are added to `wide`.
    fn words(&self, tally: &Tally, new_of: &[u32], wide: &mut Vec<(GroupKey, u64)>) -> Vec<u64> {
        let places: Vec<[u32; 2]> = tally
            .outcomes
            .iter()
            .map(|&y| [y, positive_zero(-y)].map(|y| self.outcome(order_bits(y))))
            .collect();
        let mut words = Vec::with_capacity(tally.distinct.len() + tally.sparse.len());
        let max_count = self.max_count();
        for ((low, high, outcome), count) in tally.sparse_votes() {
            let (i, j) = (new_of[low as usize], new_of[high as usize]);
            let place = places[outcome as usize][usize::from(i > j)];
            let (i, j) = (i.min(j), i.max(j));
            if count <= max_count {
                words.push(self.word(i, j, place, count));
            } else {
                wide.push(((i, j, self.outcomes[place as usize]), count));
            }
        }
        words
    }

    fn words_of_groups(&self, groups: &Groups) -> Vec<u64> {
        let word = |g: usize| {
            let outcome = self.outcome(order_bits(groups.y[g]));
            self.word(groups.left[g], groups.right[g], outcome, groups.weight[g] as u64)
        };
        (0..groups.len()).into_par_iter().map(word).collect()
    }
}

/// The groups of all tallies and of `dense`, and the votes whose counts are too large for a word.
pub(super) fn groups(
    tallies: Vec<Tally>,
    new_of: &[Vec<u32>],
    dense: &Groups,
    layout: &WordLayout,
) -> (Groups, Vec<(GroupKey, u64)>) {
    let sources = tallies.into_par_iter().zip(new_of).map(|(tally, new_of)| {
        let mut wide = Vec::new();
        (layout.words(&tally, new_of, &mut wide), wide)
    });
    let (mut sources, wide): (Vec<Vec<u64>>, Vec<_>) = sources.unzip();
    sources.push(layout.words_of_groups(dense));
    let all: usize = sources.iter().map(Vec::len).sum();
    let bucket_bits = (all / BUCKET)
        .next_power_of_two()
        .trailing_zeros()
        .min(MAX_BUCKET_BITS.min(layout.item_bits));
    let shift = 64 - bucket_bits;
    let bucketed: Vec<Bucketed> =
        sources.into_par_iter().map(|words| Bucketed::new(&words, shift)).collect();
    let buckets: Vec<Vec<u64>> = (0..1_usize << bucket_bits)
        .into_par_iter()
        .with_max_len(1)
        .map(|bucket| {
            let slices: Vec<&[u64]> = bucketed.iter().map(|source| source.bucket(bucket)).collect();
            let mut words = slices.concat();
            words.par_sort_unstable();
            words
        })
        .collect();
    drop(bucketed);
    (fill(&buckets, layout), wide.into_iter().flatten().collect())
}

impl Bucketed {
    /// Distributes words to buckets by their highest bits. A shift of 64 is one bucket.
    fn new(words: &[u64], shift: u32) -> Self {
        let bucket = |word: u64| word.checked_shr(shift).unwrap_or(0) as usize;
        let mut starts = vec![0; (1 << (64 - shift)) + 1];
        words.iter().for_each(|&word| starts[bucket(word) + 1] += 1);
        for b in 1..starts.len() {
            starts[b] += starts[b - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; words.len()];
        for &word in words {
            let at = &mut next[bucket(word)];
            sorted[*at] = word;
            *at += 1;
        }
        Self { words: sorted, starts }
    }

    fn bucket(&self, bucket: usize) -> &[u64] {
        &self.words[self.starts[bucket]..self.starts[bucket + 1]]
    }
}

/// Adds up the counts of equal votes; `buckets` are sorted, and so are the words in each of them.
fn fill(buckets: &[Vec<u64>], layout: &WordLayout) -> Groups {
    let key = |word: u64| word >> layout.count_bits;
    let runs = |words: &Vec<u64>| words.chunk_by(|&a, &b| key(a) == key(b)).count();
    let lengths: Vec<usize> = buckets.par_iter().map(runs).collect();
    let all = lengths.iter().sum();
    let mut groups = Groups {
        left: vec![0; all],
        right: vec![0; all],
        y: vec![0.0; all],
        weight: vec![0.0; all],
    };
    let mut rest = GroupsMut {
        left: &mut groups.left,
        right: &mut groups.right,
        y: &mut groups.y,
        weight: &mut groups.weight,
    };
    let parts: Vec<GroupsMut<'_>> = lengths.iter().map(|&length| rest.take(length)).collect();
    let outcomes: Vec<f64> = layout.outcomes.iter().map(|&bits| from_order_bits(bits)).collect();
    let low_bits = |value: u64, bits: u32| value & ((1 << bits) - 1);
    buckets.par_iter().zip(parts).for_each(|(words, part)| {
        for (g, run) in words.chunk_by(|&a, &b| key(a) == key(b)).enumerate() {
            let vote = key(run[0]);
            let pair = vote >> layout.outcome_bits;
            part.left[g] = (pair >> layout.item_bits) as u32;
            part.right[g] = low_bits(pair, layout.item_bits) as u32;
            part.y[g] = outcomes[low_bits(vote, layout.outcome_bits) as usize];
            let count = |&word: &u64| word & layout.max_count();
            part.weight[g] = run.iter().map(|word| count(word) as f64).sum();
        }
    });
    groups
}

impl<'a> GroupsMut<'a> {
    /// Splits off the first `count` groups.
    fn take(&mut self, count: usize) -> Self {
        fn take<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            slice.split_off_mut(..count).unwrap_or_default()
        }
        Self {
            left: take(&mut self.left, count),
            right: take(&mut self.right, count),
            y: take(&mut self.y, count),
            weight: take(&mut self.weight, count),
        }
    }
}
