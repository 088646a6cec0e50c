//! How likely each behaviour of each annotator is at given scores.
//!
//! The likelihood of a behaviour is a product over the annotator's votes, each a function of
//! d = θ_left − θ_right + b alone. Votes are therefore counted by d in steps of 1/[`STEPS_PER_UNIT`], each
//! shared by the two nearest steps: the logarithms are interpolated linearly, with an error below
//! 2·10⁻⁴ per vote. A vote then costs two additions instead of one multiplication per behaviour.
//!
//! Counts are integers, so that neither the order of the votes nor the number of threads matters.

use rayon::prelude::*;

use super::behaviour::{Behaviour, sum_of_points};
use super::blocks::{Blocks, SidedVote};

/// Room for the behaviours, a multiple of the width of a vector of processors in use.
pub(super) const POINTS: usize = 40;
/// Smallest probability of a vote: no vote excludes a behaviour on its own.
pub(super) const MIN_PROBABILITY: f64 = 1e-4;
/// Smallest likelihood of a behaviour relative to the largest: zeros would make models without the
/// best behaviour of an annotator look as good as those with it.
const MIN_LIKELIHOOD: f64 = 1e-30;

const STEPS_PER_UNIT: usize = 16;
/// Votes on items further apart count as if they were so far apart: honest answers are certain there.
const MAX_DISTANCE: usize = 10;
/// Steps of |d|, and those of d; the step of d = 0 is in the middle.
const HALF: usize = MAX_DISTANCE * STEPS_PER_UNIT + 1;
const STEPS: usize = 2 * HALF + 1;
/// A vote counts so much, in parts of the two steps around it.
const PARTS: f64 = 256.0;

/// Where likelihoods are evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreModel<'a> {
    pub(super) scores: &'a [f64],
    /// b, the advantage of the left side, in log-odds.
    pub(super) side_advantage: f64,
    /// ν, the odds of a tie between equal items against either side.
    pub(super) tie_odds: f64,
}

impl ScoreModel<'_> {
    #[inline]
    pub(super) fn distance(&self, vote: &SidedVote) -> f64 {
        self.scores[vote.left as usize] - self.scores[vote.right()] + self.side_advantage
    }
}

/// The likelihoods of all blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Likelihoods {
    /// For each block, the likelihood of each behaviour relative to the largest.
    pub(super) relative: Vec<[f32; POINTS]>,
    pub(super) logs: Vec<BlockLogs>,
}

impl Likelihoods {
    pub(super) fn resize(&mut self, blocks: usize) {
        self.relative.resize(blocks, [0.0; POINTS]);
        self.logs.resize(blocks, BlockLogs::default());
    }
}

/// Logarithms of the probabilities of answers at each step of e: the difference of the scores towards
/// the side of the answer.
#[derive(Debug)]
pub(super) struct LikelihoodTable {
    /// For each step, answers left and right.
    rows: Vec<[[f64; POINTS]; 2]>,
    /// For each step, the probability that an honest answer is the same.
    same: Vec<f64>,
    points: usize,
}

fn logistic(d: f64) -> f64 {
    1.0 / (1.0 + (-d).exp())
}

/// The difference of scores at a step.
fn distance_at(step: usize) -> f64 {
    (step as f64 - HALF as f64) / STEPS_PER_UNIT as f64
}

impl LikelihoodTable {
    pub(super) fn new(points: &[Behaviour]) -> Self {
        let mut rows = vec![[[0.0; POINTS]; 2]; STEPS];
        for (step, rows) in rows.iter_mut().enumerate() {
            let p = logistic(distance_at(step));
            for (k, point) in points.iter().enumerate() {
                let depends = (point.honest - point.contrary) * p + point.contrary;
                rows[0][k] = (depends + point.left).max(MIN_PROBABILITY).ln();
                rows[1][k] = (depends + point.right).max(MIN_PROBABILITY).ln();
            }
        }
        let same = (0..STEPS).map(|step| logistic(distance_at(step))).collect();
        Self { rows, same, points: points.len() }
    }

    /// Computes the likelihoods of all blocks but those to be skipped.
    pub(super) fn evaluate(
        &self,
        blocks: &Blocks<'_>,
        at: &ScoreModel<'_>,
        is_skipped: impl Fn(usize) -> bool + Sync,
        out: &mut Likelihoods,
    ) {
        let ties = TieTable::new(at.tie_odds);
        let count = blocks.len();
        out.resize(count);
        // One histogram per task: a few large tasks, whose results do not depend on their borders.
        let per_task = count.div_ceil(8 * rayon::current_num_threads()).max(1);
        let Likelihoods { relative, logs } = out;
        let rows = relative.par_chunks_mut(per_task).zip(logs.par_chunks_mut(per_task));
        rows.enumerate().for_each(|(task, (relative, logs))| {
            let mut histogram = Histogram::new();
            for (k, (relative, logs)) in relative.iter_mut().zip(logs).enumerate() {
                let block = task * per_task + k;
                if !is_skipped(block) {
                    let votes = blocks.block(block);
                    votes.for_each(|vote| histogram.add(&vote, at.distance(&vote)));
                    *logs = self.of_histogram(&mut histogram, &ties, relative);
                }
            }
        });
    }

