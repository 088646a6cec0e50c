//! The operator M = W⁻¹CᵀD⁻¹C of [`super::curl`], with triangles stored or enumerated each time.
//!
//! | | stored | enumerated |
//! |---|---|---|
//! | when | at most 16 million triangles | more |
//! | memory | 40 bytes per triangle | 48 bytes per edge |
//! | cost of Mf | six reads per triangle | Σ over edges of the smaller degree |

use std::ops::Range;

use rayon::prelude::*;

use super::adjacency::Adjacency;
use crate::numeric::sum_tasks;

/// Maximum number of triangles that are stored.
const MAX_STORED: usize = 1 << 24;
/// Triangles or edges per task. Fixed, so that sums do not depend on the number of threads.
const PER_TASK: usize = 4096;
/// Triangle candidates per task.
const CANDIDATES_PER_TASK: u64 = 1 << 17;

/// M, with workspace for its application.
pub(super) struct CurlOperator<'a> {
    adjacency: &'a Adjacency,
    inverse_weight: Vec<f64>,
    triangles: TriangleAccess,
}

enum TriangleAccess {
    Stored(StoredTriangles),
    Enumerated(EnumeratedTriangles),
}

/// All triangles in memory.
struct StoredTriangles {
    /// The edges ab, bc and ac of each triangle.
    triangles: Vec<[u32; 3]>,
    /// D⁻¹, and D⁻¹Cf of the last application.
    inverse: Vec<f64>,
    scaled: Vec<f64>,
    /// The triangles of edge `e` are `incident[start[e]..start[e + 1]]`, each as twice its index,
    /// plus one if the edge counts negatively.
    start: Vec<usize>,
    incident: Vec<u32>,
}

/// Triangles enumerated from the neighbour lists at each application.
struct EnumeratedTriangles {
    /// Ranges of ranks with about equal work.
    tasks: Vec<Range<usize>>,
    /// The flow along each entry of the adjacency, and 1/w.
    along: Vec<[f64; 2]>,
}

/// Marks a rank that is not a neighbour: the flow is NaN, and 1/w is finite.
const ABSENT: [f64; 2] = [f64::NAN, 1.0];

impl<'a> CurlOperator<'a> {
    pub(super) fn new(adjacency: &'a Adjacency, weight: &[f64]) -> Self {
        let inverse_weight: Vec<f64> = weight.iter().map(|w| 1.0 / w).collect();
        let triangles = match adjacency.triangles(MAX_STORED) {
            Some(triangles) => {
                TriangleAccess::Stored(StoredTriangles::new(triangles, &inverse_weight))
            }
            None => TriangleAccess::Enumerated(EnumeratedTriangles::new(adjacency)),
        };
        Self { adjacency, inverse_weight, triangles }
    }

    /// Returns a bound of the largest eigenvalue of M, which is a sum of one projection per triangle;
    /// each of a triangle's three edges is shared with fewer triangles than the largest degree.
    pub(super) fn norm_bound(&self) -> f64 {
        let degree = |u: usize| self.adjacency.row(u).len();
        3.0 * (0..self.adjacency.len()).map(degree).max().unwrap_or(0) as f64
    }

    /// Computes out ← Mf; returns ‖Cf‖² in the norm of D⁻¹.
    pub(super) fn apply(&mut self, flow: &[f64], out: &mut [f64]) -> f64 {
        match &mut self.triangles {
            TriangleAccess::Stored(stored) => stored.apply(&self.inverse_weight, flow, out),
            TriangleAccess::Enumerated(enumerated) => {
                enumerated.apply(self.adjacency, &self.inverse_weight, flow, out)
            }
        }
    }
}

impl StoredTriangles {
    fn new(triangles: Vec<[u32; 3]>, inverse_weight: &[f64]) -> Self {
        let diagonal = |t: &[u32; 3]| t.iter().map(|&e| inverse_weight[e as usize]).sum::<f64>();
        let inverse = triangles.par_iter().map(|t| 1.0 / diagonal(t)).collect();
        let mut start = vec![0; inverse_weight.len() + 1];
        for &edge in triangles.iter().flatten() {
            start[edge as usize + 1] += 1;
        }
        for edge in 0..inverse_weight.len() {
            start[edge + 1] += start[edge];
        }
        let (mut next, mut incident) = (start.clone(), vec![0; 3 * triangles.len()]);
        for (t, edges) in triangles.iter().enumerate() {
            for (k, &edge) in edges.iter().enumerate() {
                incident[next[edge as usize]] = 2 * t as u32 + u32::from(k == 2);
                next[edge as usize] += 1;
            }
        }
        let scaled = vec![0.0; triangles.len()];
        Self { triangles, inverse, scaled, start, incident }
    }

