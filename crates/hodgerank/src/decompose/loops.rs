//! The strongest loops of a harmonic flow: its decomposition into directed cycles.
//!
//! A harmonic flow h is free of divergence once weighted by votes: the circulation w·h that enters an
//! item leaves it again. Such a flow is a sum of directed cycles, which are found greedily:
//!
//! 1. Start with the pair of the largest remaining circulation, in its direction.
//! 2. Close the cycle along the path whose smallest circulation is largest (the widest path), with as
//!    few pairs as possible.
//! 3. Subtract that smallest circulation from all pairs of the cycle, which makes at least one of
//!    them zero, and repeat.
//!
//! Guaranteed: each loop is a simple directed cycle that follows the harmonic flow on every pair; no
//! cycle through its first pair carries more; the result is deterministic. As h has no curl, no loop
//! is a triangle. Not guaranteed: a sum of cycles is not unique, and if the Betti number is above 1 a
//! loop may go around several holes.
//!
//! Cost: O(pairs · log items) per loop.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use super::flows::PairFlows;
use crate::graph::Pairs;

/// Rounding error of a circulation, relative to the largest votes × mean vote of a pair.
const RELATIVE_CIRCULATION_ERROR: f64 = 1e-9;

/// A directed cycle of the harmonic flow.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HarmonicLoop<I = u32> {
    /// The items in the order of the cycle: the harmonic flow prefers each item to the next and the
    /// last to the first. Indices, the smallest first, or names after [`HarmonicLoop::map`].
    pub items: Vec<I>,
    /// The circulation of this loop: votes times outcome, the same on all its pairs.
    pub strength: f64,
    /// The sum of the harmonic flow along the cycle. It is zero if the votes are consistent.
    pub total_flow: f64,
    /// The pairs from each item to the next, as indices of [`Pairs`].
    #[cfg_attr(feature = "serde", serde(skip))]
    pub pairs: Vec<u32>,
}

impl<I> HarmonicLoop<I> {
    /// Replaces the items, for example by their names.
    #[must_use]
    pub fn map<J>(self, name: impl FnMut(I) -> J) -> HarmonicLoop<J> {
        let Self { items, strength, total_flow, pairs } = self;
        HarmonicLoop { items: items.into_iter().map(name).collect(), strength, total_flow, pairs }
    }
}

/// Returns at most `top` loops of the harmonic flow, the strongest starting pair first.
pub(super) fn strongest(
    items: usize,
    pairs: &Pairs,
    flows: &PairFlows,
    top: usize,
) -> Vec<HarmonicLoop> {
    let harmonic = &flows.harmonic;
    let votes = pairs.weight.iter().zip(&flows.mean);
    let scale = votes.map(|(w, mean)| w * mean.abs()).fold(0.0, f64::max);
    let mut network = FlowNetwork::new(items, pairs, harmonic, RELATIVE_CIRCULATION_ERROR * scale);
    let mut loops = Vec::new();
    while loops.len() < top
        && let Some(arc) = network.strongest_arc()
    {
        // In exact arithmetic every arc of a circulation is part of a cycle. If there is none, only
        // rounding errors remain.
        let Some(cycle) = network.close(arc) else { break };
        let strength =
            cycle.iter().fold(f64::INFINITY, |min, &arc| min.min(network.remaining[arc]));
        for &arc in &cycle {
            network.remaining[arc] -= strength;
        }
        loops.push(network.describe(&cycle, harmonic, strength));
    }
    loops
}

/// Pairs with harmonic flow, as arcs in its direction.
struct FlowNetwork {
    pair: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    /// Circulation that no loop carries yet.
    remaining: Vec<f64>,
    /// Arcs that leave item `i` are `out[start[i]..start[i + 1]]`.
    start: Vec<usize>,
    out: Vec<usize>,
    /// Circulations up to this are rounding error.
    rounding: f64,
}

