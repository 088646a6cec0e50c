//! The curl part of a flow: its projection on the flows that triangles can make.
//!
//! Objective: min over φ of ½ ‖b − W⁻¹Cᵀφ‖²_W, φ one number for each triangle. The curl part is
//! W⁻¹Cᵀφ and the remainder r = b − W⁻¹Cᵀφ; optimal when Cr = 0: no triangle sees a circle in it.
//!
//! | symbol | meaning |
//! |---|---|
//! | C | curl: (Cf)_abc = f_ab + f_bc − f_ac for ranks a < b < c |
//! | W | votes on edges, the weights of the inner product |
//! | D | for each triangle, the sum of 1/w of its edges: the diagonal of CW⁻¹Cᵀ |
//! | M = W⁻¹CᵀD⁻¹C | symmetric in the product of W, with the curl flows as its range |
//!
//! Method: conjugate gradients for least squares (CGLS), preconditioned by D. Rows of φ scaled by
//! any D make the same flows, so the preconditioner does not move the answer. φ itself is never
//! needed: r, the direction q and Mr live on edges. At each step ‖r‖_W is the least on a growing
//! space, so r and b − r are orthogonal even if it stops early, and a share of r is never too low.
//!
//! Cost: a step visits each triangle three times, found anew and never stored, in O(Σ over edges
//! of the smaller degree). Steps grow with the square root of the condition of M on its range: some
//! tens on random graphs, the diameter of holes on meshes. Memory: seven numbers an edge.
//!
//! Failure modes: steps can run out (status), on long thin strips of triangles.

use rayon::prelude::*;

use super::adjacency::Adjacency;
use crate::laplacian::{StoppingRule, in_order};

/// Edges of one task. Fixed, so that sums over tasks do not depend on the thread count.
const EDGES_PER_TASK: usize = 4096;
/// Looks of one task.
const LOOKS_PER_TASK: u64 = 1 << 17;
/// Rounding of sums of a few numbers, in units of what is added up.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome {
    pub(super) iterations: usize,
    /// ‖Cr‖ at the end over that at the start, in the norm of D⁻¹; 0 where it started at 0.
    pub(super) residual: f64,
    pub(super) converged: bool,
}

/// Takes the curl part out of `flow` (on edges), which is left with the remainder.
///
/// `size` is ‖·‖_W of the votes that the flow was computed from: what is smaller than its rounding
/// is not looked into.
pub(super) fn take_out(
    adjacency: &Adjacency,
    weight: &[f64],
    flow: &mut [f64],
    size: f64,
    rule: &StoppingRule,
) -> Outcome {
    let curl = Curl::new(adjacency, weight);
    let floor = (ROUNDING * size).powi(2) * curl.norm_bound();
    let (mut out, mut q) = (vec![0.0; flow.len()], vec![0.0; flow.len()]);
    let mut along = vec![[0.0; 2]; adjacency.neighbours.len()];
    let mut gamma = curl.apply(flow, &mut along, &mut out);
    let first = gamma;
    let goal = (rule.tolerance.powi(2) * first).max(floor);
    let (mut iterations, mut beta) = (0, 0.0);
    while gamma > goal && iterations < rule.max_iterations {
        // q ← Mr + βq, α = γ/‖q‖²_W, r ← r − αq
        let [qq] = in_order(
            q.par_chunks_mut(EDGES_PER_TASK)
                .zip(out.par_chunks(EDGES_PER_TASK))
                .zip(weight.par_chunks(EDGES_PER_TASK)),
            |((q, out), weight)| {
                let mut qq = 0.0;
                for ((q, out), w) in q.iter_mut().zip(out).zip(weight) {
                    *q = out + beta * *q;
                    qq += w * *q * *q;
                }
                [qq]
            },
        );
        if qq.is_nan() || qq <= 0.0 {
            break;
        }
        let alpha = gamma / qq;
        flow.par_iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let next = curl.apply(flow, &mut along, &mut out);
        beta = next / gamma;
        gamma = next;
        iterations += 1;
    }
    let residual = if first > 0.0 { (gamma / first).sqrt() } else { 0.0 };
    Outcome { iterations, residual, converged: gamma <= goal }
}

