//! Exchanges of removed for retained votes, evaluated by their effect on the refitted objective.
//!
//! With M the pseudo-inverse of the Laplacian of the retained votes, x_g the row of group g in X, r the
//! residuals of the fit and h_gq = x_gᵀ M x_q, removing δ votes of g and returning δ votes of q changes
//! the least-squares objective by
//!
//! ½ ρᵀ (C⁻¹ + H)⁻¹ ρ,  ρ = (r_g, r_q),  C = diag(−δ, δ),  H = [h_gg h_gq; h_gq h_qq],
//!
//! which is exact (Woodbury).

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use rayon::prelude::*;

use super::refit::MinDecrease;
use crate::graph::ComparisonGraph;

/// Maximum number of items for which exchanges are tried: the pseudo-inverse is a dense matrix.
pub const MAX_EXCHANGE_ITEMS: usize = 1000;

/// Maximum number of groups on either side that are compared at a time.
const MAX_CANDIDATES: usize = 300;

/// Removals with a pivot (1 − δh) below this count as disconnecting the graph.
const MIN_PIVOT: f64 = 1e-7;

/// An exchange: `votes` votes of group `removed` are removed and, if `returned` is a group, as many of
/// its votes are returned.
#[derive(Debug, Clone, Copy)]
struct VoteExchange {
    removed: usize,
    returned: Option<usize>,
    votes: f64,
    /// Change of the objective.
    change: f64,
}

/// The fit of the retained votes and the effective resistances between all items.
#[derive(Debug)]
pub(super) struct ExchangeSearch<'a> {
    graph: &'a ComparisonGraph,
    removed: Vec<f64>,
    theta: Vec<f64>,
    /// L† plus a multiple of 11ᵀ on each component, to which every x_g is orthogonal.
    inverse: Mat<f64>,
}

impl<'a> ExchangeSearch<'a> {
    /// Returns `None` for too many items, or if the retained votes do not connect them.
    pub(super) fn new(graph: &'a ComparisonGraph, removed: &[f64]) -> Option<Self> {
        let n = graph.items();
        if n > MAX_EXCHANGE_ITEMS {
            return None;
        }
        let groups = graph.groups();
        let mut matrix = Mat::<f64>::zeros(n, n);
        let mut b = Mat::<f64>::zeros(n, 1);
        for (g, removed_votes) in removed.iter().enumerate() {
            let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
            let retained = groups.weight[g] - removed_votes;
            matrix[(i, i)] += retained;
            matrix[(j, j)] += retained;
            matrix[(i, j)] -= retained;
            matrix[(j, i)] -= retained;
            b[(i, 0)] += retained * groups.y[g];
            b[(j, 0)] -= retained * groups.y[g];
        }
        for members in graph.components().iter() {
            let degrees: f64 = members.iter().map(|&i| matrix[(i as usize, i as usize)]).sum();
            let shift = degrees.max(1.0) / (members.len() as f64).powi(2);
            for &i in members {
                for &j in members {
                    matrix[(i as usize, j as usize)] += shift;
                }
            }
        }
        let inverse = matrix.llt(Side::Lower).ok()?.inverse();
        let fitted = &inverse * &b;
        let theta = (0..n).map(|i| fitted[(i, 0)]).collect();
        Some(Self { graph, removed: removed.to_vec(), theta, inverse })
    }

    /// Makes the best exchange as long as it decreases the objective. Returns the number of exchanges.
    pub(super) fn run(&mut self, k: f64, max_exchanges: usize, min: MinDecrease) -> usize {
        let groups = self.graph.groups();
        for made in 0..max_exchanges {
            let r: Vec<f64> = self.graph.groups().residuals(&self.theta).collect();
            let retained = groups.weight.iter().zip(&self.removed).map(|(w, k)| w - k);
            let objective = 0.5 * retained.zip(&r).map(|(w, r)| w * r * r).sum::<f64>();
            let spare = k - self.removed.iter().sum::<f64>();
            match self.best_exchange(&r, spare) {
                Some(best) if min.is_met(-best.change, objective) => {
                    self.apply(best, &r);
                }
                _ => return made,
            }
        }
        max_exchanges
    }

    pub(super) fn into_removed(self) -> Vec<f64> {
        self.removed
    }

