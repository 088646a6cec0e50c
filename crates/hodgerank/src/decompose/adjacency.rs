//! The comparison graph in an order in which triangles are found fast.
//!
//! Items are renumbered by rank: those with the most neighbours get the lowest ranks. An edge joins
//! ranks u < v, and its flow is counted from u to v. An item then has at most √(2·edges) neighbours of
//! lower rank, so that enumerating triangles from their highest rank costs O(edges^1.5) at worst,
//! even with hubs.
//!
//! Edges are sorted by (u, v): the edges that start at u are consecutive.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::graph::Pairs;

/// Edges per task of [`Adjacency::triangles`].
const EDGES_PER_TASK: usize = 1024;

/// Neighbour lists by rank (compressed sparse rows), with the edge to each neighbour.
#[derive(Debug)]
pub(super) struct Adjacency {
    /// The item of each rank.
    pub(super) items: Vec<u32>,
    /// The pair of each edge.
    pub(super) pair: Vec<u32>,
    /// The lower and the higher rank of each edge.
    pub(super) ends: Vec<[u32; 2]>,
    /// Entries of rank `u` are `start[u]..start[u + 1]`, ascending by neighbour.
    start: Vec<usize>,
    /// The first entry of `u` whose neighbour has a higher rank.
    middle: Vec<usize>,
    /// The other end of each entry.
    pub(super) neighbours: Vec<u32>,
    /// The edge of each entry.
    pub(super) edges: Vec<u32>,
}

impl Adjacency {
    /// Builds the graph of the pairs for which `keep` holds.
    pub(super) fn new(items: usize, pairs: &Pairs, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..pairs.len()).filter(|&p| keep(p)).collect();
        let mut degree = vec![0_u32; items];
        for &p in &kept {
            degree[pairs.left[p] as usize] += 1;
            degree[pairs.right[p] as usize] += 1;
        }
        let mut order: Vec<u32> = (0..items as u32).collect();
        order.par_sort_unstable_by_key(|&i| (std::cmp::Reverse(degree[i as usize]), i));
        let mut rank = vec![0_u32; items];
        for (r, &i) in order.iter().enumerate() {
            rank[i as usize] = r as u32;
        }
        let mut sorted: Vec<([u32; 2], u32)> = kept
            .par_iter()
            .map(|&p| {
                let (a, b) = (rank[pairs.left[p] as usize], rank[pairs.right[p] as usize]);
                ([a.min(b), a.max(b)], p as u32)
            })
            .collect();
        sorted.par_sort_unstable();
        let ends: Vec<[u32; 2]> = sorted.iter().map(|&(ends, _)| ends).collect();
        let pair = sorted.into_iter().map(|(_, pair)| pair).collect();

