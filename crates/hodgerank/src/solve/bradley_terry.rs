//! Bradley–Terry scores by maximum likelihood, with lapses, ties and a prior whose width is estimated.
//!
//! With d = θ_i − θ_j, an honest vote prefers i with odds e^(d/2), prefers j with odds e^(−d/2), and is
//! a tie with odds ν (Davidson). Without ties P(i is preferred) = F(d), F the logistic function, so
//! that scores are log-odds. A lapse, with probability ε, is an answer that does not depend on d. Only
//! the side of an outcome counts, not its size.
//!
//! If sides are known, d is replaced by x = d + b where i was shown on the left, and by x = d − b where j
//! was: b is the advantage of the left side in log-odds. Unless the votes speak clearly for it, it is 0,
//! and everything else is exactly as without sides.
//!
//! The prior is normal on the differences of compared items (`prior.rs`): −½ λ Σ_pairs ω (θ_i − θ_j)².
//! It keeps the scores of undefeated and winless items finite, and items with few votes near those
//! that they were compared with. That of b is −½ λ b².
//!
//! | step | estimates | from |
//! |---|---|---|
//! | 1 | θ, ν, λ | all votes as honest; λ by empirical Bayes |
//! | 1b | whether b ≠ 0; θ, b, ν | the score statistic of b; all votes as honest, with λ of step 1 |
//! | 2 | ε | maximum likelihood with lapses ([`crate::select::lapse`]; with b `side_search.rs`), kept if the votes speak for it |
//! | 3 | θ, b, ν | votes weighted by the probability that they are honest, with λ of step 1 |
//! | 4 | ε and the unit of θ and b | the curve of agreement over distance \|x\|, and the prior |
//! | 5 | θ | unless λ was given, minus its bias (`bias.rs`) |
//!
//! Lapses shrink the scores of step 1 and so the width of the prior relative to them, which step 4
//! corrects. Steps 1 and 3 are concave: their optimality condition is that the gradient vanishes,
//! Σ_j [h w (s − E s) − λ ω d] = 0 at each item, with s = 1, ½, 0 for a win, a tie and a loss, and
//! Σ ± h w (s − E s) = λ b over all votes, with + where the pair's first item was on the left.
//!
//! Cost: for each Newton step one pass over the pairs and one Laplacian solve; five to fifteen steps.
//! The test of b takes one pass and two solves, and each step with b two solves, with lapses three. On
//! graphs with millions of pairs, where step 2 would take minutes, it estimates ε at the scores of step 1.
//! These fit lapses too, so that few votes per item can hide them.
//!
//! Failure modes: with λ = 0, the scores of items that always win diverge ([`Status::IterationLimit`]).
//! A lapse rate near one half cannot be told from noise. Without annotators nothing distinguishes a
//! crowd of contrary voters from an honest one with the opposite taste. Where every vote prefers the item
//! on the same side, the file lists winners first, and sides count as unknown.
//!
//! | symbol | here |
//! |---|---|
//! | ε | `lapse_rate` |
//! | λ | `prior` |
//! | ν | `tie_odds` |
//! | b | `side_advantage`, `advantage` |
//! | h | `honest` |

mod bias;
mod newton;
mod pair_counts;
mod pair_pass;
mod prior;
mod side_search;
mod sided_counts;

pub(super) use bias::{PairCurvature, reduce_bias};
pub(crate) use pair_counts::HonestVote;
pub(super) use pair_counts::PairCounts;
pub(super) use pair_pass::{NeedsValue, PairPass};
pub(crate) use prior::GraphPrior;
pub(super) use prior::sum_ends;

use std::time::Instant;

use super::{Info, Solution, Status};
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, SideCounts};
use crate::laplacian::{BackendChoice, StepSystem};
use crate::select::lapse::Lapse;
use crate::select::{self, SidedVotes};
use newton::{Newton, NewtonRun};
use pair_counts::{HonestVotes, Outcomes};
use side_search::MIN_SIDE_GAIN;
use sided_counts::{SidedCounts, VoteModel};

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `prior` | estimated | λ, the precision of the prior | 0 or more |
/// | `lapse_rate` | estimated | ε, the share of votes that are lapses | 0 to 0.9 |
/// | `backend` | auto | how linear systems are solved | |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BradleyTerryOptions {
    /// λ, the precision of the prior; estimated if not given. 0 is no prior.
    pub prior: Option<f64>,
    /// ε, the share of votes that are lapses; estimated if not given. 0 is no lapses.
    pub lapse_rate: Option<f64>,
    /// How linear systems are solved.
    pub backend: BackendChoice,
}

