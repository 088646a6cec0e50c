//! Preconditioned conjugate gradients for Ax = b, A symmetric and positive (semi)definite.
//!
//! | symbol | meaning |
//! |---|---|
//! | x, r = b − Ax | iterate and its residual |
//! | M, z = M⁻¹r | preconditioner and preconditioned residual |
//! | p, q = Ap | direction and its image |
//!
//! The recurrence is here; a [`ConjugateGradientSystem`] brings the operator, the preconditioner and
//! the stopping rule. It also computes all sums over entries, because solvers add them up in
//! different orders (one thread, tasks, lanes) and their results must keep their bits.

/// The vectors of a run, of equal length.
pub(crate) struct ConjugateGradientVectors<'a> {
    /// The iterate.
    pub(crate) x: &'a mut [f64],
    /// Its residual b − Ax.
    pub(crate) r: &'a mut [f64],
    /// The direction; its content at the start does not matter.
    pub(crate) p: &'a mut [f64],
    /// Ap; its content at the start does not matter.
    pub(crate) q: &'a mut [f64],
}

impl ConjugateGradientVectors<'_> {
    /// x ← x + αp, r ← r − αq.
    pub(crate) fn step(&mut self, alpha: f64) {
        let Self { x, r, p, q } = self;
        for ((x, r), (p, q)) in x.iter_mut().zip(r.iter_mut()).zip(p.iter().zip(q.iter())) {
            *x += alpha * p;
            *r -= alpha * q;
        }
    }
}

/// Operator, preconditioner and stopping rule of a run.
pub(crate) trait ConjugateGradientSystem {
    /// Returns rᵀz for the initial r; none if the stopping rule is met already.
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64>;

    /// q ← Ap; returns pᵀq, or 0 where it is too small to divide by.
    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64;

    /// x ← x + αp, r ← r − αq; returns rᵀz, or none if the stopping rule is met.
    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64>;

    /// p ← z + βp.
    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>);
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConjugateGradientRun {
    pub(crate) iterations: usize,
    /// Whether the stopping rule was met, or pᵀAp or rᵀz was no longer positive.
    pub(crate) is_finished: bool,
}

/// Iterates from x and its residual r until the stopping rule is met, the curvature pᵀAp is no
/// longer positive, or `max_iterations` are used up.
pub(crate) fn conjugate_gradients(
    system: &mut impl ConjugateGradientSystem,
    mut vectors: ConjugateGradientVectors<'_>,
    max_iterations: usize,
) -> ConjugateGradientRun {
    let finished = |iterations| ConjugateGradientRun { iterations, is_finished: true };
    let Some(mut rz) = system.start(&mut vectors) else {
        return finished(0);
    };
    vectors.p.fill(0.0);
    system.turn(0.0, &mut vectors);
    for iteration in 0..max_iterations {
        let pq = system.multiply(vectors.p, vectors.q);
        if !(pq > 0.0 && rz > 0.0) {
            return finished(iteration);
        }
        let Some(next_rz) = system.advance(rz / pq, &mut vectors) else {
            return finished(iteration + 1);
        };
        system.turn(next_rz / rz, &mut vectors);
        rz = next_rz;
    }
    ConjugateGradientRun { iterations: max_iterations, is_finished: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{dot, norm};

    /// A tridiagonal matrix (2 + k/10, −1) with its diagonal as preconditioner.
    struct Tridiagonal {
        diagonal: Vec<f64>,
        target: f64,
    }

    impl Tridiagonal {
        fn rz(&self, r: &[f64]) -> Option<f64> {
            let z: Vec<f64> = r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect();
            (norm(r) > self.target).then(|| dot(r, &z))
        }
    }

    impl ConjugateGradientSystem for Tridiagonal {
        fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
            self.rz(vectors.r)
        }

        fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
            for k in 0..p.len() {
                let before = if k > 0 { p[k - 1] } else { 0.0 };
                q[k] = self.diagonal[k] * p[k] - before - p.get(k + 1).unwrap_or(&0.0);
            }
            dot(p, q)
        }

        fn advance(
            &mut self,
            alpha: f64,
            vectors: &mut ConjugateGradientVectors<'_>,
        ) -> Option<f64> {
            vectors.step(alpha);
            self.rz(vectors.r)
        }

        fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
            for (k, p) in vectors.p.iter_mut().enumerate() {
                *p = vectors.r[k] / self.diagonal[k] + beta * *p;
            }
        }
    }

    fn run(b: &[f64], max_iterations: usize) -> (Vec<f64>, ConjugateGradientRun) {
        let n = b.len();
        let diagonal = (0..n).map(|k| 2.0 + 0.1 * k as f64).collect();
        let mut system = Tridiagonal { diagonal, target: 1e-12 };
        let (mut x, mut r) = (vec![0.0; n], b.to_vec());
        // The initial content of p and q is overwritten.
        let (mut p, mut q) = (vec![7.0; n], vec![f64::NAN; n]);
        let vectors = ConjugateGradientVectors { x: &mut x, r: &mut r, p: &mut p, q: &mut q };
        let run = conjugate_gradients(&mut system, vectors, max_iterations);
        let mut ax = vec![0.0; n];
        system.multiply(&x, &mut ax);
        (ax, run)
    }

    #[test]
    fn solves_a_system_in_as_many_iterations_as_unknowns() {
        let b = [1.0, -2.0, 3.0, 0.5, 0.0];
        let (ax, run) = run(&b, 10);
        assert!(run.is_finished && run.iterations <= 6, "{run:?}");
        assert!(ax.iter().zip(&b).all(|(ax, b)| (ax - b).abs() < 1e-10), "{ax:?}");
    }

    #[test]
    fn reports_whether_iterations_ran_out() {
        let unfinished = ConjugateGradientRun { iterations: 2, is_finished: false };
        assert_eq!(run(&[1.0, -2.0, 3.0, 0.5, 0.0], 2).1, unfinished);
        let finished = ConjugateGradientRun { iterations: 0, is_finished: true };
        assert_eq!(run(&[0.0; 3], 5).1, finished);
    }
}
