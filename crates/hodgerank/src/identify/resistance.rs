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

use rayon::prelude::*;

use super::accuracy::Accuracy;
use crate::error::Result;
use crate::graph::{ComparisonGraph, Pairs};
use crate::laplacian::{BackendChoice, Lanes, LaplacianSystem, StoppingRule, pseudo_inverse};

/// Maximum number of items for which a pseudo-inverse is formed (32 MB).
pub(super) const MAX_DENSE_ITEMS: usize = 2000;
/// Sketches that are solved at once: their single-precision numbers fill a cache line.
pub(super) const COLUMNS: usize = 16;
/// Candidates that are solved at once.
pub(super) const FEWER_COLUMNS: usize = CANDIDATES;
/// Number of sketches, a multiple of [`COLUMNS`].
const SKETCHES: usize = 208;
/// The same for graphs with more than [`MAX_PAIRS_ALL_SKETCHES`] pairs.
const FEWER_SKETCHES: usize = 32;
/// Maximum number of pairs for the larger number of sketches.
const MAX_PAIRS_ALL_SKETCHES: usize = 200_000;
/// Candidates for an extreme that are computed exactly.
const CANDIDATES: usize = 8;
/// Pairs that are worth a task.
const PAIRS_PER_TASK: usize = 1 << 14;
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
    for block in 0..sketches / COLUMNS {
        let u = system.solve_block(signed_votes(&system, block as u64), &SKETCH_SOLVE)?;
        let tasks = of_pairs.par_iter_mut().with_min_len(PAIRS_PER_TASK).enumerate();
        tasks.for_each(|(p, sum)| {
            let ends = [pairs.left[p], pairs.right[p]].map(|i| &u[i as usize]);
            *sum += ends[0].iter().zip(ends[1]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        });
        let squares = |u: &Lanes<f64, COLUMNS>| u.iter().map(|u| u * u).sum::<f64>();
        of_items.iter_mut().zip(&u).for_each(|(sum, u)| *sum += squares(u));
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
    for (p, r) in candidates.iter().copied().zip(resistances_of(&system, pairs, &candidates)?) {
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

/// Returns XᵀW^½ε for [`COLUMNS`] vectors of random signs ε.
///
/// The signs of a pair are bits of a hash of its items (the finalizer of SplitMix64), so that rows can
/// be added up in any order.
fn signed_votes(system: &LaplacianSystem, seed: u64) -> Vec<Lanes<f64, COLUMNS>> {
    let matrix = system.matrix();
    let mut b = vec![[0.0; COLUMNS]; matrix.items().len()];
    let row = |c: usize, row: usize| {
        let (block, items) = (matrix.block(c), &matrix.items()[matrix.rows(c)]);
        let mut sums = [0.0; COLUMNS];
        for (&j, &w) in block.neighbours(row).iter().zip(block.weights(row)) {
            let (i, j) = (items[row], items[j as usize]);
            let signs = signs(i.min(j), i.max(j), seed);
            let root = if i < j { w.sqrt() } else { -w.sqrt() };
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum += if signs >> k & 1 == 1 { root } else { -root };
            }
        }
        sums
    };
    for c in 0..matrix.components() {
        let rows = 0..matrix.rows(c).len();
        let sums: Vec<_> = rows.into_par_iter().with_min_len(1024).map(|k| row(c, k)).collect();
        let items = &matrix.items()[matrix.rows(c)];
        items.iter().zip(sums).for_each(|(&item, sums)| b[item as usize] = sums);
    }
    b
}

/// Random bits of the pair (i, j).
fn signs(i: u32, j: u32, seed: u64) -> u64 {
    let pair = u64::from(i) << 32 | u64::from(j);
    let mut z = pair.wrapping_add(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
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
        let candidates = extremes(&self.pairs, |p| trusted[p] > 0.0, |a, b| a.total_cmp(&b));
        let resistances = match &self.system {
            Some(system) => resistances_of(system, graph.pairs(), &candidates)?,
            None => candidates.iter().map(|&p| self.pairs[p]).collect(),
        };
        let smallest = resistances.into_iter().fold(f64::INFINITY, f64::min);
        Ok((1.0 - smallest).max(0.0))
    }
}

/// Computes R of some pairs by linear solves.
fn resistances_of(system: &LaplacianSystem, pairs: &Pairs, chosen: &[usize]) -> Result<Vec<f64>> {
    let mut found = Vec::with_capacity(chosen.len());
    for block in chosen.chunks(FEWER_COLUMNS) {
        let v = potentials::<FEWER_COLUMNS>(system, pairs, block, &StoppingRule::default())?;
        let difference =
            |(k, &p): (usize, &usize)| v[pairs.left[p] as usize][k] - v[pairs.right[p] as usize][k];
        found.extend(block.iter().enumerate().map(difference));
    }
    Ok(found)
}

/// Returns L†x for at most `L` pairs: the potentials of a unit current between their items.
pub(super) fn potentials<const L: usize>(
    system: &LaplacianSystem,
    pairs: &Pairs,
    chosen: &[usize],
    rule: &StoppingRule,
) -> Result<Vec<Lanes<f64, L>>> {
    let mut b = vec![[0.0; L]; system.matrix().items().len()];
    for (k, &p) in chosen.iter().enumerate() {
        b[pairs.left[p] as usize][k] += 1.0;
        b[pairs.right[p] as usize][k] -= 1.0;
    }
    system.solve_block(b, rule)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Groups};

    #[test]
    fn sketches_agree_with_the_pseudo_inverse() {
        let items = 400_u32;
        let vote = |k: u32| {
            let i = k % items;
            let j = (i + 1 + k / items * 61 % (items - 1)) % items;
            Comparison::new(i, j, 1.0).with_count(1 + u64::from(k % 3))
        };
        let votes: Vec<Comparison> = (0..4000).map(vote).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let (exact, found) = (dense(&graph).unwrap(), sketched(&graph).unwrap());
        let Accuracy::Sketched { relative_error, .. } = found.accuracy else {
            panic!("these are sketches");
        };
        assert!(found.largest.0 <= exact.largest.0 * (1.0 + 1e-9));
        assert!(found.largest.0 >= (1.0 - relative_error) * exact.largest.0);
        // Each estimate is a mean of squares with this standard error; none is far off.
        let errors = || found.pairs.iter().zip(&exact.pairs).map(|(f, e)| (f - e) / e);
        let count = exact.pairs.len() as f64;
        let squares = errors().map(|error| error * error).sum::<f64>() / count;
        assert!(squares.sqrt() < 1.2 * relative_error, "{}", squares.sqrt());
        assert!(errors().all(|error| error.abs() < 6.0 * relative_error));
        // Foster's theorem.
        let weights = &graph.pairs().weight;
        let sum: f64 = found.pairs.iter().zip(weights).map(|(r, w)| r * w).sum();
        let expected = f64::from(items) - 1.0;
        assert!((sum / expected - 1.0).abs() < 0.05, "{sum}");
    }
}