/// Largest lapse rate that can be given.
const MAX_LAPSE_RATE: f64 = 0.9;

impl BradleyTerryOptions {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        let bad = |option, value: f64, expected| {
            Err(Error::BadOption { option, value: value.to_string(), expected })
        };
        match (self.prior, self.lapse_rate) {
            (Some(prior), _) if !(prior >= 0.0 && prior.is_finite()) => {
                bad("prior", prior, "a finite number, zero or more")
            }
            (_, Some(rate)) if !(0.0..=MAX_LAPSE_RATE).contains(&rate) => {
                bad("lapse-rate", rate, "a number from 0 to 0.9")
            }
            _ => Ok(()),
        }
    }
}

/// Scores and the other parameters of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// Scores in log-odds, mean zero on each component.
    pub solution: Solution,
    /// What was estimated besides the scores.
    pub estimates: BradleyTerryEstimates,
    /// For each group, the probability that its votes are lapses; the mean of its votes if that depends
    /// on their sides.
    pub lapse_probability: Vec<f64>,
}

/// Parameters of the model besides the scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BradleyTerryEstimates {
    /// ε, the share of votes that are lapses: answers that do not depend on the items.
    pub lapse_rate: f64,
    /// λ, the precision of the prior, in the units of the scores without lapses.
    pub prior: f64,
    /// ν, the odds of a tie between equal items against either side.
    pub tie_odds: f64,
    /// b, the advantage of the left side in log-odds; 0 if it is not in the model.
    pub side_advantage: f64,
    /// The factor by which step 4 stretched the scores; 1 without lapses.
    pub stretch: f64,
    /// The gain of the log-likelihood by including lapses in the model; 0 if ε was given.
    pub lapse_gain: f64,
    /// The log-likelihood of the votes at these scores, without the prior.
    pub log_likelihood: f64,
}

/// Computes the scores.
///
/// # Errors
/// If an option is invalid, or a requested backend does not support the graph.
///
/// # Example
/// ```
/// use hodgerank::solve::bradley_terry::{self, BradleyTerryOptions};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // The first item won three of four votes: odds of 3.
/// let votes = [Comparison::new(0, 1, 1.0).with_count(3), Comparison::new(1, 0, 1.0)];
/// let graph = ComparisonGraph::new(2, Groups::merge(2, &votes)?.groups)?;
/// let plain = BradleyTerryOptions { prior: Some(0.0), lapse_rate: Some(0.0), ..Default::default() };
/// let scores = bradley_terry::solve(&graph, &plain)?.solution.scores;
/// assert!((scores[0] - scores[1] - 3.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn solve(graph: &ComparisonGraph, options: &BradleyTerryOptions) -> Result<BradleyTerry> {
    solve_with_sides(graph, graph.sides(), options)
}

