//! Summary statistics.

/// Returns the mean of the values that are not NaN; NaN if there are none.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let defined = values.into_iter().filter(|value| !value.is_nan());
    let (sum, count) = defined.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Returns the standard error of the mean of a list; NaN for fewer than two values.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let (mean, count) = (mean(values.iter().copied()), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

/// Returns a quantile, linearly interpolated between neighbouring values.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = share * (sorted.len() as f64 - 1.0);
    let (low, high) = (position.floor() as usize, position.ceil() as usize);
    sorted[low] + (position - low as f64) * (sorted[high] - sorted[low])
}

/// Returns the largest absolute difference between two lists.
pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()))
}

/// Returns the smallest and the largest value.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_small_lists() {
        assert_eq!(mean([1.0, f64::NAN, 3.0]), 2.0);
        assert_eq!(standard_error(&[1.0, 3.0]), 1.0);
        assert!(standard_error(&[1.0]).is_nan());
        assert_eq!(quantile(&[4.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(range([2.0, -1.0]), (-1.0, 2.0));
    }
}
