//! Conjugate gradients on the inlier Laplacian, preconditioned by its diagonal.
//!
//! For graphs that are too large for the dense inverse. The sparsity pattern is that of the comparison
//! graph; only the weights change. The unknown is the change of θ from one event to the next, so a
//! solve effectively starts from the previous solution.

use rayon::prelude::*;

use super::inlier_system::InlierSystem;
use crate::graph::ComparisonGraph;

const ROWS_PER_TASK: usize = 2048;
const MAX_STEPS: usize = 10_000;

pub(super) struct InlierConjugateGradient<'a> {
    graph: &'a ComparisonGraph,
    tolerance: f64,
    offsets: Vec<usize>,
    /// Column of each entry, and the pair that has its weight.
    entries: Vec<(u32, u32)>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    inverse_diagonal: Vec<f64>,
}

impl<'a> InlierConjugateGradient<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, tolerance: f64) -> Self {
        let (n, pairs) = (graph.items(), graph.pairs());
        let mut offsets = vec![0; n + 1];
        for &i in pairs.left.iter().chain(&pairs.right) {
            offsets[i as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut entries = vec![(0, 0); 2 * pairs.len()];
        for (p, (&i, &j)) in pairs.left.iter().zip(&pairs.right).enumerate() {
            for (row, column) in [(i, j), (j, i)] {
                entries[next[row as usize]] = (column, p as u32);
                next[row as usize] += 1;
            }
        }
        let zeros = || vec![0.0; n];
        let [r, p, q, inverse_diagonal] = [zeros(), zeros(), zeros(), zeros()];
        Self { graph, tolerance, offsets, entries, r, p, q, inverse_diagonal }
    }

    fn row(&self, i: usize) -> &[(u32, u32)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }

    /// q ← L_c p.
    fn multiply(&mut self, weights: &[f64]) {
        let mut q = std::mem::take(&mut self.q);
        let p = &self.p;
        q.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, q)| {
            for (k, q) in q.iter_mut().enumerate() {
                let i = task * ROWS_PER_TASK + k;
                let of = |&(j, pair): &(u32, u32)| weights[pair as usize] * (p[i] - p[j as usize]);
                *q = self.row(i).iter().map(of).sum();
            }
        });
        self.q = q;
    }
}

impl InlierSystem for InlierConjugateGradient<'_> {
    fn remove_weight(&mut self, _: (usize, usize), _: f64) -> Option<f64> {
        // No state depends on the weights.
        None
    }

    fn solve(&mut self, weights: &[f64], b: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.r.copy_from_slice(b);
        // Rounding errors leave a constant part in b, outside the range of L, on which the iteration
        // would diverge.
        self.graph.components().centre(&mut self.r);
        for i in 0..b.len() {
            let degree: f64 = self.row(i).iter().map(|&(_, pair)| weights[pair as usize]).sum();
            self.inverse_diagonal[i] = if degree > 0.0 { 1.0 / degree } else { 0.0 };
        }
        let scaled =
            |r: &[f64], d: &[f64]| -> f64 { r.iter().zip(d).map(|(r, d)| r * r * d).sum() };
        let mut rz = scaled(&self.r, &self.inverse_diagonal);
        let target = self.tolerance * self.tolerance * rz;
        self.p
            .iter_mut()
            .zip(self.r.iter().zip(&self.inverse_diagonal))
            .for_each(|(p, (r, d))| *p = r * d);
        for _ in 0..MAX_STEPS {
            if rz <= target {
                break;
            }
            self.multiply(weights);
            let pq: f64 = self.p.iter().zip(&self.q).map(|(p, q)| p * q).sum();
            if pq <= 0.0 {
                break;
            }
            let alpha = rz / pq;
            out.iter_mut().zip(&self.p).for_each(|(out, p)| *out += alpha * p);
            self.r.iter_mut().zip(&self.q).for_each(|(r, q)| *r -= alpha * q);
            let next = scaled(&self.r, &self.inverse_diagonal);
            let beta = next / rz;
            rz = next;
            let z = self.r.iter().zip(&self.inverse_diagonal);
            self.p.iter_mut().zip(z).for_each(|(p, (r, d))| *p = r * d + beta * *p);
        }
    }
}
