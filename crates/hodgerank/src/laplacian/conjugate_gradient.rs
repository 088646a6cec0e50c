//! Conjugate gradients, preconditioned by the diagonal, on the vectors of mean zero.
//!
//! | symbol | meaning |
//! |---|---|
//! | A | L + shift·I, positive definite on vectors of mean zero |
//! | P | projection on vectors of mean zero |
//! | D | diagonal of A; the preconditioner is P D⁻¹ P |
//! | x, r = b − Ax | iterate and its residual |
//! | p, q = Ap | direction |
//! | z = D⁻¹r | preconditioned residual, never stored |
//!
//! An iteration reads the matrix once and five vectors; iterations grow as √(λmax/λmin) of D⁻¹A:
//! about ten on vote graphs, a few times the diameter on meshes.
//!
//! Why not faer's own conjugate gradients: they run their vector updates and dot products on one
//! thread, stop by the residual of the recurrence (which drifts from the true one), and have no
//! place for the projection P, nor for stopping when rounding permits no more.

use rayon::prelude::*;

use super::matrix::{ROWS_PER_TASK, in_order};
use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule};
use super::{centre, good_enough, norm};

/// The recurrence aims a little lower than the tolerance, so that its drift costs no restart.
const MARGIN: f64 = 0.9;
/// Most that one run of the recurrence may gain. Beyond it rounding has added a constant to r that
/// is no longer small beside r itself, and the recurrence blows up on the null space of L.
const MAX_GAIN: f64 = 1e-12;
/// A restart that does not halve the residual has met the limit of rounding.
const PROGRESS: f64 = 0.5;

/// A shared system is solved to this share of the tolerance. One machine would often factor it and
/// have all digits; a few more steps make up for that.
const SHARED: f64 = 1e-4;

/// The inverse of the diagonal.
#[derive(Debug)]
pub(super) struct ConjugateGradient {
    inverse_diagonal: Vec<f64>,
}

impl ConjugateGradient {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Self {
        let inverse_diagonal = (0..matrix.len()).map(|i| 1.0 / matrix.diagonal(i)).collect();
        Self { inverse_diagonal }
    }

    /// Iterates from the residual `r` of `x` until the recurrence says that ‖r‖ ≤ `target`.
    fn descend(
        &self,
        matrix: LaplacianBlock<'_>,
        x: &mut [f64],
        r: &mut [f64],
        target: f64,
        max_iterations: usize,
    ) -> usize {
        let n = x.len() as f64;
        let (mut p, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let [_, mut rz, z_sum] = self.step(0.0, x, r, &p, &q);
        self.turn(&mut p, r, z_sum / n, 0.0);
        for iteration in 0..max_iterations {
            let pq = apply(matrix, &p, &mut q);
            if !(pq > 0.0 && rz > 0.0) {
                return iteration;
            }
            let [rr, next_rz, z_sum] = self.step(rz / pq, x, r, &p, &q);
            if rr.sqrt() <= target {
                return iteration + 1;
            }
            self.turn(&mut p, r, z_sum / n, next_rz / rz);
            rz = next_rz;
        }
        max_iterations
    }

    /// x ← x + αp, r ← r − αq; returns rᵀr, rᵀz and Σz. As r has mean zero, rᵀPz = rᵀz.
    fn step(&self, alpha: f64, x: &mut [f64], r: &mut [f64], p: &[f64], q: &[f64]) -> [f64; 3] {
        let tasks = x
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(r.par_chunks_mut(ROWS_PER_TASK))
            .zip(p.par_chunks(ROWS_PER_TASK).zip(q.par_chunks(ROWS_PER_TASK)))
            .zip(self.inverse_diagonal.par_chunks(ROWS_PER_TASK));
        in_order(tasks, |(((x, r), (p, q)), inverse)| {
            let [mut rr, mut rz, mut z_sum] = [0.0; 3];
            for ((x, r), ((p, q), d)) in x.iter_mut().zip(r).zip(p.iter().zip(q).zip(inverse)) {
                *x += alpha * p;
                *r -= alpha * q;
                let z = *r * d;
                rr += *r * *r;
                rz += *r * z;
                z_sum += z;
            }
            [rr, rz, z_sum]
        })
    }

    /// p ← Pz + βp.
    fn turn(&self, p: &mut [f64], r: &[f64], z_mean: f64, beta: f64) {
        let tasks = p
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(r.par_chunks(ROWS_PER_TASK))
            .zip(self.inverse_diagonal.par_chunks(ROWS_PER_TASK));
        tasks.for_each(|((p, r), inverse)| {
            for (p, (r, d)) in p.iter_mut().zip(r.iter().zip(inverse)) {
                *p = (r * d - z_mean) + beta * *p;
            }
        });
    }
}

/// q ← Ap; returns pᵀq.
fn apply(matrix: LaplacianBlock<'_>, p: &[f64], q: &mut [f64]) -> f64 {
    matrix.multiply(p, q);
    let tasks = p.par_chunks(ROWS_PER_TASK).zip(q.par_chunks(ROWS_PER_TASK));
    let [pq] = in_order(tasks, |(p, q)| [p.iter().zip(q).fold(0.0, |pq, (p, q)| pq + p * q)]);
    pq
}

impl LaplacianSolver for ConjugateGradient {
    fn backend(&self) -> Backend {
        Backend::ConjugateGradient
    }

    fn solve(
        &self,
        matrix: LaplacianBlock<'_>,
        rhs: &[f64],
        out: &mut [f64],
        rule: &StoppingRule,
    ) -> SolveInfo {
        let rhs_norm = norm(rhs);
        let tolerance = if matrix.is_whole() { 1.0 } else { SHARED } * rule.tolerance;
        let goal = tolerance * rhs_norm;
        out.fill(0.0);
        let (mut r, mut size) = (rhs.to_vec(), rhs_norm);
        let mut iterations = 0;
        while size > goal && iterations < rule.max_iterations {
            let (best, before) = (out.to_vec(), size);
            let target = MARGIN * goal.max(MAX_GAIN * size);
            let left = rule.max_iterations - iterations;
            iterations += self.descend(matrix, out, &mut r, target, left);
            centre(out);
            size = matrix.residual(out, rhs, &mut r);
            if size > before {
                out.copy_from_slice(&best);
                size = before;
            }
            if size > PROGRESS * before {
                break;
            }
            centre(&mut r);
        }
        let converged = good_enough(matrix, size, rhs_norm, out, rule.tolerance);
        SolveInfo { iterations, residual: size / rhs_norm, converged }
    }

    fn bytes(&self) -> usize {
        8 * self.inverse_diagonal.len()
    }
}
