//! Wins, losses and ties of each pair by the item that was shown on the left, and sums over them.
//!
//! With an advantage b of the left side, x = d + b where the first item of a pair was on the left, and
//! x = d − b where the second one was. An outcome o of the first item has the probability
//! P_o = (1 − ε) h_o(x) + ε q_o, h_o that of an honest vote and q_o that of a lapse. With s_o = 1, ½, 0
//! for a win, a tie and a loss, and r_o = (1 − ε) h_o / P_o the probability that such a vote is honest,
//!
//! ∂ log P_o/∂x = r_o (s_o − E s),  ∂ log P_o/∂ε = (q_o − h_o) / P_o.
//!
//! The information is the expected one, Σ_o P_o times products of these. Without lapses it is exact.

use rayon::prelude::*;

use super::pair_counts::{HonestVote, Outcomes, PAIRS_PER_TASK, PairCounts};
use crate::graph::{PairSides, Pairs};
use crate::numeric::sum_tasks;

/// The sign of the advantage of a pair's first item: on the left, and on the right.
const SIGNS: [f64; 2] = [1.0, -1.0];

/// The votes of each pair: with its first item on the left, and with its second one there. Wins are
/// those of the first item in both.
#[derive(Debug)]
pub(super) struct SidedCounts<'a> {
    pairs: &'a Pairs,
    votes: Vec<[Outcomes; 2]>,
    tie_share: f64,
}

/// Parameters of the model besides the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VoteModel {
    /// b, the advantage of the left side in log-odds.
    pub(super) advantage: f64,
    /// ν.
    pub(super) tie_odds: f64,
    /// ε.
    pub(super) lapse_rate: f64,
}

/// What one pass returns about a pair.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SidedSlope {
    /// ∂/∂d of the log-likelihood.
    pub(super) gradient: f64,
    /// The information about d, and that about d together with b and with ε.
    pub(super) information: f64,
    pub(super) with_advantage: f64,
    pub(super) with_rate: f64,
}

/// Sums over pairs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SidedSums {
    pub(super) log_likelihood: f64,
    /// ∂/∂b and ∂/∂ε.
    pub(super) side_gradient: f64,
    pub(super) rate_gradient: f64,
    /// The information about b, about ε and about both together.
    pub(super) side_information: f64,
    pub(super) rate_information: f64,
    pub(super) side_with_rate: f64,
    /// Honest ties, and how many are expected of honest votes.
    pub(super) ties: f64,
    pub(super) expected_ties: f64,
}

impl SidedSums {
    pub(super) fn to_array(self) -> [f64; 8] {
        [
            self.log_likelihood,
            self.side_gradient,
            self.rate_gradient,
            self.side_information,
            self.rate_information,
            self.side_with_rate,
            self.ties,
            self.expected_ties,
        ]
    }

    pub(super) fn of_array(sums: [f64; 8]) -> Self {
        let [log_likelihood, side_gradient, rate_gradient, side_information, ..] = sums;
        let [.., rate_information, side_with_rate, ties, expected_ties] = sums;
        Self {
            log_likelihood,
            side_gradient,
            rate_gradient,
            side_information,
            rate_information,
            side_with_rate,
            ties,
            expected_ties,
        }
    }
}

/// What the votes of one pair with one item on the left contribute.
#[derive(Debug, Clone, Copy, Default)]
struct SideTerms {
    value: f64,
    /// ∂/∂x and ∂/∂ε.
    gradient: f64,
    rate_gradient: f64,
    /// The information about x, about ε and about both together.
    information: f64,
    rate_information: f64,
    with_rate: f64,
    ties: f64,
    expected_ties: f64,
}

impl VoteModel {
    /// q: the probability of each outcome of a lapse.
    fn lapse(tie_share: f64) -> Outcomes {
        let side = 0.5 * (1.0 - tie_share);
        Outcomes { win: side, loss: side, tie: tie_share }
    }

