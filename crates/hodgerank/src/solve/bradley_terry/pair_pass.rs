//! One pass over the pairs: everything that a Newton step in the scores needs.
//!
//! Pairs are split in the same way for any number of threads, and the sums of the parts are added up in
//! order.

use rayon::prelude::*;

use super::pair_counts::{HonestVote, PairCounts};
use super::prior::{EndSums, GraphPrior, pair_parts};

/// For |score| up to this, products of four square roots of odds are finite.
const MAX_EXP_SCORE: f64 = 300.0;

/// What a pass returns about the pairs of this process, with all votes as honest.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairPass {
    /// ∂/∂θ of the log-likelihood.
    pub(crate) gradient: Vec<f64>,
    /// Σ ω (θ_i − θ_j) at each item: the slope of the prior is −λ times this.
    pub(crate) pull: Vec<f64>,
    /// The information of the votes at each item.
    pub(crate) information: Vec<f64>,
    /// That of the votes on each pair: seven digits suffice for a direction.
    pub(crate) pair_information: Vec<f32>,
    /// Zero unless it was asked for.
    pub(crate) log_likelihood: f64,
    /// Σ ω (θ_i − θ_j)².
    pub(crate) squares: f64,
    pub(crate) ties: f64,
    pub(crate) expected_ties: f64,
}

/// Whether a pass computes the log-likelihood: logarithms take half of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeedsValue {
    No,
    Yes,
}

impl PairCounts<'_> {
    /// Passes over the pairs at these scores.
    pub(crate) fn pass(
        &self,
        prior: &GraphPrior,
        scores: &[f64],
        tie_odds: f64,
        needs_value: NeedsValue,
    ) -> PairPass {
        let is_finite = scores.iter().all(|score| score.abs() < MAX_EXP_SCORE);
        let half_odds: Vec<f64> = match is_finite {
            true => scores.iter().map(|score| (0.5 * score).exp()).collect(),
            false => Vec::new(),
        };
        match (is_finite, needs_value) {
            (true, NeedsValue::Yes) => self.pass_with::<true>(prior, scores, tie_odds, |i, j| {
                let half_sum = 0.5 * (scores[i] + scores[j]);
                HonestVote::from_half_odds(half_odds[i], half_odds[j], half_sum, tie_odds)
            }),
            (true, NeedsValue::No) => self.pass_with::<false>(prior, scores, tie_odds, |i, j| {
                HonestVote::from_half_odds(half_odds[i], half_odds[j], 0.0, tie_odds)
            }),
            (false, _) => self.pass_with::<true>(prior, scores, tie_odds, |i, j| {
                HonestVote::new(scores[i] - scores[j], tie_odds)
            }),
        }
    }

    fn pass_with<const HAS_VALUE: bool>(
        &self,
        prior: &GraphPrior,
        scores: &[f64],
        tie_odds: f64,
        honest_vote: impl Fn(usize, usize) -> HonestVote + Sync,
    ) -> PairPass {
        let pairs = self.pairs;
        let items = scores.len();
        let log_tie_odds = if tie_odds > 0.0 { tie_odds.ln() } else { 0.0 };
        let mut pair_information = vec![0.0_f32; pairs.len()];
        let ranges = pair_parts(items, pairs.len());
        let mut rest = &mut pair_information[..];
        let mut tasks = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (own, after) = rest.split_at_mut(range.len());
            tasks.push((range, own));
            rest = after;
        }
        let run = |(range, information): (std::ops::Range<usize>, &mut [f32])| {
            let mut ends = EndSums::<3>::new(items, pairs, range.clone());
            let mut sums = [0.0; 4];
            for (p, information) in range.zip(information) {
                let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
                let (votes, honest) = (self.votes[p], honest_vote(i, j));
                let (d, total) = (scores[i] - scores[j], votes.total());
                let gradient = votes.win + 0.5 * votes.tie - total * honest.expected();
                let own = total * honest.variance();
                let pull = prior.weights[p] * d;
                *information = own as f32;
                ends.add(i, j, [(gradient, -gradient), (pull, -pull), (own, own)]);
                if HAS_VALUE {
                    sums[0] += 0.5 * d * (votes.win - votes.loss) + votes.tie * log_tie_odds
                        - total * honest.log_total;
                }
                sums[1] += pull * d;
                sums[2] += votes.tie;
                sums[3] += total * honest.tie;
            }
            (ends, sums)
        };
        let parts: Vec<_> = tasks.into_par_iter().with_max_len(1).map(run).collect();
        let (ends, sums): (Vec<_>, Vec<[f64; 4]>) = parts.into_iter().unzip();
        let [gradient, pull, information] = EndSums::total(items, &ends);
        let [log_likelihood, squares, ties, expected_ties] = sums.iter().fold([0.0; 4], |a, b| {
            std::array::from_fn(|k| a[k] + b[k])
        });
        PairPass {
            gradient,
            pull,
            information,
            pair_information,
            log_likelihood,
            squares,
            ties,
            expected_ties,
        }
    }
}
