//! The covariance of all scores, with exact updates for single pairs.
//!
//! S after t pairs is S₀ − UUᵀ: the pair x adds the column √(v/(1 + vC)) Sx to U (the formula of Sherman and
//! Morrison), which gives the inverse of H + v x xᵀ. Columns are subtracted from the stored matrix once there are
//! [`MAX_COLUMNS`] of them, so that a pair costs nt, and so does a row of S.

use faer::linalg::solvers::DenseSolveCore;

use super::posterior::{Posterior, dense_precision, factor};
use super::{expected_gain, vote_information};
use crate::error::Result;
use crate::predict::logistic;

/// Most columns of U.
const MAX_COLUMNS: usize = 16;

/// A posterior that pairs can be added to.
#[derive(Debug, Clone)]
pub(super) struct ExactPosterior {
    posterior: Posterior,
    /// S₀, row by row.
    covariance: Vec<f64>,
    /// The diagonal of S.
    variances: Vec<f64>,
    /// The columns of U.
    columns: Vec<Vec<f64>>,
}

impl ExactPosterior {
    pub(super) fn new(posterior: Posterior) -> Result<Self> {
        let n = posterior.items();
        let matrix = dense_precision(n, posterior.prior(), posterior.information());
        let inverse = factor(&matrix)?.inverse();
        let mut covariance = Vec::with_capacity(n * n);
        (0..n).for_each(|j| covariance.extend(inverse.col(j).iter()));
        let variances = (0..n).map(|i| inverse[(i, i)]).collect();
        Ok(Self { posterior, covariance, variances, columns: Vec::new() })
    }

    pub(super) fn items(&self) -> usize {
        self.variances.len()
    }

    pub(super) fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The covariances of an item's score with all scores.
    pub(super) fn row(&self, i: u32) -> Vec<f64> {
        let (n, i) = (self.items(), i as usize);
        let mut row = self.covariance[i * n..][..n].to_vec();
        for column in &self.columns {
            subtract(&mut row, column[i], column);
        }
        row
    }

    /// C, the variance of the difference of two scores.
    pub(super) fn variance(&self, i: u32, j: u32) -> f64 {
        let (i, j) = (i as usize, j as usize);
        let known: f64 = self.columns.iter().map(|column| column[i] * column[j]).sum();
        let covariance = self.covariance[i * self.items() + j] - known;
        (self.variances[i] + self.variances[j] - 2.0 * covariance).max(0.0)
    }

    pub(super) fn gain(&self, i: u32, j: u32) -> f64 {
        expected_gain(vote_information(self.posterior.difference(i, j)) * self.variance(i, j))
    }

    /// vC for the pairs of an item with every item: 0 with itself.
    pub(super) fn information_shares(&self, i: u32) -> Vec<f64> {
        let mut row = self.row(i);
        let own = self.variances[i as usize];
        for ((value, variance), j) in row.iter_mut().zip(&self.variances).zip(0..) {
            let information = vote_information(self.posterior.difference(i, j));
            *value = information * (own + variance - 2.0 * *value).max(0.0);
        }
        row[i as usize] = 0.0;
        row
    }

    /// The variance of each score.
    pub(super) fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The root mean square of the standard errors of the scores relative to their mean.
    pub(super) fn standard_error(&self) -> f64 {
        let n = self.items() as f64;
        let trace: f64 = self.variances.iter().sum();
        let known: f64 = self.columns.iter().map(|column| column.iter().sum::<f64>().powi(2)).sum();
        let total = self.covariance.iter().sum::<f64>() - known;
        ((trace - total / n) / n).max(0.0).sqrt()
    }

    /// Adds the information of a vote on a pair.
    pub(super) fn ask(&mut self, i: u32, j: u32) {
        let information = vote_information(self.posterior.difference(i, j));
        let scale = (information / (1.0 + information * self.variance(i, j))).sqrt();
        let column = self.difference_row(i, j, scale);
        for (variance, value) in self.variances.iter_mut().zip(&column) {
            *variance -= value * value;
        }
        self.columns.push(column);
        if self.columns.len() == MAX_COLUMNS {
            self.subtract_columns();
        }
    }

    /// Moves the means by the answer to a pair that was asked; `wins` is 1 if the first item is preferred, 0 if
    /// the second is, ½ for a tie. S has the information of the pair already, so that the shift is Sx (y − p).
    /// Returns it.
    pub(super) fn answer(&mut self, i: u32, j: u32, wins: f64) -> Vec<f64> {
        let surprise = wins - logistic(self.posterior.difference(i, j));
        let shift = self.difference_row(i, j, surprise);
        self.posterior.shift(&shift);
        shift
    }

    /// Sx times a factor.
    fn difference_row(&self, i: u32, j: u32, factor: f64) -> Vec<f64> {
        let mut difference = self.row(i);
        for (value, other) in difference.iter_mut().zip(self.row(j)) {
            *value = factor * (*value - other);
        }
        difference
    }

    fn subtract_columns(&mut self) {
        let (n, columns) = (self.items(), &self.columns);
        // On this thread: in a live study, the threads of the pool are busy with fits.
        for (i, row) in self.covariance.chunks_exact_mut(n).enumerate() {
            for column in columns {
                subtract(row, column[i], column);
            }
        }
        self.columns.clear();
        self.variances = (0..n).map(|i| self.covariance[i * n + i]).collect();
    }
}

fn subtract(row: &mut [f64], factor: f64, column: &[f64]) {
    for (entry, value) in row.iter_mut().zip(column) {
        *entry -= factor * value;
    }
}
