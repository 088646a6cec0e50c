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
        let fixed = [bound.information, bound.gradient.powi(2), bound.gradient.powi(4)]
            .map(|bound| FixedPoint::new(bound, graph.votes()));
        let ranges = votes.split(rayon::current_num_threads());
        let of_range = |range: std::ops::Range<usize>| {
            let mut sums = vec![[0_i64; 3]; n * n];
            let mut single_votes = 0;
            for annotator in range {
                let is_known = annotator < votes.annotators();
                let own = scores.of_annotator(is_known.then_some(annotator as u32));
                for vote in votes.unsorted_of(annotator) {
                    let VoteSlope { gradient, information } =
                        own.of_vote(vote.left, vote.right, votes.y(vote));
                    let (i, j) = (vote.left.min(vote.right), vote.left.max(vote.right));
                    let sum = &mut sums[i as usize * n + j as usize];
                    let count = i64::from(vote.count);
                    sum[0] += count * fixed[0].of(information);
                    if !is_known {
                        let square = gradient * gradient;
                        sum[1] += count * fixed[1].of(square);
                        sum[2] += count * fixed[2].of(square * square);
                        single_votes += vote.count as usize;
                    }
                }
            }
            (sums, single_votes)
        };
        type Sums = (Vec<[i64; 3]>, usize);
        let add = |(mut a, of_a): Sums, (b, of_b): Sums| {
            a.iter_mut().zip(b).for_each(|(a, b)| (0..3).for_each(|k| a[k] += b[k]));
            (a, of_a + of_b)
        };
        let sums = ranges.into_par_iter().with_max_len(1).map(of_range).reduce_with(add);
        let (sums, single_votes) = sums.unwrap_or_else(|| (vec![[0; 3]; n * n], 0));
        let at = |p: usize| pairs.left[p] as usize * n + pairs.right[p] as usize;
        Self::of_sums(single_votes, |k| {
            (0..pairs.len()).map(|p| fixed[k].real(sums[at(p)][k])).collect()
        })
    }

    fn of_sums(single_votes: usize, sums: impl Fn(usize) -> Vec<f64>) -> Self {
        Self { information: sums(0), squares: sums(1), fourths: sums(2), single_votes }
    }
}
