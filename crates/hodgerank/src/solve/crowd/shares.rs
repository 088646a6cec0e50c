//! The share of each behaviour in the crowd, by EM with the scores fixed.

use rayon::prelude::*;

use super::behaviour::{Behaviour, PointGroup, SIDED_POINTS, SYMMETRIC_POINTS, sum_of_points};
use super::likelihood::{Likelihoods, POINTS, probabilities};
use crate::communicator::Communicator;
use crate::numeric::sum_tasks;

/// Blocks per task; fixed, so that sums do not depend on the number of threads.
const BLOCKS_PER_TASK: usize = 1 << 10;

/// Pseudo-counts of annotators: of careful ones, and of each other group of points.
const CAREFUL_COUNT: f64 = 2.5;
const OTHER_COUNT: f64 = 0.5;
/// Most steps of EM after a pass, and to compare models.
const STEPS: usize = 30;
const STEPS_TO_COMPARE: usize = 60;
/// Steps after which EM checks whether a model can still be as good as another.
const STEPS_TO_CHECK: [usize; 4] = [2, 6, 15, 30];
/// Gain of the log-likelihood in a step at which EM stops: that of all further steps is far below
/// [`MIN_GAIN`].
const STEP_GAIN: f64 = 1e-3;
/// To compare models, pseudo-counts are multiplied by this.
const COUNTS_TO_COMPARE: f64 = 1e-3;
/// A group of points stays if the log-likelihood would fall by at least this without it.
const MIN_GAIN: f64 = 2.0;
/// The share of careful annotators at the start.
const FIRST_CAREFUL: f64 = 0.7;
/// Likelihoods that are smaller relative to the largest of their annotator do not count in EM: shares are
/// never so different.
const MIN_RELATIVE: f32 = 1e-16;
/// The share of a behaviour that is not part of the model.
const NO_SHARE: f64 = 1e-300;

/// The likelihoods of a crowd, and what they are weighed with.
#[derive(Clone, Copy)]
pub(super) struct Evidence<'a> {
    pub(super) likelihoods: &'a Likelihoods,
    /// How much each block counts.
    pub(super) weights: &'a [f64],
    /// Blocks from here on are those of unknown people.
    pub(super) annotators: usize,
    pub(super) points: &'a [Behaviour],
    pub(super) communicator: &'a dyn Communicator,
}

impl Evidence<'_> {
    /// Σ over the blocks of all processes.
    fn sum<const K: usize>(&self, add: impl Fn(usize, &mut [f64; K]) + Sync) -> [f64; K] {
        let tasks = self.likelihoods.relative.par_chunks(BLOCKS_PER_TASK).enumerate();
        let mut sums = sum_tasks(tasks, |(task, rows)| {
            let mut sums = [0.0; K];
            (0..rows.len()).for_each(|k| add(task * BLOCKS_PER_TASK + k, &mut sums));
            sums
        });
        self.communicator.sum(&mut sums);
        sums
    }
}

/// Shares of the behaviours.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    pub(super) of: [f64; POINTS],
    /// Whether each behaviour is part of the model.
    pub(super) is_in: [bool; POINTS],
}

/// A crowd of which nothing is known yet, without small lapses: they enter the model when behaviours are
/// selected. With them, hardly anybody would be certainly careful before that.
pub(super) fn first(points: &[Behaviour]) -> Shares {
    let (mut of, mut is_in) = ([0.0; POINTS], [false; POINTS]);
    for (k, point) in points.iter().enumerate() {
        is_in[k] = point.group != PointGroup::Lapse;
        let others = (1.0 - FIRST_CAREFUL) / (points.len() - 1) as f64;
        of[k] = if k == 0 { FIRST_CAREFUL } else { others };
    }
    let mut shares = Shares { of, is_in };
    shares.normalise();
    shares
}

impl Shares {
    /// The shares among annotators, and among unknown people, who are at worst careless.
    fn tables(&self, points: &[Behaviour]) -> [[f64; POINTS]; 2] {
        let mut tables = [[0.0; POINTS]; 2];
        for (k, point) in points.iter().enumerate().filter(|&(k, _)| self.is_in[k]) {
            tables[0][k] = self.of[k].max(NO_SHARE);
            tables[1][k] = if is_for_unknown(point) { tables[0][k] } else { 0.0 };
        }
        tables
    }

    /// The probability of each behaviour of each block.
    pub(super) fn responsibilities(&self, evidence: &Evidence<'_>) -> Vec<[f32; POINTS]> {
        let tables = self.tables(evidence.points);
        let rows = evidence.likelihoods.relative.par_iter().zip(evidence.weights).enumerate();
        rows.map(|(block, (likelihood, &weight))| {
            let mut row = [0.0; POINTS];
            let table = &tables[usize::from(block >= evidence.annotators)];
            probabilities(likelihood, table, &mut row);
            if weight != 1.0 {
                row.iter_mut().for_each(|r| *r *= weight as f32);
            }
            row
        })
        .collect()
    }

