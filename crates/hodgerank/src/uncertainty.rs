//! How sure a ranking is: standard errors, intervals, ranges of ranks, tiers.
//!
//! | step | file |
//! |---|---|
//! | the slope of each vote at the fit | `vote_scores.rs` |
//! | the covariance of the scores, clustered by annotator | `sandwich.rs` |
//! | what is missing because behaviours are not known for certain | `missing.rs` |
//! | the same for many items, by random draws | `many_items.rs` |
//! | the same for every method, by repeating the fit | `bootstrap.rs` |
//! | reasons why intervals may be too narrow | `cautions.rs` |
//! | ranges of ranks that hold for all items, tiers | `rank_sets.rs` |
//!
//! An interval is score ± q · se. The score is relative to the mean of its component, and so is its standard
//! error. q is the quantile of the normal distribution; with fewer than [`FEW_CLUSTERS`] annotators that of
//! Student's t with one degree of freedom less than annotators.
//!
//! Failure modes: an item that hardly any vote connects with the others has a huge standard error, and an
//! item alone in its component has none. Methods that decide which votes count before they fit have no
//! intervals from slopes (`vote_scores.rs`).

mod bootstrap;
pub mod cautions;
mod fixed_point;
mod many_items;
mod missing;
mod options;
mod pair_sums;
mod rank_sets;
mod sandwich;
mod vote_scores;

pub use cautions::Caution;
pub use options::{IntervalEngine, IntervalOptions, RankCoverage};

use std::sync::atomic::AtomicU64;

use faer::Mat;

use crate::annotator_votes::AnnotatorVotes;
use crate::annotators::normal_quantile;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::graph::ComparisonGraph;
use crate::options::FitOptions;
use crate::solve::Method;
use bootstrap::Bootstrap;
use many_items::ManyItems;
use rank_sets::{RankSets, draw_errors};
use sandwich::Sandwich;
use vote_scores::VoteScores;

/// Most items of a dense covariance, and so of ranges of ranks.
pub const MAX_ITEMS: usize = 2048;
/// Most items for which uncertainty is estimated without being asked for: with more, it takes longer than the
/// ranking of a million votes.
pub const MAX_ITEMS_BY_DEFAULT: usize = 300;
/// With fewer annotators, intervals use Student's t, and results say so.
pub const FEW_CLUSTERS: usize = 50;

/// Whether the fit of a method has intervals from the slopes of its votes.
#[must_use]
pub fn supports(method: Method) -> bool {
    use Method::{BradleyTerry, Crowd, HuberLasso, L2};
    matches!(method, L2 | HuberLasso | BradleyTerry | Crowd)
}

/// A fit, and what it was fitted to.
#[derive(Debug, Clone, Copy)]
pub struct FittedVotes<'a> {
    /// The votes.
    pub graph: &'a ComparisonGraph,
    /// The same votes with their annotators, if they are known.
    pub votes: Option<&'a AnnotatorVotes>,
    /// The fit.
    pub fit: &'a Fit,
    /// The options of the fit.
    pub options: &'a FitOptions,
}

/// What is known about the errors of the scores.
#[derive(Debug, Clone)]
pub struct Uncertainty {
    /// The options.
    pub options: IntervalOptions,
    /// How it was estimated.
    pub engine: IntervalEngine,
    /// The number of annotators whose votes are independent of each other; none if single votes are.
    pub clusters: Option<usize>,
    /// The number of standard errors on each side of a score.
    pub quantile: f64,
    /// The share of the model in the covariance: 0 if only the votes of each annotator decide, 1 if they are too
    /// few to tell more than a common factor. None if the engine does not use the model.
    pub shrinkage: Option<f64>,
    /// The relative standard error of the standard errors themselves, if they are from random draws.
    pub se_accuracy: Option<f64>,
    /// Reasons why intervals and ranges of ranks may be too narrow.
    pub cautions: Vec<Caution>,
    /// The standard error of each score; infinite if the votes do not bound it.
    pub se: Vec<f64>,
    /// For each item, the best and the worst rank in its component; empty with more than [`MAX_ITEMS`].
    pub rank_ranges: Vec<(u32, u32)>,
    /// For each item, its tier in its component, counted from 1; empty with more than [`MAX_ITEMS`].
    pub tiers: Vec<u32>,
    /// None with more than [`MAX_ITEMS`].
    covariance: Option<Mat<f64>>,
    component: Vec<u32>,
}

