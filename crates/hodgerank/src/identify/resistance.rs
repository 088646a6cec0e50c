//! Effective resistances: how uncertain the score difference of two items is.
//!
//! R_ij = xᵀL†x is the variance of the score difference of i and j in units of σ². wR is the leverage
//! of a pair: the share of its fitted difference that its own votes determine, 1 on a bridge. Over all
//! compared pairs Σ wR = n − components (Foster's theorem). The variance of the score of item i is
//! L†_ii.
//!
//! | computed from | cost |
//! |---|---|
//! | L† as a dense matrix | n³, 8n² bytes |
//! | random sketches | one solve per sketch |
//!
//! A sketch is u = L†XᵀW^½ε with random signs ε: (u_i − u_j)² has the mean R_ij. The mean over k
//! sketches has a relative standard error of √(2/k). Bridges are set to their exact 1/w, and the
//! extremes are computed exactly from candidates, as in [`super::irrepresentable`].

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::accuracy::Accuracy;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule, pseudo_inverse};

/// Maximum number of items for which a pseudo-inverse is formed (32 MB).
pub(super) const MAX_DENSE_ITEMS: usize = 2000;
/// Number of sketches.
const SKETCHES: usize = 200;
/// The same for graphs with more than [`MAX_PAIRS_ALL_SKETCHES`] pairs.
const FEWER_SKETCHES: usize = 25;
/// Maximum number of pairs for the larger number of sketches.
const MAX_PAIRS_ALL_SKETCHES: usize = 200_000;
/// Candidates for an extreme that are computed exactly.
const CANDIDATES: usize = 8;
/// Accuracy of the solves for sketches: far below the sampling error.
const SKETCH_SOLVE: StoppingRule = StoppingRule::at(1e-4);

/// Effective resistances of the compared pairs, and variances of the scores, in units of σ².
#[derive(Debug)]
pub struct Resistances {
    /// R of each pair.
    pub pairs: Vec<f64>,
    /// L†_ii of each item.
    pub items: Vec<f64>,
    /// ρ: the largest resistance of a compared pair, and the pair.
    pub largest: (f64, u32),
    /// How they were computed.
    pub accuracy: Accuracy,
    /// The Laplacian, for single resistances, if the others are estimates.
    system: Option<LaplacianSystem>,
}

/// Computes the effective resistances of all compared pairs: exactly up to 2,000 items, else from
/// sketches.
///
/// # Errors
/// If a linear system cannot be solved.
pub fn resistances(graph: &ComparisonGraph) -> Result<Resistances> {
    if graph.items() <= MAX_DENSE_ITEMS { dense(graph) } else { sketched(graph) }
}

fn dense(graph: &ComparisonGraph) -> Result<Resistances> {
    let (n, pairs) = (graph.items(), graph.pairs());
    let inverse = pseudo_inverse(pairs, &pairs.weight, graph.components())?;
    let at = |i: u32, j: u32| inverse[i as usize * n + j as usize];
    let ends = pairs.left.iter().zip(&pairs.right);
    let resistance: Vec<f64> = ends.map(|(&i, &j)| at(i, i) + at(j, j) - 2.0 * at(i, j)).collect();
    Ok(Resistances {
        largest: largest(&resistance),
        pairs: resistance,
        items: (0..n as u32).map(|i| at(i, i)).collect(),
        accuracy: Accuracy::Exact,
        system: None,
    })
}

