//! Iterative least trimmed squares (ilts): fits the votes that agree best, with K given or estimated.
//!
//! Objective: min over θ and Λ ∈ {0, 1} for each vote of ½ ‖Λ ∘ (Y − Xθ)‖² with at most K zeros. For a
//! given K this is the problem of [`super::hard_threshold`], with E = r where Λ = 0. The search, the
//! optimality conditions and the cost are the same.
//!
//! What this solver adds is the estimate of K. A vote contradicts scores if it prefers the item with
//! the lower score: y·(Xθ) < 0. With C(θ) the number of such votes, the estimate satisfies K = C(θ_K):
//! the fit removes as many votes as it contradicts. K starts too small, because wrong votes still
//! bias the l2 scores, and grows slowly, as in the paper's reference (Xu et al.):
//!
//! K₀ = ⌊¾ C(θ_l2)⌋,  K ← min(max(⌈1.05 K⌉, K + 1), C(θ_K)) until it no longer increases.
//!
//! A single vote with a huge outcome can distort the l2 scores so much that most votes contradict
//! them, and K₀ is far too large. Then K ← C(θ_K) first, until it no longer decreases: the scores
//! without the K₀ worst votes are no longer distorted.
//!
//! For ±1 votes and scores within 2 of each other, the contradicting votes are exactly those with
//! |r| > 1. Ties contradict nothing and are removed only if they fit worse than other votes.
//!
//! Cost: about log(4/3)/log(1.05) = 6 to 30 short alternations more than for a given K.
//!
//! Failure modes: correct votes on items of almost equal score contradict any ranking half of the
//! time and are counted, too, so with noisy votes K is an upper estimate of the number of wrong votes.
//! If more than about half of the votes on many pairs are wrong, the ranking that they imply is
//! retained.
//!
//! | paper | here |
//! |---|---|
//! | s | `scores`, θ |
//! | Λ | 0 on the votes of [`Removal::removed`], otherwise 1 |
//! | K, N | `k`, the number of all votes |

use std::time::Instant;

use super::hard_threshold::{
    HardThresholdOptions, Removal, RemovalSearch, check_k, max_removable, on_merged,
};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;

/// K₀ as a fraction of the number of votes that contradict the l2 scores.
const FIRST_K_RATIO: f64 = 0.75;
/// Maximum growth factor of K per round.
const MAX_K_GROWTH: f64 = 1.05;
/// Far more rounds than a growth by 5% can take.
const MAX_ROUNDS: usize = 1000;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `k` | estimated | maximum number of votes to remove | 0 to votes − items + components |
/// | `sweep_steps` | 32 | steps of the slowest gradual start; 1 disables gradual starts | 1 or more |
/// | `max_exchanges` | 1000 | maximum number of exchanges; 0 disables them | 0 or more |
/// | `max_iterations` | 1000 | maximum number of refits per start | 1 or more |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of linear systems | above 0, below 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedOptions {
    /// Maximum number of votes to remove; `None` estimates it.
    pub k: Option<u64>,
    /// Steps of the slowest gradual start; 1 disables gradual starts.
    pub sweep_steps: usize,
    /// Maximum number of exchanges of removed for retained votes.
    pub max_exchanges: usize,
    /// Maximum number of refits per start.
    pub max_iterations: usize,
    /// How linear systems are solved.
    pub backend: BackendChoice,
    /// Relative residual to which linear systems are solved.
    pub tolerance: f64,
}

impl Default for TrimmedOptions {
    fn default() -> Self {
        let HardThresholdOptions {
            k: _,
            sweep_steps,
            max_exchanges,
            max_iterations,
            backend,
            tolerance,
        } = HardThresholdOptions::default();
        Self { k: None, sweep_steps, max_exchanges, max_iterations, backend, tolerance }
    }
}

impl TrimmedOptions {
    /// Checks all values that can be checked without the votes.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first invalid value.
    pub fn validate(&self) -> Result<()> {
        self.with_k(0).validate()
    }

    fn with_k(&self, k: u64) -> HardThresholdOptions {
        let Self { k: _, sweep_steps, max_exchanges, max_iterations, backend, tolerance } = *self;
        HardThresholdOptions { k, sweep_steps, max_exchanges, max_iterations, backend, tolerance }
    }
}

/// Computes the least-squares scores without the K votes that fit worst.
///
/// # Errors
/// If an option is invalid, K is larger than [`max_removable`], or a linear system cannot be set up.
pub fn solve(graph: &ComparisonGraph, options: &TrimmedOptions) -> Result<Removal> {
    let started = Instant::now();
    options.validate()?;
    check_k(graph, options.k.unwrap_or(0))?;
    on_merged(graph, |graph| search(graph, options, started))
}

fn search(graph: &ComparisonGraph, options: &TrimmedOptions, started: Instant) -> Result<Removal> {
    let search_options = options.with_k(options.k.unwrap_or(0));
    let search = RemovalSearch::new(graph, &search_options)?;
    let l2 = search.fit(vec![0.0; graph.groups().len()])?;
    if let Some(k) = options.k {
        return search.run(k as f64, &l2, &[], started);
    }
    let max_k = max_removable(graph) as f64;
    let mut k =
        (FIRST_K_RATIO * contradicting_votes(graph, &l2.solution.scores)).floor().min(max_k);
    let mut fit = search.alternate(k, &l2.solution.scores)?;
    for _ in 0..MAX_ROUNDS {
        let fewer = contradicting_votes(graph, &fit.solution.scores);
        if fewer >= k {
            break;
        }
        k = fewer;
        fit = search.alternate(k, &fit.solution.scores)?;
    }
    for _ in 0..MAX_ROUNDS {
        let grown = (MAX_K_GROWTH * k).ceil().max(k + 1.0);
        let next = grown.min(contradicting_votes(graph, &fit.solution.scores)).min(max_k);
        if next <= k {
            break;
        }
        k = next;
        fit = search.alternate(k, &fit.solution.scores)?;
    }
    let warm = fit.solution.scores;
    search.run(k, &l2, &[&warm], started)
}

/// Returns C(θ), the number of votes that prefer the item with the lower score.
fn contradicting_votes(graph: &ComparisonGraph, scores: &[f64]) -> f64 {
    let groups = graph.groups();
    let fitted = graph.gradient(scores);
    let contradicts = |&g: &usize| groups.y[g] * fitted[g] < 0.0;
    (0..groups.len()).filter(contradicts).map(|g| groups.weight[g]).sum()
}