/// C, W and D of one graph.
struct Curl<'a> {
    adjacency: &'a Adjacency,
    inverse_weight: Vec<f64>,
    tasks: Vec<std::ops::Range<usize>>,
}

impl<'a> Curl<'a> {
    fn new(adjacency: &'a Adjacency, weight: &[f64]) -> Self {
        let inverse_weight = weight.iter().map(|w| 1.0 / w).collect();
        let looks = |u: usize| -> u64 {
            let higher = adjacency.neighbours[adjacency.higher(u)].iter();
            higher.map(|&v| adjacency.row(v as usize).len() as u64).sum()
        };
        let tasks = adjacency.tasks(looks, LOOKS_PER_TASK);
        Self { adjacency, inverse_weight, tasks }
    }

    /// A bound of the largest eigenvalue of M: a sum of projections, one a triangle, each of which
    /// meets at most three times the others of its edges.
    fn norm_bound(&self) -> f64 {
        let degree = |u: usize| self.adjacency.row(u).len();
        3.0 * (0..self.adjacency.len()).map(degree).max().unwrap_or(0) as f64
    }

    /// out ← Mf; returns ‖Cf‖² in the norm of D⁻¹.
    fn apply(&self, flow: &[f64], along: &mut [[f64; 2]], out: &mut [f64]) -> f64 {
        let graph = self.adjacency;
        let entries = along.par_iter_mut().zip(&graph.edges).zip(&graph.neighbours);
        entries.for_each(|((along, &edge), &neighbour)| {
            let away = graph.towards(neighbour, edge, flow);
            *along = [away, self.inverse_weight[edge as usize]];
        });
        // The edges from lower to higher ranks are consecutive: each task owns a slice of them.
        let mut pieces = Vec::with_capacity(self.tasks.len());
        let mut rest = out;
        for range in &self.tasks {
            let edges = range.clone().map(|u| graph.higher(u).len()).sum();
            let (piece, behind) = rest.split_at_mut(edges);
            rest = behind;
            pieces.push((range.clone(), piece));
        }
        let clean = || vec![[f64::NAN; 2]; graph.len()];
        let along = &*along;
        let sums: Vec<f64> = pieces
            .into_par_iter()
            .with_max_len(1)
            .map_init(clean, |mark, (range, out)| self.apply_from(range, along, mark, out))
            .collect();
        // Each triangle was met at its three edges.
        sums.iter().sum::<f64>() / 3.0
    }

    /// `mark` is all NaN before and after; in between, `along` of the neighbours of u.
    fn apply_from(
        &self,
        range: std::ops::Range<usize>,
        along: &[[f64; 2]],
        mark: &mut [[f64; 2]],
        out: &mut [f64],
    ) -> f64 {
        let graph = self.adjacency;
        let (mut squares, mut edge) = (0.0, 0);
        for u in range {
            for k in graph.row(u) {
                mark[graph.neighbours[k] as usize] = along[k];
            }
            for k in graph.higher(u) {
                let [uv, inverse_uv] = along[k];
                let row = graph.row(graph.neighbours[k] as usize);
                let mut sum = 0.0;
                for (&w, &[vw, inverse_vw]) in graph.neighbours[row.clone()].iter().zip(&along[row])
                {
                    let [uw, inverse_uw] = mark[w as usize];
                    if uw.is_nan() {
                        continue;
                    }
                    let curl = uv + vw - uw;
                    let scaled = curl / (inverse_uv + inverse_vw + inverse_uw);
                    sum += scaled;
                    squares += curl * scaled;
                }
                out[edge] = inverse_uv * sum;
                edge += 1;
            }
            for k in graph.row(u) {
                mark[graph.neighbours[k] as usize] = [f64::NAN; 2];
            }
        }
        squares
    }
}
