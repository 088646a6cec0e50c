//! Newton's linear system (L_I + μD) δ = b on large sparse graphs of inliers.
//!
//! At small λ an item has only a few inliers: many items hang on one inlier or lie between two, and such
//! trees and chains make conjugate gradients slow. They are eliminated exactly. An item v with the inliers
//! (a, w_a) and (b, w_b) and the excess e_v of its diagonal over their weights has the pivot
//! p = w_a + w_b + e_v; eliminating it adds the edge w_a w_b / p between a and b and the excess
//! e_v w_a / p to a, and likewise to b. No numbers are subtracted. This is repeated until every item that
//! is left, the core, has three or more edges.
//!
//! The residual at eliminated items is zero, so that a residual bound for the core holds for the whole
//! system. The core is solved by conjugate gradients with its diagonal as preconditioner. Its rows are stored
//! next to each other, so that a product reads each entry once and writes each sum once; products of
//! [`Pass`] add up one vector over all items for each chunk of votes, which is more work than the inliers
//! themselves if these are few.
//!
//! Cost: inliers + items for the elimination, on one thread; core edges × iterations, on all threads, in
//! blocks of rows that do not depend on the number of threads. 40 bytes per inlier.

use rayon::prelude::*;

use super::pass::Pass;
use crate::numeric::{
    ConjugateGradientRun, ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients,
};

/// An edge that does not exist any more, or no item.
const NONE: u32 = u32::MAX;
/// Number of edges up to which an item is eliminated.
const MAX_ELIMINATED_DEGREE: u32 = 2;
/// Rows of the core that one task works on, and whose sums are added up in order.
const BLOCK: usize = 1 << 13;

/// The eliminated items and the core.
#[derive(Debug, Default)]
pub(super) struct InlierCore {
    graph: HalfEdges,
    eliminated: Vec<EliminatedItem>,
    /// The items of the core.
    items: Vec<u32>,
    /// Where the entries of each row of the core end.
    ends: Vec<u32>,
    /// The entries beside the diagonal: position in the core, and weight.
    columns: Vec<u32>,
    weights: Vec<f64>,
    diagonal: Vec<f64>,
    /// b after the elimination, for all items.
    reduced: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

/// Each edge twice, once at each of its items. Those of item v are at `starts[v]..starts[v + 1]`.
#[derive(Debug, Default)]
struct HalfEdges {
    starts: Vec<u32>,
    /// The item at the other end; [`NONE`] for a removed edge.
    other: Vec<u32>,
    /// Where the other half is.
    twin: Vec<u32>,
    weight: Vec<f64>,
    /// Number of edges of each item; [`NONE`] for eliminated items.
    degree: Vec<u32>,
    /// Excess of the diagonal over the weights of the edges.
    excess: Vec<f64>,
    /// Items that may be eliminated next.
    queue: Vec<u32>,
}

/// x = b/pivot + Σ factor · (x of the neighbour).
#[derive(Debug, Clone, Copy)]
struct EliminatedItem {
    item: u32,
    pivot: f64,
    neighbours: [(u32, f64); 2],
}

impl InlierCore {
    /// Eliminates what can be eliminated exactly for the inliers of the last evaluation of `pass`.
    pub(super) fn eliminate(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        self.graph.load(pass, degrees, damping);
        self.eliminated.clear();
        while let Some(v) = self.graph.queue.pop() {
            if self.graph.degree[v as usize] != NONE {
                self.eliminated.push(self.graph.eliminate(v));
            }
        }
        self.list_core();
    }

    /// Writes δ with max|b − Aδ| ≤ `target`, as far as `max_steps` conjugate-gradient steps allow.
    pub(super) fn solve(
        &mut self,
        b: &[f64],
        target: f64,
        max_steps: usize,
        delta: &mut [f64],
    ) -> ConjugateGradientRun {
        let Self { eliminated, items, reduced, x, r, z, p, q, .. } = self;
        reduced.clear();
        reduced.extend_from_slice(b);
        for step in eliminated.iter() {
            let b = reduced[step.item as usize];
            for &(neighbour, factor) in &step.neighbours {
                if neighbour != NONE {
                    reduced[neighbour as usize] += factor * b;
                }
            }
        }
        r.clear();
        r.extend(items.iter().map(|&v| reduced[v as usize]));
        x.clear();
        for vector in [&mut *x, z, p, q] {
            vector.resize(r.len(), 0.0);
        }
        let (columns, weights) = (&self.columns[..], &self.weights[..]);
        let (ends, diagonal) = (&self.ends[..], &self.diagonal[..]);
        let mut system = CoreSystem { ends, columns, weights, diagonal, target, z };
        let run =
            conjugate_gradients(&mut system, ConjugateGradientVectors { x, r, p, q }, max_steps);
        for (&v, &x) in self.items.iter().zip(&self.x) {
            delta[v as usize] = x;
        }
        for step in self.eliminated.iter().rev() {
            let EliminatedItem { item, pivot, neighbours } = *step;
            let v = item as usize;
            let mut x = if pivot > 0.0 { self.reduced[v] / pivot } else { 0.0 };
            for (neighbour, factor) in neighbours {
                if neighbour != NONE {
                    x += factor * delta[neighbour as usize];
                }
            }
            delta[v] = x;
        }
        run
    }

