//! One pass over the pairs: everything that a Newton step needs.

use rayon::prelude::*;

use super::pair_sums::{EndSums, pair_parts};
use super::prior::PriorTerm;
use super::votes::{Cell, TIE, Voice, VoiceSums, VoteModel, VotesByPair};

/// What a pass returns about the pairs of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pass {
    /// ∂/∂θ of the log-likelihood, less the slope of half the penalty of a prior on differences.
    pub(crate) gradient: Vec<f64>,
    /// The information about the difference of each pair: seven digits suffice for a direction.
    pub(crate) pair_information: Vec<f32>,
    /// The information about that difference together with b; empty if all votes have the sign 0.
    pub(crate) with_advantage: Vec<f32>,
    pub(crate) sums: PassSums,
}

/// Sums over all pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PassSums {
    pub(crate) log_likelihood: f64,
    /// ∂/∂b, and the information about b.
    pub(crate) side_gradient: f64,
    pub(crate) side_information: f64,
    /// Honest ties, and how many are expected of honest votes.
    pub(crate) ties: f64,
    pub(crate) expected_ties: f64,
    /// The penalty of a prior on differences.
    pub(crate) penalty: f64,
}

impl PassSums {
    pub(crate) fn to_array(self) -> [f64; 6] {
        let Self { log_likelihood, side_gradient, side_information, ties, expected_ties, penalty } =
            self;
        [log_likelihood, side_gradient, side_information, ties, expected_ties, penalty]
    }

    pub(crate) fn from_array(sums: [f64; 6]) -> Self {
        let [log_likelihood, side_gradient, side_information, ties, expected_ties, penalty] = sums;
        Self { log_likelihood, side_gradient, side_information, ties, expected_ties, penalty }
    }
}

impl Pass {
    /// Passes over the pairs at these scores.
    pub(crate) fn new<V: VotesByPair>(
        votes: &V,
        prior: &PriorTerm,
        scores: &[f64],
        model: &VoteModel,
    ) -> Self {
        let (pairs, items) = (votes.pairs(), scores.len());
        let has_advantage = votes.has_advantage();
        let ranges = pair_parts(items, pairs.len());
        let run = |range: std::ops::Range<usize>| {
            let mut voices = VoiceSums::default();
            let mut ends = EndSums::<1>::new(items, pairs, range.clone());
            let mut sums = [0.0; 6];
            let mut information = Vec::with_capacity(range.len());
            let mut with_advantage =
                Vec::with_capacity(if has_advantage { range.len() } else { 0 });
            for p in range {
                let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
                let d = scores[i] - scores[j];
                let (mut gradient, mut own, mut cross) = (0.0, 0.0, 0.0);
                votes.for_each_voice(p, &mut voices, |cell| {
                    let Cell { sign, voice: Voice { weight, sharpness, .. }, votes } = cell;
                    let total = weight * votes.iter().sum::<f64>();
                    if total == 0.0 {
                        return;
                    }
                    let terms = model.at(cell.predictor(d, model.advantage));
                    let (mut slope, mut honest, mut information) = (0.0, 0.0, 0.0);
                    for o in (0..3).filter(|&o| votes[o] > 0.0) {
                        let count = weight * votes[o];
                        sums[0] += count * terms.log[o];
                        slope += count * terms.slope[o];
                        honest += count * terms.honest[o];
                        information += count * terms.curvature[o];
                    }
                    gradient += sharpness * slope;
                    own += sharpness * sharpness * information;
                    cross += sign * sharpness * information;
                    sums[1] += sign * slope;
                    sums[2] += sign.abs() * information;
                    sums[3] += weight * votes[TIE] * terms.honest[TIE];
                    sums[4] += honest * terms.tie;
                });
                let pull = prior.pair_weight(p) * d;
                gradient -= pull;
                sums[5] += pull * d;
                if own < 0.0 {
                    // No direction of ascent.
                    (own, cross) = (0.0, 0.0);
                }
                information.push(own as f32);
                if has_advantage {
                    with_advantage.push(cross as f32);
                }
                ends.add(i, [gradient]);
                ends.add(j, [-gradient]);
            }
            (ends, sums, information, with_advantage)
        };
        let parts: Vec<_> = ranges.into_par_iter().with_max_len(1).map(run).collect();
        let mut found = Self::default();
        let (mut all_ends, mut sums) = (Vec::with_capacity(parts.len()), [0.0; 6]);
        for (ends, own, information, with_advantage) in parts {
            all_ends.push(ends);
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            found.pair_information.extend(information);
            found.with_advantage.extend(with_advantage);
        }
        found.sums = PassSums::from_array(sums);
        [found.gradient] = EndSums::total(items, &all_ends);
        found
    }
}
