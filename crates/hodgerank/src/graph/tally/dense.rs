//! Merging of the dense tables of all tallies, row by row in the final order of items and outcomes:
//! nothing has to be sorted or merged afterwards.
//!
//! The final order is unrelated to the order of arrival, so most cells are cache misses. All cells
//! of a row are fetched before any is used, so that the misses overlap.

use rayon::prelude::*;

use super::{DENSE_ITEMS, OUTCOME_BITS, Tally, triangle};
use crate::comparison::positive_zero;
use crate::graph::groups::{Groups, from_order_bits, order_bits};

/// Pairs merged by one task.
const PAIRS_PER_TASK: usize = 1 << 15;
/// Marks an item that the tally has not seen.
const ABSENT: u32 = u32::MAX;

/// A tally with the final items and outcomes translated to its own numbers.
struct TallyView<'a> {
    tally: &'a Tally,
    /// The tally's number of each final item.
    own: Vec<u32>,
    /// The byte in a cell of each final outcome, for pairs in the tally's orientation and reversed.
    sides: [Vec<CellByte>; 2],
}

/// The position of a byte in a cell of eight bytes; none where the mask is zero.
#[derive(Clone, Copy, Default)]
struct CellByte {
    shift: u32,
    mask: u64,
}

/// The groups in the dense tables; `new_of[t][i]` is the final index of item `i` of tally `t`.
pub(super) fn groups(tallies: &[Tally], new_of: &[Vec<u32>]) -> Groups {
    let in_tables = |new_of: &Vec<u32>| new_of.len().min(DENSE_ITEMS as usize);
    let mut items: Vec<u32> =
        new_of.iter().flat_map(|new_of| &new_of[..in_tables(new_of)]).copied().collect();
    items.sort_unstable();
    items.dedup();
    let outcomes = |tally: &Tally| tally.dense_outcomes.into_iter().filter(|y| !y.is_nan());
    let mut sides: Vec<u64> = tallies.iter().flat_map(outcomes).flat_map(both_sides).collect();
    sides.sort_unstable();
    sides.dedup();
    if sides.is_empty() {
        return Groups::default();
    }
    let views: Vec<TallyView<'_>> = tallies
        .iter()
        .zip(new_of)
        .map(|(tally, new_of)| TallyView::new(tally, &new_of[..in_tables(new_of)], &items, &sides))
        .collect();
    let rows = |first: usize, last: usize| merge_rows(&views, &items, &sides, first..last);
    let parts: Vec<Groups> =
        tasks(items.len()).into_par_iter().map(|(first, last)| rows(first, last)).collect();
    Groups::concatenated(&parts)
}

/// Ranges of rows of the triangle with about the same number of pairs.
fn tasks(items: usize) -> Vec<(usize, usize)> {
    let mut tasks = Vec::new();
    let (mut first, mut pairs) = (0, 0);
    for row in 0..items {
        pairs += items - 1 - row;
        if pairs >= PAIRS_PER_TASK || row + 1 == items {
            tasks.push((first, row + 1));
            (first, pairs) = (row + 1, 0);
        }
    }
    tasks
}

fn both_sides(y: f64) -> [u64; 2] {
    [order_bits(y), order_bits(positive_zero(-y))]
}

