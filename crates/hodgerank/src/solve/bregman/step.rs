//! One step: γ, by one of two ways to go over the groups, and θ.

mod every_vote;
mod who_moves;

use rayon::prelude::*;

use super::options::{Algorithm, BregmanOptions};
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::numeric::norm;
use crate::path::Change;
use every_vote::EveryVote;
use who_moves::WhoMoves;

/// A linear system for a change of θ is never solved worse than this, however small the change.
const LOOSEST: f64 = 0.01;
/// Groups whose residuals are added up by one task.
const GROUPS_PER_TASK: usize = 1 << 14;

/// θᵏ and γᵏ.
pub(super) struct Iterate<'a> {
    pub(super) graph: &'a ComparisonGraph,
    system: &'a LaplacianSystem,
    algorithm: Algorithm,
    rule: StoppingRule,
    /// ‖XᵀWy‖, which the tolerance is relative to.
    scale: f64,
    pub(super) theta: Vec<f64>,
    outliers: Box<dyn Outliers + 'a>,
    /// XᵀW f of the last step: see [`Outliers::advance`].
    flow: Vec<f64>,
    /// What the last step changed in the set of outliers, larger residuals first.
    pub(super) changes: Vec<(u32, Change)>,
}

/// z and γ = κ shrink(z) of all groups, however they are kept.
trait Outliers: Send {
    /// z = t·r, true as long as nothing has entered.
    fn skip_silent_start(&mut self, theta: &[f64], t: f64);

    /// zᵏ⁺¹ from zᵏ and `theta`; writes the flow that θ needs, adds who enters or leaves to
    /// `changes`, and returns the largest |y − Xθ − γᵏ| that was seen.
    fn advance(
        &mut self,
        theta: &[f64],
        step: Step,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64;

    /// The largest |y − Xθ − γᵏ| of the last step, where `seen` was the largest one seen.
    fn largest_residual(&self, theta: &[f64], seen: f64) -> f64;

    /// γ, one number for each group.
    fn at(&self, kappa: f64) -> Vec<f64>;

    fn save(&self, state: &mut StateWriter);

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()>;
}

/// κ, the length of a step, and the time to which it leads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) kappa: f64,
    pub(super) dt: f64,
    pub(super) t: f64,
}

/// The scale of the residuals where every vote is trusted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Residuals {
    pub(super) largest: f64,
    pub(super) typical: f64,
}

/// What a step found, with everyone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Advance {
    /// Whether every |y − Xθᵏ − γᵏ| is small.
    pub(super) is_quiet: bool,
    /// Whether the set of outliers changed.
    pub(super) any_change: bool,
}

impl<'a> Iterate<'a> {
    /// θ⁰ = L†XᵀWy, z⁰ = 0.
    pub(super) fn start(
        graph: &'a ComparisonGraph,
        system: &'a LaplacianSystem,
        options: &BregmanOptions,
    ) -> Result<Self> {
        let rule = StoppingRule { tolerance: options.tolerance, ..StoppingRule::default() };
        let xt_w_y = graph.divergence(&graph.groups().y);
        let (mut theta, info) = system.solve(&xt_w_y, &rule)?;
        // Factors that solve the first system to the last digits solve the others too.
        let unchecked = info.iterations == 1 && info.converged;
        let rule = StoppingRule { unchecked, ..rule };
        graph.components().centre(&mut theta);
        let (algorithm, scale) = (options.algorithm, norm(&xt_w_y));
        let outliers: Box<dyn Outliers> = match algorithm {
            Algorithm::Gradient => Box::new(EveryVote::new(graph)),
            Algorithm::Exact => Box::new(WhoMoves::new(graph, &theta)),
        };
        let (flow, changes) = (vec![0.0; graph.items()], Vec::new());
        Ok(Self { graph, system, algorithm, rule, scale, theta, outliers, flow, changes })
    }

