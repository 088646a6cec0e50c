//! The LASSO on a part of the cycle space.
//!
//! Objective: min over β of ½‖P(z − β)‖² + Σ t_g|β_g|, where P projects on some cycles, z = W^{1/2}y
//! and β = W^{1/2}γ.
//!
//! Optimality: with the pull p = P(z − β), p_g = t_g sign(β_g) where β_g ≠ 0 and |p_g| ≤ t_g where
//! β_g = 0. The largest violation is computed afresh from β, not carried along.
//!
//! Method, for each λ from the β before: coordinate descent on the groups that are not zero or
//! violate the conditions. Once a pass has changed no sign, conjugate gradients look for the
//! minimum with these signs; the way there is followed as far as all signs stay. Both only go down.
//!
//! Refit: the same with t = 0 and β = 0 kept where it is. The LASSO pulls all of β towards zero; the
//! refit shows how well the groups that it picked explain the rest without that bias.
//!
//! Cost: the width of M (see [`super::projection`]) for each group visited.
//!
//! Failure modes: where columns of P are parallel (two votes that only meet each other), β is not
//! unique, though P β is; the order of the groups then decides. Groups that are no part of any cycle
//! have no column and keep β = 0.

use super::projection::Projection;
use crate::numeric::{
    ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients, dot_in_lanes,
};

/// Largest violation of the optimality conditions that is good enough, over that of β = 0.
pub(super) const TOLERANCE: f64 = 1e-7;
/// Rounds of descent and check for one λ; some ten are usual.
const MAX_ROUNDS: usize = 500;
/// Passes of coordinate descent before all groups are looked at again.
const PASSES: usize = 5;
/// Squared lengths of columns of P below this are rounding.
const MIN_COLUMN: f64 = 1e-12;

/// The LASSO with its present β.
pub(super) struct Lasso<'a> {
    projection: Projection,
    z: &'a [f64],
    /// t_g / λ.
    price: &'a [f64],
    size: Vec<f64>,
    pub(super) beta: Vec<f64>,
    /// Mᵀ(z − β).
    rest: Vec<f64>,
    /// Violations are measured in these units.
    unit: f64,
}

impl<'a> Lasso<'a> {
    pub(super) fn new(projection: Projection, z: &'a [f64], price: &'a [f64]) -> Self {
        let size = (0..z.len()).map(|g| projection.diagonal(g)).collect();
        let rest = vec![0.0; projection.width];
        let (beta, unit) = (vec![0.0; z.len()], 0.0);
        let mut lasso = Self { projection, z, price, size, beta, rest, unit };
        lasso.refresh();
        lasso.unit = (0..z.len()).map(|g| lasso.violation(g, 0.0)).fold(0.0, f64::max);
        lasso
    }

