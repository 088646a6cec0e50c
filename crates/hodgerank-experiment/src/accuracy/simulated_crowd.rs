//! Simulated crowds: true scores, annotators with behaviours, and their votes.
//!
//! | step | how |
//! |---|---|
//! | true scores θ | normal, with a standard deviation from 1.2 to 2.2 |
//! | votes of an annotator | log-normal, at least 20; passers-by one or two |
//! | bad annotators | a share from 0.1 to 0.4; of the crowd `passers`, 0.1 |
//! | pairs | see [`super::crowds::Design`] |
//! | honest answers | left with probability F(θ_left − θ_right), F the logistic function |
//! | ties | Davidson, odds 0.5 between equal items; they replace answers of all annotators |
//! | graded answers | twice the difference, in standard deviations of θ, with normal noise; rounded, −3 to 3 |
//! | their noise | its standard deviation is log-normal over annotators, 1.5 in units of θ |
//! | graded answers that are not honest | a side as below, with a size of 1, 2 or 3 |
//!
//! | crowd | what its bad annotators do |
//! |---|---|
//! | careless | a share of coin flips from 0.3 to 0.8 |
//! | contrary | the opposite of an honest answer |
//! | left, onesided | always left; always the same side |
//! | mostly | one side in 75% to 95% of the votes |
//! | coin | coin flips |
//! | mixed, passersbad | each annotator one of the above |
//! | tired | coin flips, or always left, in the second half of the votes |
//! | fans | always prefer one item, the same for all of them |
//! | tastes | honest, but with other true scores, the same for all of them |
//! | passers | coin flips |
//!
//! A vote is bad unless it is an honest answer by the true scores, even where it agrees with one. Each
//! step has its own random stream.

use hodgerank::fit::fit;
use hodgerank::{AnnotatorVotes, Comparison, ComparisonGraph, FitOptions, Groups, Method};

use super::crowds::{AnswerKind, Cell, CrowdKind, Size};
use super::pairs::Pairs;
use super::random::Random;
use crate::error::Result;

/// Odds of a tie between equal items against either side.
const TIE_ODDS: f64 = 0.5;
/// Graded answers go from minus this to this.
const MAX_GRADE: f64 = 3.0;
/// The noise of graded answers, and the standard deviation of its logarithm over annotators.
const NOISE: f64 = 1.5;
const LOG_NOISE_SPREAD: f64 = 0.4;
const MIN_VOTES: usize = 20;
/// Passers-by per annotator that the size asks for.
const PASSERS_BY: usize = 10;

/// A vote whose origin is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CrowdVote {
    pub(crate) annotator: u32,
    pub(crate) left: u32,
    pub(crate) right: u32,
    /// Positive for the left item, negative for the right one, 0 for a tie; ±1 unless graded.
    pub(crate) y: f64,
    pub(crate) is_bad: bool,
    /// The noise of the annotator's graded answers.
    pub(crate) noise: f64,
}

/// A study in which the truth is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SimulatedCrowd {
    pub(crate) truth: Vec<f64>,
    /// The standard deviation of the true scores before they were drawn, if answers are graded.
    spread: Option<f64>,
    pub(crate) annotators: usize,
    pub(crate) votes: Vec<CrowdVote>,
}

/// How an annotator answers.
#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Honest,
    /// Coin flips with this probability.
    Careless(f64),
    Contrary,
    /// Left with this probability, whatever the items.
    Fixed(f64),
    /// Left with this probability in the second half of the votes.
    Tired(f64),
    Fan,
    OtherTaste,
}

