//! Columns of data tables, and sums over repetitions.

use hodgerank_io::write::{Column, Table};

pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> Column {
    // An undefined number is an empty cell.
    Column::Number(values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect())
}

pub(crate) fn counts(values: impl IntoIterator<Item = u64>) -> Column {
    Column::Whole(values.into_iter().map(Some).collect())
}

pub(crate) fn texts<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Column {
    Column::Text(values.into_iter().map(|value| Some(value.into())).collect())
}

pub(crate) fn table<const N: usize>(columns: [(&str, Column); N]) -> Table {
    let mut table = Table::default();
    for (name, column) in columns {
        table.push(name, column);
    }
    table
}

/// The mean of what can be measured; not a number where nothing can.
pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let known = values.into_iter().filter(|value| !value.is_nan());
    let (sum, count) = known.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The value below which this share of the values lies, between neighbours on a straight line.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * (sorted.len() as f64 - 1.0);
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

/// The largest difference of two lists.
pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

/// The smallest and the largest value.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_repetitions() {
        assert_eq!(mean([1.0, f64::NAN, 3.0]), 2.0);
        assert_eq!(quantile(&[4.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(range([2.0, -1.0]), (-1.0, 2.0));
    }
}
