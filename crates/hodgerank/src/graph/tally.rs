//! Counting votes as they stream by: memory grows with distinct votes, never with rows.
//!
//! Items and outcomes are numbered in order of arrival. A vote on two of the first
//! [`DENSE_ITEMS`] items with one of the first [`DENSE_OUTCOMES`] outcomes is one addition in a
//! triangular table of bytes; every other one, and every 256th in a full byte, goes into a hash map.
//! A study of a thousand items with wins, losses and ties so fits into 1.5 MB, near enough to the
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
/// Bits of a place in a triangular table; the outcome stands above them in a waiting vote.
const PLACE_BITS: u32 = 21;
/// Votes that wait for their addition. In a row they keep many cache misses under way at once;
/// one at a time, each vote would wait for its own.
const WAITING: usize = 1024;

/// Votes counted by (smaller item, larger item, outcome), with the items as the caller numbers them.
#[derive(Debug, Default)]
pub struct Tally {
    /// Distinct outcomes in order of arrival.
    outcomes: Vec<f64>,
    outcome_ids: FxHashMap<u64, u32>,
    /// For each dense outcome, the counts of pairs (low, high) at `high·(high − 1)/2 + low`.
    dense: Vec<Vec<u8>>,
    waiting: Vec<u32>,
    /// How often a byte of `dense` ran over.
    carried: FxHashMap<u32, u32>,
    sparse: FxHashMap<(u32, u32, u32), u32>,
    /// Counts that did not fit into 32 bits.
    spilled: Vec<((u32, u32, u32), u64)>,
    votes: u64,
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
            let place = triangle(low, high);
            let table = &mut self.dense[outcome as usize];
            if place >= table.len() {
                // Room for all pairs of the items so far; doubling keeps the copies few.
                let most = triangle(0, DENSE_ITEMS);
                let pairs = (triangle(0, high) + high as usize).max(2 * table.len());
                table.resize(pairs.min(most), 0);
            }
            self.waiting.push(outcome << PLACE_BITS | place as u32);
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

    /// Makes the waiting additions.
    fn settle(&mut self) {
        const PLACE: u32 = (1 << PLACE_BITS) - 1;
        for &vote in &self.waiting {
            let count = &mut self.dense[(vote >> PLACE_BITS) as usize][(vote & PLACE) as usize];
            *count = count.wrapping_add(1);
            if *count == 0 {
                *self.carried.entry(vote).or_insert(0) += 1;
            }
        }
        self.waiting.clear();
    }

    #[inline]
    fn outcome_id(&mut self, y: f64) -> u32 {
        // A handful of outcomes is the rule; a scan of them beats hashing.
        let few = self.outcomes.len().min(DENSE_OUTCOMES as usize);
        if let Some(id) = self.outcomes[..few].iter().position(|&known| known == y) {
            return id as u32;
        }
        let Self { outcomes, outcome_ids, dense, .. } = self;
        *outcome_ids.entry(y.to_bits()).or_insert_with(|| {
            let id = outcomes.len() as u32;
            outcomes.push(y);
            if id < DENSE_OUTCOMES {
                dense.push(Vec::new());
            }
            id
        })
    }

    /// Brings tallies together into groups. `new_of[t][i]` is the final index of item `i` of
    /// tally `t`. The result depends only on the votes, not on who counted which.
    #[must_use]
    pub fn finish(mut tallies: Vec<Self>, new_of: &[Vec<u32>]) -> Groups {
        tallies.par_iter_mut().for_each(Self::settle);
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

    fn dense_count(&self, outcome: u32, place: usize) -> u64 {
        let count = self.dense[outcome as usize].get(place).copied().unwrap_or(0);
        let carried = if self.carried.is_empty() {
            0
        } else {
            let key = outcome << PLACE_BITS | place as u32;
            self.carried.get(&key).copied().unwrap_or(0)
        };
        256 * u64::from(carried) + u64::from(count)
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
