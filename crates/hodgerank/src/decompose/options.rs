//! Options of the decomposition.

use crate::error::Result;
use crate::laplacian::{BackendChoice, StoppingRule};
use crate::solve::{L2Options, check_stopping};

/// Options of [`super::decompose`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `top_triangles` | 10 | worst triangles listed | 0 or more |
/// | `top_loops` | 10 | strongest harmonic loops listed | 0 or more |
/// | `max_triangles` | 2000000000 | budget of places to look at for triangles (in complete graphs: triangles); up to half a minute | 0 or more |
/// | `backend` | `auto` | how the system of the scores is solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-12 | relative residual of scores and of the curl part that is good enough | above 0, below 1 |
/// | `max_iterations` | 10000 | most steps of an iterative solver | 1 or more |
/// | `seed` | 0 | of the sample of triangles, where the budget asks for one | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecomposeOptions {
    /// Worst triangles listed.
    pub top_triangles: usize,
    /// Strongest harmonic loops listed.
    pub top_loops: usize,
    /// Budget of places to look at for triangles.
    pub max_triangles: u64,
    /// How the system of the scores is solved.
    pub backend: BackendChoice,
    /// Relative residual that is good enough.
    pub tolerance: f64,
    /// Most steps of an iterative solver.
    pub max_iterations: usize,
    /// Seed of the sample of triangles, where the budget asks for one.
    pub seed: u64,
}

impl Default for DecomposeOptions {
    fn default() -> Self {
        Self {
            top_triangles: 10,
            top_loops: 10,
            max_triangles: 2_000_000_000,
            backend: BackendChoice::Auto,
            // Tighter than for scores alone: energies are compared to nine digits.
            tolerance: 1e-12,
            max_iterations: StoppingRule::default().max_iterations,
            seed: 0,
        }
    }
}

impl DecomposeOptions {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first that does not.
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
