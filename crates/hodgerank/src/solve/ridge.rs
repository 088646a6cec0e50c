//! HodgeRank by ridge regression: least squares that shrinks the scores of rarely compared items towards
//! the mean.
//!
//! Objective: min over θ of ½ Σ_g w_g (y_g − (Xθ)_g)² + ½ a ‖θ‖², a > 0.
//!
//! Optimality: (L + aI)θ = XᵀWy. Summing over a component gives a Σθ = 0, so the mean is zero on each
//! component.
//!
//! Cost: as [`l2`](super::l2); iterative backends need fewer iterations for larger a.
//!
//! Failure modes: those of least squares. If a is less than about 1e-16 times the weights, the matrix
//! is numerically singular, and a direct backend that was requested by name may fail.
//!
//! | paper | here |
//! |---|---|
//! | a | `ridge` |
//! | θ | `scores` |
//! | L + aI | [`crate::laplacian::LaplacianSystem`] with shift a |

use super::{Solution, check_stopping, scores_of_all_votes};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StoppingRule};

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `ridge` | 1 | weight of the penalty, in votes | above 0, finite |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of the linear system | above 0, below 1 |
/// | `max_iterations` | 10000 | maximum number of iterations of an iterative backend | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RidgeOptions {
    /// Weight of the penalty, in votes.
    pub ridge: f64,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual to which the linear system is solved.
    pub tolerance: f64,
    /// Maximum number of iterations of an iterative backend.
    pub max_iterations: usize,
}

impl Default for RidgeOptions {
    fn default() -> Self {
        let StoppingRule { tolerance, max_iterations, .. } = StoppingRule::default();
        Self { ridge: 1.0, backend: BackendChoice::Auto, tolerance, max_iterations }
    }
}

impl RidgeOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        self.rule().map(drop)
    }

    fn rule(&self) -> Result<StoppingRule> {
        if !(self.ridge > 0.0 && self.ridge.is_finite()) {
            let (value, expected) = (self.ridge.to_string(), "a finite number above 0");
            return Err(Error::BadOption { option: "ridge", value, expected });
        }
        check_stopping(self.tolerance, self.max_iterations)
    }
}

/// Computes the ridge scores.
///
/// # Errors
/// If an option is invalid, the sums of the outcomes overflow, or the requested backend does not
/// support the graph.
pub fn solve(graph: &ComparisonGraph, options: &RidgeOptions) -> Result<Solution> {
    let rule = options.rule()?;
    scores_of_all_votes(graph, options.ridge, options.backend, &rule)
}