impl Behaviour {
    /// Draws how a bad annotator of a crowd answers.
    fn draw(crowd: CrowdKind, random: &mut Random) -> Self {
        match crowd {
            CrowdKind::Clean => Self::Honest,
            CrowdKind::Careless => Self::Careless(random.between(0.3, 0.8)),
            CrowdKind::Contrary => Self::Contrary,
            CrowdKind::Left => Self::Fixed(1.0),
            CrowdKind::OneSided => Self::Fixed(if random.chance(0.5) { 1.0 } else { 0.0 }),
            CrowdKind::Mostly => {
                let share = random.between(0.75, 0.95);
                Self::Fixed(if random.chance(0.6) { share } else { 1.0 - share })
            }
            CrowdKind::Coin | CrowdKind::Passers => Self::Fixed(0.5),
            CrowdKind::Mixed | CrowdKind::PassersBad => match random.below(6) {
                0 => Self::draw(CrowdKind::Careless, random),
                1 => Self::Contrary,
                2 => Self::Fixed(1.0),
                3 => Self::draw(CrowdKind::Mostly, random),
                4 => Self::Fixed(0.5),
                _ => Self::Fixed(0.0),
            },
            CrowdKind::Tired => Self::Tired(if random.chance(0.6) { 0.5 } else { 1.0 }),
            CrowdKind::Fans => Self::Fan,
            CrowdKind::Tastes => Self::OtherTaste,
        }
    }
}

/// What decides answers besides the behaviour.
struct Tastes {
    truth: Vec<f64>,
    /// The true scores of annotators with another taste.
    other: Vec<f64>,
    /// The item that fans prefer.
    favourite: usize,
}

impl Tastes {
    fn new(truth: Vec<f64>, spread: f64, random: &mut Random) -> Self {
        let favourite = random.below(truth.len());
        let other = truth.iter().map(|score| 0.2 * score + spread * random.normal()).collect();
        Self { truth, other, favourite }
    }

    /// What decides an answer, and whether it is bad.
    fn answer(
        &self,
        behaviour: Behaviour,
        is_second_half: bool,
        (left, right): (usize, usize),
        random: &mut Random,
    ) -> (Answer, bool) {
        let difference = self.truth[left] - self.truth[right];
        match behaviour {
            Behaviour::Careless(lapses) if random.chance(lapses) => (Answer::Fixed(0.5), true),
            Behaviour::Contrary => (Answer::By(-difference), true),
            Behaviour::Fixed(share) => (Answer::Fixed(share), true),
            Behaviour::Tired(share) if is_second_half => (Answer::Fixed(share), true),
            Behaviour::Fan if left == self.favourite => (Answer::Fixed(1.0), true),
            Behaviour::Fan if right == self.favourite => (Answer::Fixed(0.0), true),
            Behaviour::OtherTaste => (Answer::By(self.other[left] - self.other[right]), true),
            _ => (Answer::By(difference), false),
        }
    }
}

/// What decides an answer.
#[derive(Debug, Clone, Copy)]
enum Answer {
    /// A difference of scores.
    By(f64),
    /// Left with this probability.
    Fixed(f64),
}

impl Answer {
    /// Draws a side: 1 for left, −1 for right.
    fn side(self, random: &mut Random) -> f64 {
        let left = match self {
            Self::By(difference) => logistic(difference),
            Self::Fixed(left) => left,
        };
        if random.chance(left) { 1.0 } else { -1.0 }
    }

    /// Draws a graded answer; `spread` is the standard deviation of the true scores.
    fn graded(self, noise: f64, spread: f64, random: &mut Random) -> f64 {
        match self {
            Self::By(difference) => grade(difference + noise * random.normal(), spread),
            Self::Fixed(_) => self.side(random) * (1 + random.below(MAX_GRADE as usize)) as f64,
        }
    }
}

/// A graded answer to a difference of scores with this noise.
fn grade(noisy_difference: f64, spread: f64) -> f64 {
    (2.0 * noisy_difference / spread).round().clamp(-MAX_GRADE, MAX_GRADE)
}

