//! Linear systems with the graph Laplacian: (XᵀWX + shift·I) θ = b.
//!
//! Each connected component is an independent system, solved by one of three backends:
//!
//! | backend | best for | cost |
//! |---|---|---|
//! | [`Backend::Dense`] | few items, many pairs | n³/3 multiply-adds, 8n² bytes |
//! | [`Backend::Sparse`] | meshes, chains, trees | depends on the fill of the factor |
//! | [`Backend::ConjugateGradient`] | large well-connected vote graphs | pairs × iterations |
//!
//! [`BackendChoice::Auto`] predicts the cost of each from the shape of the component alone, so the
//! same votes always use the same backend. [`LaplacianSystem`] is the entry point.
//!
//! The mean of each component is handled separately from the backends. The Laplacian maps constants
//! to zero, so the mean of b determines only the mean of θ (mean θ = mean b / shift); without a shift
//! the mean of θ is arbitrary and is set to zero.

mod block_solve;
mod choose;
mod conjugate_gradient;
mod dense;
mod elimination;
mod error_bound;
mod least_squares;
mod matrix;
mod pair_laplacian;
mod pencil;
mod pseudo_inverse;
mod refine;
mod spanning_forest;
mod sparse;
mod system;
mod whole_votes;

pub(crate) use block_solve::Lanes;
pub(crate) use dense::{BLOCK_COLUMNS, add_products, columns_of, factorise};
pub use error_bound::{ErrorBound, FittedVotes, MAX_ERROR, error_bound};
pub use matrix::{LaplacianBlock, LaplacianMatrix};
pub(crate) use pair_laplacian::StepSystem;
pub use pencil::{Eigenvalue, Operator, smallest_eigenvalue};
pub use pseudo_inverse::{inverse_information, pseudo_inverse};
pub use system::LaplacianSystem;

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::numeric::norm;

/// A solver for the system of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Cholesky factorisation of the full matrix.
    Dense,
    /// Sparse Cholesky factorisation after a fill-reducing (approximate minimum degree) ordering.
    Sparse,
    /// Preconditioned conjugate gradients.
    ConjugateGradient,
}

impl Backend {
    /// All backends.
    pub const ALL: [Self; 3] = [Self::Dense, Self::Sparse, Self::ConjugateGradient];

    /// The name on the command line.
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

/// How the backend is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BackendChoice {
    /// By the predicted cost for the shape of each component.
    #[default]
    Auto,
    /// This backend for all components.
    Fixed(Backend),
}

impl BackendChoice {
    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fixed(backend) => backend.as_str(),
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for BackendChoice {
    fn value_variants<'a>() -> &'a [Self] {
        use Backend::{ConjugateGradient, Dense, Sparse};
        &[Self::Auto, Self::Fixed(Dense), Self::Fixed(Sparse), Self::Fixed(ConjugateGradient)]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let help = match self {
            Self::Auto => "Chosen by the size and shape of the comparison graph",
            Self::Fixed(Backend::Dense) => "Dense Cholesky factorisation",
            Self::Fixed(Backend::Sparse) => "Sparse Cholesky factorisation",
            Self::Fixed(Backend::ConjugateGradient) => "Preconditioned conjugate gradients",
        };
        Some(clap::builder::PossibleValue::new(self.as_str()).help(help))
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

/// When a solver stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoppingRule {
    /// Maximum relative residual ‖b − Aθ‖ / ‖b‖.
    pub tolerance: f64,
    /// Maximum number of iterations of an iterative backend.
    pub max_iterations: usize,
    /// Whether to skip the residual of a solve with a factor. For repeated solves with a factor that
    /// has proved accurate ([`SolveInfo::iterations`] of 1), where a product with the matrix would
    /// cost more than the solve.
    pub unchecked: bool,
    /// Whether several processes stop at the tolerance, as one does. Otherwise they compute more digits,
    /// because one process would often factor the matrix and get them all.
    pub same_on_processes: bool,
}

impl StoppingRule {
    /// Stops at this relative residual, or after 10,000 iterations.
    #[must_use]
    pub const fn at(tolerance: f64) -> Self {
        Self { tolerance, max_iterations: 10_000, unchecked: false, same_on_processes: false }
    }
}

impl Default for StoppingRule {
    fn default() -> Self {
        Self::at(1e-10)
    }
}

/// Iterations and accuracy of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveInfo {
    /// Conjugate-gradient iterations or solves with the factor; the maximum over components.
    pub iterations: usize,
    /// ‖b − Aθ‖ / ‖b‖, computed from the solution and not from a recurrence; 0 if b = 0 or the rule is
    /// `unchecked`.
    pub residual: f64,
    /// Whether the residual meets the tolerance, or is as small as rounding permits. For
    /// [`LaplacianSystem::solve_votes`]: whether the error bound is small ([`ErrorBound::is_small`]).
    pub converged: bool,
    /// Bound of the error of the scores relative to their spread ([`ErrorBound::relative`]), if it was
    /// computed.
    pub error_bound: Option<f64>,
}

/// The solver of one component: what a backend stores between set-up and solve.
///
/// The matrix is passed to each call, so that it is stored only once.
pub trait LaplacianSolver: fmt::Debug + Send + Sync {
    /// The backend.
    fn backend(&self) -> Backend;

    /// Solves `matrix · out = rhs` where both have mean zero.
    ///
    /// `matrix` must be the one that the solver was set up with. If the iterations run out,
    /// [`SolveInfo::converged`] is false; there are no other failures.
    fn solve(
        &self,
        matrix: LaplacianBlock<'_>,
        rhs: &[f64],
        out: &mut [f64],
        rule: &StoppingRule,
    ) -> SolveInfo;

    /// The inverse of the diagonal, if that is the preconditioner: then several right-hand sides can
    /// be solved at once.
    fn inverse_diagonal(&self) -> Option<&[f64]> {
        None
    }

    /// Memory in use between calls, in bytes, without the matrix.
    fn bytes(&self) -> usize;
}

/// Whether a residual meets the tolerance or is as small as rounding permits.
///
/// A vector with a residual below a few ε(‖A‖‖θ‖ + ‖b‖) is the exact solution of a system that
/// differs from the given one by rounding. On long chains ‖A‖‖θ‖ is so much larger than ‖b‖ that no
/// vector of 64-bit numbers has a relative residual of 1e-10.
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
