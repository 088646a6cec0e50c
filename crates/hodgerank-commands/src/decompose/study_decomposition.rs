//! The decomposition of one study, with names of items.

use hodgerank::InputSummary;
use hodgerank::decompose::{
    BettiNumber, DecomposeInfo, Decomposition, HarmonicLoop, HodgeParts, ItemInconsistency,
    PairInconsistency, Transitivity, Triangle,
};
use hodgerank::{ComparisonGraph, Labels};
use hodgerank_report::advice::betti_limit_text;
use serde::Serialize;

use crate::document::StudyFigures;

use super::flow_row::FlowRow;

/// The JSON of `decompose` for one study; docs/output.md explains its keys.
#[derive(Debug, Serialize)]
pub struct StudyDecomposition {
    /// What was read.
    #[serde(skip)]
    pub input: InputSummary,
    /// Σ w y² of all votes.
    pub energy: f64,
    /// The share of each part in the energy.
    pub shares: HodgeParts,
    /// Number of triangles, and how many of them are cyclic.
    pub transitivity: Transitivity,
    /// The Betti number.
    pub betti: BettiSummary,
    /// The triangles whose majorities form a cycle, those with the most energy first.
    pub triangles: Vec<ListedTriangle>,
    /// The strongest loops of the harmonic part.
    pub loops: Vec<HarmonicLoop<String>>,
    /// The most inconsistent items.
    pub items: Vec<ItemInconsistency<String>>,
    /// The most inconsistent pairs.
    pub pairs: Vec<PairInconsistency<String>>,
    /// How the parts were computed, and how accurate they are.
    pub method: DecomposeInfo,
    /// How the computation ended.
    pub status: &'static str,
    /// The flow of each part on each pair, for CSV and Parquet.
    #[serde(skip)]
    pub flows: Vec<FlowRow>,
}

/// A Betti number, or why it was not computed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct BettiSummary {
    /// The number.
    pub number: Option<u64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A triangle and the annotators who voted on it.
#[derive(Debug, Serialize)]
pub struct ListedTriangle {
    /// The triangle.
    #[serde(flatten)]
    pub triangle: Triangle<String>,
    /// Its annotators; empty if the input does not name them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotators: Vec<AnnotatorVotes>,
}

/// An annotator and the number of votes on a triangle.
#[derive(Debug, Clone, Serialize)]
pub struct AnnotatorVotes {
    /// The annotator.
    pub annotator: String,
    /// Number of votes.
    pub votes: u64,
}

impl StudyFigures for StudyDecomposition {
    fn input(&self) -> InputSummary {
        self.input
    }
}

impl StudyDecomposition {
    /// Names the items of a decomposition, with the `top` most inconsistent items and pairs.
    #[must_use]
    pub fn new(
        split: &Decomposition,
        input: InputSummary,
        graph: &ComparisonGraph,
        labels: &Labels,
        top: usize,
    ) -> Self {
        let name = |item: u32| labels.name(item).to_owned();
        let triangle =
            |found: &Triangle| ListedTriangle { triangle: found.map(name), annotators: Vec::new() };
        let items = split.worst_items(graph, top).into_iter();
        let pairs = split.worst_pairs(graph, top).into_iter();
        Self {
            input,
            energy: split.energy,
            shares: split.shares,
            transitivity: split.transitivity,
            betti: split.betti.into(),
            triangles: split.triangles.iter().map(triangle).collect(),
            loops: split.loops.iter().map(|found| found.clone().map(name)).collect(),
            items: items.map(|found| found.map(name)).collect(),
            pairs: pairs.map(|found| found.map(name)).collect(),
            method: split.info.clone(),
            status: split.status.as_str(),
            flows: Vec::new(),
        }
    }

    /// Adds the flow of each part on each pair, for [`super::flow_table()`].
    #[must_use]
    pub fn with_flows(
        mut self,
        split: &Decomposition,
        graph: &ComparisonGraph,
        labels: &Labels,
    ) -> Self {
        self.flows = FlowRow::all(split, graph, labels);
        self
    }
}

impl From<BettiNumber> for BettiSummary {
    fn from(betti: BettiNumber) -> Self {
        match betti {
            BettiNumber::Exact(number) => Self { number: Some(number), reason: None },
            BettiNumber::NotComputed(limit) => {
                Self { number: None, reason: Some(betti_limit_text(limit)) }
            }
        }
    }
}