/// The mean and the variance of graded answers to a difference of scores.
fn moments_of_grade(difference: f64, noise: f64, spread: f64) -> (f64, f64) {
    /// Points per standard deviation, up to five of them.
    const POINTS: i32 = 40;
    let (mut sum, mut squares, mut total) = (0.0, 0.0, 0.0);
    for k in -5 * POINTS..=5 * POINTS {
        let z = f64::from(k) / f64::from(POINTS);
        let (weight, grade) = ((-0.5 * z * z).exp(), grade(difference + noise * z, spread));
        sum += weight * grade;
        squares += weight * grade * grade;
        total += weight;
    }
    let mean = sum / total;
    (mean, squares / total - mean * mean)
}

impl SimulatedCrowd {
    /// Simulates a study. Cells that differ only in their answers have the same
    /// annotators and pairs.
    pub(crate) fn new(cell: &Cell, size: &Size, seed: u64) -> Self {
        let study = [seed, cell.crowd as u64, cell.design as u64, size.items as u64];
        let stream = |number| Random::new(study, number);
        let (truth, spread) = true_scores(size.items, &mut stream(0));
        let people = people(cell.crowd, size, &mut stream(1));
        let mut pairs = Pairs::new(cell.design, &truth, spread, stream(2));
        let tastes = Tastes::new(truth, spread, &mut stream(3));
        let (mut lapses, mut answers, mut ties) = (stream(4), stream(5), stream(6));
        let mut noises = stream(7);
        let mut votes = Vec::new();
        for (annotator, &(behaviour, count)) in people.iter().enumerate() {
            let noise = NOISE * (LOG_NOISE_SPREAD * noises.normal()).exp();
            for k in 0..count {
                let pair = pairs.next(&tastes.truth);
                let is_second_half = k >= count / 2;
                let (answer, is_bad) = tastes.answer(behaviour, is_second_half, pair, &mut lapses);
                let y = match cell.answers {
                    AnswerKind::Graded => answer.graded(noise, spread, &mut answers),
                    _ => answer.side(&mut answers),
                };
                let half = 0.5 * (tastes.truth[pair.0] - tastes.truth[pair.1]);
                let tie = TIE_ODDS / (half.exp() + (-half).exp() + TIE_ODDS);
                let is_tie = cell.answers == AnswerKind::SideOrTie && ties.chance(tie);
                votes.push(CrowdVote {
                    annotator: annotator as u32,
                    left: pair.0 as u32,
                    right: pair.1 as u32,
                    y: if is_tie { 0.0 } else { y },
                    is_bad,
                    noise,
                });
            }
        }
        let is_graded = cell.answers == AnswerKind::Graded;
        Self {
            truth: tastes.truth,
            spread: is_graded.then_some(spread),
            annotators: people.len(),
            votes,
        }
    }

    /// What estimates of the scores estimate: the true scores. Graded answers are rounded and limited, so that it
    /// is the scores that explain their expected values best, with answers weighted by their precision.
    ///
    /// # Errors
    /// If a solver fails.
    pub(crate) fn estimated_scores(&self) -> Result<Vec<f64>> {
        /// Votes for a noise of one: weights are whole numbers of votes.
        const PRECISION: f64 = 1000.0;
        let Some(spread) = self.spread else { return Ok(self.truth.clone()) };
        let moments = |vote: &CrowdVote| {
            let difference = self.truth[vote.left as usize] - self.truth[vote.right as usize];
            moments_of_grade(difference, vote.noise, spread)
        };
        // The variance of an annotator's answers: limits make it smaller than that of the noise.
        let mut sums = vec![(0.0, 0.0); self.annotators];
        for vote in &self.votes {
            let (sum, votes) = &mut sums[vote.annotator as usize];
            *sum += moments(vote).1;
            *votes += 1.0;
        }
        let expected = |vote: &CrowdVote| {
            let (sum, votes) = sums[vote.annotator as usize];
            let weight = (PRECISION * votes / sum).round().max(1.0);
            Comparison::new(vote.left, vote.right, moments(vote).0).with_count(weight as u64)
        };
        let votes: Vec<Comparison> =
            self.votes.iter().filter(|vote| !vote.is_bad).map(expected).collect();
        let items = self.truth.len();
        let graph = ComparisonGraph::new(items, Groups::merge(items, &votes)?.groups)?;
        Ok(fit(&graph, &FitOptions::new().method(Method::L2))?.scores)
    }

