//! Selects the K votes that fit worst, except those that are needed to connect the rest.
//!
//! The selection is a radix select: votes are counted by the leading bits of |r|, which determines in
//! one pass which are certainly among the K largest and which are not. Only those with the same
//! leading bits as the K-th have to be sorted.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::graph::ComparisonGraph;
use crate::numeric::DisjointSets;

/// Trailing bits that the count ignores. What remains of a non-negative number is its exponent and four
/// bits of the mantissa.
const IGNORED_BITS: u32 = 48;

/// Returns how many votes of each group are removed: the K votes with the largest |r|, those with the
/// smaller group index first if equal, except those that are needed to connect the rest.
pub(super) fn select_worst(graph: &ComparisonGraph, scores: &[f64], k: f64) -> Vec<f64> {
    let groups = graph.groups();
    // The bit patterns of non-negative numbers sort like the numbers.
    let sizes: Vec<u64> = groups.residuals(scores).map(|r| r.abs().to_bits()).collect();
    let mut available = Cow::Borrowed(&groups.weight);
    loop {
        let removed = largest(&sizes, &available, k);
        let needed = reconnecting_groups(graph, &removed, &sizes);
        if needed.is_empty() {
            return removed;
        }
        for g in needed {
            available.to_mut()[g] = less_a_vote(groups.weight[g]);
        }
    }
}

/// `weight` less one vote, or less more where one vote would be lost by rounding; at least 0.
fn less_a_vote(weight: f64) -> f64 {
    (weight - 1.0).min(weight.next_down()).max(0.0)
}

/// Returns how many votes of each group are among the K largest.
fn largest(sizes: &[u64], available: &[f64], k: f64) -> Vec<f64> {
    let mut counts = vec![0.0; 1 << (u64::BITS - 1 - IGNORED_BITS)];
    for (size, votes) in sizes.iter().zip(available) {
        counts[(size >> IGNORED_BITS) as usize] += votes;
    }
    let (mut remaining, mut border) = (k, counts.len());
    while border > 0 {
        border -= 1;
        if counts[border] >= remaining {
            break;
        }
        remaining -= counts[border];
    }
    let mut at_border = Vec::new();
    let votes_to_remove = |(g, (size, votes)): (usize, (&u64, &f64))| {
        let leading = (size >> IGNORED_BITS) as usize;
        if leading == border {
            at_border.push((Reverse(*size), g));
        }
        if leading > border { *votes } else { 0.0 }
    };
    let mut removed: Vec<f64> =
        sizes.iter().zip(available).enumerate().map(votes_to_remove).collect();
    at_border.sort_unstable();
    for (_, g) in at_border {
        removed[g] = remaining.min(available[g]);
        remaining -= removed[g];
    }
    removed
}

/// Returns the groups of which one vote must be retained to connect the rest, the best-fitting ones
/// first.
fn reconnecting_groups(graph: &ComparisonGraph, removed: &[f64], sizes: &[u64]) -> Vec<usize> {
    let groups = graph.groups();
    let mut sets = DisjointSets::new(graph.items());
    let mut joins_sets = |g: usize| sets.join(groups.left[g], groups.right[g]);
    let mut joins = graph.items() - graph.components().len();
    let is_removed = |g: &usize| removed[*g] >= groups.weight[*g];
    for g in (0..groups.len()).filter(|g| !is_removed(g)) {
        if joins == 0 {
            return Vec::new();
        }
        joins -= usize::from(joins_sets(g));
    }
    let mut removed_groups: Vec<usize> = (0..groups.len()).filter(is_removed).collect();
    removed_groups.sort_unstable_by_key(|&g| (sizes[g], Reverse(g)));
    removed_groups.into_iter().filter(|&g| joins_sets(g)).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Compares with a full sort, for sizes that are equal or close to each other.
    #[test]
    fn selection_agrees_with_a_full_sort() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let values = [0.0, 1e-300, 0.5, 1.0, 1.0 + 1e-15, 1.01, 7.0, f64::MAX];
        for k in [0.0, 1.0, 7.0, 100.0, 399.0, 1e6] {
            let sizes: Vec<u64> =
                (0..200).map(|_| f64::to_bits(values[rng.random_range(0..values.len())])).collect();
            let available: Vec<f64> = (0..200).map(|_| f64::from(rng.random_range(0..4))).collect();
            let mut order: Vec<usize> = (0..200).collect();
            order.sort_by_key(|&g| (Reverse(sizes[g]), g));
            let (mut expected, mut left) = (vec![0.0; 200], k);
            for g in order {
                expected[g] = available[g].min(left);
                left -= expected[g];
            }
            assert_eq!(largest(&sizes, &available, k), expected, "{k}");
        }
    }
}
