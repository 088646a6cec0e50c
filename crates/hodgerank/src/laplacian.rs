//! Linear systems with the graph Laplacian: (XᵀWX + shift·I) θ = b.
//!
//! Each connected component is a system of its own, solved by one of three backends:
//!
//! | backend | best for | cost |
//! |---|---|---|
//! | [`Backend::Dense`] | few items, many pairs | n³/3 multiply-adds, 8n² bytes |
//! | [`Backend::Sparse`] | meshes, chains, trees | depends on the fill of the factor |
//! | [`Backend::ConjugateGradient`] | large well-connected vote graphs | pairs × iterations |
//!
//! [`BackendChoice::Auto`] predicts the cost of each from the shape of the component alone, so
//! the same votes always take the same way. [`LaplacianSystem`] is the entry point.
//!
//! The mean of a component is set apart before any backend sees the system. The Laplacian maps
//! constants to zero, so the mean of b decides the mean of θ (mean θ = mean b / shift) and nothing
//! else; without a shift the mean of θ is free and is set to zero.

mod choose;
mod conjugate_gradient;
mod dense;
mod matrix;
mod pencil;
mod pseudo_inverse;
mod refine;
mod sparse;
mod system;

pub use matrix::{LaplacianBlock, LaplacianMatrix};
pub use pencil::{Eigenvalue, Operator, smallest_eigenvalue};
pub use pseudo_inverse::pseudo_inverse;
pub use system::LaplacianSystem;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::numeric::norm;

/// A way to solve the system of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Cholesky factorisation of the full matrix.
    Dense,
    /// Sparse Cholesky factorisation after a fill-reducing (approximate minimum degree) ordering.
    Sparse,
    /// Conjugate gradients, preconditioned by the diagonal.
    ConjugateGradient,
}

impl Backend {
    /// All backends.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Sparse, Self::ConjugateGradient];

    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::ConjugateGradient => "cg",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who chooses the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BackendChoice {
    /// The shape of each component does.
    #[default]
    Auto,
    /// The caller does, for all components.
    Fixed(Backend),
}

impl BackendChoice {
    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fixed(backend) => backend.as_str(),
        }
    }
}

impl FromStr for BackendChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        let fixed = Backend::ALL.into_iter().find(|backend| backend.as_str() == name);
        fixed.map(Self::Fixed).ok_or_else(|| Error::BadOption {
            option: "backend",
            value: name.to_owned(),
            expected: "auto, dense, sparse or cg",
        })
    }
}

/// When a solver may stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// Relative residual ‖b − Aθ‖ / ‖b‖ that is good enough.
    pub tolerance: f64,
    /// Most iterations of an iterative backend.
    pub max_iterations: usize,
    /// Take a solve with a factor as it is, without computing its residual. For one of many solves
    /// with a factor that has proved good ([`SolveInfo::iterations`] of 1); a product with the
    /// matrix costs more than the solve.
    pub unchecked: bool,
}

impl StoppingRule {
    /// Good enough at this relative residual.
    #[must_use]
    pub const fn at(tolerance: f64) -> Self {
        Self { tolerance, max_iterations: 10_000, unchecked: false }
    }
}

impl Default for StoppingRule {
    fn default() -> Self {
        Self::at(1e-10)
    }
}

/// How a solve went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// Conjugate-gradient steps, or solves with the factor; of several components, the most.
    pub iterations: usize,
    /// ‖b − Aθ‖ / ‖b‖, computed from the answer and not from a recurrence; 0 where b = 0 or where it
    /// was not to be checked.
    pub residual: f64,
    /// Whether the residual met the tolerance, or is as small as 64-bit numbers can make it.
    pub converged: bool,
}

/// One component's solver: whatever a backend keeps between set-up and solve.
///
/// The matrix is lent to it at each call, so that nothing is stored twice. A later method that
/// takes new weights on the same pattern needs only the block and what is stored here.
pub trait LaplacianSolver: fmt::Debug + Send + Sync {
    /// Which backend this is.
    fn backend(&self) -> Backend;

    /// Solves `matrix · out = rhs` where both have mean zero.
    ///
    /// `matrix` must be the one that the solver was set up with. Stopping early is told by
    /// [`SolveInfo::converged`]; nothing else can go wrong here, so there is no error.
    fn solve(
        &self,
        matrix: LaplacianBlock<'_>,
        rhs: &[f64],
        out: &mut [f64],
        rule: &StoppingRule,
    ) -> SolveInfo;

    /// Memory held between calls, without the matrix.
    fn bytes(&self) -> usize;
}

/// Whether a residual is as small as the tolerance asks or as rounding permits.
///
/// An answer with a residual below a few ε(‖A‖‖θ‖ + ‖b‖) solves a system that differs from the
/// one given by rounding alone. On long chains ‖A‖‖θ‖ is so much larger than ‖b‖ that no vector
/// of 64-bit numbers can meet a relative residual of 1e-10.
fn good_enough(
    matrix: LaplacianBlock<'_>,
    residual: f64,
    rhs_norm: f64,
    out: &[f64],
    tolerance: f64,
) -> bool {
    let rounding = 4.0 * f64::EPSILON * (matrix.norm_bound() * norm(out) + rhs_norm);
    residual <= (tolerance * rhs_norm).max(rounding)
}

fn centre(x: &mut [f64]) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    for v in x {
        *v -= mean;
    }
}
