//! Newton's linear system: (L_I + μD) δ = b.
//!
//! L_I is the Laplacian of the inliers, D the diagonal of the degrees in the whole graph. The
//! damping μ makes the matrix positive definite where the inliers do not connect the items, and
//! for μ ≥ 2 the quadratic model lies above the objective, so that a step always helps.
//!
//! | way | when | cost |
//! |---|---|---|
//! | Cholesky, written out | few items | n³/6 |
//! | conjugate gradients with the diagonal | else | inliers × iterations |
//! | the same with a [`SampledFactor`] | these took too many steps | the same, twice |
//!
//! The last is for meshes, and for small λ: little more than a spanning tree is left then. A factor
//! serves for as many λ as it takes few steps. Where a team shares the votes, no one has all the
//! inliers that a factor is made of, and the diagonal must do.

use super::pass::Pass;
use super::sampled_factor::SampledFactor;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::laplacian::Backend;
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot, largest_magnitude,
};

/// A library's dense Cholesky is faster from about here on, but conjugate gradients are too.
const DENSE_MOST_ITEMS: usize = 48;
/// Any diagonal will do for a preconditioner. It is renewed when the number of inliers has changed
/// by this share, and has no entry below this share of the degree, in case an item without inliers
/// gets some before that.
const STALE: f64 = 0.03;
const MIN_DIAGONAL: f64 = 1e-3;
/// Conjugate-gradient steps after which a direction is taken as it is, and after which a factor is
/// made: with the diagonal, and with the factor of earlier inliers. Growth of the inliers after
/// which the diagonal is tried again.
const MAX_STEPS: usize = 300;
const HARD_STEPS: usize = 20;
const STALE_STEPS: usize = 15;
const EASIER: f64 = 1.2;

#[derive(Debug)]
pub(super) struct InlierSystem {
    /// D.
    pub(super) degrees: Vec<f64>,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Dense { factor: Vec<f64> },
    ConjugateGradient(Box<Vectors>),
}

#[derive(Debug)]
struct Vectors {
    inverse_diagonal: Vec<f64>,
    /// How many inliers there were when the diagonal was looked at.
    seen: usize,
    /// The preconditioner where the diagonal took too many steps, and how many inliers it saw.
    factor: SampledFactor,
    factored: Option<usize>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl InlierSystem {
    /// `dense`: as asked for, or by size.
    pub(super) fn new(degrees: Vec<f64>, dense: Option<bool>) -> Self {
        let n = degrees.len();
        let way = if dense.unwrap_or(n <= DENSE_MOST_ITEMS) {
            Way::Dense { factor: vec![0.0; n * n] }
        } else {
            Way::ConjugateGradient(Box::new(Vectors::new(n)))
        };
        Self { degrees, way }
    }

    pub(super) fn backend(&self) -> Backend {
        match self.way {
            Way::Dense { .. } => Backend::Dense,
            Way::ConjugateGradient(_) => Backend::ConjugateGradient,
        }
    }

    /// The preconditioner of a team: what later directions depend on.
    pub(super) fn save(&self, state: &mut StateWriter) {
        if let Way::ConjugateGradient(vectors) = &self.way {
            state.count(vectors.seen as u64);
            state.numbers(vectors.inverse_diagonal.iter());
        }
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        if let Way::ConjugateGradient(vectors) = &mut self.way {
            vectors.seen = state.count()? as usize;
            state.numbers_into(&mut vectors.inverse_diagonal)?;
        }
        Ok(())
    }

    /// Solves for δ until max|b − Aδ| ≤ `target`; a direct way does not stop before.
    pub(super) fn solve(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        b: &[f64],
        target: f64,
        delta: &mut [f64],
    ) {
        match &mut self.way {
            Way::Dense { factor } => {
                assemble(factor, pass, &self.degrees, damping);
                cholesky(factor, b.len());
                delta.copy_from_slice(b);
                solve_with(factor, delta);
            }
            Way::ConjugateGradient(vectors) => {
                vectors.solve(pass, damping, &self.degrees, b, target, delta);
            }
        }
    }
}

impl Vectors {
    fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Self {
            inverse_diagonal: zeros(),
            seen: usize::MAX,
            factor: SampledFactor::default(),
            factored: None,
            r: zeros(),
            z: zeros(),
            p: zeros(),
            q: zeros(),
        }
    }

