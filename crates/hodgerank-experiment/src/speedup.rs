//! Experiment IV: how much faster Algorithm 4 (parallel LBI) runs on more threads.
//!
//! SN = 10n² votes, 20% turned round. The paper keeps votes apart; here equal votes are merged into
//! groups, which is exact and has a tenth of the work. Both are measured: `apart` as in the paper,
//! `merged` as users have it.
//!
//! | paper | here |
//! |---|---|
//! | n = 1000 and 2000, 20 runs, 1 to 16 threads | the same on 1 thread, 2, … all; small: n = 300, 5 runs |
//! | iterations: not said | [`STEPS`] steps, times without the set-up |
//!
//! T(N) is the time of the steps alone: that of a path of 1 + [`STEPS`] steps less that of one step,
//! which has the same set-up (least squares, the largest eigenvalue). Votes are counted as they are
//! drawn and put side by side at the end, so that memory stays at 40 bytes a vote.
//!
//! Cost: n = 2000 takes 1.6 GB. Failure modes: a busy machine; the quartiles tell.

use std::time::Instant;

use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::{ComparisonGraph, Groups, Tally};
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Chart, Colour, LegendEntry, Mark, Sign};

use crate::columns::{counts, numbers, quantile, table, texts};
use crate::draw::{axis, chart, line};
use crate::error::Result;
use crate::progress::Steps;
use crate::{Claim, Findings, Progress, Settings};

/// Steps that are timed.
pub const STEPS: usize = 40;
const FLIPS: f64 = 0.2;
/// What two threads must gain over one where votes are kept apart.
const GAIN: f64 = 1.8;

/// Times of one way of keeping the votes, of one size.
struct Times {
    items: usize,
    how: &'static str,
    groups: usize,
    /// Seconds of each run, for 1, 2, … threads.
    seconds: Vec<Vec<f64>>,
}

impl Times {
    /// Speed-up of each run on this many threads: the median time of one thread over its own.
    fn speedups(&self, threads: usize) -> Vec<f64> {
        let one = quantile(&self.seconds[0], 0.5);
        self.seconds[threads - 1].iter().map(|seconds| one / seconds).collect()
    }

    fn median(&self, threads: usize) -> f64 {
        quantile(&self.speedups(threads), 0.5)
    }
}

/// Repeats the experiment.
///
/// # Errors
/// If a solver fails or threads cannot be started.
pub fn run(settings: &Settings, progress: &Progress<'_>) -> Result<Findings> {
    let (sizes, runs): (&[usize], usize) =
        if settings.full { (&[1000, 2000], 20) } else { (&[300], 5) };
    let most = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pools: Vec<rayon::ThreadPool> = (1..=most)
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
        .collect::<std::result::Result<_, _>>()?;
    let steps = Steps::new(sizes.len() * 2 * runs, progress);
    let mut times = Vec::new();
    for &items in sizes {
        let merged = votes(items, settings.seed)?;
        let apart = ComparisonGraph::new(items, merged.one_by_one())?;
        times.push(measure(&apart, "apart", runs, &pools, &steps)?);
        drop(apart);
        let merged = ComparisonGraph::new(items, merged)?;
        times.push(measure(&merged, "merged", runs, &pools, &steps)?);
    }
    Ok(Findings {
        title: format!(
            "Experiment IV: speed-up of parallel LBI, SN = 10n², 20% outliers, {STEPS} steps, \
             {runs} runs, 1 to {most} threads"
        ),
        claims: claims(&times, most),
        tables: vec![("speedup".to_owned(), data(&times))],
        charts: sizes.iter().map(|&items| draw(&times, items)).collect(),
    })
}

/// 10n² votes, merged as they come.
fn votes(items: usize, seed: u64) -> Result<Groups> {
    let votes = 10 * (items * items) as u64;
    let options = SimulateOptions { items, votes, flips: FLIPS, seed, ..Default::default() };
    let mut tally = Tally::new();
    for vote in Simulation::new(&options)? {
        tally.add(vote.left, vote.right, vote.y, 1);
    }
    Ok(Tally::finish(vec![tally], &[(0..items as u32).collect()]))
}

fn measure(
    graph: &ComparisonGraph,
    how: &'static str,
    runs: usize,
    pools: &[rayon::ThreadPool],
    steps: &Steps<'_>,
) -> Result<Times> {
    let mut seconds = vec![Vec::new(); pools.len()];
    for _ in 0..runs {
        // Thread counts take turns, so that a busy minute hits all of them.
        for (pool, seconds) in pools.iter().zip(&mut seconds) {
            let set_up = pool.install(|| seconds_of(graph, 1))?;
            let whole = pool.install(|| seconds_of(graph, 1 + STEPS))?;
            seconds.push((whole - set_up).max(f64::MIN_POSITIVE));
        }
        steps.one_more();
    }
    Ok(Times { items: graph.items(), how, groups: graph.groups().len(), seconds })
}

