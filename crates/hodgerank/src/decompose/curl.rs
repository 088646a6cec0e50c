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
//! Cost: a step applies M once, see [`super::operator`]. Steps grow with the square root of the
//! condition of M on its range: some tens on sparse random graphs, thousands where holes are just
//! about to close, the diameter of holes on meshes.
//!
//! Failure modes: steps can run out (status), on long thin strips of triangles.

use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::operator::CurlOperator;
use crate::laplacian::StoppingRule;
use crate::numeric::sum_tasks;

/// Edges of one task. Fixed, so that sums over tasks do not depend on the thread count.
const EDGES_PER_TASK: usize = 4096;
/// Rounding of sums of a few numbers, in units of what is added up.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How the iteration went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome {
    pub(super) iterations: usize,
    /// ‖Cr‖ at the end over that at the start, in the norm of D⁻¹; 0 where it is rounding, none
    /// where it was not measured.
    pub(super) residual: Option<f64>,
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
    let mut curl = CurlOperator::new(adjacency, weight);
    let floor = rounding(&curl, size);
    let (mut out, mut q) = (vec![0.0; flow.len()], vec![0.0; flow.len()]);
    let mut gamma = curl.apply(flow, &mut out);
    let first = gamma;
    let goal = (rule.tolerance.powi(2) * first).max(floor);
    let (mut iterations, mut beta) = (0, 0.0);
    while gamma > goal && iterations < rule.max_iterations {
        // q ← Mr + βq, α = γ/‖q‖²_W, r ← r − αq
        let tasks = q
            .par_chunks_mut(EDGES_PER_TASK)
            .zip(out.par_chunks(EDGES_PER_TASK))
            .zip(weight.par_chunks(EDGES_PER_TASK));
        let [qq] = sum_tasks(tasks, |((q, out), weight)| {
            let mut qq = 0.0;
            for ((q, out), w) in q.iter_mut().zip(out).zip(weight) {
                *q = out + beta * *q;
                qq += w * *q * *q;
            }
            [qq]
        });
        if qq.is_nan() || qq <= 0.0 {
            break;
        }
        let alpha = gamma / qq;
        let tasks = flow.par_chunks_mut(EDGES_PER_TASK).zip(q.par_chunks(EDGES_PER_TASK));
        tasks.for_each(|(r, q)| r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * q));
        let next = curl.apply(flow, &mut out);
        beta = next / gamma;
        gamma = next;
        iterations += 1;
    }
    let residual = if gamma > floor { (gamma / first).sqrt() } else { 0.0 };
    Outcome { iterations, residual: Some(residual), converged: gamma <= goal }
}

/// ‖Cf‖² that is rounding, for flows computed from votes of this size.
fn rounding(curl: &CurlOperator<'_>, size: f64) -> f64 {
    (ROUNDING * size).powi(2) * curl.norm_bound()
}

/// ‖Cf‖ over ‖Cg‖ in the norm of D⁻¹; 0 where the former is rounding. `size` is ‖·‖_W of the votes
/// that both were computed from.
pub(super) fn ratio(adjacency: &Adjacency, weight: &[f64], f: &[f64], g: &[f64], size: f64) -> f64 {
    let mut curl = CurlOperator::new(adjacency, weight);
    let mut out = vec![0.0; f.len()];
    let [f, g] = [f, g].map(|flow| curl.apply(flow, &mut out));
    if f > rounding(&curl, size) { (f / g).sqrt() } else { 0.0 }
}
