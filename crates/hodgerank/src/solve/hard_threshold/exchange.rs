//! Exchanges of removed for kept votes, judged by what they do to the refitted objective.
//!
//! With M the pseudo-inverse of the Laplacian of the votes kept, x_g the row of group g in X, r the
//! residuals of the fit and h_gq = x_gᵀ M x_q, removing δ votes of g while δ votes of q return
//! changes the least-squares objective by
//!
//! ½ ρᵀ (C⁻¹ + H)⁻¹ ρ,  ρ = (r_g, r_q),  C = diag(−δ, δ),  H = [h_gg h_gq; h_gq h_qq],
//!
//! which is exact (Woodbury), not a linearisation.

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use rayon::prelude::*;

use super::descent::MIN_FALL;
use crate::graph::ComparisonGraph;

/// Most items for which exchanges are tried: the pseudo-inverse is a full matrix.
pub const MAX_EXCHANGE_ITEMS: usize = 1000;

/// Most groups on either side whose exchanges are compared at a time.
const CANDIDATES: usize = 300;

/// What is left of a bond (1 − δh) below which its removal counts as cutting the graph.
const MIN_BOND: f64 = 1e-7;

/// δ votes of `out` go; if `back` is a group, δ of its votes return.
#[derive(Debug, Clone, Copy)]
struct Move {
    out: usize,
    back: Option<usize>,
    votes: f64,
    change: f64,
}

/// The fit of the votes kept, with all effective resistances at hand.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    graph: &'a ComparisonGraph,
    removed: Vec<f64>,
    theta: Vec<f64>,
    /// L† plus a multiple of the constants of each component, which no x_g sees.
    inverse: Mat<f64>,
}

impl<'a> Exchange<'a> {
    /// None for too many items, or if the votes kept do not connect them.
    pub(super) fn new(graph: &'a ComparisonGraph, removed: &[f64]) -> Option<Self> {
        let n = graph.items();
        if n > MAX_EXCHANGE_ITEMS {
            return None;
        }
        let groups = graph.groups();
        let mut matrix = Mat::<f64>::zeros(n, n);
        let mut b = Mat::<f64>::zeros(n, 1);
        for (g, gone) in removed.iter().enumerate() {
            let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
            let kept = groups.weight[g] - gone;
            matrix[(i, i)] += kept;
            matrix[(j, j)] += kept;
            matrix[(i, j)] -= kept;
            matrix[(j, i)] -= kept;
            b[(i, 0)] += kept * groups.y[g];
            b[(j, 0)] -= kept * groups.y[g];
        }
        for members in graph.components().iter() {
            let degrees: f64 = members.iter().map(|&i| matrix[(i as usize, i as usize)]).sum();
            let share = degrees.max(1.0) / (members.len() as f64).powi(2);
            for &i in members {
                for &j in members {
                    matrix[(i as usize, j as usize)] += share;
                }
            }
        }
        let inverse = matrix.llt(Side::Lower).ok()?.inverse();
        let fitted = &inverse * &b;
        let theta = (0..n).map(|i| fitted[(i, 0)]).collect();
        Some(Self { graph, removed: removed.to_vec(), theta, inverse })
    }

    /// Makes the best exchange while one helps; returns how many were made.
    pub(super) fn descend(&mut self, k: f64, most: usize) -> usize {
        let groups = self.graph.groups();
        for made in 0..most {
            let r: Vec<f64> = self.graph.groups().residuals(&self.theta).collect();
            let kept = groups.weight.iter().zip(&self.removed).map(|(w, k)| w - k);
            let objective = 0.5 * kept.zip(&r).map(|(w, r)| w * r * r).sum::<f64>();
            let spare = k - self.removed.iter().sum::<f64>();
            match self.best_move(&r, spare) {
                Some(best) if -best.change > MIN_FALL * objective => self.make(best, &r),
                _ => return made,
            }
        }
        most
    }

    pub(super) fn into_removed(self) -> Vec<f64> {
        self.removed
    }

