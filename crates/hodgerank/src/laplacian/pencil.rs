//! The smallest eigenvalue of a pencil of Laplacians: min xᵀAx / xᵀBx over x orthogonal to constants.
//!
//! With B = I and A = L this is the algebraic connectivity of a graph; with A the Laplacian of the
//! inliers and B that of all votes it is C_min of the paper.
//!
//! Locally optimal conjugate gradients (LOBPCG) with A† as preconditioner: each step minimises the
//! quotient over the span of x, A†Bx and the last change. A†Bx is a step of inverse iteration; the
//! other two give it the convergence of Lanczos without storing a basis.
//!
//! Accuracy: with xᵀBx = 1, ρ = xᵀAx and the residual r = Ax − ρBx there is an eigenvalue λ with
//! |1 − ρ/λ| ≤ (rᵀA†r/ρ)^½, and ρ is never below the smallest one. Close to convergence the error of ρ
//! is about the square of that bound.
//!
//! Cost per step: one solve with A and three products with each of A and B; about 12 vectors.

use faer::{Mat, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::numeric::{self, sum_tasks};

/// Entries of a vector that one task works on.
const ENTRIES_PER_TASK: usize = 1 << 14;

/// Minimum squared norm of the new component of a normalised vector that enters the basis.
const MIN_NEW_COMPONENT: f64 = 1e-14;

/// Result of [`smallest_eigenvalue`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Eigenvalue {
    /// ρ: at least the smallest eigenvalue.
    pub value: f64,
    /// Bound of |1 − ρ/λ| for the nearest eigenvalue λ.
    pub accuracy: f64,
    /// Steps made.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub steps: usize,
    /// Whether the accuracy reached the tolerance.
    pub converged: bool,
}

/// A symmetric matrix, given by its product with a vector: writes Ax into the second argument.
pub type Operator<'a> = &'a dyn Fn(&[f64], &mut [f64]);

/// A vector v with its images Av and Bv.
#[derive(Debug, Clone)]
struct Imaged {
    v: Vec<f64>,
    a: Vec<f64>,
    b: Vec<f64>,
}

/// The smallest eigenvalue of (A, B) on `n` items.
///
/// `solve` returns A†b, orthogonal to constants. The constants of each component must be the common
/// kernel of A and B, or B the identity.
///
/// # Errors
/// If a solve fails.
pub fn smallest_eigenvalue(
    n: usize,
    a: Operator<'_>,
    b: Operator<'_>,
    solve: &dyn Fn(&[f64]) -> Result<Vec<f64>>,
    tolerance: f64,
    max_steps: usize,
) -> Result<Eigenvalue> {
    let imaged = |v: Vec<f64>| {
        let (mut av, mut bv) = (vec![0.0; n], vec![0.0; n]);
        a(&v, &mut av);
        b(&v, &mut bv);
        Imaged { v, a: av, b: bv }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let noise: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut x = imaged(solve(&noise)?);
    let mut found = Eigenvalue { value: 0.0, accuracy: 0.0, steps: 0, converged: true };
    if !x.normalise() {
        return Ok(found);
    }
    let mut change: Option<Vec<f64>> = None;
    found.converged = false;
    while found.steps < max_steps {
        let inverse = solve(&x.b)?;
        found.value = dot(&x.v, &x.a);
        found.accuracy = accuracy(&x, found.value, &inverse);
        found.steps += 1;
        if found.accuracy <= tolerance {
            found.converged = true;
            break;
        }
        let mut basis = vec![x];
        for next in [Some(inverse), change.take()].into_iter().flatten() {
            add_to_basis(&mut basis, imaged(next));
        }
        let weights = best_combination(&basis);
        change = Some(combination(&basis[1..], &weights[1..], n));
        // Images are recomputed: cancellation in the combination would leave rounding errors.
        x = imaged(combination(&basis, &weights, n));
        if !x.normalise() {
            break;
        }
    }
    Ok(found)
}

/// (rᵀA†r/ρ)^½ with r = Ax − ρBx and A†r = x − ρ A†Bx.
fn accuracy<'a>(x: &'a Imaged, value: f64, inverse: &'a [f64]) -> f64 {
    let chunks = |vector: &'a [f64]| vector.par_chunks(ENTRIES_PER_TASK);
    let tasks = chunks(&x.v).zip(chunks(inverse)).zip(chunks(&x.a).zip(chunks(&x.b)));
    let [square] = sum_tasks(tasks, |((x, inverse), (a, b))| {
        let terms = x.iter().zip(inverse).zip(a.iter().zip(b));
        [terms.map(|((x, inv), (a, b))| (x - value * inv) * (a - value * b)).sum()]
    });
    // The square is not known more accurately than ε.
    if value > 0.0 { (square / value).max(f64::EPSILON).sqrt() } else { 0.0 }
}

