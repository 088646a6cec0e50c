//! Set-up and solve times of the Laplacian backends on graphs of different shapes.
//!
//! `cargo bench -p hodgerank --bench laplacian [-- NAME...]`: the table goes to standard output,
//! progress to standard error; NAME selects the graphs whose name contains it.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::time::Instant;

use hodgerank::laplacian::{Backend, BackendChoice, LaplacianSystem, StoppingRule};
use hodgerank::{Comparison, ComparisonGraph, Groups};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Name, items and edges, maximum votes per edge, and the backends that solve it within seconds.
type Case = (&'static str, fn() -> (u32, Vec<(u32, u32)>), u64, &'static [Backend]);

const ALL: &[Backend] = &Backend::ALL;
const NO_DENSE: &[Backend] = &[Backend::Sparse, Backend::ConjugateGradient];
const ONLY_CG: &[Backend] = &[Backend::ConjugateGradient];

const CASES: &[Case] = &[
    ("complete 200", || complete(200), 1, ALL),
    ("complete 1000", || complete(1000), 1, ALL),
    ("complete 1000, 1-40 votes", || complete(1000), 40, ALL),
    ("random 2000, 40k votes", || random(2000, 40_000), 1, ALL),
    ("random 20k, 200k votes", || random(20_000, 200_000), 1, ONLY_CG),
    ("random 100k, 150k votes", || random(100_000, 150_000), 1, ONLY_CG),
    ("image 181x162, 5x5", || grid(181, 162, 2), 1, NO_DENSE),
    ("grid 400x400, 4 neighbours", || grid_cross(400), 1, NO_DENSE),
    ("path 100k", || path(100_000), 1, NO_DENSE),
    ("tree 100k", || tree(100_000), 1, NO_DENSE),
    ("star 100k", || star(100_000), 1, NO_DENSE),
    ("pairs 100k", || matching(100_000), 1, NO_DENSE),
    ("random 1M, 10M votes", || random(1_000_000, 10_000_000), 1, ONLY_CG),
];

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    println!(
        "{:<28}{:>6} -> {:<7}{:>10}{:>10}{:>7}{:>10}{:>12}",
        "graph", "asked", "used", "set-up ms", "solve ms", "steps", "residual", "bytes"
    );
    for (name, edges, max_votes, backends) in CASES {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        eprintln!("building {name}");
        let (items, edges) = edges();
        let graph = graph(items, &edges, *max_votes);
        let fixed = backends.iter().map(|&backend| BackendChoice::Fixed(backend));
        for choice in fixed.chain([BackendChoice::Auto]) {
            eprintln!("running {name} with {}", choice.as_str());
            row(name, &graph, choice);
        }
    }
}

/// Prints the best of three runs, because other processes may disturb a run.
fn row(name: &str, graph: &ComparisonGraph, choice: BackendChoice) {
    let rhs = graph.divergence(&graph.groups().y);
    let (mut set_up, mut solve) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..3 {
        let started = Instant::now();
        let system =
            LaplacianSystem::new(graph, 0.0, choice).expect("the backend supports the graph");
        set_up = set_up.min(1e3 * started.elapsed().as_secs_f64());
        let started = Instant::now();
        let (_, info) = system.solve(&rhs, &StoppingRule::default()).expect("finite votes");
        solve = solve.min(1e3 * started.elapsed().as_secs_f64());
        last = Some((info, system.bytes(), system.backends().next()));
    }
    let Some((info, bytes, backend)) = last else { return };
    println!(
        "{name:<28}{:>6} -> {:<7}{set_up:>10.2}{solve:>10.2}{:>7}{:>10.1e}{bytes:>12}{}",
        choice.as_str(),
        backend.map_or("none", Backend::as_str),
        info.iterations,
        info.residual,
        if info.converged { "" } else { "  not converged" },
    );
}

/// Votes that follow random true scores with noise, 1 to `max_votes` per edge.
fn graph(items: u32, edges: &[(u32, u32)], max_votes: u64) -> ComparisonGraph {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let truth: Vec<f64> = (0..items).map(|_| rng.random()).collect();
    let votes: Vec<Comparison> = edges
        .iter()
        .map(|&(i, j)| {
            let difference = truth[i as usize] - truth[j as usize];
            let noise: f64 = rng.random_range(-0.5..0.5);
            let count = rng.random_range(1..=max_votes);
            Comparison::new(i, j, (difference + noise).signum()).with_count(count)
        })
        .collect();
    let groups = Groups::merge(items as usize, &votes).expect("valid votes").groups;
    ComparisonGraph::new(items as usize, groups).expect("valid graph")
}

fn random(items: u32, votes: usize) -> (u32, Vec<(u32, u32)>) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let pair = |_| {
        let i = rng.random_range(0..items);
        let j = rng.random_range(0..items - 1);
        (i, if j >= i { j + 1 } else { j })
    };
    (items, (0..votes).map(pair).collect())
}

fn complete(items: u32) -> (u32, Vec<(u32, u32)>) {
    (items, (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).collect())
}

/// Pixels joined to all others at most `reach` away in each direction.
fn grid(width: u32, height: u32, reach: u32) -> (u32, Vec<(u32, u32)>) {
    let mut edges = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for v in y..height.min(y + reach + 1) {
            for u in x.saturating_sub(reach)..width.min(x + reach + 1) {
                if (v, u) > (y, x) {
                    edges.push((y * width + x, v * width + u));
                }
            }
        }
    }
    (width * height, edges)
}

fn grid_cross(side: u32) -> (u32, Vec<(u32, u32)>) {
    let (items, edges) = grid(side, side, 1);
    (items, edges.into_iter().filter(|(i, j)| j - i == 1 || j - i == side).collect())
}

fn path(items: u32) -> (u32, Vec<(u32, u32)>) {
    (items, (1..items).map(|i| (i - 1, i)).collect())
}

/// Each item is joined to a random earlier one.
fn tree(items: u32) -> (u32, Vec<(u32, u32)>) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    (items, (1..items).map(|i| (rng.random_range(0..i), i)).collect())
}

fn star(items: u32) -> (u32, Vec<(u32, u32)>) {
    (items, (1..items).map(|i| (0, i)).collect())
}

/// Many components of two items.
fn matching(items: u32) -> (u32, Vec<(u32, u32)>) {
    (items, (0..items / 2).map(|i| (2 * i, 2 * i + 1)).collect())
}
