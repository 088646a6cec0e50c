//! Linear systems with the Laplacian of the trusted groups.

/// M = L_c†, the pseudo-inverse of the Laplacian of the trusted groups.
pub(super) trait InlierSystem: Send {
    /// Subtracts `w`, which may be negative, from the weight of the pair (i, j). Returns the leverage
    /// w xᵀMx, x = e_i − e_j, before the change, if it is known.
    fn remove_weight(&mut self, ends: (usize, usize), w: f64) -> Option<f64>;

    /// Computes `out` = M b, for b that sums to zero on each component. `weights` are the current
    /// weights of the pairs.
    fn solve(&mut self, weights: &[f64], b: &[f64], out: &mut [f64]);
}
