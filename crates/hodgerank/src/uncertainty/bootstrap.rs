//! The distribution of the scores by repeating the whole fit with random weights.
//!
//! In each draw, every annotator has a random weight from the exponential distribution with mean one, and so
//! has every vote without an annotator; everything else is that of the fit: the method, its flags and how many
//! of them. The scores of the draws vary as those of repeated studies would. Weights are never zero, so that
//! items stay connected, which resampled annotators would not ensure.
//!
//! Valid for every method, because what the fit decides is decided again in each draw. Its cost is that of a
//! fit for each draw.
//!
//! Where sides are known, `bt` counts a pair's votes by side in the same shares as in all votes.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, Gamma};
use rayon::prelude::*;

use crate::annotator_votes::AnnotatorVotes;
use crate::error::{Error, Result};
use crate::fit::{Fit, fit_with_annotators};
use crate::graph::ComparisonGraph;
use crate::options::FitOptions;
use crate::solve::{Method, crowd};

/// The seed of the draws: the same votes have the same intervals.
const SEED: u64 = 0x626f_6f74;
/// Largest share of draws that may have no scores, because flagged votes disconnect the items.
const MAX_FAILED: f64 = 0.1;

/// A fit that is repeated.
pub(super) struct Bootstrap<'a> {
    pub(super) graph: &'a ComparisonGraph,
    pub(super) votes: Option<&'a AnnotatorVotes>,
    pub(super) fit: &'a Fit,
    options: FitOptions,
    /// The group of each vote with an annotator.
    group_of: Vec<u32>,
}

impl<'a> Bootstrap<'a> {
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        votes: Option<&'a AnnotatorVotes>,
        fit: &'a Fit,
        options: &FitOptions,
    ) -> Result<Self> {
        let votes = votes.filter(|votes| votes.annotators() > 0);
        if let Some(votes) = votes
            && fit.method == Method::Crowd
            && !votes.unsorted_of(votes.annotators()).is_empty()
        {
            let (option, value) = ("intervals", "bootstrap, with --method crowd".to_owned());
            let expected = "sandwich where votes have no annotator; or give each vote an annotator";
            return Err(Error::BadOption { option, value, expected });
        }
        let group_of = votes.map_or_else(Vec::new, |votes| {
            votes
                .all(false)
                .par_iter()
                .map(|vote| {
                    let is_turned = vote.left > vote.right;
                    let y = if is_turned { -votes.y(vote) } else { votes.y(vote) };
                    group_of(graph, (vote.left.min(vote.right), vote.left.max(vote.right)), y)
                })
                .collect()
        });
        Ok(Self { graph, votes, fit, options: options.fixed_by(fit), group_of })
    }

    /// The scores of all draws, centred on each component. `done` counts them.
    pub(super) fn draws(&self, draws: usize, done: &AtomicU64) -> Result<Vec<Vec<f64>>> {
        let one = |k: usize| {
            let scores = self.draw(SEED ^ k as u64);
            done.fetch_add(1, Ordering::Relaxed);
            scores
        };
        let found: Vec<Option<Vec<f64>>> =
            (0..draws).into_par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
        let found: Vec<Vec<f64>> = found.into_iter().flatten().collect();
        if (found.len() as f64) < (1.0 - MAX_FAILED) * draws as f64 {
            return Err(Error::BadOption {
                option: "intervals",
                value: "bootstrap".to_owned(),
                expected: "votes that connect the items without flagged ones",
            });
        }
        Ok(found)
    }

    /// The scores of a draw; none if flagged votes disconnect items.
    fn draw(&self, seed: u64) -> Result<Option<Vec<f64>>> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let weights: Vec<f64> = (0..self.votes.map_or(0, AnnotatorVotes::annotators))
            .map(|_| Exp1.sample(&mut random))
            .collect();
        let graph = self.graph.reweighted(self.group_weights(&weights, &mut random));
        let (mut scores, components) = match (self.fit.method, self.votes) {
            (Method::Crowd, Some(votes)) => {
                let options = self.options.crowd_options();
                let found = crowd::solve_weighted(&graph, votes, Some(&weights), &options)?;
                (found.solution.scores, graph.components().clone())
            }
            _ => {
                let fit = fit_with_annotators(&graph, None, &self.options)?;
                (fit.scores, fit.components)
            }
        };
        if components.len() > self.fit.components.len() {
            return Ok(None);
        }
        self.fit.components.centre(&mut scores);
        Ok(Some(scores))
    }

    /// The weight of each group, given those of the annotators.
    fn group_weights(&self, weights: &[f64], random: &mut ChaCha8Rng) -> Vec<f64> {
        let groups = self.graph.groups();
        // A sum of exponential weights, one for each vote.
        let mut single = |votes: f64| match Gamma::new(votes, 1.0) {
            Ok(gamma) => gamma.sample(random),
            Err(_) => 0.0,
        };
        let Some(votes) = self.votes else {
            return groups.weight.iter().map(|&votes| single(votes)).collect();
        };
        let mut sums = vec![0.0; groups.len()];
        let mut group = self.group_of.iter();
        for annotator in 0..=votes.annotators() {
            for (vote, &g) in votes.unsorted_of(annotator).iter().zip(&mut group) {
                let count = f64::from(vote.count);
                let weight = match weights.get(annotator) {
                    Some(weight) => weight * count,
                    None => single(count),
                };
                sums[g as usize] += weight;
            }
        }
        sums
    }
}

/// The group of votes on a pair with this outcome.
fn group_of(graph: &ComparisonGraph, pair: (u32, u32), y: f64) -> u32 {
    let (pairs, groups) = (graph.pairs(), graph.groups());
    let (mut low, mut high) = (0, pairs.len());
    while low < high {
        let middle = low.midpoint(high);
        if (pairs.left[middle], pairs.right[middle]) < pair {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let first = pairs.first_group[low];
    let mut own = first..pairs.first_group[low + 1];
    own.find(|&g| groups.y[g as usize] == y).unwrap_or(first)
}