/// [`solve`] with other sides than those of the graph.
pub(crate) fn solve_with_sides(
    graph: &ComparisonGraph,
    sides: Option<&SideCounts>,
    options: &BradleyTerryOptions,
) -> Result<BradleyTerry> {
    let started = Instant::now();
    options.validate()?;
    let counts = PairCounts::new(graph);
    let mut newton = Newton::new(graph, options.backend)?;
    let mut tie_odds = counts.tie_odds_of_equal_items();
    let prior = match options.prior {
        Some(prior) => prior,
        None => newton.estimate_prior(&counts, &mut tie_odds, None, newton::MAX_PRIOR_STEPS)?,
    };
    let run = newton.maximise(&counts, &mut tie_odds, prior)?;
    let estimates = BradleyTerryEstimates {
        lapse_rate: 0.0,
        prior,
        tie_odds,
        side_advantage: 0.0,
        stretch: 1.0,
        lapse_gain: 0.0,
        log_likelihood: 0.0,
    };
    let mut found = Found { newton, run, estimates };
    let known = sides.map(|sides| sides.of_pairs(graph.pairs()));
    let sided = match known {
        Some(known)
            if found.newton.side_gain(&counts, &known, tie_odds, prior)? > MIN_SIDE_GAIN =>
        {
            Some(SidedCounts::new(&counts, &known))
        }
        _ => None,
    };
    match &sided {
        Some(sided) => found.find_lapses_and_advantage(sided, options)?,
        None => found.find_lapses(&counts, options)?,
    }
    graph.components().centre(&mut found.newton.scores);
    let honest = found.honest_probabilities(&counts, sided.as_ref());
    let lapse_probability = counts.by_group(graph, |honest| 1.0 - honest, &honest);
    if options.prior.is_none() {
        found.reduce_bias(&counts.weighted(&honest))?;
    }
    let log_likelihood = found.log_likelihood(&counts, sided.as_ref());
    found.estimates.log_likelihood = graph.communicator().sum_scalar(log_likelihood);
    let Found { newton, run, estimates } = found;
    let status = if run.converged { Status::Solved } else { Status::IterationLimit };
    let info = Info {
        backends: newton.backends(),
        iterations: run.steps,
        residual: run.violation,
        error_bound: None,
        time: started.elapsed(),
    };
    let solution = Solution { scores: newton.scores, status, info };
    Ok(BradleyTerry { solution, estimates, lapse_probability })
}

/// What has been found so far: first without lapses and an advantage.
struct Found<'a> {
    newton: Newton<'a>,
    run: NewtonRun,
    estimates: BradleyTerryEstimates,
}

impl Found<'_> {
    /// Steps 2 to 4 without an advantage.
    fn find_lapses(
        &mut self,
        counts: &PairCounts<'_>,
        options: &BradleyTerryOptions,
    ) -> Result<()> {
        let Self { newton, run, estimates } = self;
        let prior = estimates.prior;
        if options.lapse_rate == Some(0.0) {
            return Ok(());
        }
        let mut votes = SidedVotes::new(newton.graph);
        let found = match options.lapse_rate {
            Some(rate) => select::scores_with_lapses(&mut votes, Some(0.5 * rate)),
            None if newton.is_large => newton.scores_with_lapses(&votes, prior),
            None => select::scores_with_lapses(&mut votes, None),
        };
        estimates.lapse_gain = found.gain.max(0.0);
        let is_supported = options.lapse_rate.is_some() || found.gain > select::lapse::MIN_GAIN;
        if is_supported && found.rate > 0.0 {
            let honest =
                counts.honest_probabilities(&found.scores, estimates.tie_odds, 2.0 * found.rate);
            let honest_counts = counts.weighted(&honest);
            *run = newton.maximise(&honest_counts, &mut estimates.tie_odds, prior)?;
            let curve = select::agreement_curve(&votes, &newton.scores, newton.penalty(prior));
            estimates.apply(&curve, newton, options);
        }
        Ok(())
    }

    /// Steps 1b to 4 with an advantage.
    fn find_lapses_and_advantage(
        &mut self,
        counts: &SidedCounts<'_>,
        options: &BradleyTerryOptions,
    ) -> Result<()> {
        let mut model = self.model();
        let Self { newton, run, estimates } = self;
        let prior = estimates.prior;
        *run = newton.maximise_sided(counts, &mut model, prior)?;
        let found = match options.lapse_rate {
            Some(0.0) => None,
            given => Some(newton.sided_lapses(counts, &model, prior, given)?),
        };
        estimates.lapse_gain = found.as_ref().map_or(0.0, |found| found.gain.max(0.0));
        let is_supported =
            options.lapse_rate.is_some() || estimates.lapse_gain > select::lapse::MIN_GAIN;
        if let Some(found) = found.filter(|_| is_supported)
            && found.model.lapse_rate > 0.0
        {
            let honest = counts.honest_probabilities(&found.scores, &found.model);
            let honest_counts = counts.weighted(&honest);
            *run = newton.maximise_sided(&honest_counts, &mut model, prior)?;
            let curve = newton.sided_curve(counts, model.advantage, prior);
            estimates.apply(&curve, newton, options);
        }
        estimates.tie_odds = model.tie_odds;
        estimates.side_advantage = estimates.stretch * model.advantage;
        Ok(())
    }

    /// For each outcome of each pair, the probability that such a vote is honest.
    fn honest_probabilities(
        &self,
        counts: &PairCounts<'_>,
        sided: Option<&SidedCounts<'_>>,
    ) -> Vec<Outcomes> {
        let (scores, model) = (&self.newton.scores, self.model());
        match sided {
            Some(sided) => sided.mean_of_sides(&sided.honest_probabilities(scores, &model)),
            None => counts.honest_probabilities(scores, model.tie_odds, model.lapse_rate),
        }
    }

    /// Step 5; `honest` are the votes that are honest.
    fn reduce_bias(&mut self, honest: &PairCounts<'_>) -> Result<()> {
        let Self { newton, estimates, .. } = self;
        let Newton { graph, prior, system, scores, .. } = newton;
        let pairs = graph.pairs();
        let scores_before = scores.clone();
        let at = HonestVotes::new(&scores_before, estimates.tie_odds);
        let curvature = |p: usize| {
            let vote = at.vote(pairs.left[p], pairs.right[p]);
            let information = honest.votes[p].total() * vote.variance();
            PairCurvature { information, skewness: vote.skewness() }
        };
        // Scores were stretched after the prior had its effect.
        let lambda = estimates.prior / estimates.stretch.powi(2);
        reduce_bias(graph, system, prior, lambda, scores, curvature)
    }

    /// The log-likelihood of the votes of this process.
    fn log_likelihood(&self, counts: &PairCounts<'_>, sided: Option<&SidedCounts<'_>>) -> f64 {
        let (scores, model) = (&self.newton.scores, self.model());
        match sided {
            Some(sided) => sided.log_likelihood(scores, &model),
            None => counts.log_likelihood(scores, model.tie_odds, model.lapse_rate),
        }
    }

    fn model(&self) -> VoteModel {
        let BradleyTerryEstimates { side_advantage, tie_odds, lapse_rate, .. } = self.estimates;
        VoteModel { advantage: side_advantage, tie_odds, lapse_rate }
    }
}

