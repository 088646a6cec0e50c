//! The share of each behaviour in the crowd, by EM with the scores fixed.

use rayon::prelude::*;

use super::behaviour::{Behaviour, PointGroup};
use super::sweep::{POINTS, Sweep};
use crate::numeric::sum_tasks;

/// Blocks per task; fixed, so that sums do not depend on the number of threads.
const BLOCKS_PER_TASK: usize = 1 << 10;

/// Pseudo-counts of annotators: of careful ones, and of each other group of points.
const CAREFUL_COUNT: f64 = 2.5;
const OTHER_COUNT: f64 = 0.5;
/// Steps of EM after a pass, and to compare models.
const STEPS: usize = 30;
const STEPS_TO_COMPARE: usize = 60;
/// To compare models, pseudo-counts are multiplied by this.
const COUNTS_TO_COMPARE: f64 = 1e-3;
/// A group of points stays if the log-likelihood would fall by at least this without it.
const MIN_GAIN: f64 = 2.0;
/// The share of careful annotators at the start.
const FIRST_CAREFUL: f64 = 0.7;
/// The share of a behaviour that is not part of the model.
const NO_SHARE: f64 = 1e-300;

/// Shares of the behaviours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    pub(super) of: [f64; POINTS],
    /// Whether each behaviour is part of the model.
    pub(super) is_in: [bool; POINTS],
}

/// A crowd of which nothing is known yet.
pub(super) fn first(points: &[Behaviour]) -> Shares {
    let (mut of, mut is_in) = ([0.0; POINTS], [false; POINTS]);
    for k in 0..points.len() {
        is_in[k] = true;
        let others = (1.0 - FIRST_CAREFUL) / (points.len() - 1) as f64;
        of[k] = if k == 0 { FIRST_CAREFUL } else { others };
    }
    Shares { of, is_in }
}

impl Shares {
    /// Logarithms for annotators, and for unknown people, who are at worst careless.
    pub(super) fn logarithms(&self, points: &[Behaviour]) -> [[f64; POINTS]; 2] {
        let mut logs = [[f64::NEG_INFINITY; POINTS]; 2];
        for (k, point) in points.iter().enumerate() {
            if self.is_in[k] {
                logs[0][k] = self.of[k].max(NO_SHARE).ln();
            }
            if self.is_in[k] && is_for_unknown(point) {
                logs[1][k] = logs[0][k];
            }
        }
        logs
    }

    /// Some steps of EM. Returns the shares and the log-likelihood at the last but one.
    fn improved(
        &self,
        sweep: &Sweep,
        points: &[Behaviour],
        annotators: usize,
        (count_factor, steps): (f64, usize),
    ) -> (Self, f64) {
        let counts = pseudo_counts(points, count_factor);
        let mut shares = self.clone();
        let mut value = 0.0;
        for _ in 0..steps {
            let tasks = sweep.likelihood.par_chunks(BLOCKS_PER_TASK).enumerate();
            // The last sum is that of the log-likelihood.
            let sums: [f64; POINTS + 1] = sum_tasks(tasks, |(task, rows)| {
                let mut sums = [0.0; POINTS + 1];
                for (k, likelihood) in rows.iter().enumerate() {
                    let block = task * BLOCKS_PER_TASK + k;
                    shares.add_block(points, likelihood, block >= annotators, &mut sums);
                    sums[POINTS] += sweep.log_largest[block];
                }
                sums
            });
            value = sums[POINTS];
            let sums: [f64; POINTS] = std::array::from_fn(|k| counts[k] + sums[k]);
            let all: f64 = (0..points.len()).filter(|&k| shares.is_in[k]).map(|k| sums[k]).sum();
            for (k, sum) in sums.iter().enumerate().take(points.len()) {
                shares.of[k] = if shares.is_in[k] { sum / all } else { 0.0 };
            }
        }
        (shares, value)
    }

    /// Adds the probabilities of a block's behaviours, and the logarithm of its relative likelihood.
    fn add_block(
        &self,
        points: &[Behaviour],
        likelihood: &[f32; POINTS],
        is_unknown: bool,
        sums: &mut [f64; POINTS + 1],
    ) {
        let mut weights = [0.0; POINTS];
        let mut total = 0.0;
        for (k, point) in points.iter().enumerate() {
            if self.is_in[k] && (!is_unknown || is_for_unknown(point)) {
                weights[k] = self.of[k] * f64::from(likelihood[k]);
                total += weights[k];
            }
        }
        if total > 0.0 {
            let one = if is_unknown { 0.0 } else { 1.0 / total };
            sums.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum += one * weight);
            sums[POINTS] += total.ln();
        }
    }

    /// The shares after a pass, and the log-likelihood.
    pub(super) fn after(
        &self,
        sweep: &Sweep,
        points: &[Behaviour],
        annotators: usize,
    ) -> (Self, f64) {
        self.improved(sweep, points, annotators, (1.0, STEPS))
    }

    /// The log-likelihood with these behaviours and their best shares.
    pub(super) fn best_value(&self, sweep: &Sweep, points: &[Behaviour], annotators: usize) -> f64 {
        self.improved(sweep, points, annotators, (COUNTS_TO_COMPARE, STEPS_TO_COMPARE)).1
    }

    /// Removes the groups of points that the votes do not speak for. Returns whether there were any.
    pub(super) fn remove_unsupported(
        &mut self,
        sweep: &Sweep,
        points: &[Behaviour],
        annotators: usize,
    ) -> bool {
        let mut value = self.best_value(sweep, points, annotators);
        let mut has_removed = false;
        for group in [
            PointGroup::Contrary,
            PointGroup::Left,
            PointGroup::Right,
            PointGroup::Coin,
            PointGroup::Careless,
            PointGroup::Lapse,
        ] {
            let mut without = self.clone();
            for (k, point) in points.iter().enumerate() {
                without.is_in[k] &= point.group != group;
            }
            if without.is_in == self.is_in {
                continue;
            }
            without.normalise();
            let rest = without.best_value(sweep, points, annotators);
            if value - rest < MIN_GAIN {
                (*self, value, has_removed) = (without, rest, true);
            }
        }
        has_removed
    }

    fn normalise(&mut self) {
        let total: f64 = (0..POINTS).filter(|&k| self.is_in[k]).map(|k| self.of[k]).sum();
        for k in 0..POINTS {
            self.of[k] = if self.is_in[k] { self.of[k] / total } else { 0.0 };
        }
    }
}

fn is_for_unknown(point: &Behaviour) -> bool {
    matches!(point.group, PointGroup::Careful | PointGroup::Lapse | PointGroup::Careless)
}

fn pseudo_counts(points: &[Behaviour], factor: f64) -> [f64; POINTS] {
    let mut counts = [0.0; POINTS];
    for (k, point) in points.iter().enumerate() {
        let of_group = points.iter().filter(|other| other.group == point.group).count() as f64;
        let is_careful = point.group == PointGroup::Careful;
        counts[k] = factor * if is_careful { CAREFUL_COUNT } else { OTHER_COUNT } / of_group;
    }
    counts
}