    /// The probability that a vote is honest, by its outcome.
    fn honest(&self, x: f64, lapse: &Outcomes) -> Outcomes {
        let honest = HonestVote::new(x, self.tie_odds);
        let share = |honest: f64, lapse: f64| {
            let (honest, lapse) = ((1.0 - self.lapse_rate) * honest, self.lapse_rate * lapse);
            if lapse > 0.0 { honest / (honest + lapse) } else { 1.0 }
        };
        Outcomes {
            win: share(honest.win, lapse.win),
            loss: share(honest.loss, lapse.loss),
            tie: share(honest.tie, lapse.tie),
        }
    }

    fn terms(&self, votes: &Outcomes, x: f64, lapse: &Outcomes) -> SideTerms {
        let total = votes.total();
        if total == 0.0 {
            return SideTerms::default();
        }
        let honest = HonestVote::new(x, self.tie_odds);
        let mean = honest.expected();
        if self.lapse_rate == 0.0 {
            let ties = if votes.tie > 0.0 { votes.tie * self.tie_odds.ln() } else { 0.0 };
            return SideTerms {
                value: 0.5 * x * (votes.win - votes.loss) + ties - total * honest.log_total,
                gradient: votes.win + 0.5 * votes.tie - total * mean,
                information: total * honest.variance(),
                ties: votes.tie,
                expected_ties: total * honest.tie,
                ..SideTerms::default()
            };
        }
        let mut terms = SideTerms::default();
        let mut honest_votes = 0.0;
        for (votes, h, q, s) in [
            (votes.win, honest.win, lapse.win, 1.0),
            (votes.loss, honest.loss, lapse.loss, 0.0),
            (votes.tie, honest.tie, lapse.tie, 0.5),
        ] {
            let p = (1.0 - self.lapse_rate) * h + self.lapse_rate * q;
            if p == 0.0 {
                // Ties where there are none.
                continue;
            }
            let share = (1.0 - self.lapse_rate) * h / p;
            let (along, along_rate) = (share * (s - mean), (q - h) / p);
            terms.value += if votes > 0.0 { votes * p.ln() } else { 0.0 };
            terms.gradient += votes * along;
            terms.rate_gradient += votes * along_rate;
            terms.information += total * p * along * along;
            terms.rate_information += total * p * along_rate * along_rate;
            terms.with_rate += total * p * along * along_rate;
            honest_votes += votes * share;
            terms.ties += if s == 0.5 { votes * share } else { 0.0 };
        }
        terms.expected_ties = honest_votes * honest.tie;
        terms
    }
}

/// The votes of a pair with its first item on the left, and with its second one there.
pub(super) fn split((all, known): (&Outcomes, &PairSides)) -> [Outcomes; 2] {
    // Never negative, even if the sides are those of other votes.
    let win = known.won_left.min(all.win);
    let loss = (all.loss - known.lost_right).max(0.0);
    let tie = known.tied_left.min(all.tie);
    let second = Outcomes { win: all.win - win, loss: all.loss - loss, tie: all.tie - tie };
    [Outcomes { win, loss, tie }, second]
}

impl<'a> SidedCounts<'a> {
    /// The votes of each pair by side.
    pub(super) fn new(counts: &PairCounts<'a>, known: &[PairSides]) -> Self {
        let votes = counts.votes.par_iter().zip(known).map(split).collect();
        Self { pairs: counts.pairs, votes, tie_share: counts.tie_share }
    }

    /// The same pairs with each number of votes multiplied by a weight.
    pub(super) fn weighted(&self, weights: &[[Outcomes; 2]]) -> Self {
        let times = |(votes, w): (&[Outcomes; 2], &[Outcomes; 2])| {
            [votes[0].times(w[0]), votes[1].times(w[1])]
        };
        let votes = self.votes.par_iter().zip(weights).map(times).collect();
        Self { pairs: self.pairs, votes, tie_share: self.tie_share }
    }

    fn difference(&self, scores: &[f64], pair: usize) -> f64 {
        scores[self.pairs.left[pair] as usize] - scores[self.pairs.right[pair] as usize]
    }

