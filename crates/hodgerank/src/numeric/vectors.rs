//! Operations on vectors and single numbers.

/// xᵀy, added up from the first entry to the last.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// xᵀy in eight partial sums: several times faster than [`dot`] on long vectors, with other
/// rounding. Results of solvers that use [`dot`] would change in their last bits.
pub(crate) fn dot_in_lanes(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x_chunks, y_chunks) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = dot(x_chunks.remainder(), y_chunks.remainder());
    for (x, y) in x_chunks.zip(y_chunks) {
        for k in 0..8 {
            sums[k] += x[k] * y[k];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// ‖x‖₂.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// max|x|; 0 for an empty vector.
pub(crate) fn largest_magnitude(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, v| largest.max(v.abs()))
}

/// The residual of a vote: outcome − (left score − right score).
#[inline]
pub(crate) fn residual(y: f64, left_score: f64, right_score: f64) -> f64 {
    y - (left_score - right_score)
}

/// The largest power of two that is at most `x` > 0. Dividing by it is exact.
pub(crate) fn power_of_two_below(x: f64) -> f64 {
    const EXPONENT: u64 = 0x7FF0_0000_0000_0000;
    f64::from_bits(x.to_bits() & EXPONENT).max(f64::MIN_POSITIVE)
}
