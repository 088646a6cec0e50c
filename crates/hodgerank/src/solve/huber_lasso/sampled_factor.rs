//! A sparse approximate factor LDLᵀ ≈ A = L_I + μD by random sampling, a preconditioner for any graph.
//!
//! Eliminating item v with neighbours a_1, …, a_k from A adds an edge of weight w_i w_j / (Σw + e_v)
//! between each two of them, where e_v is the excess of the diagonal that comes from μD. All these
//! edges would fill the factor, so only a random tree of them is added, with the right expectation:
//! in order of increasing weight, each a_i gets one edge, to a later a_j that is drawn with probability
//! proportional to w_j, with the total weight of its edges to later neighbours (Kyng and Sachdeva
//! 2016). k edges are replaced by k − 1, so the factor has no more entries than there are edges. For
//! k ≤ 2 nothing is random, so the factor is exact on trees and cycles; items with degree neighbours are
//! eliminated first. No numbers are subtracted, so no pivot can break down.
//!
//! Cost: edges × log of a typical number of neighbours, on one thread; 40 bytes per edge.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::pass::Pass;

/// The end of a linked list.
const NONE: u32 = u32::MAX;
/// Items with at least this many neighbours share one queue.
const MAX_QUEUED_DEGREE: usize = 63;

/// The factor, with items in the order of elimination.
#[derive(Debug, Default)]
pub(super) struct SampledFactor {
    order: Vec<u32>,
    pivots: Vec<f64>,
    /// Where the entries of each column end.
    ends: Vec<u32>,
    rows: Vec<u32>,
    /// The entries of −L below the diagonal.
    multipliers: Vec<f32>,
    x: Vec<f64>,
    graph: RemainingGraph,
}

/// The graph of the items that have not been eliminated. Edge k has the ends 2k and 2k + 1: an end is
/// in the list of one item and has the index of the other. An edge of weight 0 is removed.
#[derive(Debug, Default)]
struct RemainingGraph {
    other: Vec<u32>,
    next: Vec<u32>,
    weights: Vec<f64>,
    items: Vec<ItemNode>,
    /// Items by number of neighbours. Entries may be outdated, which [`ItemNode`] shows.
    queues: Vec<Vec<u32>>,
    neighbours: Vec<Neighbour>,
}

#[derive(Debug, Clone, Copy)]
struct ItemNode {
    first: u32,
    ends: u32,
    eliminated: bool,
    /// Excess of the diagonal over the weights of the edges.
    excess: f64,
}

#[derive(Debug, Clone, Copy)]
struct Neighbour {
    item: u32,
    end: u32,
    weight: f64,
    /// Sum of the weights from the heaviest neighbour to this one.
    sum: f64,
}

impl SampledFactor {
    /// Factors L_I + μD for the inliers of the last evaluation of `pass`.
    pub(super) fn refactor(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let n = degrees.len();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        self.graph.load(pass, degrees, damping);
        self.order.clear();
        self.pivots.clear();
        self.ends.clear();
        self.rows.clear();
        self.multipliers.clear();
        while let Some(v) = self.graph.pop_min_degree() {
            let pivot = self.graph.collect_neighbours(v);
            for neighbour in &self.graph.neighbours {
                self.rows.push(neighbour.item);
                self.multipliers.push((neighbour.weight / pivot) as f32);
            }
            self.graph.eliminate(v, pivot, &mut rng);
            self.order.push(v);
            self.pivots.push(pivot);
            self.ends.push(self.rows.len() as u32);
        }
        // Row indices become positions in the order. The lists are not needed any more, so `first` can
        // hold the positions.
        for (k, &v) in self.order.iter().enumerate() {
            self.graph.items[v as usize].first = k as u32;
        }
        for row in &mut self.rows {
            *row = self.graph.items[*row as usize].first;
        }
        self.x.resize(n, 0.0);
    }

    /// z = (LDLᵀ)⁻¹ r.
    pub(super) fn solve(&mut self, r: &[f64], z: &mut [f64]) {
        let Self { order, pivots, ends, rows, multipliers, x, .. } = self;
        for (x, &v) in x.iter_mut().zip(order.iter()) {
            *x = r[v as usize];
        }
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            let (x_k, column) = (x[k], start..end as usize);
            for (&row, &multiplier) in rows[column.clone()].iter().zip(&multipliers[column]) {
                x[row as usize] += f64::from(multiplier) * x_k;
            }
            start = end as usize;
        }
        for (k, &v) in order.iter().enumerate().rev() {
            let column = if k > 0 { ends[k - 1] as usize } else { 0 }..ends[k] as usize;
            let entries = rows[column.clone()].iter().zip(&multipliers[column]);
            let later: f64 =
                entries.map(|(&row, &multiplier)| f64::from(multiplier) * x[row as usize]).sum();
            x[k] = if pivots[k] > 0.0 { x[k] / pivots[k] } else { 0.0 } + later;
            z[v as usize] = x[k];
        }
    }
}

impl RemainingGraph {
    fn load(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let item = |&degree: &f64| ItemNode {
            first: NONE,
            ends: 0,
            eliminated: false,
            excess: damping * degree,
        };
        self.items.clear();
        self.items.extend(degrees.iter().map(item));
        self.other.clear();
        self.next.clear();
        self.weights.clear();
        pass.for_each_inlier(|left, right, weight| {
            for (item, other) in [(left, right), (right, left)] {
                self.next.push(self.items[item].first);
                self.items[item].first = self.other.len() as u32;
                self.items[item].ends += 1;
                self.other.push(other as u32);
            }
            self.weights.push(weight);
        });
        self.queues.resize_with(MAX_QUEUED_DEGREE + 1, Vec::new);
        for v in 0..self.items.len() {
            self.queue(v as u32);
        }
    }

