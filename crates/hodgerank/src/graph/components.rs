//! Connected components and bridges. Scores can be compared only within a component.

use super::Pairs;
use crate::communicator::Communicator;
use crate::numeric::DisjointSets;

/// The connected components, the largest first (then by their smallest item).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Components {
    /// The component of each item.
    pub of: Vec<u32>,
    /// Items of all components, one component after the other, each in ascending order.
    members: Vec<u32>,
    /// Component `c` is `members[start[c]..start[c + 1]]`.
    start: Vec<u32>,
}

impl Components {
    /// Number of components. An item that was never compared is a component of its own.
    #[must_use]
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The items of component `c`, ascending.
    #[must_use]
    pub fn members(&self, c: usize) -> &[u32] {
        &self.members[self.start[c] as usize..self.start[c + 1] as usize]
    }

    /// The items of each component, the largest component first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|c| self.members(c))
    }

    /// Items that are the only one in their component.
    pub fn singletons(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().filter(|members| members.len() == 1).map(|members| members[0])
    }

    /// Shifts the scores of each component to mean zero.
    pub fn centre(&self, scores: &mut [f64]) {
        for members in self.iter() {
            let sum: f64 = members.iter().map(|&i| scores[i as usize]).sum();
            let mean = sum / members.len() as f64;
            for &i in members {
                scores[i as usize] -= mean;
            }
        }
    }

    /// Shifts scores again that were centred from far away, where one shift leaves rounding errors.
    pub(crate) fn centre_exactly(&self, scores: &mut [f64]) {
        /// Largest |Σ θ| relative to Σ |θ| of centred scores.
        const MAX_RELATIVE_SUM: f64 = 1e-12;
        for members in self.iter() {
            let at = |&i: &u32| scores[i as usize];
            let (sum, size) = (members.iter().map(at).sum::<f64>(), members.len() as f64);
            let total: f64 = members.iter().map(|i| at(i).abs()).sum();
            if sum.abs() > MAX_RELATIVE_SUM * total {
                members.iter().for_each(|&i| scores[i as usize] -= sum / size);
            }
        }
    }

    /// The components that these pairs of items connect, together with those of other processes.
    pub(super) fn of(
        items: usize,
        pairs: impl Iterator<Item = (u32, u32)>,
        communicator: &dyn Communicator,
    ) -> Self {
        let mut sets = DisjointSets::new(items);
        let mut count = items;
        for (i, j) in pairs {
            // A well-connected graph is joined long before its last pair.
            if count == 1 {
                break;
            }
            count -= usize::from(sets.join(i, j));
        }
        let root = agreed_roots(&mut sets, communicator);
        let mut size = vec![0_u32; items];
        for &r in &root {
            size[r as usize] += 1;
        }
        // A root is the smallest item of its set: ties are ordered by smallest item.
        let mut order: Vec<u32> = (0..items as u32).filter(|&i| root[i as usize] == i).collect();
        order.sort_by_key(|&r| (std::cmp::Reverse(size[r as usize]), r));
        let mut start = vec![0];
        let mut number = vec![0; items];
        for (c, &r) in order.iter().enumerate() {
            number[r as usize] = c as u32;
            start.push(start[c] + size[r as usize]);
        }
        let of: Vec<u32> = root.iter().map(|&r| number[r as usize]).collect();
        let mut next = start.clone();
        let mut members = vec![0; items];
        for (i, &c) in of.iter().enumerate() {
            members[next[c as usize] as usize] = i as u32;
            next[c as usize] += 1;
        }
        Self { of, members, start }
    }
}

/// The roots of the components once the sets of all processes are united.
///
/// In each round every item learns the smallest root that a process has for it and is united with
/// that root. A set without its final root is united with another one in each round, so few rounds
/// suffice: two or three for comparison graphs.
fn agreed_roots(sets: &mut DisjointSets, communicator: &dyn Communicator) -> Vec<u32> {
    loop {
        let here = sets.roots();
        let mut agreed = here.clone();
        communicator.min(&mut agreed);
        let has_changed = communicator.max_scalar(if agreed == here { 0.0 } else { 1.0 }) > 0.0;
        if !has_changed {
            return here;
        }
        for (i, &root) in agreed.iter().enumerate() {
            sets.join(i as u32, root);
        }
    }
}

