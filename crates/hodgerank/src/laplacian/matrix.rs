//! The weighted graph Laplacian L = XᵀWX, stored by rows, one component after the other.

use std::borrow::Cow;
use std::sync::Arc;

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::graph::{ComparisonGraph, Components, Pairs};
use crate::numeric::sum_tasks;

/// Rows per task. Fixed, so that sums over tasks do not depend on the thread count.
pub(super) const ROWS_PER_TASK: usize = 2048;
/// Approximate number of entries per task of a product; tasks have fewer rows where rows are long.
const ENTRIES_PER_TASK: usize = 1 << 16;

/// Entries (12 bytes each) per task while the matrix is built, and maximum number of such tasks.
const ENTRIES_PER_RANGE: usize = 1 << 18;
const MAX_RANGES: usize = 32;

/// L + shift·I of a whole comparison graph.
///
/// Rows are ordered by component (the largest first) and by item within it, so that each component
/// is a block of consecutive rows. Each pair has two entries of 12 bytes; the diagonal is stored
/// separately, as degrees.
///
/// In a distributed graph the entries are those of the pairs of this process; degrees and products
/// are those of all processes.
#[derive(Debug, Clone)]
pub struct LaplacianMatrix {
    shift: f64,
    /// The item of each row.
    items: Vec<u32>,
    /// Component `c` has rows `block_start[c]..block_start[c + 1]`.
    block_start: Vec<usize>,
    /// Row `i` has entries `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    /// Columns relative to the first row of the component, ascending within a row.
    neighbours: Vec<u32>,
    /// Votes on the pair (row, column): minus the off-diagonal entry.
    weights: Vec<f64>,
    /// Votes on all pairs of the row.
    degrees: Vec<f64>,
    communicator: Arc<dyn Communicator>,
}

/// The rows of one component.
#[derive(Debug, Clone, Copy)]
pub struct LaplacianBlock<'a> {
    shift: f64,
    /// Offsets of the rows in the whole matrix, and their end.
    offsets: &'a [usize],
    neighbours: &'a [u32],
    weights: &'a [f64],
    degrees: &'a [f64],
    communicator: &'a dyn Communicator,
}

impl LaplacianMatrix {
    /// The matrix of a graph. O(items + pairs).
    #[must_use]
    pub fn new(graph: &ComparisonGraph, shift: f64) -> Self {
        Self::with_weights(graph, &graph.pairs().weight, shift)
    }

    /// The matrix of a graph with these weights on its pairs; a weight of zero is stored as well.
    pub(super) fn with_weights(graph: &ComparisonGraph, pair_weights: &[f64], shift: f64) -> Self {
        let (pairs, components) = (graph.pairs(), graph.components());
        let items: Vec<u32> = components.iter().flatten().copied().collect();
        let block_start = block_starts(components);
        let [left, right] = end_rows(pairs, &items);
        let offsets = offsets(items.len(), &left, &right);
        let (mut neighbours, weights) =
            entries(&left, &right, pair_weights, &offsets, items.is_sorted());
        for (c, &start) in block_start.iter().enumerate().take(components.len()).skip(1) {
            for column in &mut neighbours[offsets[start]..offsets[block_start[c + 1]]] {
                *column -= start as u32;
            }
        }
        let mut degrees: Vec<f64> = offsets
            .par_windows(2)
            .with_min_len(ROWS_PER_TASK)
            .map(|row| weights[row[0]..row[1]].iter().sum())
            .collect();
        let communicator = graph.communicator_handle();
        communicator.sum(&mut degrees);
        Self { shift, items, block_start, offsets, neighbours, weights, degrees, communicator }
    }

    /// The item of each row.
    #[must_use]
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    pub(super) fn shift(&self) -> f64 {
        self.shift
    }

    /// Number of components.
    #[must_use]
    pub fn components(&self) -> usize {
        self.block_start.len() - 1
    }

    /// The rows of component `c`.
    #[must_use]
    pub fn rows(&self, c: usize) -> std::ops::Range<usize> {
        self.block_start[c]..self.block_start[c + 1]
    }

