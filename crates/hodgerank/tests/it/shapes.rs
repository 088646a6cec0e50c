//! Graphs of different shapes with random votes, and a reference solver.

use hodgerank::{Comparison, ComparisonGraph, Groups};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) type Edges = Vec<(u32, u32)>;

/// Real outcomes in −3..3 and counts in 1..=40, sometimes two different votes on one pair.
pub(crate) fn votes(edges: &[(u32, u32)], seed: u64) -> Vec<Comparison> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut votes = Vec::new();
    for &(i, j) in edges {
        for _ in 0..rng.random_range(1..=2) {
            let (y, count) = (rng.random_range(-3.0..3.0), rng.random_range(1..=40));
            votes.push(Comparison::new(i, j, y).with_count(count));
        }
    }
    votes
}

pub(crate) fn graph(items: usize, votes: &[Comparison]) -> ComparisonGraph {
    ComparisonGraph::new(items, Groups::merge(items, votes).unwrap().groups).unwrap()
}

pub(crate) fn voted(items: usize, edges: &[(u32, u32)], seed: u64) -> ComparisonGraph {
    graph(items, &votes(edges, seed))
}

pub(crate) fn random(items: u32, edges: usize, seed: u64) -> Edges {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pair = || {
        let i = rng.random_range(0..items);
        (i, (i + rng.random_range(1..items)) % items)
    };
    (0..edges).map(|_| pair()).collect()
}

pub(crate) fn grid(width: u32, height: u32) -> Edges {
    let cells = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let at = |x, y| y * width + x;
    let edges = cells.flat_map(|(x, y)| {
        let right = (x + 1 < width).then(|| (at(x, y), at(x + 1, y)));
        let down = (y + 1 < height).then(|| (at(x, y), at(x, y + 1)));
        right.into_iter().chain(down)
    });
    edges.collect()
}

/// Each item is connected to a random earlier one.
pub(crate) fn tree(items: u32, seed: u64) -> Edges {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (1..items).map(|i| (rng.random_range(0..i), i)).collect()
}

pub(crate) fn path(items: u32) -> Edges {
    (1..items).map(|i| (i - 1, i)).collect()
}

pub(crate) fn star(items: u32) -> Edges {
    (1..items).map(|i| (i, 0)).collect()
}

pub(crate) fn complete(items: u32) -> Edges {
    (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).collect()
}

/// Every item of the first half with every item of the second.
pub(crate) fn bipartite(half: u32) -> Edges {
    (0..half).flat_map(|i| (half..2 * half).map(move |j| (i, j))).collect()
}

pub(crate) fn cycle(items: u32) -> Edges {
    (0..items).map(|i| (i, (i + 1) % items)).collect()
}

/// A torus of side × side squares, each divided by a diagonal. From side 4 on it has no other
/// triangles.
pub(crate) fn torus(side: u32) -> Edges {
    let at = |x: u32, y: u32| (y % side) * side + x % side;
    let corners = (0..side).flat_map(|y| (0..side).map(move |x| (x, y)));
    let three = |(x, y)| [at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)].map(|to| (at(x, y), to));
    corners.flat_map(three).collect()
}

/// Components of several shapes, their items interleaved, with items never compared in between.
pub(crate) fn disconnected() -> (usize, Edges) {
    let parts = [path(9), star(7), complete(5), vec![], random(20, 60, 8), vec![], tree(12, 9)];
    let step = parts.len() as u32;
    let place = |part: usize, i: u32| i * step + part as u32;
    let edges = parts.iter().enumerate().flat_map(|(part, edges)| {
        edges.iter().map(move |&(i, j)| (place(part, i), place(part, j)))
    });
    (20 * step as usize, edges.collect())
}

/// All shapes, small enough for the reference solver.
pub(crate) fn all() -> Vec<(&'static str, ComparisonGraph)> {
    let (items, edges) = disconnected();
    vec![
        ("random", voted(120, &random(120, 500, 1), 11)),
        ("sparse random", voted(150, &random(150, 200, 2), 12)),
        ("grid", voted(130, &grid(13, 10), 13)),
        ("tree", voted(100, &tree(100, 3), 14)),
        ("path", voted(90, &path(90), 15)),
        ("star", voted(110, &star(110), 16)),
        ("complete", voted(40, &complete(40), 17)),
        ("two items", voted(2, &[(1, 0)], 18)),
        ("disconnected", voted(items, &edges, 19)),
        ("no votes", voted(5, &[], 20)),
    ]
}

/// Scores by Gaussian elimination with pivoting on the dense normal equations. Without a ridge, 1 is
/// added to all entries within a component, which makes the mean of its scores zero.
pub(crate) fn reference_scores(graph: &ComparisonGraph, ridge: f64) -> Vec<f64> {
    let n = graph.items();
    let groups = graph.groups();
    let mut a = vec![vec![0.0; n + 1]; n];
    for g in 0..groups.len() {
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let (w, y) = (groups.weight[g], groups.y[g]);
        a[i][i] += w;
        a[j][j] += w;
        a[i][j] -= w;
        a[j][i] -= w;
        a[i][n] += w * y;
        a[j][n] -= w * y;
    }
    let component = &graph.components().of;
    for i in 0..n {
        a[i][i] += ridge;
        for j in 0..n {
            if ridge == 0.0 && component[i] == component[j] {
                a[i][j] += 1.0;
            }
        }
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&p, &q| a[p][k].abs().total_cmp(&a[q][k].abs())).unwrap();
        a.swap(k, pivot);
        let row = a[k].clone();
        for below in &mut a[k + 1..] {
            let factor = below[k] / row[k];
            for (x, r) in below.iter_mut().zip(&row).skip(k) {
                *x -= factor * r;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x
}

pub(crate) fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
