//! HodgeRank by ridge regression: least squares that pulls the scores of rarely compared items
//! towards the mean.
//!
//! Objective: min over θ of ½ Σ_g w_g (y_g − (Xθ)_g)² + ½ a ‖θ‖², a > 0.
//!
//! Optimality: (L + aI)θ = XᵀWy. Summed over a component this says a Σθ = 0: the mean is zero on
//! each component without being asked for.
//!
//! Cost: as [`l2`](super::l2); iterative backends need fewer steps as a grows.
//!
//! Failure modes: those of least squares. With a far below the weights times 1e-16 the matrix is
//! singular in 64-bit numbers, and a direct backend that was asked for by name may refuse it.
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
/// | `tolerance` | 1e-10 | relative residual that is good enough | above 0, below 1 |
/// | `max_iterations` | 10000 | most steps of an iterative backend | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RidgeOptions {
    /// Weight of the penalty, in votes.
    pub ridge: f64,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual that is good enough.
    pub tolerance: f64,
    /// Most steps of an iterative backend.
    pub max_iterations: usize,
}

impl Default for RidgeOptions {
    fn default() -> Self {
        let StoppingRule { tolerance, max_iterations, .. } = StoppingRule::default();
        Self { ridge: 1.0, backend: BackendChoice::Auto, tolerance, max_iterations }
    }
}

impl RidgeOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
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

/// Ridge scores.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be added up, or the backend asked
/// for cannot take the graph.
pub fn solve(graph: &ComparisonGraph, options: &RidgeOptions) -> Result<Solution> {
    let rule = options.rule()?;
    scores_of_all_votes(graph, options.ridge, options.backend, &rule)
}