    /// The graph of all votes.
    pub(crate) fn graph(&self) -> Result<ComparisonGraph> {
        self.graph_of(|_| true)
    }

    /// The graph of the votes that are not bad, for the oracle.
    pub(crate) fn honest_graph(&self) -> Result<ComparisonGraph> {
        self.graph_of(|vote| !vote.is_bad)
    }

    fn graph_of(&self, is_in: impl Fn(&CrowdVote) -> bool) -> Result<ComparisonGraph> {
        let votes = self.votes.iter().filter(|vote| is_in(vote));
        let votes: Vec<Comparison> =
            votes.map(|vote| Comparison::new(vote.left, vote.right, vote.y)).collect();
        let items = self.truth.len();
        Ok(ComparisonGraph::new(items, Groups::merge(items, &votes)?.groups)?)
    }

    pub(crate) fn annotator_votes(&self) -> AnnotatorVotes {
        let vote = |vote: &CrowdVote| Comparison {
            annotator: Some(vote.annotator),
            ..Comparison::new(vote.left, vote.right, vote.y)
        };
        let votes: Vec<Comparison> = self.votes.iter().map(vote).collect();
        AnnotatorVotes::from_comparisons(self.annotators, &votes, true)
    }

    pub(crate) fn is_graded(&self) -> bool {
        self.votes.iter().any(|vote| vote.y.abs() > 1.0)
    }

    /// The share of votes that are bad.
    pub(crate) fn bad_share(&self) -> f64 {
        self.votes.iter().filter(|vote| vote.is_bad).count() as f64 / self.votes.len() as f64
    }
}

fn logistic(d: f64) -> f64 {
    1.0 / (1.0 + (-d).exp())
}

/// Returns true scores with mean zero, and their standard deviation before they were drawn.
fn true_scores(items: usize, random: &mut Random) -> (Vec<f64>, f64) {
    let spread = random.between(1.2, 2.2);
    let mut scores: Vec<f64> = (0..items).map(|_| spread * random.normal()).collect();
    let mean = scores.iter().sum::<f64>() / items as f64;
    scores.iter_mut().for_each(|score| *score -= mean);
    (scores, spread)
}

/// Returns the behaviour and the number of votes of each annotator.
fn people(crowd: CrowdKind, size: &Size, random: &mut Random) -> Vec<(Behaviour, usize)> {
    let share = random.between(0.1, 0.4);
    let mut count = || {
        let votes = size.mean_votes as f64 * (0.5 * random.normal() - 0.125).exp();
        (votes as usize).max(MIN_VOTES)
    };
    let mut counts: Vec<usize> = (0..size.annotators).map(|_| count()).collect();
    if crowd.has_passers_by() {
        counts.truncate((size.annotators / 2).max(5));
        counts.extend((0..PASSERS_BY * size.annotators).map(|_| 1 + random.below(2)));
    }
    let bad = match crowd {
        CrowdKind::Clean => 0.0,
        CrowdKind::Passers => (0.1 * counts.len() as f64).floor(),
        CrowdKind::PassersBad => (share * counts.len() as f64).floor(),
        _ => (share * counts.len() as f64).round(),
    };
    let mut is_bad: Vec<bool> = (0..counts.len()).map(|a| (a as f64) < bad).collect();
    random.shuffle(&mut is_bad);
    let behaviour = |is_bad: bool, random: &mut Random| {
        if is_bad { Behaviour::draw(crowd, random) } else { Behaviour::Honest }
    };
    counts.into_iter().zip(is_bad).map(|(n, is_bad)| (behaviour(is_bad, random), n)).collect()
}
