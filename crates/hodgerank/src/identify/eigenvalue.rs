//! The smallest generalised eigenvalue of a Laplacian.

use crate::error::Result;
use crate::laplacian::{Eigenvalue, LaplacianSystem, StoppingRule, smallest_eigenvalue};

/// Accuracy of the solves that precondition the iteration, as a share of its tolerance. The bound of the
/// error contains such a solve, and changes by less than this share times the root of the condition
/// number.
const PRECONDITIONER_SHARE: f64 = 1e-3;
/// Smallest residual of these solves.
const MIN_RESIDUAL: f64 = 1e-8;
/// Maximum number of iterations.
const MAX_STEPS: usize = 200;

/// Returns min vᵀLv / vᵀBv over v orthogonal to the kernel of L, where `b` multiplies by B.
pub(super) fn smallest_ratio(
    items: usize,
    laplacian: &LaplacianSystem,
    b: &dyn Fn(&[f64], &mut [f64]),
) -> Result<Eigenvalue> {
    let tolerance = tolerance(items);
    let rule = StoppingRule::at(MIN_RESIDUAL.max(PRECONDITIONER_SHARE * tolerance));
    smallest_eigenvalue(
        items,
        &|x, out| laplacian.multiply(x, out),
        b,
        &|x| laplacian.solve(x, &rule).map(|(x, _)| x),
        tolerance,
        MAX_STEPS,
    )
}

/// The error of the value is about the square of that of the vector.
fn tolerance(items: usize) -> f64 {
    if items <= 10_000 { 1e-6 } else { 1e-2 }
}
