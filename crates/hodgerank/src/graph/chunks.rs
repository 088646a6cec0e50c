//! Groups split into chunks that are processed in parallel, with the same bits for any thread count.
//!
//! A chunk owns the state of its groups and a flow: its part of XᵀW f for some f on the groups. The
//! split depends on the graph alone, and flows are added up in the order of the chunks. Groups are
//! sorted by their left item, so that on meshes a chunk touches a short range of items; its flow
//! covers only that range.

use std::ops::Range;

use rayon::prelude::*;

use super::Groups;
use crate::numeric::add_parts;

/// Fewer groups are not worth a task.
const MIN_GROUPS: usize = 1 << 14;
/// Enough to balance the load over the cores of one machine.
const MAX_CHUNKS: usize = 64;

/// Consecutive groups, their state `S`, and their part of XᵀW f.
#[derive(Debug)]
pub(crate) struct Chunk<S> {
    pub(crate) groups: Range<usize>,
    pub(crate) state: S,
    /// The item of `flow[0]`, times the number of values per item.
    pub(crate) first: usize,
    pub(crate) flow: Vec<f64>,
}

/// All groups, in chunks.
#[derive(Debug)]
pub(crate) struct Chunks<S>(pub(crate) Vec<Chunk<S>>);

impl<S: Send + Sync> Chunks<S> {
    /// Splits `groups` on `items` items; `state` returns the state of a range of groups.
    pub(crate) fn new(
        items: usize,
        groups: &Groups,
        state: impl Fn(Range<usize>) -> S + Sync,
    ) -> Self {
        // Half the items: flows take at most two numbers per group and one per item.
        Self::split(groups, items / 2, 1, state)
    }

    /// Chunks of at least `min_groups` groups, with `width` numbers per item in their flows.
    fn split(
        groups: &Groups,
        min_groups: usize,
        width: usize,
        state: impl Fn(Range<usize>) -> S + Sync,
    ) -> Self {
        let length = MIN_GROUPS.max(groups.len().div_ceil(MAX_CHUNKS)).max(min_groups);
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

    /// Calls `work` on every chunk, in parallel; a single chunk stays on this thread.
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

/// Returns `width` sums over the groups of each item. `work` adds up the groups of a chunk.
pub(crate) fn sums_of_items(
    items: usize,
    groups: &Groups,
    width: usize,
    work: impl Fn(&mut Chunk<()>) + Send + Sync,
) -> Vec<f64> {
    // At most one number per two groups: the sums run once, and memory matters with many items.
    let mut chunks = Chunks::split(groups, 2 * width * items, width, |_| ());
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
