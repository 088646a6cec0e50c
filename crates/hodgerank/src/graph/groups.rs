//! Equal votes merged into weighted groups. Merging is exact: every solver treats equal votes alike.

use crate::comparison::Comparison;
use crate::error::{Error, Result};
use crate::numeric::{residual, sum};

/// Distinct votes (i, j, y) with i < j, sorted, each with the number of times it was cast.
///
/// Stored by columns, because solvers read one or two of them at a time. 24 bytes per group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    /// Smaller item index.
    pub left: Vec<u32>,
    /// Larger item index.
    pub right: Vec<u32>,
    /// How much `left` is preferred to `right`.
    pub y: Vec<f64>,
    /// Number of votes merged into the group.
    pub weight: Vec<f64>,
}

/// Groups, and the group of every vote.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The groups.
    pub groups: Groups,
    /// `group_of[k]` is the group of vote `k`; `None` for a vote cast zero times.
    pub group_of: Vec<Option<u32>>,
}

/// Left item, right item and [`order_bits`] of the outcome: sorts as groups do.
pub(super) type GroupKey = (u32, u32, u64);

impl Groups {
    /// Merges equal votes on `items` items.
    ///
    /// # Errors
    /// If a vote names an unknown item, compares an item with itself or has no finite outcome.
    pub fn merge(items: usize, votes: &[Comparison]) -> Result<Merged> {
        Self::collect(items, votes, true)
    }

    /// One group for each vote, equal or not. For experiments on the cost of not merging.
    ///
    /// # Errors
    /// As [`Groups::merge`].
    pub fn keep_apart(items: usize, votes: &[Comparison]) -> Result<Merged> {
        Self::collect(items, votes, false)
    }

    fn collect(items: usize, votes: &[Comparison], merge: bool) -> Result<Merged> {
        let mut keyed = Vec::with_capacity(votes.len());
        for (vote, comparison) in votes.iter().enumerate() {
            check(vote, comparison, items)?;
            let Comparison { left, right, y, count, .. } = comparison.oriented();
            if count > 0 {
                keyed.push(((left, right, order_bits(y)), vote, count));
            }
        }
        let keyed = sorted(items, keyed);
        let mut groups = Self::with_capacity(keyed.len());
        let mut group_of = vec![None; votes.len()];
        let mut last = None;
        for (key, vote, count) in keyed {
            if merge && last == Some(key) {
                *groups.weight.last_mut().expect("a group was pushed") += count as f64;
            } else {
                groups.push(key, count);
                last = Some(key);
            }
            group_of[vote] = Some(groups.len() as u32 - 1);
        }
        Ok(Merged { groups, group_of })
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.left.len()
    }

    /// Whether there are no votes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Number of votes: the sum of the weights.
    #[must_use]
    pub fn votes(&self) -> f64 {
        sum(&self.weight)
    }

    /// The same groups with other weights; groups of weight zero are dropped.
    ///
    /// # Panics
    /// If `weight` and the groups differ in length.
    #[must_use]
    pub fn reweighted(&self, weight: &[f64]) -> Self {
        assert_eq!(weight.len(), self.len(), "one weight for each group");
        let kept = || weight.iter().enumerate().filter(|&(_, &w)| w > 0.0).map(|(g, _)| g);
        Self {
            left: kept().map(|g| self.left[g]).collect(),
            right: kept().map(|g| self.right[g]).collect(),
            y: kept().map(|g| self.y[g]).collect(),
            weight: kept().map(|g| weight[g]).collect(),
        }
    }

    /// The same votes with one group for each, in the same order. For experiments on the cost of
    /// not merging.
    #[must_use]
    pub fn one_by_one(&self) -> Self {
        fn spread<T: Copy>(merged: &Groups, column: &[T]) -> Vec<T> {
            let votes = column.iter().zip(&merged.weight);
            let one_by_one = |(&value, &weight)| std::iter::repeat_n(value, weight as usize);
            votes.flat_map(one_by_one).collect()
        }
        let left = spread(self, &self.left);
        let weight = vec![1.0; left.len()];
        Self { left, right: spread(self, &self.right), y: spread(self, &self.y), weight }
    }

