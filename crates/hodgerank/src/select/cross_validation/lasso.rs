//! The LASSO on a subspace of the cycle space.
//!
//! Objective: min over β of ½‖P(z − β)‖² + Σ t_g|β_g|, where P projects on some cycles, z = W^{1/2}y
//! and β = W^{1/2}γ.
//!
//! Optimality: with the negative gradient p = P(z − β) of the first term, p_g = t_g sign(β_g) where
//! β_g ≠ 0 and |p_g| ≤ t_g where β_g = 0. The largest violation is recomputed from β, not updated.
//!
//! Method, for each λ from the previous β: coordinate descent on the working set of groups that are
//! non-zero or violate the conditions. Once a pass changes no sign, conjugate gradients minimise the
//! objective for these signs, and β moves towards that minimum as far as no sign changes. Both steps
//! decrease the objective.
//!
//! Refit: the same with t = 0 on the support of β, which removes the bias of the LASSO towards zero.
//!
//! Cost: the width of M (see [`super::projection`]) for each group visited.
//!
//! Failure modes: where columns of P are parallel (two votes that only form cycles together), β is
//! not unique, though P β is; the order of the groups then decides. Groups on no cycle have a zero
//! column and β = 0.

use super::projection::CycleProjection;
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot_in_lanes,
};

/// Largest violation of the optimality conditions at a solution, relative to that of β = 0.
pub(super) const TOLERANCE: f64 = 1e-7;
/// Maximum number of rounds of descent and check for one λ; about ten are typical.
const MAX_ROUNDS: usize = 500;
/// Maximum number of passes of coordinate descent per round.
const MAX_PASSES: usize = 5;
/// Squared lengths of columns of P below this are rounding.
const MIN_SQUARED_COLUMN: f64 = 1e-12;

/// The LASSO and its current β.
pub(super) struct Lasso<'a> {
    projection: CycleProjection,
    z: &'a [f64],
    /// t_g / λ.
    penalty_factor: &'a [f64],
    /// P_gg, the squared lengths of the columns of P.
    diagonal: Vec<f64>,
    pub(super) beta: Vec<f64>,
    /// Mᵀ(z − β).
    mt_rest: Vec<f64>,
    /// The largest violation at β = 0 and λ = 0, to which tolerances are relative.
    violation_scale: f64,
}

impl<'a> Lasso<'a> {
    pub(super) fn new(
        projection: CycleProjection,
        z: &'a [f64],
        penalty_factor: &'a [f64],
    ) -> Self {
        let diagonal = (0..z.len()).map(|g| projection.diagonal(g)).collect();
        let mt_rest = vec![0.0; projection.width];
        let (beta, violation_scale) = (vec![0.0; z.len()], 0.0);
        let mut lasso =
            Self { projection, z, penalty_factor, diagonal, beta, mt_rest, violation_scale };
        lasso.refresh();
        lasso.violation_scale = (0..z.len()).map(|g| lasso.violation(g, 0.0)).fold(0.0, f64::max);
        lasso
    }

    /// Minimises the objective for this λ; returns the largest violation, relative to that of β = 0 at
    /// λ = 0.
    pub(super) fn minimise(&mut self, lambda: f64) -> f64 {
        let limit = TOLERANCE * self.violation_scale;
        for _ in 0..MAX_ROUNDS {
            let mut working: Vec<usize> = Vec::new();
            self.refresh();
            let mut worst = 0.0_f64;
            for g in 0..self.z.len() {
                let violation = self.violation(g, lambda);
                worst = worst.max(violation);
                if self.beta[g] != 0.0 || violation > limit {
                    working.push(g);
                }
            }
            if worst <= limit {
                break;
            }
            let signs_are_stable = (0..MAX_PASSES).any(|_| !self.pass(&working, lambda));
            if signs_are_stable {
                working.retain(|&g| self.beta[g] != 0.0);
                self.minimise_with_fixed_signs(&working, lambda, limit);
            }
        }
        self.refresh();
        let worst = (0..self.z.len()).map(|g| self.violation(g, lambda)).fold(0.0, f64::max);
        if self.violation_scale > 0.0 { worst / self.violation_scale } else { 0.0 }
    }