impl Uncertainty {
    /// Estimates the uncertainty of a fit. Returns none if no engine was asked for and none is both fast and
    /// valid for this fit, or several processes share the votes. `done` counts the draws of a bootstrap.
    ///
    /// # Errors
    /// If an option is invalid, or an engine was asked for that does not support the fit.
    pub fn new(
        fitted: &FittedVotes<'_>,
        options: &IntervalOptions,
        done: &AtomicU64,
    ) -> Result<Option<Self>> {
        options.validate()?;
        let (graph, fit) = (fitted.graph, fitted.fit);
        let engine = match options.intervals {
            Some(IntervalEngine::None) => return Ok(None),
            Some(engine) => engine,
            None if graph.items() > MAX_ITEMS_BY_DEFAULT || !supports(fit.method) => {
                return Ok(None);
            }
            None => IntervalEngine::Sandwich,
        };
        let refuse = |reason: &str, expected| match options.intervals {
            None => Ok(None),
            Some(engine) => {
                let value = format!("{engine}{reason}");
                Err(Error::BadOption { option: "intervals", value, expected })
            }
        };
        if !graph.communicator().is_single_process() {
            return refuse("", "none on several processes");
        }
        if fit.components.len() > graph.components().len() {
            return refuse("", "votes that connect the items without flagged ones");
        }
        if engine == IntervalEngine::Bootstrap {
            return Self::of_bootstrap(fitted, options, done).map(Some);
        }
        let Some(scores) = VoteScores::of_fit(graph, fit) else {
            let reason = format!(", with --method {}", fit.method.as_str());
            return refuse(&reason, "bootstrap with this method");
        };
        if graph.items() > MAX_ITEMS {
            let found = ManyItems::new(graph, fitted.votes, &scores)?;
            return Ok(Some(Self::of_many_items(fitted, options, found)));
        }
        match Sandwich::new(graph, fitted.votes, &scores) {
            Err(Error::Factorisation { .. }) => {
                refuse("", "votes that determine all scores without the flagged ones")
            }
            found => Ok(Some(Self::of_sandwich(fitted, options, found?))),
        }
    }

    /// What holds before anything has been estimated.
    fn unknown(
        fitted: &FittedVotes<'_>,
        options: &IntervalOptions,
        clusters: Option<usize>,
    ) -> Self {
        let n = fitted.graph.items();
        Self {
            options: *options,
            engine: IntervalEngine::Sandwich,
            clusters,
            quantile: quantile(options.level, clusters),
            shrinkage: None,
            se_accuracy: None,
            cautions: cautions::of_fit(fitted, clusters),
            se: vec![f64::INFINITY; n],
            rank_ranges: Vec::new(),
            tiers: Vec::new(),
            covariance: None,
            component: fitted.fit.components.of.clone(),
        }
    }

    fn of_sandwich(fitted: &FittedVotes<'_>, options: &IntervalOptions, found: Sandwich) -> Self {
        let Sandwich { covariance, clusters, is_clustered, shrinkage } = found;
        let mut all = Self::unknown(fitted, options, is_clustered.then_some(clusters));
        all.shrinkage = Some(shrinkage);
        let draws = options.draws();
        all.rank(fitted.fit, covariance, |_, covariance| draw_errors(covariance, draws));
        all
    }

    fn of_many_items(
        fitted: &FittedVotes<'_>,
        options: &IntervalOptions,
        found: ManyItems,
    ) -> Self {
        let ManyItems { se, clusters, is_clustered, accuracy } = found;
        let mut all = Self::unknown(fitted, options, is_clustered.then_some(clusters));
        (all.se, all.se_accuracy) = (se, Some(accuracy));
        all
    }

