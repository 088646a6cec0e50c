//! Visits every triangle once: counts them, counts cyclic ones, and keeps the cyclic ones with the most
//! energy ([`Triangle::energy`]).
//!
//! A triangle w < u < v (ranks of [`Adjacency`]) is found from v: mark the lower neighbours of v,
//! then check the lower neighbours of each of them. A check of such a candidate w costs about a
//! nanosecond, and only the worst few triangles are stored. In complete graphs every candidate is a
//! triangle.

use std::cmp::Ordering;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adjacency::Adjacency;
use super::options::DecomposeOptions;
use super::triangle::{Transitivity, Triangle};
use crate::graph::Pairs;

/// Candidates per task.
const CANDIDATES_PER_TASK: u64 = 1 << 20;
/// Rounding error of a triangle's energy, relative to it: the flows of a cycle have the same sign.
const RELATIVE_ENERGY_ERROR: f64 = 1e-12;

/// Counts of triangles, and the cyclic triangles with the most energy.
#[derive(Debug, Default)]
pub(super) struct TriangleScan {
    pub(super) transitivity: Transitivity,
    pub(super) worst: Vec<Triangle>,
}

/// Returns the number of candidates to check: at least the number of triangles.
pub(super) fn candidates(adjacency: &Adjacency) -> u64 {
    (0..adjacency.len()).map(|v| candidates_from(adjacency, v)).sum()
}

fn candidates_from(adjacency: &Adjacency, v: usize) -> u64 {
    let lower = adjacency.neighbours[adjacency.lower(v)].iter();
    lower.map(|&u| adjacency.lower(u as usize).len() as u64).sum()
}

/// Returns for each edge whether it is part of a triangle.
pub(super) fn edges_in_triangles(adjacency: &Adjacency) -> Vec<bool> {
    let in_triangle = |&[u, v]: &[u32; 2]| {
        let mut found = false;
        adjacency.for_each_common_neighbour(u as usize, v as usize, |_, _| found = true);
        found
    };
    adjacency.ends.par_iter().map(in_triangle).collect()
}

/// Visits all triangles of a flow on pairs, or those of a random sample of pairs if there are more
/// candidates than `options.max_triangles`.
pub(super) fn scan(
    adjacency: &Adjacency,
    pairs: &Pairs,
    flow: &[f64],
    options: &DecomposeOptions,
) -> TriangleScan {
    let (all, max, top) = (candidates(adjacency), options.max_triangles, options.top_triangles);
    let sample = (all > max).then(|| max as f64 / all as f64);
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let kept: Option<Vec<bool>> =
        sample.map(|share| adjacency.ends.iter().map(|_| rng.random_bool(share)).collect());
    let on_edges = adjacency.on_edges(pairs, flow);
    let entries = adjacency.edges.par_iter().zip(&adjacency.neighbours);
    let along: Vec<[f64; 2]> = entries
        .map(|(&edge, &end)| {
            let votes = pairs.weight[adjacency.pair[edge as usize] as usize];
            [adjacency.towards(end, edge, &on_edges), votes.recip()]
        })
        .collect();
    let kept = kept.as_deref();
    let scanner = TriangleScanner { adjacency, pairs, flow, kept, along: &along, top };
    let tasks = adjacency.tasks(|v| candidates_from(adjacency, v), CANDIDATES_PER_TASK);
    let no_marks =
        || NeighbourMarks { along: vec![ABSENT; adjacency.len()], edge: vec![0; adjacency.len()] };
    let parts: Vec<TriangleScan> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map_init(no_marks, |mark, range| scanner.scan(range, mark))
        .collect();
    let mut counts = Transitivity { sampled: sample, ..Transitivity::default() };
    let mut worst = Vec::new();
    for part in parts {
        counts.triangles += part.transitivity.triangles;
        counts.decided += part.transitivity.decided;
        counts.cyclic += part.transitivity.cyclic;
        worst.extend(part.worst);
    }
    counts.rate = (counts.decided > 0)
        .then(|| (counts.decided - counts.cyclic) as f64 / counts.decided as f64);
    worst.sort_unstable_by(Triangle::worse_first);
    worst.truncate(top);
    TriangleScan { transitivity: counts, worst }
}

struct TriangleScanner<'a> {
    adjacency: &'a Adjacency,
    pairs: &'a Pairs,
    flow: &'a [f64],
    /// Whether to visit the triangles of each edge; all if none.
    kept: Option<&'a [bool]>,
    /// The flow along each entry of the adjacency, and the inverse of the votes behind it.
    along: &'a [[f64; 2]],
    top: usize,
}

