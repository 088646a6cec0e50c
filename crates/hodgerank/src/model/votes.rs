//! The likelihood of a vote, and the votes of each pair.
//!
//! With x the linear predictor of a vote towards the first item of its pair, an honest vote prefers that item
//! with odds e^(x/2), the second one with odds e^(−x/2), and is a tie with odds ν (Davidson). Without ties
//! P(the first is preferred) = F(x), F the logistic function. A lapse, with probability ε, is an answer q that
//! does not depend on x: an outcome o has the probability P_o = (1 − ε) h_o(x) + ε q_o.
//!
//! Votes of a pair that have the same predictor form a [`Cell`]: x = s d + σ (b + b_a), with
//!
//! | symbol | name | meaning |
//! |---|---|---|
//! | d | | the score of the first item less that of the second one |
//! | σ | `sign` | 1 if the first item was on the left, −1 if the second one was, 0 if sides are unknown |
//! | b | `advantage` | advantage of the left side |
//! | s, b_a | [`Voice`] | sharpness and side preference of the annotator, and the weight of their votes |
//!
//! With s_o = 1, ½, 0 for a win, a tie and a loss of the first item, and r_o = (1 − ε) h_o / P_o the
//! probability that such a vote is honest, ∂ log P_o/∂x = r_o (s_o − E s), and
//! −∂² log P_o/∂x² = r_o (Var s − (1 − r_o)(s_o − E s)²). Its expectation, Σ_o P_o r_o² (s_o − E s)², is the information.

use rayon::prelude::*;

use super::pair_sums::PAIRS_PER_TASK;
use crate::comparison::positive_zero;
use crate::graph::{ComparisonGraph, PairSides, Pairs};
use crate::numeric::sum_tasks;

/// One number for each outcome of a pair: its first item wins, its second item wins, or a tie.
pub(crate) type Outcomes = [f64; 3];

/// s: how much of a vote with each outcome is for the first item.
const SHARE: Outcomes = [1.0, 0.0, 0.5];
pub(crate) const TIE: usize = 2;

/// The index of an outcome y.
pub(crate) fn outcome_of(y: f64) -> usize {
    match y {
        y if y > 0.0 => 0,
        y if y < 0.0 => 1,
        _ => TIE,
    }
}

/// Parameters of the likelihood besides the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct VoteModel {
    /// b, the advantage of the left side in log-odds.
    pub(crate) advantage: f64,
    /// ν.
    pub(crate) tie_odds: f64,
    /// ε.
    pub(crate) lapse_rate: f64,
    /// The share of ties among lapses: that among all votes.
    pub(crate) tie_share: f64,
}

/// Probabilities of honest votes at a difference of scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HonestVote {
    pub(crate) probability: Outcomes,
    /// log(e^(x/2) + e^(−x/2) + ν), from which the logarithms of all three follow.
    log_total: f64,
}

impl HonestVote {
    #[inline]
    pub(crate) fn new(x: f64, tie_odds: f64) -> Self {
        // Relative to the larger of e^(±x/2), so that nothing overflows.
        let smaller = (-x.abs()).exp();
        let tie = if tie_odds > 0.0 { tie_odds * smaller.sqrt() } else { 0.0 };
        let total = 1.0 + smaller + tie;
        let (large, small) = (1.0 / total, smaller / total);
        let (win, loss) = if x >= 0.0 { (large, small) } else { (small, large) };
        Self { probability: [win, loss, tie / total], log_total: 0.5 * x.abs() + total.ln() }
    }

    /// E s: the expected share of the vote for the first item.
    #[inline]
    pub(crate) fn expected(&self) -> f64 {
        self.probability[0] + 0.5 * self.probability[TIE]
    }

    /// The variance of that share.
    #[inline]
    pub(crate) fn variance(&self) -> f64 {
        let [win, loss, tie] = self.probability;
        win * loss + 0.25 * tie * (win + loss)
    }
}

/// Everything about votes at a difference x, by outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VoteTerms {
    pub(crate) log: Outcomes,
    /// ∂ log P/∂x.
    pub(crate) slope: Outcomes,
    /// r, the probability that such a vote is honest.
    pub(crate) honest: Outcomes,
    /// The expected −∂² log P/∂x².
    pub(crate) information: f64,
    /// −∂² log P/∂x² of each outcome; negative where a vote is probably a lapse.
    pub(crate) curvature: Outcomes,
    /// The probability that an honest vote is a tie.
    pub(crate) tie: f64,
}

