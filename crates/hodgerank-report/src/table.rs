//! Descriptions of tables, independent of how they are drawn.

use serde::Serialize;

/// A table of the page, which readers can sort and filter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageTable {
    /// Identifier in the page: lower-case words joined by hyphens.
    pub id: String,
    /// The title.
    pub title: String,
    /// What the table omits or summarises, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The columns, all of the same length.
    pub columns: Vec<PageColumn>,
}

/// A column of a [`PageTable`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageColumn {
    /// Identifier in the page's data: one lower-case word.
    pub id: String,
    /// The heading.
    pub name: String,
    /// A tooltip that explains the heading; may be empty.
    pub hint: String,
    /// The values.
    #[serde(flatten)]
    pub values: Values,
}

/// The values of a column. The variant determines their format.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "values", rename_all = "lowercase")]
pub enum Values {
    /// Texts.
    Text(Vec<String>),
    /// Indices into [`StudyPage::items`](crate::document::StudyPage::items).
    Item(Vec<u32>),
    /// Ranks with their ranges: `3 (2–5)`; `*` marks provisional ones.
    Rank(Vec<RankCell>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers, shown with three decimals.
    Number(Vec<Option<f64>>),
    /// Shares, shown as percentages with one decimal.
    Share(Vec<Option<f64>>),
    /// Intervals of shares; sorted by their lower ends.
    Interval(Vec<Option<(f64, f64)>>),
    /// Probabilities; small ones are shown as powers of ten.
    Probability(Vec<Option<f64>>),
}

/// The rank of an item: the rank, the best and the worst rank that the votes leave possible, and whether it
/// is provisional.
pub type RankCell = (u32, u32, u32, bool);

impl PageColumn {
    /// Returns a column without a hint.
    #[must_use]
    pub fn new(id: &str, name: &str, values: Values) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), hint: String::new(), values }
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        hint.clone_into(&mut self.hint);
        self
    }
}
