//! C2 from random Cauchy sketches, for graphs too large for a dense matrix.
//!
//! For independent Cauchy numbers a_k, Σ_k s_k a_k (xⱼᵀ L_c† x_k) is a Cauchy number whose scale is
//! the row sum. So u = L_c† Σ s_k a_k x_k is a sketch of all row sums at once: |u_i − u_j| for the
//! pair (i, j), and the median over sketches estimates its row sum, with a relative standard error
//! of π/(2√sketches). The row sums of the pairs with the largest estimates are then computed exactly.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::outlier_set::{OutlierPairs, OutlierSet, RowSums, keep_largest};
use crate::error::Result;
use crate::graph::Pairs;
use crate::identify::accuracy::Accuracy;
use crate::identify::resistance::COLUMNS;
use crate::laplacian::{Lanes, LaplacianSystem, StoppingRule};

/// Number of sketches (odd, for the median), and of candidates computed exactly.
const SKETCHES: (usize, usize) = (101, 32);
/// The same for graphs with more than [`MAX_PAIRS_ALL_SKETCHES`] pairs.
const FEWER_SKETCHES: (usize, usize) = (15, 8);
/// Maximum number of pairs for the larger number of sketches.
const MAX_PAIRS_ALL_SKETCHES: usize = 200_000;
/// Pairs for which one task draws random numbers, and for which they are drawn at a time.
const PAIRS_PER_TASK: usize = 1 << 12;
const PAIRS_PER_ROUND: usize = 1 << 18;
/// Accuracy of the solves for sketches: far below the sampling error.
const SKETCH_SOLVE: StoppingRule = StoppingRule::at(1e-4);

/// Returns the largest row sums outside S and, if `with_inside`, inside S; else that one is 0.
pub(super) fn row_sums(
    of: &OutlierSet<'_>,
    with_inside: bool,
    system: &LaplacianSystem,
) -> Result<RowSums> {
    let (n, pairs) = (of.graph.items(), of.graph.pairs());
    let set = OutlierPairs::new(pairs, of.outliers);
    let (sketches, candidates) =
        if pairs.len() > MAX_PAIRS_ALL_SKETCHES { FEWER_SKETCHES } else { SKETCHES };
    let mut blocks = Vec::new();
    for first in (0..sketches).step_by(COLUMNS) {
        let b = cauchy_votes(n, &set, first, COLUMNS.min(sketches - first));
        blocks.push(system.solve_block(b, &SKETCH_SOLVE)?);
    }
    let best = |inside: bool| {
        let included = |p: usize| if inside { of.has_outlier(p) } else { of.has_inlier(p) };
        largest_medians(pairs, &blocks, sketches, included, candidates)
    };
    let mut chosen = best(false);
    let outside = chosen.len();
    if with_inside {
        chosen.extend(best(true));
    }
    drop(blocks);
    let sums = set.row_sums_of(system, pairs, &chosen)?;
    let largest = |sums: &[f64]| sums.iter().fold(0.0, |largest: f64, sum| largest.max(*sum));
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates as u32,
        relative_error: std::f64::consts::FRAC_PI_2 / (sketches as f64).sqrt(),
    };
    let (outside, inside) = (largest(&sums[..outside]), largest(&sums[outside..]));
    Ok(RowSums { outside, inside, accuracy })
}

