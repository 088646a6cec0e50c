//! The flows on the compared pairs.

use hodgerank::decompose::{Decomposition, HodgeParts};
use hodgerank::{ComparisonGraph, Labels};

/// The flows on one pair; docs/output.md explains the columns.
#[derive(Debug)]
pub struct FlowRow {
    pub(super) left: String,
    pub(super) right: String,
    pub(super) votes: u64,
    pub(super) mean: f64,
    /// The energy of the bi-cycles, and the flows of the other parts.
    pub(super) parts: HodgeParts,
    pub(super) energy: f64,
}

impl FlowRow {
    pub(super) fn all(
        split: &Decomposition,
        graph: &ComparisonGraph,
        labels: &Labels,
    ) -> Vec<Self> {
        let (pairs, flows) = (graph.pairs(), &split.flows);
        let row = |p: usize| Self {
            left: labels.name(pairs.left[p]).to_owned(),
            right: labels.name(pairs.right[p]).to_owned(),
            votes: pairs.weight[p] as u64,
            mean: flows.mean[p],
            parts: HodgeParts {
                bicycles: flows.bicycles[p],
                gradient: flows.gradient[p],
                curl: flows.curl[p],
                harmonic: flows.harmonic[p],
            },
            energy: flows.energy[p],
        };
        (0..pairs.len()).map(row).collect()
    }
}