    /// The log-likelihood of the answers of each block.
    pub(super) fn log_likelihoods(&self, evidence: &Evidence<'_>) -> Vec<f64> {
        let tables = self.tables(evidence.points);
        let of = |block: usize| {
            let table = &tables[usize::from(block >= evidence.annotators)];
            block_value(evidence.likelihoods, table, block)
        };
        (0..evidence.weights.len()).map(of).collect()
    }

    /// The log-likelihood of the answers of all annotators, weighed.
    pub(super) fn value(&self, evidence: &Evidence<'_>) -> f64 {
        let tables = self.tables(evidence.points);
        let [value] = evidence.sum(|block, sums: &mut [f64; 1]| {
            let table = &tables[usize::from(block >= evidence.annotators)];
            sums[0] += evidence.weights[block] * block_value(evidence.likelihoods, table, block);
        });
        value
    }

    /// The logarithm of the density of these shares before any vote, up to a constant.
    pub(super) fn log_prior(&self, points: &[Behaviour]) -> f64 {
        let counts = pseudo_counts(points, 1.0);
        let of =
            |k: usize| if self.is_in[k] { counts[k] * self.of[k].max(NO_SHARE).ln() } else { 0.0 };
        sum_of_points(&std::array::from_fn::<f64, POINTS, _>(of))
    }

    /// Steps of EM until they gain next to nothing, or the log-likelihood cannot rise above `wanted` any more.
    fn improved(
        &self,
        evidence: &Evidence<'_>,
        count_factor: f64,
        max_steps: usize,
        wanted: f64,
    ) -> Self {
        let counts = pseudo_counts(evidence.points, count_factor);
        let rows = LikelyRows::of(evidence, &self.is_in);
        let mut shares = self.clone();
        for step in 0..max_steps {
            let table = shares.tables(evidence.points)[0];
            let sums = rows.sum(&table, evidence.communicator);
            if wanted > f64::NEG_INFINITY && STEPS_TO_CHECK.contains(&step) {
                // The log-likelihood is concave: it rises by less than its largest slope.
                let slope = |k: usize| if shares.is_in[k] { sums[k] / table[k] } else { 0.0 };
                let largest = (0..POINTS).map(slope).fold(0.0, f64::max);
                let rise = largest - sum_of_points(&sums);
                if shares.value(evidence) + rise < wanted {
                    break;
                }
            }
            let with_prior = |k: usize| if shares.is_in[k] { counts[k] + sums[k] } else { 0.0 };
            let before = shares.of;
            shares.of = std::array::from_fn(with_prior);
            let all = sum_of_points(&shares.of);
            shares.of.iter_mut().for_each(|share| *share /= all);
            // The log-likelihood rises by at least so much.
            let divergence = |k: usize| match shares.of[k] > 0.0 && before[k] > 0.0 {
                true => shares.of[k] * (shares.of[k] / before[k]).ln(),
                false => 0.0,
            };
            if all * sum_of_points(&std::array::from_fn::<f64, POINTS, _>(divergence)) < STEP_GAIN {
                break;
            }
        }
        shares
    }

    /// The shares at these likelihoods.
    pub(super) fn after(&self, evidence: &Evidence<'_>) -> Self {
        self.improved(evidence, 1.0, STEPS, f64::NEG_INFINITY)
    }

    /// The log-likelihood with these behaviours and their best shares; some smaller number if it is below
    /// `wanted`.
    fn best_value(&self, evidence: &Evidence<'_>, wanted: f64) -> f64 {
        self.improved(evidence, COUNTS_TO_COMPARE, STEPS_TO_COMPARE, wanted).value(evidence)
    }

    /// The shares of the behaviours that the votes speak for, of all that there are.
    pub(super) fn selected(&self, evidence: &Evidence<'_>) -> Self {
        let mut selected = self.clone();
        let all = (1.0 - FIRST_CAREFUL) / (evidence.points.len() - 1) as f64;
        for k in 0..evidence.points.len() {
            selected.of[k] = if self.is_in[k] { self.of[k] } else { all };
            selected.is_in[k] = true;
        }
        selected.normalise();
        selected.remove_unsupported(evidence);
        selected
    }