    /// Returns the exchange that decreases the objective most. `spare` more votes may be removed without
    /// returning any.
    fn best_exchange(&self, r: &[f64], spare: f64) -> Option<VoteExchange> {
        let weight = &self.graph.groups().weight;
        // Exact for a single vote. The best pair is then found among the best candidates of each side.
        let gain = |g: usize| r[g] * r[g] / (1.0 - self.coupling(g, g)).max(MIN_PIVOT);
        let cost = |q: usize| r[q] * r[q] / (1.0 + self.coupling(q, q));
        let max_coupling = self.max_coupling();
        let most = |g: usize| r[g] * r[g] / (1.0 - max_coupling).max(MIN_PIVOT);
        let least = |q: usize| r[q] * r[q] / (1.0 + max_coupling);
        let is_retained = |g: usize| self.removed[g] < weight[g];
        let is_removed = |q: usize| self.removed[q] > 0.0;
        let retained = smallest(weight.len(), |g| is_retained(g).then(|| -most(g)), |g| -gain(g));
        let removed = smallest(weight.len(), |q| is_removed(q).then(|| least(q)), cost);
        let candidates: Vec<(usize, f64)> =
            removed.iter().map(|&q| (q, self.coupling(q, q))).collect();
        let best_with = |&g: &usize| {
            let available = weight[g] - self.removed[g];
            let alone = (spare > 0.0).then(|| self.removal(g, available.min(spare), r)).flatten();
            let h_g = self.coupling(g, g);
            let others = candidates.iter().filter(|(q, _)| *q != g);
            let swaps = others.filter_map(|&(q, h_q)| {
                let votes = available.min(self.removed[q]);
                self.swap((g, h_g), (q, h_q), votes, r)
            });
            alone.into_iter().chain(swaps).reduce(smaller_change)
        };
        let best: Vec<Option<VoteExchange>> = retained.par_iter().map(best_with).collect();
        best.into_iter().flatten().reduce(smaller_change)
    }

    /// Removes `votes` votes of a group without returning any.
    fn removal(&self, g: usize, votes: f64, r: &[f64]) -> Option<VoteExchange> {
        let pivot = 1.0 - votes * self.coupling(g, g);
        let change = -0.5 * votes * r[g] * r[g] / pivot;
        (pivot > MIN_PIVOT).then_some(VoteExchange { removed: g, returned: None, votes, change })
    }

    /// Removes `votes` votes of one group and returns as many of another; each group comes with its h.
    fn swap(
        &self,
        (g, h_g): (usize, f64),
        (q, h_q): (usize, f64),
        votes: f64,
        r: &[f64],
    ) -> Option<VoteExchange> {
        let (r_g, r_q) = (r[g], r[q]);
        let h = self.coupling(g, q);
        let a = h_g - 1.0 / votes;
        let b = h_q + 1.0 / votes;
        let determinant = a * b - h * h;
        let change = 0.5 * (r_g * r_g * b - 2.0 * r_g * r_q * h + r_q * r_q * a) / determinant;
        let pivot = -determinant * votes * votes;
        (pivot > MIN_PIVOT).then_some(VoteExchange { removed: g, returned: Some(q), votes, change })
    }

    /// h_gq = x_gᵀ M x_q.
    fn coupling(&self, g: usize, q: usize) -> f64 {
        let groups = self.graph.groups();
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let (k, l) = (groups.left[q] as usize, groups.right[q] as usize);
        let m = &self.inverse;
        m[(i, k)] - m[(i, l)] - m[(j, k)] + m[(j, l)]
    }

    /// A bound on h_gg for all groups: (√M_ii + √M_jj)² at most, since M is positive definite.
    fn max_coupling(&self) -> f64 {
        let diagonal = (0..self.graph.items()).map(|i| self.inverse[(i, i)]);
        // The entries of M have rounding errors.
        (1.0 + 1e-6) * 4.0 * diagonal.fold(0.0, f64::max)
    }

    fn apply(&mut self, exchange: VoteExchange, r: &[f64]) {
        let VoteExchange { removed: g, returned: q, votes, .. } = exchange;
        let mut residual = r[g];
        if let Some(q) = q {
            let effect = self.coupling(g, q) * votes * r[q];
            residual -= effect / (1.0 + votes * self.coupling(q, q));
            self.add_votes(q, votes, r[q]);
            self.removed[q] -= votes;
        }
        self.add_votes(g, -votes, residual);
        self.removed[g] += votes;
    }

