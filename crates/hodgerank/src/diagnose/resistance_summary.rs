//! A summary of the effective resistances.

use crate::graph::{ItemPair, Pairs};
use crate::identify::{Accuracy, Resistances};

/// Summary of the effective resistances. Items are indices, or names after
/// [`ResistanceSummary::map`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ResistanceSummary<I = u32> {
    /// ρ: the largest effective resistance of a compared pair.
    pub largest: f64,
    /// That pair.
    pub pair: ItemPair<I>,
    /// Mean over the compared pairs.
    pub mean: f64,
    /// The items whose scores have the largest variance, in descending order.
    #[cfg_attr(feature = "serde", serde(rename = "loosest_items"))]
    pub least_certain_items: Vec<ItemVariance<I>>,
    /// How they were computed.
    pub accuracy: Accuracy,
}

/// An item and the variance of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemVariance<I = u32> {
    /// The item.
    pub item: I,
    /// The variance of its score, in units of σ².
    pub variance: f64,
}

impl<I> ResistanceSummary<I> {
    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl Fn(I) -> J) -> ResistanceSummary<J> {
        let item = |found: ItemVariance<I>| ItemVariance {
            item: name(found.item),
            variance: found.variance,
        };
        ResistanceSummary {
            largest: self.largest,
            pair: self.pair.map(&name),
            mean: self.mean,
            least_certain_items: self.least_certain_items.into_iter().map(item).collect(),
            accuracy: self.accuracy,
        }
    }
}

impl ResistanceSummary {
    pub(super) fn new(resistances: &Resistances, pairs: &Pairs, max_listed: usize) -> Self {
        let variances = &resistances.items;
        let by_variance = |&a: &u32, &b: &u32| {
            variances[b as usize].total_cmp(&variances[a as usize]).then(a.cmp(&b))
        };
        let mut items: Vec<u32> = (0..variances.len() as u32).collect();
        if max_listed < items.len() {
            items.select_nth_unstable_by(max_listed, by_variance);
            items.truncate(max_listed);
        }
        items.sort_unstable_by(by_variance);
        let variance = |item: u32| ItemVariance { item, variance: variances[item as usize] };
        let (largest, pair) = resistances.largest;
        Self {
            largest,
            pair: ItemPair::of(pairs, pair as usize),
            mean: resistances.pairs.iter().sum::<f64>() / pairs.len() as f64,
            least_certain_items: items.into_iter().map(variance).collect(),
            accuracy: resistances.accuracy,
        }
    }
}
