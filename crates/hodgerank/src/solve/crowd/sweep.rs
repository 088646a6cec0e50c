//! One pass over all votes: how likely each behaviour of each annotator is, and the slopes of the
//! likelihood in the scores.
//!
//! An annotator's votes are read twice while they are in the cache: first for the likelihood of each
//! behaviour, a product over the votes, then for the slopes, with the behaviours weighted by their
//! probabilities. Exponentials are taken once per item, logarithms once per [`VOTES_PER_LOG`] votes.
//!
//! Sums over items are in fixed-point integers: they are exact, so that the result is the same for
//! any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::behaviour::Behaviour;
use super::blocks::{Blocks, SidedVote};

/// Room for the behaviours, a multiple of the width of a vector of processors in use.
pub(super) const POINTS: usize = 40;

/// Smallest probability of a vote: no vote excludes a behaviour on its own.
const MIN_PROBABILITY: f64 = 1e-4;
/// Products of so many probabilities do not underflow in an `f32`, and of so many times more in an
/// `f64`.
const VOTES_PER_PRODUCT: usize = 8;
const VOTES_PER_LOG: usize = 64;
/// Behaviours that are less probable than this do not count in the slopes.
const MIN_RESPONSIBILITY: f64 = 1e-4;
/// Smallest likelihood of a behaviour relative to the largest: zeros would make models without the
/// best behaviour of an annotator look as good as those with it.
const MIN_LIKELIHOOD: f64 = 1e-30;
/// Smallest variance of a vote to divide by.
const MIN_VARIANCE: f64 = 1e-12;
/// The unit of fixed-point sums: 2³² per vote, so that 2³¹ votes fit.
const UNIT: f64 = 4_294_967_296.0;
/// Tasks per thread, for balance.
const TASKS_PER_THREAD: usize = 4;
/// With more items, one task per thread: each has sums for all items.
const MANY_ITEMS: usize = 100_000;

/// What a pass needs besides the votes.
#[derive(Debug, Clone)]
pub(super) struct SweepModel {
    /// slope and offset of P(the outcome) in p, for votes for the left and for the right.
    slope: [[f64; POINTS]; 2],
    offset: [[f64; POINTS]; 2],
    short_slope: [[f32; POINTS]; 2],
    short_offset: [[f32; POINTS]; 2],
    honest: [f64; POINTS],
    contrary: [f64; POINTS],
    points: usize,
}

impl SweepModel {
    pub(super) fn new(points: &[Behaviour]) -> Self {
        let mut model = Self {
            slope: [[0.0; POINTS]; 2],
            offset: [[0.5; POINTS]; 2],
            short_slope: [[0.0; POINTS]; 2],
            short_offset: [[0.5; POINTS]; 2],
            honest: [0.0; POINTS],
            contrary: [0.0; POINTS],
            points: points.len(),
        };
        for (k, point) in points.iter().enumerate() {
            let (slope, offset) = point.line();
            (model.slope[0][k], model.offset[0][k]) = (slope, offset);
            (model.slope[1][k], model.offset[1][k]) = (-slope, 1.0 - offset);
            (model.honest[k], model.contrary[k]) = (point.honest, point.contrary);
        }
        model.short_slope = model.slope.map(|side| side.map(|x| x as f32));
        model.short_offset = model.offset.map(|side| side.map(|x| x as f32));
        model
    }
}

/// Where a pass is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweepPoint<'a> {
    /// The scores; the exponentials of half of them must be finite.
    pub(super) scores: &'a [f64],
    /// The advantage of the left side, in log-odds.
    pub(super) side_advantage: f64,
    /// The odds of a tie.
    pub(super) tie_odds: f64,
    /// The logarithm of the share of each behaviour, for annotators and for unknown people.
    pub(super) log_shares: [&'a [f64; POINTS]; 2],
    /// Whether the likelihoods of the behaviours are needed.
    pub(super) needs_likelihood: bool,
}

/// Sums over the votes of an item.
#[derive(Debug, Clone, Copy, Default)]
struct ItemSums {
    gradient: i64,
    information: i64,
    variance: i64,
}

