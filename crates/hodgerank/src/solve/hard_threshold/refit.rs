//! Least squares without the votes removed.
//!
//! Cost: one pass over the groups and one Laplacian system. Pairs and backends are those of all votes
//! as long as most pairs keep a vote; else the rest is a graph of its own.

use std::time::Instant;

use super::HardThresholdOptions;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::solve::{Solution, scores_of_all_votes, scores_of_system};

/// Share of the pairs that must keep a vote for the backends of all votes to suit the rest.
const MAX_PAIRS: f64 = 0.75;

/// A fit and the votes that it leaves out.
#[derive(Debug, Clone)]
pub(in crate::solve) struct Fit {
    pub(in crate::solve) solution: Solution,
    pub(in crate::solve) removed: Vec<f64>,
    pub(in crate::solve) objective: f64,
}

/// The system of all votes.
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

    /// The fit; the votes kept must connect what all votes connect.
    pub(super) fn fit(&self, removed: Vec<f64>) -> Result<Fit> {
        let (groups, pairs) = (self.graph.groups(), self.graph.pairs());
        let mut weight = vec![0.0; pairs.len()];
        let mut rhs = vec![0.0; self.graph.items()];
        for (p, range) in pairs.first_group.windows(2).enumerate() {
            let mut pull = 0.0;
            let range = range[0] as usize..range[1] as usize;
            let votes = groups.weight[range.clone()].iter().zip(&removed[range.clone()]);
            for ((all, gone), y) in votes.zip(&groups.y[range]) {
                weight[p] += all - gone;
                pull += (all - gone) * y;
            }
            rhs[pairs.left[p] as usize] += pull;
            rhs[pairs.right[p] as usize] -= pull;
        }
        let mut solution = self.solve(&weight, &rhs, &removed)?;
        self.graph.components().centre(&mut solution.scores);
        let kept = groups.weight.iter().zip(&removed).map(|(w, k)| w - k);
        let r = groups.residuals(&solution.scores);
        let objective = 0.5 * kept.zip(r).map(|(w, r)| w * r * r).sum::<f64>();
        Ok(Fit { solution, removed, objective })
    }

    fn solve(&self, weight: &[f64], rhs: &[f64], removed: &[f64]) -> Result<Solution> {
        let tolerance = self.options.tolerance;
        let rule = StoppingRule { tolerance, ..StoppingRule::default() };
        let started = Instant::now();
        let left = weight.iter().filter(|w| **w > 0.0).count();
        if left as f64 >= MAX_PAIRS * weight.len() as f64 {
            let system = self.all.reweighted(self.graph, weight)?;
            return scores_of_system(self.graph, &system, rhs, &rule, started);
        }
        let groups = self.graph.groups();
        let kept: Vec<f64> = groups.weight.iter().zip(removed).map(|(w, k)| w - k).collect();
        let rest: Groups = groups.reweighted(&kept);
        let rest = ComparisonGraph::new(self.graph.items(), rest)?;
        scores_of_all_votes(&rest, 0.0, self.options.backend, &rule)
    }
}
