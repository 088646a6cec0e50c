//! Studies in which the bad votes are known.

use hodgerank::simulate::SimulatedVote;
use hodgerank::{Comparison, ComparisonGraph, Groups, Path, detection};

use crate::error::Result;

/// A study in which the bad votes are known.
pub(crate) struct LabelledStudy {
    pub(crate) graph: ComparisonGraph,
    /// Number of bad votes of each distinct vote.
    pub(crate) bad: Vec<f64>,
    /// Number of good votes of each distinct vote.
    pub(crate) good: Vec<f64>,
    /// The distinct vote of each vote.
    pub(crate) group_of: Vec<usize>,
}

impl LabelledStudy {
    pub(crate) fn new(items: usize, votes: &[SimulatedVote]) -> Result<Self> {
        let comparisons: Vec<Comparison> = votes.iter().map(SimulatedVote::comparison).collect();
        let merged = Groups::merge(items, &comparisons)?;
        let (mut bad, mut good) = (vec![0.0; merged.groups.len()], vec![0.0; merged.groups.len()]);
        // Simulated votes have count 1, so that each of them has a distinct vote.
        let group_of: Vec<usize> = merged.group_of.iter().flatten().map(|&g| g as usize).collect();
        for (vote, &g) in votes.iter().zip(&group_of) {
            let count = if vote.bad { &mut bad } else { &mut good };
            count[g] += 1.0;
        }
        Ok(Self { graph: ComparisonGraph::new(items, merged.groups)?, bad, good, group_of })
    }

    /// Returns the ROC curve of a path; `None` if all votes are good or all are bad.
    pub(crate) fn roc(&self, path: &Path) -> Option<Vec<(f64, f64)>> {
        detection::roc(&detection::suspicion(&self.graph, path), &self.bad, &self.good)
    }
}