    fn refresh(&mut self) {
        self.mt_rest.fill(0.0);
        for (g, (z, beta)) in self.z.iter().zip(&self.beta).enumerate() {
            self.projection.add(g, z - beta, &mut self.mt_rest);
        }
    }

    /// (P(z − β))_g.
    fn negative_gradient(&self, g: usize) -> f64 {
        self.projection.entry(g, self.z[g] - self.beta[g], &self.mt_rest)
    }

    /// Violation of a group's optimality condition in units of residuals: divided by t_g / λ.
    fn violation(&self, g: usize, lambda: f64) -> f64 {
        let (negative_gradient, penalty_factor) =
            (self.negative_gradient(g), self.penalty_factor[g]);
        let beyond = match self.beta[g] {
            0.0 if self.diagonal[g] <= MIN_SQUARED_COLUMN => 0.0,
            0.0 => (negative_gradient.abs() - lambda * penalty_factor).max(0.0),
            beta => (negative_gradient - lambda * penalty_factor * beta.signum()).abs(),
        };
        beyond / penalty_factor
    }

    /// One pass of coordinate descent; returns whether a sign changed.
    fn pass(&mut self, working: &[usize], lambda: f64) -> bool {
        let mut changed = false;
        for &g in working {
            let before = self.beta[g];
            let free = self.negative_gradient(g) + self.diagonal[g] * before;
            let threshold = lambda * self.penalty_factor[g];
            let after = (free - free.clamp(-threshold, threshold)) / self.diagonal[g];
            if after != before {
                self.beta[g] = after;
                self.projection.add(g, before - after, &mut self.mt_rest);
                changed |= sign(before) != sign(after);
            }
        }
        changed
    }

    fn minimise_with_fixed_signs(&mut self, support: &[usize], lambda: f64, limit: f64) {
        let negative_gradient = |&g: &usize| {
            self.negative_gradient(g) - lambda * self.penalty_factor[g] * self.beta[g].signum()
        };
        let negative_gradients = support.iter().map(negative_gradient).collect();
        let delta = self.conjugate_gradients(support, negative_gradients, 0.1 * limit);
        self.move_within_signs(support, &delta);
    }

    /// The least-squares β on the same support.
    pub(super) fn refitted(&self) -> Vec<f64> {
        let support: Vec<usize> = (0..self.z.len()).filter(|&g| self.beta[g] != 0.0).collect();
        let negative_gradients = support.iter().map(|&g| self.negative_gradient(g)).collect();
        let delta = self.conjugate_gradients(
            &support,
            negative_gradients,
            TOLERANCE * self.violation_scale,
        );
        let mut beta = self.beta.clone();
        support.iter().zip(delta).for_each(|(&g, delta)| beta[g] += delta);
        beta
    }

    /// Solves P_SS δ = `rhs` from δ = 0; every iterate is a descent direction.
    fn conjugate_gradients(&self, support: &[usize], mut rhs: Vec<f64>, limit: f64) -> Vec<f64> {
        let zeros = || vec![0.0; support.len()];
        let (mut delta, mut p, mut q) = (zeros(), zeros(), zeros());
        let mt_p = vec![0.0; self.projection.width];
        let mut system = SupportSystem { lasso: self, support, limit, mt_p };
        let vectors = ConjugateGradientVectors { x: &mut delta, r: &mut rhs, p: &mut p, q: &mut q };
        conjugate_gradients(&mut system, vectors, support.len());
        delta
    }

