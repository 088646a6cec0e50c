//! HodgeRank by least squares: the scores whose differences are closest to all votes.
//!
//! Objective: min over θ of ½ Σ_g w_g (y_g − (Xθ)_g)².
//!
//! Optimality: Lθ = XᵀWy with L = XᵀWX; at each item, the residuals of its votes sum to zero.
//! L has the constants of each component in its null space, so θ is made unique by mean zero on
//! each component.
//!
//! Cost: one Laplacian system, see [`crate::laplacian`]: pairs × about ten on vote graphs.
//!
//! Failure modes: one wrong vote of large y moves the scores at will; scores of different
//! components cannot be compared; on graphs like long chains an iterative backend may run out of
//! iterations, which the status tells.
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
/// | `tolerance` | 1e-10 | relative residual that is good enough | above 0, below 1 |
/// | `max_iterations` | 10000 | most steps of an iterative backend | 1 or more |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct L2Options {
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual that is good enough.
    pub tolerance: f64,
    /// Most steps of an iterative backend.
    pub max_iterations: usize,
}

impl Default for L2Options {
    fn default() -> Self {
        let StoppingRule { tolerance, max_iterations, .. } = StoppingRule::default();
        Self { backend: BackendChoice::Auto, tolerance, max_iterations }
    }
}

impl L2Options {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations).map(drop)
    }
}

/// Least-squares scores.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be added up, or the backend asked
/// for cannot take the graph.
pub fn solve(graph: &ComparisonGraph, options: &L2Options) -> Result<Solution> {
    let rule = check_stopping(options.tolerance, options.max_iterations)?;
    scores_of_all_votes(graph, 0.0, options.backend, &rule)
}
