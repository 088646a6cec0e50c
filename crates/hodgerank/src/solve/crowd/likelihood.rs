//! How likely each behaviour of each annotator is at given scores.
//!
//! The likelihood of a behaviour is a product over the annotator's votes, each a function of
//! d = θ_left − θ_right + b alone. Votes are therefore counted by d in steps of 1/[`STEPS_PER_UNIT`], each
//! shared by the two nearest steps: the logarithms are interpolated linearly, with an error below
//! 2·10⁻⁴ per vote. A vote then costs two additions instead of one multiplication per behaviour.
//!
//! Counts are integers, so that neither the order of the votes nor the number of threads matters.

use rayon::prelude::*;

use super::behaviour::Behaviour;
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
/// Steps of d, and one that makes room for the upper neighbour of the last.
const STEPS: usize = 2 * MAX_DISTANCE * STEPS_PER_UNIT + 2;
/// A vote counts so much, in parts of the two steps around it.
const PARTS: f64 = 256.0;
/// Outcomes that are counted apart: left, right, tie.
const OUTCOMES: usize = 3;
const TIE: usize = 2;

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
    fn distance(&self, vote: &SidedVote) -> f64 {
        self.scores[vote.left as usize] - self.scores[vote.right()] + self.side_advantage
    }
}

/// The likelihoods of all blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct Likelihoods {
    /// For each block, the likelihood of each behaviour relative to the largest.
    pub(super) relative: Vec<[f32; POINTS]>,
    /// For each block, the logarithm of the largest likelihood.
    pub(super) log_largest: Vec<f64>,
    /// For each block, the logarithm of the likelihood of a careful annotator.
    pub(super) log_careful: Vec<f64>,
    /// For each block, the logarithm of the likelihood of which votes are ties.
    pub(super) log_ties: Vec<f64>,
}

/// Logarithms of the probabilities of answers at each step of d.
#[derive(Debug)]
pub(super) struct LikelihoodTable {
    /// First for answers left, then for answers right.
    rows: Vec<[f64; POINTS]>,
    points: usize,
}

fn logistic(d: f64) -> f64 {
    1.0 / (1.0 + (-d).exp())
}

/// The difference of scores at a step.
fn distance_at(step: usize) -> f64 {
    step as f64 / STEPS_PER_UNIT as f64 - MAX_DISTANCE as f64
}

impl LikelihoodTable {
    pub(super) fn new(points: &[Behaviour]) -> Self {
        let mut rows = vec![[0.0; POINTS]; 2 * STEPS];
        for step in 0..STEPS {
            let p = logistic(distance_at(step));
            for (k, point) in points.iter().enumerate() {
                let (slope, offset) = point.line();
                let left = slope * p + offset;
                rows[step][k] = left.max(MIN_PROBABILITY).ln();
                rows[STEPS + step][k] = (1.0 - left).max(MIN_PROBABILITY).ln();
            }
        }
        Self { rows, points: points.len() }
    }

    /// The likelihoods of all blocks.
    pub(super) fn evaluate(&self, blocks: &Blocks, at: &ScoreModel<'_>) -> Likelihoods {
        let ties = TieTable::new(at.tie_odds);
        let count = blocks.len();
        let mut relative = vec![[0.0; POINTS]; count];
        let mut logs = vec![BlockLogs::default(); count];
        // One histogram per task: a few large tasks, whose results do not depend on their borders.
        let per_task = count.div_ceil(8 * rayon::current_num_threads()).max(1);
        let rows = relative.par_chunks_mut(per_task).zip(logs.par_chunks_mut(per_task));
        rows.enumerate().for_each(|(task, (relative, logs))| {
            let mut histogram = Histogram::new();
            for (k, (relative, logs)) in relative.iter_mut().zip(logs).enumerate() {
                let (votes, _) = blocks.block(task * per_task + k);
                votes.iter().for_each(|vote| histogram.add(vote, at.distance(vote)));
                *logs = self.of_histogram(&mut histogram, &ties, relative);
            }
        });
        Likelihoods {
            relative,
            log_largest: logs.iter().map(|logs| logs.largest).collect(),
            log_careful: logs.iter().map(|logs| logs.careful).collect(),
            log_ties: logs.iter().map(|logs| logs.ties).collect(),
        }
    }

    /// Writes the relative likelihoods, and empties the histogram.
    fn of_histogram(
        &self,
        histogram: &mut Histogram,
        ties: &TieTable,
        out: &mut [f32; POINTS],
    ) -> BlockLogs {
        let mut logs = [0.0; POINTS];
        let mut log_ties = 0.0;
        histogram.drain(|outcome, step, votes| {
            log_ties += votes * ties.of(outcome, step);
            if outcome != TIE {
                let row = &self.rows[outcome * STEPS + step];
                logs.iter_mut().zip(row).for_each(|(log, row)| *log += votes * row);
            }
        });
        let logs = &logs[..self.points];
        let largest = logs.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        out.fill(0.0);
        for (out, log) in out.iter_mut().zip(logs) {
            *out = (log - largest).exp().max(MIN_LIKELIHOOD) as f32;
        }
        BlockLogs { largest, careful: logs[0], ties: log_ties }
    }
}

/// Logarithms of likelihoods of a block.
#[derive(Debug, Clone, Copy, Default)]
struct BlockLogs {
    largest: f64,
    careful: f64,
    ties: f64,
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

    fn of(&self, outcome: usize, step: usize) -> f64 {
        let table = if outcome == TIE { &self.tie } else { &self.none };
        table.get(step).copied().unwrap_or(0.0)
    }
}

/// Votes of an annotator by outcome and d.
struct Histogram {
    counts: Vec<u64>,
    /// One bit for each count that may not be zero: most annotators have few votes.
    used: [u64; (OUTCOMES * STEPS).div_ceil(64)],
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![0; OUTCOMES * STEPS], used: [0; (OUTCOMES * STEPS).div_ceil(64)] }
    }

    #[inline]
    fn add(&mut self, vote: &SidedVote, distance: f64) {
        const LAST: f64 = (STEPS - 2) as f64;
        let position = (distance + MAX_DISTANCE as f64) * STEPS_PER_UNIT as f64;
        let position = position.clamp(0.0, LAST);
        let step = position as usize;
        let upper = ((position - step as f64) * PARTS + 0.5) as u64;
        let count = u64::from(vote.count);
        let cell = vote.side().unwrap_or(TIE) * STEPS + step;
        self.counts[cell] += count * (PARTS as u64 - upper);
        self.counts[cell + 1] += count * upper;
        // The second bit may be in the next word.
        self.used[cell / 64] |= 1 << (cell % 64);
        self.used[(cell + 1) / 64] |= 1 << ((cell + 1) % 64);
    }

    /// Calls `visit` with each outcome, step and number of votes, and empties the histogram.
    fn drain(&mut self, mut visit: impl FnMut(usize, usize, f64)) {
        for (word, used) in self.used.iter_mut().enumerate() {
            while *used != 0 {
                let cell = 64 * word + used.trailing_zeros() as usize;
                *used &= *used - 1;
                let count = std::mem::take(&mut self.counts[cell]);
                if count > 0 {
                    visit(cell / STEPS, cell % STEPS, count as f64 / PARTS);
                }
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
    let mut total = 0.0;
    for (weight, (likelihood, share)) in weights.iter_mut().zip(likelihood.iter().zip(shares)) {
        *weight = f64::from(*likelihood) * share;
        total += *weight;
    }
    for (out, weight) in out.iter_mut().zip(&weights) {
        *out = (weight / total.max(f64::MIN_POSITIVE)) as f32;
    }
}
