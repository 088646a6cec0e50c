//! Every triangle once: how many, how many are cyclic, and the worst by their curl.
//!
//! A triangle w < u < v (ranks of [`Adjacency`]) is found from v: mark the lower neighbours of v,
//! then look through the lower neighbours of each of them. A look costs about a nanosecond, and
//! nothing is stored but the worst few. Complete graphs have a triangle at each look.

use std::cmp::Ordering;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adjacency::Adjacency;
use crate::graph::Pairs;

/// Looks of one task.
const LOOKS_PER_TASK: u64 = 1 << 20;
/// Flows that differ by less than this, relative to the largest, differ by rounding.
const ROUNDING: f64 = 1e-12;

/// Three items that were all compared with each other, walked in the direction of positive curl.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triangle {
    /// The items a, b, c in the order of the walk a → b → c → a; a is the smallest index.
    pub items: [u32; 3],
    /// The pairs {a, b}, {b, c}, {c, a}, as indices of [`Pairs`].
    pub pairs: [u32; 3],
    /// Mean votes along the walk: how much a is preferred to b, b to c, and c to a.
    pub flows: [f64; 3],
    /// How many votes stand behind each of these.
    pub votes: [f64; 3],
    /// The sum of the flows, zero or more. A consistent triangle has none.
    pub curl: f64,
}

impl Triangle {
    /// Whether the majorities run in a circle: a over b, b over c, c over a.
    #[must_use]
    pub fn is_cyclic(&self) -> bool {
        self.flows.iter().all(|&f| f > 0.0)
    }

    /// Larger curl first, then more votes, then smaller items.
    fn worse_first(&self, other: &Self) -> Ordering {
        let votes = |t: &Self| t.votes.iter().sum::<f64>();
        let by_curl = other.curl.total_cmp(&self.curl);
        let by_votes = || votes(other).total_cmp(&votes(self));
        by_curl.then_with(by_votes).then_with(|| self.items.cmp(&other.items))
    }
}

/// What a look at all triangles (or a sample) tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleReport {
    /// Triangles seen: all there are unless `sampled` says otherwise.
    pub seen: u64,
    /// The share of pairs whose triangles were looked at, where looking at all of them would have
    /// passed the budget; none if all were. Counts and listing are then those of the sample.
    pub sampled: Option<f64>,
    /// Triangles all of whose three majorities have a direction: those to which transitivity
    /// applies.
    pub decided: u64,
    /// Decided triangles that run in a circle.
    pub cyclic: u64,
    /// The worst triangles by curl, the worst first. Triangles without curl are not listed.
    pub worst: Vec<Triangle>,
}

impl TriangleReport {
    /// The transitivity satisfaction rate: the share of decided triangles that are not cyclic.
    /// None if no triangle is decided.
    #[must_use]
    pub fn transitivity(&self) -> Option<f64> {
        (self.decided > 0).then(|| (self.decided - self.cyclic) as f64 / self.decided as f64)
    }
}

/// Places to look at: at least as many as there are triangles.
pub(super) fn looks(adjacency: &Adjacency) -> u64 {
    (0..adjacency.len()).map(|v| looks_from(adjacency, v)).sum()
}

fn looks_from(adjacency: &Adjacency, v: usize) -> u64 {
    let lower = adjacency.neighbours[adjacency.lower(v)].iter();
    lower.map(|&u| adjacency.lower(u as usize).len() as u64).sum()
}

/// Which edges lie in a triangle.
pub(super) fn edges_in_triangles(adjacency: &Adjacency) -> Vec<bool> {
    let lies_in_one = |&[u, v]: &[u32; 2]| {
        let mut found = false;
        adjacency.common(u as usize, v as usize, |_, _| found = true);
        found
    };
    adjacency.ends.par_iter().map(lies_in_one).collect()
}

/// Looks at all triangles, or at those of a random sample of pairs if that takes too many looks.
pub(super) fn list(
    adjacency: &Adjacency,
    pairs: &Pairs,
    flow: &[f64],
    top: usize,
    most_looks: u64,
    seed: u64,
) -> TriangleReport {
    let all = looks(adjacency);
    let sample = (all > most_looks).then(|| most_looks as f64 / all as f64);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let kept: Option<Vec<bool>> =
        sample.map(|share| adjacency.ends.iter().map(|_| rng.random_bool(share)).collect());
    let along = adjacency.on_entries(&adjacency.on_edges(pairs, flow));
    let largest = flow.iter().fold(0.0_f64, |m, f| m.max(f.abs()));
    let look = Look { adjacency, pairs, flow, kept: kept.as_deref(), along: &along, top, largest };
    let tasks = adjacency.tasks(|v| looks_from(adjacency, v), LOOKS_PER_TASK);
    let clean = || Marks { flow: vec![f64::NAN; adjacency.len()], edge: vec![0; adjacency.len()] };
    let parts: Vec<TriangleReport> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map_init(clean, |mark, range| look.from(range, mark))
        .collect();
    let mut report = TriangleReport { sampled: sample, ..TriangleReport::default() };
    for part in parts {
        report.seen += part.seen;
        report.decided += part.decided;
        report.cyclic += part.cyclic;
        report.worst.extend(part.worst);
    }
    report.worst.sort_unstable_by(Triangle::worse_first);
    report.worst.truncate(top);
    report
}

