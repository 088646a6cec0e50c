//! The figures of `decompose`, with names of items; its flows as a table.

use hodgerank::decompose::{BettiNumber, Decomposition, LocalInconsistency, Parts, Triangle};
use hodgerank::{ComparisonGraph, InputSummary, Labels};
use hodgerank_io::write::{Column, Table};
use serde::Serialize;

use crate::document::Figures;

/// What `decompose` says of one study.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct DecompositionFigures {
    pub input: InputSummary,
    pub energy: f64,
    pub shares: PartFigures,
    pub transitivity: TransitivityFigures,
    pub betti: BettiFigures,
    pub triangles: Vec<TriangleFigures>,
    pub loops: Vec<LoopFigures>,
    pub items: Vec<ItemFigures>,
    pub pairs: Vec<PairFigures>,
    pub method: CurlFigures,
    pub status: &'static str,
    #[serde(skip)]
    pub flows: Vec<FlowRow>,
}

/// A number for each of the four parts.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct PartFigures {
    pub bicycles: f64,
    pub gradient: f64,
    pub curl: f64,
    pub harmonic: f64,
}

/// The transitivity satisfaction rate and what it was counted from.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct TransitivityFigures {
    pub rate: Option<f64>,
    pub triangles: u64,
    pub decided: u64,
    pub cyclic: u64,
    /// Share of the pairs whose triangles were looked at, where that was not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<f64>,
}

/// β₁, or why it was not counted.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct BettiFigures {
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A triangle, in the direction in which its mean votes sum to something above zero.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct TriangleFigures {
    pub items: [String; 3],
    pub curl: f64,
    pub flows: [f64; 3],
    pub votes: [u64; 3],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub annotators: Vec<VoterFigures>,
}

/// Someone who voted on a triangle.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct VoterFigures {
    pub annotator: String,
    pub votes: u64,
}

/// A closed walk that carries harmonic flow.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct LoopFigures {
    pub items: Vec<String>,
    pub strength: f64,
    pub total_flow: f64,
}

/// How inconsistent the votes on an item are.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ItemFigures {
    pub item: String,
    pub energy: f64,
    pub inconsistent: f64,
    pub share: f64,
}

/// How inconsistent the votes on a pair are.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct PairFigures {
    pub left: String,
    pub right: String,
    pub energy: f64,
    pub inconsistent: f64,
    pub share: f64,
}

/// How curl and harmonic part were told apart, and how exactly.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct CurlFigures {
    pub name: &'static str,
    pub iterations: usize,
    pub curl_residual: Option<f64>,
    pub divergence_residual: f64,
    pub sum_error: f64,
}

/// The flows on one pair.
#[derive(Debug)]
#[expect(missing_docs, reason = "names of the columns, which docs/output.md explains")]
pub struct FlowRow {
    pub left: String,
    pub right: String,
    pub votes: u64,
    pub mean: f64,
    pub parts: PartFigures,
    pub energy: f64,
}

