//! Conjugate gradients, preconditioned by the diagonal, on the vectors of mean zero.
//!
//! | symbol | meaning |
//! |---|---|
//! | A | L + shift·I, positive definite on vectors of mean zero |
//! | P | projection on vectors of mean zero |
//! | D | diagonal of A; the preconditioner is P D⁻¹ P |
//! | z = D⁻¹r | preconditioned residual before projection, never stored |
//!
//! The other symbols are those of [`crate::numeric::conjugate_gradients`]. An iteration reads the
//! matrix once and five vectors; the number of iterations grows as √(λmax/λmin) of D⁻¹A: about ten
//! on vote graphs, a few times the diameter on meshes.
//!
//! faer's conjugate gradients do not fit: their vector updates and dot products run on one thread,
//! they stop by the residual of the recurrence (which drifts from the true one), and they have no
//! place for the projection P or for stopping at the limit of rounding.

use rayon::prelude::*;

use super::matrix::ROWS_PER_TASK;
use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule};
use super::{centre, good_enough};
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, norm, sum_tasks,
};

/// Share of the tolerance that the recurrence aims at, so that its drift costs no restart.
const TARGET_SHARE: f64 = 0.9;
/// Factor by which one run of the recurrence may reduce ‖r‖. Beyond it rounding has added a constant
/// to r that is no longer small relative to r, and the recurrence diverges on the null space of L.
const MAX_REDUCTION: f64 = 1e-12;
/// A run that leaves more than this share of ‖r‖ has reached the limit of rounding.
const STALLED_REDUCTION: f64 = 0.5;

/// A distributed system is solved to this share of the tolerance: a single process would often
/// factor it and get all digits, and a few more iterations make up for that.
const DISTRIBUTED_TOLERANCE: f64 = 1e-4;

/// The preconditioner: the inverse of the diagonal.
#[derive(Debug)]
pub(super) struct ConjugateGradientSolver {
    inverse_diagonal: Vec<f64>,
}

impl ConjugateGradientSolver {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Self {
        let inverse_diagonal = (0..matrix.len()).map(|i| 1.0 / matrix.diagonal(i)).collect();
        Self { inverse_diagonal }
    }

    /// Iterates from the residual `r` of `x` until the recurrence says that ‖r‖ ≤ `target`; returns
    /// the number of iterations.
    fn descend(
        &self,
        matrix: LaplacianBlock<'_>,
        x: &mut [f64],
        r: &mut [f64],
        target: f64,
        max_iterations: usize,
    ) -> usize {
        let (mut p, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let inverse_diagonal = &self.inverse_diagonal;
        let mut system = CentredSystem { matrix, inverse_diagonal, target, z_mean: 0.0 };
        let vectors = ConjugateGradientVectors { x, r, p: &mut p, q: &mut q };
        conjugate_gradients(&mut system, vectors, max_iterations).iterations
    }
}

/// One run of the recurrence.
struct CentredSystem<'a> {
    matrix: LaplacianBlock<'a>,
    inverse_diagonal: &'a [f64],
    target: f64,
    /// The mean of z, which P takes away.
    z_mean: f64,
}

impl CentredSystem<'_> {
    /// x ← x + αp, r ← r − αq; returns rᵀr, rᵀz and Σz. As r has mean zero, rᵀPz = rᵀz.
    fn step(&self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> [f64; 3] {
        let ConjugateGradientVectors { x, r, p, q } = vectors;
        let tasks = x
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(r.par_chunks_mut(ROWS_PER_TASK))
            .zip(p.par_chunks(ROWS_PER_TASK).zip(q.par_chunks(ROWS_PER_TASK)))
            .zip(self.inverse_diagonal.par_chunks(ROWS_PER_TASK));
        sum_tasks(tasks, |(((x, r), (p, q)), inverse)| {
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
}

impl ConjugateGradientSystem for CentredSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        // p and q are zero: the step moves nothing and computes the sums. The caller has seen that
        // ‖r‖ is above the target.
        let [_, rz, z_sum] = self.step(0.0, vectors);
        self.z_mean = z_sum / vectors.x.len() as f64;
        Some(rz)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        self.matrix.multiply(p, q);
        let tasks = p.par_chunks(ROWS_PER_TASK).zip(q.par_chunks(ROWS_PER_TASK));
        let [pq] = sum_tasks(tasks, |(p, q)| [p.iter().zip(q).fold(0.0, |pq, (p, q)| pq + p * q)]);
        pq
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let [rr, rz, z_sum] = self.step(alpha, vectors);
        self.z_mean = z_sum / vectors.x.len() as f64;
        (rr.sqrt() > self.target).then_some(rz)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        let z_mean = self.z_mean;
        let ConjugateGradientVectors { r, p, .. } = vectors;
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

impl LaplacianSolver for ConjugateGradientSolver {
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
        let tolerance =
            if matrix.is_complete() { 1.0 } else { DISTRIBUTED_TOLERANCE } * rule.tolerance;
        let goal = tolerance * rhs_norm;
        out.fill(0.0);
        let (mut r, mut size) = (rhs.to_vec(), rhs_norm);
        let mut iterations = 0;
        while size > goal && iterations < rule.max_iterations {
            let (best, before) = (out.to_vec(), size);
            let target = TARGET_SHARE * goal.max(MAX_REDUCTION * size);
            let left = rule.max_iterations - iterations;
            iterations += self.descend(matrix, out, &mut r, target, left);
            centre(out);
            size = matrix.residual(out, rhs, &mut r);
            if size > before {
                out.copy_from_slice(&best);
                size = before;
            }
            if size > STALLED_REDUCTION * before {
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
