//! The triangular tables of all tallies, walked together in the final order of items and outcomes:
//! nothing is sorted, and nothing that several tallies counted has to be merged afterwards.
//!
//! Final order and order of arrival have nothing to do with each other, so that most cells are
//! cache misses. All cells of a row are fetched before any is looked at: nothing in between depends
//! on their content, and the misses overlap.

use rayon::prelude::*;

use super::{DENSE_ITEMS, OUTCOME_BITS, Tally, triangle};
use crate::comparison::positive_zero;
use crate::graph::groups::{Groups, from_order_bits, order_bits};

/// Pairs that one task walks through.
const PAIRS_PER_TASK: usize = 1 << 15;
/// The tally never met the item.
const ABSENT: u32 = u32::MAX;

/// How one tally sees the final items and outcomes.
struct View<'a> {
    tally: &'a Tally,
    /// The number that the tally gave to each item of the list.
    own: Vec<u32>,
    /// For each outcome of the list its byte in a cell, as counted and as seen from the other side.
    sides: [Vec<Byte>; 2],
}

/// A byte of a cell of eight; none where the mask is zero.
#[derive(Clone, Copy, Default)]
struct Byte {
    shift: u32,
    mask: u64,
}

/// The groups in the tables of `tallies`; `new_of[t][i]` is the final index of item `i` of tally `t`.
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
    let views: Vec<View<'_>> = tallies
        .iter()
        .zip(new_of)
        .map(|(tally, new_of)| View::new(tally, &new_of[..in_tables(new_of)], &items, &sides))
        .collect();
    let rows = |first: usize, last: usize| walk(&views, &items, &sides, first..last);
    let parts: Vec<Groups> =
        tasks(items.len()).into_par_iter().map(|(first, last)| rows(first, last)).collect();
    Groups::concatenated(&parts)
}

/// Ranges of rows of a triangle with about as many pairs each.
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

fn walk(views: &[View<'_>], items: &[u32], sides: &[u64], rows: std::ops::Range<usize>) -> Groups {
    let outcomes: Vec<f64> = sides.iter().map(|&bits| from_order_bits(bits)).collect();
    let mut filled = Groups::with_capacity(PAIRS_PER_TASK * sides.len().min(2));
    let mut row = Row::new(items.len() * sides.len());
    for a in rows {
        let others = &items[a + 1..];
        row.counts[..others.len() * sides.len()].fill(0);
        for view in views {
            view.count_row(a, sides.len(), &mut row);
        }
        row.compact(others, &outcomes);
        row.append(items[a], &mut filled);
    }
    filled
}

/// Room for the votes between an item and all behind it.
struct Row {
    /// Cells as they were fetched.
    cells: Vec<u64>,
    /// Votes on each other item, by outcome.
    counts: Vec<u64>,
    /// The groups among them.
    groups: usize,
    right: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl Row {
    fn new(most: usize) -> Self {
        Self {
            cells: Vec::new(),
            counts: vec![0; most],
            groups: 0,
            right: vec![0; most],
            y: vec![0.0; most],
            weight: vec![0.0; most],
        }
    }

    /// Keeps the counts that are not zero. Every count is written and the next one over it if it
    /// was zero: whether it is cannot be foreseen, and a wrong guess would cost more.
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

impl<'a> View<'a> {
    fn new(tally: &'a Tally, new_of: &[u32], items: &[u32], sides: &[u64]) -> Self {
        let mut own = vec![ABSENT; items.len()];
        for (old, new) in new_of.iter().enumerate() {
            if let Ok(place) = items.binary_search(new) {
                own[place] = old as u32;
            }
        }
        let bytes = |side: usize| -> Vec<Byte> {
            let find = |&bits: &u64| {
                let mut outcomes = tally.dense_outcomes.iter();
                let outcome = outcomes.position(|&y| !y.is_nan() && both_sides(y)[side] == bits);
                let byte = |k: usize| Byte { shift: 8 * k as u32, mask: 0xff };
                outcome.map_or(Byte::default(), byte)
            };
            sides.iter().map(find).collect()
        };
        Self { tally, own, sides: [bytes(0), bytes(1)] }
    }

    /// Adds the votes on item `a` of the list and each one behind it, by outcome.
    fn count_row(&self, a: usize, outcomes: usize, row: &mut Row) {
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
        if !self.tally.carried.is_empty() {
            self.add_carried(i, others, outcomes, &mut row.counts);
        }
    }

    /// The cells of `i` and each of the others, in eight bytes each.
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

    /// What did not fit into the bytes.
    fn add_carried(&self, i: u32, others: &[u32], outcomes: usize, counts: &mut [u64]) {
        for (&j, counts) in others.iter().zip(counts.chunks_exact_mut(outcomes)) {
            if j == ABSENT {
                continue;
            }
            let cell = triangle(i.min(j), i.max(j)) as u32;
            for (count, byte) in counts.iter_mut().zip(&self.sides[usize::from(i > j)]) {
                let key = (cell << OUTCOME_BITS) | (byte.shift / 8);
                let times = self.tally.carried.get(&key).filter(|_| byte.mask > 0);
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
