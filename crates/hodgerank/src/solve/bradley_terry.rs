//! Bradley–Terry scores by maximum likelihood, with lapses, ties and a prior whose width is estimated.
//!
//! With d = θ_i − θ_j, an honest vote prefers i with odds e^(d/2), prefers j with odds e^(−d/2), and is
//! a tie with odds ν (Davidson). Without ties P(i is preferred) = F(d), F the logistic function, so
//! that scores are log-odds. A lapse, with probability ε, is an answer that does not depend on d. Only
//! the side of an outcome counts, not its size.
//!
//! The prior is normal on the differences of compared items (`prior.rs`): −½ λ Σ_pairs ω (θ_i − θ_j)².
//! It keeps the scores of undefeated and winless items finite, and items with few votes near those
//! that they were compared with.
//!
//! | step | estimates | from |
//! |---|---|---|
//! | 1 | θ, ν, λ | all votes as honest; λ by empirical Bayes |
//! | 2 | ε | maximum likelihood with lapses ([`crate::select::lapse`]), kept if the votes speak for it |
//! | 3 | θ, ν | votes weighted by the probability that they are honest, with λ of step 1 |
//! | 4 | ε and the unit of θ | the curve of agreement over distance, and the prior |
//!
//! Lapses shrink the scores of step 1 and so the width of the prior relative to them, which step 4
//! corrects. Steps 1 and 3 are concave: their optimality condition is that the gradient vanishes,
//! Σ_j [h w (s − E s) − λ ω d] = 0 at each item, with s = 1, ½, 0 for a win, a tie and a loss.
//!
//! Cost: for each Newton step one pass over the pairs and one Laplacian solve; five to fifteen steps. On
//! graphs with millions of pairs, where step 2 would take minutes, it estimates ε at the scores of step 1.
//! These fit lapses too, so that few votes per item can hide them.
//!
//! Failure modes: with λ = 0, the scores of items that always win diverge ([`Status::IterationLimit`]).
//! A lapse rate near one half cannot be told from noise. Without annotators nothing distinguishes a
//! crowd of contrary voters from an honest one with the opposite taste.
//!
//! | symbol | here |
//! |---|---|
//! | ε | `lapse_rate` |
//! | λ | `prior` |
//! | ν | `tie_odds` |
//! | h | `honest` |

mod newton;
mod pair_counts;
mod prior;

pub(super) use prior::{GraphPrior, sum_ends};

use std::time::Instant;

use super::{Info, Solution, Status};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StepSystem};
use crate::select;
use newton::Newton;
use pair_counts::PairCounts;

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
    /// For each group, the probability that its votes are lapses.
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
    let started = Instant::now();
    options.validate()?;
    let counts = PairCounts::new(graph);
    let mut newton = Newton::new(graph, options.backend)?;
    let mut tie_odds = counts.tie_odds_of_equal_items();
    let prior = match options.prior {
        Some(prior) => prior,
        None => newton.estimate_prior(&counts, &mut tie_odds, None, newton::MAX_PRIOR_STEPS)?,
    };
    let mut run = newton.maximise(&counts, &mut tie_odds, prior)?;
    let found = match options.lapse_rate {
        Some(0.0) => None,
        Some(rate) => Some((select::scores_with_lapses(graph, Some(0.5 * rate)), true)),
        None => {
            let found = match newton.is_large {
                true => newton.scores_with_lapses(prior),
                false => select::scores_with_lapses(graph, None),
            };
            let is_supported = found.gain > select::lapse::MIN_GAIN;
            Some((found, is_supported))
        }
    };
    let lapse_gain = found.as_ref().map_or(0.0, |(found, _)| found.gain.max(0.0));
    let mut estimates = BradleyTerryEstimates {
        lapse_rate: 0.0,
        prior,
        tie_odds,
        stretch: 1.0,
        lapse_gain,
        log_likelihood: 0.0,
    };
    if let Some((found, true)) = found
        && found.rate > 0.0
    {
        let honest =
            counts.honest_probabilities(&found.scores, estimates.tie_odds, 2.0 * found.rate);
        let honest_counts = counts.weighted(&honest);
        run = newton.maximise(&honest_counts, &mut estimates.tie_odds, prior)?;
        let curve = select::agreement_curve(graph, &newton.scores, newton.penalty(prior));
        if curve.scale > 0.0 {
            estimates.stretch = 1.0 / curve.scale;
            newton.scores.iter_mut().for_each(|score| *score /= curve.scale);
        }
        estimates.lapse_rate = options.lapse_rate.unwrap_or(2.0 * curve.rate);
    }
    graph.components().centre(&mut newton.scores);
    let (lapse_rate, tie_odds) = (estimates.lapse_rate, estimates.tie_odds);
    let honest = counts.honest_probabilities(&newton.scores, tie_odds, lapse_rate);
    estimates.log_likelihood = graph.communicator().sum_scalar(counts.log_likelihood(
        &newton.scores,
        tie_odds,
        lapse_rate,
    ));
    let status = if run.converged { Status::Solved } else { Status::IterationLimit };
    let info = Info {
        backends: newton.backends(),
        iterations: run.steps,
        residual: run.violation,
        error_bound: None,
        time: started.elapsed(),
    };
    let solution = Solution { scores: newton.scores, status, info };
    let lapse_probability = counts.by_group(graph, |honest| 1.0 - honest, &honest);
    Ok(BradleyTerry { solution, estimates, lapse_probability })
}

/// Where a search for the scores of a model that includes this one starts.
#[derive(Debug)]
pub(super) struct WarmStart<'a> {
    pub(super) scores: Vec<f64>,
    pub(super) tie_odds: f64,
    /// λ, as given or as estimated so far.
    pub(super) lambda: f64,
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
        Ok(Self { scores, tie_odds, lambda, prior, system })
    }
}

#[cfg(test)]
mod tests;
