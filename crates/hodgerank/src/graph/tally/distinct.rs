//! Counts of single votes of which nearly all are distinct.
//!
//! In a hash map of millions of distinct votes every vote is a cache miss. Here votes are appended to
//! a list. Whenever it is as long as the list of distinct votes so far, it is sorted and merged into
//! that one, so that a vote takes part in about two merges and memory still grows with distinct votes
//! only: 12 bytes for each, up to 8 for those that are pending, and as much again during a merge.

/// Bits of an item and of an outcome in a key.
const ITEM_BITS: u32 = 28;
const OUTCOME_BITS: u32 = 8;
/// Fewer pending votes are not worth a merge.
const MIN_PENDING: usize = 1 << 16;

/// Distinct votes with their counts.
#[derive(Debug, Default)]
pub(super) struct DistinctVotes {
    /// Ascending.
    keys: Vec<u64>,
    counts: Vec<u32>,
    /// Single votes, in order of arrival.
    pending: Vec<u64>,
}

/// The key of a vote; none if it has too large a number.
#[inline]
pub(super) fn key_of(low: u32, high: u32, outcome: u32) -> Option<u64> {
    // The larger item is `high`.
    let fits = high >> ITEM_BITS == 0 && outcome >> OUTCOME_BITS == 0;
    let pair = u64::from(low) << ITEM_BITS | u64::from(high);
    fits.then_some(pair << OUTCOME_BITS | u64::from(outcome))
}

/// The smaller item, the larger item and the outcome of a key.
#[inline]
fn vote_of(key: u64) -> (u32, u32, u32) {
    let pair = key >> OUTCOME_BITS;
    let high = pair & ((1 << ITEM_BITS) - 1);
    ((pair >> ITEM_BITS) as u32, high as u32, (key & ((1 << OUTCOME_BITS) - 1)) as u32)
}

impl DistinctVotes {
    /// Counts a vote once.
    #[inline]
    pub(super) fn add(&mut self, key: u64) {
        self.pending.push(key);
        if self.pending.len() >= MIN_PENDING.max(self.keys.len()) {
            self.merge();
        }
    }

    /// All votes with their counts, equal ones possibly several times.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((u32, u32, u32), u32)> + '_ {
        let merged = self.keys.iter().copied().zip(self.counts.iter().copied());
        let pending = self.pending.iter().map(|&key| (key, 1));
        merged.chain(pending).map(|(key, count)| (vote_of(key), count))
    }

    /// Number of entries of [`Self::iter`].
    pub(super) fn len(&self) -> usize {
        self.keys.len() + self.pending.len()
    }

    /// Bytes of memory, approximately.
    pub(super) fn memory_bytes(&self) -> usize {
        8 * self.keys.capacity() + 4 * self.counts.capacity() + 8 * self.pending.capacity()
    }

    /// Merges the pending votes. A count that would overflow starts a second entry of its key.
    #[cold]
    fn merge(&mut self) {
        self.pending.sort_unstable();
        let (keys, counts) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.counts));
        self.keys.reserve_exact(keys.len() + self.pending.len());
        self.counts.reserve_exact(keys.len() + self.pending.len());
        let mut old = keys.into_iter().zip(counts).peekable();
        for run in self.pending.chunk_by(|a, b| a == b) {
            let key = run[0];
            while let Some((key, count)) = old.next_if(|&(old, _)| old < key) {
                self.keys.push(key);
                self.counts.push(count);
            }
            let mut count = run.len() as u32;
            while let Some((_, before)) = old.next_if(|&(old, _)| old == key) {
                match count.checked_add(before) {
                    Some(sum) => count = sum,
                    None => {
                        self.keys.push(key);
                        self.counts.push(before);
                    }
                }
            }
            self.keys.push(key);
            self.counts.push(count);
        }
        for (key, count) in old {
            self.keys.push(key);
            self.counts.push(count);
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn merged_and_pending_votes_add_up() {
        let mut votes = DistinctVotes::default();
        let mut expected = BTreeMap::new();
        for k in 0..300_000_u32 {
            // Repeated votes and votes that come only once.
            let low = if k % 3 == 0 { k } else { k % 1000 };
            let vote = (low, low + 1 + k % 7, k % 2);
            votes.add(key_of(vote.0, vote.1, vote.2).unwrap());
            *expected.entry(vote).or_insert(0) += 1;
        }
        assert!(!votes.keys.is_empty() && !votes.pending.is_empty());
        assert!(votes.keys.is_sorted());
        let mut found = BTreeMap::new();
        votes.iter().for_each(|(vote, count)| *found.entry(vote).or_insert(0) += count);
        assert_eq!(found, expected);
    }

    #[test]
    fn counts_do_not_overflow() {
        let key = key_of(1, 2, 3).unwrap();
        let mut votes =
            DistinctVotes { keys: vec![key], counts: vec![u32::MAX], pending: vec![key] };
        votes.merge();
        let sum: u64 = votes.iter().map(|(_, count)| u64::from(count)).sum();
        assert_eq!(sum, u64::from(u32::MAX) + 1);
    }

    #[test]
    fn large_numbers_have_no_key() {
        assert_eq!(key_of(0, 1 << 28, 0), None);
        assert_eq!(key_of(0, 1, 256), None);
        let largest = ((1 << 28) - 2, (1 << 28) - 1, 255);
        assert_eq!(vote_of(key_of(largest.0, largest.1, largest.2).unwrap()), largest);
    }
}
