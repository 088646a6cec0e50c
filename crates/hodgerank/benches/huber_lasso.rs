//! Times of Huber-LASSO paths, 100 λ down to 0.01 λ_max.
//!
//! `cargo bench -p hodgerank --bench huber_lasso [-- [--large] [NUMBER|NAME...]]`: the table goes to
//! standard output. `--large` adds a million items with ten million votes; numbers or names select rows.

#![allow(clippy::print_stdout)]

mod fixtures;

use std::time::Instant;

use fixtures::{graph, image, peak_megabytes};
use hodgerank::path::{Path, StopAt};
use hodgerank::solve::HuberLassoOptions;
use hodgerank::solve::huber_lasso::{self, Knots};
use hodgerank::{Comparison, ComparisonGraph};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Case = (&'static str, fn() -> ComparisonGraph, usize, Knots, Option<f64>);

const GRID: Knots = Knots::Grid { count: 100, ratio: 0.01 };
const EXACT: Knots = Knots::Exact { max_knots: 1_000_000 };

/// Name, graph, number of runs, knots, and the share of votes to stop at.
const CASES: &[Case] = &[
    ("16 items, 2k votes, 5% flips", || random(16, 2000, 0.05), 50, GRID, None),
    ("the same, exact knots", || random(16, 2000, 0.05), 20, EXACT, None),
    ("200 items, 5k votes, 10% flips", || random(200, 5000, 0.1), 5, GRID, None),
    ("the same, exact knots", || random(200, 5000, 0.1), 1, EXACT, None),
    ("1000 items, 300k votes, 20% flips", || random(1000, 300_000, 0.2), 5, GRID, None),
    ("the same, to 20% flagged", || random(1000, 300_000, 0.2), 5, GRID, Some(0.2)),
    ("1000 items, 10M votes, 20% flips", || random(1000, 10_000_000, 0.2), 1, GRID, None),
    ("20k items, 60k votes, 10% flips", || random(20_000, 60_000, 0.1), 1, GRID, None),
    ("the same, to 20% flagged", || random(20_000, 60_000, 0.1), 1, GRID, Some(0.2)),
    ("image 181x162, 5x5, 10% outliers", || image(181, 162), 1, GRID, None),
    ("the same, to 10% flagged", || image(181, 162), 1, GRID, Some(0.1)),
];
const LARGE: &[Case] = &[
    ("20k items, 200k votes, 10% flips", || random(20_000, 200_000, 0.1), 1, GRID, None),
    ("100k items, 1M votes, 10% flips", || random(100_000, 1_000_000, 0.1), 1, GRID, None),
    (
        "1M items, 10M votes, to 20% flagged",
        || random(1_000_000, 10_000_000, 0.1),
        1,
        GRID,
        Some(0.2),
    ),
    ("1M items, 10M votes, 10% flips", || random(1_000_000, 10_000_000, 0.1), 1, GRID, None),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let is_name = |arg: &&String| !arg.starts_with('-') && arg.parse::<usize>().is_err();
    let names: Vec<&String> = args.iter().filter(is_name).collect();
    let is_all = numbers.is_empty() && names.is_empty();
    let large = args.iter().any(|arg| arg == "--large");
    println!(
        "{:<36}{:>10}{:>11}{:>7}{:>9}{:>7}  status",
        "votes", "groups", "ms", "knots", "flagged", "MB"
    );
    let cases = CASES.iter().chain(if large { LARGE } else { &[] });
    for (number, case) in (1..).zip(cases) {
        let is_named = names.iter().any(|name| *name == case.0);
        if is_all || numbers.contains(&number) || is_named {
            run(case);
        }
    }
}

/// Prints the best of several runs, because other processes may disturb a run.
fn run(&(name, graph, times, knots, share): &Case) {
    let graph = graph();
    let options = HuberLassoOptions { knots, ..HuberLassoOptions::default() };
    let votes: f64 = graph.groups().weight.iter().sum();
    let until = share.map_or(StopAt::End, |share| StopAt::Flagged(share * votes));
    let mut best: Option<(f64, Path)> = None;
    for _ in 0..times {
        let started = Instant::now();
        let path = huber_lasso::compute_path(&graph, &options, until).expect("valid options");
        let ms = 1e3 * started.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|(fastest, _)| ms < *fastest) {
            best = Some((ms, path));
        }
    }
    let Some((ms, path)) = best else { return };
    println!(
        "{name:<36}{:>10}{ms:>11.2}{:>7}{:>9}{:>7}  {}",
        graph.groups().len(),
        path.knots.len(),
        path.entries().len(),
        peak_megabytes(),
        path.status.as_str(),
    );
}

/// Votes ±1 on random pairs that follow the order of the items, a share of them flipped.
fn random(items: u32, votes: usize, flips: f64) -> ComparisonGraph {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let vote = |_| {
        let i = rng.random_range(0..items);
        let j = (i + rng.random_range(1..items)) % items;
        let y = if i > j { 1.0 } else { -1.0 };
        Comparison::new(i, j, if rng.random_bool(flips) { -y } else { y })
    };
    graph(items as usize, &(0..votes).map(vote).collect::<Vec<_>>())
}
