//! The strongest loops of a harmonic flow, as closed walks of items.
//!
//! A harmonic flow h is free of divergence once weighted by votes: at each item, what the
//! circulation w·h brings in it takes out again. Such a flow is a sum of directed cycles. They are
//! peeled off one by one:
//!
//! 1. Start from the pair with the largest circulation left, in its direction.
//! 2. Close the walk along the path whose smallest circulation is largest (the widest path), and
//!    among these take one with the fewest pairs.
//! 3. Take that smallest circulation off all pairs of the walk, which empties at least one of them,
//!    and start again.
//!
//! Guaranteed: each loop is a closed walk without repeated items that runs with the harmonic flow
//! on every pair; no cycle through its first pair carries more; the same flow gives the same loops.
//! As h has no curl, no loop is a triangle. Not guaranteed: a sum of cycles is not unique, and with
//! several holes a loop may run around more than one of them.
//!
//! Cost: O(pairs · log items) for each loop.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::Pairs;

/// Circulations below this, relative to the largest number of votes times flow, are rounding.
const ROUNDING: f64 = 1e-9;

/// A closed walk along the harmonic flow.
#[derive(Debug, Clone, PartialEq)]
pub struct HarmonicLoop {
    /// The items in the order of the walk, each preferred to the next and the last to the first by
    /// the harmonic flow. The smallest index comes first.
    pub items: Vec<u32>,
    /// The pairs of the walk, as indices of [`Pairs`]: from each item to the next.
    pub pairs: Vec<u32>,
    /// The circulation that this loop carries: votes times outcome, the same on all its pairs.
    pub strength: f64,
    /// The harmonic flow added up along the walk: zero if the votes had no such circle.
    pub total_flow: f64,
}

/// At most `top` loops of the flow `harmonic` (on pairs), the strongest starting pair first.
///
/// `scale` is the largest votes × flow of the study.
pub(super) fn strongest(
    items: usize,
    pairs: &Pairs,
    harmonic: &[f64],
    scale: f64,
    top: usize,
) -> Vec<HarmonicLoop> {
    let mut network = Network::new(items, pairs, harmonic, ROUNDING * scale);
    let mut loops = Vec::new();
    while loops.len() < top
        && let Some(arc) = network.strongest_arc()
    {
        // A circulation always has a way back; where rounding has cut it, nothing is left to list.
        let Some(walk) = network.close(arc) else { break };
        let strength = walk.iter().fold(f64::INFINITY, |least, &arc| least.min(network.left[arc]));
        for &arc in &walk {
            network.left[arc] -= strength;
        }
        loops.push(network.describe(&walk, harmonic, strength));
    }
    loops
}

/// Pairs with harmonic flow as arcs in its direction.
struct Network {
    pair: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    /// Circulation not yet peeled off.
    left: Vec<f64>,
    /// Arcs that leave item `i` are `out[start[i]..start[i + 1]]`.
    start: Vec<usize>,
    out: Vec<usize>,
    /// Circulations up to here count as none.
    nothing: f64,
}

impl Network {
    fn new(items: usize, pairs: &Pairs, harmonic: &[f64], nothing: f64) -> Self {
        let circulation = |p: usize| pairs.weight[p] * harmonic[p].abs();
        let kept: Vec<usize> = (0..pairs.len()).filter(|&p| circulation(p) > nothing).collect();
        let ends = |&p: &usize| {
            let (left, right) = (pairs.left[p], pairs.right[p]);
            if harmonic[p] > 0.0 { (left, right) } else { (right, left) }
        };
        let (from, to): (Vec<u32>, Vec<u32>) = kept.iter().map(ends).unzip();
        let mut out: Vec<usize> = (0..kept.len()).collect();
        out.sort_unstable_by_key(|&arc| (from[arc], to[arc]));
        let first = |item: usize| out.partition_point(|&arc| (from[arc] as usize) < item);
        let start = (0..=items).map(first).collect();
        let left = kept.iter().map(|&p| circulation(p)).collect();
        let pair = kept.iter().map(|&p| p as u32).collect();
        Self { pair, from, to, left, start, out, nothing }
    }

    fn strongest_arc(&self) -> Option<usize> {
        let larger = |a: usize, b: usize| if self.left[b] > self.left[a] { b } else { a };
        (0..self.left.len()).reduce(larger).filter(|&arc| self.left[arc] > self.nothing)
    }

    fn leaving(&self, item: u32) -> &[usize] {
        &self.out[self.start[item as usize]..self.start[item as usize + 1]]
    }

    /// The walk that starts with `arc` and comes back to where it started.
    fn close(&self, arc: usize) -> Option<Vec<usize>> {
        let (target, source) = (self.from[arc], self.to[arc]);
        let width = self.widest(source, target)?.min(self.left[arc]);
        let mut walk = self.shortest(source, target, width * (1.0 - ROUNDING))?;
        walk.insert(0, arc);
        Some(walk)
    }

    /// The largest number such that some path has it or more left on all its arcs.
    fn widest(&self, source: u32, target: u32) -> Option<f64> {
        let mut width = vec![0.0; self.start.len() - 1];
        width[source as usize] = f64::INFINITY;
        let mut queue = BinaryHeap::from([Reached { width: f64::INFINITY, item: source }]);
        while let Some(Reached { width: wide, item }) = queue.pop() {
            if item == target {
                return Some(wide);
            }
            if wide < width[item as usize] {
                continue;
            }
            for &arc in self.leaving(item) {
                let (next, through) = (self.to[arc], wide.min(self.left[arc]));
                if through > self.nothing && through > width[next as usize] {
                    width[next as usize] = through;
                    queue.push(Reached { width: through, item: next });
                }
            }
        }
        None
    }

    /// A path with the fewest arcs among those that have at least `width` left everywhere.
    fn shortest(&self, source: u32, target: u32, width: f64) -> Option<Vec<usize>> {
        let mut arrival: Vec<Option<usize>> = vec![None; self.start.len() - 1];
        let mut queue = VecDeque::from([source]);
        while let Some(item) = queue.pop_front()
            && item != target
        {
            for &arc in self.leaving(item) {
                let next = self.to[arc];
                if self.left[arc] >= width && next != source && arrival[next as usize].is_none() {
                    arrival[next as usize] = Some(arc);
                    queue.push_back(next);
                }
            }
        }
        let (mut walk, mut item) = (Vec::new(), target);
        while item != source {
            let arc = arrival[item as usize]?;
            walk.push(arc);
            item = self.from[arc];
        }
        walk.reverse();
        Some(walk)
    }

    fn describe(&self, walk: &[usize], harmonic: &[f64], strength: f64) -> HarmonicLoop {
        let smallest = (0..walk.len()).min_by_key(|&k| self.from[walk[k]]).unwrap_or(0);
        let turned = || walk[smallest..].iter().chain(&walk[..smallest]);
        let pairs: Vec<u32> = turned().map(|&arc| self.pair[arc]).collect();
        let total_flow = pairs.iter().map(|&p| harmonic[p as usize].abs()).sum();
        let items = turned().map(|&arc| self.from[arc]).collect();
        HarmonicLoop { items, pairs, strength, total_flow }
    }
}

/// An item and the width of the path to it; the widest is the greatest, then the smallest item.
struct Reached {
    width: f64,
    item: u32,
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        self.width.total_cmp(&other.width).then_with(|| other.item.cmp(&self.item))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}
