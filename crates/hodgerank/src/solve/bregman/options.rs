//! Options, and the step sizes that follow from them.

use super::step::Residuals;
use crate::error::{Error, Result};
use crate::laplacian::{BackendChoice, StoppingRule};
use crate::solve::check_stopping;

/// κ relative to the typical residual ρ, the root of the mean r² of the votes. A vote of residual ρ
/// would enter at t = 1/ρ; γ of an outlier is within 1% of its residual after 5/κ = 0.08/ρ, long
/// before. With ±1 votes κ is then near the 50 of the paper. The largest residual would be no good
/// measure: a single outcome of 1000 among ±1 would make every path a thousand times as long.
const KAPPA_OF_RESIDUAL: f64 = 64.0;
/// h of Algorithm 3: a group that enters alone meets its residual in one step, and none overshoots.
const H_EXACT: f64 = 1.0;
/// h(λ_max(L) + 1) of Algorithm 2: at the limit 2 nothing dies away; here the stiffest part halves
/// with each step.
const H_GRADIENT: f64 = 1.5;
/// Where both algorithms cease to converge.
const LIMIT: f64 = 2.0;

/// How θ follows γ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// One step along the gradient (Algorithms 2 and 4): no linear system, but short steps.
    Gradient,
    /// Solved exactly at each step (Algorithm 3).
    #[default]
    Exact,
}

impl Algorithm {
    /// Its name on the command line.
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
        let named = [Self::Gradient, Self::Exact].into_iter().find(|a| a.as_str() == name);
        let (value, expected) = (name.to_owned(), "gradient or exact");
        named.ok_or(Error::BadOption { option: "algorithm", value, expected })
    }
}

/// Options of [`super::compute_path`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `algorithm` | `exact` | how θ follows γ | `gradient`, `exact` |
/// | `kappa` | 64 √(mean r²) | the rate at which γ of an outlier meets its residual; the larger, the less bias and the more steps | above 0 |
/// | `dt` | 1/κ (`exact`), 1.5/(κ(λ_max(L) + 1)) (`gradient`) | step of time | above 0, below 2/κ or 2/(κ(λ_max(L) + 1)) |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | residual of each linear system relative to that of the first | above 0, below 1 |
/// | `max_steps` | 1000000 | most steps after the silent start | 1 or more |
///
/// r is the residual of the least-squares scores; κ is in the unit of the outcomes, Δt in one over
/// that unit, so that by default votes in other units give the same path in other units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BregmanOptions {
    /// How θ follows γ.
    pub algorithm: Algorithm,
    /// The rate at which γ of an outlier meets its residual.
    pub kappa: Option<f64>,
    /// Step of time.
    pub dt: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Residual of each linear system relative to the right-hand side of the first.
    pub tolerance: f64,
    /// Most steps after the silent start.
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
    /// Checks that all values make sense. Whether `dt` is too long depends on the votes too, so
    /// that only [`super::compute_path`] can tell.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
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

/// κ and Δt in use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steps {
    pub(super) kappa: f64,
    pub(super) dt: f64,
}

impl Steps {
    /// What was asked for, or the defaults; `lambda_max` of L is asked for only where it matters.
    pub(super) fn choose(
        options: &BregmanOptions,
        residuals: Residuals,
        lambda_max: impl FnOnce() -> f64,
    ) -> Result<Self> {
        let kappa = options.kappa.unwrap_or(KAPPA_OF_RESIDUAL * residuals.typical);
        let (h, largest_h) = match options.algorithm {
            Algorithm::Exact => (H_EXACT, LIMIT),
            Algorithm::Gradient => {
                let stiffest = lambda_max() + 1.0;
                (H_GRADIENT / stiffest, LIMIT / stiffest)
            }
        };
        let (dt, largest) = (options.dt.unwrap_or(h / kappa), largest_h / kappa);
        if dt >= largest {
            return Err(Error::StepTooLarge { dt, largest });
        }
        Ok(Self { kappa, dt })
    }
}
