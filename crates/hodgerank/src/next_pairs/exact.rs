//! The greedy choice with the covariance of all scores.
//!
//! S after t pairs is S₀ − UUᵀ: the pair x adds the column √(v/(1 + vC)) Sx to U. Columns are subtracted from
//! the stored matrix once there are [`MAX_COLUMNS`] of them, so that a pair costs nt and a gain t.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use faer::linalg::solvers::DenseSolveCore;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::design::shuffled;
use super::focus::Relevance;
use super::posterior::{Posterior, dense_precision, factor};
use super::{Batch, expected_gain, vote_information};
use crate::error::Result;

/// Most columns of U.
const MAX_COLUMNS: usize = 64;

/// A posterior that pairs can be added to.
pub(super) struct ExactPosterior<'a> {
    posterior: &'a Posterior,
    /// S₀, row by row.
    covariance: Vec<f64>,
    /// U, row by row: [`MAX_COLUMNS`] for each item.
    rows: Vec<f64>,
    columns: usize,
}

impl<'a> ExactPosterior<'a> {
    pub(super) fn new(posterior: &'a Posterior) -> Result<Self> {
        let n = posterior.items();
        let matrix = dense_precision(n, posterior.prior(), posterior.information());
        let inverse = factor(&matrix)?.inverse();
        let mut covariance = Vec::with_capacity(n * n);
        (0..n).for_each(|j| covariance.extend(inverse.col(j).iter()));
        Ok(Self { posterior, covariance, rows: vec![0.0; n * MAX_COLUMNS], columns: 0 })
    }

    fn row(&self, i: u32) -> &[f64] {
        &self.rows[i as usize * MAX_COLUMNS..][..self.columns]
    }

    /// C, the variance of the difference of two scores.
    pub(super) fn variance(&self, i: u32, j: u32) -> f64 {
        let n = self.posterior.items();
        let entry = |i: u32, j: u32| self.covariance[i as usize * n + j as usize];
        let known = self.row(i).iter().zip(self.row(j)).map(|(a, b)| (a - b) * (a - b));
        let variance = entry(i, i) + entry(j, j) - 2.0 * entry(i, j) - known.sum::<f64>();
        variance.max(0.0)
    }

    pub(super) fn gain(&self, i: u32, j: u32) -> f64 {
        expected_gain(self.posterior.difference(i, j), self.variance(i, j))
    }

    /// The variance of each score.
    pub(super) fn variances(&self) -> Vec<f64> {
        let n = self.posterior.items();
        let of = |i: usize| {
            let known: f64 = self.row(i as u32).iter().map(|a| a * a).sum();
            self.covariance[i * n + i] - known
        };
        (0..n).map(of).collect()
    }

    /// The root mean square of the standard errors of the scores relative to their mean.
    pub(super) fn standard_error(&self) -> f64 {
        let n = self.posterior.items();
        let trace: f64 = self.variances().iter().sum();
        let column = |k: usize| -> f64 { (0..n).map(|i| self.rows[i * MAX_COLUMNS + k]).sum() };
        let known: f64 = (0..self.columns).map(|k| column(k).powi(2)).sum();
        let total = self.covariance.iter().sum::<f64>() - known;
        ((trace - total / n as f64) / n as f64).max(0.0).sqrt()
    }

    /// Adds the information of a vote on a pair.
    pub(super) fn ask(&mut self, i: u32, j: u32) {
        let n = self.posterior.items();
        let information = vote_information(self.posterior.difference(i, j));
        let scale = (information / (1.0 + information * self.variance(i, j))).sqrt();
        let known: Vec<f64> = self.row(i).iter().zip(self.row(j)).map(|(a, b)| a - b).collect();
        let column = |k: usize| {
            let row = &self.covariance[k * n..][..n];
            let own = self.row(k as u32).iter().zip(&known).map(|(a, b)| a * b);
            scale * (row[i as usize] - row[j as usize] - own.sum::<f64>())
        };
        let column: Vec<f64> = (0..n).map(column).collect();
        for (k, value) in column.into_iter().enumerate() {
            self.rows[k * MAX_COLUMNS + self.columns] = value;
        }
        self.columns += 1;
        if self.columns == MAX_COLUMNS {
            self.subtract_columns();
        }
    }

    fn subtract_columns(&mut self) {
        let n = self.posterior.items();
        let rows = &self.rows;
        self.covariance.par_chunks_exact_mut(n).enumerate().for_each(|(i, entries)| {
            let own = &rows[i * MAX_COLUMNS..][..MAX_COLUMNS];
            for (entry, other) in entries.iter_mut().zip(rows.chunks_exact(MAX_COLUMNS)) {
                *entry -= own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            }
        });
        self.columns = 0;
    }
}

/// A pair with the gain that it had when it was last evaluated, which is no less than it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    gain: f64,
    /// Indices into a random order of the items, so that equal gains are in random order too.
    first: u32,
    second: u32,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let places = |pair: &Self| (pair.first, pair.second);
        self.gain.total_cmp(&other.gain).then_with(|| places(other).cmp(&places(self)))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Adds the most informative pairs to a batch, one after the other.
pub(super) fn choose(
    exact: &mut ExactPosterior<'_>,
    relevance: &Relevance,
    batch: &mut Batch<'_>,
    rng: &mut ChaCha8Rng,
) {
    let order = shuffled(exact.posterior.items(), rng);
    let worth = |exact: &ExactPosterior<'_>, first: u32, second: u32| {
        let (i, j) = (order[first as usize], order[second as usize]);
        relevance.of(i, j) * exact.gain(i, j)
    };
    let n = order.len() as u32;
    let candidates: Vec<Candidate> = (0..n)
        .into_par_iter()
        .flat_map_iter(|first| (first + 1..n).map(move |second| (first, second)))
        .map(|(first, second)| Candidate { gain: worth(exact, first, second), first, second })
        .collect();
    let mut queue = BinaryHeap::from(candidates);
    while !batch.is_full() {
        let Some(old) = queue.pop() else { break };
        let Candidate { first, second, .. } = old;
        let now = Candidate { gain: worth(exact, first, second), ..old };
        if queue.peek().is_some_and(|next| *next > now) {
            queue.push(now);
            continue;
        }
        let (i, j) = (order[first as usize], order[second as usize]);
        // A pair that nobody can be asked leaves the queue.
        if batch.offer(i, j, exact.gain(i, j), rng) {
            exact.ask(i, j);
            queue.push(Candidate { gain: worth(exact, first, second), ..old });
        }
    }
}
