//! Default step sizes and their upper limits.

use super::options::{Algorithm, BregmanOptions};
use crate::error::{Error, Result};

/// Default κ relative to ρ = √(mean r²).
///
/// A vote with residual ρ would enter at t = 1/ρ; γ of an outlier is within 1% of its residual after
/// 5/κ = 0.08/ρ, long before that. For ±1 votes κ is then close to the 50 of the paper. Relative to
/// the largest residual instead, one outcome of 1000 among ±1 votes would make every path a thousand
/// times as long.
const KAPPA_PER_RMS_RESIDUAL: f64 = 64.0;
/// Default h of Algorithm 3: a group that enters alone reaches its residual in one step, without
/// overshooting.
const DEFAULT_H_EXACT: f64 = 1.0;
/// Default h(λ_max(L) + 1) of Algorithm 2. At the limit 2 the stiffest component does not decay;
/// here it halves with each step.
const DEFAULT_H_GRADIENT: f64 = 1.5;
/// Upper limit of h (Algorithm 3) and h(λ_max(L) + 1) (Algorithm 2) for convergence.
const MAX_H: f64 = 2.0;

/// Size of the residuals of the least-squares scores.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResidualScale {
    /// max |r|.
    pub(super) max: f64,
    /// √(mean r²) over the votes.
    pub(super) rms: f64,
}

/// κ and Δt of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepSizes {
    pub(super) kappa: f64,
    pub(super) dt: f64,
}

impl StepSizes {
    /// Takes κ and Δt from the options or, where they are not set, from the residuals.
    /// `lambda_max`, an upper bound of λ_max(L), is evaluated for Algorithm 2 only.
    pub(super) fn choose(
        options: &BregmanOptions,
        residuals: ResidualScale,
        lambda_max: impl FnOnce() -> f64,
    ) -> Result<Self> {
        let kappa = options.kappa.unwrap_or(KAPPA_PER_RMS_RESIDUAL * residuals.rms);
        let (h, max_h) = match options.algorithm {
            Algorithm::Exact => (DEFAULT_H_EXACT, MAX_H),
            Algorithm::Gradient => {
                let stiffness = lambda_max() + 1.0;
                (DEFAULT_H_GRADIENT / stiffness, MAX_H / stiffness)
            }
        };
        let (dt, largest) = (options.dt.unwrap_or(h / kappa), max_h / kappa);
        if dt >= largest {
            return Err(Error::StepTooLarge { dt, largest });
        }
        Ok(Self { kappa, dt })
    }
}
