//! Two items that were compared.

use super::Pairs;

/// The items of a compared pair: indices, or names after [`ItemPair::map`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemPair<I = u32> {
    /// The item with the smaller index.
    pub left: I,
    /// The item with the larger index.
    pub right: I,
}

impl ItemPair {
    pub(crate) fn of(pairs: &Pairs, pair: usize) -> Self {
        Self { left: pairs.left[pair], right: pairs.right[pair] }
    }
}

impl<I> ItemPair<I> {
    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, mut name: impl FnMut(I) -> J) -> ItemPair<J> {
        ItemPair { left: name(self.left), right: name(self.right) }
    }
}
