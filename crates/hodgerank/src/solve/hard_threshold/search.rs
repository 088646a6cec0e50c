//! Alternation between the fit of the retained votes and the selection of the K worst votes. The
//! objective never increases.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::exchange::ExchangeSearch;
use super::options::HardThresholdOptions;
use super::refit::{MinDecrease, Refit, RetainedFit};
use super::worst::select_worst;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::solve::{Solution, Status};

/// Maximum number of rounds of exchanges and alternation. Each decreases the objective; few are needed.
const MAX_ROUNDS: usize = 50;

/// Scores, and the votes that were removed to compute them.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// The least-squares fit of the retained votes. Its iterations count refits and exchanges.
    pub solution: Solution,
    /// Number of removed votes of each group.
    pub removed: Vec<f64>,
    /// ½ Σ (w − removed) r².
    pub objective: f64,
}

/// A search for the votes to remove, and a count of its steps.
#[derive(Debug)]
pub(in crate::solve) struct RemovalSearch<'a> {
    graph: &'a ComparisonGraph,
    options: &'a HardThresholdOptions,
    refit: Refit<'a>,
    min_decrease: MinDecrease,
    // Updated by starts that run in parallel; neither depends on their order.
    steps: AtomicUsize,
    hit_limit: AtomicBool,
}

impl<'a> RemovalSearch<'a> {
    /// Creates a search.
    ///
    /// # Errors
    /// If the linear system of all votes cannot be set up.
    pub(in crate::solve) fn new(
        graph: &'a ComparisonGraph,
        options: &'a HardThresholdOptions,
    ) -> Result<Self> {
        let (steps, hit_limit) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (refit, min_decrease) = (Refit::new(graph, options)?, MinDecrease::new(graph.groups()));
        Ok(Self { graph, options, refit, min_decrease, steps, hit_limit })
    }

    /// Returns the best result of all starts, improved by exchanges. `more_starts` are additional scores
    /// to start from.
    pub(in crate::solve) fn run(
        self,
        k: f64,
        l2: &RetainedFit,
        more_starts: &[&[f64]],
        started: Instant,
    ) -> Result<Removal> {
        let slow_steps = self.options.sweep_steps;
        let (fast, slow) = rayon::join(
            || {
                let mut best = self.alternate(k, &l2.solution.scores)?;
                for &scores in more_starts {
                    best = self.better(best, self.alternate(k, scores)?);
                }
                let fast_steps = slow_steps / 4;
                Ok(if fast_steps > 1 {
                    self.better(best, self.start_gradually(k, l2, fast_steps)?)
                } else {
                    best
                })
            },
            || {
                if slow_steps > 1 {
                    self.start_gradually(k, l2, slow_steps).map(Some)
                } else {
                    Ok(None)
                }
            },
        );
        let mut best = fast?;
        if let Some(slow) = slow? {
            best = self.better(best, slow);
        }
        best = self.improve_by_exchanges(k, best)?;
        best = self.refit.fit_with_bound(best.removed)?;
        let mut solution = best.solution;
        solution.info.iterations = self.steps.into_inner();
        solution.info.time = started.elapsed();
        if self.hit_limit.into_inner() {
            solution.status = Status::IterationLimit;
        }
        Ok(Removal { solution, removed: best.removed, objective: best.objective })
    }

    /// Computes the least-squares fit without the removed votes.
    pub(in crate::solve) fn fit(&self, removed: Vec<f64>) -> Result<RetainedFit> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.refit.fit(removed)
    }

    /// Alternates, starting from the given scores, until the removed votes do not change.
    pub(in crate::solve) fn alternate(&self, k: f64, scores: &[f64]) -> Result<RetainedFit> {
        let mut current = self.fit(select_worst(self.graph, scores, k))?;
        for _ in 0..self.options.max_iterations {
            let removed = select_worst(self.graph, &current.solution.scores, k);
            if removed == current.removed {
                return Ok(current);
            }
            let next = self.fit(removed)?;
            if !self.is_decrease(&current, &next) {
                return Ok(current);
            }
            current = next;
        }
        self.hit_limit.store(true, Ordering::Relaxed);
        Ok(current)
    }

    /// Removes K/steps more votes in each step, selecting all of them again, then alternates.
    fn start_gradually(&self, k: f64, l2: &RetainedFit, steps: usize) -> Result<RetainedFit> {
        let mut scores = l2.solution.scores.clone();
        for step in 1..steps {
            let k_of_step = (k * step as f64 / steps as f64).floor();
            scores = self.fit(select_worst(self.graph, &scores, k_of_step))?.solution.scores;
        }
        self.alternate(k, &scores)
    }

    /// Performs exchanges and alternation in turn until neither decreases the objective.
    fn improve_by_exchanges(&self, k: f64, mut best: RetainedFit) -> Result<RetainedFit> {
        let mut remaining = self.options.max_exchanges;
        for _ in 0..MAX_ROUNDS {
            let Some(mut exchanges) = ExchangeSearch::new(self.graph, &best.removed) else { break };
            let made = exchanges.run(k, remaining, self.min_decrease);
            if made == 0 {
                break;
            }
            remaining -= made;
            self.steps.fetch_add(made, Ordering::Relaxed);
            self.hit_limit.fetch_or(remaining == 0, Ordering::Relaxed);
            let exchanged = self.fit(exchanges.into_removed())?;
            let alternated = self.alternate(k, &exchanged.solution.scores)?;
            let next = self.better(exchanged, alternated);
            if !self.is_decrease(&best, &next) {
                break;
            }
            best = next;
        }
        Ok(best)
    }

    fn better(&self, a: RetainedFit, b: RetainedFit) -> RetainedFit {
        if self.is_decrease(&a, &b) { b } else { a }
    }

    fn is_decrease(&self, before: &RetainedFit, after: &RetainedFit) -> bool {
        self.min_decrease.is_met(before.objective - after.objective, before.objective)
    }
}