fn seconds_of(graph: &ComparisonGraph, max_steps: usize) -> Result<f64> {
    let options =
        BregmanOptions { algorithm: Algorithm::Gradient, max_steps, ..BregmanOptions::default() };
    let started = Instant::now();
    bregman::compute_path(graph, &options, StopAt::End)?;
    Ok(started.elapsed().as_secs_f64())
}

fn claims(times: &[Times], most: usize) -> Vec<Claim> {
    let claim = |times: &Times| {
        let Times { items, how, groups, .. } = times;
        let threads = most.min(2);
        let quarters = [0.25, 0.75].map(|share| quantile(&times.speedups(threads), share));
        let one = quantile(&times.seconds[0], 0.5) / STEPS as f64;
        let found = format!(
            "{:.2} (quartiles {:.2} to {:.2}) on {threads} threads; a step takes {:.2} ms on one",
            times.median(threads),
            quarters[0],
            quarters[1],
            1e3 * one
        );
        let claim = format!("n = {items}, {how} ({groups} groups): at least {GAIN} on two threads");
        Claim::new(claim, found, times.median(threads) >= GAIN)
            .in_paper("speed-up almost linear up to 16 threads")
    };
    let mut claims: Vec<Claim> =
        times.iter().filter(|times| times.how == "apart").map(claim).collect();
    for pair in times.chunks(2) {
        let [apart, merged] = pair else { continue };
        let one = |times: &Times| quantile(&times.seconds[0], 0.5);
        let gain = one(apart) / one(merged);
        claims.push(Claim::new(
            format!("n = {}: merging equal votes gains more than all threads", apart.items),
            format!(
                "{gain:.1} times on one thread; {:.2} on {most} threads; merged alone {:.2}",
                apart.median(most),
                merged.median(most)
            ),
            gain > apart.median(most),
        ));
    }
    claims
}

fn data(times: &[Times]) -> Table {
    let rows = || {
        times.iter().flat_map(|times| {
            let of_threads = move |(k, seconds): (usize, &Vec<f64>)| {
                (0..seconds.len()).map(move |run| (times, k + 1, run)).collect::<Vec<_>>()
            };
            times.seconds.iter().enumerate().flat_map(of_threads)
        })
    };
    table([
        ("items", counts(rows().map(|(times, ..)| times.items as u64))),
        ("votes", texts(rows().map(|(times, ..)| times.how))),
        ("groups", counts(rows().map(|(times, ..)| times.groups as u64))),
        ("threads", counts(rows().map(|(_, threads, _)| threads as u64))),
        ("run", counts(rows().map(|(.., run)| run as u64))),
        ("seconds", numbers(rows().map(|(times, threads, run)| times.seconds[threads - 1][run]))),
        ("speedup", numbers(rows().map(|(times, threads, run)| times.speedups(threads)[run]))),
    ])
}

/// Medians as lines, quartiles as upright pieces.
fn draw(times: &[Times], items: usize) -> Chart {
    let own: Vec<&Times> = times.iter().filter(|times| times.items == items).collect();
    let most = own.first().map_or(1, |times| times.seconds.len());
    let ideal: Vec<(f64, f64)> = (1..=most).map(|n| (n as f64, n as f64)).collect();
    let mut marks = vec![line(Colour::Muted, &ideal, "linear")];
    let mut legend = vec![LegendEntry::new("linear", Colour::Muted, Sign::Line)];
    let mut words = Vec::new();
    for (k, times) in own.iter().enumerate() {
        let colour = Colour::Kind(k as u8);
        let points: Vec<_> = (1..=most).map(|n| (n as f64, times.median(n))).collect();
        marks.push(line(colour, &points, times.how));
        let quartile = |share| (1..=most).map(|n| quantile(&times.speedups(n), share)).collect();
        marks.push(Mark::Segments {
            colour,
            width: 2.0,
            arrow: false,
            x0: ideal.iter().map(|p| p.0).collect(),
            y0: quartile(0.25),
            x1: ideal.iter().map(|p| p.0).collect(),
            y1: quartile(0.75),
            hover: hodgerank_report::chart::Hover::Nothing,
        });
        legend.push(LegendEntry::new(times.how, colour, Sign::Line));
        words.push(format!("{} {:.2}", times.how, times.median(most)));
    }
    let alt = format!("Median speed-up on {most} threads: {}.", words.join(", "));
    let end = most as f64 + 0.5;
    let (x, y) = (axis("threads", 0.5, end), axis("speed-up", 0.0, end));
    let title = format!("Speed-up of parallel LBI, n = {items}");
    let mut chart = chart(&format!("speedup-n{items}"), &title, &alt, x, y, marks);
    chart.legend = legend;
    chart
}
