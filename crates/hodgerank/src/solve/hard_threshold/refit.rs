//! Least squares without the removed votes.
//!
//! Cost: one pass over the groups and one Laplacian system. The pairs and backends of all votes are
//! reused as long as most pairs have a retained vote; otherwise a new graph is built.

use std::time::Instant;

use super::options::HardThresholdOptions;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::solve::{Solution, scores_of_all_votes, scores_of_system};

/// Minimum relative decrease of the objective that is not attributed to rounding.
pub(super) const MIN_RELATIVE_DECREASE: f64 = 1e-11;

/// Minimum fraction of pairs with a retained vote for which the backends of all votes are reused.
const MIN_PAIRS_RATIO: f64 = 0.75;

/// A fit and the votes that were removed to compute it.
#[derive(Debug, Clone)]
pub(in crate::solve) struct RetainedFit {
    pub(in crate::solve) solution: Solution,
    pub(in crate::solve) removed: Vec<f64>,
    pub(in crate::solve) objective: f64,
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
        let (groups, pairs) = (self.graph.groups(), self.graph.pairs());
        let mut weight = vec![0.0; pairs.len()];
        let mut rhs = vec![0.0; self.graph.items()];
        for (p, range) in pairs.first_group.windows(2).enumerate() {
            let mut flow = 0.0;
            let range = range[0] as usize..range[1] as usize;
            let votes = groups.weight[range.clone()].iter().zip(&removed[range.clone()]);
            for ((all, removed), y) in votes.zip(&groups.y[range]) {
                weight[p] += all - removed;
                flow += (all - removed) * y;
            }
            rhs[pairs.left[p] as usize] += flow;
            rhs[pairs.right[p] as usize] -= flow;
        }
        let mut solution = self.solve(&weight, &rhs, &removed)?;
        self.graph.components().centre(&mut solution.scores);
        let retained = groups.weight.iter().zip(&removed).map(|(w, k)| w - k);
        let r = groups.residuals(&solution.scores);
        let objective = 0.5 * retained.zip(r).map(|(w, r)| w * r * r).sum::<f64>();
        Ok(RetainedFit { solution, removed, objective })
    }

    fn solve(&self, weight: &[f64], rhs: &[f64], removed: &[f64]) -> Result<Solution> {
        let tolerance = self.options.tolerance;
        let rule = StoppingRule { tolerance, ..StoppingRule::default() };
        let started = Instant::now();
        let nonempty = weight.iter().filter(|w| **w > 0.0).count();
        if nonempty as f64 >= MIN_PAIRS_RATIO * weight.len() as f64 {
            let system = self.all.reweighted(self.graph, weight)?;
            return scores_of_system(self.graph, &system, rhs, &rule, started);
        }
        let groups = self.graph.groups();
        let retained: Vec<f64> = groups.weight.iter().zip(removed).map(|(w, k)| w - k).collect();
        let rest: Groups = groups.reweighted(&retained);
        let rest = ComparisonGraph::new(self.graph.items(), rest)?;
        scores_of_all_votes(&rest, 0.0, self.options.backend, &rule)
    }
}
