//! Rounding of numbers for the page.

/// Rounds a value to six significant digits of the largest value of its kind, to keep the page
/// small.
pub(super) fn rounded(value: f64, largest: f64) -> f64 {
    if largest == 0.0 || !largest.is_finite() {
        return value;
    }
    let decimals = (5 - largest.log10().floor() as i32).clamp(0, 300);
    let scale = 10f64.powi(decimals);
    let scaled = (value * scale).round();
    // Adding zero turns −0 into 0.
    if scaled.is_finite() { scaled / scale + 0.0 } else { value }
}
