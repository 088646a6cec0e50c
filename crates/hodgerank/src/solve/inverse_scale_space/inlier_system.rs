//! Linear systems with the Laplacian of the trusted groups.

/// M = L_c†, the pseudo-inverse of the Laplacian of the trusted groups.
pub(super) trait InlierSystem: Send {
    /// Subtracts `w`, which may be negative, from the weight of the pair (i, j). Returns the leverage
    /// w xᵀMx, x = e_i − e_j, before the change, if it is known.
    fn remove_weight(&mut self, ends: (usize, usize), w: f64) -> Option<f64>;

    /// Computes `out` = M b, for b that sums to zero on each component, and leaves in `b` what is known
    /// of b − L_c `out`. `weights` are the current weights of the pairs.
    fn solve(&mut self, weights: &[f64], b: &mut [f64], out: &mut [f64]);

    /// By how much the changes since the last report may have amplified rounding errors.
    fn error_growth(&self) -> f64 {
        1.0
    }

    /// Reports whether a check found the solutions since the last report to be accurate.
    fn report_accuracy(&mut self, _is_accurate: bool) {}
}
