//! C2 from random sketches, for graphs too large for a full matrix.
//!
//! For independent Cauchy numbers a_k, Σ_k s_k a_k (xⱼᵀ L_c† x_k) is a Cauchy number whose scale is
//! the row sum. So u = L_c† Σ s_k a_k x_k holds a sketch of all row sums at once: |u_i − u_j| for the
//! pair (i, j), and the median over sketches estimates its row sum, with a relative standard error
//! of π/(2√sketches). The pairs with the largest estimates are then computed exactly.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{OutlierPairs, OutlierSet, RowSums};
use crate::error::Result;
use crate::identify::Accuracy;
use crate::laplacian::{LaplacianSystem, StoppingRule};

/// Sketches, odd for the median, and candidates computed of each kind; fewer for many pairs.
const SKETCHES: (usize, usize) = (101, 32);
const FEW_SKETCHES: (usize, usize) = (15, 8);
const MANY_PAIRS: usize = 200_000;
/// A sketch needs no more digits than its own error has.
const ROUGH: StoppingRule = StoppingRule::at(1e-4);
const CHECKED: StoppingRule = StoppingRule::at(1e-7);

/// Row sums inside S are looked for if `inside`, else they are 0.
pub(super) fn row_sums(
    of: &OutlierSet<'_>,
    inside: bool,
    system: &LaplacianSystem,
) -> Result<RowSums> {
    let (n, pairs) = (of.graph.items(), of.graph.pairs());
    let set = OutlierPairs::new(pairs, of.outliers);
    let (sketches, candidates) = if pairs.len() > MANY_PAIRS { FEW_SKETCHES } else { SKETCHES };
    let mut u = vec![0.0; n * sketches];
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for k in 0..sketches {
        let mut b = vec![0.0; n];
        for &(i, j, s) in &set.pairs {
            let cauchy = (std::f64::consts::PI * (rng.random::<f64>() - 0.5)).tan();
            b[i as usize] += s * cauchy;
            b[j as usize] -= s * cauchy;
        }
        let (x, _) = system.solve(&b, &ROUGH)?;
        // Numbers of one item side by side: a pair then touches two places.
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
        let wanted = |&p: &usize| if inside { of.is_in(p) } else { of.is_out(p) };
        let mut best: Vec<usize> = (0..pairs.len()).filter(wanted).collect();
        let count = candidates.min(best.len());
        if count == 0 {
            return Ok(0.0);
        }
        let order = |&a: &usize, &b: &usize| estimates[b].total_cmp(&estimates[a]).then(a.cmp(&b));
        best.select_nth_unstable_by(count - 1, order);
        let mut most = 0.0_f64;
        for &p in &best[..count] {
            let v = response(system, n, pairs.left[p], pairs.right[p], &CHECKED)?;
            most = most.max(set.row_sum(&v));
        }
        Ok(most)
    };
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates as u32,
        relative_error: std::f64::consts::FRAC_PI_2 / (sketches as f64).sqrt(),
    };
    let (outside, inside) = (largest(false)?, if inside { largest(true)? } else { 0.0 });
    Ok(RowSums { outside, inside, accuracy })
}

/// L† x for the pair (i, j).
pub(in crate::identify) fn response(
    system: &LaplacianSystem,
    n: usize,
    i: u32,
    j: u32,
    rule: &StoppingRule,
) -> Result<Vec<f64>> {
    let mut b = vec![0.0; n];
    b[i as usize] += 1.0;
    b[j as usize] -= 1.0;
    Ok(system.solve(&b, rule)?.0)
}