/// The result of a pass.
#[derive(Debug, Clone)]
pub(super) struct Sweep {
    /// ∂/∂θ of the log-likelihood.
    pub(super) gradient: Vec<f64>,
    /// The information of an item's votes, and what it would be if all were honest.
    pub(super) information: Vec<f64>,
    pub(super) variance: Vec<f64>,
    /// The same for the side advantage.
    pub(super) side_gradient: f64,
    pub(super) side_information: f64,
    /// Honest ties, and expected ones.
    pub(super) ties: f64,
    pub(super) expected_ties: f64,
    /// For each block, the likelihood of each behaviour relative to the largest.
    pub(super) likelihood: Vec<[f32; POINTS]>,
    /// For each block, the logarithm of that largest likelihood.
    pub(super) log_largest: Vec<f64>,
    /// For each block, the logarithm of the likelihood of a careful annotator.
    pub(super) log_careful: Vec<f64>,
    /// For each block, the probability of each behaviour.
    pub(super) responsibility: Vec<[f32; POINTS]>,
}

/// Sums of one task.
struct TaskSums {
    items: Vec<ItemSums>,
    side: ItemSums,
    ties: i64,
    expected_ties: i64,
}

impl TaskSums {
    fn new(items: usize) -> Self {
        let items = vec![ItemSums::default(); items];
        Self { items, side: ItemSums::default(), ties: 0, expected_ties: 0 }
    }

    fn add(mut self, other: Self) -> Self {
        for (sums, other) in self.items.iter_mut().zip(other.items) {
            sums.gradient += other.gradient;
            sums.information += other.information;
            sums.variance += other.variance;
        }
        self.side.gradient += other.side.gradient;
        self.side.information += other.side.information;
        self.ties += other.ties;
        self.expected_ties += other.expected_ties;
        self
    }
}

/// The rows of a task's blocks.
struct TaskRows<'a> {
    blocks: Range<usize>,
    likelihood: &'a mut [[f32; POINTS]],
    /// Logarithms of the largest likelihood and of that of a careful annotator.
    logs: &'a mut [(f64, f64)],
    responsibility: &'a mut [[f32; POINTS]],
}

/// A number as a fixed-point integer.
#[inline]
fn fixed(x: f64) -> i64 {
    /// 3 · 2⁵¹: the sum with it has the rounded number in its last bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let scaled = x * UNIT;
    // Conversions that check for overflow take a third of the time of a vote.
    match scaled.abs() < (1_u64 << 50) as f64 {
        true => (scaled + SHIFT).to_bits() as i64 - SHIFT.to_bits() as i64,
        false => scaled as i64,
    }
}

fn real(x: i64) -> f64 {
    x as f64 / UNIT
}