    fn of_bootstrap(
        fitted: &FittedVotes<'_>,
        options: &IntervalOptions,
        done: &AtomicU64,
    ) -> Result<Self> {
        let FittedVotes { graph, votes, fit, options: fit_options } = *fitted;
        let votes = votes.filter(|votes| votes.annotators() > 0);
        let draws = Bootstrap::new(graph, votes, fit, fit_options)?.draws(options.draws(), done)?;
        let (n, number) = (graph.items(), draws.len() as f64);
        let mut mean = vec![0.0; n];
        for draw in &draws {
            mean.iter_mut().zip(draw).for_each(|(mean, score)| *mean += score / number);
        }
        let mut found = Self::unknown(fitted, options, votes.map(AnnotatorVotes::annotators));
        found.engine = IntervalEngine::Bootstrap;
        found.se_accuracy = Some(1.0 / (2.0 * number).sqrt());
        let error = |k: usize, i: usize| draws[k][i] - mean[i];
        if n > MAX_ITEMS {
            let se = |i: usize| {
                let squares: f64 = (0..draws.len()).map(|k| error(k, i).powi(2)).sum();
                (squares / (number - 1.0)).sqrt()
            };
            let sizes = |item: &u32| fit.components.members(*item as usize).len();
            found.se = (0..n)
                .map(|i| if sizes(&fit.components.of[i]) > 1 { se(i) } else { f64::INFINITY })
                .collect();
            return Ok(found);
        }
        let errors = Mat::from_fn(n, draws.len(), |i, k| error(k, i) / (number - 1.0).sqrt());
        let covariance = sandwich::product(&errors, &errors.transpose().to_owned());
        found.rank(fit, covariance, |members, _| {
            let of_draw = |k: usize| members.iter().map(move |&item| (k, item as usize));
            (0..draws.len()).flat_map(of_draw).map(|(k, i)| error(k, i)).collect()
        });
        Ok(found)
    }

    /// Fills in standard errors, ranges and tiers. `errors_of` returns random errors of the items of a
    /// component, one draw after the other, given the covariance of these.
    fn rank(
        &mut self,
        fit: &Fit,
        covariance: Mat<f64>,
        errors_of: impl Fn(&[u32], &Mat<f64>) -> Vec<f64>,
    ) {
        let n = self.se.len();
        (self.rank_ranges, self.tiers) = (vec![(1, 1); n], vec![1; n]);
        // With few annotators, Student's t holds for differences too.
        let widening = self.quantile / quantile(self.options.level, None);
        let IntervalOptions { level, ranks, .. } = self.options;
        for members in fit.components.iter().filter(|members| members.len() > 1) {
            let at = |k: usize| members[k] as usize;
            let n = members.len();
            let own = Mat::from_fn(n, n, |i, j| covariance[(at(i), at(j))]);
            let scores: Vec<f64> = members.iter().map(|&item| fit.scores[item as usize]).collect();
            let errors = errors_of(members, &own);
            let sets = RankSets::new(&scores, &own, errors, widening, level, ranks);
            for k in 0..n {
                self.se[at(k)] = own[(k, k)].max(0.0).sqrt();
                self.rank_ranges[at(k)] = sets.ranges[k];
                self.tiers[at(k)] = sets.tiers[k];
            }
        }
        self.covariance = Some(covariance);
    }

    /// The standard error of the difference of two scores; none if they do not compare, or there are more
    /// than [`MAX_ITEMS`] items.
    #[must_use]
    pub fn difference_se(&self, left: u32, right: u32) -> Option<f64> {
        let (i, j) = (left as usize, right as usize);
        let v = self.covariance.as_ref()?;
        let variance = v[(i, i)] + v[(j, j)] - 2.0 * v[(i, j)];
        (self.component[i] == self.component[j]).then(|| variance.max(0.0).sqrt())
    }

    /// The interval of a score of this item.
    #[must_use]
    pub fn interval(&self, item: u32, score: f64) -> (f64, f64) {
        let half = self.quantile * self.se[item as usize];
        (score - half, score + half)
    }
}

/// The number of standard errors on each side of an interval with this level.
fn quantile(level: f64, clusters: Option<usize>) -> f64 {
    let z = normal_quantile(0.5 + 0.5 * level);
    match clusters {
        Some(clusters) if clusters < FEW_CLUSTERS => student_quantile(z, clusters.max(3) - 1),
        _ => z,
    }
}

/// The quantile of Student's t where that of the normal distribution is z, by an expansion in 1/degrees.
fn student_quantile(z: f64, degrees: usize) -> f64 {
    let (v, z2) = (degrees as f64, z * z);
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
    let third = z * (3.0 * z2.powi(3) + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0;
    z + first / v + second / v.powi(2) + third / v.powi(3)
}

#[cfg(test)]
mod tests;
