//! Study design: can these votes support a ranking, and can wrong votes be identified?
//!
//! Outcomes matter only for items that never won or lost, and for the flagged votes that the caller
//! provides. Everything else depends on which pairs were compared, and how often.
//!
//! | question | figure |
//! |---|---|
//! | can all items be ranked together? | components, bridges |
//! | how certain are the scores? | algebraic connectivity, effective resistances |
//! | were enough pairs compared? | pairs against n log n (connected) and n^{3/2} (no harmonic part) |
//! | which places are settled? | ranges of ranks, for a ranking with intervals ([`diagnose_ranked`]) |
//! | can wrong votes be identified? | cycles, ρ and C0, the share that C2 allows, C1 to C3 for flagged votes |
//!
//! The two sampling rules are orders of magnitude for pairs drawn at random, from the paper.
//!
//! Cost: see [`crate::identify`]; everything else is one pass over the groups.

mod capped_list;
mod certainty;
mod design;
mod resistance_summary;
mod verdict;
mod votes_needed;

pub use capped_list::CappedList;
pub use certainty::{
    Certainty, FirstPlace, NextPlace, NoIntervals, ProvisionalItem, SettledPlaces,
};
pub use design::{DesignSummary, ItemVotes, Spread};
pub use resistance_summary::{ItemVariance, ResistanceSummary};
pub use verdict::{Advice, Finding, FlaggedCertainty, Verdict};
pub use votes_needed::VotesNeeded;

use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::identify::{
    self, ConditionOptions, Conditions, IdentifiableOptions, IdentifiableShare, cycle_dimension,
};
use crate::laplacian::Eigenvalue;
use crate::ranked_study::RankedStudy;
use verdict::Evidence;

/// Maximum number of pairs for which the identifiable share is also computed for twice the votes.
const MAX_PAIRS_DOUBLED: usize = 1_000_000;

/// Options of [`diagnose`].
///
/// | name | default | purpose |
/// |---|---|---|
/// | `few_votes` | 5 | items with fewer votes are listed |
/// | `max_listed` | 10 | maximum length of each list of items or pairs |
/// | `conditions` | see there | σ and κ of the conditions for the flagged votes |
/// | `identifiable` | see there | draws and seed of the search for the identifiable share |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiagnoseOptions {
    /// Items with fewer votes are listed.
    pub few_votes: u64,
    /// Maximum length of each list of items or pairs.
    pub max_listed: usize,
    /// Options of the conditions for the flagged votes.
    pub conditions: ConditionOptions,
    /// Options of the search for the identifiable share.
    pub identifiable: IdentifiableOptions,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        Self {
            few_votes: 5,
            max_listed: 10,
            conditions: ConditionOptions::default(),
            identifiable: IdentifiableOptions::default(),
        }
    }
}

/// The result of [`diagnose`].
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Which items were compared, and how often.
    pub design: DesignSummary,
    /// The algebraic connectivity λ₂ of the largest component; none if nothing was compared.
    pub connectivity: Option<Eigenvalue>,
    /// How uncertain the scores are; none if nothing was compared.
    pub resistance: Option<ResistanceSummary>,
    /// How many wrong votes can be identified in any position: the largest s with ρ < 1/(2s).
    pub certain_outliers: u64,
    /// The share of randomly placed wrong votes that can be identified.
    pub identifiable: IdentifiableShare,
    /// The same if every vote had been cast twice; none above a million pairs.
    pub identifiable_if_doubled: Option<IdentifiableShare>,
    /// The conditions for the flagged votes; none without flagged votes or without cycles.
    pub conditions: Option<Conditions>,
    /// How certain the ranking is; none if only the design was examined.
    pub certainty: Option<Certainty>,
    /// What these figures mean for the study.
    pub verdict: Verdict,
}

/// Examines the design of a ranked study, and how certain its ranking is.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_ranked(study: &RankedStudy, options: &DiagnoseOptions) -> Result<Diagnosis> {
    let mut found = diagnose(&study.graph, &study.fit.flagged, options)?;
    if !study.graph.pairs().is_empty() {
        found.certainty = Certainty::new(study)?;
    }
    if let Some(certainty) = &found.certainty {
        found.verdict.first_place = certainty.first_place;
    }
    Ok(found)
}

/// Examines the design of a study; `flagged` is the number of flagged votes of each group, all zero
/// if there are none.
///
/// # Errors
/// If an option is out of range or a linear system cannot be solved.
///
/// # Panics
/// If `flagged` does not have one number per group.
pub fn diagnose(
    graph: &ComparisonGraph,
    flagged: &[f64],
    options: &DiagnoseOptions,
) -> Result<Diagnosis> {
    options.conditions.validate()?;
    let design = DesignSummary::new(graph, options.few_votes, options.max_listed);
    let mut found = Diagnosis {
        design,
        connectivity: identify::algebraic_connectivity(graph)?,
        resistance: None,
        certain_outliers: 0,
        identifiable: IdentifiableShare::default(),
        identifiable_if_doubled: None,
        conditions: None,
        certainty: None,
        verdict: Verdict::default(),
    };
    if !graph.pairs().is_empty() {
        let resistances = identify::resistances(graph)?;
        found.conditions = identify::conditions(graph, flagged, &resistances, &options.conditions)?;
        if cycle_dimension(graph) > 0.0 {
            found.certain_outliers = certain_outliers(resistances.largest.0);
        }
        let identifiable_share = |graph| identify::identifiable_share(graph, &options.identifiable);
        found.identifiable = identifiable_share(graph)?;
        if graph.pairs().len() <= MAX_PAIRS_DOUBLED {
            found.identifiable_if_doubled = Some(identifiable_share(&doubled(graph)?)?);
        }
        found.resistance =
            Some(ResistanceSummary::new(&resistances, graph.pairs(), options.max_listed));
    }
    found.verdict = Verdict::new(&Evidence {
        design: &found.design,
        accuracy: found.resistance.as_ref().map(|summary| summary.accuracy),
        certain_outliers: found.certain_outliers,
        identifiable: &found.identifiable,
        identifiable_if_doubled: found.identifiable_if_doubled.as_ref(),
        conditions: found.conditions.as_ref(),
    });
    Ok(found)
}

/// Returns the largest integer s with ρ < 1/(2s).
fn certain_outliers(rho: f64) -> u64 {
    if rho > 0.0 { (1.0 / (2.0 * rho)).ceil() as u64 - 1 } else { 0 }
}

/// Returns the graph in which every vote was cast twice.
fn doubled(graph: &ComparisonGraph) -> Result<ComparisonGraph> {
    let groups = graph.groups();
    let weight = groups.weight.iter().map(|w| 2.0 * w).collect();
    ComparisonGraph::new(graph.items(), Groups { weight, ..groups.clone() })
}
