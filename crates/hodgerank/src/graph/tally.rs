//! Counting votes as they stream by: memory grows with distinct votes, never with rows.
//!
//! Items and outcomes are numbered in order of arrival. A vote on two of the first
//! [`DENSE_ITEMS`] items with one of the first [`DENSE_OUTCOMES`] outcomes is one addition in a
//! triangular table of bytes, the outcomes of a pair side by side; every other one, and every 256th
//! in a full byte, goes into a hash map.
//! A study of a thousand items with wins, losses and ties so fits into 2 MB, near enough to the
//! processor, and a million items cost about 40 bytes a distinct vote.
//!
//! Each thread counts into a tally of its own; [`Tally::finish`] brings them together.

mod dense;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::groups::{Groups, Key, order_bits};
use crate::comparison::positive_zero;

/// 2,048 items make 2.1 million pairs, 2 MB for each outcome.
const DENSE_ITEMS: u32 = 2048;
/// Win, loss, tie and a Likert scale of up to eight steps.
const DENSE_OUTCOMES: u32 = 8;
/// Bits of an outcome in a waiting vote; the pair stands above them.
const OUTCOME_BITS: u32 = DENSE_OUTCOMES.trailing_zeros();
/// Votes that wait for their addition. In a row they keep many cache misses under way at once;
/// one at a time, each vote would wait for its own.
const WAITING: usize = 1024;

/// Votes counted by (smaller item, larger item, outcome), with the items as the caller numbers them.
#[derive(Debug)]
pub struct Tally {
    /// Distinct outcomes in order of arrival.
    outcomes: Vec<f64>,
    outcome_ids: FxHashMap<u64, u32>,
    /// The outcomes of the table; NaN where there is none yet.
    dense_outcomes: [f64; DENSE_OUTCOMES as usize],
    /// Counts: pair (low, high) has the cell `high·(high − 1)/2 + low`, outcome k its byte k.
    dense: Vec<u8>,
    /// A cell has 2^`cell_bits` bytes.
    cell_bits: u32,
    waiting: Vec<u32>,
    /// How often a byte of `dense` ran over.
    carried: FxHashMap<u32, u32>,
    sparse: FxHashMap<(u32, u32, u32), u32>,
    /// Counts that did not fit into 32 bits.
    spilled: Vec<((u32, u32, u32), u64)>,
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
            waiting: Vec::with_capacity(WAITING),
            carried: FxHashMap::default(),
            sparse: FxHashMap::default(),
            spilled: Vec::new(),
            votes: 0,
        }
    }
}

impl Tally {
    /// Nothing counted yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Votes counted so far.
    #[must_use]
    pub fn votes(&self) -> u64 {
        self.votes
    }

    /// Counts a vote on two different items. `y` must be finite.
    #[inline]
    pub fn add(&mut self, left: u32, right: u32, y: f64, count: u64) {
        debug_assert!(left != right && y.is_finite());
        let (low, high, y) = if left < right { (left, right, y) } else { (right, left, -y) };
        let outcome = self.outcome_id(positive_zero(y));
        self.votes = self.votes.saturating_add(count);
        if high < DENSE_ITEMS && outcome < DENSE_OUTCOMES && count == 1 {
            let cell = triangle(low, high);
            if cell >= self.dense.len() >> self.cell_bits {
                self.make_room(high);
            }
            self.waiting.push((cell as u32) << OUTCOME_BITS | outcome);
            if self.waiting.len() >= WAITING {
                self.settle();
            }
            return;
        }
        let cell = self.sparse.entry((low, high, outcome)).or_insert(0);
        match u32::try_from(count).ok().and_then(|count| cell.checked_add(count)) {
            Some(sum) => *cell = sum,
            None => self.spilled.push(((low, high, outcome), count)),
        }
    }

    /// Room for all pairs of the items up to `high`; doubling keeps the copies few.
    #[cold]
    fn make_room(&mut self, high: u32) {
        let cells = triangle(0, high + 1).max((2 * self.dense.len()) >> self.cell_bits);
        self.dense.resize(cells.min(triangle(0, DENSE_ITEMS)) << self.cell_bits, 0);
    }