    /// Goes to the minimum for this λ; the largest violation that is left, in units of that of β = 0
    /// at λ = 0.
    pub(super) fn minimise(&mut self, lambda: f64) -> f64 {
        let limit = TOLERANCE * self.unit;
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
            let steady = (0..PASSES).any(|_| !self.pass(&working, lambda));
            if steady {
                working.retain(|&g| self.beta[g] != 0.0);
                self.towards_minimum_with_these_signs(&working, lambda, limit);
            }
        }
        self.refresh();
        let worst = (0..self.z.len()).map(|g| self.violation(g, lambda)).fold(0.0, f64::max);
        if self.unit > 0.0 { worst / self.unit } else { 0.0 }
    }

    fn refresh(&mut self) {
        self.rest.fill(0.0);
        for (g, (z, beta)) in self.z.iter().zip(&self.beta).enumerate() {
            self.projection.add(g, z - beta, &mut self.rest);
        }
    }

    /// (P(z − β))_g.
    fn pull(&self, g: usize) -> f64 {
        self.projection.entry(g, self.z[g] - self.beta[g], &self.rest)
    }

    /// How far a group is from its optimality condition, over its price: as a residual of one vote.
    fn violation(&self, g: usize, lambda: f64) -> f64 {
        let (pull, price) = (self.pull(g), self.price[g]);
        let beyond = match self.beta[g] {
            0.0 if self.size[g] <= MIN_COLUMN => 0.0,
            0.0 => (pull.abs() - lambda * price).max(0.0),
            beta => (pull - lambda * price * beta.signum()).abs(),
        };
        beyond / price
    }

    /// One pass of coordinate descent; whether a sign has changed.
    fn pass(&mut self, working: &[usize], lambda: f64) -> bool {
        let mut changed = false;
        for &g in working {
            let before = self.beta[g];
            let free = self.pull(g) + self.size[g] * before;
            let threshold = lambda * self.price[g];
            let after = (free - free.clamp(-threshold, threshold)) / self.size[g];
            if after != before {
                self.beta[g] = after;
                self.projection.add(g, before - after, &mut self.rest);
                changed |= sign(before) != sign(after);
            }
        }
        changed
    }

    fn towards_minimum_with_these_signs(&mut self, support: &[usize], lambda: f64, limit: f64) {
        let pull = |&g: &usize| self.pull(g) - lambda * self.price[g] * self.beta[g].signum();
        let pulls = support.iter().map(pull).collect();
        let delta = self.conjugate_gradients(support, pulls, 0.1 * limit);
        self.follow(support, &delta);
    }

    /// β with the same zeros that explains the cycles best.
    pub(super) fn refitted(&self) -> Vec<f64> {
        let support: Vec<usize> = (0..self.z.len()).filter(|&g| self.beta[g] != 0.0).collect();
        let pulls = support.iter().map(|&g| self.pull(g)).collect();
        let delta = self.conjugate_gradients(&support, pulls, TOLERANCE * self.unit);
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

    /// β + δ, or as far in that direction as all signs stay; what would change sign first is zero.
    fn follow(&mut self, support: &[usize], delta: &[f64]) {
        let shares = support.iter().zip(delta).map(|(&g, &delta)| until_zero(self.beta[g], delta));
        let share = shares.fold(1.0, f64::min);
        for (&g, &delta) in support.iter().zip(delta) {
            let beta = self.beta[g];
            let at_zero = share < 1.0 && until_zero(beta, delta) <= share;
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
        let violations = r.iter().zip(self.support).map(|(r, &g)| r.abs() / self.lasso.price[g]);
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
        if curvature <= MIN_COLUMN * dot_in_lanes(p, p) { 0.0 } else { curvature }
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

/// The share of δ after which β is zero.
fn until_zero(beta: f64, delta: f64) -> f64 {
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
        let price: Vec<f64> = graph.groups().weight.iter().map(|w| w.sqrt()).collect();
        (graph.groups().y.iter().zip(&price).map(|(y, root)| y * root).collect(), price)
    }

    /// The conditions from P as a full matrix, for every fold along the whole grid.
    #[test]
    fn training_solutions_are_optimal() {
        for seed in 0..5 {
            let graph = graph(seed);
            let (z, price) = scaled(&graph);
            let space = CycleSpace::new(&graph, seed);
            let count = space.groups();
            for fold in (0..3).map(|fold| space.fold(fold, 3)) {
                let (cycles, width) = (space.all_but(fold.clone()), space.cycles() - fold.len());
                let row = |g: usize| &cycles[g * width..][..width];
                let mut lasso =
                    Lasso::new(Projection::on_all_but(&space, fold.clone()), &z, &price);
                let mut nonzero = 0;
                for lambda in (0..60).map(|k| 3.0 * 0.9_f64.powi(k)) {
                    assert!(lasso.minimise(lambda) <= TOLERANCE);
                    for (g, price) in price.iter().enumerate() {
                        let pull: f64 = (0..count)
                            .map(|h| dot_in_lanes(row(g), row(h)) * (z[h] - lasso.beta[h]))
                            .sum();
                        let (pull, beta) = (pull / price, lasso.beta[g]);
                        assert!(pull.abs() <= lambda + 1e-6, "{pull} at {lambda}");
                        assert!(beta == 0.0 || (pull - lambda * beta.signum()).abs() < 1e-6);
                    }
                    nonzero = lasso.beta.iter().filter(|beta| **beta != 0.0).count();
                }
                assert!(nonzero > width / 2, "{nonzero} of {count} groups");
            }
        }
    }

    #[test]
    fn refits_leave_no_pull_on_what_was_picked() {
        let graph = graph(1);
        let (z, price) = scaled(&graph);
        let space = CycleSpace::new(&graph, 1);
        let mut lasso = Lasso::new(Projection::on_all_but(&space, space.fold(0, 3)), &z, &price);
        lasso.minimise(0.5);
        let picked: Vec<usize> = (0..z.len()).filter(|&g| lasso.beta[g] != 0.0).collect();
        assert!(picked.len() > 3);
        assert!(picked.iter().any(|&g| lasso.pull(g).abs() > 0.1));
        let refitted = lasso.refitted();
        let moved = refitted.iter().zip(&lasso.beta).filter(|(new, old)| new != old).count();
        assert_eq!(moved, picked.len());
        lasso.beta = refitted;
        lasso.refresh();
        assert!(picked.iter().all(|&g| lasso.pull(g).abs() < 1e-5));
    }

    /// The paper's Proposition 1: on all cycles the LASSO finds the outliers of Huber's scores.
    #[test]
    fn on_all_cycles_it_is_huber_lasso() {
        for seed in 0..5 {
            let graph = graph(seed);
            let (z, price) = scaled(&graph);
            let space = CycleSpace::new(&graph, seed);
            let mut lasso = Lasso::new(Projection::on_all_but(&space, 0..0), &z, &price);
            let options = HuberLassoOptions { tolerance: 1e-12, ..HuberLassoOptions::default() };
            let mut found = 0;
            for lambda in [1.5, 1.0, 0.5, 0.3, 0.1] {
                lasso.minimise(lambda);
                let huber = huber_lasso::solve_at(&graph, lambda, None, &options).unwrap();
                let cost = |g: usize| {
                    0.5 * lasso.pull(g).powi(2) + lambda * price[g] * lasso.beta[g].abs()
                };
                let own: f64 = (0..z.len()).map(cost).sum();
                let other = huber_lasso::objective(&graph, &huber.scores, lambda);
                assert!((own - other).abs() <= 1e-9 * other, "{own}, {other} at {lambda}");
                // Counts that balance can make an optimum flat for small λ.
                if lambda < 0.5 {
                    continue;
                }
                let gamma = huber_lasso::outliers(&graph, &huber.scores, lambda);
                for g in 0..gamma.len() {
                    let own = lasso.beta[g] / price[g];
                    assert!((own - gamma[g]).abs() < 1e-5, "{own}, {} at {lambda}", gamma[g]);
                    found += usize::from(own != 0.0);
                }
            }
            assert!(found > 10, "{found}");
        }
    }
}
