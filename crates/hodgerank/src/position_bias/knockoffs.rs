//! Knockoff copies of the annotators' columns, described by inner products alone.
//!
//! A knockoff Ã of A has the same inner products as A, with itself and with every other column, except
//! that a column and its own copy are as little alike as s allows:
//!
//! [A, Ã]ᵀ[A, Ã] = [[Σ, Σ − sI], [Σ − sI, Σ]].
//!
//! Ã = A(I − sΣ⁻¹) + QC with CᵀC = 2sI − s²Σ⁻¹ and Q a random orthonormal basis of p dimensions that
//! neither the scores nor A use. A path needs only Ãᵀy = (I − sΣ⁻¹)Aᵀy + CᵀQᵀy, and Qᵀy is ‖y⊥‖ times p
//! coordinates of a uniformly random unit vector, so that Ã itself is never formed. If fewer than p
//! dimensions are left, y⊥ gets further entries with its own standard deviation, as Barber and Candès
//! propose.
//!
//! Σ = D − FᵀF gives all of it by matrices with as many rows as F:
//! - Σ⁻¹ = D⁻¹ + D⁻¹FᵀK⁻¹FD⁻¹ with K = I − FD⁻¹Fᵀ;
//! - 2sI − s²Σ⁻¹ = E^½(I − UUᵀ)E^½ with E = 2s − s²D⁻¹ and Uᵀ = s K^-½ F D⁻¹E^-½;
//! - (I − UUᵀ)^½ = I − U f(UᵀU) Uᵀ with f(x) = (1 − √(1 − x))/x.
//!
//! s is 1, or smaller if 2Σ − sI would not be positive definite: what every column has in common with the
//! others is then its copy's as well, and the power to tell them apart is lost.
//!
//! Cost: r²p multiply-adds to set up, 4rp for each draw.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use rayon::prelude::*;

use super::gram::{BiasGram, eigen};
use crate::error::{Error, Result};
use crate::laplacian::{BLOCK_COLUMNS, add_products, columns_of, factorise};
use crate::numeric::{dot_in_lanes, norm};

/// s is reduced by this factor until 2Σ − sI is positive definite.
const SMALLER: f64 = 0.7;
/// How far from singular 2Σ − sI must be, so that paths can be computed.
const MIN_EIGENVALUE: f64 = 1e-6;
/// Reductions of s before it counts as zero.
const MAX_REDUCTIONS: usize = 60;

/// Everything that draws of knockoffs share.
#[derive(Debug, Clone)]
pub(super) struct Knockoffs {
    /// How little a column and its copy are alike.
    pub(super) s: f64,
    /// Σ⁻¹Aᵀy: the biases by least squares, in units of the scaled columns.
    pub(super) estimate: Vec<f64>,
    /// ‖y⊥‖², what scores and biases leave of the votes.
    pub(super) residual_energy: f64,
    /// Dimensions that scores and biases leave.
    pub(super) dimensions: f64,
    /// (Σ⁻¹)_aa.
    pub(super) inverse_diagonal: Vec<f64>,
    /// E^½.
    root: Vec<f64>,
    /// QᵀUᵀ with UᵀU = Q diag(n) Qᵀ.
    rotated: Mat<f64>,
    /// f(n).
    shrinkage: Vec<f64>,
}

