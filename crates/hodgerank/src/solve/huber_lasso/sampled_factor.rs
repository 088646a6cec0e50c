//! A factor LDLᵀ ≈ A = L_I + μD, sparse by sampling: a preconditioner for any shape of graph.
//!
//! Taking item v with neighbours a_1, …, a_k out of A joins each two of them by an edge of weight
//! w_i w_j / (Σw + e_v), e_v being what is left of μD on its diagonal. All these edges would fill
//! the factor. So only a tree of them is kept, drawn such that the mean is right: a_i, by rising
//! weight, keeps one edge, to a later a_j drawn in proportion to w_j, with the weight of all its
//! edges to later ones (Kyng and Sachdeva 2016). k edges go and k − 1 come: the factor has no more
//! entries than there are edges. For k ≤ 2 nothing is drawn, so on trees and cycles the factor is
//! exact; items with few neighbours go first. There is no difference of numbers, so no pivot fails.
//!
//! Cost: edges × log of a typical number of neighbours, on one thread; bytes: 40 an edge.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::pass::Pass;

const NONE: u32 = u32::MAX;
/// Items with as many neighbours or more are not told apart when the next one is chosen.
const MANY: usize = 63;

/// Items by the order in which they were taken out; entry (k, row) is −L.
#[derive(Debug, Default)]
pub(super) struct SampledFactor {
    order: Vec<u32>,
    pivots: Vec<f64>,
    /// Where the entries of each column end.
    ends: Vec<u32>,
    rows: Vec<u32>,
    shares: Vec<f32>,
    x: Vec<f64>,
    graph: Remaining,
}

/// The graph of the items not taken out yet. Edge k has the ends 2k and 2k + 1: an end stands in
/// the list of one item and names the other. An edge of weight 0 is gone.
#[derive(Debug, Default)]
struct Remaining {
    other: Vec<u32>,
    next: Vec<u32>,
    weights: Vec<f64>,
    items: Vec<Item>,
    /// Items by number of neighbours. Some are out of date; a look at the item tells.
    queues: Vec<Vec<u32>>,
    neighbours: Vec<Neighbour>,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    first: u32,
    ends: u32,
    taken: bool,
    /// What the diagonal has beyond the weights of the edges.
    excess: f64,
}

#[derive(Debug, Clone, Copy)]
struct Neighbour {
    item: u32,
    end: u32,
    weight: f64,
    /// The weights up to this one, counted from the heaviest.
    sum: f64,
}

impl SampledFactor {
    /// Factors L_I + μD for the inliers that `pass` has found.
    pub(super) fn renew(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let n = degrees.len();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        self.graph.load(pass, degrees, damping);
        self.order.clear();
        self.pivots.clear();
        self.ends.clear();
        self.rows.clear();
        self.shares.clear();
        while let Some(v) = self.graph.next() {
            let pivot = self.graph.gather(v);
            for neighbour in &self.graph.neighbours {
                self.rows.push(neighbour.item);
                self.shares.push((neighbour.weight / pivot) as f32);
            }
            self.graph.take_out(v, pivot, &mut rng);
            self.order.push(v);
            self.pivots.push(pivot);
            self.ends.push(self.rows.len() as u32);
        }
        // From items to places in the order; the queue of firsts is no longer needed.
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
        let Self { order, pivots, ends, rows, shares, x, .. } = self;
        for (x, &v) in x.iter_mut().zip(order.iter()) {
            *x = r[v as usize];
        }
        let mut start = 0;
        for (k, &end) in ends.iter().enumerate() {
            let (x_k, column) = (x[k], start..end as usize);
            for (&row, &share) in rows[column.clone()].iter().zip(&shares[column]) {
                x[row as usize] += f64::from(share) * x_k;
            }
            start = end as usize;
        }
        for (k, &v) in order.iter().enumerate().rev() {
            let column = if k > 0 { ends[k - 1] as usize } else { 0 }..ends[k] as usize;
            let entries = rows[column.clone()].iter().zip(&shares[column]);
            let later: f64 = entries.map(|(&row, &share)| f64::from(share) * x[row as usize]).sum();
            x[k] = if pivots[k] > 0.0 { x[k] / pivots[k] } else { 0.0 } + later;
            z[v as usize] = x[k];
        }
    }
}