    /// The matrix of component `c`.
    #[must_use]
    pub fn block(&self, c: usize) -> LaplacianBlock<'_> {
        let rows = self.rows(c);
        let entries = self.offsets[rows.start]..self.offsets[rows.end];
        LaplacianBlock {
            shift: self.shift,
            offsets: &self.offsets[rows.start..=rows.end],
            neighbours: &self.neighbours[entries.clone()],
            weights: &self.weights[entries],
            degrees: &self.degrees[rows],
            communicator: &*self.communicator,
        }
    }

    /// out = (L + shift·I)x, both in the order of the rows.
    pub fn multiply(&self, x: &[f64], out: &mut [f64]) {
        for c in 0..self.components() {
            let rows = self.rows(c);
            self.block(c).flows_here(&x[rows.clone()], &mut out[rows]);
        }
        self.communicator.sum(out);
        add_shift(self.shift, x, out);
    }

    /// The ratio of the largest to the smallest positive weight of all processes; 1 without any.
    pub(super) fn weight_ratio(&self) -> f64 {
        let positive = |weights: &[f64]| {
            let positive = weights.iter().filter(|&&weight| weight > 0.0);
            // The largest weight, and minus the smallest: both are maxima.
            positive.fold([0.0_f64, f64::NEG_INFINITY], |[high, low], &weight| {
                [high.max(weight), low.max(-weight)]
            })
        };
        let parts: Vec<[f64; 2]> =
            self.weights.par_chunks(ENTRIES_PER_TASK).map(positive).collect();
        let mut ends = [0.0_f64, f64::NEG_INFINITY];
        for [high, low] in parts {
            ends = [ends[0].max(high), ends[1].max(low)];
        }
        self.communicator.max(&mut ends);
        if ends[0] > 0.0 { ends[0] / -ends[1] } else { 1.0 }
    }

    /// The communicator of the processes that hold the votes.
    pub(super) fn communicator(&self) -> &dyn Communicator {
        &*self.communicator
    }

    /// Memory in use, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        12 * self.neighbours.len() + 20 * self.items.len() + 8 * self.block_start.len()
    }
}

fn block_starts(components: &Components) -> Vec<usize> {
    let mut starts = Vec::with_capacity(components.len() + 1);
    let mut next = 0;
    starts.push(next);
    for members in components.iter() {
        next += members.len();
        starts.push(next);
    }
    starts
}

/// The rows of the left and the right item of each pair. A connected graph needs no renumbering.
fn end_rows<'a>(pairs: &'a Pairs, items: &[u32]) -> [Cow<'a, [u32]>; 2] {
    let ends = [&pairs.left, &pairs.right];
    if items.is_sorted() {
        return ends.map(|end| Cow::Borrowed(&end[..]));
    }
    let mut row_of = vec![0; items.len()];
    for (row, &item) in items.iter().enumerate() {
        row_of[item as usize] = row as u32;
    }
    ends.map(|end| {
        Cow::Owned(
            end.par_iter()
                .with_min_len(ENTRIES_PER_TASK)
                .map(|&item| row_of[item as usize])
                .collect(),
        )
    })
}

fn offsets(rows: usize, left: &[u32], right: &[u32]) -> Vec<usize> {
    let count = |ends: &[u32]| {
        let mut counts = vec![0; rows + 1];
        ends.iter().for_each(|&row| counts[row as usize + 1] += 1);
        counts
    };
    let (mut offsets, right) = match left.len() < ENTRIES_PER_TASK {
        true => (count(left), count(right)),
        false => rayon::join(|| count(left), || count(right)),
    };
    offsets.iter_mut().zip(right).for_each(|(offset, right)| *offset += right);
    for row in 0..rows {
        offsets[row + 1] += offsets[row];
    }
    offsets
}

