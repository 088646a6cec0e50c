//! Can these votes support a ranking, and can wrong ones be found among them?
//!
//! Nothing here looks at what the votes say, but for who won (undefeated items) and the outliers
//! that the caller already suspects. It is about the design: who was compared with whom, how often.
//!
//! | question | figure |
//! |---|---|
//! | is there one scale? | components, bridges |
//! | how sure is it? | algebraic connectivity, effective resistances |
//! | were enough pairs compared? | pairs against n log n (connected) and n^{3/2} (no harmonic part) |
//! | can wrong votes be found? | cycles, ρ and C0, the share that C2 allows, C1 to C3 for suspects |
//!
//! The two sampling rules are orders of magnitude for pairs drawn at random, from the paper.
//!
//! Cost: see [`crate::identify`]; everything else is one pass over the groups.

mod advice;
mod design;

pub use advice::Verdict;
pub use design::{Design, Spread};

use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::identify::{
    self, Accuracy, Conditions, Findable, FindableOptions, IdentifyOptions, cycle_dimension,
};
use crate::laplacian::Eigenvalue;

/// Options of [`diagnose`].
///
/// | name | default | purpose |
/// |---|---|---|
/// | `few_votes` | 5 | items with fewer votes are listed |
/// | `identify` | see there | σ, κ |
/// | `findable` | see there | draws and seed of the search for the share that can be found |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table says it")]
pub struct DiagnoseOptions {
    pub few_votes: u64,
    pub identify: IdentifyOptions,
    pub findable: FindableOptions,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        Self {
            few_votes: 5,
            identify: IdentifyOptions::default(),
            findable: FindableOptions::default(),
        }
    }
}

/// What the design of a study can carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Who was compared with whom, and how often.
    pub design: Design,
    /// λ₂ of the largest component; none if nothing was compared.
    pub connectivity: Option<Eigenvalue>,
    /// How loosely items hang together; none if nothing was compared.
    pub resistance: Option<ResistanceSummary>,
    /// How many outliers can be found, wherever they are: the largest s with ρ < 1/(2s).
    pub certain_outliers: u64,
    /// What share can be found at random places.
    pub findable: Findable,
    /// The same if every vote had been cast twice; none on very large graphs.
    pub findable_if_doubled: Option<Findable>,
    /// The conditions for the suspects given; none without suspects or cycles.
    pub conditions: Option<Conditions>,
    /// All of this in words.
    pub verdict: Verdict,
}

/// Effective resistances in short.
#[derive(Debug, Clone, PartialEq)]
pub struct ResistanceSummary {
    /// ρ: the largest of a compared pair.
    pub largest: f64,
    /// That pair.
    pub pair: u32,
    /// Mean over the compared pairs.
    pub mean: f64,
    /// Items with the largest variance of their scores, first the largest, in units of σ².
    pub loosest_items: Vec<(u32, f64)>,
    /// How they were found.
    pub accuracy: Accuracy,
}

/// How many of the loosest items are kept.
const LOOSEST: usize = 10;
/// Graphs with more pairs are not searched a second time for twice the votes.
const MANY_PAIRS: usize = 1_000_000;

/// Looks at a study; `flagged` are the votes of each group that are suspected, all zero if none.
///
/// # Errors
/// If an option makes no sense or a system cannot be solved.
///
/// # Panics
/// If there is not one number for each group.
pub fn diagnose(
    graph: &ComparisonGraph,
    flagged: &[f64],
    options: &DiagnoseOptions,
) -> Result<Diagnosis> {
    options.identify.validate()?;
    let design = Design::of(graph, options.few_votes);
    let mut found = Diagnosis {
        design,
        connectivity: identify::algebraic_connectivity(graph)?,
        resistance: None,
        certain_outliers: 0,
        findable: Findable::default(),
        findable_if_doubled: None,
        conditions: None,
        verdict: Verdict::default(),
    };
    if !graph.pairs().is_empty() {
        let resistances = identify::resistances(graph)?;
        found.conditions = identify::conditions(graph, flagged, &resistances, &options.identify)?;
        if cycle_dimension(graph) > 0.0 {
            found.certain_outliers = certain_outliers(resistances.largest.0);
        }
        found.findable = identify::findable_share(graph, &options.findable)?;
        if graph.pairs().len() <= MANY_PAIRS {
            let twice = doubled(graph)?;
            found.findable_if_doubled = Some(identify::findable_share(&twice, &options.findable)?);
        }
        found.resistance = Some(summary(&resistances));
    }
    found.verdict = Verdict::of(&found);
    Ok(found)
}

/// The largest whole s with ρ < 1/(2s).
fn certain_outliers(rho: f64) -> u64 {
    if rho > 0.0 { (1.0 / (2.0 * rho)).ceil() as u64 - 1 } else { 0 }
}

fn doubled(graph: &ComparisonGraph) -> Result<ComparisonGraph> {
    let groups = graph.groups();
    let weight = groups.weight.iter().map(|w| 2.0 * w).collect();
    ComparisonGraph::new(graph.items(), Groups { weight, ..groups.clone() })
}

fn summary(resistances: &identify::Resistances) -> ResistanceSummary {
    let (pairs, items) = (&resistances.pairs, &resistances.items);
    let mut loosest: Vec<u32> = (0..items.len() as u32).collect();
    let by = |&a: &u32, &b: &u32| items[b as usize].total_cmp(&items[a as usize]).then(a.cmp(&b));
    if loosest.len() > LOOSEST {
        loosest.select_nth_unstable_by(LOOSEST - 1, by);
        loosest.truncate(LOOSEST);
    }
    loosest.sort_unstable_by(by);
    ResistanceSummary {
        largest: resistances.largest.0,
        pair: resistances.largest.1,
        mean: pairs.iter().sum::<f64>() / pairs.len() as f64,
        loosest_items: loosest.into_iter().map(|i| (i, items[i as usize])).collect(),
        accuracy: resistances.accuracy,
    }
}
