//! Options of Huber-LASSO.

use crate::error::{Error, Result};
use crate::laplacian::BackendChoice;
use crate::solve::check_stopping;

/// The values of λ at which a path has knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Knots {
    /// λ_max · ratio^(k/(count − 1)), k = 0, …, count − 1. For studies of any size.
    Grid {
        /// Number of knots, 2 or more.
        count: usize,
        /// The last λ divided by the first, above 0 and below 1.
        ratio: f64,
    },
    /// Exactly where groups enter or leave. For up to a few thousand items.
    Exact {
        /// Maximum number of knots, 1 or more.
        max_knots: usize,
    },
}

impl Default for Knots {
    fn default() -> Self {
        Self::Grid { count: 100, ratio: 0.01 }
    }
}

/// Options of [`super::compute_path`] and [`super::solve_at`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `knots` | 100 knots down to 0.01 λ_max | values of λ at which the path has knots | see [`Knots`] |
/// | `backend` | `auto` | how linear systems are solved, see below | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-9 | largest entry of XᵀWψ(r), divided by λ times the largest degree | above 0, below 1 |
/// | `max_iterations` | 500 | maximum number of Newton steps per λ | 1 or more |
///
/// The backend is used for the least-squares scores at the start of the path. The Newton systems,
/// whose groups change in each step, are solved by dense Cholesky for `dense` (and for few items),
/// otherwise by conjugate gradients with a preconditioner that is reused for many of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HuberLassoOptions {
    /// Values of λ at which the path has knots.
    pub knots: Knots,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Largest allowed entry of XᵀWψ(r), divided by λ times the largest degree.
    pub tolerance: f64,
    /// Maximum number of Newton steps per λ.
    pub max_iterations: usize,
}

impl Default for HuberLassoOptions {
    fn default() -> Self {
        let (knots, backend) = (Knots::default(), BackendChoice::Auto);
        Self { knots, backend, tolerance: 1e-9, max_iterations: 500 }
    }
}

impl HuberLassoOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        let bad = |option, value: String, expected| Error::BadOption { option, value, expected };
        match self.knots {
            Knots::Grid { count, .. } if count < 2 => {
                Err(bad("knots", count.to_string(), "a whole number, 2 or more"))
            }
            Knots::Grid { ratio, .. } if !(ratio > 0.0 && ratio < 1.0) => {
                let expected = "a number between 0 and 1, both excluded";
                Err(bad("lambda-ratio", ratio.to_string(), expected))
            }
            Knots::Exact { max_knots: 0 } => {
                Err(bad("knots", "0".to_owned(), "a whole number, 1 or more"))
            }
            _ => Ok(()),
        }
    }
}