/// Makes `next` B-orthonormal to the basis and adds it, unless it is almost in its span.
fn add_to_basis(basis: &mut Vec<Imaged>, mut next: Imaged) {
    // Two rounds of Gram–Schmidt suffice.
    for _ in 0..2 {
        if !next.normalise() {
            return;
        }
        for other in basis.iter() {
            let share = dot(&other.b, &next.v);
            next.add(-share, other);
        }
        if dot(&next.v, &next.b) < MIN_NEW_COMPONENT {
            return;
        }
    }
    if next.normalise() {
        basis.push(next);
    }
}

/// The coefficients of the normalised x in the span of a B-orthonormal basis that minimises xᵀAx.
fn best_combination(basis: &[Imaged]) -> Vec<f64> {
    let size = basis.len();
    let small = Mat::from_fn(size, size, |i, j| {
        0.5 * (dot(&basis[i].v, &basis[j].a) + dot(&basis[j].v, &basis[i].a))
    });
    match small.self_adjoint_eigen(Side::Lower) {
        // Ascending eigenvalues.
        Ok(eigen) => eigen.U().col(0).iter().copied().collect(),
        Err(_) => (0..size).map(|k| if k == 0 { 1.0 } else { 0.0 }).collect(),
    }
}

fn combination(basis: &[Imaged], weights: &[f64], n: usize) -> Vec<f64> {
    let mut sum = vec![0.0; n];
    for (vector, weight) in basis.iter().zip(weights) {
        add_multiple(&mut sum, *weight, &vector.v);
    }
    sum
}

/// xᵀy, with the same bits for any number of threads.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let tasks = x.par_chunks(ENTRIES_PER_TASK).zip(y.par_chunks(ENTRIES_PER_TASK));
    let [sum] = sum_tasks(tasks, |(x, y)| [numeric::dot(x, y)]);
    sum
}

/// x ← x + factor·y.
fn add_multiple(x: &mut [f64], factor: f64, y: &[f64]) {
    let tasks = x.par_chunks_mut(ENTRIES_PER_TASK).zip(y.par_chunks(ENTRIES_PER_TASK));
    tasks.for_each(|(x, y)| x.iter_mut().zip(y).for_each(|(x, y)| *x += factor * y));
}

impl Imaged {
    fn add(&mut self, factor: f64, other: &Self) {
        let sides = [(&mut self.v, &other.v), (&mut self.a, &other.a), (&mut self.b, &other.b)];
        for (mine, others) in sides {
            add_multiple(mine, factor, others);
        }
    }

    /// Scales to xᵀBx = 1; returns false if that is impossible.
    fn normalise(&mut self) -> bool {
        let size = dot(&self.v, &self.b).sqrt();
        if !(size > 0.0 && size.is_finite()) {
            return false;
        }
        for side in [&mut self.v, &mut self.a, &mut self.b] {
            let tasks = side.par_chunks_mut(ENTRIES_PER_TASK);
            tasks.for_each(|side| side.iter_mut().for_each(|v| *v /= size));
        }
        true
    }
}