impl VoteModel {
    #[inline]
    pub(crate) fn at(&self, x: f64) -> VoteTerms {
        let vote = HonestVote::new(x, self.tie_odds);
        let expected = vote.expected();
        let tie = vote.probability[TIE];
        let slope = |o: usize| SHARE[o] - expected;
        if self.lapse_rate == 0.0 {
            let of_tie = if self.tie_odds > 0.0 { self.tie_odds.ln() } else { 0.0 };
            return VoteTerms {
                log: [0.5 * x, -0.5 * x, of_tie].map(|own| own - vote.log_total),
                slope: std::array::from_fn(slope),
                honest: [1.0; 3],
                information: vote.variance(),
                curvature: [vote.variance(); 3],
                tie,
            };
        }
        let lapse = self.lapse();
        let all: Outcomes =
            std::array::from_fn(|o| (1.0 - self.lapse_rate) * vote.probability[o] + lapse[o]);
        let honest: Outcomes = std::array::from_fn(|o| {
            (1.0 - self.lapse_rate) * vote.probability[o] / all[o].max(f64::MIN_POSITIVE)
        });
        let variance = vote.variance();
        let curvature = std::array::from_fn(|o| {
            honest[o] * (variance - (1.0 - honest[o]) * slope(o) * slope(o))
        });
        let slope: Outcomes = std::array::from_fn(|o| honest[o] * slope(o));
        let information = (0..3).map(|o| all[o] * slope[o] * slope[o]).sum();
        let log = all.map(|p| p.max(f64::MIN_POSITIVE).ln());
        VoteTerms { log, slope, honest, information, curvature, tie }
    }

    /// ε q: the probability of each outcome by a lapse.
    fn lapse(&self) -> Outcomes {
        let side = 0.5 * self.lapse_rate * (1.0 - self.tie_share);
        [side, side, self.lapse_rate * self.tie_share]
    }
}

/// How an annotator votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Voice {
    /// How much their votes count.
    pub(crate) weight: f64,
    /// s: log-odds per unit of the scores; negative if they answer the opposite.
    pub(crate) sharpness: f64,
    /// b_a: their preference for the left side, in log-odds.
    pub(crate) side: f64,
}

impl Voice {
    /// A typical annotator.
    pub(crate) const TYPICAL: Self = Self { weight: 1.0, sharpness: 1.0, side: 0.0 };

    /// The nearest voice of a grid, whose steps are far below what is known about anybody: sums over votes take
    /// less time if many annotators have the same voice.
    pub(crate) fn rounded(self) -> Self {
        const STEPS: f64 = 1024.0;
        let round = |x: f64| positive_zero((STEPS * x).round() / STEPS);
        let Self { weight, sharpness, side } = self;
        Self { weight: round(weight), sharpness: round(sharpness), side: round(side) }
    }
}

/// Votes of a pair that have the same linear predictor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) sign: f64,
    pub(crate) voice: Voice,
    pub(crate) votes: Outcomes,
}

impl Cell {
    /// x at a difference of scores.
    #[inline]
    pub(crate) fn predictor(&self, d: f64, advantage: f64) -> f64 {
        self.voice.sharpness * d + self.sign * (advantage + self.voice.side)
    }
}

/// The votes of each pair of a graph, in cells.
pub(crate) trait VotesByPair: Sync {
    fn pairs(&self) -> &Pairs;

    /// Whether b is in the model.
    fn has_advantage(&self) -> bool;

    /// Calls `visit` with each cell of a pair, always in the same order.
    fn for_each_cell(&self, pair: usize, visit: impl FnMut(&Cell));

    /// The same with the votes of equal voices in one cell: for sums over votes.
    fn for_each_voice(&self, pair: usize, _sums: &mut VoiceSums, visit: impl FnMut(&Cell)) {
        self.for_each_cell(pair, visit);
    }
}

/// The votes of a pair by voice and side, and which of them there are.
#[derive(Debug, Default)]
pub(crate) struct VoiceSums {
    pub(crate) votes: Vec<Outcomes>,
    pub(crate) found: Vec<u32>,
}

/// The votes of each pair of a graph.
#[derive(Debug)]
pub(crate) struct PairVotes<'a> {
    pub(crate) pairs: &'a Pairs,
    /// The sign of b for the first item of a pair, and the votes: all with 0, or those with the first item on
    /// the left with 1 and the others with −1. Wins are those of the first item in all.
    pub(crate) sides: Vec<(f64, Vec<Outcomes>)>,
    pub(crate) tie_share: f64,
}

impl VotesByPair for PairVotes<'_> {
    fn pairs(&self) -> &Pairs {
        self.pairs
    }

    fn has_advantage(&self) -> bool {
        self.sides.len() > 1
    }

    #[inline]
    fn for_each_cell(&self, pair: usize, mut visit: impl FnMut(&Cell)) {
        for (sign, votes) in &self.sides {
            visit(&Cell { sign: *sign, voice: Voice::TYPICAL, votes: votes[pair] });
        }
    }
}

