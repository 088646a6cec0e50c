//! Iterative hard thresholding (iht): the scores that explain all votes but K best.
//!
//! Objective: min over θ and E of ½ ‖Y − Xθ − E‖² with at most K votes where E ≠ 0. The best E is
//! the residual on the votes that it touches, so this is ½ Σ_g (w_g − k_g) r_g² with 0 ≤ k_g ≤ w_g
//! votes of group g removed and Σ k_g ≤ K. Votes are removed, not groups: one group may be split.
//!
//! Optimality: for the votes kept, θ is the least-squares fit; for that θ, the votes removed are
//! those of the largest |r|; and no exchange of removed for kept votes lowers the objective. The
//! problem is concave in k (a minimum of linear functions), so an optimum has at most one split
//! group, and along an exchange of two groups the best point is one of its ends: exchanges of as
//! many votes as the two groups allow lose nothing. The problem is combinatorial; what is found is
//! a local optimum in this sense and may not be the global one.
//!
//! The votes kept always connect what all votes connect: a vote between two parts that nothing
//! else connects can be put back at no cost, for the parts move until it fits.
//!
//! Method: alternate between the fit and the choice of the K worst votes, from several starts: the
//! least-squares fit, and sweeps that remove the worst votes a few at a time and refit. The best is
//! then improved by exchanges, whose effect is known exactly from effective resistances.
//!
//! Cost: one Laplacian system and a few passes over the groups for each refit, some hundred in all;
//! starts run side by side. Up to [`MAX_EXCHANGE_ITEMS`] items also 8n² bytes, n³ once for each round of exchanges and n² for
//! each exchange.
//!
//! Failure modes: K must be known ([`super::trimmed`] can find it); wrong votes that agree with
//! each other are kept, and right ones that contradict them removed; a K near the number of votes
//! leaves a tree that fits anything.
//!
//! | paper | here |
//! |---|---|
//! | s | `scores`, θ |
//! | K | `k` |
//! | E | r on the votes of [`Removal::removed`], else 0 |

mod descent;
mod exchange;
mod refit;
mod worst;

pub(super) use descent::Search;
pub use exchange::MAX_EXCHANGE_ITEMS;

use std::time::Instant;

use super::{Solution, check_stopping};
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StoppingRule};

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `k` | 0 | most votes that may be removed | 0 to votes − items + components |
/// | `sweep_steps` | 32 | steps of the slowest sweep; 1 tries the l2 start alone | 1 or more |
/// | `max_exchanges` | 1000 | most exchanges; 0 makes none | 0 or more |
/// | `max_iterations` | 1000 | most refits from one start | 1 or more |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of linear systems | above 0, below 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HardThresholdOptions {
    /// Most votes that may be removed.
    pub k: u64,
    /// Steps of the slowest sweep; 1 tries the l2 start alone.
    pub sweep_steps: usize,
    /// Most exchanges of a removed for a kept bundle of votes.
    pub max_exchanges: usize,
    /// Most refits from one start.
    pub max_iterations: usize,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual of linear systems that is good enough.
    pub tolerance: f64,
}

impl Default for HardThresholdOptions {
    fn default() -> Self {
        Self {
            k: 0,
            sweep_steps: 32,
            max_exchanges: 1000,
            max_iterations: 1000,
            backend: BackendChoice::Auto,
            tolerance: StoppingRule::default().tolerance,
        }
    }
}

impl HardThresholdOptions {
    /// Checks what can be checked without the votes.
    ///
    /// # Errors
    /// [`Error::BadOption`] for the first value that makes no sense.
    pub fn validate(&self) -> Result<()> {
        check_stopping(self.tolerance, self.max_iterations)?;
        if self.sweep_steps == 0 {
            let (value, expected) = ("0".to_owned(), "a whole number, 1 or more");
            return Err(Error::BadOption { option: "sweep-steps", value, expected });
        }
        Ok(())
    }
}

/// Scores, and the votes that they do without.
#[derive(Debug, Clone, PartialEq)]
pub struct Removal {
    /// The least-squares fit of the votes kept. Its iterations count refits and exchanges.
    pub solution: Solution,
    /// How many votes of each group are removed.
    pub removed: Vec<f64>,
    /// ½ Σ (w − removed) r².
    pub objective: f64,
}

/// The scores that explain all votes but `k` best.
///
/// # Errors
/// If an option makes no sense, more votes are to go than can go while the rest connects the
/// items, or a linear system cannot be set up.
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
        let search = Search::new(graph, options)?;
        let l2 = search.fit(vec![0.0; graph.groups().len()])?;
        search.run(options.k as f64, &l2, &[], started)
    })
}

/// Runs the search on merged groups, so that equal votes kept apart go together there too.
///
/// A bundle may be worth exchanging as a whole where no vote of it is.
pub(super) fn on_merged(
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
    for (bundle, &start) in starts.iter().enumerate() {
        let end = starts.get(bundle + 1).copied().unwrap_or(groups.len());
        let mut left = found.removed[bundle];
        for (removed, weight) in removed[start..end].iter_mut().zip(&groups.weight[start..end]) {
            *removed = weight.min(left);
            left -= *removed;
        }
    }
    found.removed = removed;
    Ok(found)
}

/// Votes that may be removed while the rest still connects what all votes connect.
#[must_use]
pub fn max_removable(graph: &ComparisonGraph) -> u64 {
    let tree = graph.items() - graph.components().len();
    (graph.groups().votes() - tree as f64).max(0.0) as u64
}

pub(super) fn check_k(graph: &ComparisonGraph, k: u64) -> Result<()> {
    if k > max_removable(graph) {
        let expected = "at most votes − items + components, so that the rest connects the items";
        return Err(Error::BadOption { option: "k", value: k.to_string(), expected });
    }
    Ok(())
}
