//! One pass over the pairs: everything that a Newton step in the scores needs.
//!
//! Pairs are split in the same way for any number of threads, and the sums of the parts are added up in
//! order.

use rayon::prelude::*;

use super::pair_counts::{HonestVote, HonestVotes, PairCounts};
use super::prior::{EndSums, GraphPrior, pair_parts};

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
    /// Σ votes · P(tie) (1 − P(tie)).
    pub(crate) tie_information: f64,
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
        let at = HonestVotes::new(scores, tie_odds);
        match (at.half_odds(), needs_value) {
            (Some(half_odds), NeedsValue::No) => {
                self.pass_with::<false>(prior, scores, tie_odds, |i, j| {
                    HonestVote::from_half_odds(half_odds[i], half_odds[j], 0.0, tie_odds)
                })
            }
            (Some(half_odds), NeedsValue::Yes) => {
                self.pass_with::<true>(prior, scores, tie_odds, |i, j| {
                    let half_sum = 0.5 * (scores[i] + scores[j]);
                    HonestVote::from_half_odds(half_odds[i], half_odds[j], half_sum, tie_odds)
                })
            }
            (None, _) => self.pass_with::<true>(prior, scores, tie_odds, |i, j| {
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
            let mut sums = [0.0; 5];
            // Sums of the left item, which is the same for a run of pairs, and never a right item meanwhile.
            let mut left = pairs.left.get(range.start).map_or(0, |&left| left as usize);
            let mut own_sums = [0.0; 3];
            for (p, information) in range.zip(&mut *information) {
                let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
                if i != left {
                    ends.replace(left, own_sums);
                    (left, own_sums) = (i, ends.of(i));
                }
                let (votes, honest) = (self.votes[p], honest_vote(i, j));
                let (d, total) = (scores[i] - scores[j], votes.total());
                let gradient = votes.win + 0.5 * votes.tie - total * honest.expected();
                let own = total * honest.variance();
                let pull = prior.weights[p] * d;
                *information = own as f32;
                own_sums = [own_sums[0] + gradient, own_sums[1] + pull, own_sums[2] + own];
                ends.add_one(j, [-gradient, -pull, own]);
                if HAS_VALUE {
                    sums[0] += 0.5 * d * (votes.win - votes.loss) + votes.tie * log_tie_odds
                        - total * honest.log_total;
                }
                sums[1] += pull * d;
                sums[2] += votes.tie;
                let ties = total * honest.tie;
                sums[3] += ties;
                sums[4] += ties * (1.0 - honest.tie);
            }
            if !information.is_empty() {
                ends.replace(left, own_sums);
            }
            (ends, sums)
        };
        let parts: Vec<_> = tasks.into_par_iter().with_max_len(1).map(run).collect();
        let (ends, sums): (Vec<_>, Vec<[f64; 5]>) = parts.into_iter().unzip();
        let [gradient, pull, information] = EndSums::total(items, &ends);
        let [log_likelihood, squares, ties, expected_ties, tie_information] =
            sums.iter().fold([0.0; 5], |a, b| std::array::from_fn(|k| a[k] + b[k]));
        PairPass {
            gradient,
            pull,
            information,
            pair_information,
            log_likelihood,
            squares,
            ties,
            expected_ties,
            tie_information,
        }
    }
}