    fn queue(&mut self, v: u32) {
        self.queues[(self.items[v as usize].ends as usize).min(MAX_QUEUED_DEGREE)].push(v);
    }

    /// Removes an item with the fewest neighbours from the queues.
    fn pop_min_degree(&mut self) -> Option<u32> {
        let mut degree = 0;
        while degree <= MAX_QUEUED_DEGREE {
            let Some(v) = self.queues[degree].pop() else {
                degree += 1;
                continue;
            };
            let ItemNode { ends, eliminated, .. } = self.items[v as usize];
            match (ends as usize).min(MAX_QUEUED_DEGREE) {
                _ if eliminated => {}
                current if current > degree => self.queues[current].push(v),
                current if current < degree => {}
                _ => return Some(v),
            }
        }
        None
    }

    /// Collects the neighbours of v by increasing weight, merging parallel edges, and returns the
    /// pivot.
    fn collect_neighbours(&mut self, v: u32) -> f64 {
        self.neighbours.clear();
        let mut end = self.items[v as usize].first;
        while end != NONE {
            let weight = self.weights[end as usize / 2];
            if weight > 0.0 {
                let item = self.other[end as usize];
                self.neighbours.push(Neighbour { item, end, weight, sum: 0.0 });
            }
            end = self.next[end as usize];
        }
        let mut neighbours = std::mem::take(&mut self.neighbours);
        neighbours.sort_unstable_by_key(|neighbour| (neighbour.item, neighbour.end));
        neighbours.dedup_by(|second, first| {
            let same = second.item == first.item;
            if same {
                first.weight += second.weight;
                self.remove_edge(second);
            }
            same
        });
        neighbours.sort_by(|a, b| a.weight.total_cmp(&b.weight));
        let mut sum = 0.0;
        for neighbour in neighbours.iter_mut().rev() {
            sum += neighbour.weight;
            neighbour.sum = sum;
        }
        self.neighbours = neighbours;
        sum + self.items[v as usize].excess
    }

    /// Eliminates v: distributes its excess over its neighbours and connects each but the heaviest to a
    /// heavier one.
    fn eliminate(&mut self, v: u32, pivot: f64, rng: &mut ChaCha8Rng) {
        let neighbours = std::mem::take(&mut self.neighbours);
        let excess = self.items[v as usize].excess;
        self.items[v as usize].eliminated = true;
        for (i, a) in neighbours.iter().enumerate() {
            self.items[a.item as usize].excess += excess * (a.weight / pivot);
            let later = &neighbours[i + 1..];
            let Some(heavier) = later.first() else {
                self.remove_edge(a);
                continue;
            };
            // Sums decrease along `later`; the last one above the drawn number is selected.
            let drawn = heavier.sum * rng.random::<f64>();
            let b = later[later.partition_point(|b| b.sum > drawn).saturating_sub(1)];
            self.weights[a.end as usize / 2] = a.weight * (heavier.sum / pivot);
            // The end in the list of v moves to the list of b.
            self.other[a.end as usize ^ 1] = b.item;
            let item = &mut self.items[b.item as usize];
            self.next[a.end as usize] = item.first;
            item.first = a.end;
            item.ends += 1;
        }
        self.neighbours = neighbours;
    }

    /// Removes the edge to this neighbour.
    fn remove_edge(&mut self, neighbour: &Neighbour) {
        self.weights[neighbour.end as usize / 2] = 0.0;
        self.items[neighbour.item as usize].ends -= 1;
        self.queue(neighbour.item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    /// Returns max|r − Az| / max|r| with z = (LDLᵀ)⁻¹r, and the number of entries of L.
    fn error(items: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> (f64, usize) {
        let votes: Vec<_> = edges.into_iter().map(|(i, j)| Comparison::new(i, j, 0.0)).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let n = items as usize;
        let (degrees, damping) = (vec![1.0; n], 1e-3);
        let graph = ComparisonGraph::new(n, groups).unwrap();
        let mut pass = Pass::new(&graph);
        let (mut z, mut az) = (vec![0.0; n], vec![0.0; n]);
        pass.negative_gradient(&z, 1.0, &mut az);
        let mut factor = SampledFactor::default();
        // Twice: the state of an earlier factor must not matter.
        factor.refactor(&pass, &degrees, 1.0);
        factor.refactor(&pass, &degrees, damping);
        let r: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 11) as f64 - 5.0).collect();
        factor.solve(&r, &mut z);
        pass.inlier_laplacian(&z, &mut az);
        let difference = |i: usize| (r[i] - az[i] - damping * z[i]).abs();
        ((0..n).map(difference).fold(0.0, f64::max) / 5.0, factor.rows.len())
    }

    #[test]
    fn trees_and_cycles_are_exact() {
        let tree = (1..200).map(|i| (i / 3, i));
        let cycle = (0..200).map(|i| (i, (i + 1) % 200));
        let ears =
            (0..50).flat_map(|i| [(0, 3 * i + 1), (3 * i + 1, 3 * i + 2), (3 * i + 2, 3 * i + 3)]);
        for (error, _) in [error(200, tree), error(200, cycle), error(151, ears)] {
            // The multipliers have seven digits.
            assert!(error < 1e-3, "{error:e}");
        }
    }

    #[test]
    fn a_factor_has_no_more_entries_than_edges() {
        let all = (0..40).flat_map(|i| (0..i).map(move |j| (i, j)));
        let (error, entries) = error(40, all);
        assert!(entries <= 40 * 39 / 2 && error < 3.0, "{entries} {error}");
    }
}
