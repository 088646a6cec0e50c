//! Newton's linear system: (L_I + μD) δ = b.
//!
//! L_I is the Laplacian of the inliers, D the diagonal matrix of the degrees in the whole graph. The
//! damping μ makes the matrix positive definite if the inliers do not connect the items; for μ ≥ 2
//! the quadratic model majorises the objective, so that every step decreases it.
//!
//! | solver | used | cost |
//! |---|---|---|
//! | [`DenseFactor`] | for few items | n³/6 |
//! | conjugate gradients with diagonal preconditioner | otherwise | inliers × iterations |
//! | conjugate gradients on the [`InlierCore`] | for many items with few inliers | inliers, and core edges × iterations |
//! | conjugate gradients with [`SampledFactor`] | if the others need too many iterations | the same as with the diagonal, with twice the cost per iteration |
//!
//! The last one is needed for meshes. A factor takes as long as a hundred or two hundred iterations with
//! the diagonal, so it is computed only after as many iterations in excess of a good number, and reused for
//! later λ in the same way. If several processes share the votes, none has all inliers, and only the
//! diagonal preconditioner is available.

use super::dense_factor::DenseFactor;
use super::inlier_core::InlierCore;
use super::pass::Pass;
use super::sampled_factor::SampledFactor;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::laplacian::Backend;
use crate::numeric::{
    ConjugateGradientRun, ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients,
    dot, largest_magnitude,
};

/// Maximum number of items for dense Cholesky. For more items the implementation in a library would be
/// faster, but so are conjugate gradients.
const MAX_DENSE_ITEMS: usize = 48;
/// Relative change of the number of inliers after which the diagonal preconditioner is recomputed.
const MAX_INLIER_CHANGE: f64 = 0.03;
/// Minimum entry of the diagonal preconditioner relative to the degree, for items that have no
/// inliers when it is computed and gain some later.
const MIN_DIAGONAL_RATIO: f64 = 1e-3;
/// Conjugate-gradient steps after which a direction is used as it is.
const MAX_STEPS: usize = 300;
/// Steps that a system may take with the diagonal preconditioner and with a factor, whose steps take
/// three times as long. Further steps are excess steps.
const GOOD_DIAGONAL_STEPS: usize = 40;
const GOOD_FACTOR_STEPS: usize = 12;
/// Excess steps, added up over systems, after which a factor is computed: with the diagonal
/// preconditioner, and with the factor of an earlier system. A factor takes about as long as a hundred
/// or two hundred steps with the diagonal.
const MAX_DIAGONAL_EXCESS: usize = 150;
const MAX_FACTOR_EXCESS: usize = 50;
/// Relative growth of the number of inliers after which the diagonal preconditioner is tried again.
const DIAGONAL_RETRY_GROWTH: f64 = 1.2;

/// Number of items from which trees and chains of inliers are eliminated, and maximum number of inliers
/// per item. With more inliers there is little to eliminate.
const MIN_CORE_ITEMS: usize = 2000;
const MAX_CORE_INLIERS_PER_ITEM: usize = 3;
/// Steps that conjugate gradients may take on the core, and the number of systems that may exceed them
/// before the core is not tried again: on meshes a factor is better.
const MAX_CORE_STEPS: usize = 400;
const MAX_CORE_FAILURES: usize = 3;

/// The matrix L_I + μD and a solver.
#[derive(Debug)]
pub(super) struct NewtonSystem {
    /// D.
    degrees: Vec<f64>,
    solver: NewtonSolver,
}

#[derive(Debug)]
enum NewtonSolver {
    /// With the version of the inliers and the damping of the factor.
    Dense {
        factor: DenseFactor,
        of: Option<(u64, f64)>,
    },
    ConjugateGradient(Box<InlierCg>),
}

