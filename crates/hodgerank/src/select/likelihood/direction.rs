//! The direction of a Fisher scoring step, by conjugate gradients on scores and rate together:
//!
//! ⎡ L + aI  c ⎤ ⎡ δθ ⎤   ⎡ ∂ℓ/∂θ ⎤
//! ⎣ cᵀ      b ⎦ ⎣ δε ⎦ = ⎣ ∂ℓ/∂ε ⎦
//!
//! with the expected information of [`super::pass`] and the precision a of the prior. The diagonal is
//! the preconditioner. A few iterations suffice: the direction needs two digits, and the prior bounds
//! the condition number on any graph.

use super::PRIOR;
use super::pass::{LikelihoodSlopes, SidedVotes};
use crate::numeric::{ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot};

/// Residual of the direction relative to the gradient; more accuracy would not save a step.
const TOLERANCE: f64 = 0.01;
const MAX_ITERATIONS: usize = 500;

/// A change of scores and rate, and the gain of ℓ that the quadratic model predicts.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub(super) scores: Vec<f64>,
    pub(super) rate: f64,
    pub(super) predicted_gain: f64,
}

/// Whether the change of the rate is an unknown or given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateChange {
    Free,
    Fixed(f64),
}

/// The direction at the point of `slopes`, which must be the last one that `votes` evaluated.
pub(super) fn ascent_direction(
    votes: &mut SidedVotes<'_>,
    slopes: &LikelihoodSlopes,
    change: RateChange,
) -> Direction {
    let n = votes.items();
    // The last entry belongs to the rate.
    let (mut rhs, border) = match change {
        RateChange::Free => (slopes.gradient.clone(), 1.0),
        RateChange::Fixed(rate) => {
            let parts = slopes.gradient.iter().zip(&slopes.cross);
            (parts.map(|(gradient, cross)| gradient - rate * cross).collect(), 0.0)
        }
    };
    rhs.push(border * slopes.rate_gradient);
    let inverse = |degree: &f64| 1.0 / (degree + PRIOR);
    let mut preconditioner: Vec<f64> = slopes.degrees.iter().map(inverse).collect();
    preconditioner.push(border / slopes.rate_information.max(f64::MIN_POSITIVE));
    let (z, mut q) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let (mut x, mut p) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut system = BorderedSystem { votes, slopes, border, preconditioner, z, target: 0.0 };
    let vectors = ConjugateGradientVectors { x: &mut x, r: &mut rhs, p: &mut p, q: &mut q };
    conjugate_gradients(&mut system, vectors, MAX_ITERATIONS);
    let rate = x.pop().unwrap_or(0.0);
    let rate = if let RateChange::Fixed(rate) = change { rate } else { rate };
    let mut found = Direction { scores: x, rate, predicted_gain: 0.0 };
    found.predicted_gain = 0.5 * slopes.along(&found);
    found
}

impl LikelihoodSlopes {
    /// The slope of ℓ along a direction.
    pub(super) fn along(&self, direction: &Direction) -> f64 {
        dot(&self.gradient, &direction.scores) + self.rate_gradient * direction.rate
    }
}

/// The bordered system with the diagonal as preconditioner.
struct BorderedSystem<'a, 'v> {
    votes: &'a mut SidedVotes<'v>,
    slopes: &'a LikelihoodSlopes,
    /// 1 where the rate is free, 0 where it is fixed and its row and column are left out.
    border: f64,
    preconditioner: Vec<f64>,
    z: Vec<f64>,
    /// rᵀz at which the direction is good enough.
    target: f64,
}

impl BorderedSystem<'_, '_> {
    /// z = M⁻¹r; returns rᵀz.
    fn precondition(&mut self, r: &[f64]) -> f64 {
        let parts = self.z.iter_mut().zip(self.preconditioner.iter().zip(r));
        parts.for_each(|(z, (m, r))| *z = m * r);
        dot(r, &self.z)
    }
}

impl ConjugateGradientSystem for BorderedSystem<'_, '_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        let rz = self.precondition(vectors.r);
        self.target = TOLERANCE * TOLERANCE * rz;
        (rz > self.target).then_some(rz)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        let (n, border) = (self.votes.items(), self.border);
        self.votes.times_information(&p[..n], &mut q[..n]);
        let rate = border * p[n];
        let mut along = 0.0;
        for ((q, p), cross) in q.iter_mut().zip(p).zip(&self.slopes.cross) {
            *q += PRIOR * p + rate * cross;
            along += cross * p;
        }
        q[n] = border * along + self.slopes.rate_information * rate;
        dot(p, q)
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
