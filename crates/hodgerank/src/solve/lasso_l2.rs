//! Huber-LASSO finds the outliers, least squares without them gives the scores.
//!
//! Objective: min over θ of ½ Σ_{g kept} w_g (y_g − (Xθ)_g)². Which groups are kept is decided by
//! the path of [`huber_lasso`]. The refit takes away the bias of size λ that Huber-LASSO has.
//!
//! Groups go as a whole, in order of suspicion, stop the votes asked for are gone. The order is
//! that of first entry. Two protocols differ in what comes first among groups of one knot:
//!
//! | protocol | knots | first of one knot |
//! |---|---|---|
//! | [`Protocol::General`] | as in the options | the larger residual |
//! | [`Protocol::Paper`] | λ_max · 0.01^(k/99) | the smaller winner, then loser, as item indices |
//!
//! Cost: one path and one Laplacian system.
//!
//! Failure modes: what is kept may fall into more components than there were; scores then have
//! mean zero on each of these, and [`LassoL2::components`] says how many there are.

use super::huber_lasso::{self, HuberLassoOptions, Knots};
use super::{L2Options, Solution, l2};
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups};
use crate::path::{Path, StopAt};

/// How the outliers are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Protocol {
    /// By the path of the options; of one knot, larger residuals first.
    #[default]
    General,
    /// The paper's: 100 knots down to 0.01 λ_max; of one knot, by winner and loser.
    Paper,
}

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `path` | see [`HuberLassoOptions`] | how outliers are found | |
/// | `refit` | see [`L2Options`] | how the rest is fitted | |
/// | `protocol` | `general` | how outliers are ordered | `general`, `paper` |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LassoL2Options {
    /// How outliers are found.
    pub path: HuberLassoOptions,
    /// How the rest is fitted.
    pub refit: L2Options,
    /// How outliers are ordered.
    pub protocol: Protocol,
}

impl LassoL2Options {
    /// Checks that all values make sense.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first that does not.
    pub fn validate(&self) -> Result<()> {
        self.path.validate()?;
        self.refit.validate()
    }
}

/// Scores without the outliers.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoL2 {
    /// The groups taken away, the most suspicious first.
    pub removed: Vec<u32>,
    /// Least squares on the rest.
    pub solution: Solution,
    /// Components of the graph of the rest.
    pub components: usize,
    /// The path that flagged the groups.
    pub path: Path,
}

/// Walks the path to `until` and refits without what it flagged.
///
/// With [`StopAt::Flagged`] groups go, in order of suspicion, stop at least so many votes are
/// gone. Else all groups go that are flagged at the end of the path.
///
/// # Errors
/// If an option makes no sense, the outcomes are too large to be added up, or a backend that was
/// asked for cannot take the graph.
pub fn solve(graph: &ComparisonGraph, options: &LassoL2Options, stop: StopAt) -> Result<LassoL2> {
    options.validate()?;
    let mut path_options = options.path;
    if options.protocol == Protocol::Paper {
        path_options.knots = Knots::Grid { count: 100, ratio: 0.01 };
    }
    let path = huber_lasso::compute_path(graph, &path_options, stop)?;
    let ordered = in_order(graph, &path, options.protocol);
    let removed = match stop {
        StopAt::Flagged(votes) => first_votes(graph.groups(), ordered, votes),
        StopAt::End | StopAt::Value(_) => {
            let end = path.knots.last().copied().unwrap_or_default();
            let flagged = path.flagged_at(end);
            ordered.into_iter().filter(|g| flagged.binary_search(g).is_ok()).collect()
        }
    };
    let (components, solution) = refit(graph, &removed, &options.refit)?;
    Ok(LassoL2 { removed, solution, components, path })
}

/// Least squares without some groups; how many components the rest has, and its scores.
///
/// # Errors
/// As [`l2::solve`], and if there is no such group.
pub fn refit(
    graph: &ComparisonGraph,
    removed: &[u32],
    options: &L2Options,
) -> Result<(usize, Solution)> {
    let mut weight = graph.groups().weight.clone();
    for &g in removed {
        let Some(weight) = weight.get_mut(g as usize) else {
            let (value, expected) = (g.to_string(), "the index of a group");
            return Err(Error::BadOption { option: "removed", value, expected });
        };
        *weight = 0.0;
    }
    let rest = ComparisonGraph::new(graph.items(), graph.groups().reweighted(&weight))?;
    Ok((rest.components().len(), l2::solve(&rest, options)?))
}

/// Groups that ever entered, in order of first entry.
fn in_order(graph: &ComparisonGraph, path: &Path, protocol: Protocol) -> Vec<u32> {
    let mut entries = path.entries();
    if protocol == Protocol::Paper {
        let groups = graph.groups();
        let winner_loser = |g: u32| {
            let (left, right) = (groups.left[g as usize], groups.right[g as usize]);
            if groups.y[g as usize] < 0.0 { (right, left) } else { (left, right) }
        };
        // λ falls along the path.
        let order = |e: &crate::path::Entry| (winner_loser(e.group), e.group);
        entries.sort_by(|a, b| b.at.total_cmp(&a.at).then_with(|| order(a).cmp(&order(b))));
    }
    entries.into_iter().map(|entry| entry.group).collect()
}

fn first_votes(groups: &Groups, ordered: Vec<u32>, votes: f64) -> Vec<u32> {
    let mut gone = 0.0;
    let wanted = |g: &u32| {
        let more = gone < votes;
        gone += groups.weight[*g as usize];
        more
    };
    ordered.into_iter().take_while(wanted).collect()
}
