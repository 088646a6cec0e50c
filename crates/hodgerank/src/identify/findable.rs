//! What share of outliers could this design find?
//!
//! Votes are declared outliers at random places, and C2 is looked at, as in the paper's simulation:
//! with a share of outliers so large that it fails, no path method can be sure to find them and
//! nothing else. The answer depends on who was compared with whom and how often, not on what the
//! votes say.
//!
//! Shares are searched by halving the list, on the grounds that C2 holds the less often the more
//! outliers there are. Cost: a few draws, each as much as one C2.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};

use super::coherence::OutlierSet;
use super::cycle_dimension;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};

/// Shares that are tried.
const SHARES: [f64; 12] = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4];
/// Graphs with more pairs get one draw for each share: one large set is like the other.
const MANY_PAIRS: usize = 20_000;

/// Options of [`findable_share`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `draws` | 5, and 1 above 20,000 pairs | random sets for each share | 1 or more |
/// | `seed` | 0 | of the random sets | any |
/// | `work` | 1e9 | most steps of the exact way to C2 in one draw | any |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table says it")]
pub struct FindableOptions {
    pub draws: Option<u32>,
    pub seed: u64,
    pub work: f64,
}

impl Default for FindableOptions {
    fn default() -> Self {
        Self { draws: None, seed: 0, work: 1e9 }
    }
}

/// One share that was tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Share of the votes that were outliers.
    pub share: f64,
    /// Random sets tried.
    pub draws: u32,
    /// In how many of them C2 held.
    pub held: u32,
}

/// What [`findable_share`] found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findable {
    /// The largest share for which C2 held in most draws; 0 if there is none.
    pub share: f64,
    /// The shares tried, ascending.
    pub trials: Vec<Trial>,
}

/// Tries growing shares of outliers at random places.
///
/// # Errors
/// If a system cannot be solved.
pub fn findable_share(graph: &ComparisonGraph, options: &FindableOptions) -> Result<Findable> {
    let mut found = Findable::default();
    if cycle_dimension(graph) < 1.0 {
        return Ok(found);
    }
    let many = graph.pairs().len() > MANY_PAIRS;
    let draws = options.draws.unwrap_or(if many { 1 } else { 5 }).max(1);
    let (mut low, mut high) = (0, SHARES.len());
    while low < high {
        let middle = low.midpoint(high);
        let share = SHARES[middle];
        let mut held = 0;
        for draw in 0..draws {
            let seed = options.seed.wrapping_add(u64::from(draw));
            held += u32::from(c2_of_random_set(graph, share, seed, options.work)?);
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

/// Whether C1 and C2 hold if each vote is an outlier with this probability; at most `work` steps
/// for the exact way to C2.
///
/// # Errors
/// If a system cannot be solved.
pub fn c2_of_random_set(graph: &ComparisonGraph, share: f64, seed: u64, work: f64) -> Result<bool> {
    let pairs = graph.pairs();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = |&w: &f64| {
        // A share is between 0 and 1, the only thing that can be wrong here.
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
    OutlierSet { graph, inliers: &inliers, outliers: &outliers }.holds(work)
}
