//! The alternation: fit what is kept, then remove the K votes that fit worst. It never climbs.

use std::cmp::Reverse;
use std::time::Instant;

use rayon::prelude::*;

use super::exchange::Exchange;
use super::{HardThresholdOptions, Removal};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::solve::{L2Options, Solution, Status, l2};

/// Falls of the objective below this share of it are rounding.
pub(super) const LEAST_FALL: f64 = 1e-11;

/// Rounds of exchanges and alternation; each lowers the objective, and few are ever needed.
const MOST_ROUNDS: usize = 50;

/// A fit and the votes that it leaves out.
#[derive(Debug, Clone)]
pub(in crate::solve) struct Fit {
    pub(in crate::solve) solution: Solution,
    pub(in crate::solve) removed: Vec<f64>,
    pub(in crate::solve) objective: f64,
}

/// The graph, the options, and a count of the work done.
#[derive(Debug)]
pub(in crate::solve) struct Search<'a> {
    graph: &'a ComparisonGraph,
    options: &'a HardThresholdOptions,
    steps: usize,
    ran_out: bool,
}

impl<'a> Search<'a> {
    pub(in crate::solve) fn new(
        graph: &'a ComparisonGraph,
        options: &'a HardThresholdOptions,
    ) -> Self {
        Self { graph, options, steps: 0, ran_out: false }
    }

    /// The best of all starts, improved by exchanges. `also` are further scores to start from.
    pub(in crate::solve) fn run(
        mut self,
        k: f64,
        l2: &Fit,
        also: &[&[f64]],
        started: Instant,
    ) -> Result<Removal> {
        let mut best = self.alternate(k, &l2.solution.scores)?;
        for &scores in also {
            best = better(best, self.alternate(k, scores)?);
        }
        for steps in [self.options.sweep_steps / 4, self.options.sweep_steps] {
            if steps > 1 {
                best = better(best, self.sweep(k, l2, steps)?);
            }
        }
        best = self.exchange(k, best)?;
        let mut solution = best.solution;
        solution.info.iterations = self.steps;
        solution.info.time = started.elapsed();
        if self.ran_out {
            solution.status = Status::IterationLimit;
        }
        Ok(Removal { solution, removed: best.removed, objective: best.objective })
    }

    /// Least squares without the votes removed.
    pub(in crate::solve) fn fit(&mut self, removed: Vec<f64>) -> Result<Fit> {
        let HardThresholdOptions { backend, tolerance, .. } = *self.options;
        let groups = self.graph.groups();
        let kept: Vec<f64> = groups.weight.iter().zip(&removed).map(|(w, k)| w - k).collect();
        let trusted = ComparisonGraph::new(self.graph.items(), groups.reweighted(&kept))?;
        let l2 = L2Options { backend, tolerance, ..L2Options::default() };
        let mut solution = l2::solve(&trusted, &l2)?;
        self.graph.components().centre(&mut solution.scores);
        let r = residuals(self.graph, &solution.scores);
        let objective = 0.5 * kept.iter().zip(&r).map(|(w, r)| w * r * r).sum::<f64>();
        self.steps += 1;
        Ok(Fit { solution, removed, objective })
    }

    /// From given scores to a set of removed votes that stands still.
    pub(in crate::solve) fn alternate(&mut self, k: f64, scores: &[f64]) -> Result<Fit> {
        let mut now = self.fit(worst(self.graph, scores, k))?;
        for _ in 0..self.options.max_iterations {
            let removed = worst(self.graph, &now.solution.scores, k);
            if removed == now.removed {
                return Ok(now);
            }
            let next = self.fit(removed)?;
            if next.objective >= now.objective * (1.0 - LEAST_FALL) {
                return Ok(now);
            }
            now = next;
        }
        self.ran_out = true;
        Ok(now)
    }

