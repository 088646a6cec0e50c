//! Synthetic studies: votes on items whose true scores are known, and which of them are wrong.
//!
//! The true scores θ are uniform on (0, 1), then shifted to mean zero. A vote is made in steps:
//!
//! 1. two distinct items, every ordered pair with the same probability, so that sides are random;
//! 2. the careful value: θ_left − θ_right with the noise of [`Noise`], or its sign unless graded;
//! 3. the careful answer: a tie with probability `ties`, otherwise the careful value;
//! 4. the annotator, all with the same probability, whose kind decides the answer: the careful one;
//!    its opposite (a tie is its own opposite); the careful value on a random side; or on the left;
//! 5. with probability `flips` that answer is flipped (a tie stays a tie).
//!
//! A vote is `bad` when its sign differs from that of the careful answer of step 3. Ties and noise
//! are therefore never bad; a random side is bad half of the time, and always where the careful
//! answer is a tie. Without noise two items with equal scores tie.
//!
//! Each step has its own random stream: changing `flips`, for example, changes neither the pairs nor
//! the careful answers. Cost: constant time per vote, 8 bytes per item, 1 per annotator.

pub mod designs;
mod options;

pub use options::{AnnotatorKind, Noise, SimulateOptions};

use std::iter::FusedIterator;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::comparison::{Comparison, positive_zero};
use crate::error::Result;

/// A vote of a synthetic study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedVote {
    /// The annotator as an index into [`Simulation::annotators`]; none in a study without.
    pub annotator: Option<u32>,
    /// Index of the item shown on the left.
    pub left: u32,
    /// Index of the item shown on the right.
    pub right: u32,
    /// How much `left` is preferred to `right`; 0 is a tie.
    pub y: f64,
    /// Whether the sign of `y` differs from a careful annotator's answer to the same vote, because of
    /// a flip or the annotator's kind.
    pub bad: bool,
}

impl SimulatedVote {
    /// The vote as a [`Comparison`] of count 1.
    #[must_use]
    pub fn comparison(&self) -> Comparison {
        let vote = Comparison::new(self.left, self.right, self.y);
        Comparison { annotator: self.annotator, ..vote }
    }
}

/// A synthetic study: the truth, and an iterator over the votes.
///
/// # Example
/// ```
/// use hodgerank::simulate::{SimulateOptions, Simulation};
///
/// let options = SimulateOptions { items: 8, votes: 1000, flips: 0.1, ..Default::default() };
/// let mut study = Simulation::new(&options)?;
/// let wrong = study.by_ref().filter(|vote| vote.bad).count();
/// assert!((50..150).contains(&wrong));
/// assert_eq!(study.truth().len(), 8);
/// # Ok::<(), hodgerank::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Simulation {
    truth: Vec<f64>,
    annotators: Vec<AnnotatorKind>,
    noise: Noise,
    graded: bool,
    ties: f64,
    flips: f64,
    remaining: u64,
    streams: Streams,
}

/// The random stream of each step.
#[derive(Debug, Clone)]
struct Streams {
    pair: ChaCha8Rng,
    noise: ChaCha8Rng,
    tie: ChaCha8Rng,
    annotator: ChaCha8Rng,
    coin: ChaCha8Rng,
    flip: ChaCha8Rng,
}

