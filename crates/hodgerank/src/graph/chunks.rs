//! Groups cut into chunks that are worked on side by side, with the same bits for any thread count.
//!
//! A chunk owns the state of its groups and a flow: its part of XᵀW f for some f on the groups. The
//! cut depends on the graph alone and parts are added up in the order of the chunks. Groups are
//! sorted by their left item, so that on meshes a chunk touches a short range of items; only that
//! range has room in its flow.

use std::ops::Range;

use rayon::prelude::*;

use super::Groups;
use crate::numeric::add_parts;

/// Below this a chunk is not worth a task.
const MIN_GROUPS: usize = 1 << 14;
/// Enough for the cores of one machine to share evenly.
const MAX_CHUNKS: usize = 64;

/// Consecutive groups, their state `S`, and what they add to XᵀW f.
#[derive(Debug)]
pub(crate) struct Chunk<S> {
    pub(crate) groups: Range<usize>,
    pub(crate) state: S,
    /// The item of `flow[0]`; times the width, where an item has several numbers.
    pub(crate) first: usize,
    pub(crate) flow: Vec<f64>,
}

/// All groups, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Chunks<S>(pub(crate) Vec<Chunk<S>>);

impl<S: Send + Sync> Chunks<S> {
    /// Cuts `groups` on `items` items; `state` makes the state of a range of groups.
    pub(crate) fn new(
        items: usize,
        groups: &Groups,
        state: impl Fn(Range<usize>) -> S + Sync,
    ) -> Self {
        // Half the items: flows take at most two numbers for each group and one for each item.
        Self::cut(groups, items / 2, 1, state)
    }

    /// Chunks of at least `least` groups, with `width` numbers for each item in their flows.
    fn cut(
        groups: &Groups,
        least: usize,
        width: usize,
        state: impl Fn(Range<usize>) -> S + Sync,
    ) -> Self {
        let length = MIN_GROUPS.max(groups.len().div_ceil(MAX_CHUNKS)).max(least);
        let starts = (0..groups.len()).into_par_iter().step_by(length);
        let chunk = |start: usize| {
            let range = start..groups.len().min(start + length);
            let first = groups.left[range.clone()].iter().min().map_or(0, |&i| i as usize);
            let last = groups.right[range.clone()].iter().max().map_or(first, |&j| j as usize);
            let flow = vec![0.0; width * (last - first + 1)];
            Chunk { state: state(range.clone()), groups: range, first: width * first, flow }
        };
        Self(starts.map(chunk).collect())
    }

    /// Does the same work on every chunk. A single chunk stays on this thread.
    pub(crate) fn each(&mut self, work: impl Fn(&mut Chunk<S>) + Send + Sync) {
        match &mut self.0[..] {
            [only] => work(only),
            chunks => chunks.par_iter_mut().with_max_len(1).for_each(work),
        }
    }

    /// Writes the sum of the flows of all chunks into `out`.
    pub(crate) fn add_up(&self, out: &mut [f64]) {
        add_parts(out, || self.0.iter().map(|chunk| (chunk.first, &chunk.flow[..])));
    }
}

/// Sums over the groups of each item, `width` of them. `work` adds up the groups of a chunk.
pub(crate) fn sums_of_items(
    items: usize,
    groups: &Groups,
    width: usize,
    work: impl Fn(&mut Chunk<()>) + Send + Sync,
) -> Vec<f64> {
    // A number for each second group at most: it is done once, and memory is dear where items are
    // many.
    let mut chunks = Chunks::cut(groups, 2 * width * items, width, |_| ());
    chunks.each(work);
    let mut sums = vec![0.0; width * items];
    chunks.add_up(&mut sums);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, ComparisonGraph};

    #[test]
    fn flows_add_up_to_the_divergence() {
        let items = 40_000;
        let vote = |k: u32| Comparison::new(k % items, (k % items + 1 + k % 977) % items, 1.0);
        let votes: Vec<_> = (0..200_000).map(vote).collect();
        let groups = Groups::keep_apart(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let groups = graph.groups();
        let mut chunks = Chunks::new(graph.items(), groups, |_| ());
        assert!(chunks.0.len() > 5);
        let f: Vec<f64> = (0..groups.len()).map(|g| (g % 13) as f64 - 6.0).collect();
        chunks.each(|chunk| {
            for g in chunk.groups.clone() {
                chunk.flow[groups.left[g] as usize - chunk.first] += groups.weight[g] * f[g];
                chunk.flow[groups.right[g] as usize - chunk.first] -= groups.weight[g] * f[g];
            }
        });
        let mut out = vec![1.0; graph.items()];
        chunks.add_up(&mut out);
        assert_eq!(out, graph.divergence(&f));
    }
}
