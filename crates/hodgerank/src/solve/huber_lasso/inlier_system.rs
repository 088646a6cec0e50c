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
//! | [`LaplacianSystem`] of the inlier graph | these took too many steps | its set-up |
//!
//! The last is for small λ: little more than a spanning tree is left then, on which conjugate
//! gradients crawl and a sparse factor costs next to nothing.

use super::pass::Pass;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{Backend, BackendChoice, LaplacianSystem, StoppingRule};

/// A library's dense Cholesky is faster from about here on, but conjugate gradients are too.
const DENSE_MOST_ITEMS: usize = 48;
/// Any diagonal will do for a preconditioner. It is renewed when the number of inliers has changed
/// by this share, and has no entry below this share of the degree, in case an item without inliers
/// gets some before that.
const STALE: f64 = 0.03;
const LEAST_DIAGONAL: f64 = 1e-3;
/// Conjugate-gradient steps after which a direction is taken as it is, and after which a direct
/// way is tried; items up to which it is; growth of the inliers after which it is no longer.
const MOST_STEPS: usize = 2000;
const HARD_STEPS: usize = 300;
const DIRECT_MOST_ITEMS: usize = 1 << 18;
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
    /// How many inliers there were when conjugate gradients took too many steps.
    hard: Option<usize>,
    r: Vec<f64>,
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
            let zeros = || vec![0.0; n];
            let (inverse_diagonal, r, p, q) = (zeros(), zeros(), zeros(), zeros());
            Way::ConjugateGradient(Box::new(Vectors {
                inverse_diagonal,
                seen: usize::MAX,
                hard: None,
                r,
                p,
                q,
            }))
        };
        Self { degrees, way }
    }

    pub(super) fn backend(&self) -> Backend {
        match self.way {
            Way::Dense { .. } => Backend::Dense,
            Way::ConjugateGradient(_) => Backend::ConjugateGradient,
        }
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
                let small = b.len() <= DIRECT_MOST_ITEMS;
                let most_steps = if small { HARD_STEPS } else { MOST_STEPS };
                let easier = |&hard: &usize| pass.count() as f64 > EASIER * hard as f64;
                vectors.hard = vectors.hard.filter(|hard| !easier(hard));
                if vectors.hard.is_none()
                    && vectors.solve(pass, damping, &self.degrees, b, target, most_steps, delta)
                {
                    return;
                }
                if small && direct(pass, damping, &self.degrees, b, delta) {
                    vectors.hard.get_or_insert(pass.count());
                }
            }
        }
    }
}

impl Vectors {
    /// Plain preconditioned conjugate gradients from δ = 0. False if the steps ran out; δ is then
    /// still a way downhill.
    #[allow(clippy::too_many_arguments, reason = "the symbols of one equation")]
    fn solve(
        &mut self,
        pass: &mut Pass<'_>,
        damping: f64,
        degrees: &[f64],
        b: &[f64],
        target: f64,
        most_steps: usize,
        delta: &mut [f64],
    ) -> bool {
        let Self { inverse_diagonal, seen, r, p, q, .. } = self;
        if pass.count().abs_diff(*seen) as f64 > STALE * *seen as f64 {
            *seen = pass.count();
            pass.inlier_degrees(inverse_diagonal);
            for (inverse, &degree) in inverse_diagonal.iter_mut().zip(degrees) {
                let diagonal = inverse.max(LEAST_DIAGONAL * degree);
                *inverse = if degree > 0.0 { 1.0 / diagonal } else { 0.0 };
            }
        }
        delta.fill(0.0);
        r.copy_from_slice(b);
        let mut rz = 0.0;
        for ((p, r), inverse) in p.iter_mut().zip(r.iter()).zip(inverse_diagonal.iter()) {
            *p = r * inverse;
            rz += r * *p;
        }
        for _ in 0..most_steps {
            pass.inlier_laplacian(p, q);
            let mut pq = 0.0;
            for ((q, p), degree) in q.iter_mut().zip(p.iter()).zip(degrees) {
                *q += damping * degree * p;
                pq += *q * p;
            }
            if !(pq > 0.0 && rz > 0.0) {
                return true;
            }
            let alpha = rz / pq;
            let (mut largest, mut next_rz) = (0.0_f64, 0.0);
            let ends = delta.iter_mut().zip(r.iter_mut());
            let ways = p.iter().zip(q.iter()).zip(inverse_diagonal.iter());
            for ((delta, r), ((p, q), inverse)) in ends.zip(ways) {
                *delta += alpha * p;
                *r -= alpha * q;
                largest = largest.max(r.abs());
                next_rz += *r * *r * inverse;
            }
            if largest <= target {
                return true;
            }
            let beta = next_rz / rz;
            for ((p, r), inverse) in p.iter_mut().zip(r.iter()).zip(inverse_diagonal.iter()) {
                *p = r * inverse + beta * *p;
            }
            rz = next_rz;
        }
        false
    }
}

/// Solves (L_I + μd·I)δ = b with d the mean of D. False, with δ as it was, if that failed.
fn direct(pass: &Pass<'_>, damping: f64, degrees: &[f64], b: &[f64], delta: &mut [f64]) -> bool {
    let mut inliers = Groups::default();
    pass.for_each_inlier(|left, right, weight| {
        inliers.left.push(left as u32);
        inliers.right.push(right as u32);
        inliers.y.push(0.0);
        inliers.weight.push(weight);
    });
    let shift = damping * degrees.iter().sum::<f64>() / degrees.len() as f64;
    let rule = StoppingRule { tolerance: 1e-10, max_iterations: MOST_STEPS };
    let solution = ComparisonGraph::new(degrees.len(), inliers)
        .and_then(|graph| LaplacianSystem::new(&graph, shift, BackendChoice::Auto))
        .and_then(|system| system.solve(b, &rule));
    let Ok((scores, _)) = solution else { return false };
    if scores.iter().any(|score| !score.is_finite()) {
        return false;
    }
    delta.copy_from_slice(&scores);
    true
}

/// The lower triangle, by rows.
fn assemble(matrix: &mut [f64], pass: &Pass<'_>, degrees: &[f64], damping: f64) {
    let n = degrees.len();
    matrix.fill(0.0);
    for (i, &degree) in degrees.iter().enumerate() {
        matrix[i * n + i] = if degree > 0.0 { damping * degree } else { 1.0 };
    }
    pass.for_each_inlier(|i, j, w| {
        matrix[i * n + i] += w;
        matrix[j * n + j] += w;
        matrix[j * n + i] -= w;
    });
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
            let dot: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            row[j] = (row[j] - dot) / other[j];
        }
        let dot: f64 = row[..i].iter().map(|a| a * a).sum();
        let least = before * f64::EPSILON * n as f64;
        row[i] = (before - dot).max(least).sqrt();
    }
}

fn solve_with(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &factor[i * n..=i * n + i];
        let dot: f64 = row[..i].iter().zip(x.iter()).map(|(a, b)| a * b).sum();
        x[i] = (x[i] - dot) / row[i];
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