impl BradleyTerryEstimates {
    /// Step 4.
    fn apply(&mut self, curve: &Lapse, newton: &mut Newton<'_>, options: &BradleyTerryOptions) {
        if curve.scale > 0.0 {
            self.stretch = 1.0 / curve.scale;
            newton.scores.iter_mut().for_each(|score| *score /= curve.scale);
        }
        self.lapse_rate = options.lapse_rate.unwrap_or(2.0 * curve.rate);
    }
}

/// The weight of each pair in the prior, to be multiplied by λ.
pub(crate) fn prior_weights(graph: &ComparisonGraph) -> Vec<f64> {
    GraphPrior::new(graph).weights
}

/// Where a search for the scores of a model that includes this one starts.
#[derive(Debug)]
pub(super) struct WarmStart<'a> {
    pub(super) scores: Vec<f64>,
    pub(super) tie_odds: f64,
    /// λ, as given or as estimated so far.
    pub(super) lambda: f64,
    pub(super) counts: PairCounts<'a>,
    pub(super) prior: GraphPrior,
    pub(super) system: StepSystem<'a>,
}

impl<'a> WarmStart<'a> {
    /// Takes some Newton steps, with all votes as honest.
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        backend: BackendChoice,
        prior: Option<f64>,
        steps: usize,
    ) -> Result<Self> {
        let counts = PairCounts::new(graph);
        let mut newton = Newton::new(graph, backend)?;
        newton.is_start = true;
        let mut tie_odds = counts.tie_odds_of_equal_items();
        let lambda = newton.estimate_prior(&counts, &mut tie_odds, prior, steps)?;
        let Newton { scores, prior, system, .. } = newton;
        Ok(Self { scores, tie_odds, lambda, counts, prior, system })
    }
}

#[cfg(test)]
mod side_tests;
#[cfg(test)]
mod tests;
