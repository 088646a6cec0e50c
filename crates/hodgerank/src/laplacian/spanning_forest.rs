//! A spanning forest of heavy pairs.
//!
//! Kruskal's algorithm on the binary exponents of the weights: each pair outside the forest is
//! connected by a path of pairs that have at least half of its weight. The forest therefore shows every
//! weak link: items that only light pairs connect are connected by light pairs in the forest.
//!
//! A shift of the Laplacian is a pair of that weight between each item and a ground of score zero,
//! which is one more node.
//!
//! Cost: one pass over the pairs for each exponent from the largest down to the one that connects the
//! last two items; one pass where all weights are similar.

use crate::numeric::DisjointSets;

/// The exponent bits of an `f64` start here.
const MANTISSA_BITS: u32 = 52;
/// Number of exponents of positive numbers.
const EXPONENTS: usize = 1 << 11;

/// Trees on `0..nodes`, each with a root.
#[derive(Debug)]
pub(super) struct SpanningForest {
    /// Every node, parents before children.
    order: Vec<u32>,
    /// The parent of each node; itself for a root.
    parent: Vec<u32>,
    /// The weight of the pair that connects each node to its parent; 0 for a root.
    weight: Vec<f64>,
    roots: usize,
}

impl SpanningForest {
    /// The forest of pairs (left, right, weight) on `0..items`; pairs of weight 0 do not count.
    ///
    /// With a positive `shift`, node `items` is the ground. `components` is the number of components of
    /// all pairs, which ends the search early.
    pub(super) fn new<I>(items: usize, components: usize, shift: f64, pairs: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (u32, u32, f64)>,
    {
        let has_ground = shift > 0.0;
        let nodes = items + usize::from(has_ground);
        let mut count = vec![0_usize; EXPONENTS];
        pairs().for_each(|(_, _, weight)| count[exponent(weight)] += 1);
        let mut sets = DisjointSets::new(nodes);
        let mut edges = Vec::with_capacity(nodes);
        let all = nodes - if has_ground { 1 } else { components };
        for class in (1..EXPONENTS).rev() {
            if has_ground && class == exponent(shift) {
                let ground = items as u32;
                edges.extend(
                    (0..ground).filter(|&i| sets.join(i, ground)).map(|i| (i, ground, shift)),
                );
            }
            if count[class] > 0 && edges.len() < all {
                for (i, j, weight) in pairs() {
                    if exponent(weight) == class && sets.join(i, j) {
                        edges.push((i, j, weight));
                        // A well-connected graph is joined long before its last pair.
                        if edges.len() == all {
                            break;
                        }
                    }
                }
            }
        }
        Self::rooted(nodes, &edges)
    }

    /// Breadth-first search, first from the last node, which is the ground if there is one.
    fn rooted(nodes: usize, edges: &[(u32, u32, f64)]) -> Self {
        let mut offsets = vec![0_u32; nodes + 1];
        for &(i, j, _) in edges {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut neighbours = vec![(0_u32, 0.0); 2 * edges.len()];
        for &(i, j, weight) in edges {
            for (from, to) in [(i, j), (j, i)] {
                neighbours[next[from as usize] as usize] = (to, weight);
                next[from as usize] += 1;
            }
        }
        let mut forest = Self {
            order: Vec::with_capacity(nodes),
            parent: vec![u32::MAX; nodes],
            weight: vec![0.0; nodes],
            roots: 0,
        };
        for root in (nodes.saturating_sub(1)..nodes).chain(0..nodes.saturating_sub(1)) {
            if forest.parent[root] != u32::MAX {
                continue;
            }
            forest.roots += 1;
            forest.parent[root] = root as u32;
            let mut head = forest.order.len();
            forest.order.push(root as u32);
            while let Some(&node) = forest.order.get(head) {
                head += 1;
                let here = offsets[node as usize] as usize..offsets[node as usize + 1] as usize;
                for &(child, weight) in &neighbours[here] {
                    if forest.parent[child as usize] == u32::MAX {
                        forest.parent[child as usize] = node;
                        forest.weight[child as usize] = weight;
                        forest.order.push(child);
                    }
                }
            }
        }
        forest
    }

    /// Number of trees: components of the pairs with a positive weight.
    pub(super) fn roots(&self) -> usize {
        self.roots
    }

    /// Nodes with their parents and the weights of the pairs between them, parents before children.
    /// Roots are their own parents.
    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = (usize, usize, f64)> + '_ {
        self.order.iter().map(|&node| {
            let node = node as usize;
            (node, self.parent[node] as usize, self.weight[node])
        })
    }

    /// Replaces each value by the sum over the node and everything below it: the flow to its parent.
    pub(super) fn flows_to_parents<T: Copy + std::ops::AddAssign>(&self, values: &mut [T]) {
        for (node, parent, _) in self.nodes().rev() {
            if node != parent {
                let flow = values[node];
                values[parent] += flow;
            }
        }
    }

    /// Replaces b by the solution x of the forest's own Laplacian system, with x = 0 at the roots.
    pub(super) fn solve(&self, b: &mut [f64]) {
        self.flows_to_parents(b);
        for (node, parent, weight) in self.nodes() {
            b[node] = if node == parent { 0.0 } else { b[parent] + b[node] / weight };
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        16 * self.order.len()
    }
}

/// The biased binary exponent of a number that is not negative; 0 for 0.
fn exponent(x: f64) -> usize {
    (x.to_bits() >> MANTISSA_BITS) as usize & (EXPONENTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forest(items: usize, shift: f64, pairs: &[(u32, u32, f64)]) -> SpanningForest {
        SpanningForest::new(items, 1, shift, || pairs.iter().copied())
    }

    #[test]
    fn heavy_pairs_come_first() {
        let pairs = [(0, 1, 1.0), (0, 2, 64.0), (1, 2, 1e6), (2, 3, 0.0), (3, 4, 3.0)];
        let forest = forest(5, 0.0, &pairs);
        let mut weights: Vec<f64> = forest.nodes().map(|(_, _, weight)| weight).collect();
        weights.sort_by(f64::total_cmp);
        assert_eq!(weights, [0.0, 0.0, 3.0, 64.0, 1e6]);
        assert_eq!(forest.roots(), 2);
    }

    #[test]
    fn trees_are_solved_exactly() {
        let pairs = [(0, 1, 2.0), (1, 2, 4.0), (1, 3, 1.0)];
        for shift in [0.0, 1e-3] {
            let forest = forest(4, shift, &pairs);
            assert_eq!(forest.roots(), 1);
            let mut x = vec![1.0, -3.0, 2.0, 0.5];
            if shift == 0.0 {
                x[3] = 0.0;
            } else {
                x.push(0.0);
            }
            let b = x.clone();
            forest.solve(&mut x);
            let mut flows = vec![0.0; x.len()];
            for (node, parent, weight) in forest.nodes() {
                flows[node] += weight * (x[node] - x[parent]);
                flows[parent] -= weight * (x[node] - x[parent]);
            }
            for node in 0..4 {
                assert!((flows[node] - b[node]).abs() < 1e-12, "{flows:?}");
            }
        }
    }

    #[test]
    fn the_ground_is_a_root() {
        let forest = forest(3, 8.0, &[(0, 1, 100.0), (1, 2, 1.0)]);
        let nodes: Vec<_> = forest.nodes().collect();
        assert_eq!(nodes[0], (3, 3, 0.0));
        assert_eq!(nodes.iter().filter(|(_, parent, _)| *parent == 3).count(), 3);
    }
}
