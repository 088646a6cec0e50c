//! HodgeRank by least squares: the scores whose differences are closest to all votes.
//!
//! Objective: min over θ of ½ Σ_g w_g (y_g − (Xθ)_g)².
//!
//! Optimality: Lθ = XᵀWy with L = XᵀWX; at each item the residuals of its votes sum to zero. The null
//! space of L contains the constant vectors of each component; requiring mean zero on each component
//! makes θ unique.
//!
//! Cost: one Laplacian system, see [`crate::laplacian`]: about ten times the number of pairs on
//! typical comparison graphs.
//!
//! Failure modes: a single wrong vote with a large y can change the scores arbitrarily; scores of
//! different components cannot be compared; on graphs like long chains an iterative backend may reach
//! its iteration limit, which the status reports.
//!
//! | paper | here |
//! |---|---|
//! | θ | `scores` |
//! | X, W | [`ComparisonGraph::gradient`], group weights |
//! | XᵀW | [`ComparisonGraph::divergence`] |
//! | L | [`crate::laplacian::LaplacianSystem`] with shift 0 |

use super::{Solution, check_stopping, scores_of_all_votes};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StoppingRule};

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of the linear system | above 0, below 1 |
/// | `max_iterations` | 10000 | maximum number of iterations of an iterative backend | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct L2Options {
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual to which the linear system is solved.
    pub tolerance: f64,
    /// Maximum number of iterations of an iterative backend.
    pub max_iterations: usize,
}

impl Default for L2Options {
    fn default() -> Self {
        let StoppingRule { tolerance, max_iterations, .. } = StoppingRule::default();
        Self { backend: BackendChoice::Auto, tolerance, max_iterations }
    }
}

impl L2Options {
    /// Checks all values.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations).map(drop)
    }
}

/// Computes the least-squares scores.
///
/// # Errors
/// If an option is invalid, the sums of the outcomes overflow, or the requested backend does not
/// support the graph.
pub fn solve(graph: &ComparisonGraph, options: &L2Options) -> Result<Solution> {
    let rule = check_stopping(options.tolerance, options.max_iterations)?;
    scores_of_all_votes(graph, 0.0, options.backend, &rule)
}
