//! The direction of Fisher scoring, by conjugate gradients on the scores and the rate together:
//!
//! ⎡ L + aI  c ⎤ ⎡ δθ ⎤   ⎡ ∂ℓ/∂θ ⎤
//! ⎣ cᵀ      b ⎦ ⎣ δε ⎦ = ⎣ ∂ℓ/∂ε ⎦
//!
//! with the expected information of [`super::pass`] and the prior's a. The diagonal is the
//! preconditioner. A few steps suffice: the direction needs two digits, and the prior bounds the
//! condition of the matrix on any graph.

use super::PRIOR;
use super::pass::{SidedVotes, Slopes};

/// Residual, relative to the gradient, at which a direction is good enough: it is one of several.
const TOLERANCE: f64 = 0.01;
const MAX_ITERATIONS: usize = 500;

/// A change of the scores and of the rate, and the rise of ℓ that its quadratic model predicts.
#[derive(Debug, Clone)]
pub(super) struct Direction {
    pub(super) scores: Vec<f64>,
    pub(super) rate: f64,
    pub(super) rise: f64,
}

/// What the change of the rate may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateChange {
    Free,
    Fixed(f64),
}

/// The direction from the point of `slopes`, whose working weights `votes` holds.
pub(super) fn uphill(votes: &mut SidedVotes<'_>, slopes: &Slopes, change: RateChange) -> Direction {
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
    let mut times = |x: &[f64], out: &mut [f64]| {
        votes.times_information(&x[..n], &mut out[..n]);
        let rate = border * x[n];
        let mut along = 0.0;
        for ((out, x), cross) in out.iter_mut().zip(x).zip(&slopes.cross) {
            *out += PRIOR * x + rate * cross;
            along += cross * x;
        }
        out[n] = border * along + slopes.rate_information * rate;
    };
    let mut x = conjugate_gradients(&rhs, &preconditioner, &mut times);
    let rate = x.pop().unwrap_or(0.0);
    let rate = if let RateChange::Fixed(rate) = change { rate } else { rate };
    let along = dot(&slopes.gradient, &x) + slopes.rate_gradient * rate;
    Direction { scores: x, rate, rise: 0.5 * along }
}

fn conjugate_gradients(
    rhs: &[f64],
    preconditioner: &[f64],
    times: &mut impl FnMut(&[f64], &mut [f64]),
) -> Vec<f64> {
    let mut x = vec![0.0; rhs.len()];
    let mut r = rhs.to_vec();
    let mut z: Vec<f64> = r.iter().zip(preconditioner).map(|(r, m)| r * m).collect();
    let mut p = z.clone();
    let mut q = vec![0.0; rhs.len()];
    let mut rz = dot(&r, &z);
    let goal = TOLERANCE * TOLERANCE * rz;
    for _ in 0..MAX_ITERATIONS {
        times(&p, &mut q);
        let pq = dot(&p, &q);
        if !(pq > 0.0 && rz > goal) {
            break;
        }
        let alpha = rz / pq;
        for (k, m) in preconditioner.iter().enumerate() {
            x[k] += alpha * p[k];
            r[k] -= alpha * q[k];
            z[k] = m * r[k];
        }
        let next = dot(&r, &z);
        if next <= goal {
            break;
        }
        let beta = next / rz;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        rz = next;
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
