//! Least trimmed squares (ilts): fit the votes that agree best, with K given or found.
//!
//! Objective: min over θ and Λ ∈ {0, 1} for each vote of ½ ‖Λ ∘ (Y − Xθ)‖² with at most K zeros.
//! For a given K this is the problem of [`super::hard_threshold`]: E = r where Λ = 0. The search is
//! shared, and so are optimality conditions, cost and exchanges.
//!
//! What this solver adds is K. A vote contradicts scores if it prefers the item that they put
//! lower: y·(Xθ) < 0. With C(θ) the number of such votes, K is right when K = C(θ_K): then what
//! the fit leaves out is as much as what it contradicts. K starts too small, for the l2 scores are
//! still bent by wrong votes, and grows slowly, after the paper's reference (Xu et al.):
//!
//! K₀ = ⌊¾ C(θ_l2)⌋,  K ← min(max(⌈1.05 K⌉, K + 1), C(θ_K)) until it stands still or would fall.
//!
//! For ±1 votes and scores within 2 of each other the votes with |r| > 1 are exactly the
//! contradicting ones. Ties contradict nothing and go only if they fit worse than other votes.
//!
//! Cost: about log(4/3)/log(1.05) = 6 to 30 short alternations more than a given K.
//!
//! Failure modes: honest votes on items of nearly equal worth contradict any ranking half of the
//! time; they are counted too, so with noisy votes K is an upper estimate of what is bad. If more
//! than about half of the votes on many pairs are wrong, the ranking they make is what is kept.
//!
//! | paper | here |
//! |---|---|
//! | s | `scores`, θ |
//! | Λ | 0 on the votes of [`Removal::removed`], else 1 |
//! | K, N | `k`, all votes |

use std::time::Instant;

use super::hard_threshold::{
    HardThresholdOptions, Removal, Search, check_k, max_removable, on_merged,
};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::BackendChoice;

/// Where K starts, as a share of the votes that contradict the l2 scores.
const FIRST_SHARE: f64 = 0.75;
/// How fast K may grow.
const GROWTH: f64 = 1.05;
/// Far more rounds than growth by 5% can use.
const MAX_ROUNDS: usize = 1000;

/// Options of [`solve`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `k` | found | most votes that may be removed | 0 to votes − items + components |
/// | `sweep_steps` | 32 | steps of the slowest sweep; 1 tries the l2 start alone | 1 or more |
/// | `max_exchanges` | 1000 | most exchanges; 0 makes none | 0 or more |
/// | `max_iterations` | 1000 | most refits from one start | 1 or more |
/// | `backend` | `auto` | how linear systems are solved | `auto`, `dense`, `sparse`, `cg` |
/// | `tolerance` | 1e-10 | relative residual of linear systems | above 0, below 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrimmedOptions {
    /// Most votes that may be removed; `None` finds the number.
    pub k: Option<u64>,
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
    /// Checks what can be checked without the votes.
    ///
    /// # Errors
    /// [`crate::Error::BadOption`] for the first value that makes no sense.
    pub fn validate(&self) -> Result<()> {
        self.search(0).validate()
    }

    fn search(&self, k: u64) -> HardThresholdOptions {
        let Self { k: _, sweep_steps, max_exchanges, max_iterations, backend, tolerance } = *self;
        HardThresholdOptions { k, sweep_steps, max_exchanges, max_iterations, backend, tolerance }
    }
}

/// The scores that fit all votes but K, and the votes left out.
///
/// # Errors
/// If an option makes no sense, more votes are to go than can go while the rest connects the
/// items, or a linear system cannot be set up.
pub fn solve(graph: &ComparisonGraph, options: &TrimmedOptions) -> Result<Removal> {
    let started = Instant::now();
    options.validate()?;
    check_k(graph, options.k.unwrap_or(0))?;
    on_merged(graph, |graph| search(graph, options, started))
}

fn search(graph: &ComparisonGraph, options: &TrimmedOptions, started: Instant) -> Result<Removal> {
    let inner = options.search(options.k.unwrap_or(0));
    let search = Search::new(graph, &inner)?;
    let l2 = search.fit(vec![0.0; graph.groups().len()])?;
    if let Some(k) = options.k {
        return search.run(k as f64, &l2, &[], started);
    }
    let most = max_removable(graph) as f64;
    let mut k = (FIRST_SHARE * contradicting(graph, &l2.solution.scores)).floor().min(most);
    let mut fit = search.alternate(k, &l2.solution.scores)?;
    for _ in 0..MAX_ROUNDS {
        let grown = (GROWTH * k).ceil().max(k + 1.0);
        let next = grown.min(contradicting(graph, &fit.solution.scores)).min(most);
        if next <= k {
            break;
        }
        k = next;
        fit = search.alternate(k, &fit.solution.scores)?;
    }
    let warm = fit.solution.scores;
    search.run(k, &l2, &[&warm], started)
}

/// C(θ): votes that prefer the item of the lower score.
fn contradicting(graph: &ComparisonGraph, scores: &[f64]) -> f64 {
    let groups = graph.groups();
    let fitted = graph.gradient(scores);
    let against = |&g: &usize| groups.y[g] * fitted[g] < 0.0;
    (0..groups.len()).filter(against).map(|g| groups.weight[g]).sum()
}