    /// Stores the rows of the items that are left next to each other.
    fn list_core(&mut self) {
        let HalfEdges { starts, other, weight, degree, excess, queue, .. } = &mut self.graph;
        // The queue is empty; its memory holds the positions in the core.
        let positions = queue;
        positions.resize(degree.len(), NONE);
        self.items.clear();
        for (v, _) in degree.iter().enumerate().filter(|(_, degree)| **degree != NONE) {
            positions[v] = self.items.len() as u32;
            self.items.push(v as u32);
        }
        self.ends.clear();
        self.columns.clear();
        self.weights.clear();
        self.diagonal.clear();
        for &v in &self.items {
            let v = v as usize;
            let mut diagonal = excess[v];
            for k in starts[v] as usize..starts[v + 1] as usize {
                if other[k] != NONE {
                    self.columns.push(positions[other[k] as usize]);
                    self.weights.push(weight[k]);
                    diagonal += weight[k];
                }
            }
            self.ends.push(self.columns.len() as u32);
            self.diagonal.push(diagonal);
        }
        positions.clear();
    }
}

impl HalfEdges {
    fn load(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let n = degrees.len();
        self.excess.clear();
        self.excess.extend(degrees.iter().map(|degree| damping * degree));
        self.degree.clear();
        self.degree.resize(n, 0);
        pass.for_each_inlier(|left, right, _| {
            self.degree[left] += 1;
            self.degree[right] += 1;
        });
        self.starts.clear();
        let mut halves = 0;
        for &degree in &self.degree {
            self.starts.push(halves);
            halves += degree;
        }
        for list in [&mut self.other, &mut self.twin] {
            list.resize(halves as usize, 0);
        }
        self.weight.resize(halves as usize, 0.0);
        let Self { starts, other, twin, weight, .. } = self;
        // Each start moves to the end of its item, which is the start of the next one.
        pass.for_each_inlier(|left, right, w| {
            let (at_left, at_right) = (starts[left], starts[right]);
            starts[left] += 1;
            starts[right] += 1;
            for (at, item, opposite) in [(at_left, right, at_right), (at_right, left, at_left)] {
                other[at as usize] = item as u32;
                twin[at as usize] = opposite;
                weight[at as usize] = w;
            }
        });
        starts.insert(0, 0);
        self.queue.clear();
        let small = |v: &u32| self.degree[*v as usize] <= MAX_ELIMINATED_DEGREE;
        self.queue.extend((0..n as u32).filter(small));
    }

    /// Eliminates v, which has at most two edges.
    fn eliminate(&mut self, v: u32) -> EliminatedItem {
        let range = self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize;
        let mut edges = [None; 2];
        let mut found = 0;
        for k in range {
            if self.other[k] != NONE {
                edges[found] = Some((self.other[k], self.weight[k], self.twin[k]));
                found += 1;
            }
        }
        self.degree[v as usize] = NONE;
        let excess = self.excess[v as usize];
        let pivot = excess + edges.iter().flatten().map(|edge| edge.1).sum::<f64>();
        let mut neighbours = [(NONE, 0.0); 2];
        for (neighbour, edge) in neighbours.iter_mut().zip(&edges) {
            if let Some((item, weight, _)) = *edge {
                *neighbour = (item, weight / pivot);
                self.excess[item as usize] += excess * (weight / pivot);
            }
        }
        match edges {
            [Some((a, w_a, at_a)), Some((b, w_b, at_b))] if a != b => {
                for (at, item, twin) in [(at_a, b, at_b), (at_b, a, at_a)] {
                    self.other[at as usize] = item;
                    self.twin[at as usize] = twin;
                    self.weight[at as usize] = w_a * (w_b / pivot);
                }
            }
            _ => edges.iter().flatten().for_each(|&(item, _, at)| self.remove(item, at)),
        }
        EliminatedItem { item: v, pivot, neighbours }
    }

    /// Removes the half edge `at` of an item.
    fn remove(&mut self, item: u32, at: u32) {
        self.other[at as usize] = NONE;
        let degree = &mut self.degree[item as usize];
        *degree -= 1;
        if *degree <= MAX_ELIMINATED_DEGREE {
            self.queue.push(item);
        }
    }
}

/// The matrix of the core with its diagonal as preconditioner.
struct CoreSystem<'a> {
    ends: &'a [u32],
    columns: &'a [u32],
    weights: &'a [f64],
    diagonal: &'a [f64],
    target: f64,
    z: &'a mut [f64],
}

