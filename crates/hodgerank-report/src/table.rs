//! What a table shows, free of how it is drawn. Values stand in columns.

use serde::Serialize;

/// A table that a reader can sort and filter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its name in the page: lower-case words joined by hyphens.
    pub id: String,
    /// What stands above it.
    pub title: String,
    /// What was left out or summed up, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The columns, all of one length.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// Its name in the page's data: lower-case, one word.
    pub id: String,
    /// What stands above it.
    pub name: String,
    /// What it means, for readers who point at its name; may be empty.
    pub hint: String,
    /// The values.
    #[serde(flatten)]
    pub values: Values,
}

/// The values of a column, and so how they are shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "values", rename_all = "lowercase")]
pub enum Values {
    /// Texts.
    Text(Vec<String>),
    /// Items of the study by their number.
    Item(Vec<u32>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers, shown with three decimals.
    Number(Vec<Option<f64>>),
    /// Shares, shown as percentages with one decimal.
    Share(Vec<Option<f64>>),
    /// Intervals of shares, sorted by their lower ends.
    Interval(Vec<(f64, f64)>),
    /// Probabilities: small ones are shown as powers of ten.
    Probability(Vec<Option<f64>>),
}

impl Column {
    /// A column without a hint.
    #[must_use]
    pub fn new(id: &str, name: &str, values: Values) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), hint: String::new(), values }
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        hint.clone_into(&mut self.hint);
        self
    }
}
