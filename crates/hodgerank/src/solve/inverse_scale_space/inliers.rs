//! The votes still trusted: which groups, whether they connect, and systems with their Laplacian.

use super::conjugate_gradient::ConjugateGradient;
use super::dense::Dense;
use crate::graph::ComparisonGraph;
use crate::numeric::DisjointSets;

/// Up to so many items the pseudo-inverse is kept as a matrix (128 MB at most).
pub(super) const DENSE_MOST_ITEMS: usize = 4096;
/// Below this leverage a group is certainly no bridge: a bridge has leverage 1.
const SURELY_CONNECTED: f64 = 0.999;

/// M = L_c†, the pseudo-inverse of the Laplacian of the groups in use.
pub(super) trait InlierSystem: Send {
    /// Takes the weight `w` off the pair (i, j), or puts it there if `w` is negative. Returns the
    /// leverage w xᵀMx, x = e_i − e_j, before that, if it is known.
    fn take_away(&mut self, ends: (usize, usize), w: f64) -> Option<f64>;

    /// out = M b, for b that sums to zero on each component. `weights` are those of the pairs now.
    fn solve(&mut self, weights: &[f64], b: &[f64], out: &mut [f64]);
}

/// The groups in use.
pub(super) struct Inliers<'a> {
    graph: &'a ComparisonGraph,
    /// Whether a group is out of use.
    pub(super) flagged: Vec<bool>,
    pair_of: Vec<u32>,
    /// Groups in use, and their votes, for each pair.
    groups_left: Vec<u32>,
    weights: Vec<f64>,
    system: Box<dyn InlierSystem + 'a>,
    in_doubt: bool,
}

impl<'a> Inliers<'a> {
    pub(super) fn all(graph: &'a ComparisonGraph, tolerance: f64) -> Self {
        let pairs = graph.pairs();
        let spans = || pairs.first_group.windows(2).map(|span| span[1] - span[0]);
        let mut pair_of = Vec::with_capacity(graph.groups().len());
        for (pair, groups) in spans().enumerate() {
            pair_of.extend(std::iter::repeat_n(pair as u32, groups as usize));
        }
        let system: Box<dyn InlierSystem + 'a> = if graph.items() <= DENSE_MOST_ITEMS {
            Box::new(Dense::new(graph))
        } else {
            Box::new(ConjugateGradient::new(graph, tolerance))
        };
        Self {
            graph,
            flagged: vec![false; graph.groups().len()],
            pair_of,
            groups_left: spans().collect(),
            weights: pairs.weight.clone(),
            system,
            in_doubt: false,
        }
    }

    pub(super) fn remove(&mut self, g: usize) {
        let leverage = self.change(g, true);
        let pair = self.pair_of[g] as usize;
        self.groups_left[pair] -= 1;
        let gone = self.groups_left[pair] == 0;
        self.in_doubt |= gone && leverage.is_none_or(|leverage| leverage > SURELY_CONNECTED);
        if gone {
            self.weights[pair] = 0.0;
        }
    }

    pub(super) fn restore(&mut self, g: usize) {
        self.change(g, false);
        self.groups_left[self.pair_of[g] as usize] += 1;
    }

    fn change(&mut self, g: usize, flagged: bool) -> Option<f64> {
        let groups = self.graph.groups();
        self.flagged[g] = flagged;
        let w = if flagged { groups.weight[g] } else { -groups.weight[g] };
        let pair = self.pair_of[g] as usize;
        self.weights[pair] -= w;
        let ends = (groups.left[g] as usize, groups.right[g] as usize);
        self.system.take_away(ends, w)
    }

    /// Whether each component of the graph is still connected. Costs something only after a
    /// removal that could have changed it.
    pub(super) fn connected(&mut self) -> bool {
        if !self.in_doubt {
            return true;
        }
        let pairs = self.graph.pairs();
        let mut sets = DisjointSets::new(self.graph.items());
        let mut components = self.graph.items();
        for p in (0..pairs.len()).filter(|&p| self.groups_left[p] > 0) {
            components -= usize::from(sets.join(pairs.left[p], pairs.right[p]));
        }
        self.in_doubt = components != self.graph.components().len();
        !self.in_doubt
    }

    /// out = M b.
    pub(super) fn solve(&mut self, b: &[f64], out: &mut [f64]) {
        self.system.solve(&self.weights, b, out);
    }
}