    /// β + δ, or as far in that direction as no sign changes; the first to change becomes zero.
    fn move_within_signs(&mut self, support: &[usize], delta: &[f64]) {
        let shares =
            support.iter().zip(delta).map(|(&g, &delta)| share_to_zero(self.beta[g], delta));
        let share = shares.fold(1.0, f64::min);
        for (&g, &delta) in support.iter().zip(delta) {
            let beta = self.beta[g];
            let at_zero = share < 1.0 && share_to_zero(beta, delta) <= share;
            self.beta[g] = if at_zero { 0.0 } else { beta + share * delta };
        }
    }
}

/// P_SS, the projection restricted to the groups of the support, without a preconditioner.
struct SupportSystem<'a> {
    lasso: &'a Lasso<'a>,
    support: &'a [usize],
    /// Violation of the optimality conditions that is good enough.
    limit: f64,
    mt_p: Vec<f64>,
}

impl SupportSystem<'_> {
    /// rᵀr, unless the largest violation is small.
    fn square(&self, r: &[f64]) -> Option<f64> {
        let violations =
            r.iter().zip(self.support).map(|(r, &g)| r.abs() / self.lasso.penalty_factor[g]);
        (violations.fold(0.0, f64::max) > self.limit).then(|| dot_in_lanes(r, r))
    }
}

impl ConjugateGradientSystem for SupportSystem<'_> {
    fn start(&mut self, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        self.square(vectors.r)
    }

    fn multiply(&mut self, p: &[f64], q: &mut [f64]) -> f64 {
        let Self { lasso: Lasso { projection, .. }, support, mt_p, .. } = self;
        mt_p.fill(0.0);
        support.iter().zip(p).for_each(|(&g, &p)| projection.add(g, p, mt_p));
        let entries = support.iter().zip(p).map(|(&g, &p)| projection.entry(g, p, mt_p));
        q.iter_mut().zip(entries).for_each(|(q, entry)| *q = entry);
        let curvature = dot_in_lanes(p, q);
        // Parallel columns of P make P_SS singular.
        if curvature <= MIN_SQUARED_COLUMN * dot_in_lanes(p, p) { 0.0 } else { curvature }
    }

    fn advance(&mut self, alpha: f64, vectors: &mut ConjugateGradientVectors<'_>) -> Option<f64> {
        vectors.step(alpha);
        self.square(vectors.r)
    }

    fn turn(&mut self, beta: f64, vectors: &mut ConjugateGradientVectors<'_>) {
        let ConjugateGradientVectors { r, p, .. } = vectors;
        p.iter_mut().zip(r.iter()).for_each(|(p, r)| *p = r + beta * *p);
    }
}