/// Fills ranges of rows in parallel; each range scans all pairs.
///
/// Scanning a pair is much cheaper than a write that misses the cache, so ranges are small enough to
/// stay in a cache. Pairs are sorted by (left, right): a row receives its smaller neighbours,
/// ascending, in the pass over right ends, and its larger ones in the pass over left ends.
fn entries(
    left: &[u32],
    right: &[u32],
    pair_weights: &[f64],
    offsets: &[usize],
    is_sorted: bool,
) -> (Vec<u32>, Vec<f64>) {
    let (rows, total) = (offsets.len() - 1, 2 * left.len());
    let (mut neighbours, mut weights) = (vec![0; total], vec![0.0; total]);
    let ranges = (total / ENTRIES_PER_RANGE + 1).min(MAX_RANGES);
    let mut tasks = Vec::with_capacity(ranges);
    let (mut columns_left, mut weights_left) = (&mut neighbours[..], &mut weights[..]);
    let mut first = 0;
    for range in 1..=ranges {
        let goal = (total / ranges) * range;
        let last = if range == ranges { rows } else { offsets.partition_point(|&at| at < goal) };
        let length = offsets[last] - offsets[first];
        let (columns, columns_rest) = columns_left.split_at_mut(length);
        let (values, weights_rest) = weights_left.split_at_mut(length);
        (columns_left, weights_left) = (columns_rest, weights_rest);
        tasks.push((first..last, columns, values));
        first = last;
    }
    tasks.into_par_iter().for_each(|(range, columns, values)| {
        let base = offsets[range.start];
        let mut next: Vec<usize> = offsets[range.clone()].iter().map(|&at| at - base).collect();
        // If rows are numbered like items, the pairs whose left end is in the range are consecutive.
        let all = 0..left.len();
        let with_left_end = if is_sorted {
            let from = |row: usize| left.partition_point(|&left| (left as usize) < row);
            from(range.start)..from(range.end)
        } else {
            all.clone()
        };
        for (rows, others, pairs) in [(right, left, all), (left, right, with_left_end)] {
            for pair in pairs {
                let row = rows[pair];
                if let Some(at) = next.get_mut((row as usize).wrapping_sub(range.start)) {
                    columns[*at] = others[pair];
                    values[*at] = pair_weights[pair];
                    *at += 1;
                }
            }
        }
    });
    (neighbours, weights)
}

impl<'a> LaplacianBlock<'a> {
    /// Number of items of the component.
    #[must_use]
    pub fn len(self) -> usize {
        self.degrees.len()
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.degrees.is_empty()
    }

    /// Number of off-diagonal entries: two per pair.
    #[must_use]
    pub fn entries(self) -> usize {
        self.neighbours.len()
    }

    /// Rows per task of a product; depends on the shape of the matrix alone.
    pub(super) fn rows_per_task(self) -> usize {
        let rows = ENTRIES_PER_TASK * self.len() / self.entries().max(1);
        rows.clamp(1, ROWS_PER_TASK)
    }

    /// The number added to the diagonal of the Laplacian.
    #[must_use]
    pub fn shift(self) -> f64 {
        self.shift
    }

