//! Iterative hard thresholding (iht): the least-squares scores without the K votes that fit worst.
//!
//! Objective: min over θ and E of ½ ‖Y − Xθ − E‖² with E ≠ 0 for at most K votes. The optimal E is
//! the residual on its support, so the problem is to minimise ½ Σ_g (w_g − k_g) r_g², where
//! 0 ≤ k_g ≤ w_g votes of group g are removed and Σ k_g ≤ K. Votes are removed, not groups: a group
//! may be split.
//!
//! Optimality: θ is the least-squares fit of the retained votes; for that θ the removed votes are
//! those with the largest |r|; and no exchange of removed for retained votes decreases the objective.
//! The objective, minimised over θ, is concave in k (a minimum of linear functions). An optimum
//! therefore has at most one split group, and the best exchange between two groups is one of as many
//! votes as the groups allow. The problem is combinatorial; the result is a local optimum in this sense
//! and may not be the global one.
//!
//! The retained votes always connect the items that all votes connect: returning a vote between two
//! parts that nothing else connects does not change the objective, since the parts can be shifted
//! until the vote fits.
//!
//! Method: alternate between the fit and the selection of the K worst votes, from several starts: the
//! least-squares fit, and gradual starts, which remove the worst votes a few at a time and refit. The
//! best result is improved by exchanges, whose effect on the objective is computed exactly from
//! effective resistances.
//!
//! Cost: one Laplacian system and a few passes over the groups per refit, some hundred refits in
//! total; starts run in parallel. Up to [`MAX_EXCHANGE_ITEMS`] items also 8n² bytes, n³ for each round
//! of exchanges and n² for each exchange.
//!
//! Failure modes: K must be known ([`super::trimmed`] can estimate it); wrong votes that agree with
//! each other are retained, and correct votes that contradict them are removed; a K near the number of
//! votes leaves a tree, which fits anything.
//!
//! | paper | here |
//! |---|---|
//! | s | `scores`, θ |
//! | K | `k` |
//! | E | r on the votes of [`Removal::removed`], otherwise 0 |

mod exchange;
mod options;
mod refit;
mod search;
mod worst;

pub use exchange::MAX_EXCHANGE_ITEMS;
pub use options::HardThresholdOptions;
pub use search::Removal;
pub(super) use search::RemovalSearch;

use std::time::Instant;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::numeric::{largest_magnitude, power_of_two_below};

/// Larger outcomes are divided by a power of two during the search, because their squares overflow.
const MAX_OUTCOME: f64 = 1e100;

/// Computes the least-squares scores without the `k` votes that fit worst.
///
/// # Errors
/// If an option is invalid, `k` is larger than [`max_removable`], or a linear system cannot be set
/// up.
///
/// # Example
/// ```
/// use hodgerank::solve::{HardThresholdOptions, hard_threshold};
/// use hodgerank::{Comparison, ComparisonGraph, Groups};
///
/// // One of four votes on (0, 2) contradicts all others.
/// let votes = [
///     Comparison::new(0, 1, 1.0).with_count(4),
///     Comparison::new(1, 2, 1.0).with_count(4),
///     Comparison::new(0, 2, 2.0).with_count(3),
///     Comparison::new(0, 2, -2.0),
/// ];
/// let graph = ComparisonGraph::new(3, Groups::merge(3, &votes)?.groups)?;
/// let options = HardThresholdOptions { k: 1, ..Default::default() };
/// let found = hard_threshold::solve(&graph, &options)?;
/// assert_eq!(found.removed, [0.0, 1.0, 0.0, 0.0]);
/// assert!(found.objective < 1e-20);
/// # Ok::<(), hodgerank::Error>(())
/// ```
pub fn solve(graph: &ComparisonGraph, options: &HardThresholdOptions) -> Result<Removal> {
    let started = Instant::now();
    options.validate()?;
    check_k(graph, options.k)?;
    on_merged(graph, |graph| {
        let search = RemovalSearch::new(graph, options)?;
        let l2 = search.fit(vec![0.0; graph.groups().len()])?;
        search.run(options.k as f64, &l2, &[], started)
    })
}

/// Runs the search with equal votes merged, also if the graph has them in separate groups.
///
/// Exchanging all votes of a merged group may decrease the objective even if exchanging a part of
/// them does not.
pub(super) fn on_merged(
    graph: &ComparisonGraph,
    search: impl FnOnce(&ComparisonGraph) -> Result<Removal>,
) -> Result<Removal> {
    let largest = largest_magnitude(&graph.groups().y);
    if largest <= MAX_OUTCOME {
        return on_merged_groups(graph, search);
    }
    let unit = power_of_two_below(largest);
    let mut groups = graph.groups().clone();
    groups.y.iter_mut().for_each(|y| *y /= unit);
    let scaled = ComparisonGraph::new(graph.items(), groups)?;
    let mut found = on_merged_groups(&scaled, search)?;
    found.solution.scores.iter_mut().for_each(|score| *score *= unit);
    found.objective *= unit * unit;
    Ok(found)
}

fn on_merged_groups(
    graph: &ComparisonGraph,
    search: impl FnOnce(&ComparisonGraph) -> Result<Removal>,
) -> Result<Removal> {
    let groups = graph.groups();
    let key = |g: usize| (groups.left[g], groups.right[g], groups.y[g]);
    let starts: Vec<usize> =
        (0..groups.len()).filter(|&g| g == 0 || key(g) != key(g - 1)).collect();
    if starts.len() == groups.len() {
        return search(graph);
    }
    let mut weight = vec![0.0; groups.len()];
    let mut first = 0;
    for g in 0..groups.len() {
        first = if key(g) == key(first) { first } else { g };
        weight[first] += groups.weight[g];
    }
    let merged = ComparisonGraph::new(graph.items(), groups.reweighted(&weight))?;
    let mut found = search(&merged)?;
    let mut removed = vec![0.0; groups.len()];
    for (merged_group, &start) in starts.iter().enumerate() {
        let end = starts.get(merged_group + 1).copied().unwrap_or(groups.len());
        let mut remaining = found.removed[merged_group];
        for (removed, weight) in removed[start..end].iter_mut().zip(&groups.weight[start..end]) {
            *removed = weight.min(remaining);
            remaining -= *removed;
        }
    }
    found.removed = removed;
    Ok(found)
}

/// Returns how many votes can be removed such that the rest connects the items that all votes
/// connect: votes − items + components.
#[must_use]
pub fn max_removable(graph: &ComparisonGraph) -> u64 {
    let spanning_edges = graph.items() - graph.components().len();
    (graph.groups().votes() - spanning_edges as f64).max(0.0) as u64
}

/// Checks that `k` votes can be removed.
pub(super) fn check_k(graph: &ComparisonGraph, k: u64) -> Result<()> {
    if k > max_removable(graph) {
        let expected = "at most votes − items + components, so that the rest connects the items";
        return Err(Error::BadOption { option: "k", value: k.to_string(), expected });
    }
    Ok(())
}
