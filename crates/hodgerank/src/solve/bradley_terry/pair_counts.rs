//! Wins, losses and ties of each pair, and probabilities of them.

use rayon::prelude::*;

use crate::graph::{ComparisonGraph, Pairs};
use crate::numeric::sum_tasks;

/// Pairs per task; fixed, so that sums do not depend on the number of threads.
pub(super) const PAIRS_PER_TASK: usize = 1 << 13;

/// One number for each outcome of a pair: its left item wins, its right item wins, or a tie.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Outcomes {
    pub(super) win: f64,
    pub(super) loss: f64,
    pub(super) tie: f64,
}

impl Outcomes {
    pub(super) fn total(self) -> f64 {
        self.win + self.loss + self.tie
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { win: self.win * other.win, loss: self.loss * other.loss, tie: self.tie * other.tie }
    }
}

/// The votes of each pair of a graph.
#[derive(Debug)]
pub(crate) struct PairCounts<'a> {
    pub(super) pairs: &'a Pairs,
    pub(super) votes: Vec<Outcomes>,
    /// The share of ties among all votes: the probability that a lapse is a tie.
    pub(super) tie_share: f64,
}

/// Probabilities of the outcomes of honest votes at a difference d of scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HonestVote {
    pub(crate) win: f64,
    pub(crate) loss: f64,
    pub(crate) tie: f64,
    /// log(e^(d/2) + e^(−d/2) + ν), from which the logarithms of all three follow.
    pub(super) log_total: f64,
}

impl HonestVote {
    #[inline]
    pub(crate) fn new(d: f64, tie_odds: f64) -> Self {
        // Relative to the larger of e^(±d/2), so that nothing overflows.
        let larger = 0.5 * d.abs();
        let (up, down) = ((0.5 * d - larger).exp(), (-0.5 * d - larger).exp());
        let tie = tie_odds * (-larger).exp();
        let total = up + down + tie;
        Self {
            win: up / total,
            loss: down / total,
            tie: tie / total,
            log_total: larger + total.ln(),
        }
    }

    /// The same from the square roots a and b of the odds e^θ of the items, and half the sum of their
    /// scores: an exponential per item instead of three per pair.
    #[inline]
    pub(super) fn from_half_odds(a: f64, b: f64, half_sum: f64, tie_odds: f64) -> Self {
        let (win, loss, tie) = (a * a, b * b, tie_odds * a * b);
        let total = win + loss + tie;
        let per_total = 1.0 / total;
        Self {
            win: win * per_total,
            loss: loss * per_total,
            tie: tie * per_total,
            log_total: total.ln() - half_sum,
        }
    }

    /// The expected share of the vote for the first item.
    #[inline]
    pub(crate) fn expected(&self) -> f64 {
        self.win + 0.5 * self.tie
    }

    /// The variance of that share.
    #[inline]
    pub(crate) fn variance(&self) -> f64 {
        self.win * self.loss + 0.25 * self.tie * (self.win + self.loss)
    }

    /// The third cumulant of that share, relative to its variance.
    pub(crate) fn skewness(&self) -> f64 {
        let expected = self.expected();
        let cube = |probability: f64, share: f64| probability * (share - expected).powi(3);
        let third = cube(self.win, 1.0) + cube(self.tie, 0.5) + cube(self.loss, 0.0);
        third / self.variance().max(f64::MIN_POSITIVE)
    }
}

