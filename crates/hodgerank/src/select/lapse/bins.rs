//! Histograms of votes, on which lapses are estimated.

use rayon::prelude::*;

use crate::communicator::Communicator;
use crate::graph::ComparisonGraph;

const BINS: usize = 512;
/// Distinct votes that one task counts; fixed, so that sums do not depend on the number of threads.
const GROUPS_PER_TASK: usize = 1 << 15;

/// Votes in a bin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    /// Position: the sum of distances or of squared residuals of the votes, in [`means`] their mean.
    pub(super) at: f64,
    /// Votes that agree with the ranking; all votes where outcomes are graded.
    pub(super) agree: f64,
    /// Votes against the ranking.
    pub(super) against: f64,
}

impl Bin {
    fn votes(&self) -> f64 {
        self.agree + self.against
    }
}

/// Votes by the distance of the scores of their items. Ties count half for each side.
pub(super) fn distance_bins(graph: &ComparisonGraph, scores: &[f64]) -> Vec<Bin> {
    let (groups, communicator) = (graph.groups(), graph.communicator());
    let distance = |g: usize| scores[groups.left[g] as usize] - scores[groups.right[g] as usize];
    let tasks = || (0..groups.len()).into_par_iter().step_by(GROUPS_PER_TASK);
    let range = |first: usize| first..groups.len().min(first + GROUPS_PER_TASK);
    let largest = tasks().map(|first| range(first).map(|g| distance(g).abs()).fold(0.0, f64::max));
    let largest = communicator.max_scalar(largest.reduce(|| 0.0, f64::max));
    if largest == 0.0 {
        return Vec::new();
    }
    let count = |first: usize| {
        let mut bins = [Bin::default(); BINS];
        for g in range(first) {
            let (d, weight) = (distance(g), groups.weight[g]);
            let bin = &mut bins[bin_of(d.abs(), largest)];
            bin.at += weight * d.abs();
            // Equal scores have no side.
            let agrees = match groups.y[g] * d {
                product if product > 0.0 => 1.0,
                product if product < 0.0 => 0.0,
                _ => 0.5,
            };
            bin.agree += agrees * weight;
            bin.against += (1.0 - agrees) * weight;
        }
        bins
    };
    let parts: Vec<[Bin; BINS]> = tasks().map(count).collect();
    let mut bins = vec![Bin::default(); BINS];
    for part in &parts {
        for (bin, part) in bins.iter_mut().zip(part) {
            bin.at += part.at;
            bin.agree += part.agree;
            bin.against += part.against;
        }
    }
    sum_over_processes(&mut bins, communicator);
    means(bins)
}

/// The largest |residual|, and the votes by |residual|; none if all residuals are zero.
pub(super) fn residual_bins(graph: &ComparisonGraph, scores: &[f64]) -> Option<(f64, Vec<Bin>)> {
    let (votes, communicator) = (graph.groups(), graph.communicator());
    let residual = |g: usize| votes.residual(scores, g).abs();
    let range = communicator.max_scalar((0..votes.len()).map(residual).fold(0.0, f64::max));
    if range == 0.0 {
        return None;
    }
    // Widths grow with the residual, so that small noise is resolved next to large outliers.
    let mut bins = vec![Bin::default(); BINS];
    for g in 0..votes.len() {
        let (r, w) = (residual(g), votes.weight[g]);
        let bin = &mut bins[bin_of((r / range).sqrt(), 1.0)];
        bin.at += w * r * r;
        bin.agree += w;
    }
    sum_over_processes(&mut bins, communicator);
    Some((range, bins))
}

/// The bins with votes, with means as positions instead of sums.
pub(super) fn means(mut bins: Vec<Bin>) -> Vec<Bin> {
    bins.retain(|bin| bin.votes() > 0.0);
    for bin in &mut bins {
        bin.at /= bin.votes();
    }
    bins
}

fn sum_over_processes(bins: &mut [Bin], communicator: &dyn Communicator) {
    let column = |of: fn(&Bin) -> f64| bins.iter().map(of).collect::<Vec<_>>();
    let mut sums =
        [column(|bin| bin.at), column(|bin| bin.agree), column(|bin| bin.against)].concat();
    communicator.sum(&mut sums);
    let (at, counts) = sums.split_at(bins.len());
    let (agree, against) = counts.split_at(bins.len());
    for (k, bin) in bins.iter_mut().enumerate() {
        *bin = Bin { at: at[k], agree: agree[k], against: against[k] };
    }
}

fn bin_of(x: f64, largest: f64) -> usize {
    ((x * (BINS as f64 / largest)) as usize).min(BINS - 1)
}
