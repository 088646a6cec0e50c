//! Every triangle once: how many, how many are cyclic, and the worst by their curl.
//!
//! A triangle w < u < v (ranks of [`Adjacency`]) is found from v: mark the lower neighbours of v,
//! then look through the lower neighbours of each of them. A look costs about a nanosecond, and
//! nothing is stored but the worst few. Complete graphs have a triangle at each look.

use std::cmp::Ordering;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::adjacency::Adjacency;
use crate::graph::Pairs;
use crate::numeric::largest_magnitude;

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
    let on_edges = adjacency.on_edges(pairs, flow);
    let entries = adjacency.edges.par_iter().zip(&adjacency.neighbours);
    let along: Vec<[f64; 2]> = entries
        .map(|(&edge, &end)| {
            let votes = pairs.weight[adjacency.pair[edge as usize] as usize];
            [adjacency.towards(end, edge, &on_edges), votes]
        })
        .collect();
    let rounding = ROUNDING * largest_magnitude(flow);
    let look = Look { adjacency, pairs, flow, kept: kept.as_deref(), along: &along, top, rounding };
    let tasks = adjacency.tasks(|v| looks_from(adjacency, v), LOOKS_PER_TASK);
    let clean = || Marks { along: vec![ABSENT; adjacency.len()], edge: vec![0; adjacency.len()] };
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
    /// What flows along each entry, and the votes behind it.
    along: &'a [[f64; 2]],
    top: usize,
    /// Curls up to here are rounding.
    rounding: f64,
}

impl Look<'_> {
    /// `mark` is clean before and after.
    fn from(&self, range: Range<usize>, mark: &mut Marks) -> TriangleReport {
        let (graph, along) = (self.adjacency, self.along);
        let mut report = TriangleReport::default();
        let mut bar = self.bar(&report.worst);
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
                if self.count(&mut report, &bar, (u, along[k], first), &mark.along) {
                    self.offer_all(&mut report.worst, [v, u], graph.edges[k], mark);
                    bar = self.bar(&report.worst);
                }
            }
            for k in graph.lower(v) {
                mark.along[graph.neighbours[k] as usize] = ABSENT;
            }
        }
        report
    }

    /// Counts the triangles of v, u and the lower neighbours of u; says whether one of them may
    /// belong to the worst. No branch depends on the votes: they are as good as random.
    #[inline]
    fn count(
        &self,
        report: &mut TriangleReport,
        bar: &Bar,
        (u, [vu, votes_vu], first): (usize, [f64; 2], u32),
        mark: &[[f64; 2]],
    ) -> bool {
        let row = self.adjacency.lower(u);
        let neighbours = &self.adjacency.neighbours[row.clone()];
        let (mut seen, mut decided, mut cyclic, mut enters) = (0_u32, 0_u32, 0_u32, false);
        for (&w, &[uw, votes_uw]) in neighbours.iter().zip(&self.along[row]) {
            let [vw, votes_vw] = mark[w as usize];
            let present = !vw.is_nan();
            seen += u32::from(present);
            decided += u32::from(present & (vu != 0.0) & (uw != 0.0) & (vw != 0.0));
            let forth = (vu > 0.0) & (uw > 0.0) & (vw < 0.0);
            let back = (vu < 0.0) & (uw < 0.0) & (vw > 0.0);
            cyclic += u32::from(forth | back);
            let curl = (vu + uw - vw).abs();
            let votes = votes_vu + votes_uw + votes_vw;
            let early = self.adjacency.items[w as usize].min(first) <= bar.item;
            let wins_tie = (votes > bar.votes) | ((votes == bar.votes) & early);
            enters |= (curl > bar.above) | ((curl > bar.tie) & wins_tie);
        }
        report.seen += u64::from(seen);
        report.decided += u64::from(decided);
        report.cyclic += u64::from(cyclic);
        enters
    }

    /// What a triangle must pass to belong to the worst.
    fn bar(&self, worst: &[Triangle]) -> Bar {
        let always = Bar { above: self.rounding, tie: f64::INFINITY, votes: 0.0, item: 0 };
        match worst.get(self.top.wrapping_sub(1)) {
            _ if self.top == 0 => Bar { above: f64::INFINITY, ..always },
            None => always,
            // The quick sum may round otherwise than the one that decides: near ties are ties.
            Some(last) => Bar {
                above: last.curl + self.rounding,
                tie: (last.curl - self.rounding).max(self.rounding),
                votes: last.votes.iter().sum(),
                item: last.items[0],
            },
        }
    }

    /// Offers all triangles of v, u and the lower neighbours of u.
    fn offer_all(&self, worst: &mut Vec<Triangle>, [v, u]: [usize; 2], vu: u32, mark: &Marks) {
        let graph = self.adjacency;
        for k in graph.lower(u) {
            let w = graph.neighbours[k] as usize;
            if mark.along[w][0].is_nan() {
                continue;
            }
            let opposite = [(v, graph.edges[k]), (u, mark.edge[w]), (w, vu)];
            let triangle = self.triangle(opposite);
            if triangle.curl <= self.rounding {
                continue;
            }
            let at = worst.partition_point(|other| other.worse_first(&triangle) == Ordering::Less);
            if at < self.top {
                worst.truncate(self.top - 1);
                worst.insert(at, triangle);
            }
        }
    }

    /// Three ranks, each with the edge of the other two.
    fn triangle(&self, corners: [(usize, u32); 3]) -> Triangle {
        let graph = self.adjacency;
        let mut corners =
            corners.map(|(rank, edge)| (graph.items[rank], graph.pair[edge as usize]));
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

/// The last of the worst so far.
struct Bar {
    /// A larger curl enters.
    above: f64,
    /// A larger curl is a tie, which more votes win, or as many with an item no larger.
    tie: f64,
    votes: f64,
    item: u32,
}

/// Which ranks are lower neighbours of the item at hand.
struct Marks {
    /// What flows to them, and the votes behind it; [`ABSENT`] for all others.
    along: Vec<[f64; 2]>,
    /// The edge to them; anything for all others.
    edge: Vec<u32>,
}

/// A flow that compares as false with everything.
const ABSENT: [f64; 2] = [f64::NAN, 0.0];