impl Knockoffs {
    /// # Errors
    /// If a factorisation breaks down.
    pub(super) fn new(gram: &BiasGram) -> Result<Self> {
        let failed = |error: faer::linalg::cholesky::llt::factor::LltError| Error::Factorisation {
            backend: "dense",
            items: gram.factor.nrows(),
            reason: error.to_string(),
        };
        let mut inner = gram.complement(|a| 1.0 / gram.diagonal[a]);
        factorise(inner.as_mut()).map_err(failed)?;
        let s = largest_s(gram);
        // C⁻¹F with K = CCᵀ.
        let mut whitened = gram.factor.clone();
        columns_of(whitened.as_mut()).into_par_iter().for_each(|columns| {
            solve_lower_triangular_in_place(inner.as_ref(), columns, Par::Seq);
        });
        let per_vote: Vec<f64> =
            gram.correlation.iter().zip(&gram.diagonal).map(|(z, d)| z / d).collect();
        let mut mean = vec![0.0; whitened.nrows()];
        for (a, z) in per_vote.iter().enumerate() {
            mean.iter_mut().zip(whitened.col_as_slice(a)).for_each(|(m, f)| *m += f * z);
        }
        let (mut estimate, mut inverse_diagonal) = (Vec::new(), Vec::new());
        for (a, z) in per_vote.iter().enumerate() {
            let (d, column) = (gram.diagonal[a], whitened.col_as_slice(a));
            estimate.push(z + dot_in_lanes(column, &mean) / d);
            inverse_diagonal.push(1.0 / d + dot_in_lanes(column, column) / (d * d));
        }
        let explained: f64 = estimate.iter().zip(&gram.correlation).map(|(x, z)| x * z).sum();
        let root: Vec<f64> = gram.diagonal.iter().map(|d| (2.0 * s - s * s / d).sqrt()).collect();
        for (a, root) in root.iter().enumerate() {
            let factor = s / (gram.diagonal[a] * root.max(f64::MIN_POSITIVE));
            whitened.col_as_slice_mut(a).iter_mut().for_each(|value| *value *= factor);
        }
        let mut inner = Mat::zeros(whitened.nrows(), whitened.nrows());
        add_products(inner.as_mut(), whitened.as_ref(), 1.0);
        let (values, vectors) = eigen(&inner)?;
        let mut rotated = Mat::zeros(whitened.nrows(), whitened.ncols());
        columns_of(rotated.as_mut()).into_par_iter().enumerate().for_each(|(tile, columns)| {
            let own = whitened.as_ref().subcols(tile * BLOCK_COLUMNS, columns.ncols());
            matmul(columns, Accum::Replace, vectors.transpose(), own, 1.0, Par::Seq);
        });
        // (1 − √(1 − n))/n without cancellation.
        let shrinkage = values.iter().map(|n| 1.0 / (1.0 + (1.0 - n).max(0.0).sqrt())).collect();
        Ok(Self {
            s,
            estimate,
            residual_energy: (gram.energy - explained).max(0.0),
            dimensions: gram.dimensions - gram.len() as f64,
            inverse_diagonal,
            root,
            rotated,
            shrinkage,
        })
    }

    /// The estimated standard deviation of a vote; none if scores and biases leave no dimension.
    pub(super) fn noise(&self) -> Option<f64> {
        (self.dimensions >= 1.0).then(|| (self.residual_energy / self.dimensions).sqrt())
    }

    /// Ãᵀy of one draw, from a stream of the seed.
    pub(super) fn draw(&self, gram: &BiasGram, seed: u64, stream: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let mut u: Vec<f64> = (0..gram.len()).map(|_| StandardNormal.sample(&mut random)).collect();
        let mut chi_squared = |degrees: f64| match ChiSquared::new(degrees) {
            Ok(distribution) if degrees > 0.0 => distribution.sample(&mut random),
            _ => 0.0,
        };
        let (count, length) = (gram.len() as f64, norm(&u));
        let spare = self.dimensions - count;
        let size = if spare >= 0.0 {
            (self.residual_energy / (length * length + chi_squared(spare))).sqrt()
        } else {
            let variance = self.noise().map_or(0.0, |noise| noise * noise);
            (self.residual_energy + variance * chi_squared(-spare)).sqrt() / length
        };
        u.iter_mut().for_each(|value| *value *= size);
        let mut inner = vec![0.0; self.rotated.nrows()];
        for (a, u) in u.iter().enumerate() {
            inner.iter_mut().zip(self.rotated.col_as_slice(a)).for_each(|(i, f)| *i += f * u);
        }
        inner.iter_mut().zip(&self.shrinkage).for_each(|(inner, f)| *inner *= f);
        let correlation = |a: usize| {
            let noise = u[a] - dot_in_lanes(self.rotated.col_as_slice(a), &inner);
            gram.correlation[a] - self.s * self.estimate[a] + self.root[a] * noise
        };
        (0..gram.len()).map(correlation).collect()
    }
}

/// The largest s of 1, 0.7, 0.49, … for which 2Σ − sI = (2D − s) − 2FᵀF is positive definite: the
/// diagonal part is positive for s ≤ 1, and by Woodbury's identity I − 2F(2D − s)⁻¹Fᵀ must be. Zero if
/// there is none.
fn largest_s(gram: &BiasGram) -> f64 {
    let is_positive = |s: f64| {
        let mut matrix = gram.complement(|a| 2.0 / (2.0 * gram.diagonal[a] - s));
        (0..matrix.nrows()).for_each(|i| matrix[(i, i)] -= MIN_EIGENVALUE);
        factorise(matrix.as_mut()).is_ok()
    };
    let mut s = 1.0;
    for _ in 0..MAX_REDUCTIONS {
        if is_positive(s) {
            return s;
        }
        s *= SMALLER;
    }
    0.0
}