    /// Adds `votes` votes of a group with residual `r` (Sherman–Morrison).
    fn add_votes(&mut self, g: usize, votes: f64, r: f64) {
        let groups = self.graph.groups();
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let n = self.graph.items();
        let step = votes / (1.0 + votes * self.coupling(g, g));
        let u: Vec<f64> = (0..n).map(|k| self.inverse[(k, i)] - self.inverse[(k, j)]).collect();
        for (theta, u) in self.theta.iter_mut().zip(&u) {
            *theta += step * r * u;
        }
        for column in 0..n {
            let scale = step * u[column];
            for (entry, u) in self.inverse.col_as_slice_mut(column).iter_mut().zip(&u) {
                *entry -= scale * u;
            }
        }
    }
}

/// Returns the exchange with the smaller change of the objective, the first one if equal.
fn smaller_change(a: VoteExchange, b: VoteExchange) -> VoteExchange {
    if b.change < a.change { b } else { a }
}

/// Returns the [`MAX_CANDIDATES`] groups with the smallest values in ascending order, those with the smaller
/// index first if equal. `bound` is a lower bound of the value that is cheaper to compute, or `None` for a group
/// that does not take part.
fn smallest(
    groups: usize,
    bound: impl Fn(usize) -> Option<f64> + Sync,
    value: impl Fn(usize) -> f64 + Sync,
) -> Vec<usize> {
    const CHUNK: usize = 1 << 16;
    let smallest_of_chunk = |chunk: usize| {
        let (mut kept, mut limit) = (Vec::new(), f64::INFINITY);
        for g in chunk * CHUNK..((chunk + 1) * CHUNK).min(groups) {
            if bound(g).is_some_and(|bound| bound <= limit) {
                kept.push((value(g), g));
                if kept.len() == 2 * MAX_CANDIDATES {
                    limit = keep_smallest(&mut kept);
                }
            }
        }
        kept
    };
    let chunks: Vec<Vec<(f64, usize)>> =
        (0..groups.div_ceil(CHUNK)).into_par_iter().map(smallest_of_chunk).collect();
    let mut kept = chunks.concat();
    if kept.len() > MAX_CANDIDATES {
        keep_smallest(&mut kept);
    }
    kept.sort_unstable_by(by_value);
    kept.into_iter().map(|(_, g)| g).collect()
}

/// Keeps [`MAX_CANDIDATES`] of more groups; returns their largest value.
fn keep_smallest(valued: &mut Vec<(f64, usize)>) -> f64 {
    valued.select_nth_unstable_by(MAX_CANDIDATES - 1, by_value);
    valued.truncate(MAX_CANDIDATES);
    valued[MAX_CANDIDATES - 1].0
}

fn by_value(a: &(f64, usize), b: &(f64, usize)) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::Comparison;
    use crate::graph::Groups;

    /// Compares with a full sort, for more groups than one chunk, with equal values and loose bounds.
    #[test]
    fn candidates_agree_with_a_full_sort() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for groups in [0, 5, MAX_CANDIDATES, 5 * MAX_CANDIDATES, 150_000] {
            let values: Vec<f64> =
                (0..groups).map(|_| f64::from(rng.random_range(-2000..2000))).collect();
            let takes_part = |g: &usize| g % 7 != 3;
            let bound = |g: usize| takes_part(&g).then(|| values[g] - (g % 5) as f64);
            let mut expected: Vec<usize> = (0..groups).filter(takes_part).collect();
            expected.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
            expected.truncate(MAX_CANDIDATES);
            assert_eq!(smallest(groups, bound, |g| values[g]), expected, "{groups}");
        }
    }

    /// No resistance exceeds the bound, also where the graph is a path and resistances are large.
    #[test]
    fn couplings_are_bounded() {
        let path: Vec<_> = (0..29).map(|i| Comparison::new(i, i + 1, 1.0)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut random = path.clone();
        for _ in 0..300 {
            let i = rng.random_range(0..29);
            random.push(Comparison::new(i, rng.random_range(i + 1..30), 1.0).with_count(3));
        }
        for votes in [path, random] {
            let graph =
                ComparisonGraph::new(30, Groups::merge(30, &votes).unwrap().groups).unwrap();
            let groups = graph.groups().len();
            let search = ExchangeSearch::new(&graph, &vec![0.0; groups]).unwrap();
            let largest = (0..groups).map(|g| search.coupling(g, g)).fold(0.0, f64::max);
            assert!(largest > 0.0 && largest <= search.max_coupling());
        }
    }
}