struct Look<'a> {
    adjacency: &'a Adjacency,
    pairs: &'a Pairs,
    flow: &'a [f64],
    /// Edges whose triangles are looked at; all if none is given.
    kept: Option<&'a [bool]>,
    /// What flows along each entry.
    along: &'a [f64],
    top: usize,
    largest: f64,
}

impl Look<'_> {
    /// `mark` is clean before and after.
    fn from(&self, range: std::ops::Range<usize>, mark: &mut Marks) -> TriangleReport {
        let (graph, along) = (self.adjacency, self.along);
        let mut report = TriangleReport::default();
        let mut least = self.least(&report.worst);
        for v in range {
            for k in graph.lower(v) {
                mark.flow[graph.neighbours[k] as usize] = along[k];
                mark.edge[graph.neighbours[k] as usize] = graph.edges[k];
            }
            for k in graph.lower(v) {
                if self.kept.is_some_and(|kept| !kept[graph.edges[k] as usize]) {
                    continue;
                }
                let (u, vu) = (graph.neighbours[k] as usize, along[k]);
                let row = graph.lower(u);
                let entries = graph.neighbours[row.clone()].iter().zip(&along[row.clone()]);
                for (at, (&w, &uw)) in entries.enumerate() {
                    let vw = mark.flow[w as usize];
                    if vw.is_nan() {
                        continue;
                    }
                    report.seen += 1;
                    report.decided += u64::from((vu != 0.0) & (uw != 0.0) & (vw != 0.0));
                    let forth = (vu > 0.0) & (uw > 0.0) & (vw < 0.0);
                    let back = (vu < 0.0) & (uw < 0.0) & (vw > 0.0);
                    report.cyclic += u64::from(forth | back);
                    if (vu + uw - vw).abs() > least {
                        let pair = |edge: u32| graph.pair[edge as usize];
                        let opposite_v = pair(graph.edges[row.start + at]);
                        let opposite_u = pair(mark.edge[w as usize]);
                        let opposite_w = pair(graph.edges[k]);
                        let corners = [(v, opposite_v), (u, opposite_u), (w as usize, opposite_w)];
                        self.offer(&mut report.worst, self.triangle(corners));
                        least = self.least(&report.worst);
                    }
                }
            }
            for k in graph.lower(v) {
                mark.flow[graph.neighbours[k] as usize] = f64::NAN;
            }
        }
        report
    }

    /// Curls up to here need not be offered.
    fn least(&self, worst: &[Triangle]) -> f64 {
        if self.top == 0 {
            return f64::INFINITY;
        }
        let last = if worst.len() < self.top { 0.0 } else { worst[self.top - 1].curl };
        // The quick sum may round otherwise than the one that decides; neither may change a tie.
        (last - ROUNDING * self.largest).max(ROUNDING * self.largest)
    }

    /// Puts a triangle in its place among the worst.
    fn offer(&self, worst: &mut Vec<Triangle>, triangle: Triangle) {
        let at = worst.partition_point(|other| other.worse_first(&triangle) == Ordering::Less);
        if at < self.top {
            worst.truncate(self.top - 1);
            worst.insert(at, triangle);
        }
    }

    /// Three ranks, each with the pair of the other two.
    fn triangle(&self, corners: [(usize, u32); 3]) -> Triangle {
        let mut corners = corners.map(|(rank, opposite)| (self.adjacency.items[rank], opposite));
        corners.sort_unstable();
        let [(a, bc), (b, ac), (c, ab)] = corners;
        let flow = |p: u32| self.flow[p as usize];
        let curl = flow(ab) + flow(bc) - flow(ac);
        let (items, pairs, flows) = if curl >= 0.0 {
            ([a, b, c], [ab, bc, ac], [flow(ab), flow(bc), -flow(ac)])
        } else {
            ([a, c, b], [ac, bc, ab], [flow(ac), -flow(bc), -flow(ab)])
        };
        let votes = pairs.map(|p| self.pairs.weight[p as usize]);
        Triangle { items, pairs, flows, votes, curl: curl.abs() }
    }
}

/// Which ranks are lower neighbours of the item at hand.
struct Marks {
    /// What flows to them; NaN for all others.
    flow: Vec<f64>,
    /// The edge to them; anything for all others.
    edge: Vec<u32>,
}
