//! Effective resistances: how loosely the votes tie two items together.
//!
//! R_ij = xᵀL†x is the variance of the score difference of i and j in units of σ², and its weight
//! times R the share of a pair's flow that the pair itself decides: 1 on a bridge. Over all compared
//! pairs Σ wR = n − components (Foster). The variance of the score of item i is L†_ii.
//!
//! | way | cost |
//! |---|---|
//! | L† as a matrix | n³, 8n² bytes |
//! | sketches | one solve each |
//!
//! A sketch is u = L†XᵀW^½ε with random signs ε: (u_i − u_j)² has the mean R_ij. The mean over k
//! sketches has a relative standard error of √(2/k). Bridges are set to their exact 1/w, and the
//! largest and smallest are computed from candidates, as in [`super::coherence`].

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Accuracy;
use super::coherence::response;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, LaplacianSystem, StoppingRule, pseudo_inverse};

/// Items up to which L† is formed.
const DENSE_MOST_ITEMS: usize = 2000;
/// Sketches, and fewer of them for many pairs.
const SKETCHES: usize = 200;
const FEW_SKETCHES: usize = 25;
const MANY_PAIRS: usize = 200_000;
const CANDIDATES: usize = 8;
const ROUGH: StoppingRule = StoppingRule::at(1e-4);

/// Effective resistances of the compared pairs, and variances of the scores.
#[derive(Debug)]
pub struct Resistances {
    /// Of each pair.
    pub pairs: Vec<f64>,
    /// L†_ii of each item.
    pub items: Vec<f64>,
    /// ρ: the largest resistance of a compared pair, and the pair.
    pub largest: (f64, u32),
    /// How they were found.
    pub accuracy: Accuracy,
    /// For single resistances, where the others are estimates.
    system: Option<LaplacianSystem>,
}

/// The resistances of all compared pairs.
///
/// # Errors
/// If a system cannot be solved.
pub fn resistances(graph: &ComparisonGraph) -> Result<Resistances> {
    if graph.items() <= DENSE_MOST_ITEMS { exact(graph) } else { sketched(graph) }
}

fn exact(graph: &ComparisonGraph) -> Result<Resistances> {
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
    let sketches = if pairs.len() > MANY_PAIRS { FEW_SKETCHES } else { SKETCHES };
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
        let (u, _) = system.solve(&b, &ROUGH)?;
        of_pairs.iter_mut().zip(ends()).for_each(|(sum, (i, j))| *sum += (u[i] - u[j]).powi(2));
        of_items.iter_mut().zip(&u).for_each(|(sum, u)| *sum += u * u);
    }
    of_pairs.iter_mut().chain(&mut of_items).for_each(|sum| *sum /= sketches as f64);
    for bridge in graph.bridges() {
        of_pairs[bridge as usize] = 1.0 / pairs.weight[bridge as usize];
    }
    let mut candidates = extremes(&of_pairs, |_| true, |a, b| b.total_cmp(&a));
    // In well-connected graphs R is close to 1/dᵢ + 1/dⱼ, a better guide than a sketch there.
    let by_degree = degree_estimates(graph);
    candidates.extend(extremes(&by_degree, |_| true, |a, b| b.total_cmp(&a)));
    candidates.sort_unstable();
    candidates.dedup();
    let mut most = (0.0, 0);
    for &p in &candidates {
        let r = one(&system, graph, p)?;
        of_pairs[p] = r;
        if r > most.0 {
            most = (r, p as u32);
        }
    }
    for (r, w) in of_pairs.iter_mut().zip(&pairs.weight) {
        // No pair has more than all of its own flow.
        *r = r.min(1.0 / w);
    }
    let accuracy = Accuracy::Sketched {
        sketches: sketches as u32,
        checked: candidates.len() as u32,
        relative_error: (2.0 / sketches as f64).sqrt(),
    };
    let system = Some(system);
    Ok(Resistances { pairs: of_pairs, items: of_items, largest: most, accuracy, system })
}

/// 1/dᵢ + 1/dⱼ for each pair, d being the votes on an item.
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
    /// μ: the largest of 1 − R over the pairs that have a trusted vote.
    pub(super) fn mu(&self, graph: &ComparisonGraph, trusted: &[f64]) -> Result<f64> {
        let mut least = f64::INFINITY;
        for p in extremes(&self.pairs, |p| trusted[p] > 0.0, |a, b| a.total_cmp(&b)) {
            least = least.min(match &self.system {
                Some(system) => one(system, graph, p)?,
                None => self.pairs[p],
            });
        }
        Ok((1.0 - least).max(0.0))
    }
}

/// R of one pair, by a solve.
fn one(system: &LaplacianSystem, graph: &ComparisonGraph, p: usize) -> Result<f64> {
    let (i, j) = (graph.pairs().left[p], graph.pairs().right[p]);
    let v = response(system, graph.items(), i, j, &StoppingRule::default())?;
    Ok(v[i as usize] - v[j as usize])
}

fn largest(resistance: &[f64]) -> (f64, u32) {
    let larger = |best: (f64, u32), (p, &r): (usize, &f64)| {
        if r > best.0 { (r, p as u32) } else { best }
    };
    resistance.iter().enumerate().fold((0.0, 0), larger)
}

/// The first few pairs in this order, among those allowed.
fn extremes(
    resistance: &[f64],
    allowed: impl Fn(usize) -> bool,
    order: impl Fn(f64, f64) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut pairs: Vec<usize> = (0..resistance.len()).filter(|&p| allowed(p)).collect();
    let by = |&a: &usize, &b: &usize| order(resistance[a], resistance[b]).then(a.cmp(&b));
    if pairs.len() > CANDIDATES {
        pairs.select_nth_unstable_by(CANDIDATES - 1, by);
        pairs.truncate(CANDIDATES);
    }
    pairs.sort_unstable_by(by);
    pairs
}