    /// The slopes of each pair into `slopes`, and the sums of this process.
    pub(super) fn evaluate(
        &self,
        scores: &[f64],
        model: &VoteModel,
        slopes: &mut Vec<SidedSlope>,
    ) -> SidedSums {
        slopes.resize(self.votes.len(), SidedSlope::default());
        let lapse = VoteModel::lapse(self.tie_share);
        let tasks = slopes.par_chunks_mut(PAIRS_PER_TASK).enumerate();
        SidedSums::of_array(sum_tasks(tasks, |(task, slopes)| {
            let mut sums = SidedSums::default();
            for (k, slope) in slopes.iter_mut().enumerate() {
                let pair = task * PAIRS_PER_TASK + k;
                let d = self.difference(scores, pair);
                *slope = SidedSlope::default();
                for (votes, sign) in self.votes[pair].iter().zip(SIGNS) {
                    let terms = model.terms(votes, d + sign * model.advantage, &lapse);
                    slope.gradient += terms.gradient;
                    slope.information += terms.information;
                    slope.with_advantage += sign * terms.information;
                    slope.with_rate += terms.with_rate;
                    sums.log_likelihood += terms.value;
                    sums.side_gradient += sign * terms.gradient;
                    sums.rate_gradient += terms.rate_gradient;
                    sums.side_information += terms.information;
                    sums.rate_information += terms.rate_information;
                    sums.side_with_rate += sign * terms.with_rate;
                    sums.ties += terms.ties;
                    sums.expected_ties += terms.expected_ties;
                }
            }
            sums.to_array()
        }))
    }

    /// The log-likelihood of the votes of this process.
    pub(super) fn log_likelihood(&self, scores: &[f64], model: &VoteModel) -> f64 {
        self.evaluate(scores, model, &mut Vec::new()).log_likelihood
    }

    /// For each outcome of each pair and side, the probability that such a vote is honest.
    pub(super) fn honest_probabilities(
        &self,
        scores: &[f64],
        model: &VoteModel,
    ) -> Vec<[Outcomes; 2]> {
        let lapse = VoteModel::lapse(self.tie_share);
        let of_pair = |pair: usize| {
            let d = self.difference(scores, pair);
            SIGNS.map(|sign| model.honest(d + sign * model.advantage, &lapse))
        };
        (0..self.votes.len()).into_par_iter().map(of_pair).collect()
    }

    /// For each outcome of each pair, the mean of probabilities over the votes of both sides.
    pub(super) fn mean_of_sides(&self, of_sides: &[[Outcomes; 2]]) -> Vec<Outcomes> {
        let mean = |(votes, of_sides): (&[Outcomes; 2], &[Outcomes; 2])| {
            let [first, second] = *of_sides;
            let mean = |of: fn(&Outcomes) -> f64| {
                let (a, b) = (of(&votes[0]), of(&votes[1]));
                let total = a + b;
                // Between both, so that a probability of one stays one.
                let share = if total > 0.0 { a / total } else { 0.5 };
                of(&second) + share * (of(&first) - of(&second))
            };
            Outcomes { win: mean(|o| o.win), loss: mean(|o| o.loss), tie: mean(|o| o.tie) }
        };
        self.votes.par_iter().zip(of_sides).map(mean).collect()
    }

    /// For each pair and side the distance |x|, and the votes for and against the favoured item; those
    /// of x = 0 count half for each.
    pub(super) fn agreement(&self, scores: &[f64], advantage: f64) -> Vec<(f64, f64, f64)> {
        let of_pair = |pair: usize| {
            let d = self.difference(scores, pair);
            let of_side = |side: usize| {
                let (votes, x) = (&self.votes[pair][side], d + SIGNS[side] * advantage);
                let both = votes.win + votes.loss;
                let favoured = if x > 0.0 { votes.win } else { votes.loss };
                let agree = if x == 0.0 { 0.5 * both } else { favoured };
                (x.abs(), agree, both - agree)
            };
            [of_side(0), of_side(1)]
        };
        let all: Vec<[(f64, f64, f64); 2]> =
            (0..self.votes.len()).into_par_iter().map(of_pair).collect();
        all.into_iter().flatten().filter(|(_, agree, against)| agree + against > 0.0).collect()
    }
}
