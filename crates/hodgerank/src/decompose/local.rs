//! Where the inconsistency sits: on which pairs, and around which items.
//!
//! The four parts are orthogonal over the whole graph and not on a single pair: there they add up
//! as flows, and may cancel. A pair's inconsistency can therefore exceed the energy of its votes:
//! the rest of the study insists on a circle through it that its own votes do not show. Summed over
//! all pairs the energies are exactly those of the whole.

use super::{Decomposition, PairFlows, Parts};
use crate::graph::ComparisonGraph;

/// The energies on one pair, or on all pairs of one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalInconsistency {
    /// The pair or the item.
    pub index: u32,
    /// Σ w y² of the votes here.
    pub energy: f64,
    /// The energies of the four parts here.
    pub parts: Parts,
}

impl LocalInconsistency {
    /// The energy that no ranking explains: bi-cycles, curl and harmonic.
    #[must_use]
    pub fn inconsistent(&self) -> f64 {
        self.parts.bicycles + self.parts.curl + self.parts.harmonic
    }

    /// The inconsistent energy relative to that of the votes; 0 where the votes have none.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.energy > 0.0 { self.inconsistent() / self.energy } else { 0.0 }
    }
}

impl Decomposition {
    /// The `top` pairs with the most inconsistent energy, the most first, then by index.
    ///
    /// # Panics
    /// If `graph` is not the graph that was decomposed.
    #[must_use]
    pub fn worst_pairs(&self, graph: &ComparisonGraph, top: usize) -> Vec<LocalInconsistency> {
        worst_first(of_pairs(&self.flows, graph), top)
    }

    /// The `top` items with the most inconsistent energy on their pairs. Each pair counts for both
    /// of its items.
    ///
    /// # Panics
    /// If `graph` is not the graph that was decomposed.
    #[must_use]
    pub fn worst_items(&self, graph: &ComparisonGraph, top: usize) -> Vec<LocalInconsistency> {
        let empty = |item| LocalInconsistency { index: item, energy: 0.0, parts: Parts::default() };
        let mut items: Vec<_> = (0..graph.items() as u32).map(empty).collect();
        for (p, pair) in of_pairs(&self.flows, graph).into_iter().enumerate() {
            for item in [graph.pairs().left[p], graph.pairs().right[p]] {
                let item = &mut items[item as usize];
                item.energy += pair.energy;
                item.parts.add(pair.parts);
            }
        }
        worst_first(items, top)
    }
}

fn of_pairs(flows: &PairFlows, graph: &ComparisonGraph) -> Vec<LocalInconsistency> {
    let weight = &graph.pairs().weight;
    assert_eq!(weight.len(), flows.mean.len(), "the graph that was decomposed");
    let of_pair = |p: usize| {
        let energy = |flow: &[f64]| weight[p] * flow[p] * flow[p];
        let parts = Parts {
            bicycles: flows.bicycles[p],
            gradient: energy(&flows.gradient),
            curl: energy(&flows.curl),
            harmonic: energy(&flows.harmonic),
        };
        LocalInconsistency { index: p as u32, energy: flows.energy[p], parts }
    };
    (0..weight.len()).map(of_pair).collect()
}

fn worst_first(mut all: Vec<LocalInconsistency>, top: usize) -> Vec<LocalInconsistency> {
    let order = |a: &LocalInconsistency, b: &LocalInconsistency| {
        b.inconsistent().total_cmp(&a.inconsistent()).then(a.index.cmp(&b.index))
    };
    if top < all.len() {
        all.select_nth_unstable_by(top, order);
        all.truncate(top);
    }
    all.sort_unstable_by(order);
    all
}