    fn apply(&mut self, inverse_weight: &[f64], flow: &[f64], out: &mut [f64]) -> f64 {
        let tasks = self
            .scaled
            .par_chunks_mut(PER_TASK)
            .zip(self.triangles.par_chunks(PER_TASK))
            .zip(self.inverse.par_chunks(PER_TASK));
        let [squares] = sum_tasks(tasks, |((scaled, triangles), inverse)| {
            let mut squares = 0.0;
            for ((scaled, &[ab, bc, ac]), inverse) in scaled.iter_mut().zip(triangles).zip(inverse)
            {
                let curl = flow[ab as usize] + flow[bc as usize] - flow[ac as usize];
                *scaled = curl * inverse;
                squares += curl * *scaled;
            }
            [squares]
        });
        let Self { scaled, start, incident, .. } = self;
        out.par_chunks_mut(PER_TASK).enumerate().for_each(|(task, out)| {
            for (k, out) in out.iter_mut().enumerate() {
                let edge = task * PER_TASK + k;
                let value = |&t: &u32| {
                    let scaled = scaled[t as usize / 2];
                    if t % 2 == 0 { scaled } else { -scaled }
                };
                let sum: f64 = incident[start[edge]..start[edge + 1]].iter().map(value).sum();
                *out = inverse_weight[edge] * sum;
            }
        });
        squares
    }
}

impl EnumeratedTriangles {
    fn new(adjacency: &Adjacency) -> Self {
        let candidates = |u: usize| -> u64 {
            let higher = adjacency.neighbours[adjacency.higher(u)].iter();
            higher.map(|&v| adjacency.row(v as usize).len() as u64).sum()
        };
        let tasks = adjacency.tasks(candidates, CANDIDATES_PER_TASK);
        Self { tasks, along: vec![[0.0; 2]; adjacency.neighbours.len()] }
    }

    fn apply(
        &mut self,
        graph: &Adjacency,
        inverse_weight: &[f64],
        flow: &[f64],
        out: &mut [f64],
    ) -> f64 {
        let entries = self.along.par_iter_mut().zip(&graph.edges).zip(&graph.neighbours);
        entries.for_each(|((along, &edge), &neighbour)| {
            *along = [graph.towards(neighbour, edge, flow), inverse_weight[edge as usize]];
        });
        // The edges from a rank to higher ranks are consecutive, so each task owns a slice of `out`.
        let mut outputs = Vec::with_capacity(self.tasks.len());
        let mut rest = out;
        for range in &self.tasks {
            let edges = range.clone().map(|u| graph.higher(u).len()).sum();
            let (own, others) = rest.split_at_mut(edges);
            rest = others;
            outputs.push((range.clone(), own));
        }
        let sums: Vec<f64> = outputs
            .into_par_iter()
            .with_max_len(1)
            .map_init(|| vec![ABSENT; graph.len()], |mark, task| self.apply_task(graph, mark, task))
            .collect();
        // Each triangle was visited once from each of its three edges.
        sums.iter().sum::<f64>() / 3.0
    }

    /// Applies M to the edges that start in a range of ranks. `mark` holds `along` of the neighbours
    /// of the current rank, and is all [`ABSENT`] before and after.
    fn apply_task(
        &self,
        graph: &Adjacency,
        mark: &mut [[f64; 2]],
        (range, out): (Range<usize>, &mut [f64]),
    ) -> f64 {
        let along = &self.along;
        let (mut squares, mut edge) = (0.0, 0);
        for u in range {
            for k in graph.row(u) {
                mark[graph.neighbours[k] as usize] = along[k];
            }
            for k in graph.higher(u) {
                let [uv, inverse_uv] = along[k];
                let row = graph.row(graph.neighbours[k] as usize);
                let entries = graph.neighbours[row.clone()].iter().zip(&along[row]);
                let mut sum = 0.0;
                for (&w, &[vw, inverse_vw]) in entries {
                    let [uw, inverse_uw] = mark[w as usize];
                    // A select, not a branch: whether there is a triangle would be mispredicted.
                    let curl = if uw.is_nan() { 0.0 } else { uv + vw - uw };
                    let scaled = curl / (inverse_uv + inverse_vw + inverse_uw);
                    sum += scaled;
                    squares += curl * scaled;
                }
                out[edge] = inverse_uv * sum;
                edge += 1;
            }
            for k in graph.row(u) {
                mark[graph.neighbours[k] as usize] = ABSENT;
            }
        }
        squares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    #[test]
    fn stored_and_enumerated_triangles_agree() {
        let votes: Vec<_> = (0..900_u32)
            .map(|k| (k * 7919 % 60, (k * 104_729 + k / 60) % 60, k))
            .filter(|(i, j, _)| i != j)
            .map(|(i, j, k)| Comparison::new(i, j, 1.0).with_count(u64::from(k % 5 + 1)))
            .collect();
        let groups = Groups::merge(60, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(60, groups).unwrap();
        let pairs = graph.pairs();
        let adjacency = Adjacency::new(60, pairs, |_| true);
        let inverse_weight: Vec<f64> =
            adjacency.pair.iter().map(|&p| 1.0 / pairs.weight[p as usize]).collect();
        let flow: Vec<f64> =
            (0..pairs.len()).map(|e| f64::from(e as u32 * 31 % 17) - 8.0).collect();
        let triangles = adjacency.triangles(usize::MAX).unwrap();
        assert!(triangles.len() > 100 && adjacency.triangles(triangles.len() - 1).is_none());
        let (mut a, mut b) = (vec![0.0; flow.len()], vec![0.0; flow.len()]);
        let stored =
            StoredTriangles::new(triangles, &inverse_weight).apply(&inverse_weight, &flow, &mut a);
        let enumerated =
            EnumeratedTriangles::new(&adjacency).apply(&adjacency, &inverse_weight, &flow, &mut b);
        assert!((stored - enumerated).abs() < 1e-12 * stored);
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
