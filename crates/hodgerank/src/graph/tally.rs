//! Counting of streamed votes: memory grows with distinct votes, not with rows.
//!
//! Items and outcomes are numbered in order of arrival. A vote on two of the first
//! [`DENSE_ITEMS`] items with one of the first [`DENSE_OUTCOMES`] outcomes is one addition in a
//! triangular table of bytes, with the outcomes of a pair next to each other. All other votes, and
//! overflows of a byte, are counted in hash maps while these stay in the cache, and then in lists
//! ([`distinct`]). A study of a thousand items with wins, losses and ties fits into 2 MB, which stays
//! in the cache; a million items take about 20 bytes per distinct vote.
//!
//! Each thread counts into its own tally; [`Tally::finish`] merges them.

mod dense;
mod distinct;
mod packed;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::groups::{GroupKey, Groups, order_bits};
use crate::comparison::positive_zero;
use distinct::DistinctVotes;
use packed::WordLayout;

/// 2,048 items make 2.1 million pairs: 2 MB per outcome.
const DENSE_ITEMS: u32 = 2048;
/// Enough for win, loss and tie, and for Likert scales of up to eight steps.
const DENSE_OUTCOMES: u32 = 8;
/// Low bits of a pending vote that hold its outcome; the pair is in the bits above.
const OUTCOME_BITS: u32 = DENSE_OUTCOMES.trailing_zeros();
/// Votes that are buffered before they are counted. Counting them in a batch overlaps their cache
/// misses; one at a time, each vote would wait for its own miss.
const MAX_PENDING: usize = 1024;
/// Entries of the hash map of other votes, which then is as large as a cache; single votes that follow
/// are counted in a list.
const MAX_MAPPED: usize = 1 << 15;

/// Counts of votes by (smaller item, larger item, outcome), with the caller's item numbers.
#[derive(Debug)]
pub struct Tally {
    /// Distinct outcomes in order of arrival.
    outcomes: Vec<f64>,
    outcome_ids: FxHashMap<u64, u32>,
    /// The outcomes of the dense table; NaN for columns not used yet.
    dense_outcomes: [f64; DENSE_OUTCOMES as usize],
    /// Counts modulo 256: byte k of cell `high·(high − 1)/2 + low` counts outcome k.
    dense: Vec<u8>,
    /// A cell has 2^`cell_bits` bytes.
    cell_bits: u32,
    pending: Vec<u32>,
    /// How often each byte of `dense` overflowed.
    overflows: FxHashMap<u32, u32>,
    sparse: FxHashMap<(u32, u32, u32), u32>,
    /// Single votes that came after the map was full.
    distinct: DistinctVotes,
    /// Counts that did not fit into 32 bits.
    wide_counts: Vec<((u32, u32, u32), u64)>,
    votes: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            outcomes: Vec::new(),
            outcome_ids: FxHashMap::default(),
            dense_outcomes: [f64::NAN; DENSE_OUTCOMES as usize],
            dense: Vec::new(),
            cell_bits: 0,
            pending: Vec::with_capacity(MAX_PENDING),
            overflows: FxHashMap::default(),
            sparse: FxHashMap::default(),
            distinct: DistinctVotes::default(),
            wide_counts: Vec::new(),
            votes: 0,
        }
    }
}

impl From<&Groups> for Tally {
    /// Counts the votes of groups, with their item numbers.
    fn from(groups: &Groups) -> Self {
        let mut tally = Self::default();
        for g in 0..groups.len() {
            let (left, right) = (groups.left[g], groups.right[g]);
            tally.add(left, right, groups.y[g], groups.weight[g] as u64);
        }
        tally
    }
}

impl Tally {
    /// An empty tally.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Votes counted so far.
    #[must_use]
    pub fn votes(&self) -> u64 {
        self.votes
    }

