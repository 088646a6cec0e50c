//! Experiment IV: speed-up of Algorithm 4 (parallel LBI).
//!
//! SN = 10n² votes, 20% reversed. The paper does not merge equal votes; here they are merged into
//! distinct votes, which is exact and needs a tenth of the work. Both are measured: `apart` as in the
//! paper, `merged` as users run it.
//!
//! | paper | here |
//! |---|---|
//! | n = 1000 and 2000, 20 runs, 1 to 16 threads | the same on 1 thread, 2, … all; small: n = 300, 5 runs |
//! | iterations: not given | [`STEPS`] steps, times without the set-up |
//!
//! T(N) is the time of the steps alone: that of a path of 1 + [`STEPS`] steps minus that of one step,
//! which has the same set-up (least squares, the largest eigenvalue). Votes are counted while they
//! are drawn and expanded at the end, which needs 40 bytes per vote: 1.6 GB for n = 2000.
//!
//! Times on a busy machine are unreliable; the quartiles show it.

use std::time::Instant;

use hodgerank::path::StopAt;
use hodgerank::simulate::{SimulateOptions, Simulation};
use hodgerank::solve::bregman::{self, Algorithm, BregmanOptions};
use hodgerank::{ComparisonGraph, Groups, Tally};
use hodgerank_io::write::Table;
use hodgerank_report::chart::{Chart, Colour, LegendEntry, Mark, Sign};

use crate::charts::{axis, chart, line};
use crate::columns::{counts, numbers, table, texts};
use crate::error::Result;
use crate::findings::{Claim, Findings};
use crate::progress::{ProgressCallback, StepCounter};
use crate::settings::Settings;
use crate::statistics::quantile;

/// Steps that are timed.
pub const STEPS: usize = 40;
const FLIPS: f64 = 0.2;
/// Minimum speed-up of two threads over one if votes are not merged.
const MIN_SPEEDUP: f64 = 1.8;

/// Times for one size, with or without merging.
struct Times {
    items: usize,
    /// `apart` or `merged`.
    how: &'static str,
    groups: usize,
    /// Seconds of each run, for 1, 2, … threads.
    seconds: Vec<Vec<f64>>,
}

impl Times {
    /// Returns the speed-up of each run: the median time of one thread divided by the run's time.
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
pub fn run(settings: &Settings, progress: &ProgressCallback<'_>) -> Result<Findings> {
    let (sizes, runs): (&[usize], usize) =
        if settings.full { (&[1000, 2000], 20) } else { (&[300], 5) };
    let max_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let pools: Vec<rayon::ThreadPool> = (1..=max_threads)
        .map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build())
        .collect::<std::result::Result<_, _>>()?;
    let steps = StepCounter::new(sizes.len() * 2 * runs, progress);
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
             {runs} runs, 1 to {max_threads} threads"
        ),
        claims: claims(&times, max_threads),
        tables: vec![("speedup".to_owned(), data(&times))],
        charts: sizes.iter().map(|&items| draw(&times, items)).collect(),
    })
}

/// Simulates 10n² votes and merges them.
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
    steps: &StepCounter<'_>,
) -> Result<Times> {
    let mut seconds = vec![Vec::new(); pools.len()];
    for _ in 0..runs {
        // Thread counts alternate, so that a busy period affects all of them.
        for (pool, seconds) in pools.iter().zip(&mut seconds) {
            let set_up = pool.install(|| seconds_of(graph, 1))?;
            let whole = pool.install(|| seconds_of(graph, 1 + STEPS))?;
            seconds.push((whole - set_up).max(f64::MIN_POSITIVE));
        }
        steps.advance();
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

fn claims(times: &[Times], max_threads: usize) -> Vec<Claim> {
    let claim = |times: &Times| {
        let Times { items, how, groups, .. } = times;
        let threads = max_threads.min(2);
        let quartiles = [0.25, 0.75].map(|share| quantile(&times.speedups(threads), share));
        let one = quantile(&times.seconds[0], 0.5) / STEPS as f64;
        let found = format!(
            "{:.2} (quartiles {:.2} to {:.2}) on {threads} threads; a step takes {:.2} ms on one",
            times.median(threads),
            quartiles[0],
            quartiles[1],
            1e3 * one
        );
        let claim = format!(
            "n = {items}, {how} ({groups} distinct votes): speed-up of at least {MIN_SPEEDUP} on two \
             threads"
        );
        Claim::new(claim, found, times.median(threads) >= MIN_SPEEDUP)
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
                "merging gains {gain:.1}; {max_threads} threads gain {:.2}, or {:.2} if merged",
                apart.median(max_threads),
                merged.median(max_threads)
            ),
            gain > apart.median(max_threads),
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

/// Plots medians as lines and quartiles as vertical segments.
fn draw(times: &[Times], items: usize) -> Chart {
    let own: Vec<&Times> = times.iter().filter(|times| times.items == items).collect();
    let max_threads = own.first().map_or(1, |times| times.seconds.len());
    let ideal: Vec<(f64, f64)> = (1..=max_threads).map(|n| (n as f64, n as f64)).collect();
    let mut marks = vec![line(Colour::Muted, &ideal, "linear")];
    let mut legend = vec![LegendEntry::new("linear", Colour::Muted, Sign::Line)];
    let mut words = Vec::new();
    for (k, times) in own.iter().enumerate() {
        let colour = Colour::Kind(k as u8);
        let points: Vec<_> = (1..=max_threads).map(|n| (n as f64, times.median(n))).collect();
        marks.push(line(colour, &points, times.how));
        let quartile =
            |share| (1..=max_threads).map(|n| quantile(&times.speedups(n), share)).collect();
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
        words.push(format!("{} {:.2}", times.how, times.median(max_threads)));
    }
    let alt = format!("Median speed-up on {max_threads} threads: {}.", words.join(", "));
    let end = max_threads as f64 + 0.5;
    let (x, y) = (axis("threads", 0.5, end), axis("speed-up", 0.0, end));
    let title = format!("Speed-up of parallel LBI, n = {items}");
    let mut chart = chart(&format!("speedup-n{items}"), &title, &alt, x, y, marks);
    chart.legend = legend;
    chart
}
