//! The inliers: which groups are trusted, whether they connect the items, and their Laplacian.

use super::conjugate_gradient::InlierConjugateGradient;
use super::dense::DenseInverse;
use super::inlier_system::InlierSystem;
use crate::graph::ComparisonGraph;
use crate::numeric::DisjointSets;

/// Maximum number of items for which the pseudo-inverse is stored as a matrix (128 MB).
pub(super) const MAX_DENSE_ITEMS: usize = 4096;
/// Maximum leverage of a group that is certainly not a bridge. A bridge has leverage 1.
const MAX_NON_BRIDGE_LEVERAGE: f64 = 0.999;

/// The trusted groups.
pub(super) struct Inliers<'a> {
    graph: &'a ComparisonGraph,
    /// Whether each group is flagged.
    pub(super) flagged: Vec<bool>,
    pair_of_group: Vec<u32>,
    /// Number of trusted groups of each pair.
    trusted_groups: Vec<u32>,
    /// Number of trusted votes of each pair.
    weights: Vec<f64>,
    system: Box<dyn InlierSystem + 'a>,
    /// Whether a removal since the last check could have disconnected the items.
    may_be_disconnected: bool,
}

impl<'a> Inliers<'a> {
    /// Trusts all groups.
    pub(super) fn all(graph: &'a ComparisonGraph, tolerance: f64) -> Self {
        let pairs = graph.pairs();
        let spans = || pairs.first_group.windows(2).map(|span| span[1] - span[0]);
        let mut pair_of_group = Vec::with_capacity(graph.groups().len());
        for (pair, groups) in spans().enumerate() {
            pair_of_group.extend(std::iter::repeat_n(pair as u32, groups as usize));
        }
        let system: Box<dyn InlierSystem + 'a> = if graph.items() <= MAX_DENSE_ITEMS {
            Box::new(DenseInverse::new(graph))
        } else {
            Box::new(InlierConjugateGradient::new(graph, tolerance))
        };
        Self {
            graph,
            flagged: vec![false; graph.groups().len()],
            pair_of_group,
            trusted_groups: spans().collect(),
            weights: pairs.weight.clone(),
            system,
            may_be_disconnected: false,
        }
    }

    /// Flags a group.
    pub(super) fn flag(&mut self, g: usize) {
        let leverage = self.set_flag(g, true);
        let pair = self.pair_of_group[g] as usize;
        self.trusted_groups[pair] -= 1;
        let pair_is_empty = self.trusted_groups[pair] == 0;
        self.may_be_disconnected |=
            pair_is_empty && leverage.is_none_or(|leverage| leverage > MAX_NON_BRIDGE_LEVERAGE);
        if pair_is_empty {
            self.weights[pair] = 0.0;
        }
    }

    /// Trusts a flagged group again.
    pub(super) fn trust(&mut self, g: usize) {
        self.set_flag(g, false);
        self.trusted_groups[self.pair_of_group[g] as usize] += 1;
    }

    fn set_flag(&mut self, g: usize, flagged: bool) -> Option<f64> {
        let groups = self.graph.groups();
        self.flagged[g] = flagged;
        let w = if flagged { groups.weight[g] } else { -groups.weight[g] };
        let pair = self.pair_of_group[g] as usize;
        self.weights[pair] -= w;
        let ends = (groups.left[g] as usize, groups.right[g] as usize);
        self.system.remove_weight(ends, w)
    }

    /// Whether the trusted groups connect each component of the graph. Costs a pass over the pairs only
    /// after a removal that could have disconnected one.
    pub(super) fn are_connected(&mut self) -> bool {
        if !self.may_be_disconnected {
            return true;
        }
        let pairs = self.graph.pairs();
        let mut sets = DisjointSets::new(self.graph.items());
        let mut components = self.graph.items();
        for p in (0..pairs.len()).filter(|&p| self.trusted_groups[p] > 0) {
            components -= usize::from(sets.join(pairs.left[p], pairs.right[p]));
        }
        self.may_be_disconnected = components != self.graph.components().len();
        !self.may_be_disconnected
    }

    /// out = M b; leaves in `b` what is known of b − L_c `out`.
    pub(super) fn solve(&mut self, b: &mut [f64], out: &mut [f64]) {
        self.system.solve(&self.weights, b, out);
    }

    /// See [`InlierSystem::error_growth`].
    pub(super) fn error_growth(&self) -> f64 {
        self.system.error_growth()
    }

    /// See [`InlierSystem::report_accuracy`].
    pub(super) fn report_accuracy(&mut self, is_accurate: bool) {
        self.system.report_accuracy(is_accurate);
    }
}
