//! How sure a ranking is: standard errors, intervals, ranges of ranks, tiers.
//!
//! | step | file |
//! |---|---|
//! | the slope of each vote at the fit | `vote_scores.rs` |
//! | the covariance of the scores, clustered by annotator | `sandwich.rs` |
//! | ranges of ranks that hold for all items, tiers | `rank_sets.rs` |
//!
//! An interval is score ± q · se. The score is relative to the mean of its component, and so is its standard
//! error. q is the quantile of the normal distribution; with fewer than [`FEW_CLUSTERS`] annotators that of
//! Student's t with one degree of freedom less than annotators.
//!
//! Failure modes: an item that hardly any vote connects with the others has a huge standard error, and an
//! item alone in its component has none. Methods that decide which votes count before they fit have no
//! intervals from slopes (`vote_scores.rs`).

mod fixed_point;
mod options;
mod pair_sums;
mod rank_sets;
mod sandwich;
mod vote_scores;

pub use options::{IntervalEngine, IntervalOptions, RankCoverage};

use faer::Mat;

use crate::annotator_votes::AnnotatorVotes;
use crate::annotators::normal_quantile;
use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::graph::ComparisonGraph;
use crate::solve::Method;
use rank_sets::RankSets;
use sandwich::Sandwich;
use vote_scores::VoteScores;

/// Most items of a dense covariance.
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
    /// few to tell more than a common factor.
    pub shrinkage: f64,
    /// The standard error of each score; infinite if the votes do not bound it.
    pub se: Vec<f64>,
    /// For each item, the best and the worst rank in its component.
    pub rank_ranges: Vec<(u32, u32)>,
    /// For each item, its tier in its component, counted from 1.
    pub tiers: Vec<u32>,
    covariance: Mat<f64>,
    component: Vec<u32>,
}

impl Uncertainty {
    /// Estimates the uncertainty of a fit. `votes` are those of the graph with their annotators, if they are
    /// known. Returns none if no engine was asked for and none is both fast and valid for this fit, or
    /// several processes share the votes.
    ///
    /// # Errors
    /// If an option is invalid, or an engine was asked for that does not support the fit.
    pub fn new(
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
        fit: &Fit,
        options: &IntervalOptions,
    ) -> Result<Option<Self>> {
        options.validate()?;
        if options.intervals == Some(IntervalEngine::None) {
            return Ok(None);
        }
        let refuse = |value: String, expected| match options.intervals {
            None => Ok(None),
            Some(_) => Err(Error::BadOption { option: "intervals", value, expected }),
        };
        let Some(scores) = VoteScores::of_fit(graph, fit) else {
            let value = format!("sandwich, with --method {}", fit.method.as_str());
            return refuse(value, "none with this method; l2, hlasso, bt and crowd have intervals");
        };
        if options.intervals.is_none() && graph.items() > MAX_ITEMS_BY_DEFAULT {
            return Ok(None);
        }
        if graph.items() > MAX_ITEMS {
            return refuse(
                format!("sandwich, with {} items", graph.items()),
                "at most 2,048 items",
            );
        }
        if !graph.communicator().is_single_process() {
            return refuse("sandwich".to_owned(), "none on several processes");
        }
        if fit.components.len() > graph.components().len() {
            return refuse(
                "sandwich".to_owned(),
                "votes that connect the items without flagged ones",
            );
        }
        let found = match Sandwich::new(graph, votes, &scores) {
            Err(Error::Factorisation { .. }) => {
                let expected = "votes that determine all scores without the flagged ones";
                return refuse("sandwich".to_owned(), expected);
            }
            found => found?,
        };
        let Sandwich { covariance, clusters, is_clustered, shrinkage } = found;
        let n = graph.items();
        let mut found = Self {
            options: *options,
            engine: IntervalEngine::Sandwich,
            clusters: is_clustered.then_some(clusters),
            quantile: quantile(options.level, is_clustered.then_some(clusters)),
            shrinkage,
            se: vec![f64::INFINITY; n],
            rank_ranges: vec![(1, 1); n],
            tiers: vec![1; n],
            covariance,
            component: fit.components.of.clone(),
        };
        for members in fit.components.iter() {
            found.rank(members, &fit.scores);
        }
        Ok(Some(found))
    }

    /// Fills in the items of a component.
    fn rank(&mut self, members: &[u32], scores: &[f64]) {
        if members.len() < 2 {
            return;
        }
        let at = |k: usize| members[k] as usize;
        let n = members.len();
        let covariance = Mat::from_fn(n, n, |i, j| self.covariance[(at(i), at(j))]);
        let own: Vec<f64> = members.iter().map(|&item| scores[item as usize]).collect();
        let IntervalOptions { level, draws, ranks, .. } = self.options;
        let sets = RankSets::new(&own, &covariance, level, draws, ranks);
        for k in 0..n {
            self.se[at(k)] = covariance[(k, k)].max(0.0).sqrt();
            self.rank_ranges[at(k)] = sets.ranges[k];
            self.tiers[at(k)] = sets.tiers[k];
        }
    }

    /// The standard error of the difference of two scores; none if they do not compare.
    #[must_use]
    pub fn difference_se(&self, left: u32, right: u32) -> Option<f64> {
        let (i, j) = (left as usize, right as usize);
        let v = &self.covariance;
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
