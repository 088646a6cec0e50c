//! The share of wrong votes that a design can identify.
//!
//! As in the paper's simulation, random votes are declared outliers and C2 is checked. If C2 fails,
//! no path method is guaranteed to flag exactly the outliers. The result depends on which pairs were
//! compared and how often, not on the outcomes.
//!
//! Bisection over a list of shares: C2 holds less often the more outliers there are. Cost: a few
//! draws, each with one check of C2.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

use super::connectivity::cycle_dimension;
use super::irrepresentable::OutlierSet;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};

/// Shares of outliers that can be tried.
const SHARES: [f64; 12] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4];
/// Maximum number of pairs for several draws per share: on larger graphs draws hardly differ.
const MAX_PAIRS_SEVERAL_DRAWS: usize = 20_000;

/// Options of [`identifiable_share`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `draws` | 5, and 1 above 20,000 pairs | random sets per share | 1 or more |
/// | `seed` | 0 | random seed of the sets | any |
/// | `max_work` | 1e9 | maximum number of operations of the exact computation of C2 per draw | any |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdentifiableOptions {
    /// Random sets per share; 5 if none, or 1 above 20,000 pairs.
    pub draws: Option<u32>,
    /// Random seed of the sets.
    pub seed: u64,
    /// Maximum number of operations of the exact computation of C2 per draw.
    pub max_work: f64,
}

impl Default for IdentifiableOptions {
    fn default() -> Self {
        Self { draws: None, seed: 0, max_work: 1e9 }
    }
}

/// One share of outliers that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Trial {
    /// Share of outliers, from 0 to 1.
    pub share: f64,
    /// Number of random sets.
    pub draws: u32,
    /// Number of sets for which C2 held.
    pub held: u32,
}

/// The result of [`identifiable_share`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IdentifiableShare {
    /// The largest share for which C2 held in most draws; 0 if there is none.
    pub share: f64,
    /// The shares tried, in ascending order.
    pub trials: Vec<Trial>,
}

/// Finds the largest share of randomly placed outliers for which C2 usually holds.
///
/// # Errors
/// If a linear system cannot be solved.
pub fn identifiable_share(
    graph: &ComparisonGraph,
    options: &IdentifiableOptions,
) -> Result<IdentifiableShare> {
    let mut found = IdentifiableShare::default();
    if cycle_dimension(graph) < 1.0 {
        return Ok(found);
    }
    let many = graph.pairs().len() > MAX_PAIRS_SEVERAL_DRAWS;
    let draws = options.draws.unwrap_or(if many { 1 } else { 5 }).max(1);
    let (mut low, mut high) = (0, SHARES.len());
    while low < high {
        let middle = low.midpoint(high);
        let share = SHARES[middle];
        let mut held = 0;
        for draw in 0..draws {
            let seed = options.seed.wrapping_add(u64::from(draw));
            held += u32::from(c2_of_random_set(graph, share, seed, options.max_work)?);
        }
        found.trials.push(Trial { share, draws, held });
        if 2 * held > draws {
            found.share = share;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    found.trials.sort_by(|a, b| a.share.total_cmp(&b.share));
    Ok(found)
}

/// Returns whether C1 and C2 hold if each vote is an outlier with probability `share`. The exact
/// computation of C2 is limited to `max_work` operations.
///
/// # Errors
/// If a linear system cannot be solved.
pub fn c2_of_random_set(
    graph: &ComparisonGraph,
    share: f64,
    seed: u64,
    max_work: f64,
) -> Result<bool> {
    let pairs = graph.pairs();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |&w: &f64| {
        // `Binomial::new` fails only for a share outside 0 to 1.
        Binomial::new(w as u64, share).map_or(0.0, |votes| votes.sample(&mut rng) as f64)
    };
    let outliers: Vec<f64> = pairs.weight.iter().map(&mut draw).collect();
    let (left, right, y) = (pairs.left.clone(), pairs.right.clone(), vec![0.0; pairs.len()]);
    let all = Groups { left, right, y, weight: pairs.weight.clone() };
    let trusted: Vec<f64> = pairs.weight.iter().zip(&outliers).map(|(w, s)| w - s).collect();
    let inliers = ComparisonGraph::new(graph.items(), all.reweighted(&trusted))?;
    if inliers.components().len() > graph.components().len() {
        return Ok(false);
    }
    OutlierSet { graph, inliers: &inliers, outliers: &outliers }.c2_holds(max_work)
}