    /// Bytes of memory that the counts take, approximately.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let entry = size_of::<((u32, u32, u32), u32)>();
        let maps = self.sparse.capacity() * entry + self.overflows.capacity() * 8;
        let lists = self.wide_counts.capacity() * 24 + self.distinct.memory_bytes();
        self.dense.capacity() + maps + lists
    }

    /// Counts a vote on two different items `count` times. `y` must be finite.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, y: f64, count: u64) {
        debug_assert!(left != right && y.is_finite());
        let (low, high, y) = if left < right { (left, right, y) } else { (right, left, -y) };
        let outcome = self.outcome_id(positive_zero(y));
        self.votes = self.votes.saturating_add(count);
        if high < DENSE_ITEMS && outcome < DENSE_OUTCOMES && count == 1 {
            let cell = triangle(low, high);
            if cell >= self.dense.len() >> self.cell_bits {
                self.grow(high);
            }
            self.pending.push((cell as u32) << OUTCOME_BITS | outcome);
            if self.pending.len() >= MAX_PENDING {
                self.flush();
            }
            return;
        }
        if self.sparse.len() >= MAX_MAPPED
            && count == 1
            && let Some(key) = distinct::key_of(low, high, outcome)
        {
            return self.distinct.add(key);
        }
        let cell = self.sparse.entry((low, high, outcome)).or_insert(0);
        match u32::try_from(count).ok().and_then(|count| cell.checked_add(count)) {
            Some(sum) => *cell = sum,
            None => self.wide_counts.push(((low, high, outcome), count)),
        }
    }

    /// Grows the dense table to all pairs of items up to `high`; doubling keeps copies rare.
    #[cold]
    fn grow(&mut self, high: u32) {
        let cells = triangle(0, high + 1).max((2 * self.dense.len()) >> self.cell_bits);
        self.dense.resize(cells.min(triangle(0, DENSE_ITEMS)) << self.cell_bits, 0);
    }

    /// Counts the pending votes.
    fn flush(&mut self) {
        for &vote in &self.pending {
            let (cell, outcome) = (vote >> OUTCOME_BITS, vote & (DENSE_OUTCOMES - 1));
            let count = &mut self.dense[(cell << self.cell_bits | outcome) as usize];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *self.overflows.entry(vote).or_insert(0) += 1;
            }
        }
        self.pending.clear();
    }

    #[inline]
    fn outcome_id(&mut self, y: f64) -> u32 {
        // Branch-free: an early exit would mispredict.
        let is = |(k, &known): (usize, &f64)| u32::from(known == y) << k;
        let found: u32 = self.dense_outcomes.iter().enumerate().map(is).sum();
        if found != 0 { found.trailing_zeros() } else { self.new_outcome_id(y) }
    }

    #[cold]
    fn new_outcome_id(&mut self, y: f64) -> u32 {
        if let Some(&id) = self.outcome_ids.get(&y.to_bits()) {
            return id;
        }
        let id = self.outcomes.len() as u32;
        self.outcomes.push(y);
        self.outcome_ids.insert(y.to_bits(), id);
        if let Some(dense) = self.dense_outcomes.get_mut(id as usize) {
            *dense = y;
            if id >> self.cell_bits > 0 {
                self.widen_cells();
            }
        }
        id
    }

    /// Doubles the number of bytes per cell.
    fn widen_cells(&mut self) {
        self.flush();
        let old = 1 << self.cell_bits;
        let mut wide = vec![0; 2 * self.dense.len()];
        for (wide, cell) in wide.chunks_exact_mut(2 * old).zip(self.dense.chunks_exact(old)) {
            wide[..old].copy_from_slice(cell);
        }
        self.dense = wide;
        self.cell_bits += 1;
    }

    /// Merges tallies into groups. `new_of[t][i]` is the final index of item `i` of tally `t`. The
    /// result does not depend on how the votes were distributed over the tallies.
    #[must_use]
    pub fn finish(mut tallies: Vec<Self>, new_of: &[Vec<u32>]) -> Groups {
        tallies.par_iter_mut().zip(new_of).for_each(|(tally, new_of)| {
            tally.flush();
            if !tally.dense.is_empty() {
                tally.grow((new_of.len() as u32).min(DENSE_ITEMS) - 1);
            }
        });
        let dense = dense::groups(&tallies, new_of);
        if tallies.iter().all(|tally| tally.sparse_votes().next().is_none()) {
            return dense;
        }
        let Some(layout) = WordLayout::new(&tallies, new_of, &dense) else {
            let entries = tallies.iter().zip(new_of).flat_map(|(tally, new_of)| {
                tally.sparse_votes().map(|(vote, count)| (tally.final_key(vote, new_of), count))
            });
            return merge_sorted(&dense, &sorted_groups(entries.collect()));
        };
        let (groups, wide) = packed::groups(tallies, new_of, &dense, &layout);
        if wide.is_empty() { groups } else { merge_sorted(&groups, &sorted_groups(wide)) }
    }

    /// The votes that are not in the dense table, with their counts, equal ones possibly several times.
    fn sparse_votes(&self) -> impl Iterator<Item = ((u32, u32, u32), u64)> + '_ {
        let counts = self.sparse.iter().map(|(&vote, &count)| (vote, u64::from(count)));
        let distinct = self.distinct.iter().map(|(vote, count)| (vote, u64::from(count)));
        let votes = distinct.chain(counts).chain(self.wide_counts.iter().copied());
        votes.filter(|&(_, count)| count > 0)
    }

    fn final_key(&self, (low, high, outcome): (u32, u32, u32), new_of: &[u32]) -> GroupKey {
        let (i, j) = (new_of[low as usize], new_of[high as usize]);
        let y = self.outcomes[outcome as usize];
        if i < j { (i, j, order_bits(y)) } else { (j, i, order_bits(positive_zero(-y))) }
    }
}

/// Sorts votes and adds up the counts of equal ones.
fn sorted_groups(mut entries: Vec<(GroupKey, u64)>) -> Groups {
    entries.par_sort_unstable();
    let mut groups = Groups::with_capacity(entries.len());
    let mut last = None;
    for (key, count) in entries {
        if last == Some(key) {
            *groups.weight.last_mut().expect("a group was pushed") += count as f64;
        } else {
            groups.push(key, count);
            last = Some(key);
        }
    }
    groups
}