impl FlowNetwork {
    fn new(items: usize, pairs: &Pairs, harmonic: &[f64], rounding: f64) -> Self {
        let circulation = |p: usize| pairs.weight[p] * harmonic[p].abs();
        let kept: Vec<usize> = (0..pairs.len()).filter(|&p| circulation(p) > rounding).collect();
        let ends = |&p: &usize| {
            let (left, right) = (pairs.left[p], pairs.right[p]);
            if harmonic[p] > 0.0 { (left, right) } else { (right, left) }
        };
        let (from, to): (Vec<u32>, Vec<u32>) = kept.iter().map(ends).unzip();
        let mut out: Vec<usize> = (0..kept.len()).collect();
        out.sort_unstable_by_key(|&arc| (from[arc], to[arc]));
        let first = |item: usize| out.partition_point(|&arc| (from[arc] as usize) < item);
        let start = (0..=items).map(first).collect();
        let remaining = kept.iter().map(|&p| circulation(p)).collect();
        let pair = kept.iter().map(|&p| p as u32).collect();
        Self { pair, from, to, remaining, start, out, rounding }
    }

    fn strongest_arc(&self) -> Option<usize> {
        let remaining = &self.remaining;
        let larger = |a: usize, b: usize| if remaining[b] > remaining[a] { b } else { a };
        (0..remaining.len()).reduce(larger).filter(|&arc| remaining[arc] > self.rounding)
    }

    fn leaving(&self, item: u32) -> &[usize] {
        &self.out[self.start[item as usize]..self.start[item as usize + 1]]
    }

    /// Returns the widest cycle that starts with `arc`.
    fn close(&self, arc: usize) -> Option<Vec<usize>> {
        let (target, source) = (self.from[arc], self.to[arc]);
        let width = self.widest(source, target)?.min(self.remaining[arc]);
        let min_width = width * (1.0 - RELATIVE_CIRCULATION_ERROR);
        let mut cycle = self.shortest(source, target, min_width)?;
        cycle.insert(0, arc);
        Some(cycle)
    }

    /// Returns the largest width of a path: the smallest remaining circulation of its arcs.
    fn widest(&self, source: u32, target: u32) -> Option<f64> {
        let mut width = vec![0.0; self.start.len() - 1];
        width[source as usize] = f64::INFINITY;
        let mut queue = BinaryHeap::from([ReachedItem { width: f64::INFINITY, item: source }]);
        while let Some(ReachedItem { width: wide, item }) = queue.pop() {
            if item == target {
                return Some(wide);
            }
            if wide < width[item as usize] {
                continue;
            }
            for &arc in self.leaving(item) {
                let (next, through) = (self.to[arc], wide.min(self.remaining[arc]));
                if through > self.rounding && through > width[next as usize] {
                    width[next as usize] = through;
                    queue.push(ReachedItem { width: through, item: next });
                }
            }
        }
        None
    }

    /// Returns a path with the fewest arcs among those at least as wide as `min_width`.
    fn shortest(&self, source: u32, target: u32, min_width: f64) -> Option<Vec<usize>> {
        let mut arrival: Vec<Option<usize>> = vec![None; self.start.len() - 1];
        let mut queue = VecDeque::from([source]);
        while let Some(item) = queue.pop_front()
            && item != target
        {
            for &arc in self.leaving(item) {
                let next = self.to[arc];
                if self.remaining[arc] >= min_width
                    && next != source
                    && arrival[next as usize].is_none()
                {
                    arrival[next as usize] = Some(arc);
                    queue.push_back(next);
                }
            }
        }
        let (mut path, mut item) = (Vec::new(), target);
        while item != source {
            let arc = arrival[item as usize]?;
            path.push(arc);
            item = self.from[arc];
        }
        path.reverse();
        Some(path)
    }

    fn describe(&self, cycle: &[usize], harmonic: &[f64], strength: f64) -> HarmonicLoop {
        let smallest = (0..cycle.len()).min_by_key(|&k| self.from[cycle[k]]).unwrap_or(0);
        let rotated = || cycle[smallest..].iter().chain(&cycle[..smallest]);
        let pairs: Vec<u32> = rotated().map(|&arc| self.pair[arc]).collect();
        let total_flow = pairs.iter().map(|&p| harmonic[p as usize].abs()).sum();
        let items = rotated().map(|&arc| self.from[arc]).collect();
        HarmonicLoop { items, strength, total_flow, pairs }
    }
}

/// An item and the width of the path to it, ordered by width, then by descending item.
struct ReachedItem {
    width: f64,
    item: u32,
}

impl Ord for ReachedItem {
    fn cmp(&self, other: &Self) -> Ordering {
        self.width.total_cmp(&other.width).then_with(|| other.item.cmp(&self.item))
    }
}

impl PartialOrd for ReachedItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ReachedItem {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ReachedItem {}
