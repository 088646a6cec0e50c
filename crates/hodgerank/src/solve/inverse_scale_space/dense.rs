//! M = L_c† as a dense matrix with rank-one updates (Sherman–Morrison).
//!
//! Subtracting w x xᵀ from L adds c v vᵀ to M with v = Mx and c = w / (1 − w xᵀv). Rounding errors
//! accumulate, fastest if 1 − w xᵀv is small. In that case, and after n updates, M is recomputed. This
//! costs n³, so an update costs n² on average.

use rayon::prelude::*;

use super::inlier_system::InlierSystem;
use crate::graph::ComparisonGraph;
use crate::laplacian::pseudo_inverse;

/// M is recomputed after n updates, but not before this number of them.
const MIN_UPDATES: usize = 64;
/// An update with 1 − w xᵀv below this would lose half of the digits.
const MIN_PIVOT: f64 = 1e-6;
/// Number of items from which rows are updated in parallel.
const MIN_PARALLEL_ITEMS: usize = 512;

/// M, stored row by row.
pub(super) struct DenseInverse<'a> {
    graph: &'a ComparisonGraph,
    n: usize,
    m: Vec<f64>,
    v: Vec<f64>,
    /// Updates since M was computed.
    updates: usize,
    needs_recompute: bool,
}

impl<'a> DenseInverse<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let n = graph.items();
        let mut new = Self {
            graph,
            n,
            m: vec![0.0; n * n],
            v: vec![0.0; n],
            updates: 0,
            needs_recompute: true,
        };
        new.recompute(&graph.pairs().weight);
        new
    }

    fn recompute(&mut self, weights: &[f64]) {
        // This fails only if rounding makes L indefinite. Then the old M is still the best one
        // available, and each fit is refined with its residual anyway.
        let (pairs, components) = (self.graph.pairs(), self.graph.components());
        if let Ok(m) = pseudo_inverse(pairs, weights, components) {
            self.m = m;
        }
        self.updates = 0;
        self.needs_recompute = false;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.m[i * self.n..(i + 1) * self.n]
    }
}

impl InlierSystem for DenseInverse<'_> {
    fn remove_weight(&mut self, (i, j): (usize, usize), w: f64) -> Option<f64> {
        self.updates += 1;
        if self.needs_recompute || self.updates > self.n.max(MIN_UPDATES) {
            self.needs_recompute = true;
            return None;
        }
        let mut v = std::mem::take(&mut self.v);
        let rows = self.row(i).iter().zip(self.row(j));
        v.iter_mut().zip(rows).for_each(|(v, (a, b))| *v = a - b);
        let leverage = w * (v[i] - v[j]);
        let pivot = 1.0 - leverage;
        if pivot < MIN_PIVOT {
            self.needs_recompute = true;
        } else {
            let update = |(row, &v_row): (&mut [f64], &f64)| {
                let c = w / pivot * v_row;
                row.iter_mut().zip(&v).for_each(|(m, v)| *m += c * v);
            };
            if self.n < MIN_PARALLEL_ITEMS {
                self.m.chunks_exact_mut(self.n).zip(&v).for_each(update);
            } else {
                self.m.par_chunks_exact_mut(self.n).zip(&v).for_each(update);
            }
        }
        self.v = v;
        Some(leverage)
    }

    fn solve(&mut self, weights: &[f64], b: &[f64], out: &mut [f64]) {
        if self.needs_recompute {
            self.recompute(weights);
        }
        out.fill(0.0);
        // b is nonzero only at the items of the groups that changed, often just two.
        for (i, &b) in b.iter().enumerate().filter(|&(_, &b)| b != 0.0) {
            out.iter_mut().zip(self.row(i)).for_each(|(out, m)| *out += b * m);
        }
    }
}
