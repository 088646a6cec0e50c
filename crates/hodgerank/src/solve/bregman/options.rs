//! Options of the linearised Bregman iteration.

use crate::error::{Error, Result};
use crate::laplacian::{BackendChoice, StoppingRule};
use crate::solve::check_stopping;

/// How θ is updated after γ has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Algorithm {
    /// One gradient step (Algorithms 2 and 4 of the paper): no linear system, but short steps
    #[cfg_attr(feature = "clap", value(name = "2", alias = "4"))]
    Gradient,
    /// Scores solved exactly at each step (Algorithm 3 of the paper)
    #[cfg_attr(feature = "clap", value(name = "3"))]
    #[default]
    Exact,
}

impl Algorithm {
    /// Returns its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gradient => "gradient",
            Self::Exact => "exact",
        }
    }
}

impl std::str::FromStr for Algorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = [Self::Gradient, Self::Exact].into_iter().find(|a| a.as_str() == name);
        let (value, expected) = (name.to_owned(), "gradient or exact");
        found.ok_or(Error::BadOption { option: "algorithm", value, expected })
    }
}

/// Options of [`super::compute_path`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `algorithm` | `exact` | how θ is updated | `gradient`, `exact` |
/// | `kappa` | 64 √(mean r²) | rate at which γ of an outlier approaches its residual; larger values mean less bias and more steps | above 0 |
/// | `dt` | 1/κ (`exact`), 1.5/(κ(λ_max(L) + 1)) (`gradient`) | time step Δt | above 0, below 2/κ (`exact`) or 2/(κ(λ_max(L) + 1)) (`gradient`) |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | residual of each linear system relative to ‖XᵀWy‖ | above 0, below 1 |
/// | `max_steps` | 1000000 | maximum number of steps, not counting the initial phase in which no group can enter | 1 or more |
///
/// r is the residual of the least-squares scores. κ has the unit of the outcomes and Δt its
/// reciprocal, so with the defaults the path does not depend on the unit of the outcomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BregmanOptions {
    /// How θ is updated.
    pub algorithm: Algorithm,
    /// Rate κ at which γ of an outlier approaches its residual; `None` is 64 √(mean r²).
    pub kappa: Option<f64>,
    /// Time step Δt; `None` is chosen from κ and the algorithm.
    pub dt: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Residual of each linear system relative to ‖XᵀWy‖.
    pub tolerance: f64,
    /// Maximum number of steps, not counting the initial phase in which no group can enter.
    pub max_steps: usize,
}

impl Default for BregmanOptions {
    fn default() -> Self {
        Self {
            algorithm: Algorithm::default(),
            kappa: None,
            dt: None,
            backend: BackendChoice::Auto,
            tolerance: StoppingRule::default().tolerance,
            max_steps: 1_000_000,
        }
    }
}

impl BregmanOptions {
    /// Checks all values that can be checked without the votes. The upper limit of `dt` depends on
    /// the votes; [`super::compute_path`] checks it.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        for (option, value) in [("kappa", self.kappa), ("dt", self.dt)] {
            if let Some(value) = value
                && !(value > 0.0 && value.is_finite())
            {
                let expected = "a finite number above 0";
                return Err(Error::BadOption { option, value: value.to_string(), expected });
            }
        }
        if self.max_steps == 0 {
            let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
            return Err(Error::BadOption { option: "max-steps", value, expected });
        }
        check_stopping(self.tolerance, 1).map(drop)
    }
}
