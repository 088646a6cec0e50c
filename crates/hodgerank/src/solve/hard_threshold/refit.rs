//! Least squares without the removed votes.
//!
//! Cost: one pass over the groups and one Laplacian system. The pairs and backends of all votes are
//! reused as long as most pairs have a retained vote; otherwise a new graph is built.

use std::time::Instant;

use super::options::HardThresholdOptions;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::solve::{Solution, scores_of_all_votes, solution_of};

/// Minimum decrease of the objective that is not attributed to rounding, relative to the objective.
const MIN_RELATIVE_DECREASE: f64 = 1e-11;
/// The same relative to the objective of scores of zero. Without it, a search among votes that fit
/// exactly would follow rounding errors of an objective that is zero.
const MIN_DECREASE_OF_ALL: f64 = 1e-28;

/// Minimum fraction of pairs with a retained vote for which the backends of all votes are reused.
const MIN_PAIRS_RATIO: f64 = 0.75;

/// A fit and the votes that were removed to compute it.
#[derive(Debug, Clone)]
pub(in crate::solve) struct RetainedFit {
    pub(in crate::solve) solution: Solution,
    pub(in crate::solve) removed: Vec<f64>,
    pub(in crate::solve) objective: f64,
}

/// The decrease of the objective that counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinDecrease {
    absolute: f64,
}

impl MinDecrease {
    pub(super) fn new(groups: &Groups) -> Self {
        let energy: f64 = groups.weight.iter().zip(&groups.y).map(|(w, y)| w * y * y).sum();
        Self { absolute: MIN_DECREASE_OF_ALL * 0.5 * energy }
    }

    /// Whether a decrease of the objective by `decrease` is more than rounding.
    pub(super) fn is_met(self, decrease: f64, objective: f64) -> bool {
        decrease > (MIN_RELATIVE_DECREASE * objective).max(self.absolute)
    }
}

/// Refits with the Laplacian system of all votes.
#[derive(Debug)]
pub(super) struct Refit<'a> {
    graph: &'a ComparisonGraph,
    options: &'a HardThresholdOptions,
    all: LaplacianSystem,
}

impl<'a> Refit<'a> {
    pub(super) fn new(
        graph: &'a ComparisonGraph,
        options: &'a HardThresholdOptions,
    ) -> Result<Self> {
        let all = LaplacianSystem::new(graph, 0.0, options.backend)?;
        Ok(Self { graph, options, all })
    }

    /// Computes the fit. The retained votes must connect the items that all votes connect.
    pub(super) fn fit(&self, removed: Vec<f64>) -> Result<RetainedFit> {
        self.compute(removed, false)
    }

    /// Computes the fit with a bound of its error. The search does without: an inaccurate fit costs
    /// it quality, but only the last fit is reported.
    pub(super) fn fit_with_bound(&self, removed: Vec<f64>) -> Result<RetainedFit> {
        self.compute(removed, true)
    }

    fn compute(&self, removed: Vec<f64>, with_bound: bool) -> Result<RetainedFit> {
        let (groups, pairs) = (self.graph.groups(), self.graph.pairs());
        let mut weight = Vec::with_capacity(pairs.len());
        let mut rhs = vec![0.0; self.graph.items()];
        for (p, range) in pairs.first_group.windows(2).enumerate() {
            let (mut votes, mut flow) = (0.0, 0.0);
            let range = range[0] as usize..range[1] as usize;
            let cast = groups.weight[range.clone()].iter().zip(&removed[range.clone()]);
            for ((all, removed), y) in cast.zip(&groups.y[range]) {
                votes += all - removed;
                flow += (all - removed) * y;
            }
            weight.push(votes);
            rhs[pairs.left[p] as usize] += flow;
            rhs[pairs.right[p] as usize] -= flow;
        }
        let retained = groups.weight.iter().zip(&removed).map(|(w, k)| w - k);
        let mut solution = self.solve(&weight, &rhs, retained.clone(), with_bound)?;
        self.graph.components().centre(&mut solution.scores);
        let r = groups.residuals(&solution.scores);
        let objective = 0.5 * retained.zip(r).map(|(w, r)| w * r * r).sum::<f64>();
        Ok(RetainedFit { solution, removed, objective })
    }

    fn solve(
        &self,
        pair_weight: &[f64],
        rhs: &[f64],
        retained: impl Iterator<Item = f64>,
        with_bound: bool,
    ) -> Result<Solution> {
        let tolerance = self.options.tolerance;
        let rule = StoppingRule { tolerance, ..StoppingRule::default() };
        let started = Instant::now();
        let nonempty = pair_weight.iter().filter(|w| **w > 0.0).count();
        if nonempty as f64 >= MIN_PAIRS_RATIO * pair_weight.len() as f64 {
            let system = self.all.reweighted(self.graph, pair_weight)?;
            let solved = match with_bound {
                true => {
                    let retained: Vec<f64> = retained.collect();
                    system.solve_votes(self.graph, &retained, rhs, &rule)?
                }
                false => system.solve(rhs, &rule)?,
            };
            return Ok(solution_of(&system, solved, started));
        }
        let retained: Vec<f64> = retained.collect();
        let rest: Groups = self.graph.groups().reweighted(&retained);
        let rest = ComparisonGraph::new(self.graph.items(), rest)?;
        scores_of_all_votes(&rest, 0.0, self.options.backend, &rule)
    }
}
