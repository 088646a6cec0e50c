//! Time and memory of the decomposition on graphs of different shapes.
//!
//! `cargo bench -p hodgerank --bench decompose [-- NAME...]`: the table goes to standard output,
//! progress to standard error; NAME selects the graphs whose name contains it. Peak memory is that
//! of the process so far, so select one graph to measure its own.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod fixtures;

use std::time::Instant;

use fixtures::peak_megabytes;
use hodgerank::decompose::{DecomposeOptions, Decomposition, decompose};
use hodgerank::{Comparison, ComparisonGraph, Groups};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Name, and a function that returns the number of items and the edges.
type Case = (&'static str, fn() -> (u32, Vec<(u32, u32)>));

const CASES: &[Case] = &[
    ("image 181x162, 5x5", || (181 * 162, image(181, 162, |_, _| true))),
    ("image with a hole", || (181 * 162, image(181, 162, |x, y| !in_middle(x, y)))),
    ("random 1000, 2%", || (1000, random_share(1000, 0.02))),
    ("random 1000, 5%", || (1000, random_share(1000, 0.05))),
    ("random 1000, 10%", || (1000, random_share(1000, 0.1))),
    ("random 1000, 50%", || (1000, random_share(1000, 0.5))),
    ("random 1000, 50%, and a hexagon", || (1006, with_hexagon(1000, random_share(1000, 0.5)))),
    ("random 100k, 1M votes", || (100_000, random(100_000, 1_000_000))),
    ("complete 1000", || (1000, random_share(1000, 1.0))),
    ("complete 2000", || (2000, random_share(2000, 1.0))),
    ("complete 5000, sampled", || (5000, random_share(5000, 1.0))),
];

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!(
        "{:<32}{:>10}{:>14}{:>9}{:>8}{:>14}{:>7}{:>10}{:>9}{:>9}",
        "graph",
        "pairs",
        "triangles",
        "seconds",
        "MB",
        "method",
        "steps",
        "residual",
        "harmonic",
        "holes"
    );
    for (name, edges) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        eprintln!("building {name}");
        let (items, edges) = edges();
        let graph = graph(items, &edges);
        eprintln!("running {name}");
        let started = Instant::now();
        let split = decompose(&graph, &DecomposeOptions::default()).expect("valid options");
        row(name, &graph, &split, started.elapsed().as_secs_f64());
    }
}

fn row(name: &str, graph: &ComparisonGraph, split: &Decomposition, seconds: f64) {
    let sampled = if split.transitivity.sampled.is_some() { "~" } else { "" };
    println!(
        "{name:<32}{:>10}{:>14}{seconds:>9.2}{:>8}{:>14}{:>7}{:>10.1e}{:>9.4}{:>9}  {}",
        graph.pairs().len(),
        format!("{sampled}{}", split.transitivity.triangles),
        peak_megabytes(),
        split.info.method.as_str(),
        split.info.iterations,
        split.info.curl_residual.unwrap_or(f64::NAN),
        split.shares.harmonic,
        split.betti.get().map_or("-".to_owned(), |betti| betti.to_string()),
        split.status.as_str(),
    );
}

/// Votes ±1 that follow random true scores with noise, 1 to 5 per edge.
fn graph(items: u32, edges: &[(u32, u32)]) -> ComparisonGraph {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let truth: Vec<f64> = (0..items).map(|_| rng.random()).collect();
    let vote = |&(i, j): &(u32, u32)| {
        let noise: f64 = rng.random_range(-0.5..0.5);
        let y = (truth[i as usize] - truth[j as usize] + noise).signum();
        Comparison::new(i, j, y).with_count(rng.random_range(1..=5))
    };
    let votes: Vec<Comparison> = edges.iter().map(vote).collect();
    let groups = Groups::merge(items as usize, &votes).expect("valid votes").groups;
    ComparisonGraph::new(items as usize, groups).expect("valid graph")
}

/// Pixels selected by `keep`, joined to all others at most two away in each direction.
fn image(width: u32, height: u32, keep: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for v in y..height.min(y + 3) {
            for u in x.saturating_sub(2)..width.min(x + 3) {
                if (v, u) > (y, x) && keep(x, y) && keep(u, v) {
                    edges.push((y * width + x, v * width + u));
                }
            }
        }
    }
    edges
}

fn in_middle(x: u32, y: u32) -> bool {
    (70..110).contains(&x) && (60..100).contains(&y)
}

/// A share of all pairs, chosen at random.
fn random_share(items: u32, share: f64) -> Vec<(u32, u32)> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j)));
    pairs.filter(|_| rng.random_bool(share)).collect()
}

fn with_hexagon(first: u32, mut edges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    edges.extend((0..6).map(|k| (first + k, first + (k + 1) % 6)));
    edges.push((0, first));
    edges
}

fn random(items: u32, votes: usize) -> Vec<(u32, u32)> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut pair = || {
        let i = rng.random_range(0..items);
        (i, (i + rng.random_range(1..items)) % items)
    };
    (0..votes).map(|_| pair()).collect()
}
