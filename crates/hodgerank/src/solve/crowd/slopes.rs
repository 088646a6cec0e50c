//! The slopes of the log-likelihood in the scores: one pass over all votes.
//!
//! Each vote counts by the probability that it is honest or contrary, given the probability of each
//! behaviour of its annotator.
//!
//! Sums over items are in fixed-point integers: they are exact, so that the result is the same for
//! any number of threads and any order of the votes.

use rayon::prelude::*;

use super::behaviour::Behaviour;
use super::blocks::{Blocks, SidedVote};
use super::likelihood::{MIN_PROBABILITY, POINTS, ScoreModel};

/// Behaviours that are less probable than this do not count.
const MIN_RESPONSIBILITY: f64 = 1e-4;
/// Smallest variance of a vote to divide by.
const MIN_VARIANCE: f64 = 1e-12;
/// The unit of fixed-point sums: 2³² per vote, so that 2³¹ votes fit.
const UNIT: f64 = 4_294_967_296.0;
/// Tasks per thread, for balance.
const TASKS_PER_THREAD: usize = 4;
/// With more items, one task per thread: each has sums for all items.
const MANY_ITEMS: usize = 100_000;
/// Largest magnitude of a score whose exponential is taken.
const MAX_SCORE: f64 = 300.0;

/// P(answer) = slope · p + offset of each behaviour, for answers left and right.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    slope: [[f64; POINTS]; 2],
    offset: [[f64; POINTS]; 2],
    honest: [f64; POINTS],
    contrary: [f64; POINTS],
}

impl Lines {
    pub(super) fn new(points: &[Behaviour]) -> Self {
        let mut lines = Self {
            slope: [[0.0; POINTS]; 2],
            offset: [[0.5; POINTS]; 2],
            honest: [0.0; POINTS],
            contrary: [0.0; POINTS],
        };
        for (k, point) in points.iter().enumerate() {
            let (slope, offset) = point.line();
            (lines.slope[0][k], lines.offset[0][k]) = (slope, offset);
            (lines.slope[1][k], lines.offset[1][k]) = (-slope, 1.0 - offset);
            (lines.honest[k], lines.contrary[k]) = (point.honest, point.contrary);
        }
        lines
    }
}

/// Sums over the votes of an item.
#[derive(Debug, Clone, Copy, Default)]
struct ItemSums {
    gradient: i64,
    information: i64,
}

impl ItemSums {
    fn add(&mut self, other: Self) {
        self.gradient += other.gradient;
        self.information += other.information;
    }
}

/// The result of a pass.
#[derive(Debug, Clone)]
pub(super) struct Slopes {
    /// ∂/∂θ of the log-likelihood.
    pub(super) gradient: Vec<f64>,
    /// The information of each item's votes.
    pub(super) information: Vec<f64>,
    /// The same for the side advantage.
    pub(super) side_gradient: f64,
    pub(super) side_information: f64,
    /// Honest ties, and expected ones.
    pub(super) ties: f64,
    pub(super) expected_ties: f64,
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
            sums.add(other);
        }
        self.side.add(other.side);
        self.ties += other.ties;
        self.expected_ties += other.expected_ties;
        self
    }
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

/// Passes over all votes; `responsibility` has the probability of each behaviour for each block.
pub(super) fn slopes(
    blocks: &Blocks,
    lines: &Lines,
    responsibility: &[[f32; POINTS]],
    at: &ScoreModel<'_>,
) -> Slopes {
    let items = at.scores.len();
    let odds = |score: &f64| score.clamp(-MAX_SCORE, MAX_SCORE).exp();
    let pass = Pass {
        odds: at.scores.iter().map(odds).collect(),
        advantage: at.side_advantage.exp(),
        tie_odds: at.tie_odds,
        lines,
    };
    let per_thread = if items > MANY_ITEMS { 1 } else { TASKS_PER_THREAD };
    let tasks = blocks.split(per_thread * rayon::current_num_threads());
    let run = |range: std::ops::Range<usize>| {
        let mut sums = TaskSums::new(items);
        for block in range {
            pass.add_block(blocks.block(block).0, &responsibility[block], &mut sums);
        }
        sums
    };
    let sums = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(run)
        .reduce_with(TaskSums::add)
        .unwrap_or_else(|| TaskSums::new(items));
    Slopes {
        gradient: sums.items.iter().map(|sums| real(sums.gradient)).collect(),
        information: sums.items.iter().map(|sums| real(sums.information)).collect(),
        side_gradient: real(sums.side.gradient),
        side_information: real(sums.side.information),
        ties: real(sums.ties),
        expected_ties: real(sums.expected_ties),
    }
}