    /// Writes the relative likelihoods, and empties the histogram.
    fn of_histogram(
        &self,
        histogram: &mut Histogram,
        ties: &TieTable,
        out: &mut [f32; POINTS],
    ) -> BlockLogs {
        let mut logs = [0.0; POINTS];
        let (mut log_ties, mut side_gradient, mut side_information) = (0.0, 0.0, 0.0);
        histogram.drain(|step, [left, right], tied| {
            let [left_rows, right_rows] = &self.rows[step];
            // Both sides are added up first, so that swapped sides give the same bits.
            for (log, (of_left, of_right)) in logs.iter_mut().zip(left_rows.iter().zip(right_rows))
            {
                *log += left * of_left + right * of_right;
            }
            log_ties += (left + right) * ties.none(step) + tied * ties.tie(step);
            let same = self.same[step];
            side_gradient += (left - right) * (1.0 - same);
            side_information += (left + right) * same * (1.0 - same);
        });
        let logs = BlockLogs::new(&logs[..self.points], log_ties, out);
        BlockLogs { side_gradient, side_information, ..logs }
    }
}

/// Logarithms of likelihoods of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BlockLogs {
    /// Of the most likely behaviour.
    pub(super) largest: f64,
    /// Of a careful annotator.
    pub(super) careful: f64,
    /// Of which votes are ties.
    pub(super) ties: f64,
    /// The slope of `careful` in the side advantage, and the information about it.
    pub(super) side_gradient: f64,
    pub(super) side_information: f64,
}

impl BlockLogs {
    /// From the log-likelihood of each behaviour; writes the likelihoods relative to the largest.
    pub(super) fn new(logs: &[f64], ties: f64, relative: &mut [f32; POINTS]) -> Self {
        let largest = logs.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        relative.fill(0.0);
        for (relative, log) in relative.iter_mut().zip(logs) {
            *relative = (log - largest).exp().max(MIN_LIKELIHOOD) as f32;
        }
        Self { largest, careful: logs[0], ties, ..Self::default() }
    }
}

/// Logarithms of the probabilities of a tie and of none, at each step of d; empty without ties.
struct TieTable {
    tie: Vec<f64>,
    none: Vec<f64>,
}

impl TieTable {
    fn new(tie_odds: f64) -> Self {
        if tie_odds <= 0.0 {
            return Self { tie: Vec::new(), none: Vec::new() };
        }
        let odds = |step: usize| {
            let p = logistic(distance_at(step));
            tie_odds * (p * (1.0 - p)).sqrt()
        };
        let none: Vec<f64> = (0..STEPS).map(|step| -odds(step).ln_1p()).collect();
        let tie = none.iter().enumerate().map(|(step, none)| odds(step).ln() + none).collect();
        Self { tie, none }
    }

    fn tie(&self, step: usize) -> f64 {
        self.tie.get(step).copied().unwrap_or(0.0)
    }

    fn none(&self, step: usize) -> f64 {
        self.none.get(step).copied().unwrap_or(0.0)
    }
}

/// Votes of an annotator by the step of e and by side, and ties by the step of |d|.
struct Histogram {
    /// Left, right, ties.
    counts: Vec<[u64; 4]>,
    /// One bit for each step to which votes were added: most annotators have few.
    used: [u64; STEPS.div_ceil(64)],
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![[0; 4]; STEPS], used: [0; STEPS.div_ceil(64)] }
    }

    #[inline]
    fn add(&mut self, vote: &SidedVote, distance: f64) {
        /// The largest |e| in steps: its upper neighbour still has a place.
        const LAST: f64 = (HALF - 1) as f64;
        /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits.
        const SHIFT: f64 = 6_755_399_441_055_744.0;
        let (column, towards) = match vote.side() {
            Some(0) => (0, distance),
            Some(_) => (1, -distance),
            None => (2, distance.abs()),
        };
        // Rounding is symmetric about zero, so that swapped sides have the same parts.
        let parts = (towards * STEPS_PER_UNIT as f64).clamp(-LAST, LAST) * PARTS;
        let parts = (parts + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64;
        let position = (parts + (HALF * PARTS as usize) as i64) as usize;
        let (step, upper) = (position / PARTS as usize, (position % PARTS as usize) as u64);
        let count = u64::from(vote.count);
        self.counts[step][column] += count * (PARTS as u64 - upper);
        self.counts[step + 1][column] += count * upper;
        self.used[step / 64] |= 1 << (step % 64);
    }

    /// Calls `visit` with each step, the numbers of votes for the left and the right, and of ties;
    /// empties the histogram.
    fn drain(&mut self, mut visit: impl FnMut(usize, [f64; 2], f64)) {
        // The last bit of the word below: a vote belongs to its step and the next one.
        let mut carry = 0;
        for (word, used) in self.used.iter_mut().enumerate() {
            let own = std::mem::take(used);
            let mut steps = own | own << 1 | carry;
            carry = own >> 63;
            while steps != 0 {
                let step = 64 * word + steps.trailing_zeros() as usize;
                steps &= steps - 1;
                let counts = std::mem::take(&mut self.counts[step]);
                let [left, right, ties, _] = counts.map(|count| count as f64 / PARTS);
                visit(step, [left, right], ties);
            }
        }
    }
}

/// The probability of each behaviour, from its likelihood and its share.
pub(super) fn probabilities(
    likelihood: &[f32; POINTS],
    shares: &[f64; POINTS],
    out: &mut [f32; POINTS],
) {
    let mut weights = [0.0; POINTS];
    for (weight, (likelihood, share)) in weights.iter_mut().zip(likelihood.iter().zip(shares)) {
        *weight = f64::from(*likelihood) * share;
    }
    let total = sum_of_points(&weights);
    for (out, weight) in out.iter_mut().zip(&weights) {
        *out = (weight / total.max(f64::MIN_POSITIVE)) as f32;
    }
}