    /// Removes K/steps votes more at each step, choosing all of them anew.
    fn sweep(&mut self, k: f64, l2: &Fit, steps: usize) -> Result<Fit> {
        let mut scores = l2.solution.scores.clone();
        for step in 1..steps {
            let some = (k * step as f64 / steps as f64).floor();
            scores = self.fit(worst(self.graph, &scores, some))?.solution.scores;
        }
        self.alternate(k, &scores)
    }

    /// Exchanges and alternation in turn, until neither helps.
    fn exchange(&mut self, k: f64, mut best: Fit) -> Result<Fit> {
        let mut left = self.options.max_exchanges;
        for _ in 0..MOST_ROUNDS {
            let Some(mut dense) = Exchange::new(self.graph, &best.removed) else { break };
            let made = dense.descend(k, left);
            if made == 0 {
                break;
            }
            left -= made;
            self.steps += made;
            self.ran_out |= left == 0;
            let swapped = self.fit(dense.into_removed())?;
            let settled = self.alternate(k, &swapped.solution.scores)?;
            let next = better(swapped, settled);
            if next.objective >= best.objective * (1.0 - LEAST_FALL) {
                break;
            }
            best = next;
        }
        Ok(best)
    }
}

fn better(a: Fit, b: Fit) -> Fit {
    if b.objective < a.objective * (1.0 - LEAST_FALL) { b } else { a }
}

pub(super) fn residuals(graph: &ComparisonGraph, scores: &[f64]) -> Vec<f64> {
    let fitted = graph.gradient(scores);
    graph.groups().y.iter().zip(&fitted).map(|(y, f)| y - f).collect()
}

/// The K votes of the largest |r|, the smaller group index first where they are equal, less those
/// that hold the rest together.
fn worst(graph: &ComparisonGraph, scores: &[f64], k: f64) -> Vec<f64> {
    let groups = graph.groups();
    // The bits of numbers that are not negative sort as the numbers do.
    let size = residuals(graph, scores).into_iter().map(|r| r.abs().to_bits());
    let mut keyed: Vec<(Reverse<u64>, u32)> = size.map(Reverse).zip(0..).collect();
    keyed.par_sort_unstable();
    let order: Vec<u32> = keyed.into_iter().map(|(_, g)| g).collect();
    let mut floor = vec![0.0; groups.len()];
    loop {
        let mut removed = vec![0.0; groups.len()];
        let mut left = k;
        for &g in &order {
            if left <= 0.0 {
                break;
            }
            let g = g as usize;
            removed[g] = left.min(groups.weight[g] - floor[g]);
            left -= removed[g];
        }
        let bonds = missing_bonds(graph, &removed, &order);
        if bonds.is_empty() {
            return removed;
        }
        for g in bonds {
            floor[g] = groups.weight[g].min(1.0);
        }
    }
}

/// Groups, the best fitting first, one vote of each of which would reconnect what is left.
fn missing_bonds(graph: &ComparisonGraph, removed: &[f64], worst_first: &[u32]) -> Vec<usize> {
    let groups = graph.groups();
    let mut parts = Parts((0..graph.items() as u32).collect());
    let gone = |g: usize| removed[g] >= groups.weight[g];
    for g in (0..groups.len()).filter(|&g| !gone(g)) {
        parts.join(groups, g);
    }
    let lost = worst_first.iter().rev().map(|&g| g as usize).filter(|&g| gone(g));
    lost.filter(|&g| parts.join(groups, g)).collect()
}

/// Union–find.
struct Parts(Vec<u32>);

impl Parts {
    fn root(&mut self, mut i: u32) -> u32 {
        while self.0[i as usize] != i {
            let grandparent = self.0[self.0[i as usize] as usize];
            self.0[i as usize] = grandparent;
            i = grandparent;
        }
        i
    }

    /// Whether the group connects two parts; from now on they are one.
    fn join(&mut self, groups: &Groups, g: usize) -> bool {
        let (a, b) = (self.root(groups.left[g]), self.root(groups.right[g]));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}
