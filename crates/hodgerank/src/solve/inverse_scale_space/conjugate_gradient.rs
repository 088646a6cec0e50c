//! Conjugate gradients on the inlier Laplacian, preconditioned by its diagonal.
//!
//! For graphs that are too large for the dense inverse. The sparsity pattern is that of the comparison
//! graph; only the weights change. The unknown is the change of θ from one event to the next, so a
//! solve effectively starts from the previous solution.

use rayon::prelude::*;

use super::inlier_system::InlierSystem;
use crate::graph::ComparisonGraph;
use crate::numeric::{ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot};

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
}

/// The inlier Laplacian with these weights on the pairs.
struct WeightedSystem<'a> {
    offsets: &'a [usize],
    entries: &'a [(u32, u32)],
    weights: &'a [f64],
    inverse_diagonal: &'a mut [f64],
    tolerance: f64,
    /// rᵀz that is small enough.
    target: f64,
}

impl WeightedSystem<'_> {
    fn row(&self, i: usize) -> &[(u32, u32)] {
        &self.entries[self.offsets[i]..self.offsets[i + 1]]
    }

    /// rᵀz, in the order (r·r)·d.
    fn rz(&self, r: &[f64]) -> Option<f64> {
        let rz = r.iter().zip(&*self.inverse_diagonal).map(|(r, d)| r * r * d).sum();
        (rz > self.target).then_some(rz)
    }
}

impl ConjugateGradientSystem for WeightedSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        for i in 0..vectors.r.len() {
            let degree: f64 =
                self.row(i).iter().map(|&(_, pair)| self.weights[pair as usize]).sum();
            self.inverse_diagonal[i] = if degree > 0.0 { 1.0 / degree } else { 0.0 };
        }
        let rz = self.rz(vectors.r)?;
        self.target = self.tolerance * self.tolerance * rz;
        self.rz(vectors.r)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        q.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, q)| {
            for (k, q) in q.iter_mut().enumerate() {
                let i = task * ROWS_PER_TASK + k;
                let of =
                    |&(j, pair): &(u32, u32)| self.weights[pair as usize] * (p[i] - p[j as usize]);
                *q = self.row(i).iter().map(of).sum();
            }
        });
        dot(p, q)
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        vectors.step(alpha);
        self.rz(vectors.r)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        let z = vectors.r.iter().zip(&*self.inverse_diagonal).map(|(r, d)| r * d);
        vectors.p.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p);
    }
}

impl InlierSystem for InlierConjugateGradient<'_> {
    fn remove_weight(&mut self, _: (usize, usize), _: f64) -> Option<f64> {
        // No state depends on the weights.
        None
    }

    fn solve(&mut self, weights: &[f64], b: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        self.r.copy_from_slice(b);
        // Rounding errors leave a constant part in b, outside the range of L, on which the iteration
        // would diverge.
        self.graph.components().centre(&mut self.r);
        let Self { tolerance, offsets, entries, r, p, q, inverse_diagonal, .. } = &mut *self;
        let (tolerance, target) = (*tolerance, 0.0);
        let mut system =
            WeightedSystem { offsets, entries, weights, inverse_diagonal, tolerance, target };
        conjugate_gradients(&mut system, ConjugateGradientVectors { x: out, r, p, q }, MAX_STEPS);
        b.copy_from_slice(&self.r);
    }
}
