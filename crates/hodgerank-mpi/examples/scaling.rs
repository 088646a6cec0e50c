//! What a step of Algorithm 4 costs where ranks share the votes, and what sums over ranks cost.
//!
//! ```text
//! mpirun -n P scaling [--items N] [--votes M] [--runs R] [--threads T] [--alone]
//! ```
//!
//! Votes are kept apart, as in the paper: each is a group of its own. T(P) is the time of [`STEPS`]
//! steps, that of a path of 1 + [`STEPS`] steps less that of one step, which has the same set-up.
//! `--alone` does the same in one process without MPI, as the program `hodgerank` would. Rank 0
//! prints one line of JSON; `benches/mpi.py` runs this for several P in turns and prints ratios.

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use hodgerank::communicator::{Communicator, SingleProcess};
use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::{ComparisonGraph, Groups, Tally};
use hodgerank_mpi::{MpiTeam, World, memory, votes};

const STEPS: usize = 40;
/// Lengths of vectors whose sums are timed, and how often each is added up.
const LENGTHS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const SUMS: usize = 50;

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1000)]
    items: usize,
    #[arg(long, default_value_t = 10_000_000)]
    votes: u64,
    #[arg(long, default_value_t = 3)]
    runs: usize,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// One process, without MPI
    #[arg(long)]
    alone: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build_global()?;
    if arguments.alone {
        let alone: Arc<dyn Communicator> = Arc::new(SingleProcess);
        return measure(&arguments, &alone, 0, 1);
    }
    let world = Arc::new(World::start()?);
    let (rank, size) = (world.rank(), world.size());
    let communicator: Arc<dyn Communicator> = Arc::new(MpiTeam::new(world, None));
    measure(&arguments, &communicator, rank, size)
}

fn measure(
    arguments: &Arguments,
    communicator: &Arc<dyn Communicator>,
    rank: usize,
    size: usize,
) -> Result<(), Box<dyn Error>> {
    let groups = own_votes(arguments, rank, size)?;
    let here = groups.len();
    let graph = ComparisonGraph::distributed(arguments.items, groups, Arc::clone(communicator))?;
    let mut steps = Vec::new();
    for _ in 0..arguments.runs {
        let set_up = seconds_of(&graph, 1)?;
        let whole = seconds_of(&graph, 1 + STEPS)?;
        steps.push((whole - set_up) / STEPS as f64);
    }
    let memory = communicator.max_scalar(memory::most_bytes().unwrap_or(0) as f64);
    let sums: Vec<String> = LENGTHS
        .iter()
        .map(|&length| format!("[{length}, {:e}]", seconds_of_sum(&**communicator, length)))
        .collect();
    if rank == 0 {
        let steps: Vec<String> = steps.iter().map(|seconds| format!("{seconds:e}")).collect();
        println!(
            "{{\"ranks\": {size}, \"threads\": {}, \"groups\": {}, \"groups_here\": {here}, \
             \"bytes\": {memory}, \"seconds_per_step\": [{}], \"sums\": [{}]}}",
            arguments.threads,
            graph.votes(),
            steps.join(", "),
            sums.join(", "),
        );
    }
    Ok(())
}

/// The votes of a simulated study that fall to this rank, one group for each vote.
fn own_votes(arguments: &Arguments, rank: usize, size: usize) -> Result<Groups, Box<dyn Error>> {
    let (items, votes) = (arguments.items, arguments.votes);
    let options = SimulateOptions { items, votes, flips: 0.2, ..SimulateOptions::default() };
    let mut tally = Tally::new();
    for vote in Simulation::new(&options)? {
        let (left, right) = (vote.left.min(vote.right), vote.left.max(vote.right));
        if votes::rank_of_pair(left, right, size) == rank {
            tally.add(vote.left, vote.right, vote.y, 1);
        }
    }
    let merged = Tally::finish(vec![tally], &[(0..items as u32).collect()]);
    Ok(merged.one_by_one())
}

fn seconds_of(graph: &ComparisonGraph, max_steps: usize) -> Result<f64, hodgerank::Error> {
    let algorithm = Algorithm::Gradient;
    let options = BregmanOptions { algorithm, max_steps, ..BregmanOptions::default() };
    let started = Instant::now();
    bregman::compute_path(graph, &options, StopAt::End)?;
    Ok(started.elapsed().as_secs_f64())
}

/// The median time in which the team adds up a vector.
fn seconds_of_sum(communicator: &dyn Communicator, length: usize) -> f64 {
    let mut values = vec![1e-300; length];
    let mut seconds: Vec<f64> = (0..SUMS)
        .map(|_| {
            let started = Instant::now();
            communicator.sum(&mut values);
            started.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[SUMS / 2]
}