fn sketched(graph: &ComparisonGraph) -> Result<Resistances> {
    let (n, pairs) = (graph.items(), graph.pairs());
    let sketches = if pairs.len() > MAX_PAIRS_ALL_SKETCHES { FEWER_SKETCHES } else { SKETCHES };
    let system = LaplacianSystem::new(graph, 0.0, BackendChoice::Auto)?;
    let (mut of_pairs, mut of_items) = (vec![0.0; pairs.len()], vec![0.0; n]);
    let roots: Vec<f64> = pairs.weight.iter().map(|w| w.sqrt()).collect();
    let ends = || pairs.left.iter().zip(&pairs.right).map(|(&i, &j)| (i as usize, j as usize));
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    for _ in 0..sketches {
        let mut b = vec![0.0; n];
        for ((i, j), root) in ends().zip(&roots) {
            let flow = if rng.random::<bool>() { *root } else { -root };
            b[i] += flow;
            b[j] -= flow;
        }
        let (u, _) = system.solve(&b, &SKETCH_SOLVE)?;
        of_pairs.iter_mut().zip(ends()).for_each(|(sum, (i, j))| *sum += (u[i] - u[j]).powi(2));
        of_items.iter_mut().zip(&u).for_each(|(sum, u)| *sum += u * u);
    }
    of_pairs.iter_mut().chain(&mut of_items).for_each(|sum| *sum /= sketches as f64);
    for bridge in graph.bridges() {
        of_pairs[bridge as usize] = 1.0 / pairs.weight[bridge as usize];
    }
    let mut candidates = extremes(&of_pairs, |_| true, |a, b| b.total_cmp(&a));
    // In well-connected graphs R is close to 1/dᵢ + 1/dⱼ, more accurate than a sketch.
    let by_degree = degree_estimates(graph);
    candidates.extend(extremes(&by_degree, |_| true, |a, b| b.total_cmp(&a)));
    candidates.sort_unstable();
    candidates.dedup();
    let mut largest = (0.0, 0);
    for &p in &candidates {
        let r = resistance_of(&system, graph, p)?;
        of_pairs[p] = r;
        if r > largest.0 {
            largest = (r, p as u32);
        }
    }
    for (r, w) in of_pairs.iter_mut().zip(&pairs.weight) {
        // The leverage wR is at most 1.
        *r = r.min(1.0 / w);
    }
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates.len() as u32,
        relative_error: (2.0 / sketches as f64).sqrt(),
    };
    let system = Some(system);
    Ok(Resistances { pairs: of_pairs, items: of_items, largest, accuracy, system })
}

/// Returns 1/dᵢ + 1/dⱼ for each pair, where d is the number of votes on an item.
fn degree_estimates(graph: &ComparisonGraph) -> Vec<f64> {
    let pairs = graph.pairs();
    let ends = || pairs.left.iter().zip(&pairs.right).map(|(&i, &j)| (i as usize, j as usize));
    let mut degrees = vec![0.0; graph.items()];
    for ((i, j), w) in ends().zip(&pairs.weight) {
        degrees[i] += w;
        degrees[j] += w;
    }
    ends().map(|(i, j)| 1.0 / degrees[i] + 1.0 / degrees[j]).collect()
}

impl Resistances {
    /// Returns μ: the largest 1 − R of the pairs that have a trusted vote.
    pub(super) fn mu(&self, graph: &ComparisonGraph, trusted: &[f64]) -> Result<f64> {
        let mut smallest = f64::INFINITY;
        for p in extremes(&self.pairs, |p| trusted[p] > 0.0, |a, b| a.total_cmp(&b)) {
            smallest = smallest.min(match &self.system {
                Some(system) => resistance_of(system, graph, p)?,
                None => self.pairs[p],
            });
        }
        Ok((1.0 - smallest).max(0.0))
    }
}

/// Computes R of one pair by a linear solve.
fn resistance_of(system: &LaplacianSystem, graph: &ComparisonGraph, p: usize) -> Result<f64> {
    let (i, j) = (graph.pairs().left[p], graph.pairs().right[p]);
    let v = potentials(system, graph.items(), i, j, &StoppingRule::default())?;
    Ok(v[i as usize] - v[j as usize])
}

/// Returns L†x for the pair (i, j): the potentials of a unit current from i to j.
pub(super) fn potentials(
    system: &LaplacianSystem,
    items: usize,
    i: u32,
    j: u32,
    rule: &StoppingRule,
) -> Result<Vec<f64>> {
    let mut b = vec![0.0; items];
    b[i as usize] += 1.0;
    b[j as usize] -= 1.0;
    Ok(system.solve(&b, rule)?.0)
}

fn largest(resistance: &[f64]) -> (f64, u32) {
    let larger = |best: (f64, u32), (p, &r): (usize, &f64)| {
        if r > best.0 { (r, p as u32) } else { best }
    };
    resistance.iter().enumerate().fold((0.0, 0), larger)
}

/// Returns the first [`CANDIDATES`] pairs in this order, among those for which `include` holds.
fn extremes(
    resistance: &[f64],
    include: impl Fn(usize) -> bool,
    order: impl Fn(f64, f64) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut pairs: Vec<usize> = (0..resistance.len()).filter(|&p| include(p)).collect();
    let by = |&a: &usize, &b: &usize| order(resistance[a], resistance[b]).then(a.cmp(&b));
    if pairs.len() > CANDIDATES {
        pairs.select_nth_unstable_by(CANDIDATES - 1, by);
        pairs.truncate(CANDIDATES);
    }
    pairs.sort_unstable_by(by);
    pairs
}