/// Conjugate gradients with one of two preconditioners.
#[derive(Debug)]
struct InlierCg {
    inverse_diagonal: Vec<f64>,
    /// Number of inliers when the diagonal was computed.
    diagonal_inliers: usize,
    /// The preconditioner that is used if the diagonal needs too many steps.
    factor: SampledFactor,
    /// Number of inliers when the factor was computed; `None` if the diagonal is in use.
    factor_inliers: Option<usize>,
    /// Excess steps with the current preconditioner.
    excess_steps: usize,
    core: InlierCore,
    /// Systems that took too many steps on the core; `None` if it may not be used.
    core_failures: Option<usize>,
    /// Whether `r` is the residual of the last system.
    has_residual: bool,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl NewtonSystem {
    /// Creates the system; `dense` selects the solver, `None` by the number of items.
    pub(super) fn new(degrees: Vec<f64>, dense: Option<bool>) -> Self {
        let n = degrees.len();
        let solver = if dense.unwrap_or(n <= MAX_DENSE_ITEMS) {
            NewtonSolver::Dense { factor: DenseFactor::new(n), of: None }
        } else {
            NewtonSolver::ConjugateGradient(Box::new(InlierCg::new(n)))
        };
        Self { degrees, solver }
    }

    pub(super) fn backend(&self) -> Backend {
        match self.solver {
            NewtonSolver::Dense { .. } => Backend::Dense,
            NewtonSolver::ConjugateGradient(_) => Backend::ConjugateGradient,
        }
    }

    /// Whether the diagonal preconditioner or a dense factor has been enough so far.
    pub(super) fn is_well_conditioned(&self) -> bool {
        match &self.solver {
            NewtonSolver::Dense { .. } => true,
            NewtonSolver::ConjugateGradient(cg) => {
                cg.factor_inliers.is_none() && cg.excess_steps == 0
            }
        }
    }

    /// Allows to eliminate trees and chains of inliers, which hides whether a system is well conditioned.
    pub(super) fn allow_elimination(&mut self) {
        if let NewtonSolver::ConjugateGradient(cg) = &mut self.solver
            && self.degrees.len() >= MIN_CORE_ITEMS
        {
            cg.core_failures.get_or_insert(0);
        }
    }

    /// Saves the diagonal preconditioner, on which later directions depend. With several processes
    /// there is no factor.
    pub(super) fn save(&self, state: &mut StateWriter) {
        if let NewtonSolver::ConjugateGradient(cg) = &self.solver {
            state.count(cg.diagonal_inliers as u64);
            state.numbers(cg.inverse_diagonal.iter());
        }
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        if let NewtonSolver::ConjugateGradient(cg) = &mut self.solver {
            cg.diagonal_inliers = state.count()? as usize;
            state.numbers_into(&mut cg.inverse_diagonal)?;
        }
        Ok(())
    }

    /// Solves for δ with max|b − Aδ| ≤ `target`, as far as the iteration limit allows.
    pub(super) fn solve(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        b: &[f64],
        target: f64,
        delta: &mut [f64],
    ) {
        match &mut self.solver {
            NewtonSolver::Dense { factor, of } => {
                // All processes have to agree whether a factor can be reused.
                let key = Some((pass.version(), damping));
                if *of != key || !pass.communicator().is_single_process() {
                    factor.refactor(pass, &self.degrees, damping);
                    *of = key;
                }
                delta.copy_from_slice(b);
                factor.solve(delta);
            }
            NewtonSolver::ConjugateGradient(cg) => {
                cg.solve(pass, damping, &self.degrees, b, target, delta);
            }
        }
    }
}

impl NewtonSystem {
    /// Writes b − L_I δ for the last system, its damping and its solution δ. Returns false if the
    /// solver does not know its residual.
    pub(super) fn model_gradient(&self, damping: f64, delta: &[f64], out: &mut [f64]) -> bool {
        let NewtonSolver::ConjugateGradient(cg) = &self.solver else { return false };
        for ((out, r), (degree, delta)) in
            out.iter_mut().zip(&cg.r).zip(self.degrees.iter().zip(delta))
        {
            *out = r + damping * degree * delta;
        }
        cg.has_residual
    }
}

impl InlierCg {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            inverse_diagonal: zeros(),
            diagonal_inliers: usize::MAX,
            factor: SampledFactor::default(),
            factor_inliers: None,
            excess_steps: 0,
            core: InlierCore::default(),
            core_failures: None,
            has_residual: false,
            r: zeros(),
            z: zeros(),
            p: zeros(),
            q: zeros(),
        }
    }

    /// Starts from δ = 0 with the current preconditioner, and continues with a new factor if that needs
    /// too many steps. If the iteration limit is reached, δ is still a descent direction.
    fn solve(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        degrees: &[f64],
        b: &[f64],
        target: f64,
        delta: &mut [f64],
    ) {
        let inliers = pass.count_inliers();
        self.has_residual = false;
        if self.solve_core(pass, damping, degrees, b, target, delta) {
            return;
        }
        self.has_residual = pass.communicator().is_single_process();
        let has_grown = |&before: &usize| inliers as f64 > DIAGONAL_RETRY_GROWTH * before as f64;
        if self.factor_inliers.as_ref().is_some_and(has_grown) {
            self.factor_inliers = None;
            self.excess_steps = 0;
        }
        delta.fill(0.0);
        self.r.copy_from_slice(b);
        if self.factor_inliers.is_none() {
            self.update_diagonal(pass, degrees, inliers);
        }
        if !pass.communicator().is_single_process() {
            self.iterate(pass, damping, degrees, target, MAX_STEPS, delta);
            return;
        }
        let (good_steps, max_excess) = match self.factor_inliers {
            None => (GOOD_DIAGONAL_STEPS, MAX_DIAGONAL_EXCESS),
            Some(_) => (GOOD_FACTOR_STEPS, MAX_FACTOR_EXCESS),
        };
        let steps = good_steps + max_excess - self.excess_steps;
        let run = self.iterate(pass, damping, degrees, target, steps, delta);
        if run.is_finished {
            self.excess_steps += run.iterations.saturating_sub(good_steps);
            return;
        }
        self.factor.refactor(pass, degrees, damping);
        self.factor_inliers = Some(inliers);
        self.excess_steps = 0;
        self.iterate(pass, damping, degrees, target, MAX_STEPS, delta);
    }

    /// Solves with the core of the inliers. Returns false if it is not suitable.
    fn solve_core(
        &mut self,
        pass: &Pass<'_>,
        damping: f64,
        degrees: &[f64],
        b: &[f64],
        target: f64,
        delta: &mut [f64],
    ) -> bool {
        let few = pass.count_inliers() <= MAX_CORE_INLIERS_PER_ITEM * degrees.len();
        let Some(failures) = &mut self.core_failures else { return false };
        if !few || *failures >= MAX_CORE_FAILURES || !pass.communicator().is_single_process() {
            return false;
        }
        self.core.eliminate(pass, degrees, damping);
        let run = self.core.solve(b, target, MAX_CORE_STEPS, delta);
        *failures = if run.is_finished { 0 } else { *failures + 1 };
        run.is_finished
    }

    fn update_diagonal(&mut self, pass: &mut Pass<'_>, degrees: &[f64], inliers: usize) {
        if inliers.abs_diff(self.diagonal_inliers) as f64
            > MAX_INLIER_CHANGE * self.diagonal_inliers as f64
        {
            self.diagonal_inliers = inliers;
            pass.inlier_degrees(&mut self.inverse_diagonal);
            for (inverse, &degree) in self.inverse_diagonal.iter_mut().zip(degrees) {
                let diagonal = inverse.max(MIN_DIAGONAL_RATIO * degree);
                *inverse = if degree > 0.0 { 1.0 / diagonal } else { 0.0 };
            }
        }
    }

    /// Preconditioned conjugate gradients from δ and its residual r.
    fn iterate(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        degrees: &[f64],
        target: f64,
        max_steps: usize,
        delta: &mut [f64],
    ) -> ConjugateGradientRun {
        let Self { inverse_diagonal, factor, factor_inliers, r, z, p, q, .. } = self;
        let factor = factor_inliers.map(|_| factor);
        let mut system =
            DampedSystem { pass, damping, degrees, target, inverse_diagonal, factor, z };
        let vectors = ConjugateGradientVectors { x: delta, r, p, q };
        conjugate_gradients(&mut system, vectors, max_steps)
    }
}

