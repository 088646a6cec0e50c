//! The figures of `diagnose`, with names of items.

use hodgerank::diagnose::{Design, Diagnosis, ResistanceSummary, Spread, Verdict};
use hodgerank::identify::{Accuracy, Conditions, Findable, Trial};
use hodgerank::{ComparisonGraph, InputSummary, Labels, OutlierSummary, RankedStudy};
use serde::Serialize;

use crate::ranked::MethodSummary;

/// Most items and pairs listed by name.
const MAX_LISTED: usize = 10;

/// What `diagnose` says of one study.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct DiagnosisFigures {
    pub input: InputSummary,
    pub verdict: VerdictFigures,
    pub design: DesignFigures,
    pub connectivity: Option<ConnectivityFigures>,
    pub resistance: Option<ResistanceFigures>,
    pub identifiability: IdentifiabilityFigures,
}

/// The answer in words.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct VerdictFigures {
    pub can_rank: bool,
    pub can_find_outliers: bool,
    pub findings: Vec<String>,
    pub advice: Vec<String>,
}

/// Who was compared with whom.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct DesignFigures {
    pub items: usize,
    pub pairs: usize,
    pub votes: u64,
    pub density: f64,
    pub components: usize,
    pub largest_component: usize,
    pub never_compared: usize,
    pub cycles: u64,
    pub bridges: Listed<PairName>,
    pub few_votes: Listed<ItemVotes>,
    pub undefeated: Listed<String>,
    pub winless: Listed<String>,
    pub votes_per_pair: SpreadFigures,
    pub votes_per_item: SpreadFigures,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes_per_annotator: Option<SpreadFigures>,
    pub pairs_to_connect: f64,
    pub pairs_without_loops: f64,
}

/// How many there are, and the first of them.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct Listed<T> {
    pub count: usize,
    pub first: Vec<T>,
}

/// A pair of items.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct PairName {
    pub left: String,
    pub right: String,
}

/// An item and its votes.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ItemVotes {
    pub item: String,
    pub votes: u64,
}

/// How unevenly something is spread.
#[derive(Debug, Clone, Copy, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct SpreadFigures {
    pub least: f64,
    pub median: f64,
    pub mean: f64,
    pub most: f64,
}

/// λ₂ of the largest component.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ConnectivityFigures {
    pub value: f64,
    pub accuracy: f64,
    pub converged: bool,
}

/// Effective resistances.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ResistanceFigures {
    pub largest: f64,
    pub pair: PairName,
    pub mean: f64,
    pub loosest_items: Vec<ItemVariance>,
    pub accuracy: AccuracyFigures,
}

/// An item and the variance of its score in units of σ².
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ItemVariance {
    pub item: String,
    pub variance: f64,
}

/// How a figure was found.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "way", rename_all = "lowercase")]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub enum AccuracyFigures {
    Exact,
    Sketched { sketches: u32, checked: u32, relative_error: f64 },
}

/// Whether wrong votes can be found.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct IdentifiabilityFigures {
    pub rho: Option<f64>,
    pub certain_outliers: u64,
    pub findable_share: f64,
    pub trials: Vec<TrialFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findable_share_if_doubled: Option<f64>,
    pub suspects: SuspectFigures,
}

/// One share that was tried.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct TrialFigures {
    pub share: f64,
    pub draws: u32,
    pub held: u32,
}

/// The suspects that the conditions were computed for, and how they were found.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct SuspectFigures {
    pub method: MethodSummary,
    #[serde(flatten)]
    pub outliers: OutlierSummary,
    pub conditions: Option<ConditionFigures>,
}

/// C1 to C3.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "names of the JSON, which docs/output.md explains")]
pub struct ConditionFigures {
    pub c1: bool,
    pub c2: bool,
    pub c3: bool,
    pub c_min: f64,
    pub c_min_accuracy: f64,
    /// Absent where the suspects cut the graph.
    pub eta: Option<f64>,
    pub mu: f64,
    pub sigma: f64,
    pub gamma_min: f64,
    pub gamma_max: f64,
    pub lambda_bar: Option<f64>,
    pub tau_bar: Option<f64>,
    pub gamma_needed: Option<f64>,
    pub accuracy: AccuracyFigures,
}

impl DiagnosisFigures {
    /// The figures of one study; `study` says what was read and how suspects were found.
    #[must_use]
    pub fn new(
        diagnosis: &Diagnosis,
        study: &RankedStudy,
        graph: &ComparisonGraph,
        items: &Labels,
        votes_per_annotator: Option<Spread>,
    ) -> Self {
        let pair = |p: u32| PairName {
            left: items.name(graph.pairs().left[p as usize]).to_owned(),
            right: items.name(graph.pairs().right[p as usize]).to_owned(),
        };
        Self {
            input: study.input,
            verdict: VerdictFigures::from(&diagnosis.verdict),
            design: DesignFigures::new(&diagnosis.design, items, pair, votes_per_annotator),
            connectivity: diagnosis.connectivity.as_ref().map(|found| ConnectivityFigures {
                value: found.value,
                accuracy: found.accuracy,
                converged: found.converged,
            }),
            resistance: diagnosis
                .resistance
                .as_ref()
                .map(|summary| ResistanceFigures::new(summary, items, pair)),
            identifiability: IdentifiabilityFigures::new(diagnosis, study),
        }
    }
}

