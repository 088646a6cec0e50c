//! How λ was cross-validated, for JSON.

use hodgerank::select::cross_validation::{CrossValidation, CurvePoint};
use serde::Serialize;

/// The folds, the λ chosen and the curve that it was chosen from.
#[derive(Debug, Clone, Serialize)]
pub struct CrossValidationSummary {
    /// Parts of the cycles, each left out once.
    pub folds: usize,
    /// Seed of the random basis.
    pub seed: u64,
    /// The λ chosen; null where nothing was to be flagged.
    pub lambda: Option<f64>,
    /// Whether λ has the least `refit_error`; else it has the least `error`.
    pub refitted: bool,
    /// λ falls.
    pub curve: Vec<CurveRow>,
}

/// How well one λ predicts what it has not seen.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CurveRow {
    /// λ.
    pub lambda: f64,
    /// Mean square error with the outliers as the LASSO has them.
    pub error: f64,
    /// Its standard error over folds.
    pub standard_error: f64,
    /// Mean square error with the outliers refitted without the penalty.
    pub refit_error: f64,
    /// Its standard error over folds.
    pub refit_standard_error: f64,
}

impl From<&CrossValidation> for CrossValidationSummary {
    fn from(found: &CrossValidation) -> Self {
        let row = |point: &CurvePoint| CurveRow {
            lambda: point.lambda,
            error: point.shrunk.mean,
            standard_error: point.shrunk.standard_error,
            refit_error: point.refitted.mean,
            refit_standard_error: point.refitted.standard_error,
        };
        Self {
            folds: found.options.folds,
            seed: found.options.seed,
            lambda: found.lambda(),
            refitted: found.refitted,
            curve: found.curve.iter().map(row).collect(),
        }
    }
}
