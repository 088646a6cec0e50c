//! Sums over the pairs of each item, with the same bits for any number of threads.

use rayon::prelude::*;

use crate::graph::Pairs;

/// Pairs per task of a plain sum; fixed, so that sums do not depend on the number of threads.
pub(crate) const PAIRS_PER_TASK: usize = 1 << 13;
/// Minimum number of pairs per part of a sum by item, and maximum number of parts.
const MIN_PAIRS_PER_PART: usize = 1 << 14;
const MAX_PARTS: usize = 64;

/// Sums over the pairs of each item: of the first number for its left item and of the second for its
/// right one.
pub(crate) fn sum_ends(
    items: usize,
    pairs: &Pairs,
    values: impl Fn(usize) -> (f64, f64) + Sync,
) -> Vec<f64> {
    let parts = pair_parts(items, pairs.len()).into_par_iter().map(|range| {
        let mut sums = EndSums::new(items, pairs, range.clone());
        for p in range {
            let (left, right) = values(p);
            sums.add(pairs.left[p] as usize, [left]);
            sums.add(pairs.right[p] as usize, [right]);
        }
        sums
    });
    let [sums] = EndSums::total(items, &parts.collect::<Vec<_>>());
    sums
}

/// Splits pairs into ranges, so that sums over their items take at most as much memory as pairs.
pub(crate) fn pair_parts(items: usize, pairs: usize) -> Vec<std::ops::Range<usize>> {
    let parts = (pairs / MIN_PAIRS_PER_PART).min(pairs / items.max(1)).clamp(1, MAX_PARTS);
    (0..parts).map(|k| pairs * k / parts..pairs * (k + 1) / parts).collect()
}

/// Sums over the pairs of each item in a range of pairs.
pub(crate) struct EndSums<const K: usize> {
    /// The first item of the range; those before it have no sum.
    first: usize,
    sums: Vec<[f64; K]>,
}

impl<const K: usize> EndSums<K> {
    pub(crate) fn new(items: usize, pairs: &Pairs, range: std::ops::Range<usize>) -> Self {
        // Pairs are sorted by their left items, which are the smaller ones.
        let first = pairs.left.get(range.start).map_or(items, |&left| left as usize);
        Self { first, sums: vec![[0.0; K]; items - first] }
    }

    /// Adds values for one item.
    #[inline]
    pub(crate) fn add(&mut self, item: usize, values: [f64; K]) {
        let sums = &mut self.sums[item - self.first];
        (0..K).for_each(|k| sums[k] += values[k]);
    }

    /// The sums of all parts, added up in their order.
    pub(crate) fn total(items: usize, parts: &[Self]) -> [Vec<f64>; K] {
        let mut total = vec![[0.0; K]; items];
        for part in parts {
            for (total, own) in total[part.first..].iter_mut().zip(&part.sums) {
                (0..K).for_each(|k| total[k] += own[k]);
            }
        }
        std::array::from_fn(|k| total.iter().map(|sums| sums[k]).collect())
    }
}