impl<'a> PairVotes<'a> {
    /// The votes of a graph, by the sign of their outcomes. Collective.
    pub(crate) fn new(graph: &'a ComparisonGraph) -> Self {
        let (groups, pairs) = (graph.groups(), graph.pairs());
        let of_pair = |range: &[u32]| {
            let mut votes = Outcomes::default();
            for g in range[0] as usize..range[1] as usize {
                votes[outcome_of(groups.y[g])] += groups.weight[g];
            }
            votes
        };
        let votes: Vec<Outcomes> =
            pairs.first_group.par_windows(2).with_min_len(PAIRS_PER_TASK).map(of_pair).collect();
        let mut totals = sum_tasks(votes.par_chunks(PAIRS_PER_TASK), |votes| {
            votes.iter().fold([0.0; 2], |sum, v| [sum[0] + v[TIE], sum[1] + v.iter().sum::<f64>()])
        });
        graph.communicator().sum(&mut totals);
        let tie_share = if totals[1] > 0.0 { totals[0] / totals[1] } else { 0.0 };
        Self { pairs, sides: vec![(0.0, votes)], tie_share }
    }

    /// Votes by the item that was on the left: the first one, or the second one. Collective.
    pub(crate) fn of_sides(
        graph: &'a ComparisonGraph,
        first: Vec<Outcomes>,
        second: Vec<Outcomes>,
    ) -> Self {
        let both = first.par_chunks(PAIRS_PER_TASK).zip(second.par_chunks(PAIRS_PER_TASK));
        let mut totals = sum_tasks(both, |(first, second)| {
            let all = first.iter().chain(second);
            all.fold([0.0; 2], |sum, v| [sum[0] + v[TIE], sum[1] + v.iter().sum::<f64>()])
        });
        graph.communicator().sum(&mut totals);
        let tie_share = if totals[1] > 0.0 { totals[0] / totals[1] } else { 0.0 };
        Self { pairs: graph.pairs(), sides: vec![(1.0, first), (-1.0, second)], tie_share }
    }

    /// The same votes by side.
    pub(crate) fn split(&self, graph: &'a ComparisonGraph, known: &[PairSides]) -> Self {
        let votes = self.sides.first().map_or(&[][..], |(_, votes)| votes);
        let split = |(votes, known): (&Outcomes, &PairSides)| {
            let [win, loss, tie] = *votes;
            let first = [known.won_left, loss - known.lost_right, known.tied_left];
            (first, [win - known.won_left, known.lost_right, tie - known.tied_left])
        };
        let (first, second) = votes.iter().zip(known).map(split).unzip();
        Self::of_sides(graph, first, second)
    }

    /// Whether sides say something: not if every vote prefers the item on the same side, as in a file that lists
    /// winners first. Collective.
    pub(crate) fn says_something_about_sides(&self, graph: &ComparisonGraph) -> bool {
        let [(_, first), (_, second)] = &self.sides[..] else { return false };
        let mut sums = [0.0; 2];
        for (first, second) in first.iter().zip(second) {
            sums[0] += first[0] + second[1];
            sums[1] += first[1] + second[0];
        }
        graph.communicator().sum(&mut sums);
        sums[0] > 0.0 && sums[1] > 0.0
    }

    /// ν if all items were equal: where a search starts.
    pub(crate) fn tie_odds_of_equal_items(&self) -> f64 {
        // A study of ties alone would have infinite odds.
        let share = self.tie_share.min(0.99);
        2.0 * share / (1.0 - share)
    }

    /// For each group of votes, the mean over sides of a number for its pair and outcome.
    pub(crate) fn by_group(
        &self,
        graph: &ComparisonGraph,
        scores: &[f64],
        model: &VoteModel,
        value: impl Fn(&VoteTerms, usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let groups = graph.groups();
        let (pairs, first_group) = (self.pairs, &self.pairs.first_group);
        let (groups, value) = (&groups, &value);
        let of_pair = |p: usize| {
            let d = scores[pairs.left[p] as usize] - scores[pairs.right[p] as usize];
            // Both are the same if sides are not told apart.
            let [first, .., last] =
                [0, self.sides.len() - 1].map(|k| model.at(d + self.sides[k].0 * model.advantage));
            (first_group[p] as usize..first_group[p + 1] as usize).map(move |g| {
                let o = outcome_of(groups.y[g]);
                let (mut sum, mut votes) = (0.0, 0.0);
                for (terms, (_, own)) in [first, last].iter().zip(&self.sides) {
                    sum += own[p][o] * value(terms, o);
                    votes += own[p][o];
                }
                if votes > 0.0 { sum / votes } else { 0.0 }
            })
        };
        let all = (0..pairs.len()).into_par_iter().with_min_len(PAIRS_PER_TASK);
        all.flat_map_iter(of_pair).collect()
    }
}