impl Remaining {
    fn load(&mut self, pass: &Pass<'_>, degrees: &[f64], damping: f64) {
        let item =
            |&degree: &f64| Item { first: NONE, ends: 0, taken: false, excess: damping * degree };
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
        self.queues.resize_with(MANY + 1, Vec::new);
        for v in 0..self.items.len() {
            self.queue(v as u32);
        }
    }

    fn queue(&mut self, v: u32) {
        self.queues[(self.items[v as usize].ends as usize).min(MANY)].push(v);
    }

    /// The item with the fewest neighbours.
    fn next(&mut self) -> Option<u32> {
        let mut few = 0;
        while few <= MANY {
            let Some(v) = self.queues[few].pop() else {
                few += 1;
                continue;
            };
            let Item { ends, taken, .. } = self.items[v as usize];
            match (ends as usize).min(MANY) {
                _ if taken => {}
                now if now > few => self.queues[now].push(v),
                now if now < few => {}
                _ => return Some(v),
            }
        }
        None
    }

    /// Finds the neighbours of v, by rising weight, and the pivot. Edges to the same one are put
    /// together.
    fn gather(&mut self, v: u32) -> f64 {
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
                self.drop(second);
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

    /// Takes v out: its neighbours share its excess, and each but the heaviest keeps an edge.
    fn take_out(&mut self, v: u32, pivot: f64, rng: &mut ChaCha8Rng) {
        let neighbours = std::mem::take(&mut self.neighbours);
        let excess = self.items[v as usize].excess;
        self.items[v as usize].taken = true;
        for (i, a) in neighbours.iter().enumerate() {
            self.items[a.item as usize].excess += excess * (a.weight / pivot);
            let later = &neighbours[i + 1..];
            let Some(heavier) = later.first() else {
                self.drop(a);
                continue;
            };
            // Sums fall along `later`; the last that is above the draw is the one drawn.
            let draw = heavier.sum * rng.random::<f64>();
            let b = later[later.partition_point(|b| b.sum > draw).saturating_sub(1)];
            self.weights[a.end as usize / 2] = a.weight * (heavier.sum / pivot);
            // The end that stood in the list of v moves to that of b.
            self.other[a.end as usize ^ 1] = b.item;
            let item = &mut self.items[b.item as usize];
            self.next[a.end as usize] = item.first;
            item.first = a.end;
            item.ends += 1;
        }
        self.neighbours = neighbours;
    }

    /// The edge to this neighbour goes.
    fn drop(&mut self, neighbour: &Neighbour) {
        self.weights[neighbour.end as usize / 2] = 0.0;
        self.items[neighbour.item as usize].ends -= 1;
        self.queue(neighbour.item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph, Groups};

    /// max|r − Az| over max|r| with z = (LDLᵀ)⁻¹r, and the entries of L.
    fn error(items: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> (f64, usize) {
        let votes: Vec<_> = edges.into_iter().map(|(i, j)| Comparison::new(i, j, 0.0)).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let n = items as usize;
        let (degrees, damping) = (vec![1.0; n], 1e-3);
        let graph = ComparisonGraph::new(n, groups).unwrap();
        let mut pass = Pass::new(&graph);
        let (mut z, mut az) = (vec![0.0; n], vec![0.0; n]);
        pass.downhill(&z, 1.0, &mut az);
        let mut factor = SampledFactor::default();
        // Twice: what an earlier factor has left must not matter.
        factor.renew(&pass, &degrees, 1.0);
        factor.renew(&pass, &degrees, damping);
        let r: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 11) as f64 - 5.0).collect();
        factor.solve(&r, &mut z);
        pass.inlier_laplacian(&z, &mut az);
        let off = |i: usize| (r[i] - az[i] - damping * z[i]).abs();
        ((0..n).map(off).fold(0.0, f64::max) / 5.0, factor.rows.len())
    }

    #[test]
    fn trees_and_cycles_are_exact() {
        let tree = (1..200).map(|i| (i / 3, i));
        let cycle = (0..200).map(|i| (i, (i + 1) % 200));
        let ears =
            (0..50).flat_map(|i| [(0, 3 * i + 1), (3 * i + 1, 3 * i + 2), (3 * i + 2, 3 * i + 3)]);
        for (error, _) in [error(200, tree), error(200, cycle), error(151, ears)] {
            // The shares have seven digits.
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