impl DecompositionFigures {
    /// The figures of one study, with the `top` most inconsistent items and pairs.
    #[must_use]
    pub fn new(
        split: &Decomposition,
        input: InputSummary,
        graph: &ComparisonGraph,
        labels: &Labels,
        top: usize,
    ) -> Self {
        let name = |item: u32| labels.name(item).to_owned();
        let ends = |pair: u32| {
            let pairs = graph.pairs();
            (name(pairs.left[pair as usize]), name(pairs.right[pair as usize]))
        };
        let item = |local: LocalInconsistency| ItemFigures {
            item: name(local.index),
            energy: local.energy,
            inconsistent: local.inconsistent(),
            share: local.share(),
        };
        let pair = |local: LocalInconsistency| {
            let (left, right) = ends(local.index);
            let (energy, inconsistent, share) = (local.energy, local.inconsistent(), local.share());
            PairFigures { left, right, energy, inconsistent, share }
        };
        let walk = |found: &hodgerank::decompose::HarmonicLoop| LoopFigures {
            items: found.items.iter().map(|&item| name(item)).collect(),
            strength: found.strength,
            total_flow: found.total_flow,
        };
        let triangle = |found: &Triangle| TriangleFigures {
            items: found.items.map(name),
            curl: found.curl,
            flows: found.flows,
            votes: found.votes.map(|votes| votes as u64),
            annotators: Vec::new(),
        };
        let report = &split.triangles;
        Self {
            input,
            energy: split.energy,
            shares: split.shares.into(),
            transitivity: TransitivityFigures {
                rate: report.transitivity(),
                triangles: report.seen,
                decided: report.decided,
                cyclic: report.cyclic,
                sampled: report.sampled,
            },
            betti: split.betti.into(),
            triangles: report.worst.iter().map(triangle).collect(),
            loops: split.loops.iter().map(walk).collect(),
            items: split.worst_items(graph, top).into_iter().map(item).collect(),
            pairs: split.worst_pairs(graph, top).into_iter().map(pair).collect(),
            method: CurlFigures {
                name: split.info.method.as_str(),
                iterations: split.info.iterations,
                curl_residual: split.info.curl_residual,
                divergence_residual: split.info.divergence_residual,
                sum_error: split.info.sum_error,
            },
            status: split.status.as_str(),
            flows: Vec::new(),
        }
    }

    /// Keeps the flow of each part on each pair, for [`flow_table`].
    #[must_use]
    pub fn with_flows(
        mut self,
        split: &Decomposition,
        graph: &ComparisonGraph,
        labels: &Labels,
    ) -> Self {
        let (pairs, flows) = (graph.pairs(), &split.flows);
        let row = |p: usize| FlowRow {
            left: labels.name(pairs.left[p]).to_owned(),
            right: labels.name(pairs.right[p]).to_owned(),
            votes: pairs.weight[p] as u64,
            mean: flows.mean[p],
            parts: PartFigures {
                bicycles: flows.bicycles[p],
                gradient: flows.gradient[p],
                curl: flows.curl[p],
                harmonic: flows.harmonic[p],
            },
            energy: flows.energy[p],
        };
        self.flows = (0..pairs.len()).map(row).collect();
        self
    }
}

/// The flows of all studies, a row for each compared pair.
#[must_use]
pub fn flow_table(studies: &[Figures<DecompositionFigures>]) -> Table {
    let rows = || {
        studies
            .iter()
            .flat_map(|study| study.figures.flows.iter().map(move |row| (study.by.as_deref(), row)))
    };
    let text = |pick: fn(&FlowRow) -> &str| {
        Column::Text(rows().map(|(_, row)| Some(pick(row).to_owned())).collect())
    };
    let number = |pick: fn(&FlowRow) -> f64| {
        // A flow of minus zero would be printed as such.
        Column::Number(rows().map(|(_, row)| Some(pick(row) + 0.0)).collect())
    };
    let mut table = Table::default();
    if studies.iter().any(|study| study.by.is_some()) {
        table.push("by", Column::Text(rows().map(|(by, _)| by.map(str::to_owned)).collect()));
    }
    table.push("left", text(|row| &row.left));
    table.push("right", text(|row| &row.right));
    table.push("votes", Column::Whole(rows().map(|(_, row)| Some(row.votes)).collect()));
    table.push("mean", number(|row| row.mean));
    table.push("gradient", number(|row| row.parts.gradient));
    table.push("curl", number(|row| row.parts.curl));
    table.push("harmonic", number(|row| row.parts.harmonic));
    table.push("energy", number(|row| row.energy));
    table.push("bicycle_energy", number(|row| row.parts.bicycles));
    table
}

impl From<Parts> for PartFigures {
    fn from(Parts { bicycles, gradient, curl, harmonic }: Parts) -> Self {
        Self { bicycles, gradient, curl, harmonic }
    }
}

impl From<BettiNumber> for BettiFigures {
    fn from(betti: BettiNumber) -> Self {
        match betti {
            BettiNumber::Exact(number) => Self { number: Some(number), reason: None },
            BettiNumber::NotComputed { reason } => Self { number: None, reason: Some(reason) },
        }
    }
}