/// What a pass needs besides the votes.
struct Pass<'a> {
    /// e^θ of each item.
    odds: Vec<f64>,
    advantage: f64,
    tie_odds: f64,
    lines: &'a Lines,
}

/// What a vote adds to the sums.
struct VoteSlope {
    /// ∂/∂d of the log-likelihood.
    gradient: f64,
    /// −∂²/∂d², expected.
    information: f64,
}

impl Pass<'_> {
    fn add_block(&self, votes: &[SidedVote], responsibility: &[f32; POINTS], sums: &mut TaskSums) {
        let mut active = [(0_usize, 0.0_f64); POINTS];
        let mut number = 0;
        // How much the annotator's answers depend on the items, and so which votes are ties.
        let mut follows = 0.0;
        for (k, &r) in responsibility.iter().enumerate() {
            let r = f64::from(r);
            follows += r * self.lines.slope[0][k].abs();
            if r >= MIN_RESPONSIBILITY {
                active[number] = (k, r);
                number += 1;
            }
        }
        match &active[..number] {
            [] => {}
            &[(0, careful)] => self.add_votes(votes, follows, sums, |side, p| {
                let share = if side == 0 { 1.0 } else { 0.0 };
                VoteSlope { gradient: careful * (share - p), information: careful * p * (1.0 - p) }
            }),
            active => self.add_votes(votes, follows, sums, |side, p| self.mixed(active, side, p)),
        }
    }

    /// The slope of a vote by an annotator whose behaviour is not certain.
    #[inline]
    fn mixed(&self, active: &[(usize, f64)], side: usize, p: f64) -> VoteSlope {
        let (share, p_side) = if side == 0 { (1.0, p) } else { (0.0, 1.0 - p) };
        let (mut honest, mut contrary, mut information) = (0.0, 0.0, 0.0);
        let (slope, offset) = (&self.lines.slope[side], &self.lines.offset[side]);
        let variance = p * (1.0 - p);
        for &(k, r) in active {
            let q = (slope[k] * p + offset[k]).max(MIN_PROBABILITY);
            let per_q = r / q;
            honest += per_q * self.lines.honest[k] * p_side;
            contrary += per_q * self.lines.contrary[k] * (1.0 - p_side);
            let of_line = slope[k] * slope[k] * variance;
            information += r * of_line / (q * (1.0 - q)).max(MIN_VARIANCE);
        }
        let gradient = honest * (share - p) + contrary * (1.0 - share - p);
        VoteSlope { gradient, information: information.min(1.0) * variance }
    }

    #[inline]
    fn add_votes(
        &self,
        votes: &[SidedVote],
        follows: f64,
        sums: &mut TaskSums,
        slope: impl Fn(usize, f64) -> VoteSlope,
    ) {
        for vote in votes {
            let (i, j) = (vote.left as usize, vote.right());
            let left = self.odds[i] * self.advantage;
            let p = left / (left + self.odds[j]);
            let side = vote.side();
            let none = VoteSlope { gradient: 0.0, information: 0.0 };
            let mut total = side.map_or(none, |side| slope(side, p));
            let count = f64::from(vote.count);
            if self.tie_odds > 0.0 {
                // Odds of a tie relative to those of both sides together, and d log odds / dd.
                let odds = self.tie_odds * (p * (1.0 - p)).sqrt();
                let (tie, lean) = (odds / (1.0 + odds), 0.5 - p);
                let is_tie = if side.is_none() { 1.0 } else { 0.0 };
                total.gradient += follows * (is_tie - tie) * lean;
                total.information += follows * tie * (1.0 - tie) * lean * lean;
                sums.ties += fixed(count * follows * is_tie);
                sums.expected_ties += fixed(count * follows * tie);
            }
            let gradient = fixed(count * total.gradient);
            let information = fixed(count * total.information);
            sums.items[i].add(ItemSums { gradient, information });
            sums.items[j].add(ItemSums { gradient: -gradient, information });
            sums.side.add(ItemSums { gradient, information });
        }
    }
}