    /// Makes the waiting additions.
    fn settle(&mut self) {
        for &vote in &self.waiting {
            let (cell, outcome) = (vote >> OUTCOME_BITS, vote & (DENSE_OUTCOMES - 1));
            let count = &mut self.dense[(cell << self.cell_bits | outcome) as usize];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *self.carried.entry(vote).or_insert(0) += 1;
            }
        }
        self.waiting.clear();
    }

    #[inline]
    fn outcome_id(&mut self, y: f64) -> u32 {
        // All at once: votes take turns, and a search that ends at one of them could not be foreseen.
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

    /// Cells of twice as many bytes.
    fn widen_cells(&mut self) {
        self.settle();
        let old = 1 << self.cell_bits;
        let mut wide = vec![0; 2 * self.dense.len()];
        for (wide, cell) in wide.chunks_exact_mut(2 * old).zip(self.dense.chunks_exact(old)) {
            wide[..old].copy_from_slice(cell);
        }
        self.dense = wide;
        self.cell_bits += 1;
    }

    /// Brings tallies together into groups. `new_of[t][i]` is the final index of item `i` of
    /// tally `t`. The result depends only on the votes, not on who counted which.
    #[must_use]
    pub fn finish(mut tallies: Vec<Self>, new_of: &[Vec<u32>]) -> Groups {
        tallies.par_iter_mut().zip(new_of).for_each(|(tally, new_of)| {
            tally.settle();
            if !tally.dense.is_empty() {
                tally.make_room((new_of.len() as u32).min(DENSE_ITEMS) - 1);
            }
        });
        let dense = dense::groups(&tallies, new_of);
        let lists: Vec<Groups> = tallies
            .into_par_iter()
            .zip(new_of)
            .map(|(tally, new_of)| tally.into_sparse_groups(new_of))
            .collect();
        let lists = std::iter::once(dense).chain(lists).filter(|list| !list.is_empty());
        lists.reduce(|a, b| merge_sorted(&a, &b)).unwrap_or_default()
    }

    /// The votes that went into hash maps.
    fn into_sparse_groups(self, new_of: &[u32]) -> Groups {
        let mut entries = self.sparse_entries(new_of);
        drop(self);
        entries.sort_unstable();
        let mut sparse = Groups::with_capacity(entries.len());
        let mut last = None;
        for (key, count) in entries {
            if last == Some(key) {
                *sparse.weight.last_mut().expect("a group was pushed") += count as f64;
            } else {
                sparse.push(key, count);
                last = Some(key);
            }
        }
        sparse
    }

    fn sparse_entries(&self, new_of: &[u32]) -> Vec<(Key, u64)> {
        let counts = self.sparse.iter().map(|(&key, &count)| (key, u64::from(count)));
        let entries = counts.chain(self.spilled.iter().copied()).filter(|&(_, count)| count > 0);
        let renumbered = entries.map(|((low, high, outcome), count)| {
            let (i, j) = (new_of[low as usize], new_of[high as usize]);
            let y = self.outcomes[outcome as usize];
            let key =
                if i < j { (i, j, order_bits(y)) } else { (j, i, order_bits(positive_zero(-y))) };
            (key, count)
        });
        renumbered.collect()
    }
}

#[inline]
fn triangle(low: u32, high: u32) -> usize {
    let (low, high) = (low as usize, high as usize);
    high * (high - 1) / 2 + low
}

/// Two sorted lists of groups as one; groups in both add up.
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
        // Item 3,000 and more than eight outcomes leave the dense tables; 2³² leaves 32 bits.
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
            // Final numbers run against the order of arrival, so every pair is seen from behind.
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
    fn outcome_bits_survive() {
        let mut tally = Tally::new();
        tally.add(1, 0, -0.0, 1);
        tally.add(0, 1, 0.1, 1);
        let groups = Tally::finish(vec![tally], &[vec![0, 1]]);
        assert_eq!(groups.y, [0.0, 0.1]);
        assert!(groups.y[0].is_sign_positive());
        assert_eq!(from_order_bits(order_bits(0.1)), 0.1);
    }
}