    /// The group of a vote on (left, right) with outcome `y`, in either orientation.
    #[must_use]
    pub fn find(&self, left: u32, right: u32, y: f64) -> Option<usize> {
        let vote = Comparison::new(left, right, y).oriented();
        let wanted = (vote.left, vote.right, order_bits(vote.y));
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.len() && self.key(low) == wanted).then_some(low)
    }

    /// The groups of a pair with the smaller index on the left; they are consecutive.
    #[must_use]
    pub fn of_pair(&self, left: u32, right: u32) -> std::ops::Range<usize> {
        let start = self.left.partition_point(|&item| item < left);
        let end = start + self.left[start..].partition_point(|&item| item <= left);
        let rights = &self.right[start..end];
        let first = start + rights.partition_point(|&item| item < right);
        first..start + rights.partition_point(|&item| item <= right)
    }

    /// The residual of group `g`: outcome − (left score − right score).
    #[inline]
    pub(crate) fn residual(&self, scores: &[f64], g: usize) -> f64 {
        residual(self.y[g], scores[self.left[g] as usize], scores[self.right[g] as usize])
    }

    /// The residuals of all groups.
    pub(crate) fn residuals(&self, scores: &[f64]) -> impl ExactSizeIterator<Item = f64> + Clone {
        let ends = self.left.iter().zip(&self.right);
        let votes = self.y.iter().zip(ends);
        votes.map(|(&y, (&i, &j))| residual(y, scores[i as usize], scores[j as usize]))
    }

    pub(super) fn key(&self, g: usize) -> GroupKey {
        (self.left[g], self.right[g], order_bits(self.y[g]))
    }

    pub(super) fn push(&mut self, (left, right, bits): GroupKey, count: u64) {
        self.left.push(left);
        self.right.push(right);
        self.y.push(from_order_bits(bits));
        self.weight.push(count as f64);
    }

    /// Concatenates lists of groups.
    pub(super) fn concatenated(lists: &[Self]) -> Self {
        let ((left, right), (y, weight)) = rayon::join(
            || rayon::join(|| chain(lists, |list| &list.left), || chain(lists, |list| &list.right)),
            || rayon::join(|| chain(lists, |list| &list.y), || chain(lists, |list| &list.weight)),
        );
        Self { left, right, y, weight }
    }

    /// Returns unused memory if it is most of what is reserved. Otherwise the copies cost more than
    /// the memory is worth.
    pub(super) fn shrink_if_sparse(&mut self) {
        if self.left.len() > self.left.capacity() / 4 {
            return;
        }
        self.left.shrink_to_fit();
        self.right.shrink_to_fit();
        self.y.shrink_to_fit();
        self.weight.shrink_to_fit();
    }

    pub(super) fn with_capacity(groups: usize) -> Self {
        Self {
            left: Vec::with_capacity(groups),
            right: Vec::with_capacity(groups),
            y: Vec::with_capacity(groups),
            weight: Vec::with_capacity(groups),
        }
    }
}

/// A vote: its key, index and count.
type KeyedVote = (GroupKey, usize, u64);

/// Sorts votes by key, then by index. They come by ascending index.
///
/// A stable counting sort by pair, or two by item if there are many possible pairs: their cost is proportional
/// to votes and items. What remains is to sort the votes on each pair.
fn sorted(items: usize, mut votes: Vec<KeyedVote>) -> Vec<KeyedVote> {
    if items > MAX_ITEMS_PER_VOTE * votes.len() {
        votes.sort_unstable();
        return votes;
    }
    let mut other = votes.clone();
    let pairs = items.saturating_mul(items);
    if pairs <= votes.len() {
        let pair = |&((left, right, _), ..): &KeyedVote| left as usize * items + right as usize;
        counting_sort(pairs, &other, &mut votes, pair);
    } else {
        counting_sort(items, &votes, &mut other, |&((_, right, _), ..)| right as usize);
        counting_sort(items, &other, &mut votes, |&((left, ..), ..)| left as usize);
    }
    for pair in votes.chunk_by_mut(|a, b| (a.0.0, a.0.1) == (b.0.0, b.0.1)) {
        pair.sort_by_key(|&((.., bits), ..)| bits);
    }
    votes
}

/// Items per vote above which counting sorts are not worth their tables.
const MAX_ITEMS_PER_VOTE: usize = 4;