    fn best_move(&self, r: &[f64], spare: f64) -> Option<Move> {
        let weight = &self.graph.groups().weight;
        let all = 0..weight.len();
        let mut kept: Vec<usize> = all.clone().filter(|&g| self.removed[g] < weight[g]).collect();
        let mut gone: Vec<usize> = all.filter(|&g| self.removed[g] > 0.0).collect();
        // Exact for one vote alone; which pairs are best is then found among the most promising.
        let gain = |g: usize| r[g] * r[g] / (1.0 - self.coupling(g, g)).max(MIN_BOND);
        let cost = |q: usize| r[q] * r[q] / (1.0 + self.coupling(q, q));
        keep_least(&mut kept, |g| -gain(g));
        keep_least(&mut gone, cost);
        let backs: Vec<(usize, f64)> = gone.iter().map(|&q| (q, self.coupling(q, q))).collect();
        let best_of = |&out: &usize| {
            let left = weight[out] - self.removed[out];
            let alone = (spare > 0.0).then(|| self.removal(out, left.min(spare), r)).flatten();
            let resistance = self.coupling(out, out);
            let others = backs.iter().filter(|(back, _)| *back != out);
            let swaps = others.filter_map(|&back| {
                let votes = left.min(self.removed[back.0]);
                self.swap((out, resistance), back, votes, r)
            });
            alone.into_iter().chain(swaps).reduce(least_change)
        };
        let best: Vec<Option<Move>> = kept.par_iter().map(best_of).collect();
        best.into_iter().flatten().reduce(least_change)
    }

    fn removal(&self, out: usize, votes: f64, r: &[f64]) -> Option<Move> {
        let bond = 1.0 - votes * self.coupling(out, out);
        let change = -0.5 * votes * r[out] * r[out] / bond;
        (bond > MIN_BOND).then_some(Move { out, back: None, votes, change })
    }

    /// Both groups come with their own h.
    fn swap(
        &self,
        (out, h_out): (usize, f64),
        (back, h_back): (usize, f64),
        votes: f64,
        r: &[f64],
    ) -> Option<Move> {
        let (rg, rq) = (r[out], r[back]);
        let h = self.coupling(out, back);
        let a = h_out - 1.0 / votes;
        let b = h_back + 1.0 / votes;
        let determinant = a * b - h * h;
        let change = 0.5 * (rg * rg * b - 2.0 * rg * rq * h + rq * rq * a) / determinant;
        let bond = -determinant * votes * votes;
        (bond > MIN_BOND).then_some(Move { out, back: Some(back), votes, change })
    }

    /// h_gq = x_gᵀ M x_q.
    fn coupling(&self, g: usize, q: usize) -> f64 {
        let groups = self.graph.groups();
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let (k, l) = (groups.left[q] as usize, groups.right[q] as usize);
        let m = &self.inverse;
        m[(i, k)] - m[(i, l)] - m[(j, k)] + m[(j, l)]
    }

    fn make(&mut self, chosen: Move, r: &[f64]) {
        let Move { out, back, votes, .. } = chosen;
        let mut pull = r[out];
        if let Some(back) = back {
            let before = self.coupling(out, back) * votes * r[back];
            pull -= before / (1.0 + votes * self.coupling(back, back));
            self.reweigh(back, votes, r[back]);
            self.removed[back] -= votes;
        }
        self.reweigh(out, -votes, pull);
        self.removed[out] += votes;
    }

    /// Sherman–Morrison: `votes` more votes of a group whose residual is `r`.
    fn reweigh(&mut self, g: usize, votes: f64, r: f64) {
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

/// The first where they are equal.
fn least_change(a: Move, b: Move) -> Move {
    if b.change < a.change { b } else { a }
}

/// Keeps the [`CANDIDATES`] groups of the least value, the smaller index where they are equal.
fn keep_least(groups: &mut Vec<usize>, value: impl Fn(usize) -> f64 + Sync) {
    let mut valued: Vec<(f64, usize)> = groups.par_iter().map(|&g| (value(g), g)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if valued.len() > CANDIDATES {
        valued.select_nth_unstable_by(CANDIDATES, order);
        valued.truncate(CANDIDATES);
    }
    valued.sort_unstable_by(order);
    groups.clear();
    groups.extend(valued.iter().map(|&(_, g)| g));
}