impl DesignFigures {
    fn new(
        design: &Design,
        items: &Labels,
        pair: impl Fn(u32) -> PairName,
        votes_per_annotator: Option<Spread>,
    ) -> Self {
        let name = |&item: &u32| items.name(item).to_owned();
        let few =
            |&(item, votes): &(u32, u64)| ItemVotes { item: items.name(item).to_owned(), votes };
        Self {
            items: design.items,
            pairs: design.pairs,
            votes: design.votes as u64,
            density: design.density,
            components: design.components,
            largest_component: design.largest_component,
            never_compared: design.never_compared,
            cycles: design.cycles as u64,
            bridges: Listed::new(&design.bridges, |&p| pair(p)),
            few_votes: Listed::new(&design.few_votes, few),
            undefeated: Listed::new(&design.undefeated, name),
            winless: Listed::new(&design.winless, name),
            votes_per_pair: design.votes_per_pair.into(),
            votes_per_item: design.votes_per_item.into(),
            votes_per_annotator: votes_per_annotator.map(SpreadFigures::from),
            pairs_to_connect: design.pairs_to_connect,
            pairs_without_loops: design.pairs_without_loops,
        }
    }
}

impl<T> Listed<T> {
    fn new<S>(all: &[S], name: impl Fn(&S) -> T) -> Self {
        Self { count: all.len(), first: all.iter().take(MAX_LISTED).map(name).collect() }
    }
}

impl ResistanceFigures {
    fn new(summary: &ResistanceSummary, items: &Labels, pair: impl Fn(u32) -> PairName) -> Self {
        let loosest = summary.loosest_items.iter();
        Self {
            largest: summary.largest,
            pair: pair(summary.pair),
            mean: summary.mean,
            loosest_items: loosest
                .map(|&(item, variance)| ItemVariance {
                    item: items.name(item).to_owned(),
                    variance,
                })
                .collect(),
            accuracy: summary.accuracy.into(),
        }
    }
}

impl IdentifiabilityFigures {
    fn new(diagnosis: &Diagnosis, study: &RankedStudy) -> Self {
        let trial = |trial: &Trial| TrialFigures {
            share: trial.share,
            draws: trial.draws,
            held: trial.held,
        };
        let share = |findable: &Findable| findable.share;
        Self {
            rho: diagnosis.resistance.as_ref().map(|summary| summary.largest),
            certain_outliers: diagnosis.certain_outliers,
            findable_share: diagnosis.findable.share,
            trials: diagnosis.findable.trials.iter().map(trial).collect(),
            findable_share_if_doubled: diagnosis.findable_if_doubled.as_ref().map(share),
            suspects: SuspectFigures {
                method: MethodSummary::new(study),
                outliers: study.outliers,
                conditions: diagnosis.conditions.as_ref().map(ConditionFigures::from),
            },
        }
    }
}

impl From<&Verdict> for VerdictFigures {
    fn from(verdict: &Verdict) -> Self {
        Self {
            can_rank: verdict.can_rank,
            can_find_outliers: verdict.can_find_outliers,
            findings: verdict.findings.clone(),
            advice: verdict.advice.clone(),
        }
    }
}

impl From<Spread> for SpreadFigures {
    fn from(Spread { least, median, mean, most }: Spread) -> Self {
        Self { least, median, mean, most }
    }
}

impl From<Accuracy> for AccuracyFigures {
    fn from(accuracy: Accuracy) -> Self {
        match accuracy {
            Accuracy::Exact => Self::Exact,
            Accuracy::Sketched { sketches, checked, relative_error } => {
                Self::Sketched { sketches, checked, relative_error }
            }
        }
    }
}

impl From<&Conditions> for ConditionFigures {
    fn from(found: &Conditions) -> Self {
        Self {
            c1: found.c1(),
            c2: found.c2(),
            c3: found.c3(),
            c_min: found.c_min,
            c_min_accuracy: found.c_min_accuracy,
            eta: Some(found.eta()).filter(|eta| eta.is_finite()),
            mu: found.mu,
            sigma: found.sigma,
            gamma_min: found.gamma.0,
            gamma_max: found.gamma.1,
            lambda_bar: found.lambda_bar,
            tau_bar: found.tau_bar,
            gamma_needed: found.gamma_needed,
            accuracy: found.accuracy.into(),
        }
    }
}
