//! The prior of the scores: normal, on one of two things.
//!
//! | kind | −2 log density / λ | good where |
//! |---|---|---|
//! | [`PriorKind::Scores`] | Σ θ_i² | pairs were asked at random |
//! | [`PriorKind::Differences`] | Σ_pairs ω_ij (θ_i − θ_j)², ω_ij = ½ N_ij (1/D_i + 1/D_j) | similar items were compared |
//!
//! N_ij are the votes of a pair and D_i those of an item: every item has a weight of about one, shared by its
//! neighbours in proportion to their votes. The second kind does not pull items towards zero that were only
//! compared with good ones. On real studies neither is better everywhere, so that the votes decide
//! (`choose.rs`).

use rayon::prelude::*;

use super::pair_sums::{PAIRS_PER_TASK, sum_ends};
use crate::graph::ComparisonGraph;

/// What the prior is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PriorKind {
    /// The scores.
    Scores,
    /// The differences of compared items.
    Differences,
}

impl PriorKind {
    /// The name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scores => "scores",
            Self::Differences => "differences",
        }
    }
}

/// A prior: its kind, and its precision λ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// What it is on.
    pub kind: PriorKind,
    /// λ, the inverse of a variance.
    pub precision: f64,
}

impl Prior {
    /// The precision matrix on a graph, as weights of its pairs and a multiple of the identity.
    pub(crate) fn term(self, graph: &ComparisonGraph) -> PriorTerm {
        let mut term = PriorTerm { prior: self, weights: Vec::new() };
        if self.kind == PriorKind::Differences {
            term.weights = difference_weights(graph);
        }
        term
    }
}

/// ω of each pair.
pub(crate) fn difference_weights(graph: &ComparisonGraph) -> Vec<f64> {
    let pairs = graph.pairs();
    let mut votes = sum_ends(graph.items(), pairs, |p| (pairs.weight[p], pairs.weight[p]));
    graph.communicator().sum(&mut votes);
    let inverse = |item: u32| 1.0 / votes[item as usize];
    let weight =
        |p: usize| 0.5 * pairs.weight[p] * (inverse(pairs.left[p]) + inverse(pairs.right[p]));
    (0..pairs.len()).into_par_iter().with_min_len(PAIRS_PER_TASK).map(weight).collect()
}

/// A prior on the items of a graph.
#[derive(Debug, Clone)]
pub(crate) struct PriorTerm {
    pub(crate) prior: Prior,
    /// ω of each pair; empty for a prior on the scores.
    weights: Vec<f64>,
}

impl PriorTerm {
    /// λω: what the prior adds to the information of a pair.
    #[inline]
    pub(crate) fn pair_weight(&self, pair: usize) -> f64 {
        self.weights.get(pair).map_or(0.0, |weight| self.prior.precision * weight)
    }

    /// What the prior adds to the information of each item alone.
    pub(crate) fn shift(&self) -> f64 {
        match self.prior.kind {
            PriorKind::Scores => self.prior.precision,
            PriorKind::Differences => 0.0,
        }
    }

    /// The same prior with another precision.
    pub(crate) fn with_precision(mut self, precision: f64) -> Self {
        self.prior.precision = precision;
        self
    }
}
