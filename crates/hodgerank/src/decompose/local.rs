//! Inconsistency of single pairs and items.
//!
//! The four parts are orthogonal over the whole graph but not on a single pair, where they add up as
//! flows and may cancel. The inconsistent energy of a pair can therefore exceed the energy of its
//! votes: the rest of the study implies a cycle through the pair that its own votes do not show.
//! Summed over all pairs, the energies are exactly those of the whole graph.

use super::decomposition::Decomposition;
use super::flows::PairFlows;
use super::parts::HodgeParts;
use crate::graph::{ComparisonGraph, ItemPair};

/// The energies on one pair, or on all pairs of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LocalInconsistency {
    /// Σ w y² of the votes here.
    pub energy: f64,
    /// The energy that no ranking explains: bi-cycles, curl and harmonic part.
    pub inconsistent: f64,
    /// `inconsistent` divided by `energy`, may exceed 1; 0 if the votes have no energy.
    pub share: f64,
    /// The energies of the four parts here.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub parts: HodgeParts,
}

impl LocalInconsistency {
    fn new(energy: f64, parts: HodgeParts) -> Self {
        let inconsistent = parts.inconsistent();
        let share = if energy > 0.0 { inconsistent / energy } else { 0.0 };
        Self { energy, inconsistent, share, parts }
    }
}

/// The inconsistency of the votes on one item: an index, or a name after [`ItemInconsistency::map`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ItemInconsistency<I = u32> {
    /// The item.
    pub item: I,
    /// Its energies.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub local: LocalInconsistency,
}

impl<I> ItemInconsistency<I> {
    /// Replaces the item, for example by its name.
    #[must_use]
    pub fn map<J>(self, name: impl FnOnce(I) -> J) -> ItemInconsistency<J> {
        ItemInconsistency { item: name(self.item), local: self.local }
    }
}

/// The inconsistency of the votes on one pair.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PairInconsistency<I = u32> {
    /// The items of the pair.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub pair: ItemPair<I>,
    /// Its energies.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub local: LocalInconsistency,
}

impl<I> PairInconsistency<I> {
    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl FnMut(I) -> J) -> PairInconsistency<J> {
        PairInconsistency { pair: self.pair.map(name), local: self.local }
    }
}

impl Decomposition {
    /// Returns the `top` pairs with the most inconsistent energy, in descending order, then by index.
    ///
    /// # Panics
    /// If `graph` is not the graph that was decomposed.
    #[must_use]
    pub fn worst_pairs(&self, graph: &ComparisonGraph, top: usize) -> Vec<PairInconsistency> {
        let locals = of_pairs(&self.flows, graph);
        let worst = worst_first(&locals, top).into_iter();
        let pair = |p| ItemPair::of(graph.pairs(), p);
        worst.map(|p| PairInconsistency { pair: pair(p), local: locals[p] }).collect()
    }

    /// Returns the `top` items with the most inconsistent energy on their pairs, in descending order,
    /// then by index. Each pair counts for both of its items.
    ///
    /// # Panics
    /// If `graph` is not the graph that was decomposed.
    #[must_use]
    pub fn worst_items(&self, graph: &ComparisonGraph, top: usize) -> Vec<ItemInconsistency> {
        let mut sums = vec![(0.0, HodgeParts::default()); graph.items()];
        for (p, pair) in of_pairs(&self.flows, graph).into_iter().enumerate() {
            for item in [graph.pairs().left[p], graph.pairs().right[p]] {
                let (energy, parts) = &mut sums[item as usize];
                *energy += pair.energy;
                parts.add(pair.parts);
            }
        }
        let locals: Vec<LocalInconsistency> = sums
            .into_iter()
            .map(|(energy, parts)| LocalInconsistency::new(energy, parts))
            .collect();
        let worst = worst_first(&locals, top).into_iter();
        worst.map(|i| ItemInconsistency { item: i as u32, local: locals[i] }).collect()
    }
}

fn of_pairs(flows: &PairFlows, graph: &ComparisonGraph) -> Vec<LocalInconsistency> {
    let weight = &graph.pairs().weight;
    assert_eq!(weight.len(), flows.mean.len(), "the graph that was decomposed");
    let of_pair = |p: usize| {
        let energy = |flow: &[f64]| weight[p] * flow[p] * flow[p];
        let parts = HodgeParts {
            bicycles: flows.bicycles[p],
            gradient: energy(&flows.gradient),
            curl: energy(&flows.curl),
            harmonic: energy(&flows.harmonic),
        };
        LocalInconsistency::new(flows.energy[p], parts)
    };
    (0..weight.len()).map(of_pair).collect()
}

fn worst_first(locals: &[LocalInconsistency], top: usize) -> Vec<usize> {
    let order = |&a: &usize, &b: &usize| {
        locals[b].inconsistent.total_cmp(&locals[a].inconsistent).then(a.cmp(&b))
    };
    let mut indices: Vec<usize> = (0..locals.len()).collect();
    if top < indices.len() {
        indices.select_nth_unstable_by(top, order);
        indices.truncate(top);
    }
    indices.sort_unstable_by(order);
    indices
}