    /// The largest |r| and the root of the mean r² of the votes, with r = y − Xθ.
    pub(super) fn residuals(&self) -> Residuals {
        let (groups, theta) = (self.graph.groups(), &self.theta);
        let tasks = (0..groups.len()).into_par_iter().step_by(GROUPS_PER_TASK);
        let found: Vec<(f64, f64)> = tasks
            .map(|start| {
                let range = start..groups.len().min(start + GROUPS_PER_TASK);
                range.fold((0.0_f64, 0.0), |(largest, squares), g| {
                    let r = groups.residual(theta, g);
                    (largest.max(r.abs()), squares + groups.weight[g] * r * r)
                })
            })
            .collect();
        let communicator = self.graph.communicator();
        let largest = found.iter().fold(0.0_f64, |most, &(largest, _)| most.max(largest));
        let squares = found.iter().map(|&(_, squares)| squares).sum();
        let mean = communicator.sum_scalar(squares) / self.graph.votes();
        Residuals { largest: communicator.max_scalar(largest), typical: mean.sqrt() }
    }

    /// To time t, as long as nothing has entered.
    pub(super) fn skip_silent_start(&mut self, t: f64) {
        self.outliers.skip_silent_start(&self.theta, t);
    }

    /// From step k to k + 1. Residuals up to `small` are quiet.
    pub(super) fn advance(&mut self, step: Step, small: f64) -> Result<Advance> {
        if self.algorithm == Algorithm::Exact {
            self.follow_gamma()?;
        }
        self.changes.clear();
        let Self { theta, outliers, flow, changes, .. } = self;
        let seen = outliers.advance(theta, step, flow, changes);
        let communicator = self.graph.communicator();
        communicator.sum(flow);
        let mut found = [seen, f64::from(u8::from(!changes.is_empty()))];
        communicator.max(&mut found);
        let is_quiet = found[0] <= small
            && communicator.max_scalar(outliers.largest_residual(theta, seen)) <= small;
        if self.algorithm == Algorithm::Gradient {
            let h = step.kappa * step.dt;
            theta.iter_mut().zip(&*flow).for_each(|(theta, flow)| *theta += h * flow);
        }
        sort_changes(changes);
        Ok(Advance { is_quiet, any_change: found[1] > 0.0 })
    }

    /// θᵏ, zᵏ and the flow that the next step needs.
    pub(super) fn save(&self, state: &mut StateWriter) {
        state.numbers(self.theta.iter());
        state.numbers(self.flow.iter());
        self.outliers.save(state);
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        state.numbers_into(&mut self.theta)?;
        state.numbers_into(&mut self.flow)?;
        self.outliers.restore(state)
    }

    /// θᵏ⁺¹ = θᵏ + L†XᵀW(γᵏ⁻¹ − γᵏ): the change alone, so that little is left to iterate.
    fn follow_gamma(&mut self) -> Result<()> {
        let size = norm(&self.flow);
        if size > 0.0 {
            let tolerance = self.rule.tolerance * self.scale / size;
            let tolerance = tolerance.clamp(self.rule.tolerance.min(LOOSEST), LOOSEST);
            let rule = StoppingRule { tolerance, ..self.rule };
            let (change, _) = self.system.solve(&self.flow, &rule)?;
            self.theta.iter_mut().zip(change).for_each(|(theta, change)| *theta += change);
        }
        Ok(())
    }

    /// γᵏ = κ shrink(zᵏ).
    pub(super) fn outliers(&self, kappa: f64) -> Vec<f64> {
        self.outliers.at(kappa)
    }
}

/// Brings together who enters or leaves in each chunk; the largest of the residuals seen there.
fn gather<'s>(
    of_chunks: impl Iterator<Item = (&'s mut Vec<(u32, Change)>, f64)>,
    changes: &mut Vec<(u32, Change)>,
) -> f64 {
    of_chunks.fold(0.0, |largest: f64, (in_chunk, seen)| {
        changes.append(in_chunk);
        largest.max(seen)
    })
}

/// Those who leave first, then by residual, the largest first.
fn sort_changes(changes: &mut [(u32, Change)]) {
    let size = |change: &Change| match change {
        Change::Entered(r) => r.abs(),
        Change::Left => f64::INFINITY,
    };
    changes.sort_unstable_by(|(g, a), (h, b)| size(b).total_cmp(&size(a)).then(g.cmp(h)));
}

/// sign(z) max(|z| − 1, 0).
#[inline]
fn shrink(z: f64) -> f64 {
    z - z.clamp(-1.0, 1.0)
}
