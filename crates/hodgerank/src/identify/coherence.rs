//! C2: can a good vote be mistaken for a combination of outliers?
//!
//! With s_k outliers on pair k, the row sum of a vote on pair j is
//!
//!   Σ_k s_k |xⱼᵀ L_c† x_k|,
//!
//! an ℓ₁ norm. Two ways to its maximum over j:
//!
//! | way | cost |
//! |---|---|
//! | L_c† as a matrix, all j and k | n³ + pairs · pairs with outliers |
//! | Cauchy sketches | one solve with L_c each, then one for each candidate |
//!
//! For independent Cauchy numbers a_k, Σ_k s_k a_k (xⱼᵀ L_c† x_k) is a Cauchy number whose scale is
//! the row sum. So u = L_c† Σ s_k a_k x_k holds a sketch of all row sums at once: |u_i − u_j| for the
//! pair (i, j), and the median over sketches estimates its row sum, with a relative standard error
//! of π/(2√sketches). The pairs with the largest estimates are then computed exactly.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Accuracy;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Pairs};
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule, pseudo_inverse};

/// Items up to which L_c† is formed: 32 MB.
const DENSE_MOST_ITEMS: usize = 2000;
/// Sketches, odd for the median, and candidates computed of each kind; fewer for many pairs.
const SKETCHES: (usize, usize) = (101, 32);
const FEW_SKETCHES: (usize, usize) = (15, 8);
const MANY_PAIRS: usize = 200_000;
/// A sketch needs no more digits than its own error has.
const ROUGH: StoppingRule = StoppingRule { tolerance: 1e-4, max_iterations: 10_000 };
const CHECKED: StoppingRule = StoppingRule { tolerance: 1e-7, max_iterations: 10_000 };

/// The largest row sums of votes outside and inside S.
pub(super) struct RowSums {
    pub(super) outside: f64,
    pub(super) inside: f64,
    pub(super) accuracy: Accuracy,
}

/// `outliers`: votes of S on each pair; `inliers`: the graph without them, as connected as the
/// whole. Row sums inside S are looked for if `inside`. At most `work` steps for the exact way.
pub(super) fn row_sums(
    graph: &ComparisonGraph,
    inliers: &ComparisonGraph,
    outliers: &[f64],
    inside: bool,
    work: f64,
) -> Result<RowSums> {
    let pairs = graph.pairs();
    let set = OutlierPairs::new(pairs, outliers);
    let steps = pairs.len() as f64 * set.pairs.len() as f64;
    if graph.items() <= DENSE_MOST_ITEMS && steps <= work {
        let weights: Vec<f64> = pairs.weight.iter().zip(outliers).map(|(w, s)| w - s).collect();
        let inverse = pseudo_inverse(pairs, &weights, graph.components())?;
        return Ok(exact(pairs, outliers, &set, &inverse, graph.items()));
    }
    let system = LaplacianSystem::new(inliers, 0.0, BackendChoice::Auto)?;
    sketched(graph, outliers, &set, inside, &system)
}

/// The pairs with outliers: their ends and how many.
struct OutlierPairs {
    pairs: Vec<(u32, u32, f64)>,
}

impl OutlierPairs {
    fn new(pairs: &Pairs, outliers: &[f64]) -> Self {
        let ends = pairs.left.iter().zip(&pairs.right).zip(outliers);
        let pairs = ends.filter(|(_, s)| **s > 0.0).map(|((&a, &b), &s)| (a, b, s)).collect();
        Self { pairs }
    }

    /// Σ_k s_k |v_a − v_b| with v = L_c† xⱼ.
    fn row_sum(&self, v: &[f64]) -> f64 {
        self.pairs.iter().map(|&(a, b, s)| s * (v[a as usize] - v[b as usize]).abs()).sum()
    }
}

fn exact(
    pairs: &Pairs,
    outliers: &[f64],
    set: &OutlierPairs,
    inverse: &[f64],
    n: usize,
) -> RowSums {
    let row = |i: u32| &inverse[i as usize * n..(i as usize + 1) * n];
    let sums = (0..pairs.len()).into_par_iter().map_init(
        || vec![0.0; n],
        |v, j| {
            let ends = row(pairs.left[j]).iter().zip(row(pairs.right[j]));
            v.iter_mut().zip(ends).for_each(|(v, (a, b))| *v = a - b);
            let sum = set.row_sum(v);
            let outside = if pairs.weight[j] > outliers[j] { sum } else { 0.0 };
            (outside, if outliers[j] > 0.0 { sum } else { 0.0 })
        },
    );
    let larger = |a: (f64, f64), b: (f64, f64)| (a.0.max(b.0), a.1.max(b.1));
    let (outside, inside) = sums.reduce(|| (0.0, 0.0), larger);
    RowSums { outside, inside, accuracy: Accuracy::Exact }
}

fn sketched(
    graph: &ComparisonGraph,
    outliers: &[f64],
    set: &OutlierPairs,
    inside: bool,
    system: &LaplacianSystem,
) -> Result<RowSums> {
    let (n, pairs) = (graph.items(), graph.pairs());
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
        let is_in = |&p: &usize| outliers[p] > 0.0;
        let is_out = |&p: &usize| pairs.weight[p] > outliers[p];
        let mut best: Vec<usize> =
            (0..pairs.len()).filter(|p| if inside { is_in(p) } else { is_out(p) }).collect();
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
pub(super) fn response(
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
