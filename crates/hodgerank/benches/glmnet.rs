//! Huber-LASSO paths compared with glmnet (R): the same votes and 100 λ, in alternating runs.
//!
//! `cargo bench -p hodgerank --bench glmnet`: needs `Rscript` with glmnet, which
//! `scripts/bench` installs. hodgerank is timed from votes in memory, merging included; for glmnet
//! only its own call counts. It gets the unmerged votes and, in a second row, the merged ones. A path
//! is no worse if its objective is at most glmnet's at every λ, up to rounding.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::process::Command;
use std::time::Instant;

use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::HuberLassoOptions;
use hodgerank::solve::huber_lasso;
use hodgerank::{Comparison, ComparisonGraph, Groups, Path};

/// Relative rounding error of an objective, a sum of up to 300,000 terms.
const OBJECTIVE_TOLERANCE: f64 = 1e-9;

/// A study, the number of runs of each program per round, and the number of rounds.
struct Case {
    items: usize,
    votes: u64,
    flips: f64,
    runs: usize,
    peer_runs: usize,
    rounds: usize,
}

const CASES: [Case; 2] = [
    Case { items: 16, votes: 2000, flips: 0.05, runs: 50, peer_runs: 10, rounds: 3 },
    Case { items: 1000, votes: 300_000, flips: 0.2, runs: 5, peer_runs: 1, rounds: 3 },
];

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| items | votes | glmnet gets | rows | hodgerank ms | glmnet ms | times faster | objective |"
    );
    println!("|---:|---:|---|---:|---:|---:|---:|---|");
    for case in &CASES {
        let Case { items, votes, flips, .. } = *case;
        let options = SimulateOptions { items, votes, flips, ..SimulateOptions::default() };
        let votes: Vec<_> = Simulation::new(&options)?.map(|vote| vote.comparison()).collect();
        let merged = Groups::merge(items, &votes)?.groups;
        let apart = Groups::keep_apart(items, &votes)?.groups;
        for (name, groups) in [("votes", apart), ("merged votes", merged)] {
            row(case, &votes, name, groups)?;
        }
    }
    Ok(())
}

/// Runs both programs alternately; prints the medians.
fn row(case: &Case, votes: &[Comparison], name: &str, rows: Groups) -> Result<(), Box<dyn Error>> {
    let (path, _) = ours(case.items, votes)?;
    let directory = scratch()?;
    export(&directory, &rows, &path.knots)?;
    let (mut our_times, mut peer_times, mut peer_objective) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..case.rounds {
        for _ in 0..case.runs {
            our_times.push(ours(case.items, votes)?.1);
        }
        let (times, objective) = glmnet(&directory, case.peer_runs)?;
        peer_times.extend(times);
        peer_objective = objective;
    }
    fs::remove_dir_all(&directory)?;

    let graph = ComparisonGraph::new(case.items, rows)?;
    let objective = |&lambda: &f64| huber_lasso::objective(&graph, &path.scores_at(lambda), lambda);
    let ours: Vec<f64> = path.knots.iter().map(objective).collect();
    if peer_objective.len() != ours.len() {
        return Err(format!("glmnet stopped after {} λ", peer_objective.len()).into());
    }
    let worse = |(ours, peer): &(&f64, &f64)| **ours > **peer * (1.0 + OBJECTIVE_TOLERANCE);
    let verdict = match ours.iter().zip(&peer_objective).filter(worse).count() {
        0 => "no worse at every λ".to_owned(),
        count => format!("worse at {count} λ"),
    };
    let (our_ms, peer_ms) = (1e3 * median(our_times), 1e3 * median(peer_times));
    println!(
        "| {} | {} | {name} | {} | {our_ms:.4} | {peer_ms:.2} | {:.0} | {verdict} |",
        case.items,
        case.votes,
        graph.groups().len(),
        peer_ms / our_ms,
    );
    Ok(())
}

/// Computes the path from votes in memory: merge, graph, 100 λ.
fn ours(items: usize, votes: &[Comparison]) -> Result<(Path, f64), Box<dyn Error>> {
    let started = Instant::now();
    let graph = ComparisonGraph::new(items, Groups::merge(items, votes)?.groups)?;
    let path = huber_lasso::compute_path(&graph, &HuberLassoOptions::default(), StopAt::End)?;
    Ok((path, started.elapsed().as_secs_f64()))
}

/// Returns the seconds of each run and the objective at each λ.
fn glmnet(directory: &FilePath, runs: usize) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let script = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/glmnet.R");
    let output =
        Command::new("Rscript").arg(script).arg(directory).arg(runs.to_string()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let mut lines = text.lines().map(|line| line.split_whitespace().map(str::parse).collect());
    let mut next = || lines.next().ok_or("glmnet.R printed too little");
    let (seconds, objective): (Result<_, _>, Result<_, _>) = (next()?, next()?);
    Ok((seconds?, objective?))
}

/// Writes the arrays that glmnet.R reads.
fn export(directory: &FilePath, rows: &Groups, lambdas: &[f64]) -> std::io::Result<()> {
    let integers = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    fs::write(directory.join("left"), integers(&rows.left))?;
    fs::write(directory.join("right"), integers(&rows.right))?;
    fs::write(directory.join("y"), doubles(&rows.y))?;
    fs::write(directory.join("weight"), doubles(&rows.weight))?;
    fs::write(directory.join("lambda"), doubles(lambdas))
}

fn scratch() -> std::io::Result<PathBuf> {
    let directory = std::env::temp_dir().join(format!("glmnet-bench-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    Ok(directory)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
