//! C2 from random Cauchy sketches, for graphs too large for a dense matrix.
//!
//! For independent Cauchy numbers a_k, Σ_k s_k a_k (xⱼᵀ L_c† x_k) is a Cauchy number whose scale is
//! the row sum. So u = L_c† Σ s_k a_k x_k is a sketch of all row sums at once: |u_i − u_j| for the
//! pair (i, j), and the median over sketches estimates its row sum, with a relative standard error
//! of π/(2√sketches). The row sums of the pairs with the largest estimates are then computed exactly.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::outlier_set::{OutlierPairs, OutlierSet, RowSums};
use crate::error::Result;
use crate::identify::accuracy::Accuracy;
use crate::identify::resistance::{COLUMNS, FEWER_COLUMNS, potentials};
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
/// Accuracy of the solves for candidates.
const CANDIDATE_SOLVE: StoppingRule = StoppingRule::at(1e-7);

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
    let estimate = |median: &mut Vec<f64>, p: usize| {
        let [a, b] = [pairs.left[p], pairs.right[p]].map(|i| i as usize);
        median.clear();
        for u in &blocks {
            median.extend(u[a].iter().zip(&u[b]).map(|(a, b)| (a - b).abs()));
        }
        // The last columns are empty.
        median.truncate(sketches);
        *median.select_nth_unstable_by(sketches / 2, f64::total_cmp).1
    };
    let estimates: Vec<f64> =
        (0..pairs.len()).into_par_iter().map_init(Vec::new, estimate).collect();
    drop(blocks);
    let best = |inside: bool| -> Vec<usize> {
        let included = |&p: &usize| if inside { of.has_outlier(p) } else { of.has_inlier(p) };
        let mut best: Vec<usize> = (0..pairs.len()).filter(included).collect();
        let order = |&a: &usize, &b: &usize| estimates[b].total_cmp(&estimates[a]).then(a.cmp(&b));
        if best.len() > candidates {
            best.select_nth_unstable_by(candidates - 1, order);
            best.truncate(candidates);
        }
        best
    };
    let mut chosen = best(false);
    let outside = chosen.len();
    if with_inside {
        chosen.extend(best(true));
    }
    let mut sums = Vec::with_capacity(chosen.len());
    for block in chosen.chunks(FEWER_COLUMNS) {
        let v = potentials::<FEWER_COLUMNS>(system, pairs, block, &CANDIDATE_SOLVE)?;
        sums.extend_from_slice(&set.row_sums(&v)[..block.len()]);
    }
    let largest = |sums: &[f64]| sums.iter().fold(0.0, |largest: f64, sum| largest.max(*sum));
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates as u32,
        relative_error: std::f64::consts::FRAC_PI_2 / (sketches as f64).sqrt(),
    };
    let (outside, inside) = (largest(&sums[..outside]), largest(&sums[outside..]));
    Ok(RowSums { outside, inside, accuracy })
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