    /// Columns of row `i`, ascending, without the diagonal.
    #[must_use]
    pub fn neighbours(self, i: usize) -> &'a [u32] {
        &self.neighbours[self.offsets[i] - self.offsets[0]..self.offsets[i + 1] - self.offsets[0]]
    }

    /// Votes on the pairs of row `i`, in the order of [`LaplacianBlock::neighbours`].
    #[must_use]
    pub fn weights(self, i: usize) -> &'a [f64] {
        &self.weights[self.offsets[i] - self.offsets[0]..self.offsets[i + 1] - self.offsets[0]]
    }

    /// The diagonal entry of row `i`.
    #[must_use]
    pub fn diagonal(self, i: usize) -> f64 {
        self.degrees[i] + self.shift
    }

    /// The item whose score direct backends fix at zero: the one with the most votes, because
    /// removing its row leaves the best conditioned matrix. None if a shift makes the matrix regular.
    #[must_use]
    pub fn ground(self) -> Option<usize> {
        let heavier =
            |best: usize, i: usize| if self.degrees[i] > self.degrees[best] { i } else { best };
        (self.shift == 0.0).then(|| (0..self.len()).reduce(heavier)).flatten()
    }

    /// An upper bound of the largest eigenvalue (Gershgorin).
    #[must_use]
    pub fn norm_bound(self) -> f64 {
        2.0 * self.degrees.iter().copied().fold(0.0, f64::max) + self.shift
    }

    /// The largest weight divided by the smallest positive one, the shift included: of the pairs of
    /// this process.
    #[must_use]
    pub fn weight_ratio(self) -> f64 {
        let of_rows = |weights: &[f64]| {
            let widen = |(low, high): (f64, f64), &w: &f64| match w > 0.0 {
                true => (low.min(w), high.max(w)),
                false => (low, high),
            };
            weights.iter().fold((f64::INFINITY, 0.0_f64), widen)
        };
        let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let pairs = self.weights.par_chunks(ENTRIES_PER_TASK).map(of_rows);
        let (low, high) = pairs.reduce(|| of_rows(&[self.shift]), join);
        if high > 0.0 { high / low } else { 1.0 }
    }

    /// xᵀ(L + shift·I)x, as a sum of squares. For a matrix whose pairs are all on this process.
    pub(super) fn energy(self, x: &[f64]) -> f64 {
        let length = self.rows_per_task();
        let [energy] = sum_tasks(x.par_chunks(length).enumerate(), |(task, own)| {
            let mut energy = 0.0;
            for (k, &xi) in own.iter().enumerate() {
                let i = task * length + k;
                let entries = self.neighbours(i).iter().zip(self.weights(i));
                // Each pair is in two rows.
                let twice: f64 = entries.map(|(&j, &w)| w * (xi - x[j as usize]).powi(2)).sum();
                energy += 0.5 * twice + self.shift * xi * xi;
            }
            [energy]
        });
        energy
    }

    /// Row `i` of (L + shift·I)x, for the pairs of this process.
    ///
    /// Computed from differences, Σ w (xᵢ − xⱼ), and not as degree·xᵢ − Σ w xⱼ: on long chains the
    /// scores of neighbours are close, and their differences are exact.
    #[inline]
    #[must_use]
    pub fn row_times(self, i: usize, x: &[f64]) -> f64 {
        self.flow_here(i, x) + self.shift * x[i]
    }

    #[inline]
    fn flow_here(self, i: usize, x: &[f64]) -> f64 {
        let xi = x[i];
        let ((columns, more_columns), (weights, more_weights)) =
            (self.neighbours(i).as_chunks::<4>(), self.weights(i).as_chunks::<4>());
        // Four partial sums, which do not wait for each other's additions.
        let mut sums = [0.0; 4];
        for (columns, weights) in columns.iter().zip(weights) {
            for (sum, (&j, &w)) in sums.iter_mut().zip(columns.iter().zip(weights)) {
                *sum += w * (xi - x[j as usize]);
            }
        }
        let more = more_columns.iter().zip(more_weights);
        let rest: f64 = more.map(|(&j, &w)| w * (xi - x[j as usize])).sum();
        (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
    }

    /// out = Lx for the pairs of this process.
    fn flows_here(self, x: &[f64], out: &mut [f64]) {
        let length = self.rows_per_task();
        out.par_chunks_mut(length).enumerate().for_each(|(task, out)| {
            for (k, out) in out.iter_mut().enumerate() {
                *out = self.flow_here(task * length + k, x);
            }
        });
    }

    /// out = (L + shift·I)x.
    pub fn multiply(self, x: &[f64], out: &mut [f64]) {
        self.flows_here(x, out);
        self.communicator.sum(out);
        add_shift(self.shift, x, out);
    }

    /// Whether all pairs of the component are on this process.
    pub(super) fn is_complete(self) -> bool {
        self.communicator.is_single_process()
    }

    /// Writes b − (L + shift·I)x into `out` and returns its norm. Same bits for any thread count.
    pub fn residual(self, x: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
        self.multiply(x, out);
        let tasks = out.par_chunks_mut(ROWS_PER_TASK).zip(b.par_chunks(ROWS_PER_TASK));
        let [squares] = sum_tasks(tasks, |(out, b)| {
            let mut squares = 0.0;
            for (out, b) in out.iter_mut().zip(b) {
                *out = b - *out;
                squares += *out * *out;
            }
            [squares]
        });
        squares.sqrt()
    }
}

fn add_shift(shift: f64, x: &[f64], out: &mut [f64]) {
    if shift != 0.0 {
        out.iter_mut().zip(x).for_each(|(out, x)| *out += shift * x);
    }
}
