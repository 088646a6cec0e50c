//! Sums over the votes on each pair: their information, and the slopes of votes that stand for themselves.

use rayon::prelude::*;

use super::fixed_point::FixedPoint;
use super::vote_scores::VoteScores;
use crate::annotator_votes::AnnotatorVotes;
use crate::graph::ComparisonGraph;
use crate::solve::crowd::VoteSlope;

/// Sums over the votes on each pair.
pub(super) struct PairSums {
    pub(super) information: Vec<f64>,
    /// Σ of squared slopes of votes without an annotator.
    pub(super) squares: Vec<f64>,
    /// Σ of their fourth powers.
    pub(super) fourths: Vec<f64>,
    /// The number of these votes.
    pub(super) single_votes: usize,
}

impl PairSums {
    pub(super) fn new(
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        scores: &VoteScores<'_>,
    ) -> Self {
        match votes {
            Some(votes) => Self::of_annotators(graph, votes, scores),
            None => Self::of_single_votes(graph, scores),
        }
    }

    fn of_single_votes(graph: &ComparisonGraph, scores: &VoteScores<'_>) -> Self {
        let (groups, pairs) = (graph.groups(), graph.pairs());
        let any = scores.of_annotator(None);
        let of_pair = |range: &[u32]| {
            let mut sums = [0.0; 3];
            for g in range[0] as usize..range[1] as usize {
                let slope = any.of_vote(groups.left[g], groups.right[g], groups.y[g]);
                let square = slope.gradient * slope.gradient;
                sums[0] += groups.weight[g] * slope.information;
                sums[1] += groups.weight[g] * square;
                sums[2] += groups.weight[g] * square * square;
            }
            sums
        };
        let sums: Vec<[f64; 3]> = pairs.first_group.windows(2).map(of_pair).collect();
        Self::of_sums(graph.votes() as usize, |k| sums.iter().map(|sums| sums[k]).collect())
    }

    fn of_annotators(
        graph: &ComparisonGraph,
        votes: &AnnotatorVotes,
        scores: &VoteScores<'_>,
    ) -> Self {
        let (n, pairs) = (graph.items(), graph.pairs());
        let bound = scores.bound(graph);
        let fixed = |bound: f64| FixedPoint::new(bound, graph.votes());
        let of_information = fixed(bound.information);
        let of_slopes = [fixed(bound.gradient.powi(2)), fixed(bound.gradient.powi(4))];
        let at = |i: u32, j: u32| i.min(j) as usize * n + i.max(j) as usize;
        // Plain votes are all votes but those that the pass below visits.
        let plain = scores.plain();
        let is_plain = |annotator: usize| plain.is_some() && annotator < votes.annotators();
        // The information and the number of votes of each pair.
        let others = |range: std::ops::Range<usize>| {
            let mut sums = vec![(0_i64, 0_i64); n * n];
            for annotator in range.filter(|&annotator| !is_plain(annotator)) {
                let is_known = annotator < votes.annotators();
                let own = scores.of_annotator(is_known.then_some(annotator as u32));
                for vote in votes.unsorted_of(annotator) {
                    let slope = own.of_vote(vote.left, vote.right, votes.y(vote));
                    let (sum, count) = &mut sums[at(vote.left, vote.right)];
                    *sum += i64::from(vote.count) * of_information.of(slope.information);
                    *count += i64::from(vote.count);
                }
            }
            sums
        };
        let add = |mut a: Vec<(i64, i64)>, b: Vec<(i64, i64)>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = (a.0 + b.0, a.1 + b.1));
            a
        };
        let ranges = votes.split(rayon::current_num_threads()).into_par_iter();
        let others = ranges.with_max_len(1).map(others).reduce_with(add);
        let others = others.unwrap_or_else(|| vec![(0, 0); n * n]);
        let information = |p: usize| {
            let (left, right) = (pairs.left[p], pairs.right[p]);
            let (sum, count) = others[at(left, right)];
            let of_plain = plain.as_ref().map_or(0.0, |plain| {
                (pairs.weight[p] - count as f64) * plain.of_vote(left, right, 1.0).information
            });
            of_information.real(sum) + of_plain
        };
        let unknown = votes.unsorted_of(votes.annotators());
        let mut slopes = vec![[0_i64; 2]; if unknown.is_empty() { 0 } else { n * n }];
        let any = scores.of_annotator(None);
        for vote in unknown {
            let VoteSlope { gradient, .. } = any.of_vote(vote.left, vote.right, votes.y(vote));
            let sums = &mut slopes[at(vote.left, vote.right)];
            let (square, count) = (gradient * gradient, i64::from(vote.count));
            sums[0] += count * of_slopes[0].of(square);
            sums[1] += count * of_slopes[1].of(square * square);
        }
        let single_votes = unknown.iter().map(|vote| vote.count as usize).sum();
        let of_pair = |p: usize| at(pairs.left[p], pairs.right[p]);
        Self::of_sums(single_votes, |k| {
            let sum = |p: usize| match k {
                0 => information(p),
                _ => slopes.get(of_pair(p)).map_or(0.0, |sums| of_slopes[k - 1].real(sums[k - 1])),
            };
            (0..pairs.len()).into_par_iter().map(sum).collect()
        })
    }

    fn of_sums(single_votes: usize, sums: impl Fn(usize) -> Vec<f64>) -> Self {
        Self { information: sums(0), squares: sums(1), fourths: sums(2), single_votes }
    }
}
