//! Huber-LASSO flags the outliers; least squares without them gives the scores.
//!
//! Objective: min over θ of ½ Σ w_g (y_g − (Xθ)_g)² over the groups that are not removed. The path of
//! [`huber_lasso`] determines which groups are removed. The refit removes the bias of size λ of
//! Huber-LASSO.
//!
//! Groups are removed as a whole, in order of suspicion, until the requested number of votes is
//! removed. The order is that of first entry. Two protocols differ in the order within a knot:
//!
//! | protocol | knots | order within a knot |
//! |---|---|---|
//! | [`Protocol::General`] | as in the options | the larger residual first |
//! | [`Protocol::Paper`] | λ_max · 0.01^(k/99) | by item index of the winner, then of the loser |
//!
//! Cost: one path and one Laplacian system.
//!
//! Failure modes: the remaining votes may have more components than all votes. Scores then have mean
//! zero on each of these, and [`LassoL2::components`] is their number.

use super::huber_lasso::{self, HuberLassoOptions, Knots};
use super::{L2Options, Solution, l2};
use crate::error::{Error, Result};
use crate::graph::{ComparisonGraph, Groups};
use crate::path::{Path, StopAt};

/// The order in which groups are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Protocol {
    /// In the order of the path; at the same knot, larger residuals first
    #[default]
    General,
    /// As in the paper: 100 values of λ down to 0.01 λ_max; at the same λ, by winner and loser
    Paper,
}

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `path` | see [`HuberLassoOptions`] | how outliers are found | see [`HuberLassoOptions`] |
/// | `refit` | see [`L2Options`] | how the remaining votes are fitted | see [`L2Options`] |
/// | `protocol` | `general` | the order in which groups are removed | `general`, `paper` |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LassoL2Options {
    /// How outliers are found.
    pub path: HuberLassoOptions,
    /// How the remaining votes are fitted.
    pub refit: L2Options,
    /// The order in which groups are removed.
    pub protocol: Protocol,
}

impl LassoL2Options {
    /// Checks all values.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        self.path.validate()?;
        self.refit.validate()
    }
}

/// Scores without the outliers.
#[derive(Debug, Clone, PartialEq)]
pub struct LassoL2 {
    /// The removed groups, the most suspicious first.
    pub removed: Vec<u32>,
    /// The least-squares fit of the remaining votes.
    pub solution: Solution,
    /// Number of components of the remaining votes.
    pub components: usize,
    /// The path that flagged the groups.
    pub path: Path,
}

/// Computes the path up to `stop` and refits without the groups that it flags.
///
/// With [`StopAt::Flagged`], groups are removed in order of suspicion until at least that many votes
/// are removed. Otherwise all groups that are flagged at the end of the path are removed.
///
/// # Errors
/// If an option is invalid, the sums of the outcomes overflow, or a requested backend does not support
/// the graph.
pub fn solve(graph: &ComparisonGraph, options: &LassoL2Options, stop: StopAt) -> Result<LassoL2> {
    options.validate()?;
    let mut path_options = options.path;
    if options.protocol == Protocol::Paper {
        path_options.knots = Knots::Grid { count: 100, ratio: 0.01 };
    }
    let path = huber_lasso::compute_path(graph, &path_options, stop)?;
    let ordered = order_of_suspicion(graph, &path, options.protocol);
    let removed = match stop {
        StopAt::Flagged(votes) | StopAt::FlaggedOrEnd(votes) => {
            first_votes(graph.groups(), ordered, votes)
        }
        StopAt::End | StopAt::Value(_) => {
            let end = path.knots.last().copied().unwrap_or_default();
            let flagged = path.flagged_at(end);
            ordered.into_iter().filter(|g| flagged.binary_search(g).is_ok()).collect()
        }
    };
    let (components, solution) = refit(graph, &removed, &options.refit)?;
    Ok(LassoL2 { removed, solution, components, path })
}

/// Computes the least-squares fit without some groups. Returns the number of components of the
/// remaining votes, and the fit.
///
/// # Errors
/// As [`l2::solve`], and if a group index is out of range.
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
    let remaining = ComparisonGraph::new(graph.items(), graph.groups().reweighted(&weight))?;
    Ok((remaining.components().len(), l2::solve(&remaining, options)?))
}

/// Returns the groups that ever entered, in order of first entry.
fn order_of_suspicion(graph: &ComparisonGraph, path: &Path, protocol: Protocol) -> Vec<u32> {
    let mut entries = path.entries();
    if protocol == Protocol::Paper {
        let groups = graph.groups();
        let winner_loser = |g: u32| {
            let (left, right) = (groups.left[g as usize], groups.right[g as usize]);
            if groups.y[g as usize] < 0.0 { (right, left) } else { (left, right) }
        };
        // Descending: λ decreases along the path.
        let order = |e: &crate::path::Entry| (winner_loser(e.group), e.group);
        entries.sort_by(|a, b| b.at.total_cmp(&a.at).then_with(|| order(a).cmp(&order(b))));
    }
    entries.into_iter().map(|entry| entry.group).collect()
}

/// Returns the first groups that together have at least `votes` votes.
fn first_votes(groups: &Groups, ordered: Vec<u32>, votes: f64) -> Vec<u32> {
    let mut removed_votes = 0.0;
    let is_needed = |g: &u32| {
        let is_needed = removed_votes < votes;
        removed_votes += groups.weight[*g as usize];
        is_needed
    };
    ordered.into_iter().take_while(is_needed).collect()
}