        let mut lower = vec![0; items];
        for &[_, v] in &ends {
            lower[v as usize] += 1;
        }
        let (mut start, mut middle) = (vec![0; items + 1], vec![0; items]);
        for u in 0..items {
            start[u + 1] = start[u] + degree[order[u] as usize] as usize;
            middle[u] = start[u] + lower[u];
        }
        let (mut next_lower, mut next_higher) = (start.clone(), middle.clone());
        let (mut neighbours, mut edges) = (vec![0; 2 * ends.len()], vec![0; 2 * ends.len()]);
        for (edge, &[u, v]) in ends.iter().enumerate() {
            let entries = [(&mut next_higher[u as usize], v), (&mut next_lower[v as usize], u)];
            for (at, neighbour) in entries {
                neighbours[*at] = neighbour;
                edges[*at] = edge as u32;
                *at += 1;
            }
        }
        Self { items: order, pair, ends, start, middle, neighbours, edges }
    }

    /// Number of ranks.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Entries of `u`.
    #[inline]
    pub(super) fn row(&self, u: usize) -> Range<usize> {
        self.start[u]..self.start[u + 1]
    }

    /// Entries of `u` whose neighbours have a lower rank.
    #[inline]
    pub(super) fn lower(&self, u: usize) -> Range<usize> {
        self.start[u]..self.middle[u]
    }

    /// Entries of `u` whose neighbours have a higher rank.
    #[inline]
    pub(super) fn higher(&self, u: usize) -> Range<usize> {
        self.middle[u]..self.start[u + 1]
    }

    /// Converts flows on pairs to flows on edges, which are counted from low to high rank.
    pub(super) fn on_edges(&self, pairs: &Pairs, flow: &[f64]) -> Vec<f64> {
        let edges = self.pair.iter().zip(&self.ends);
        edges.map(|(&p, &ends)| self.sign(pairs, p, ends) * flow[p as usize]).collect()
    }

    /// Writes flows on edges to their pairs: the inverse of [`Adjacency::on_edges`].
    pub(super) fn to_pairs(&self, pairs: &Pairs, flow: &[f64], out: &mut [f64]) {
        for ((&p, &ends), f) in self.pair.iter().zip(&self.ends).zip(flow) {
            out[p as usize] = self.sign(pairs, p, ends) * f;
        }
    }

    fn sign(&self, pairs: &Pairs, pair: u32, [u, _]: [u32; 2]) -> f64 {
        if self.items[u as usize] == pairs.left[pair as usize] { 1.0 } else { -1.0 }
    }

    /// Returns the flow along an edge towards one of its ends.
    #[inline]
    pub(super) fn towards(&self, end: u32, edge: u32, flow: &[f64]) -> f64 {
        let f = flow[edge as usize];
        if self.ends[edge as usize][1] == end { f } else { -f }
    }

    /// Calls `found` with the entries of u and of v for each common neighbour; returns a bound of the
    /// number of comparisons.
    pub(super) fn for_each_common_neighbour(
        &self,
        u: usize,
        v: usize,
        mut found: impl FnMut(usize, usize),
    ) -> u64 {
        let (short, long) = if self.row(u).len() <= self.row(v).len() { (u, v) } else { (v, u) };
        let mut report = |s: usize, l: usize| {
            if short == u { found(s, l) } else { found(l, s) }
        };
        let (a, b) = (self.row(short), self.row(long));
        // Merging a hub's list for each of its edges would cost the square of its length.
        const BINARY_SEARCH_RATIO: usize = 16;
        if a.len() * BINARY_SEARCH_RATIO < b.len() {
            for s in a.clone() {
                let wanted = self.neighbours[s];
                if let Ok(at) = self.neighbours[b.clone()].binary_search(&wanted) {
                    report(s, b.start + at);
                }
            }
            return (a.len() * BINARY_SEARCH_RATIO) as u64;
        }
        let (mut s, mut l) = (a.start, b.start);
        while s < a.end && l < b.end {
            let (x, y) = (self.neighbours[s], self.neighbours[l]);
            if x == y {
                report(s, l);
            }
            s += usize::from(x <= y);
            l += usize::from(y <= x);
        }
        (a.len() + b.len()) as u64
    }

    /// Returns the edges ab, bc and ac of each triangle of ranks a < b < c; none if there are more
    /// than `max`.
    pub(super) fn triangles(&self, max: usize) -> Option<Vec<[u32; 3]>> {
        let found = AtomicUsize::new(0);
        let of_edges = |(task, ends): (usize, &[[u32; 2]])| {
            let mut triangles = Vec::new();
            for (k, &[a, b]) in ends.iter().enumerate() {
                let (ab, before) = ((task * EDGES_PER_TASK + k) as u32, triangles.len());
                self.for_each_common_neighbour(a as usize, b as usize, |ac, bc| {
                    if self.neighbours[ac] > b {
                        triangles.push([ab, self.edges[bc], self.edges[ac]]);
                    }
                });
                let here = triangles.len() - before;
                if found.fetch_add(here, Ordering::Relaxed) + here > max {
                    return None;
                }
            }
            Some(triangles)
        };
        let tasks = self.ends.par_chunks(EDGES_PER_TASK).enumerate();
        let parts: Option<Vec<Vec<[u32; 3]>>> = tasks.map(of_edges).collect();
        Some(parts?.concat())
    }

    /// Splits the ranks into ranges of about `work_per_task`. The split depends on the graph alone,
    /// so that results do not depend on the number of threads.
    pub(super) fn tasks(
        &self,
        work: impl Fn(usize) -> u64,
        work_per_task: u64,
    ) -> Vec<Range<usize>> {
        let (mut tasks, mut first, mut sum) = (Vec::new(), 0, 0);
        for u in 0..self.len() {
            sum += work(u) + 1;
            if sum >= work_per_task || u + 1 == self.len() {
                tasks.push(first..u + 1);
                (first, sum) = (u + 1, 0);
            }
        }
        tasks
    }
}
