//! Standard errors of many items, for which no covariance fits into memory.
//!
//! Random vectors z = H† x have the covariance of the scores, if x has that of the slopes:
//!
//! x = √(1 − ρ) Σ_clusters ε g + √(ρ φ) Σ_pairs ε √I (e_i − e_j),
//!
//! ε being independent normal numbers; the rest is that of `sandwich.rs`. The
//! second sum has the covariance of the model, φ is estimated from draws of the first alone (the mean of xᵀz over
//! the rank r of H), and the share of the model is ρ = r / (r + clusters): it is needed where clusters are
//! fewer than scores.
//!
//! The mean square of [`DRAWS`] numbers has a relative error of √(2/DRAWS). The variances of items are nearly in
//! proportion to 1/H_ii, so each is moved towards this proportion, by as much as the errors of all of them
//! suggest. What is left is the accuracy that the result states.
//!
//! Cost: a pass over the votes for every [`BATCH`] draws, and a Laplacian solve for each draw.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::vote_scores::VoteScores;
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StepSystem};
use crate::numeric::dot;

/// Draws, and how many are computed at a time.
const DRAWS: usize = 32;
const BATCH: usize = 8;
/// Relative residual of the linear systems: far below the error of the draws.
const SOLVE_TOLERANCE: f64 = 1e-3;
const SEED: u64 = 0x6d61_6e79;
const MIN_WEIGHT: f64 = 1e-12;
/// Largest leverage that is corrected for.
const MAX_LEVERAGE: f64 = 0.9;

/// Standard errors without a covariance.
#[derive(Debug, Clone)]
pub(super) struct ManyItems {
    pub(super) se: Vec<f64>,
    /// Annotators, or votes without one.
    pub(super) clusters: usize,
    pub(super) is_clustered: bool,
    /// The relative standard error of the standard errors.
    pub(super) accuracy: f64,
}

/// What all draws have in common.
struct Draws<'a> {
    graph: &'a ComparisonGraph,
    votes: Option<&'a AnnotatorVotes>,
    scores: &'a VoteScores<'a>,
    /// The information of each pair, with the prior.
    weights: Vec<f64>,
    /// What a prior on the scores adds to the information of each item.
    shift: f64,
    /// H_ii.
    diagonal: Vec<f64>,
}

impl ManyItems {
    pub(super) fn new(
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        scores: &VoteScores<'_>,
    ) -> Result<Self> {
        let votes = votes.filter(|votes| votes.annotators() > 0);
        let draws = Draws::new(graph, votes, scores);
        let rank = (graph.items() - graph.components().len()).max(1) as f64;
        let clusters = match votes {
            Some(votes) => {
                let unknown = votes.unsorted_of(votes.annotators()).iter();
                votes.annotators() + unknown.map(|vote| vote.count as usize).sum::<usize>()
            }
            None => graph.votes() as usize,
        };
        let share = rank / (rank + clusters as f64);
        let mut system = StepSystem::new(graph, BackendChoice::Auto)?;
        let mut solve = |right_sides: &[Vec<f64>]| {
            let right_sides: Vec<&[f64]> = right_sides.iter().map(|x| &x[..]).collect();
            let weight = |p: usize| draws.weights[p].max(MIN_WEIGHT);
            system.solve_all(weight, draws.shift, &right_sides, SOLVE_TOLERANCE, false)
        };
        let first = draws.batch(0, 1.0, 0.0);
        let solved = solve(&first)?;
        let products = first.iter().zip(&solved).map(|(x, z)| dot(x, z));
        let factor = products.sum::<f64>() / (rank * first.len() as f64);
        let factor = if scores.is_likelihood() { factor.max(1.0) } else { factor };
        let mut squares = vec![0.0; graph.items()];
        for batch in 1..=DRAWS / BATCH {
            let right_sides = draws.batch(batch, (1.0 - share).sqrt(), (share * factor).sqrt());
            for mut z in solve(&right_sides)? {
                graph.components().centre(&mut z);
                squares.iter_mut().zip(&z).for_each(|(sum, z)| *sum += z * z / DRAWS as f64);
            }
        }
        let (se, accuracy) = draws.smooth(&squares);
        Ok(Self { se, clusters, is_clustered: votes.is_some(), accuracy })
    }
}

impl<'a> Draws<'a> {
    fn new(
        graph: &'a ComparisonGraph,
        votes: Option<&'a AnnotatorVotes>,
        scores: &'a VoteScores<'a>,
    ) -> Self {
        let mut weights = pair_information(graph, votes, scores);
        let mut shift = 0.0;
        if let Some(prior) = scores.prior(graph) {
            weights.iter_mut().enumerate().for_each(|(p, sum)| *sum += prior.pair_weight(p));
            shift = prior.shift();
        }
        let pairs = graph.pairs();
        let mut diagonal = vec![shift; graph.items()];
        for (p, weight) in weights.iter().enumerate() {
            diagonal[pairs.left[p] as usize] += weight;
            diagonal[pairs.right[p] as usize] += weight;
        }
        Self { graph, votes, scores, weights, shift, diagonal }
    }