    /// From δ = 0, with the diagonal, and with the factor where that takes too long. Where even a
    /// new factor does, δ is still a way downhill.
    fn solve(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        degrees: &[f64],
        b: &[f64],
        target: f64,
        delta: &mut [f64],
    ) {
        let inliers = pass.count();
        let easier = |&seen: &usize| inliers as f64 > EASIER * seen as f64;
        self.factored = self.factored.filter(|seen| !easier(seen));
        delta.fill(0.0);
        self.r.copy_from_slice(b);
        let steps = match self.factored {
            None => {
                self.renew_diagonal(pass, degrees, inliers);
                if pass.communicator().is_single_process() { HARD_STEPS } else { MAX_STEPS }
            }
            Some(_) => STALE_STEPS,
        };
        if self.descend(pass, damping, degrees, target, steps, delta)
            || !pass.communicator().is_single_process()
        {
            return;
        }
        self.factor.renew(pass, degrees, damping);
        self.factored = Some(inliers);
        self.descend(pass, damping, degrees, target, MAX_STEPS, delta);
    }

    fn renew_diagonal(&mut self, pass: &mut Pass<'_>, degrees: &[f64], inliers: usize) {
        if inliers.abs_diff(self.seen) as f64 > STALE * self.seen as f64 {
            self.seen = inliers;
            pass.inlier_degrees(&mut self.inverse_diagonal);
            for (inverse, &degree) in self.inverse_diagonal.iter_mut().zip(degrees) {
                let diagonal = inverse.max(MIN_DIAGONAL * degree);
                *inverse = if degree > 0.0 { 1.0 / diagonal } else { 0.0 };
            }
        }
    }

    /// Preconditioned conjugate gradients from δ and its residual r. False if the steps ran out.
    fn descend(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        degrees: &[f64],
        target: f64,
        max_steps: usize,
        delta: &mut [f64],
    ) -> bool {
        let Self { inverse_diagonal, factor, factored, r, z, p, q, .. } = self;
        let factor = factored.map(|_| factor);
        let mut system =
            DampedSystem { pass, damping, degrees, target, inverse_diagonal, factor, z };
        let vectors = ConjugateGradientVectors { x: delta, r, p, q };
        conjugate_gradients(&mut system, vectors, max_steps).is_finished
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

/// The lower triangle, by rows.
fn assemble(matrix: &mut [f64], pass: &Pass<'_>, degrees: &[f64], damping: f64) {
    let n = degrees.len();
    matrix.fill(0.0);
    pass.for_each_inlier(|i, j, w| {
        matrix[i * n + i] += w;
        matrix[j * n + j] += w;
        matrix[j * n + i] -= w;
    });
    pass.communicator().sum(matrix);
    for (i, &degree) in degrees.iter().enumerate() {
        matrix[i * n + i] += if degree > 0.0 { damping * degree } else { 1.0 };
    }
}

/// Cholesky by rows. The constants of a component are nearly in the null space; the damping keeps
/// their pivot above zero, and where rounding has eaten it the damping's own size is put back.
fn cholesky(matrix: &mut [f64], n: usize) {
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i * n);
        let row = &mut rest[..=i];
        let before = row[i];
        for j in 0..i {
            let other = &above[j * n..=j * n + j];
            row[j] = (row[j] - dot(&row[..j], other)) / other[j];
        }
        let square = dot(&row[..i], &row[..i]);
        let least = before * f64::EPSILON * n as f64;
        row[i] = (before - square).max(least).sqrt();
    }
}

fn solve_with(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &factor[i * n..=i * n + i];
        x[i] = (x[i] - dot(&row[..i], x)) / row[i];
    }
    for i in (0..n).rev() {
        let row = &factor[i * n..=i * n + i];
        let (before, rest) = x.split_at_mut(i);
        rest[0] /= row[i];
        for (x, a) in before.iter_mut().zip(row) {
            *x -= a * rest[0];
        }
    }
}