impl TriangleScanner<'_> {
    /// Visits the triangles whose highest rank is in `range`. No rank is marked before and after.
    fn scan(&self, range: Range<usize>, mark: &mut NeighbourMarks) -> TriangleScan {
        let (graph, along) = (self.adjacency, self.along);
        let mut found = TriangleScan::default();
        let mut threshold = self.threshold(&found.worst);
        for v in range {
            for k in graph.lower(v) {
                mark.along[graph.neighbours[k] as usize] = along[k];
                mark.edge[graph.neighbours[k] as usize] = graph.edges[k];
            }
            for k in graph.lower(v) {
                if self.kept.is_some_and(|kept| !kept[graph.edges[k] as usize]) {
                    continue;
                }
                let u = graph.neighbours[k] as usize;
                let first = graph.items[v].min(graph.items[u]);
                let counts = &mut found.transitivity;
                if self.count(counts, &threshold, (u, along[k], first), &mark.along) {
                    self.insert_all(&mut found.worst, [v, u], graph.edges[k], mark);
                    threshold = self.threshold(&found.worst);
                }
            }
            for k in graph.lower(v) {
                mark.along[graph.neighbours[k] as usize] = ABSENT;
            }
        }
        found
    }

    /// Counts the triangles of v, u and the lower neighbours of u; returns whether one of them may
    /// belong to the worst. Branch-free in the votes: their signs would be mispredicted.
    #[inline]
    fn count(
        &self,
        counts: &mut Transitivity,
        threshold: &WorstThreshold,
        (u, [vu, inverse_vu], first): (usize, [f64; 2], u32),
        mark: &[[f64; 2]],
    ) -> bool {
        let row = self.adjacency.lower(u);
        let neighbours = &self.adjacency.neighbours[row.clone()];
        let (mut triangles, mut decided, mut cyclic, mut enters) = (0_u32, 0_u32, 0_u32, false);
        for (&w, &[uw, inverse_uw]) in neighbours.iter().zip(&self.along[row]) {
            let [vw, inverse_vw] = mark[w as usize];
            let present = !vw.is_nan();
            triangles += u32::from(present);
            decided += u32::from(present & (vu != 0.0) & (uw != 0.0) & (vw != 0.0));
            let forth = (vu > 0.0) & (uw > 0.0) & (vw < 0.0);
            let back = (vu < 0.0) & (uw < 0.0) & (vw > 0.0);
            let is_cyclic = forth | back;
            cyclic += u32::from(is_cyclic);
            let square = (vu + uw - vw).powi(2);
            let inverse = inverse_vu + inverse_uw + inverse_vw;
            let early = self.adjacency.items[w as usize].min(first) <= threshold.item;
            let is_worse = square > threshold.above * inverse;
            let is_tie = (square > threshold.tie * inverse) & early;
            enters |= is_cyclic & (is_worse | is_tie);
        }
        counts.triangles += u64::from(triangles);
        counts.decided += u64::from(decided);
        counts.cyclic += u64::from(cyclic);
        enters
    }

    /// Returns what a triangle must exceed to belong to the worst.
    fn threshold(&self, worst: &[Triangle]) -> WorstThreshold {
        match worst.get(self.top.wrapping_sub(1)) {
            _ if self.top == 0 => {
                WorstThreshold { above: f64::INFINITY, tie: f64::INFINITY, item: 0 }
            }
            None => WorstThreshold { above: 0.0, tie: 0.0, item: u32::MAX },
            // `count` adds flows in another order than `triangle`, so near ties are treated as ties.
            Some(last) => WorstThreshold {
                above: last.energy * (1.0 + RELATIVE_ENERGY_ERROR),
                tie: last.energy * (1.0 - RELATIVE_ENERGY_ERROR),
                item: last.items[0],
            },
        }
    }

    /// Inserts those triangles of v, u and the lower neighbours of u that belong to the worst.
    fn insert_all(
        &self,
        worst: &mut Vec<Triangle>,
        [v, u]: [usize; 2],
        vu: u32,
        mark: &NeighbourMarks,
    ) {
        let graph = self.adjacency;
        for k in graph.lower(u) {
            let w = graph.neighbours[k] as usize;
            if mark.along[w][0].is_nan() {
                continue;
            }
            let opposite = [(v, graph.edges[k]), (u, mark.edge[w]), (w, vu)];
            let triangle = self.triangle(opposite);
            if !triangle.is_cyclic() {
                continue;
            }
            let at = worst.partition_point(|other| other.worse_first(&triangle) == Ordering::Less);
            if at < self.top {
                worst.truncate(self.top - 1);
                worst.insert(at, triangle);
            }
        }
    }

    /// Returns the triangle of three ranks, each given with the opposite edge.
    fn triangle(&self, corners: [(usize, u32); 3]) -> Triangle {
        let graph = self.adjacency;
        let mut corners =
            corners.map(|(rank, edge)| (graph.items[rank], graph.pair[edge as usize]));
        corners.sort_unstable();
        let [(a, bc), (b, ac), (c, ab)] = corners;
        let flow = |p: u32| self.flow[p as usize];
        let is_forward = flow(ab) + flow(bc) - flow(ac) >= 0.0;
        let (items, pairs, flows) = if is_forward {
            ([a, b, c], [ab, bc, ac], [flow(ab), flow(bc), -flow(ac)])
        } else {
            ([a, c, b], [ac, bc, ab], [flow(ac), -flow(bc), -flow(ab)])
        };
        let weights = pairs.map(|p| self.pairs.weight[p as usize]);
        // Sorted, so that the sums do not depend on the numbers of the items.
        let curl = sorted_sum(flows);
        let energy = curl * curl / sorted_sum(weights.map(f64::recip));
        let votes = weights.map(|votes| votes as u64);
        Triangle { items, curl, energy, flows, votes, pairs }
    }
}

fn sorted_sum(mut values: [f64; 3]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.iter().sum()
}

/// The last of the worst triangles so far.
struct WorstThreshold {
    /// A cyclic triangle with more energy is inserted.
    above: f64,
    /// An energy between this and `above` is a tie, broken by the smallest item.
    tie: f64,
    item: u32,
}

/// The lower neighbours of the current rank.
struct NeighbourMarks {
    /// The flow to each of them, and the inverse of the votes behind it; [`ABSENT`] for all other ranks.
    along: Vec<[f64; 2]>,
    /// The edge to each of them; arbitrary for all other ranks.
    edge: Vec<u32>,
}

/// A flow for which every comparison is false.
const ABSENT: [f64; 2] = [f64::NAN, 0.0];