/// Passes over all votes.
pub(super) fn sweep(
    items: usize,
    blocks: &Blocks,
    model: &SweepModel,
    at: &SweepPoint<'_>,
) -> Sweep {
    let half: Vec<f64> = at.scores.iter().map(|score| (0.5 * score).exp()).collect();
    let count = blocks.len();
    let mut likelihood = vec![[0.0; POINTS]; count];
    let mut logs = vec![(0.0, 0.0); count];
    let mut responsibility = vec![[0.0; POINTS]; count];
    let per_thread = if items > MANY_ITEMS { 1 } else { TASKS_PER_THREAD };
    let ranges = blocks.split(per_thread * rayon::current_num_threads());
    let mut tasks = Vec::with_capacity(ranges.len());
    let mut rest = (&mut likelihood[..], &mut logs[..], &mut responsibility[..]);
    for range in ranges {
        let length = range.len();
        let (a, b, c) = rest;
        let ((a, a_rest), (b, b_rest), (c, c_rest)) =
            (a.split_at_mut(length), b.split_at_mut(length), c.split_at_mut(length));
        tasks.push(TaskRows { blocks: range, likelihood: a, logs: b, responsibility: c });
        rest = (a_rest, b_rest, c_rest);
    }
    let run = |rows: TaskRows<'_>| {
        let mut sums = TaskSums::new(items);
        let mut votes = BlockVotes { half: &half, at, model, p: Vec::new() };
        for (k, block) in rows.blocks.clone().enumerate() {
            let (these, is_unknown) = blocks.block(block);
            votes.evaluate(these);
            if at.needs_likelihood {
                rows.logs[k] = votes.likelihood(these, &mut rows.likelihood[k]);
            } else {
                rows.likelihood[k] = [1.0; POINTS];
            }
            let log_shares = at.log_shares[usize::from(is_unknown)];
            probabilities(&rows.likelihood[k], log_shares, &mut rows.responsibility[k]);
            votes.slopes(these, &rows.responsibility[k], &mut sums);
        }
        sums
    };
    let sums = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(run)
        .reduce_with(TaskSums::add)
        .unwrap_or_else(|| TaskSums::new(items));
    let of = |pick: fn(&ItemSums) -> i64| sums.items.iter().map(|s| real(pick(s))).collect();
    Sweep {
        gradient: of(|sums| sums.gradient),
        information: of(|sums| sums.information),
        variance: of(|sums| sums.variance),
        side_gradient: real(sums.side.gradient),
        side_information: real(sums.side.information),
        ties: real(sums.ties),
        expected_ties: real(sums.expected_ties),
        likelihood,
        log_largest: logs.iter().map(|(largest, _)| *largest).collect(),
        log_careful: logs.iter().map(|(_, careful)| *careful).collect(),
        responsibility,
    }
}

/// The probability of each behaviour, from its likelihood and its share.
pub(super) fn probabilities(
    likelihood: &[f32; POINTS],
    log_shares: &[f64; POINTS],
    out: &mut [f32; POINTS],
) {
    let mut weights = [0.0; POINTS];
    let mut total = 0.0;
    for (k, weight) in weights.iter_mut().enumerate() {
        *weight = f64::from(likelihood[k]) * log_shares[k].exp();
        total += *weight;
    }
    for (out, weight) in out.iter_mut().zip(&weights) {
        *out = (weight / total.max(f64::MIN_POSITIVE)) as f32;
    }
}

/// The votes of a block, evaluated.
struct BlockVotes<'a> {
    half: &'a [f64],
    at: &'a SweepPoint<'a>,
    model: &'a SweepModel,
    /// p of each vote.
    p: Vec<f64>,
}