/// Returns the pairs for which `included` holds with the largest median of |u_i − u_j|, at most `count`.
fn largest_medians(
    pairs: &Pairs,
    blocks: &[Vec<Lanes<f64, COLUMNS>>],
    sketches: usize,
    included: impl Fn(usize) -> bool + Sync,
    count: usize,
) -> Vec<usize> {
    let of_task = |task: usize| {
        let range = task * PAIRS_PER_TASK..((task + 1) * PAIRS_PER_TASK).min(pairs.len());
        let mut best = Vec::with_capacity(2 * count);
        let (mut differences, mut limit) = (Vec::with_capacity(blocks.len() * COLUMNS), 0.0);
        for p in range.filter(|&p| included(p)) {
            let [a, b] = [pairs.left[p], pairs.right[p]].map(|i| i as usize);
            differences.clear();
            for u in blocks {
                differences.extend(u[a].iter().zip(&u[b]).map(|(a, b)| (a - b).abs()));
            }
            // The last columns are empty.
            differences.truncate(sketches);
            // The median is below the limit if most differences are; most pairs end here.
            if differences.iter().filter(|&&d| d >= limit).count() <= sketches / 2 {
                continue;
            }
            let median = *differences.select_nth_unstable_by(sketches / 2, f64::total_cmp).1;
            best.push((median, p));
            if best.len() == 2 * count {
                limit = keep_largest(&mut best, count);
            }
        }
        keep_largest(&mut best, count);
        best
    };
    let tasks = 0..pairs.len().div_ceil(PAIRS_PER_TASK);
    let mut best: Vec<(f64, usize)> = tasks.into_par_iter().flat_map_iter(of_task).collect();
    keep_largest(&mut best, count);
    best.into_iter().map(|(_, p)| p).collect()
}

/// Returns Σ s_k a_k x_k for `used` columns of Cauchy numbers a; the other columns are zero.
fn cauchy_votes(
    n: usize,
    set: &OutlierPairs,
    first: usize,
    used: usize,
) -> Vec<Lanes<f64, COLUMNS>> {
    let mut b = vec![[0.0; COLUMNS]; n];
    // Drawn in parallel, one stream of random numbers per task; added up in the order of the pairs.
    for (round, pairs) in set.pairs.chunks(PAIRS_PER_ROUND).enumerate() {
        let draw = |(task, pairs): (usize, &[(u32, u32, f64)])| {
            let mut rng = ChaCha8Rng::seed_from_u64(first as u64);
            rng.set_stream((round * PAIRS_PER_ROUND / PAIRS_PER_TASK + task) as u64);
            let mut lanes = || {
                let mut lanes = [0.0; COLUMNS];
                for a in &mut lanes[..used] {
                    *a = (std::f64::consts::PI * (rng.random::<f64>() - 0.5)).tan();
                }
                lanes
            };
            pairs.iter().map(|_| lanes()).collect::<Vec<_>>()
        };
        let drawn: Vec<_> = pairs.par_chunks(PAIRS_PER_TASK).enumerate().map(draw).collect();
        for (&(i, j, s), a) in pairs.iter().zip(drawn.iter().flatten()) {
            for (k, a) in a.iter().enumerate() {
                b[i as usize][k] += s * a;
                b[j as usize][k] -= s * a;
            }
        }
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    #[test]
    fn pairs_with_the_largest_medians_are_found() {
        let items = 300_u32;
        let vote = |k: u32| Comparison::new(k % items, (k * 7 + k / items + 1) % items, 1.0);
        let votes: Vec<Comparison> =
            (0..40_000).map(vote).filter(|vote| vote.left != vote.right).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let pairs = graph.pairs();
        assert!(pairs.len() > 2 * PAIRS_PER_TASK, "several tasks");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut lanes = |_| std::array::from_fn(|_| rng.random::<f64>());
        let blocks: Vec<Vec<Lanes<f64, COLUMNS>>> =
            (0..2).map(|_| (0..items).map(&mut lanes).collect()).collect();
        for (sketches, step) in [(15, 1), (21, 3)] {
            let median = |p: usize| {
                let [a, b] = [pairs.left[p], pairs.right[p]].map(|i| i as usize);
                let columns = (0..sketches).map(|k| (k / COLUMNS, k % COLUMNS));
                let mut all: Vec<f64> =
                    columns.map(|(u, k)| (blocks[u][a][k] - blocks[u][b][k]).abs()).collect();
                all.sort_by(f64::total_cmp);
                all[sketches / 2]
            };
            let included = |p: usize| p.is_multiple_of(step);
            let mut expected: Vec<usize> = (0..pairs.len()).filter(|&p| included(p)).collect();
            expected.sort_by(|&a, &b| median(b).total_cmp(&median(a)).then(a.cmp(&b)));
            expected.truncate(8);
            expected.sort_unstable();
            let used = sketches.div_ceil(COLUMNS);
            let mut found = largest_medians(pairs, &blocks[..used], sketches, included, 8);
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
