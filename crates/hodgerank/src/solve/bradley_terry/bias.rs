//! The bias of the scores, and their correction.
//!
//! With few votes per item, maximum likelihood places items too far apart, and the prior too close together.
//! To first order in 1/votes, the bias is H⁻¹ a with
//!
//! a_i = Σ_j −(λ ω d + ½ h κ₃/κ₂),
//!
//! H the information with the prior, h the share of a pair's information that its own votes have (its
//! leverage), and κ₂ and κ₃ the variance and the third cumulant of a vote; without ties κ₃/κ₂ = 1 − 2F(d).
//! The formula is that of Cordeiro and McCullagh (1991), with the prior added. It holds for votes with lapses,
//! too, because P'' / P' is then the same.
//!
//! h is I_ij (1/H_ii + 1/H_jj), up to a factor that lets the sum over a component be one less than its items:
//! exact resistances take an inverse and change little. Expansions do not hold for items with a few votes,
//! for which the first term can be larger than the score. A correction is therefore at most
//! [`MAX_CORRECTION`] standard errors.
//!
//! Cost: a pass over the pairs and one Laplacian solve.

use rayon::prelude::*;

use super::newton::MIN_WEIGHT;
use super::prior::{GraphPrior, sum_all_ends};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::StepSystem;

/// Largest correction of a score, in standard errors.
const MAX_CORRECTION: f64 = 0.3;
/// Relative residual of the linear system.
const SOLVE_TOLERANCE: f64 = 1e-6;

/// What votes on a pair say at the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairCurvature {
    /// The information of its votes about the difference of its items.
    pub(crate) information: f64,
    /// κ₃/κ₂ of one vote.
    pub(crate) skewness: f64,
}

/// Subtracts the bias from scores that maximise a likelihood with the prior of precision `lambda`. Collective.
pub(crate) fn reduce_bias(
    graph: &ComparisonGraph,
    system: &mut StepSystem<'_>,
    prior: &GraphPrior,
    lambda: f64,
    scores: &mut [f64],
    curvature: impl Fn(usize) -> PairCurvature + Send + Sync,
) -> Result<()> {
    let (pairs, components) = (graph.pairs(), graph.components());
    let curvature: Vec<PairCurvature> = (0..pairs.len()).into_par_iter().map(curvature).collect();
    let weight = |p: usize| (curvature[p].information + lambda * prior.weights[p]).max(MIN_WEIGHT);
    let [mut information] = sum_all_ends(graph.items(), pairs, |p| [(weight(p), weight(p))]);
    graph.communicator().sum(&mut information);
    let determined = |item: usize| {
        let members = components.members(components.of[item] as usize).len() as f64;
        1.0 - 1.0 / members
    };
    let [mut correction] = sum_all_ends(graph.items(), pairs, |p| {
        let (i, j) = (pairs.left[p] as usize, pairs.right[p] as usize);
        let PairCurvature { information: own, skewness } = curvature[p];
        let leverage = determined(i) * own * (1.0 / information[i] + 1.0 / information[j]);
        let difference = scores[i] - scores[j];
        let pull = lambda * prior.weights[p] * difference + 0.5 * leverage * skewness;
        [(pull, -pull)]
    });
    graph.communicator().sum(&mut correction);
    let correction = system.solve(weight, &correction, SOLVE_TOLERANCE, true)?;
    for ((score, step), information) in scores.iter_mut().zip(correction).zip(&information) {
        let most = MAX_CORRECTION / information.max(MIN_WEIGHT).sqrt();
        *score += step.clamp(-most, most);
    }
    components.centre(scores);
    Ok(())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use crate::solve::bradley_terry::{BradleyTerryOptions, solve};
    use crate::{Comparison, ComparisonGraph, Groups};

    /// True scores, and the graph of so many votes on random pairs.
    fn study(items: u32, votes: usize, seed: u64) -> (Vec<f64>, ComparisonGraph) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut truth: Vec<f64> = (0..items)
            .map(|_| {
                let normal: f64 = StandardNormal.sample(&mut random);
                1.5 * normal
            })
            .collect();
        let mean = truth.iter().sum::<f64>() / f64::from(items);
        truth.iter_mut().for_each(|score| *score -= mean);
        let vote = |_| {
            let left = random.random_range(0..items);
            let right = (left + random.random_range(1..items)) % items;
            let d = truth[left as usize] - truth[right as usize];
            let is_left = random.random::<f64>() < 1.0 / (1.0 + (-d).exp());
            Comparison::new(left, right, if is_left { 1.0 } else { -1.0 })
        };
        let votes: Vec<Comparison> = (0..votes).map(vote).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        (truth, ComparisonGraph::new(items as usize, groups).unwrap())
    }

    #[test]
    fn few_votes_do_not_stretch_scores() {
        // Twelve votes per item; one study has an error of about 5%.
        let (mut corrected, mut plain) = (0.0, 0.0);
        const STUDIES: u64 = 40;
        for seed in 0..STUDIES {
            let (truth, graph) = study(60, 360, seed);
            let slope = |prior: Option<f64>| {
                let options =
                    BradleyTerryOptions { prior, lapse_rate: Some(0.0), ..Default::default() };
                let found = solve(&graph, &options).unwrap();
                let products = found.solution.scores.iter().zip(&truth).map(|(s, t)| s * t);
                let slope = products.sum::<f64>() / truth.iter().map(|t| t * t).sum::<f64>();
                (slope, found.estimates.prior)
            };
            let (own, prior) = slope(None);
            corrected += own / STUDIES as f64;
            // The same precision, but given: scores are then those of maximum likelihood with the prior.
            plain += slope(Some(prior)).0 / STUDIES as f64;
        }
        assert!((corrected - 1.0).abs() < 0.04, "slope {corrected}");
        assert!(plain > 1.06, "slope {plain}");
    }
}
