//! Histograms of votes, on which lapses are estimated.

use rayon::prelude::*;

use super::super::likelihood::{SidedPairs, SidedVotes};
use crate::communicator::Communicator;
use crate::graph::ComparisonGraph;

const BINS: usize = 512;
/// Entries of a list that one task counts; fixed, so that sums do not depend on the number of threads.
const ENTRIES_PER_TASK: usize = 1 << 13;

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

/// Votes by the distance of the scores of their items.
pub(super) fn distance_bins(votes: &SidedVotes<'_>, scores: &[f64]) -> Vec<Bin> {
    let has_votes = |&(_, agree, against): &(f64, f64, f64)| agree + against > 0.0;
    let largest_of = |pairs: SidedPairs<'_>| {
        let pairs = pairs.agreement(scores).filter(has_votes);
        pairs.fold(0.0, |largest: f64, (d, ..)| largest.max(d))
    };
    let largest = votes.map_chunks(largest_of).into_iter().fold(0.0, f64::max);
    let largest = votes.communicator().max_scalar(largest);
    if largest == 0.0 {
        return Vec::new();
    }
    let parts = votes.map_chunks(|pairs| count(pairs.agreement(scores), largest));
    add_up(&parts, votes.communicator())
}

/// The same for a list of distances, each with the votes that agree with the ranking and those against.
pub(super) fn listed_bins(list: &[(f64, f64, f64)], communicator: &dyn Communicator) -> Vec<Bin> {
    let largest = list.iter().fold(0.0, |largest: f64, &(d, ..)| largest.max(d));
    let largest = communicator.max_scalar(largest);
    if largest == 0.0 {
        return Vec::new();
    }
    let tasks = list.par_chunks(ENTRIES_PER_TASK);
    let parts: Vec<_> = tasks.map(|part| count(part.iter().copied(), largest)).collect();
    add_up(&parts, communicator)
}

fn count(votes: impl Iterator<Item = (f64, f64, f64)>, largest: f64) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for (d, agree, against) in votes {
        let bin = &mut bins[bin_of(d, largest)];
        bin.at += (agree + against) * d;
        bin.agree += agree;
        bin.against += against;
    }
    bins
}

fn add_up(parts: &[[Bin; BINS]], communicator: &dyn Communicator) -> Vec<Bin> {
    let mut bins = vec![Bin::default(); BINS];
    for part in parts {
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
