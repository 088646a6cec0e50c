//! A list of which only the first entries are kept.

/// The number of items or pairs with some property, and the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CappedList<T> {
    /// How many there are.
    pub count: usize,
    /// The first of them, at most [`super::DiagnoseOptions::max_listed`].
    pub first: Vec<T>,
}

impl<T> CappedList<T> {
    pub(super) fn new(mut all: Vec<T>, max: usize) -> Self {
        let count = all.len();
        all.truncate(max);
        Self { count, first: all }
    }

    /// Replaces the entries.
    #[must_use]
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> CappedList<U> {
        CappedList { count: self.count, first: self.first.into_iter().map(convert).collect() }
    }
}
