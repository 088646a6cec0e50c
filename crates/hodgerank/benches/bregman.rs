//! Times of Bregman iterations and inverse scale space on typical studies.
//!
//! `cargo bench -p hodgerank --bench bregman [-- [--large] NAME...]`: NAME selects the cases whose
//! name contains it; `--large` adds 1,000,000 items with 10,000,000 groups.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod fixtures;

use std::path::Path as FilePath;
use std::time::Instant;

use fixtures::{graph, image, peak_megabytes};
use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::solve::inverse_scale_space::{self, InverseScaleSpaceOptions, cost_estimate};
use hodgerank::{Comparison, ComparisonGraph, Path, Result};

#[derive(Clone, Copy)]
enum PathMethod {
    Bregman(Algorithm),
    InverseScaleSpace,
}

const EXACT: PathMethod = PathMethod::Bregman(Algorithm::Exact);
const GRADIENT: PathMethod = PathMethod::Bregman(Algorithm::Gradient);

/// Name, graph, share of the votes to flag, methods.
type Case = (&'static str, fn() -> Option<ComparisonGraph>, f64, &'static [PathMethod]);

const CASES: &[Case] = &[
    ("PC-VQA 1", pc_vqa_1, 0.05, &[PathMethod::InverseScaleSpace, EXACT, GRADIENT]),
    (
        "16 items, 2k votes",
        || votes(16, 2000, 0.05, 0.0),
        0.05,
        &[PathMethod::InverseScaleSpace, EXACT, GRADIENT],
    ),
    (
        "1k items, 300k votes",
        || votes(1000, 300_000, 0.2, 0.0),
        0.01,
        &[PathMethod::InverseScaleSpace],
    ),
    (
        "1k items, 300k votes",
        || votes(1000, 300_000, 0.2, 0.0),
        0.05,
        &[PathMethod::InverseScaleSpace],
    ),
    (
        "1k items, 300k votes",
        || votes(1000, 300_000, 0.2, 0.0),
        0.2,
        &[PathMethod::InverseScaleSpace, EXACT],
    ),
    ("1k items, 10M votes", || votes(1000, 10_000_000, 0.2, 0.1), 0.2, &[EXACT]),
    ("image 181x162, 5x5", || Some(image(181, 162)), 0.1, &[EXACT, GRADIENT]),
];
const LARGE: &[Case] =
    &[("1M items, 10M votes", || votes(1_000_000, 10_000_000, 0.1, 0.0), 0.1, &[EXACT])];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let large = arguments.iter().any(|argument| argument == "--large");
    let names: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    println!(
        "{:<22}{:>10}{:>6}{:>10}{:>10}{:>8}{:>9}{:>9}{:>7}  status",
        "study", "groups", "flag", "method", "seconds", "knots", "flagged", "cost", "MB"
    );
    for (name, graph, share, methods) in CASES.iter().chain(LARGE.iter().filter(|_| large)) {
        if !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        eprintln!("building {name}");
        let Some(graph) = graph() else { continue };
        for &method in *methods {
            row(name, &graph, *share, method);
        }
    }
}

fn row(name: &str, graph: &ComparisonGraph, share: f64, method: PathMethod) {
    let votes = share * graph.groups().votes();
    let started = Instant::now();
    let path = run(graph, method, StopAt::Flagged(votes)).expect("valid options");
    let seconds = started.elapsed().as_secs_f64();
    let (label, cost) = match method {
        PathMethod::Bregman(algorithm) => (algorithm.as_str(), String::new()),
        PathMethod::InverseScaleSpace => ("iss", format!("{:.0e}", cost_estimate(graph, votes))),
    };
    println!(
        "{name:<22}{:>10}{:>6}{label:>10}{seconds:>10.4}{:>8}{:>9}{cost:>9}{:>7}  {}",
        graph.groups().len(),
        share,
        path.knots.len(),
        path.entries().len(),
        peak_megabytes(),
        path.status.as_str(),
    );
}

fn run(graph: &ComparisonGraph, method: PathMethod, until: StopAt) -> Result<Path> {
    match method {
        PathMethod::Bregman(algorithm) => {
            bregman::compute_path(graph, &BregmanOptions { algorithm, ..Default::default() }, until)
        }
        PathMethod::InverseScaleSpace => {
            inverse_scale_space::compute_path(graph, &InverseScaleSpaceOptions::default(), until)
        }
    }
}

fn votes(items: usize, votes: u64, flips: f64, ties: f64) -> Option<ComparisonGraph> {
    let options = SimulateOptions { items, votes, flips, ties, ..Default::default() };
    let study = Simulation::new(&options).expect("valid options");
    Some(graph(items, &study.map(|vote| vote.comparison()).collect::<Vec<_>>()))
}

fn pc_vqa_1() -> Option<ComparisonGraph> {
    let file = "../../../shared/data/pc-vqa/ref01.csv";
    let file = FilePath::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let Ok(table) = std::fs::read_to_string(file) else {
        eprintln!("skipped: the shared data is not available");
        return None;
    };
    let row = |row: &str| {
        let (winner, loser) = row.split_once(',')?;
        Some(Comparison::new(winner.parse().ok()?, loser.parse().ok()?, 1.0))
    };
    Some(graph(17, &table.lines().skip(1).filter_map(row).collect::<Vec<_>>()))
}
