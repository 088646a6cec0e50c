//! The alternation: fit what is kept, then remove the K votes that fit worst. It never climbs.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::exchange::Exchange;
use super::refit::{Fit, Refit};
use super::worst::worst;
use super::{HardThresholdOptions, Removal};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::solve::Status;

/// Falls of the objective below this share of it are rounding.
pub(super) const MIN_FALL: f64 = 1e-11;

/// Rounds of exchanges and alternation; each lowers the objective, and few are ever needed.
const MAX_ROUNDS: usize = 50;

/// The graph, the options, and a count of the work done.
#[derive(Debug)]
pub(in crate::solve) struct Search<'a> {
    graph: &'a ComparisonGraph,
    options: &'a HardThresholdOptions,
    refit: Refit<'a>,
    // Starts are tried side by side; sums and "ever" do not depend on who comes first.
    steps: AtomicUsize,
    ran_out: AtomicBool,
}

impl<'a> Search<'a> {
    /// # Errors
    /// If the linear system of all votes cannot be set up.
    pub(in crate::solve) fn new(
        graph: &'a ComparisonGraph,
        options: &'a HardThresholdOptions,
    ) -> Result<Self> {
        let (steps, ran_out) = (AtomicUsize::new(0), AtomicBool::new(false));
        Ok(Self { graph, options, refit: Refit::new(graph, options)?, steps, ran_out })
    }

    /// The best of all starts, improved by exchanges. `also` are further scores to start from.
    pub(in crate::solve) fn run(
        self,
        k: f64,
        l2: &Fit,
        also: &[&[f64]],
        started: Instant,
    ) -> Result<Removal> {
        let slow = self.options.sweep_steps;
        let (quick, slow) = rayon::join(
            || {
                let mut best = self.alternate(k, &l2.solution.scores)?;
                for &scores in also {
                    best = better(best, self.alternate(k, scores)?);
                }
                let quick = slow / 4;
                Ok(if quick > 1 { better(best, self.sweep(k, l2, quick)?) } else { best })
            },
            || if slow > 1 { self.sweep(k, l2, slow).map(Some) } else { Ok(None) },
        );
        let mut best = quick?;
        if let Some(slow) = slow? {
            best = better(best, slow);
        }
        best = self.exchange(k, best)?;
        let mut solution = best.solution;
        solution.info.iterations = self.steps.into_inner();
        solution.info.time = started.elapsed();
        if self.ran_out.into_inner() {
            solution.status = Status::IterationLimit;
        }
        Ok(Removal { solution, removed: best.removed, objective: best.objective })
    }

    /// Least squares without the votes removed.
    pub(in crate::solve) fn fit(&self, removed: Vec<f64>) -> Result<Fit> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.refit.fit(removed)
    }

    /// From given scores to a set of removed votes that stands still.
    pub(in crate::solve) fn alternate(&self, k: f64, scores: &[f64]) -> Result<Fit> {
        let mut now = self.fit(worst(self.graph, scores, k))?;
        for _ in 0..self.options.max_iterations {
            let removed = worst(self.graph, &now.solution.scores, k);
            if removed == now.removed {
                return Ok(now);
            }
            let next = self.fit(removed)?;
            if next.objective >= now.objective * (1.0 - MIN_FALL) {
                return Ok(now);
            }
            now = next;
        }
        self.ran_out.store(true, Ordering::Relaxed);
        Ok(now)
    }

    /// Removes K/steps votes more at each step, choosing all of them anew.
    fn sweep(&self, k: f64, l2: &Fit, steps: usize) -> Result<Fit> {
        let mut scores = l2.solution.scores.clone();
        for step in 1..steps {
            let some = (k * step as f64 / steps as f64).floor();
            scores = self.fit(worst(self.graph, &scores, some))?.solution.scores;
        }
        self.alternate(k, &scores)
    }

    /// Exchanges and alternation in turn, stop neither helps.
    fn exchange(&self, k: f64, mut best: Fit) -> Result<Fit> {
        let mut left = self.options.max_exchanges;
        for _ in 0..MAX_ROUNDS {
            let Some(mut dense) = Exchange::new(self.graph, &best.removed) else { break };
            let made = dense.descend(k, left);
            if made == 0 {
                break;
            }
            left -= made;
            self.steps.fetch_add(made, Ordering::Relaxed);
            self.ran_out.fetch_or(left == 0, Ordering::Relaxed);
            let swapped = self.fit(dense.into_removed())?;
            let settled = self.alternate(k, &swapped.solution.scores)?;
            let next = better(swapped, settled);
            if next.objective >= best.objective * (1.0 - MIN_FALL) {
                break;
            }
            best = next;
        }
        Ok(best)
    }
}

fn better(a: Fit, b: Fit) -> Fit {
    if b.objective < a.objective * (1.0 - MIN_FALL) { b } else { a }
}
