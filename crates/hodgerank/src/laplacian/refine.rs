//! Iterative refinement of solves with a factorisation.

use super::{LaplacianBlock, SolveInfo, StoppingRule, centre, good_enough};
use crate::numeric::norm;

/// Relative residual that direct backends aim at even for larger tolerances: another solve is cheap.
const DIRECT_TOLERANCE: f64 = 1e-12;
/// Each step gains many digits or none.
const MAX_STEPS: usize = 6;

/// Solves A·out = rhs, given `apply`, which replaces a vector x by (approximately) A⁻¹x.
///
/// The entry of the grounded item is zero before each call of `apply`; the result is centred
/// afterwards.
pub(super) fn solve(
    matrix: LaplacianBlock<'_>,
    rhs: &[f64],
    out: &mut [f64],
    rule: &StoppingRule,
    apply: impl Fn(&mut [f64]),
) -> SolveInfo {
    let ground = matrix.ground();
    let corrected = |x: &[f64], residual: &[f64]| {
        let mut step = residual.to_vec();
        if let Some(g) = ground {
            step[g] = 0.0;
        }
        apply(&mut step);
        for (s, x) in step.iter_mut().zip(x) {
            *s += x;
        }
        centre(&mut step);
        step
    };
    if rule.unchecked {
        out.copy_from_slice(rhs);
        if let Some(g) = ground {
            out[g] = 0.0;
        }
        apply(out);
        centre(out);
        return SolveInfo { iterations: 1, residual: 0.0, converged: true, error_bound: None };
    }
    let rhs_norm = norm(rhs);
    let target = rule.tolerance.min(DIRECT_TOLERANCE) * rhs_norm;
    out.fill(0.0);
    let (mut residual, mut size) = (rhs.to_vec(), rhs_norm);
    let mut trial_residual = vec![0.0; rhs.len()];
    let mut iterations = 0;
    while size > target && iterations < MAX_STEPS {
        let trial = corrected(out, &residual);
        iterations += 1;
        let trial_size = matrix.residual(&trial, rhs, &mut trial_residual);
        let (gained, stalled) = (trial_size < size, trial_size > 0.5 * size);
        if gained {
            out.copy_from_slice(&trial);
            std::mem::swap(&mut residual, &mut trial_residual);
            size = trial_size;
        }
        if stalled || !gained {
            break;
        }
    }
    let converged = good_enough(matrix, size, rhs_norm, out, rule.tolerance);
    SolveInfo { iterations, residual: size / rhs_norm, converged, error_bound: None }
}