impl BlockVotes<'_> {
    /// Computes p of each vote.
    fn evaluate(&mut self, votes: &[SidedVote]) {
        let advantage = self.at.side_advantage.exp();
        self.p.clear();
        self.p.extend(votes.iter().map(|vote| {
            let (left, right) = (self.half[vote.left as usize], self.half[vote.right()]);
            let left = left * left * advantage;
            left / (left + right * right)
        }));
    }

    /// Writes the likelihood of each behaviour relative to the largest. Returns the logarithm of the
    /// largest one, and of that of a careful annotator.
    fn likelihood(&self, votes: &[SidedVote], out: &mut [f32; POINTS]) -> (f64, f64) {
        let mut logs = [0.0; POINTS];
        let mut product = [1.0; POINTS];
        // Half the digits take half the time; errors of single votes average out.
        let mut short = [1.0_f32; POINTS];
        let mut factors = 0;
        for (vote, &p) in votes.iter().zip(&self.p) {
            let Some(side) = vote.side() else { continue };
            if vote.count > 1 {
                let (slope, offset) = (&self.model.slope[side], &self.model.offset[side]);
                for k in 0..POINTS {
                    let q = (slope[k] * p + offset[k]).max(MIN_PROBABILITY);
                    logs[k] += f64::from(vote.count) * q.ln();
                }
                continue;
            }
            let (slope, offset) = (&self.model.short_slope[side], &self.model.short_offset[side]);
            let p = p as f32;
            for k in 0..POINTS {
                short[k] *= (slope[k] * p + offset[k]).max(MIN_PROBABILITY as f32);
            }
            factors += 1;
            if factors % VOTES_PER_PRODUCT == 0 {
                multiply(&mut product, &mut short);
            }
            if factors == VOTES_PER_LOG {
                add_logarithms(&mut logs, &mut product);
                factors = 0;
            }
        }
        multiply(&mut product, &mut short);
        add_logarithms(&mut logs, &mut product);
        let largest = logs[..self.model.points].iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        for (k, (out, log)) in out.iter_mut().zip(&logs).enumerate() {
            let relative = (log - largest).exp().max(MIN_LIKELIHOOD) as f32;
            *out = if k < self.model.points { relative } else { 0.0 };
        }
        (largest, logs[0])
    }

    /// Adds the slopes of the votes.
    fn slopes(&self, votes: &[SidedVote], responsibility: &[f32; POINTS], sums: &mut TaskSums) {
        let mut active = [(0_usize, 0.0_f64); POINTS];
        let mut number = 0;
        let mut follows = 0.0;
        for (k, &r) in responsibility.iter().enumerate().take(self.model.points) {
            let r = f64::from(r);
            follows += r * self.model.slope[0][k].abs();
            if r >= MIN_RESPONSIBILITY {
                active[number] = (k, r);
                number += 1;
            }
        }
        let active = &active[..number];
        let is_careful = number == 1 && active[0].0 == 0;
        for (vote, &p) in votes.iter().zip(&self.p) {
            let (i, j) = (vote.left as usize, vote.right());
            let (expected, variance, tie) = match self.at.tie_odds > 0.0 {
                true => {
                    // Odds relative to those of both sides together.
                    let tie = self.at.tie_odds * (p * (1.0 - p)).sqrt();
                    let expected = (p + 0.5 * tie) / (1.0 + tie);
                    let square = (p + 0.25 * tie) / (1.0 + tie);
                    (expected, (square - expected * expected).max(0.0), tie / (1.0 + tie))
                }
                false => (p, p * (1.0 - p), 0.0),
            };
            let count = f64::from(vote.count);
            let (gradient, information, honest) = match vote.side() {
                None => {
                    sums.ties += fixed(count * follows);
                    (follows * (0.5 - expected), follows * variance, follows)
                }
                // A careful annotator, without any doubt.
                Some(side) if is_careful => {
                    (if side == 0 { 1.0 - expected } else { -expected }, variance, 1.0)
                }
                Some(side) => {
                    let (share, p_side) = if side == 0 { (1.0, p) } else { (0.0, 1.0 - p) };
                    let (mut honest, mut contrary, mut information) = (0.0, 0.0, 0.0);
                    let (slope, offset) = (&self.model.slope[side], &self.model.offset[side]);
                    for &(k, r) in active {
                        let q = (slope[k] * p + offset[k]).max(MIN_PROBABILITY);
                        let per_q = r / q;
                        honest += per_q * self.model.honest[k] * p_side;
                        contrary += per_q * self.model.contrary[k] * (1.0 - p_side);
                        let of_line = slope[k] * slope[k] * p * (1.0 - p);
                        information += r * of_line / (q * (1.0 - q)).max(MIN_VARIANCE);
                    }
                    let gradient =
                        honest * (share - expected) + contrary * (1.0 - share - expected);
                    (gradient, information.min(1.0) * variance, honest)
                }
            };
            sums.expected_ties += fixed(count * honest * tie);
            let gradient = fixed(count * gradient);
            let (information, variance) = (fixed(count * information), fixed(count * variance));
            for (item, gradient) in [(i, gradient), (j, -gradient)] {
                let sums = &mut sums.items[item];
                sums.gradient += gradient;
                sums.information += information;
                sums.variance += variance;
            }
            sums.side.gradient += gradient;
            sums.side.information += information;
        }
    }
}

fn multiply(product: &mut [f64; POINTS], short: &mut [f32; POINTS]) {
    for (product, short) in product.iter_mut().zip(short.iter_mut()) {
        *product *= f64::from(*short);
        *short = 1.0;
    }
}

fn add_logarithms(logs: &mut [f64; POINTS], product: &mut [f64; POINTS]) {
    for (log, product) in logs.iter_mut().zip(product.iter_mut()) {
        *log += product.ln();
        *product = 1.0;
    }
}