    /// Removes the groups of points that the votes do not speak for.
    fn remove_unsupported(&mut self, evidence: &Evidence<'_>) {
        let mut value = self.best_value(evidence, f64::NEG_INFINITY);
        // Of groups that are tried together the least supported one leaves first, so that it does not
        // matter which side is called left.
        for groups in [
            &[PointGroup::Contrary][..],
            &[PointGroup::Left, PointGroup::Right],
            &[PointGroup::Coin],
            &[PointGroup::Careless],
            &[PointGroup::Lapse],
        ] {
            while let Some((without, rest)) =
                self.without_weakest(groups, evidence, value - MIN_GAIN)
                && value - rest < MIN_GAIN
            {
                (*self, value) = (without, rest);
            }
        }
    }

    /// These shares without the group that is supported least, and the log-likelihood without it; none
    /// if the model has none of the groups. A log-likelihood below `wanted` may be too small.
    fn without_weakest(
        &self,
        groups: &[PointGroup],
        evidence: &Evidence<'_>,
        wanted: f64,
    ) -> Option<(Self, f64)> {
        let without = |group: &PointGroup| {
            let mut without = self.clone();
            for (k, point) in evidence.points.iter().enumerate() {
                without.is_in[k] &= point.group != *group;
            }
            (without.is_in != self.is_in).then(|| {
                without.normalise();
                let value = without.best_value(evidence, wanted);
                (without, value)
            })
        };
        groups.iter().filter_map(without).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn normalise(&mut self) {
        self.of = std::array::from_fn(|k| if self.is_in[k] { self.of[k] } else { 0.0 });
        let total = sum_of_points(&self.of);
        self.of.iter_mut().for_each(|share| *share /= total);
    }
}

/// The likelihoods of annotators without those that are far too small to count: a step of EM visits a few
/// behaviours per annotator.
struct LikelyRows {
    tasks: Vec<LikelyTask>,
}

/// The likely behaviours of [`BLOCKS_PER_TASK`] annotators.
#[derive(Default)]
struct LikelyTask {
    /// The end of each row in `entries`, and its weight.
    rows: Vec<(u32, f64)>,
    entries: Vec<(u8, f32)>,
}

impl LikelyRows {
    /// Of the behaviours that are part of a model.
    fn of(evidence: &Evidence<'_>, is_in: &[bool; POINTS]) -> Self {
        let known = &evidence.likelihoods.relative[..evidence.annotators];
        let task = |(task, rows): (usize, &[[f32; POINTS]])| {
            let mut own = LikelyTask::default();
            let weights = &evidence.weights[task * BLOCKS_PER_TASK..];
            for (row, &weight) in rows.iter().zip(weights) {
                let in_model = || row.iter().enumerate().filter(|&(k, _)| is_in[k]);
                let largest = in_model().fold(0.0_f32, |a, (_, &b)| a.max(b));
                let likely = in_model().filter(|(_, own)| **own > MIN_RELATIVE * largest);
                own.entries.extend(likely.map(|(k, &own)| (k as u8, own)));
                own.rows.push((own.entries.len() as u32, weight));
            }
            own
        };
        let tasks = known.par_chunks(BLOCKS_PER_TASK).enumerate().map(task);
        Self { tasks: tasks.collect() }
    }

    /// Σ over the annotators of all processes of the probabilities of their behaviours, weighed.
    fn sum(&self, shares: &[f64; POINTS], communicator: &dyn Communicator) -> [f64; POINTS] {
        let mut sums = sum_tasks(self.tasks.par_iter(), |task| {
            let mut sums = [0.0; POINTS];
            let mut start = 0;
            for &(end, weight) in &task.rows {
                let row = &task.entries[start..end as usize];
                start = end as usize;
                let own = |&(k, likelihood): &(u8, f32)| shares[k as usize] * f64::from(likelihood);
                // As in `sum_of_points`.
                let mut parts = [0.0; 3];
                row.iter().for_each(|entry| parts[part_of_point(entry.0)] += own(entry));
                let total = parts[0] + (parts[1] + parts[2]);
                if total > 0.0 {
                    let factor = weight / total;
                    row.iter().for_each(|entry| sums[entry.0 as usize] += factor * own(entry));
                }
            }
            sums
        });
        communicator.sum(&mut sums);
        sums
    }
}

/// 0 for points that treat both sides alike, 1 and 2 for those of the left and the right.
#[inline]
fn part_of_point(point: u8) -> usize {
    let point = usize::from(point);
    usize::from(point >= SYMMETRIC_POINTS) + usize::from(point >= SYMMETRIC_POINTS + SIDED_POINTS)
}

/// log Σ_k π_k P(answers given behaviour k).
fn block_value(likelihoods: &Likelihoods, shares: &[f64; POINTS], block: usize) -> f64 {
    let likelihood = &likelihoods.relative[block];
    let weights: [f64; POINTS] = std::array::from_fn(|k| f64::from(likelihood[k]) * shares[k]);
    let total = sum_of_points(&weights);
    likelihoods.logs[block].largest + total.max(f64::MIN_POSITIVE).ln()
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
