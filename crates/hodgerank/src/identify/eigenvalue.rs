//! The smallest generalised eigenvalue of a Laplacian.

use crate::error::Result;
use crate::laplacian::{Eigenvalue, LaplacianSystem, StoppingRule, smallest_eigenvalue};

/// Accuracy of the solves that precondition the iteration, which needs few digits.
const PRECONDITIONER: StoppingRule = StoppingRule::at(1e-8);
/// Maximum number of iterations.
const MAX_STEPS: usize = 200;

/// Returns min vᵀLv / vᵀBv over v orthogonal to the kernel of L, where `b` multiplies by B.
pub(super) fn smallest_ratio(
    items: usize,
    laplacian: &LaplacianSystem,
    b: &dyn Fn(&[f64], &mut [f64]),
) -> Result<Eigenvalue> {
    smallest_eigenvalue(
        items,
        &|x, out| laplacian.multiply(x, out),
        b,
        &|x| laplacian.solve(x, &PRECONDITIONER).map(|(x, _)| x),
        tolerance(items),
        MAX_STEPS,
    )
}

/// The error of the value is about the square of that of the vector.
fn tolerance(items: usize) -> f64 {
    if items <= 10_000 { 1e-6 } else { 1e-2 }
}