impl CoreSystem<'_> {
    /// x ← x + αp, r ← r − αq, z = M⁻¹r; returns rᵀz and max|r|.
    fn update(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> (f64, f64) {
        let ConjugateGradientVectors { x, r, p, q } = vectors;
        let written = x.par_chunks_mut(BLOCK).zip(r.par_chunks_mut(BLOCK));
        let written = written.zip(self.z.par_chunks_mut(BLOCK));
        let read = p.par_chunks(BLOCK).zip(q.par_chunks(BLOCK));
        let read = read.zip(self.diagonal.par_chunks(BLOCK));
        let blocks = written.zip(read).map(|(((x, r), z), ((p, q), diagonal))| {
            let (mut rz, mut largest) = (0.0, 0.0_f64);
            for k in 0..x.len() {
                x[k] += alpha * p[k];
                r[k] -= alpha * q[k];
                z[k] = r[k] / diagonal[k];
                rz += r[k] * z[k];
                largest = largest.max(r[k].abs());
            }
            (rz, largest)
        });
        let blocks: Vec<(f64, f64)> = blocks.collect();
        blocks.iter().fold((0.0, 0.0), |(rz, max), block| (rz + block.0, block.1.max(max)))
    }
}

impl ConjugateGradientSystem for CoreSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let (rz, largest) = self.update(0.0, vectors);
        (largest > self.target).then_some(rz)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        let Self { ends, columns, weights, diagonal, .. } = *self;
        let block = |(block, q): (usize, &mut [f64])| {
            let first = block * BLOCK;
            let mut start = if first > 0 { ends[first - 1] as usize } else { 0 };
            let mut pq = 0.0;
            for (row, q) in (first..).zip(q) {
                let entries = start..ends[row] as usize;
                start = entries.end;
                let entries = columns[entries.clone()].iter().zip(&weights[entries]);
                let sum: f64 = entries.map(|(&column, &w)| w * p[column as usize]).sum();
                *q = diagonal[row] * p[row] - sum;
                pq += p[row] * *q;
            }
            pq
        };
        let blocks: Vec<f64> = q.par_chunks_mut(BLOCK).enumerate().map(block).collect();
        blocks.iter().sum()
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let (rz, largest) = self.update(alpha, vectors);
        (largest > self.target).then_some(rz)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        let blocks = vectors.p.par_chunks_mut(BLOCK).zip(self.z.par_chunks(BLOCK));
        blocks.for_each(|(p, z)| p.iter_mut().zip(z).for_each(|(p, z)| *p = z + beta * *p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::largest_magnitude;
    use crate::{Comparison, ComparisonGraph, Groups};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Solves with all votes as inliers; returns the largest residual and the size of the core.
    fn solve(n: usize, edges: &[(usize, usize)], damping: f64) -> (f64, usize) {
        let vote = |&(i, j): &(usize, usize)| {
            let count = 1 + (i + 2 * j) as u64 % 3;
            Comparison::new(i as u32, j as u32, 0.0).with_count(count)
        };
        let votes: Vec<_> = edges.iter().map(vote).collect();
        let groups = Groups::merge(n, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(n, groups).unwrap();
        let (mut pass, mut product) = (Pass::new(&graph), vec![0.0; n]);
        let mut delta = vec![0.0; n];
        pass.negative_gradient(&delta, 1.0, &mut product);
        let mut degrees = vec![0.0; n];
        pass.inlier_degrees(&mut degrees);
        let b: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 11) as f64 - 5.0).collect();
        let b: Vec<f64> =
            b.iter().zip(&degrees).map(|(b, d)| if *d > 0.0 { *b } else { 0.0 }).collect();
        let mut core = InlierCore::default();
        // Twice: what was eliminated before must not matter.
        core.eliminate(&pass, &degrees, 1.0);
        core.eliminate(&pass, &degrees, damping);
        assert!(core.solve(&b, 1e-9, 500, &mut delta).is_finished);
        pass.inlier_laplacian(&delta, &mut product);
        let r: Vec<f64> =
            (0..n).map(|i| b[i] - product[i] - damping * degrees[i] * delta[i]).collect();
        (largest_magnitude(&r), core.items.len())
    }

    #[test]
    fn trees_cycles_and_isolated_items_leave_no_core() {
        let tree: Vec<_> = (1..200).map(|i| (i / 3, i)).collect();
        let star: Vec<_> = (1..200).map(|i| (0, i)).collect();
        let cycle: Vec<_> = (0..200).map(|i| (i, (i + 1) % 200)).collect();
        for edges in [tree, star, cycle] {
            let (residual, core) = solve(203, &edges, 1e-3);
            assert!(residual < 1e-9 && core == 0, "{residual:e}, core of {core} items");
        }
    }

    #[test]
    fn residuals_of_sparse_random_graphs_meet_the_target() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for per_item in [1, 2, 4] {
            let n = 20_000;
            let edge = |_| {
                let i = rng.random_range(0..n);
                (i, (i + rng.random_range(1..n)) % n)
            };
            let edges: Vec<_> = (0..per_item * n).map(edge).collect();
            let (residual, core) = solve(n, &edges, 1e-2);
            assert!(residual < 2e-9 && core < n, "{residual:e}, core of {core} items");
            assert!(core > BLOCK || per_item == 1, "{core}");
        }
    }
}