/// Writes `votes` to `out`, sorted by a key below `keys`; votes with the same key keep their order.
fn counting_sort(
    keys: usize,
    votes: &[KeyedVote],
    out: &mut [KeyedVote],
    key: impl Fn(&KeyedVote) -> usize,
) {
    let mut next = vec![0; keys + 1];
    votes.iter().for_each(|vote| next[key(vote) + 1] += 1);
    for k in 0..keys {
        next[k + 1] += next[k];
    }
    for vote in votes {
        let at: &mut usize = &mut next[key(vote)];
        out[*at] = *vote;
        *at += 1;
    }
}

fn chain<T: Copy>(lists: &[Groups], column: impl Fn(&Groups) -> &Vec<T>) -> Vec<T> {
    lists.iter().map(|list| column(list).as_slice()).collect::<Vec<_>>().concat()
}

pub(super) fn check(vote: usize, comparison: &Comparison, items: usize) -> Result<()> {
    let &Comparison { left, right, y, .. } = comparison;
    if let Some(index) = [left, right].into_iter().find(|&index| index as usize >= items) {
        return Err(Error::ItemOutOfRange { vote, index, items });
    }
    if left == right {
        return Err(Error::SelfComparison { vote, index: left });
    }
    if !y.is_finite() {
        return Err(Error::NonFinite { vote, value: y });
    }
    Ok(())
}

/// Bits that sort like the numbers, so that keys compare as integers.
pub(super) fn order_bits(y: f64) -> u64 {
    let bits = y.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

pub(super) fn from_order_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_votes_are_merged_in_either_orientation() {
        let votes = [
            Comparison::new(0, 1, 1.0),
            Comparison::new(1, 0, -1.0).with_count(3),
            Comparison::new(1, 0, 1.0),
            Comparison::new(2, 1, -0.0),
            Comparison::new(1, 2, 0.0),
            Comparison::new(0, 2, 1.0).with_count(0),
        ];
        let merged = Groups::merge(3, &votes).unwrap();
        assert_eq!(merged.groups.left, [0, 0, 1]);
        assert_eq!(merged.groups.right, [1, 1, 2]);
        assert_eq!(merged.groups.y, [-1.0, 1.0, 0.0]);
        assert_eq!(merged.groups.weight, [1.0, 4.0, 2.0]);
        assert_eq!(merged.group_of, [Some(1), Some(1), Some(0), Some(2), Some(2), None]);
        for (vote, group) in votes.iter().zip(&merged.group_of) {
            let found = merged.groups.find(vote.left, vote.right, vote.y);
            assert_eq!(found, group.map(|g| g as usize));
        }
        let apart = Groups::keep_apart(3, &votes).unwrap();
        assert_eq!(apart.groups.len(), 5);
        assert_eq!(apart.groups.votes(), merged.groups.votes());
        let one_by_one = merged.groups.one_by_one();
        assert_eq!(one_by_one.left, [0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(one_by_one.y, [-1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(one_by_one.votes(), merged.groups.votes());
    }

    #[test]
    fn votes_are_sorted_whatever_the_number_of_items() {
        // One counting sort, two of them, and a sort by comparison.
        for (items, votes) in [(5_u32, 400_usize), (40, 400), (2000, 400)] {
            let vote = |k: usize| {
                let left = (7 * k * k + k) as u32 % (items - 1);
                let right = left + 1 + (3 * k as u32) % (items - 1 - left);
                ((left, right, (k % 3) as u64), k, 1)
            };
            let given: Vec<KeyedVote> = (0..votes).map(vote).collect();
            let mut expected = given.clone();
            expected.sort_unstable();
            assert_eq!(sorted(items as usize, given), expected, "{items} items");
        }
    }

    #[test]
    fn invalid_votes_are_reported() {
        let at = |left, right, y| Groups::merge(2, &[Comparison::new(left, right, y)]).unwrap_err();
        assert_eq!(at(0, 2, 1.0), Error::ItemOutOfRange { vote: 0, index: 2, items: 2 });
        assert_eq!(at(1, 1, 1.0), Error::SelfComparison { vote: 0, index: 1 });
        assert!(matches!(at(0, 1, f64::NAN), Error::NonFinite { vote: 0, .. }));
    }

    #[test]
    fn order_bits_sort_as_numbers() {
        let values = [f64::MIN, -2.5, -1.0, -1e-300, 0.0, 1e-300, 1.0, 3.0, f64::MAX];
        assert!(values.windows(2).all(|pair| order_bits(pair[0]) < order_bits(pair[1])));
        assert!(values.iter().all(|&y| from_order_bits(order_bits(y)) == y));
    }
}
