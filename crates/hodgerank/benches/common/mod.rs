//! Graphs that several benchmarks use, and the memory of the process.

#![allow(dead_code, unreachable_pub, reason = "each benchmark uses its own part")]

use hodgerank::{Comparison, ComparisonGraph, Groups};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub fn graph(items: usize, votes: &[Comparison]) -> ComparisonGraph {
    let groups = Groups::merge(items, votes).expect("valid votes").groups;
    ComparisonGraph::new(items, groups).expect("valid groups")
}

/// Pixels of a smooth picture with an edge, compared with all others at most two away in each
/// direction; one difference in ten is off by ±0.5.
pub fn image(width: u32, height: u32) -> ComparisonGraph {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let grey = |x: u32, y: u32| {
        let (x, y) = (f64::from(x) / f64::from(width), f64::from(y) / f64::from(height));
        0.5 + 0.3 * (9.0 * x).sin() * (7.0 * y).cos() + if x + y > 1.0 { 0.2 } else { 0.0 }
    };
    let mut votes = Vec::new();
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        for v in y..height.min(y + 3) {
            for u in x.saturating_sub(2)..width.min(x + 3) {
                if (v, u) > (y, x) {
                    let noise: f64 = rng.random_range(-0.02..0.02);
                    let wrong = if rng.random_bool(0.1) { 0.5 } else { 0.0 };
                    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                    let flow = grey(x, y) - grey(u, v) + noise + sign * wrong;
                    votes.push(Comparison::new(y * width + x, v * width + u, flow));
                }
            }
        }
    }
    graph((width * height) as usize, &votes)
}

/// The largest resident memory of this process so far; 0 where the system does not tell.
pub fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
