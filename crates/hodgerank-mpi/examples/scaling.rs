//! Times a step of Algorithm 4 on votes that processes share, and sums over processes.
//!
//! ```text
//! mpirun -n P scaling [--items N] [--votes M] [--runs R] [--threads T] [--without-mpi]
//! ```
//!
//! Votes are not merged, as in the paper: each is a group of its own. The time of a step is that of a
//! path of 1 + [`STEPS`] steps minus that of a path of one step, which has the same set-up, divided
//! by [`STEPS`]. `--without-mpi` runs one process without MPI, as the program `hodgerank` does.
//! Process 0 prints one line of JSON; `benches/mpi.py` runs this for several P and prints ratios.

#![allow(clippy::print_stdout, reason = "prints its results")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use hodgerank::communicator::{Communicator, SingleProcess};
use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::{ComparisonGraph, Groups, Tally};
use hodgerank_mpi::comm::{MpiCommunicator, World, owner_of_pair, peak_memory};

const STEPS: usize = 40;
/// Lengths of vectors whose sums are timed, and how many times each is summed.
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
    without_mpi: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build_global()?;
    if arguments.without_mpi {
        let communicator: Arc<dyn Communicator> = Arc::new(SingleProcess);
        return measure(&arguments, &communicator, 0, 1);
    }
    let world = Arc::new(World::start()?);
    let (rank, size) = (world.rank(), world.size());
    let communicator: Arc<dyn Communicator> = Arc::new(MpiCommunicator::new(world, None));
    measure(&arguments, &communicator, rank, size)
}

fn measure(
    arguments: &Arguments,
    communicator: &Arc<dyn Communicator>,
    rank: usize,
    size: usize,
) -> Result<(), Box<dyn Error>> {
    let groups = owned_votes(arguments, rank, size)?;
    let owned = groups.len();
    let graph = ComparisonGraph::distributed(arguments.items, groups, Arc::clone(communicator))?;
    let mut steps = Vec::new();
    for _ in 0..arguments.runs {
        let setup = path_seconds(&graph, 1)?;
        let whole = path_seconds(&graph, 1 + STEPS)?;
        steps.push((whole - setup) / STEPS as f64);
    }
    let memory = communicator.max_scalar(peak_memory::peak_memory().unwrap_or(0) as f64);
    let sums: Vec<String> = LENGTHS
        .iter()
        .map(|&length| format!("[{length}, {:e}]", sum_seconds(&**communicator, length)))
        .collect();
    if rank == 0 {
        let steps: Vec<String> = steps.iter().map(|seconds| format!("{seconds:e}")).collect();
        println!(
            "{{\"processes\": {size}, \"threads\": {}, \"groups\": {}, \"owned_groups\": {owned}, \
             \"bytes\": {memory}, \"seconds_per_step\": [{}], \"sums\": [{}]}}",
            arguments.threads,
            graph.votes(),
            steps.join(", "),
            sums.join(", "),
        );
    }
    Ok(())
}

/// Returns the votes of a simulated study that this process owns, one group for each vote.
fn owned_votes(arguments: &Arguments, rank: usize, size: usize) -> Result<Groups, Box<dyn Error>> {
    let (items, votes) = (arguments.items, arguments.votes);
    let options = SimulateOptions { items, votes, flips: 0.2, ..SimulateOptions::default() };
    let mut tally = Tally::new();
    for vote in Simulation::new(&options)? {
        let (left, right) = (vote.left.min(vote.right), vote.left.max(vote.right));
        if owner_of_pair(left, right, size) == rank {
            tally.add(vote.left, vote.right, vote.y, 1);
        }
    }
    let merged = Tally::finish(vec![tally], &[(0..items as u32).collect()]);
    Ok(merged.one_by_one())
}

fn path_seconds(graph: &ComparisonGraph, max_steps: usize) -> Result<f64, hodgerank::Error> {
    let algorithm = Algorithm::Gradient;
    let options = BregmanOptions { algorithm, max_steps, ..BregmanOptions::default() };
    let started = Instant::now();
    bregman::compute_path(graph, &options, StopAt::End)?;
    Ok(started.elapsed().as_secs_f64())
}

/// Returns the median time of summing a vector over the processes.
fn sum_seconds(communicator: &dyn Communicator, length: usize) -> f64 {
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
