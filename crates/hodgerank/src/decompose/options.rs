//! Options of the decomposition.

use crate::error::Result;
use crate::laplacian::{BackendChoice, StoppingRule};
use crate::solve::{L2Options, check_stopping};

/// Options of [`super::decompose`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `top_triangles` | 10 | cyclic triangles listed, most energy first | 0 or more |
/// | `top_loops` | 10 | harmonic loops listed, strongest first | 0 or more |
/// | `max_triangles` | 2000000000 | candidates to check in the search for triangles (in complete graphs: triangles); the default takes up to half a minute | 0 or more |
/// | `backend` | `auto` | linear solver of the scores | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-12 | relative residual of the scores and of the curl part | above 0, below 1 |
/// | `max_iterations` | 10000 | maximum number of iterations of an iterative solver | 1 or more |
/// | `seed` | 0 | random seed of the sample of triangles, if `max_triangles` requires one | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecomposeOptions {
    /// Number of cyclic triangles listed, most energy first.
    pub top_triangles: usize,
    /// Number of harmonic loops listed, strongest first.
    pub top_loops: usize,
    /// Maximum number of candidates to check in the search for triangles.
    pub max_triangles: u64,
    /// Linear solver of the scores.
    pub backend: BackendChoice,
    /// Relative residual at which solvers stop.
    pub tolerance: f64,
    /// Maximum number of iterations of an iterative solver.
    pub max_iterations: usize,
    /// Random seed of the sample of triangles, if `max_triangles` requires one.
    pub seed: u64,
}

impl Default for DecomposeOptions {
    fn default() -> Self {
        Self {
            top_triangles: 10,
            top_loops: 10,
            max_triangles: 2_000_000_000,
            backend: BackendChoice::Auto,
            // Tighter than for scores alone: shares are reported to nine digits.
            tolerance: 1e-12,
            max_iterations: StoppingRule::default().max_iterations,
            seed: 0,
        }
    }
}

impl DecomposeOptions {
    /// Checks that every value is in its range.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first value that is not.
    pub fn validate(&self) -> Result<()> {
        self.stopping_rule().map(drop)
    }

    pub(super) fn stopping_rule(&self) -> Result<StoppingRule> {
        check_stopping(self.tolerance, self.max_iterations)
    }

    pub(super) fn l2(&self) -> L2Options {
        let Self { backend, tolerance, max_iterations, .. } = *self;
        L2Options { backend, tolerance, max_iterations }
    }
}
