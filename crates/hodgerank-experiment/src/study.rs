//! A study of which it is known which votes are bad.

use hodgerank::simulate::SimulatedVote;
use hodgerank::{Comparison, ComparisonGraph, Groups, Path, detection};

use crate::error::Result;

/// The votes, merged; how many of each group are bad and good.
pub(crate) struct KnownStudy {
    pub(crate) graph: ComparisonGraph,
    pub(crate) bad: Vec<f64>,
    pub(crate) good: Vec<f64>,
    /// The group of each vote.
    pub(crate) group_of: Vec<usize>,
}

impl KnownStudy {
    pub(crate) fn new(items: usize, votes: &[SimulatedVote]) -> Result<Self> {
        let comparisons: Vec<Comparison> = votes.iter().map(SimulatedVote::comparison).collect();
        let merged = Groups::merge(items, &comparisons)?;
        let (mut bad, mut good) = (vec![0.0; merged.groups.len()], vec![0.0; merged.groups.len()]);
        // Each simulated vote is cast once, so that none is without a group.
        let group_of: Vec<usize> = merged.group_of.iter().flatten().map(|&g| g as usize).collect();
        for (vote, &g) in votes.iter().zip(&group_of) {
            let count = if vote.bad { &mut bad } else { &mut good };
            count[g] += 1.0;
        }
        Ok(Self { graph: ComparisonGraph::new(items, merged.groups)?, bad, good, group_of })
    }

    /// The ROC of a path; none where no vote is bad or none is good.
    pub(crate) fn roc(&self, path: &Path) -> Option<Vec<(f64, f64)>> {
        detection::roc(&detection::suspicion(&self.graph, path), &self.bad, &self.good)
    }
}
