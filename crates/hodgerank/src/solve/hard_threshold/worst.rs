//! The K votes that fit worst, less those that hold the rest together.
//!
//! Sizes |r| are counted by their leading bits. That tells in one pass which are large enough to go
//! and which to stay; only those with the same leading bits as the K-th have to be sorted.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::graph::{ComparisonGraph, Groups};

/// Bits of a number that is not negative: exponent and four digits lead, the others are cut off.
const CUT: u32 = 48;

/// The K votes of the largest |r|, the smaller group index first where they are equal, less those
/// that hold the rest together.
pub(super) fn worst(graph: &ComparisonGraph, scores: &[f64], k: f64) -> Vec<f64> {
    let groups = graph.groups();
    // The bits of numbers that are not negative sort as the numbers do.
    let sizes: Vec<u64> = graph.groups().residuals(scores).map(|r| r.abs().to_bits()).collect();
    let mut available = Cow::Borrowed(&groups.weight);
    loop {
        let removed = largest(&sizes, &available, k);
        let bonds = missing_bonds(graph, &removed, &sizes);
        if bonds.is_empty() {
            return removed;
        }
        for g in bonds {
            available.to_mut()[g] = groups.weight[g] - groups.weight[g].min(1.0);
        }
    }
}

/// How many votes of each group go if K of the largest size do.
fn largest(sizes: &[u64], available: &[f64], k: f64) -> Vec<f64> {
    let mut counts = vec![0.0; 1 << (u64::BITS - 1 - CUT)];
    for (size, votes) in sizes.iter().zip(available) {
        counts[(size >> CUT) as usize] += votes;
    }
    let (mut left, mut border) = (k, counts.len());
    while border > 0 {
        border -= 1;
        if counts[border] >= left {
            break;
        }
        left -= counts[border];
    }
    let mut at_border = Vec::new();
    let take = |(g, (size, votes)): (usize, (&u64, &f64))| {
        let leading = (size >> CUT) as usize;
        if leading == border {
            at_border.push((Reverse(*size), g));
        }
        if leading > border { *votes } else { 0.0 }
    };
    let mut removed: Vec<f64> = sizes.iter().zip(available).enumerate().map(take).collect();
    at_border.sort_unstable();
    for (_, g) in at_border {
        removed[g] = left.min(available[g]);
        left -= removed[g];
    }
    removed
}

/// Groups, the best fitting first, one vote of each of which would reconnect what is left.
fn missing_bonds(graph: &ComparisonGraph, removed: &[f64], sizes: &[u64]) -> Vec<usize> {
    let groups = graph.groups();
    let mut parts = Parts((0..graph.items() as u32).collect());
    let mut joins = graph.items() - graph.components().len();
    let gone = |g: &usize| removed[*g] >= groups.weight[*g];
    for g in (0..groups.len()).filter(|g| !gone(g)) {
        if joins == 0 {
            return Vec::new();
        }
        joins -= usize::from(parts.join(groups, g));
    }
    let mut lost: Vec<usize> = (0..groups.len()).filter(gone).collect();
    lost.sort_unstable_by_key(|&g| (sizes[g], Reverse(g)));
    lost.into_iter().filter(|&g| parts.join(groups, g)).collect()
}

/// Union–find.
struct Parts(Vec<u32>);

impl Parts {
    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let grandparent = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = grandparent;
            i = grandparent;
        }
        i
    }

    /// Whether the group connects two parts; from now on they are one.
    fn join(&mut self, groups: &Groups, g: usize) -> bool {
        let (a, b) = (self.root(groups.left[g]), self.root(groups.right[g]));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Against a sort of everything, with equal sizes and sizes close to each other.
    #[test]
    fn the_largest_are_those_of_a_sort() {
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
