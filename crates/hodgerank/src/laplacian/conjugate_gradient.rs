//! Conjugate gradients, preconditioned by the diagonal or by a spanning tree, on the vectors of mean
//! zero.
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
//! With weights of very different sizes that ratio is as large as the ratio of the weights, and the
//! norm of r does not see light pairs. The preconditioner is then the Laplacian of a spanning tree of
//! heavy pairs (see [`super::spanning_forest`]): its condition number is at most 2 × pairs × items,
//! whatever the weights are, and rᵀz, which the stopping rule then uses, is the energy of the flow
//! along the tree that balances r, in which light pairs count as much as heavy ones.
//!
//! faer's conjugate gradients do not fit: their vector updates and dot products run on one thread,
//! they stop by the residual of the recurrence (which drifts from the true one), and they have no
//! place for the projection P or for stopping at the limit of rounding.

use rayon::prelude::*;

use super::choose::WIDE_WEIGHT_RATIO;
use super::matrix::ROWS_PER_TASK;
use super::spanning_forest::SpanningForest;
use super::{Backend, LaplacianBlock, LaplacianSolver, SolveInfo, StoppingRule};
use super::{centre, good_enough};
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot, norm, sum_tasks,
};

/// Share of the tolerance that the recurrence aims at, so that its drift costs no restart.
const TARGET_SHARE: f64 = 0.9;
/// The same in the norm of the tree, which differs from that of r.
const TREE_TARGET_SHARE: f64 = 0.01;
/// Factor by which one run of the recurrence may reduce ‖r‖. Beyond it rounding has added a constant
/// to r that is no longer small relative to r, and the recurrence diverges on the null space of L.
const MAX_REDUCTION: f64 = 1e-12;
/// A run that leaves more than this share of ‖r‖ has reached the limit of rounding.
const STALLED_REDUCTION: f64 = 0.5;

/// A distributed system is solved to this share of the tolerance: a single process would often
/// factor it and get all digits, and a few more iterations make up for that.
const DISTRIBUTED_TOLERANCE: f64 = 1e-4;

/// The preconditioner.
#[derive(Debug)]
pub(super) enum ConjugateGradientSolver {
    /// The inverse of the diagonal.
    Diagonal(Vec<f64>),
    /// The inverse of the Laplacian of a spanning tree.
    Tree(SpanningForest),
}

impl ConjugateGradientSolver {
    pub(super) fn new(matrix: LaplacianBlock<'_>) -> Self {
        if matrix.is_complete() && matrix.weight_ratio() > WIDE_WEIGHT_RATIO {
            return Self::Tree(SpanningForest::new(matrix.len(), 1, matrix.shift(), || {
                (0..matrix.len()).flat_map(move |i| {
                    let entries = matrix.neighbours(i).iter().zip(matrix.weights(i));
                    let upper = entries.filter(move |(j, _)| **j as usize > i);
                    upper.map(move |(&j, &w)| (i as u32, j, w))
                })
            }));
        }
        Self::Diagonal((0..matrix.len()).map(|i| 1.0 / matrix.diagonal(i)).collect())
    }

    /// Iterates from the residual `r` of `x` until the recurrence says that ‖r‖ ≤ `target`, or, with
    /// a tree, that r has decreased by the factor `reduction` in the norm of the tree; returns the
    /// number of iterations.
    fn descend(
        &self,
        matrix: LaplacianBlock<'_>,
        x: &mut [f64],
        r: &mut [f64],
        (target, reduction): (f64, f64),
        max_iterations: usize,
    ) -> usize {
        let (mut p, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let vectors = ConjugateGradientVectors { x, r, p: &mut p, q: &mut q };
        match self {
            Self::Diagonal(inverse_diagonal) => {
                let mut system = CentredSystem { matrix, inverse_diagonal, target, z_mean: 0.0 };
                conjugate_gradients(&mut system, vectors, max_iterations).iterations
            }
            Self::Tree(tree) => {
                let mut system = TreeSystem::new(matrix, tree, reduction);
                conjugate_gradients(&mut system, vectors, max_iterations).iterations
            }
        }
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

/// One run of the recurrence with a spanning tree as preconditioner.
struct TreeSystem<'a> {
    matrix: LaplacianBlock<'a>,
    tree: &'a SpanningForest,
    z: Vec<f64>,
    /// Factor by which a run reduces (rᵀz)^½.
    reduction: f64,
    /// rᵀz at which the run ends.
    target: f64,
}

impl<'a> TreeSystem<'a> {
    fn new(matrix: LaplacianBlock<'a>, tree: &'a SpanningForest, reduction: f64) -> Self {
        Self { matrix, tree, z: Vec::with_capacity(matrix.len() + 1), reduction, target: 0.0 }
    }

    /// Computes z = M⁻¹r and returns rᵀz.
    fn precondition(&mut self, r: &[f64]) -> f64 {
        self.z.clear();
        self.z.extend_from_slice(r);
        let has_ground = self.matrix.shift() > 0.0;
        if has_ground {
            self.z.push(0.0);
        }
        self.tree.solve(&mut self.z);
        self.z.truncate(r.len());
        if !has_ground {
            centre(&mut self.z);
        }
        dot(r, &self.z)
    }
}

impl ConjugateGradientSystem for TreeSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let rz = self.precondition(vectors.r);
        self.target = self.reduction.powi(2) * rz;
        Some(rz)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        self.matrix.multiply(p, q);
        // Σ w (pᵢ − pⱼ)² and not Σ p q: no heavy terms cancel.
        self.matrix.energy(p)
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        vectors.step(alpha);
        let rz = self.precondition(vectors.r);
        (rz > self.target).then_some(rz)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        vectors.p.iter_mut().zip(&self.z).for_each(|(p, z)| *p = z + beta * *p);
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
        let is_as_given = matrix.is_complete() || rule.same_on_processes;
        let tolerance = if is_as_given { 1.0 } else { DISTRIBUTED_TOLERANCE } * rule.tolerance;
        let goal = tolerance * rhs_norm;
        out.fill(0.0);
        let (mut r, mut size) = (rhs.to_vec(), rhs_norm);
        let mut iterations = 0;
        while size > goal && iterations < rule.max_iterations {
            let (best, before) = (out.to_vec(), size);
            let target = TARGET_SHARE * goal.max(MAX_REDUCTION * size);
            let reduction = MAX_REDUCTION.max(TREE_TARGET_SHARE * tolerance);
            let left = rule.max_iterations - iterations;
            iterations += self.descend(matrix, out, &mut r, (target, reduction), left);
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
        SolveInfo { iterations, residual: size / rhs_norm, converged, error_bound: None }
    }

    fn inverse_diagonal(&self) -> Option<&[f64]> {
        match self {
            Self::Diagonal(inverse) => Some(inverse),
            Self::Tree(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Diagonal(inverse) => 8 * inverse.len(),
            Self::Tree(tree) => tree.bytes(),
        }
    }
}