impl<'a> PairCounts<'a> {
    /// The votes of a graph, by the sign of their outcomes.
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let (groups, pairs) = (graph.groups(), graph.pairs());
        let of_pair = |range: &[u32]| {
            let mut votes = Outcomes::default();
            for g in range[0] as usize..range[1] as usize {
                let weight = groups.weight[g];
                match groups.y[g] {
                    y if y > 0.0 => votes.win += weight,
                    y if y < 0.0 => votes.loss += weight,
                    _ => votes.tie += weight,
                }
            }
            votes
        };
        let votes: Vec<Outcomes> = pairs.first_group.par_windows(2).map(of_pair).collect();
        let mut totals = sum_tasks(votes.par_chunks(PAIRS_PER_TASK), |votes| {
            votes.iter().fold([0.0; 2], |sum, v| [sum[0] + v.tie, sum[1] + v.total()])
        });
        graph.communicator().sum(&mut totals);
        let tie_share = if totals[1] > 0.0 { totals[0] / totals[1] } else { 0.0 };
        Self { pairs, votes, tie_share }
    }

    /// The same pairs with each number of votes multiplied by a weight.
    pub(super) fn weighted(&self, weights: &[Outcomes]) -> Self {
        let votes = self.votes.par_iter().zip(weights).map(|(votes, w)| votes.times(*w)).collect();
        Self { pairs: self.pairs, votes, tie_share: self.tie_share }
    }

    /// ν if all items were equal: where a search starts.
    pub(super) fn tie_odds_of_equal_items(&self) -> f64 {
        // A study of ties alone would have infinite odds.
        let share = self.tie_share.min(0.99);
        2.0 * share / (1.0 - share)
    }

    /// For each outcome of each pair, the probability that such a vote is honest.
    pub(super) fn honest_probabilities(
        &self,
        scores: &[f64],
        tie_odds: f64,
        lapse_rate: f64,
    ) -> Vec<Outcomes> {
        let lapse = self.lapse(lapse_rate);
        let at = HonestVotes::new(scores, tie_odds);
        let of_pair = |pair: usize| {
            let honest = at.vote(self.pairs.left[pair], self.pairs.right[pair]);
            let share = |honest: f64, lapse: f64| {
                let honest = (1.0 - lapse_rate) * honest;
                if lapse > 0.0 { honest / (honest + lapse) } else { 1.0 }
            };
            Outcomes {
                win: share(honest.win, lapse.win),
                loss: share(honest.loss, lapse.loss),
                tie: share(honest.tie, lapse.tie),
            }
        };
        (0..self.votes.len()).into_par_iter().map(of_pair).collect()
    }

    /// The probability of each outcome being a lapse, before the items are known.
    fn lapse(&self, lapse_rate: f64) -> Outcomes {
        let side = 0.5 * lapse_rate * (1.0 - self.tie_share);
        Outcomes { win: side, loss: side, tie: lapse_rate * self.tie_share }
    }

    /// The log-likelihood of the votes of this process.
    pub(super) fn log_likelihood(&self, scores: &[f64], tie_odds: f64, lapse_rate: f64) -> f64 {
        let lapse = self.lapse(lapse_rate);
        let log = |votes: f64, honest: f64, lapse: f64| match votes > 0.0 {
            true => votes * ((1.0 - lapse_rate) * honest + lapse).ln(),
            false => 0.0,
        };
        let at = HonestVotes::new(scores, tie_odds);
        let tasks = self.votes.par_chunks(PAIRS_PER_TASK).enumerate();
        let [sum] = sum_tasks(tasks, |(task, votes)| {
            let of_pair = |(k, votes): (usize, &Outcomes)| {
                let pair = task * PAIRS_PER_TASK + k;
                let honest = at.vote(self.pairs.left[pair], self.pairs.right[pair]);
                log(votes.win, honest.win, lapse.win)
                    + log(votes.loss, honest.loss, lapse.loss)
                    + log(votes.tie, honest.tie, lapse.tie)
            };
            [votes.iter().enumerate().map(of_pair).sum::<f64>()]
        });
        sum
    }

    /// A number for each group from that of its outcome.
    pub(super) fn by_group(
        &self,
        graph: &ComparisonGraph,
        value: impl Fn(f64) -> f64 + Sync,
        outcomes: &[Outcomes],
    ) -> Vec<f64> {
        let (groups, first_group) = (graph.groups(), &self.pairs.first_group);
        let mut values = vec![0.0; groups.len()];
        let mut rest = &mut values[..];
        let mut tasks = Vec::with_capacity(outcomes.len().div_ceil(PAIRS_PER_TASK));
        for start in (0..outcomes.len()).step_by(PAIRS_PER_TASK) {
            let end = outcomes.len().min(start + PAIRS_PER_TASK);
            let (own, after) = rest.split_at_mut((first_group[end] - first_group[start]) as usize);
            tasks.push((start..end, own));
            rest = after;
        }
        tasks.into_par_iter().for_each(|(pairs, values)| {
            let first = first_group[pairs.start] as usize;
            for p in pairs {
                for g in first_group[p] as usize..first_group[p + 1] as usize {
                    values[g - first] = value(match groups.y[g] {
                        y if y > 0.0 => outcomes[p].win,
                        y if y < 0.0 => outcomes[p].loss,
                        _ => outcomes[p].tie,
                    });
                }
            }
        });
        values
    }
}

/// For |score| up to this, products of four square roots of odds are finite.
const MAX_EXP_SCORE: f64 = 300.0;

/// Honest votes at given scores. Exponentials are those of the items, so that a pair takes none.
#[derive(Debug)]
pub(super) struct HonestVotes<'a> {
    scores: &'a [f64],
    tie_odds: f64,
    /// √e^θ; empty if products of these could overflow.
    half_odds: Vec<f64>,
}

impl<'a> HonestVotes<'a> {
    pub(super) fn new(scores: &'a [f64], tie_odds: f64) -> Self {
        let is_finite = scores.iter().all(|score| score.abs() < MAX_EXP_SCORE);
        let half_odds = match is_finite {
            true => scores.iter().map(|score| (0.5 * score).exp()).collect(),
            false => Vec::new(),
        };
        Self { scores, tie_odds, half_odds }
    }

    /// √e^θ of each item; none if products of these could overflow.
    pub(super) fn half_odds(&self) -> Option<&[f64]> {
        (self.half_odds.len() == self.scores.len()).then_some(&self.half_odds)
    }

    /// A vote on these items.
    #[inline]
    pub(super) fn vote(&self, left: u32, right: u32) -> HonestVote {
        let (i, j) = (left as usize, right as usize);
        match self.half_odds() {
            Some(half_odds) => {
                let half_sum = 0.5 * (self.scores[i] + self.scores[j]);
                HonestVote::from_half_odds(half_odds[i], half_odds[j], half_sum, self.tie_odds)
            }
            None => HonestVote::new(self.scores[i] - self.scores[j], self.tie_odds),
        }
    }
}