fn merge_rows(
    views: &[TallyView<'_>],
    items: &[u32],
    sides: &[u64],
    rows: std::ops::Range<usize>,
) -> Groups {
    let outcomes: Vec<f64> = sides.iter().map(|&bits| from_order_bits(bits)).collect();
    let mut filled = Groups::with_capacity(PAIRS_PER_TASK * sides.len().min(2));
    let mut row = RowCounts::new(items.len() * sides.len());
    for a in rows {
        let others = &items[a + 1..];
        row.counts[..others.len() * sides.len()].fill(0);
        for view in views {
            view.count_row(a, sides.len(), &mut row);
        }
        row.compact(others, &outcomes);
        row.append(items[a], &mut filled);
    }
    // Where few pairs have votes, the capacity of all tasks together would be hundreds of megabytes.
    filled.shrink_if_sparse();
    filled
}

/// Buffers for the votes between an item and all later items.
struct RowCounts {
    /// Cells as they are in the table.
    cells: Vec<u64>,
    /// Votes on each other item, by outcome.
    counts: Vec<u64>,
    /// Number of non-zero counts; their columns follow.
    groups: usize,
    right: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl RowCounts {
    fn new(max_groups: usize) -> Self {
        Self {
            cells: Vec::new(),
            counts: vec![0; max_groups],
            groups: 0,
            right: vec![0; max_groups],
            y: vec![0.0; max_groups],
            weight: vec![0.0; max_groups],
        }
    }

    /// Compacts the non-zero counts. Branch-free: every count is written, and a zero is overwritten
    /// by the next one, because a branch on zero would mispredict.
    fn compact(&mut self, others: &[u32], outcomes: &[f64]) {
        let Self { counts, groups, right, y, weight, .. } = self;
        *groups = 0;
        for (&other, counts) in others.iter().zip(counts.chunks_exact(outcomes.len())) {
            for (&count, &outcome) in counts.iter().zip(outcomes) {
                (right[*groups], y[*groups], weight[*groups]) = (other, outcome, count as f64);
                *groups += usize::from(count > 0);
            }
        }
    }

    fn append(&self, left: u32, filled: &mut Groups) {
        filled.left.extend(std::iter::repeat_n(left, self.groups));
        filled.right.extend_from_slice(&self.right[..self.groups]);
        filled.y.extend_from_slice(&self.y[..self.groups]);
        filled.weight.extend_from_slice(&self.weight[..self.groups]);
    }
}

impl<'a> TallyView<'a> {
    fn new(tally: &'a Tally, new_of: &[u32], items: &[u32], sides: &[u64]) -> Self {
        let mut own = vec![ABSENT; items.len()];
        for (old, new) in new_of.iter().enumerate() {
            if let Ok(place) = items.binary_search(new) {
                own[place] = old as u32;
            }
        }
        let bytes = |side: usize| -> Vec<CellByte> {
            let find = |&bits: &u64| {
                let mut outcomes = tally.dense_outcomes.iter();
                let outcome = outcomes.position(|&y| !y.is_nan() && both_sides(y)[side] == bits);
                let byte = |k: usize| CellByte { shift: 8 * k as u32, mask: 0xff };
                outcome.map_or(CellByte::default(), byte)
            };
            sides.iter().map(find).collect()
        };
        Self { tally, own, sides: [bytes(0), bytes(1)] }
    }

    /// Adds the votes between final item `a` and each later one, by outcome.
    fn count_row(&self, a: usize, outcomes: usize, row: &mut RowCounts) {
        let i = self.own[a];
        if i == ABSENT || self.tally.dense.is_empty() {
            return;
        }
        let others = &self.own[a + 1..];
        self.fetch(i, others, &mut row.cells);
        let counts = row.counts.chunks_exact_mut(outcomes);
        for ((&j, &cell), counts) in others.iter().zip(&row.cells).zip(counts) {
            for (count, byte) in counts.iter_mut().zip(&self.sides[usize::from(i > j)]) {
                *count += (cell >> byte.shift) & byte.mask;
            }
        }
        if !self.tally.overflows.is_empty() {
            self.add_overflows(i, others, outcomes, &mut row.counts);
        }
    }

    /// Reads the cells of `i` with each of the others, widened to eight bytes.
    fn fetch(&self, i: u32, others: &[u32], cells: &mut Vec<u64>) {
        cells.clear();
        let table = &self.tally.dense;
        match self.tally.cell_bits {
            0 => gather(i, others, cells, |cell| u64::from(table[cell])),
            1 => {
                let table = table.as_chunks().0;
                gather(i, others, cells, |cell| u64::from(u16::from_le_bytes(table[cell])));
            }
            2 => {
                let table = table.as_chunks().0;
                gather(i, others, cells, |cell| u64::from(u32::from_le_bytes(table[cell])));
            }
            _ => {
                let table = table.as_chunks().0;
                gather(i, others, cells, |cell| u64::from_le_bytes(table[cell]));
            }
        }
    }

    /// Adds the overflows of the bytes.
    fn add_overflows(&self, i: u32, others: &[u32], outcomes: usize, counts: &mut [u64]) {
        for (&j, counts) in others.iter().zip(counts.chunks_exact_mut(outcomes)) {
            if j == ABSENT {
                continue;
            }
            let cell = triangle(i.min(j), i.max(j)) as u32;
            for (count, byte) in counts.iter_mut().zip(&self.sides[usize::from(i > j)]) {
                let key = (cell << OUTCOME_BITS) | (byte.shift / 8);
                let times = self.tally.overflows.get(&key).filter(|_| byte.mask > 0);
                *count += 256 * u64::from(times.copied().unwrap_or(0));
            }
        }
    }
}

#[inline]
fn gather(i: u32, others: &[u32], cells: &mut Vec<u64>, cell: impl Fn(usize) -> u64) {
    cells.extend(others.iter().map(|&j| match j {
        ABSENT => 0,
        _ => cell(triangle(i.min(j), i.max(j))),
    }));
}