/// Tarjan's bridge-finding algorithm by an iterative depth-first search: O(items + pairs).
pub(super) fn bridges(items: usize, pairs: &Pairs) -> Vec<u32> {
    let (start, incident) = incidence(items, pairs);
    const UNSEEN: u32 = u32::MAX;
    // The step at which each item was first visited.
    let mut seen = vec![UNSEEN; items];
    let mut low = vec![UNSEEN; items];
    let mut next = start.clone();
    let mut clock = 0;
    let mut bridges = Vec::new();
    for source in 0..items as u32 {
        if seen[source as usize] != UNSEEN {
            continue;
        }
        // (item, pair by which it was reached)
        let mut stack = vec![(source, UNSEEN)];
        while let Some(&(i, arrival)) = stack.last() {
            let at = i as usize;
            if seen[at] == UNSEEN {
                (seen[at], low[at]) = (clock, clock);
                clock += 1;
            }
            if next[at] < start[at + 1] {
                let pair = incident[next[at] as usize];
                next[at] += 1;
                if pair == arrival {
                    continue;
                }
                let (left, right) = (pairs.left[pair as usize], pairs.right[pair as usize]);
                let other = if left == i { right } else { left };
                if seen[other as usize] == UNSEEN {
                    stack.push((other, pair));
                } else {
                    low[at] = low[at].min(seen[other as usize]);
                }
            } else {
                stack.pop();
                if let Some(&(parent, _)) = stack.last() {
                    let up = parent as usize;
                    low[up] = low[up].min(low[at]);
                    if low[at] > seen[up] {
                        bridges.push(arrival);
                    }
                }
            }
        }
    }
    bridges.sort_unstable();
    bridges
}

/// The pairs at each item: those of item `i` are `incident[start[i]..start[i + 1]]`.
fn incidence(items: usize, pairs: &Pairs) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0_u32; items + 1];
    for &i in pairs.left.iter().chain(&pairs.right) {
        start[i as usize + 1] += 1;
    }
    for i in 0..items {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut incident = vec![0; 2 * pairs.len()];
    for (pair, (&i, &j)) in pairs.left.iter().zip(&pairs.right).enumerate() {
        for item in [i, j] {
            incident[next[item as usize] as usize] = pair as u32;
            next[item as usize] += 1;
        }
    }
    (start, incident)
}

#[cfg(test)]
mod tests {
    use crate::{Comparison, ComparisonGraph, Groups};

    fn graph(items: usize, edges: &[(u32, u32)]) -> ComparisonGraph {
        let votes: Vec<_> = edges.iter().map(|&(i, j)| Comparison::new(i, j, 1.0)).collect();
        ComparisonGraph::new(items, Groups::merge(items, &votes).unwrap().groups).unwrap()
    }

    #[test]
    fn components_are_numbered_by_size() {
        let graph = graph(8, &[(6, 7), (1, 2), (2, 3), (5, 6)]);
        let components = graph.components();
        let lists: Vec<_> = components.iter().collect();
        assert_eq!(lists, [&[1, 2, 3][..], &[5, 6, 7], &[0], &[4]]);
        assert_eq!(components.of, [2, 0, 0, 0, 3, 1, 1, 1]);
        assert_eq!(graph.never_compared().collect::<Vec<_>>(), [0, 4]);
        let mut scores = [1.0, 2.0, 4.0, 6.0, 9.0, 0.0, 0.0, 3.0];
        components.centre(&mut scores);
        assert_eq!(scores, [0.0, -2.0, 0.0, 2.0, 0.0, -1.0, -1.0, 2.0]);
    }

    /// Slow reference: a pair is a bridge when the graph without it has more components.
    #[test]
    fn bridges_agree_with_removal() {
        let cases: [&[(u32, u32)]; 4] = [
            &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)],
            &[(0, 1), (2, 3)],
            &[(0, 1), (1, 2), (2, 3), (0, 3)],
            &[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6)],
        ];
        for edges in cases {
            let whole = graph(7, edges);
            let slow: Vec<u32> = (0..whole.pairs().len())
                .filter(|&p| {
                    let pair = (whole.pairs().left[p], whole.pairs().right[p]);
                    let rest: Vec<_> = edges.iter().copied().filter(|&e| e != pair).collect();
                    graph(7, &rest).components().len() > whole.components().len()
                })
                .map(|p| p as u32)
                .collect();
            assert_eq!(whole.bridges(), slow, "{edges:?}");
        }
    }
}
