//! M = L_c† as a matrix, kept up to date by rank-one changes (Sherman and Morrison).
//!
//! Taking w x xᵀ off L adds c v vᵀ to M with v = Mx and c = w / (1 − w xᵀv). Rounding adds up, and
//! most where 1 − w xᵀv is small: then, and after n changes, M is computed anew. That takes n³, so
//! that a change costs n² on average in any case.

use rayon::prelude::*;

use super::inliers::InlierSystem;
use crate::graph::ComparisonGraph;
use crate::laplacian::pseudo_inverse;

/// Fewest changes before M is computed anew.
const MIN_CHANGES: usize = 64;
/// Below this a change would lose half of the digits.
const MIN_PIVOT: f64 = 1e-6;
/// From so many items on, rows are changed in parallel.
const PARALLEL_ITEMS: usize = 512;

pub(super) struct Dense<'a> {
    graph: &'a ComparisonGraph,
    n: usize,
    /// Row by row; symmetric.
    m: Vec<f64>,
    v: Vec<f64>,
    changes: usize,
    stale: bool,
}

impl<'a> Dense<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let n = graph.items();
        let mut new =
            Self { graph, n, m: vec![0.0; n * n], v: vec![0.0; n], changes: 0, stale: true };
        new.compute(&graph.pairs().weight);
        new
    }

    fn compute(&mut self, weights: &[f64]) {
        // It can break down only if rounding makes L indefinite; the old M, with its drift, is
        // then still the best there is, and each fit is refined by its residual anyway.
        let (pairs, components) = (self.graph.pairs(), self.graph.components());
        if let Ok(m) = pseudo_inverse(pairs, weights, components) {
            self.m = m;
        }
        self.changes = 0;
        self.stale = false;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.m[i * self.n..(i + 1) * self.n]
    }
}

impl InlierSystem for Dense<'_> {
    fn take_away(&mut self, (i, j): (usize, usize), w: f64) -> Option<f64> {
        self.changes += 1;
        if self.stale || self.changes > self.n.max(MIN_CHANGES) {
            self.stale = true;
            return None;
        }
        let mut v = std::mem::take(&mut self.v);
        let rows = self.row(i).iter().zip(self.row(j));
        v.iter_mut().zip(rows).for_each(|(v, (a, b))| *v = a - b);
        let leverage = w * (v[i] - v[j]);
        let pivot = 1.0 - leverage;
        if pivot < MIN_PIVOT {
            self.stale = true;
        } else {
            let add = |(row, &of_row): (&mut [f64], &f64)| {
                let c = w / pivot * of_row;
                row.iter_mut().zip(&v).for_each(|(m, v)| *m += c * v);
            };
            if self.n < PARALLEL_ITEMS {
                self.m.chunks_exact_mut(self.n).zip(&v).for_each(add);
            } else {
                self.m.par_chunks_exact_mut(self.n).zip(&v).for_each(add);
            }
        }
        self.v = v;
        Some(leverage)
    }

    fn solve(&mut self, weights: &[f64], b: &[f64], out: &mut [f64]) {
        if self.stale {
            self.compute(weights);
        }
        out.fill(0.0);
        // b is zero but at the ends of the groups that changed, mostly two items.
        for (i, &b) in b.iter().enumerate().filter(|&(_, &b)| b != 0.0) {
            out.iter_mut().zip(self.row(i)).for_each(|(out, m)| *out += b * m);
        }
    }
}