impl Simulation {
    /// Draws the true scores; votes are drawn by the iterator.
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption) for an option out of its range.
    pub fn new(options: &SimulateOptions) -> Result<Self> {
        options.validate()?;
        let stream = |number| stream(options.seed, number);
        let of_kind = |&(kind, count): &(_, u32)| std::iter::repeat_n(kind, count as usize);
        Ok(Self {
            truth: centred_uniform(options.items, &mut stream(0)),
            annotators: options.annotators.iter().flat_map(of_kind).collect(),
            noise: options.noise,
            graded: options.graded,
            ties: options.ties,
            flips: options.flips,
            remaining: options.votes,
            streams: Streams {
                pair: stream(1),
                noise: stream(2),
                tie: stream(3),
                annotator: stream(4),
                coin: stream(5),
                flip: stream(6),
            },
        })
    }

    /// The true scores, with mean zero.
    #[must_use]
    pub fn truth(&self) -> &[f64] {
        &self.truth
    }

    /// The number of votes that are still to come.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The kind of each annotator, in the order of the options; empty without annotators.
    #[must_use]
    pub fn annotators(&self) -> &[AnnotatorKind] {
        &self.annotators
    }

    fn next_vote(&mut self) -> SimulatedVote {
        let (left, right) = self.pair();
        let value = self.careful_value(self.truth[left] - self.truth[right]);
        let tie = chance(&mut self.streams.tie, self.ties);
        let careful = if tie { 0.0 } else { value };
        let annotator = self.annotator();
        let kind = annotator.map_or(AnnotatorKind::Careful, |a| self.annotators[a]);
        let answer = match kind {
            AnnotatorKind::Careful => careful,
            AnnotatorKind::Malicious => -careful,
            AnnotatorKind::Careless if chance(&mut self.streams.coin, 0.5) => value,
            AnnotatorKind::Careless => -value,
            AnnotatorKind::AlwaysLeft => value.abs(),
        };
        let flip = chance(&mut self.streams.flip, self.flips);
        let y = positive_zero(if flip { -answer } else { answer });
        SimulatedVote {
            annotator: annotator.map(|a| a as u32),
            left: left as u32,
            right: right as u32,
            y,
            bad: sign(y) != sign(careful),
        }
    }

    /// Two distinct items.
    fn pair(&mut self) -> (usize, usize) {
        let items = self.truth.len();
        let left = below(&mut self.streams.pair, items);
        let right = below(&mut self.streams.pair, items - 1);
        (left, right + usize::from(right >= left))
    }

    /// A careful annotator's answer to a true difference of scores where ties are not allowed.
    fn careful_value(&mut self, difference: f64) -> f64 {
        let rng = &mut self.streams.noise;
        let value = match self.noise {
            Noise::None => difference,
            Noise::BradleyTerry { scale } => {
                let left = uniform(rng) < 1.0 / (1.0 + (-difference / scale).exp());
                let size = if self.graded { difference.abs() } else { 1.0 };
                if left { size } else { -size }
            }
            Noise::Gaussian { sigma } => {
                let epsilon: f64 = StandardNormal.sample(rng);
                difference + sigma * epsilon
            }
        };
        if self.graded { value } else { sign(value) }
    }

    fn annotator(&mut self) -> Option<usize> {
        let annotators = self.annotators.len();
        (annotators > 0).then(|| below(&mut self.streams.annotator, annotators))
    }
}

impl Iterator for Simulation {
    type Item = SimulatedVote;

    fn next(&mut self) -> Option<SimulatedVote> {
        self.remaining = self.remaining.checked_sub(1)?;
        Some(self.next_vote())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match usize::try_from(self.remaining) {
            Ok(votes) => (votes, Some(votes)),
            Err(_) => (usize::MAX, None),
        }
    }
}

impl FusedIterator for Simulation {}

fn centred_uniform(items: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut scores: Vec<f64> = (0..items).map(|_| uniform(rng)).collect();
    let mean = scores.iter().sum::<f64>() / items as f64;
    scores.iter_mut().for_each(|score| *score -= mean);
    scores
}

/// The random stream `number` of a seed. Numbers must not change: a seed always gives the same votes.
fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

// Not taken from `rand`, whose sampling may change between versions.

/// A number from [0, 1) with 53 random bits.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (0.5 / (1_u64 << 52) as f64)
}

/// True with the given probability; probability 0 draws no random number.
fn chance(rng: &mut ChaCha8Rng, probability: f64) -> bool {
    probability > 0.0 && uniform(rng) < probability
}

/// An index from `0..count`; the bias is below 10⁻¹¹ for the counts that options allow.
fn below(rng: &mut ChaCha8Rng, count: usize) -> usize {
    ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize
}

/// −1, 0 or 1; unlike `f64::signum`, 0 for zeros.
fn sign(y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y.signum() }
}