/// L_I + μD with the diagonal or the factor as preconditioner.
struct DampedSystem<'a, 'p> {
    pass: &'a mut Pass<'p>,
    damping: f64,
    degrees: &'a [f64],
    target: f64,
    inverse_diagonal: &'a [f64],
    factor: Option<&'a mut SampledFactor>,
    z: &'a mut [f64],
}

impl DampedSystem<'_, '_> {
    /// z = M⁻¹r; returns rᵀz.
    fn precondition(&mut self, r: &[f64]) -> f64 {
        if let Some(factor) = &mut self.factor {
            factor.solve(r, self.z);
            return dot(r, self.z);
        }
        let mut rz = 0.0;
        for ((z, r), inverse) in self.z.iter_mut().zip(r).zip(self.inverse_diagonal) {
            *z = r * inverse;
            rz += r * *z;
        }
        rz
    }
}

impl ConjugateGradientSystem for DampedSystem<'_, '_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        Some(self.precondition(vectors.r))
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        self.pass.inlier_laplacian(p, q);
        let mut pq = 0.0;
        for ((q, p), degree) in q.iter_mut().zip(p).zip(self.degrees) {
            *q += self.damping * degree * p;
            pq += *q * p;
        }
        pq
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        vectors.step(alpha);
        (largest_magnitude(vectors.r) > self.target).then(|| self.precondition(vectors.r))
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        vectors.p.iter_mut().zip(&*self.z).for_each(|(p, z)| *p = z + beta * *p);
    }
}