/// The share of δ at which β reaches zero.
fn share_to_zero(beta: f64, delta: f64) -> f64 {
    let share = -beta / delta;
    if share > 0.0 { share } else { f64::INFINITY }
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::cycle_space::{CycleSpace, tests::graph};
    use super::*;
    use crate::ComparisonGraph;
    use crate::solve::huber_lasso::{self, HuberLassoOptions};

    fn scaled(graph: &ComparisonGraph) -> (Vec<f64>, Vec<f64>) {
        let penalty_factor: Vec<f64> = graph.groups().weight.iter().map(|w| w.sqrt()).collect();
        (
            graph.groups().y.iter().zip(&penalty_factor).map(|(y, root)| y * root).collect(),
            penalty_factor,
        )
    }

    /// Checks the conditions with P as a dense matrix, for every fold along the whole grid.
    #[test]
    fn training_solutions_are_optimal() {
        for seed in 0..5 {
            let graph = graph(seed);
            let (z, penalty_factor) = scaled(&graph);
            let space = CycleSpace::new(&graph, seed);
            let count = space.groups();
            for fold in (0..3).map(|fold| space.fold(fold, 3)) {
                let (cycles, width) = (space.all_but(fold.clone()), space.cycles() - fold.len());
                let row = |g: usize| &cycles[g * width..][..width];
                let mut lasso = Lasso::new(
                    CycleProjection::on_all_but(&space, fold.clone()),
                    &z,
                    &penalty_factor,
                );
                let mut nonzero = 0;
                for lambda in (0..60).map(|k| 3.0 * 0.9_f64.powi(k)) {
                    assert!(lasso.minimise(lambda) <= TOLERANCE);
                    for (g, penalty_factor) in penalty_factor.iter().enumerate() {
                        let negative_gradient: f64 = (0..count)
                            .map(|h| dot_in_lanes(row(g), row(h)) * (z[h] - lasso.beta[h]))
                            .sum();
                        let (negative_gradient, beta) =
                            (negative_gradient / penalty_factor, lasso.beta[g]);
                        assert!(
                            negative_gradient.abs() <= lambda + 1e-6,
                            "{negative_gradient} at {lambda}"
                        );
                        assert!(
                            beta == 0.0
                                || (negative_gradient - lambda * beta.signum()).abs() < 1e-6
                        );
                    }
                    nonzero = lasso.beta.iter().filter(|beta| **beta != 0.0).count();
                }
                assert!(nonzero > width / 2, "{nonzero} of {count} groups");
            }
        }
    }

    #[test]
    fn refits_have_a_zero_gradient_on_their_support() {
        let graph = graph(1);
        let (z, penalty_factor) = scaled(&graph);
        let space = CycleSpace::new(&graph, 1);
        let mut lasso =
            Lasso::new(CycleProjection::on_all_but(&space, space.fold(0, 3)), &z, &penalty_factor);
        lasso.minimise(0.5);
        let support: Vec<usize> = (0..z.len()).filter(|&g| lasso.beta[g] != 0.0).collect();
        assert!(support.len() > 3);
        assert!(support.iter().any(|&g| lasso.negative_gradient(g).abs() > 0.1));
        let refitted = lasso.refitted();
        let moved = refitted.iter().zip(&lasso.beta).filter(|(new, old)| new != old).count();
        assert_eq!(moved, support.len());
        lasso.beta = refitted;
        lasso.refresh();
        assert!(support.iter().all(|&g| lasso.negative_gradient(g).abs() < 1e-5));
    }

    /// The paper's Proposition 1: on all cycles the LASSO and Huber-LASSO have the same outliers.
    #[test]
    fn on_all_cycles_it_is_huber_lasso() {
        for seed in 0..5 {
            let graph = graph(seed);
            let (z, penalty_factor) = scaled(&graph);
            let space = CycleSpace::new(&graph, seed);
            let mut lasso =
                Lasso::new(CycleProjection::on_all_but(&space, 0..0), &z, &penalty_factor);
            let options = HuberLassoOptions { tolerance: 1e-12, ..HuberLassoOptions::default() };
            let mut found = 0;
            for lambda in [1.5, 1.0, 0.5, 0.3, 0.1] {
                lasso.minimise(lambda);
                let huber = huber_lasso::solve_at(&graph, lambda, None, &options).unwrap();
                let cost = |g: usize| {
                    0.5 * lasso.negative_gradient(g).powi(2)
                        + lambda * penalty_factor[g] * lasso.beta[g].abs()
                };
                let own: f64 = (0..z.len()).map(cost).sum();
                let other = huber_lasso::objective(&graph, &huber.scores, lambda);
                assert!((own - other).abs() <= 1e-9 * other, "{own}, {other} at {lambda}");
                // Balanced counts can make the optimum non-unique for small λ.
                if lambda < 0.5 {
                    continue;
                }
                let gamma = huber_lasso::outliers(&graph, &huber.scores, lambda);
                for g in 0..gamma.len() {
                    let own = lasso.beta[g] / penalty_factor[g];
                    assert!((own - gamma[g]).abs() < 1e-5, "{own}, {} at {lambda}", gamma[g]);
                    found += usize::from(own != 0.0);
                }
            }
            assert!(found > 10, "{found}");
        }
    }
}
