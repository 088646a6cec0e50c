//! Columns of data tables.

use hodgerank_io::write::{Column, Table};

pub(crate) fn numbers(values: impl IntoIterator<Item = f64>) -> Column {
    // NaN becomes an empty cell.
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
