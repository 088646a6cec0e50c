//! Times and peak memory of the diagnosis of a study.
//!
//! `cargo bench -p hodgerank --bench diagnose [-- --large]`: `--large` adds a million items with
//! ten million votes.

#![allow(clippy::print_stdout)]

mod fixtures;

use std::time::Instant;

use fixtures::peak_megabytes;
use hodgerank::diagnose::{DiagnoseOptions, diagnose};
use hodgerank::identify;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::{ComparisonGraph, Groups};

fn main() {
    let large = std::env::args().any(|arg| arg == "--large");
    println!(
        "| items | votes | connectivity s | resistances s | C2 search s | all with 5% suspects s | λ₂ (accuracy) | ρ | share | C_min | 1 − η | peak MB |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let sizes = [(16, 2000), (1000, 300_000), (30_000, 1_000_000), (1_000_000, 10_000_000)];
    for (items, votes) in sizes.into_iter().filter(|&(items, _)| large || items < 1_000_000) {
        row(items, votes);
    }
}

fn row(items: usize, votes: u64) {
    let options = SimulateOptions { items, votes, flips: 0.05, ..SimulateOptions::default() };
    let study = Simulation::new(&options).expect("valid options");
    let mut bad = Vec::new();
    let votes: Vec<_> = study
        .map(|vote| {
            bad.push(vote.bad);
            vote.comparison()
        })
        .collect();
    let merged = Groups::merge(items, &votes).expect("valid votes");
    let graph = ComparisonGraph::new(items, merged.groups).expect("valid groups");
    let mut flagged = vec![0.0; graph.groups().len()];
    for (group, bad) in merged.group_of.iter().zip(bad) {
        if let Some(group) = group.filter(|_| bad) {
            flagged[group as usize] += 1.0;
        }
    }
    let options = DiagnoseOptions::default();
    let (connectivity, connectivity_time) = timed(|| identify::algebraic_connectivity(&graph));
    let (resistances, resistances_time) = timed(|| identify::resistances(&graph));
    let (identifiable, identifiable_time) =
        timed(|| identify::identifiable_share(&graph, &options.identifiable));
    let (all, all_time) = timed(|| diagnose(&graph, &flagged, &options));
    let connectivity = connectivity.expect("solvable").expect("votes");
    let conditions = all.expect("solvable").conditions.expect("suspects");
    println!(
        "| {items} | {} | {connectivity_time:.3} | {resistances_time:.3} | {identifiable_time:.3} | {all_time:.3} \
         | {:.4} ({:.0e}, {} steps) | {:.4} | {} | {:.4} ({:.0e}) | {:.4} | {} |",
        votes.len(),
        connectivity.value,
        connectivity.accuracy,
        connectivity.steps,
        resistances.expect("solvable").largest.0,
        identifiable.expect("solvable").share,
        conditions.c_min,
        conditions.c_min_accuracy,
        conditions.irrepresentable,
        peak_megabytes(),
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let started = Instant::now();
    let done = work();
    (done, started.elapsed().as_secs_f64())
}
