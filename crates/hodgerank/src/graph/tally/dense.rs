//! The triangular tables of all tallies, walked together in the final order of items and outcomes:
//! nothing is sorted, and nothing that several tallies counted has to be merged afterwards.

use rayon::prelude::*;

use super::{DENSE_ITEMS, DENSE_OUTCOMES, Tally, triangle};
use crate::comparison::positive_zero;
use crate::graph::groups::{Groups, order_bits};

/// Pairs that one task walks through.
const PAIRS_PER_TASK: usize = 1 << 15;

/// How one tally sees the final items and outcomes.
struct View<'a> {
    tally: &'a Tally,
    /// The number that the tally gave to each item of the list; none if it stands in no table.
    own: Vec<Option<u32>>,
    /// For each outcome of the list the tally's table, as counted and as seen from the other side.
    forward: Vec<Option<u32>>,
    backward: Vec<Option<u32>>,
}

/// The groups in the tables of `tallies`; `new_of[t][i]` is the final index of item `i` of tally `t`.
pub(super) fn groups(tallies: &[Tally], new_of: &[Vec<u32>]) -> Groups {
    let in_tables = |new_of: &Vec<u32>| new_of.len().min(DENSE_ITEMS as usize);
    let mut items: Vec<u32> =
        new_of.iter().flat_map(|new_of| &new_of[..in_tables(new_of)]).copied().collect();
    items.sort_unstable();
    items.dedup();
    let outcomes = |tally: &Tally| tally.outcomes[..tally.dense.len()].to_vec();
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
    let mut filled = Groups::with_capacity(PAIRS_PER_TASK);
    // Counts of a whole row before any is looked at: so that cache misses overlap.
    let mut counts = vec![0; items.len() * sides.len()];
    for a in rows {
        let others = &items[a + 1..];
        let counts = &mut counts[..others.len() * sides.len()];
        counts.fill(0);
        for view in views {
            view.count_row(a, sides.len(), counts);
        }
        for (&other, counts) in others.iter().zip(counts.chunks_exact(sides.len())) {
            for (&count, &bits) in counts.iter().zip(sides) {
                if count > 0 {
                    filled.push((items[a], other, bits), count);
                }
            }
        }
    }
    filled
}

impl<'a> View<'a> {
    fn new(tally: &'a Tally, new_of: &[u32], items: &[u32], sides: &[u64]) -> Self {
        let mut own = vec![None; items.len()];
        for (old, new) in new_of.iter().enumerate() {
            if let Ok(place) = items.binary_search(new) {
                own[place] = Some(old as u32);
            }
        }
        let table = |side: usize| -> Vec<Option<u32>> {
            let of_tally = || tally.outcomes.iter().take(DENSE_OUTCOMES as usize).zip(0..);
            let find = |&bits: &u64| of_tally().find(|(y, _)| both_sides(**y)[side] == bits);
            sides.iter().map(|bits| find(bits).map(|(_, outcome)| outcome)).collect()
        };
        Self { tally, own, forward: table(0), backward: table(1) }
    }

    /// Adds the votes on item `a` of the list and each one behind it, by outcome.
    fn count_row(&self, a: usize, sides: usize, counts: &mut [u64]) {
        let Some(i) = self.own[a] else { return };
        let tables = [&self.forward[..], &self.backward[..]];
        for (own, counts) in self.own[a + 1..].iter().zip(counts.chunks_exact_mut(sides)) {
            let Some(j) = *own else { continue };
            let place = triangle(i.min(j), i.max(j));
            for (count, table) in counts.iter_mut().zip(tables[usize::from(i > j)]) {
                if let Some(outcome) = *table {
                    *count += self.tally.dense_count(outcome, place);
                }
            }
        }
    }
}
