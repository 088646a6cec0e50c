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
use crate::identify::resistance::potentials;
use crate::laplacian::{LaplacianSystem, StoppingRule};

/// Number of sketches (odd, for the median), and of candidates computed exactly.
const SKETCHES: (usize, usize) = (101, 32);
/// The same for graphs with more than [`MAX_PAIRS_ALL_SKETCHES`] pairs.
const FEWER_SKETCHES: (usize, usize) = (15, 8);
/// Maximum number of pairs for the larger number of sketches.
const MAX_PAIRS_ALL_SKETCHES: usize = 200_000;
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
    let mut u = vec![0.0; n * sketches];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for k in 0..sketches {
        let mut b = vec![0.0; n];
        for &(i, j, s) in &set.pairs {
            let cauchy = (std::f64::consts::PI * (rng.random::<f64>() - 0.5)).tan();
            b[i as usize] += s * cauchy;
            b[j as usize] -= s * cauchy;
        }
        let (x, _) = system.solve(&b, &SKETCH_SOLVE)?;
        // Item-major, so that a pair reads two contiguous ranges.
        x.iter().enumerate().for_each(|(i, &x)| u[i * sketches + k] = x);
    }
    let estimate = |median: &mut Vec<f64>, p: usize| {
        let [a, b] = [pairs.left[p], pairs.right[p]].map(|i| i as usize * sketches);
        let differences = u[a..a + sketches].iter().zip(&u[b..b + sketches]);
        median.clear();
        median.extend(differences.map(|(a, b)| (a - b).abs()));
        *median.select_nth_unstable_by(sketches / 2, f64::total_cmp).1
    };
    let estimates: Vec<f64> =
        (0..pairs.len()).into_par_iter().map_init(Vec::new, estimate).collect();
    let largest = |inside: bool| -> Result<f64> {
        let included = |&p: &usize| if inside { of.has_outlier(p) } else { of.has_inlier(p) };
        let mut best: Vec<usize> = (0..pairs.len()).filter(included).collect();
        let count = candidates.min(best.len());
        if count == 0 {
            return Ok(0.0);
        }
        let order = |&a: &usize, &b: &usize| estimates[b].total_cmp(&estimates[a]).then(a.cmp(&b));
        best.select_nth_unstable_by(count - 1, order);
        let mut largest = 0.0_f64;
        for &p in &best[..count] {
            let v = potentials(system, n, pairs.left[p], pairs.right[p], &CANDIDATE_SOLVE)?;
            largest = largest.max(set.row_sum(&v));
        }
        Ok(largest)
    };
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates as u32,
        relative_error: std::f64::consts::FRAC_PI_2 / (sketches as f64).sqrt(),
    };
    let (outside, inside) = (largest(false)?, if with_inside { largest(true)? } else { 0.0 });
    Ok(RowSums { outside, inside, accuracy })
}