#[inline]
fn triangle(low: u32, high: u32) -> usize {
    let (low, high) = (low as usize, high as usize);
    high * (high - 1) / 2 + low
}

/// Merges two sorted lists of groups; weights of groups in both lists are added.
fn merge_sorted(a: &Groups, b: &Groups) -> Groups {
    let mut merged = Groups::with_capacity(a.len().max(b.len()));
    let (mut p, mut q) = (0, 0);
    while p < a.len() || q < b.len() {
        let order = match (p < a.len(), q < b.len()) {
            (true, true) => a.key(p).cmp(&b.key(q)),
            (true, false) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        let (from, g) = if order.is_le() { (a, p) } else { (b, q) };
        let mut weight = from.weight[g];
        if order.is_eq() {
            weight += b.weight[q];
        }
        merged.left.push(from.left[g]);
        merged.right.push(from.right[g]);
        merged.y.push(from.y[g]);
        merged.weight.push(weight);
        p += usize::from(order.is_le());
        q += usize::from(order.is_ge());
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use crate::graph::groups::from_order_bits;
    use proptest::prelude::*;

    fn votes() -> impl Strategy<Value = Vec<Comparison>> {
        // Item 3,000 and more than eight outcomes do not fit the dense table, 2³² not 32 bits.
        let item = prop_oneof![0..12_u32, Just(3000)];
        let outcome =
            prop_oneof![Just(1.0), Just(-1.0), Just(0.0), (-9..9_i32).prop_map(f64::from)];
        let count = prop_oneof![4 => 1..4_u64, 1 => Just(0), 1 => Just(u64::from(u32::MAX))];
        let vote = (item.clone(), item, outcome, count)
            .prop_filter("two items", |(left, right, ..)| left != right)
            .prop_map(|(left, right, y, count)| Comparison::new(left, right, y).with_count(count));
        prop::collection::vec(vote, 0..80)
    }

    proptest! {
        #[test]
        fn tallies_equal_the_sorted_merge(votes in votes(), cut in 0..80_usize) {
            let items = 3001;
            // Final numbers are in reverse order of arrival, so every pair changes orientation.
            let new_of: Vec<u32> = (0..items as u32).rev().collect();
            let cut = cut.min(votes.len());
            let tallies = [&votes[..cut], &votes[cut..]].map(|part| {
                let mut tally = Tally::new();
                for v in part {
                    tally.add(v.left, v.right, v.y, v.count);
                }
                tally
            });
            let counted: u64 = tallies.iter().map(Tally::votes).sum();
            let groups = Tally::finish(tallies.into(), &[new_of.clone(), new_of.clone()]);
            let renumbered: Vec<_> = votes
                .iter()
                .map(|v| Comparison {
                    left: new_of[v.left as usize],
                    right: new_of[v.right as usize],
                    ..*v
                })
                .collect();
            let expected = Groups::merge(items, &renumbered).unwrap().groups;
            prop_assert_eq!(counted as f64, expected.votes());
            prop_assert_eq!(groups, expected);
        }
    }

    #[test]
    fn many_distinct_votes_equal_the_sorted_merge() {
        // More votes than the hash map holds, repeated ones among them, and every third item reversed.
        let items = 5000;
        let vote = |k: u32| {
            let (i, gap) = (k.wrapping_mul(2_654_435_761) % items, 1 + k % 97);
            let count = if k.is_multiple_of(50) { u64::from(u32::MAX) << (k % 20) } else { 1 };
            let y = f64::from(k % 5) - 2.0;
            Comparison::new(i, (i + gap) % items, y).with_count(count)
        };
        let votes: Vec<Comparison> = (0..400_000).map(vote).collect();
        let new_of: Vec<u32> = (0..items).rev().collect();
        let tallies = [&votes[..150_000], &votes[150_000..]].map(|part| {
            let mut tally = Tally::new();
            part.iter().for_each(|v| tally.add(v.left, v.right, v.y, v.count));
            assert!(tally.distinct.len() > MAX_MAPPED);
            tally
        });
        let groups = Tally::finish(tallies.into(), &[new_of.clone(), new_of.clone()]);
        let new = |item: u32| new_of[item as usize];
        let renumber = |v: &Comparison| Comparison { left: new(v.left), right: new(v.right), ..*v };
        let renumbered: Vec<_> = votes.iter().map(renumber).collect();
        assert_eq!(groups, Groups::merge(items as usize, &renumbered).unwrap().groups);
    }

    #[test]
    fn outcome_bits_are_preserved() {
        let mut tally = Tally::new();
        tally.add(1, 0, -0.0, 1);
        tally.add(0, 1, 0.1, 1);
        let groups = Tally::finish(vec![tally], &[vec![0, 1]]);
        assert_eq!(groups.y, [0.0, 0.1]);
        assert!(groups.y[0].is_sign_positive());
        assert_eq!(from_order_bits(order_bits(0.1)), 0.1);
    }
}