    /// Right-hand sides with these factors of the slopes and of the model, one for each draw.
    fn batch(&self, batch: usize, of_slopes: f64, of_model: f64) -> Vec<Vec<f64>> {
        let draw = |k: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(SEED ^ (batch * BATCH + k) as u64);
            let mut x = vec![0.0; self.graph.items()];
            if of_slopes > 0.0 {
                self.add_slopes(of_slopes, &mut random, &mut x);
            }
            if of_model > 0.0 {
                self.add_model(of_model, &mut random, &mut x);
            }
            if self.shift > 0.0 {
                // The solver expects a sum of zero, and a constant changes no differences.
                self.graph.components().centre(&mut x);
            }
            x
        };
        (0..BATCH).into_par_iter().map(draw).collect()
    }

    fn add_slopes(&self, factor: f64, random: &mut ChaCha8Rng, x: &mut [f64]) {
        let mut add = |left: u32, right: u32, slope: f64, information: f64| {
            let (i, j) = (left as usize, right as usize);
            let leverage = information * (1.0 / self.diagonal[i] + 1.0 / self.diagonal[j]);
            let slope = factor * slope / (1.0 - leverage.min(MAX_LEVERAGE)).sqrt();
            x[i] += slope;
            x[j] -= slope;
        };
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        let Some(votes) = self.votes else {
            let (groups, any) = (self.graph.groups(), self.scores.of_annotator(None));
            for g in 0..groups.len() {
                let (left, right) = (groups.left[g], groups.right[g]);
                let slope = any.of_vote(left, right, groups.y[g]);
                let sum = groups.weight[g].sqrt() * normal();
                add(left, right, sum * slope.gradient, slope.information);
            }
            return;
        };
        for annotator in 0..=votes.annotators() {
            let is_known = annotator < votes.annotators();
            let own = self.scores.of_annotator(is_known.then_some(annotator as u32));
            let sign = normal();
            for vote in votes.unsorted_of(annotator) {
                let slope = own.of_vote(vote.left, vote.right, votes.y(vote));
                let count = f64::from(vote.count);
                let sum = if is_known { sign * count } else { count.sqrt() * normal() };
                add(vote.left, vote.right, sum * slope.gradient, slope.information);
            }
        }
    }

    fn add_model(&self, factor: f64, random: &mut ChaCha8Rng, x: &mut [f64]) {
        let pairs = self.graph.pairs();
        for (p, weight) in self.weights.iter().enumerate() {
            let size = factor * weight.sqrt();
            let flow = if random.random::<bool>() { size } else { -size };
            x[pairs.left[p] as usize] += flow;
            x[pairs.right[p] as usize] -= flow;
        }
        if self.shift > 0.0 {
            let size = factor * self.shift.sqrt();
            x.iter_mut().for_each(|x| *x += if random.random::<bool>() { size } else { -size });
        }
    }

    /// Standard errors from mean squares of the draws, and their accuracy.
    fn smooth(&self, squares: &[f64]) -> (Vec<f64>, f64) {
        let components = self.graph.components();
        let is_alone = |i: usize| components.members(components.of[i] as usize).len() < 2;
        let mut ratios: Vec<f64> =
            squares.iter().zip(&self.diagonal).map(|(square, own)| square * own).collect();
        let known: Vec<f64> =
            (0..ratios.len()).filter(|&i| !is_alone(i)).map(|i| ratios[i]).collect();
        let number = (known.len() as f64).max(1.0);
        let mean = known.iter().sum::<f64>() / number;
        let spread = known.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / number;
        let noise = 2.0 * mean * mean / DRAWS as f64;
        // Of the ratios, not of their estimates.
        let true_spread = (spread - noise).max(0.0);
        let weight = if spread > 0.0 { true_spread / spread } else { 0.0 };
        ratios.iter_mut().for_each(|ratio| *ratio = mean + weight * (*ratio - mean));
        let se = |i: usize| match is_alone(i) {
            true => f64::INFINITY,
            false => (ratios[i] / self.diagonal[i]).sqrt(),
        };
        let error = (weight * noise).sqrt();
        let accuracy = if mean > 0.0 { 0.5 * error / mean } else { 0.0 };
        ((0..ratios.len()).map(se).collect(), accuracy)
    }
}

/// The information of the votes of each pair.
fn pair_information(
    graph: &ComparisonGraph,
    votes: Option<&AnnotatorVotes>,
    scores: &VoteScores<'_>,
) -> Vec<f64> {
    let (pairs, groups) = (graph.pairs(), graph.groups());
    let Some(votes) = votes else {
        let any = scores.of_annotator(None);
        let of_pair = |range: &[u32]| {
            let of_group = |g: usize| {
                let slope = any.of_vote(groups.left[g], groups.right[g], groups.y[g]);
                groups.weight[g] * slope.information
            };
            (range[0] as usize..range[1] as usize).map(of_group).sum()
        };
        return pairs.first_group.par_windows(2).map(of_pair).collect();
    };
    // Pairs of an item are next to each other: a search among them is short.
    let mut first = vec![0_u32; graph.items() + 1];
    pairs.left.iter().for_each(|&left| first[left as usize + 1] += 1);
    for i in 0..graph.items() {
        first[i + 1] += first[i];
    }
    let pair_of = |vote: &AnnotatorVote| {
        let (i, j) = (vote.left.min(vote.right) as usize, vote.left.max(vote.right));
        let range = first[i] as usize..first[i + 1] as usize;
        range.start + pairs.right[range].partition_point(|&right| right < j)
    };
    let mut information = vec![0.0; pairs.len()];
    for annotator in 0..=votes.annotators() {
        let is_known = annotator < votes.annotators();
        let own = scores.of_annotator(is_known.then_some(annotator as u32));
        for vote in votes.unsorted_of(annotator) {
            let slope = own.of_vote(vote.left, vote.right, votes.y(vote));
            information[pair_of(vote)] += f64::from(vote.count) * slope.information;
        }
    }
    information
}
