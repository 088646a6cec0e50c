//! One step of the iteration: the update of z and γ, by one of two strategies, and that of θ.

mod active_set;
mod full_pass;
mod gamma_update;

pub(super) use gamma_update::StepParams;

use rayon::prelude::*;

use super::options::{Algorithm, BregmanOptions};
use super::step_size::ResidualScale;
use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::numeric::norm;
use crate::path::Change;
use active_set::ActiveSet;
use full_pass::FullPass;
use gamma_update::GammaUpdate;

/// Maximum relative residual of a linear system for a change of θ, however small the change is.
const MAX_SOLVE_TOLERANCE: f64 = 0.01;
/// Groups whose residuals one task adds up.
const GROUPS_PER_TASK: usize = 1 << 14;

/// The iterate: θᵏ and γᵏ.
pub(super) struct Iterate<'a> {
    pub(super) graph: &'a ComparisonGraph,
    system: &'a LaplacianSystem,
    algorithm: Algorithm,
    rule: StoppingRule,
    /// ‖XᵀWy‖; the tolerance is relative to it.
    rhs_norm: f64,
    pub(super) theta: Vec<f64>,
    gamma: Box<dyn GammaUpdate + 'a>,
    /// XᵀW f of the last step, see [`GammaUpdate::advance`].
    flow: Vec<f64>,
    /// Groups that left or entered in the last step, larger residuals first.
    pub(super) changes: Vec<(u32, Change)>,
}

/// The outcome of a step over the votes of all processes.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOutcome {
    /// Whether every |y − Xθᵏ − γᵏ| is within the requested limit.
    pub(super) converged: bool,
    /// Whether the set of outliers changed.
    pub(super) any_change: bool,
}

impl<'a> Iterate<'a> {
    /// Starts at θ⁰ = L†XᵀWy, z⁰ = 0.
    pub(super) fn start(
        graph: &'a ComparisonGraph,
        system: &'a LaplacianSystem,
        options: &BregmanOptions,
    ) -> Result<Self> {
        let rule = StoppingRule { tolerance: options.tolerance, ..StoppingRule::default() };
        let xt_w_y = graph.divergence(&graph.groups().y);
        let (mut theta, info) = system.solve(&xt_w_y, &rule)?;
        // A direct backend that solves the first system to full precision is accurate enough for
        // the others, too.
        let unchecked = info.iterations == 1 && info.converged;
        let rule = StoppingRule { unchecked, ..rule };
        graph.components().centre(&mut theta);
        let (algorithm, rhs_norm) = (options.algorithm, norm(&xt_w_y));
        let gamma: Box<dyn GammaUpdate> = match algorithm {
            Algorithm::Gradient => Box::new(FullPass::new(graph)),
            Algorithm::Exact => Box::new(ActiveSet::new(graph, &theta)),
        };
        let (flow, changes) = (vec![0.0; graph.items()], Vec::new());
        Ok(Self { graph, system, algorithm, rule, rhs_norm, theta, gamma, flow, changes })
    }

    /// Returns max |r| and √(mean r²) over the votes, with r = y − Xθ.
    pub(super) fn residual_scale(&self) -> ResidualScale {
        let (groups, theta) = (self.graph.groups(), &self.theta);
        let tasks = (0..groups.len()).into_par_iter().step_by(GROUPS_PER_TASK);
        let partial: Vec<(f64, f64)> = tasks
            .map(|start| {
                let range = start..groups.len().min(start + GROUPS_PER_TASK);
                range.fold((0.0_f64, 0.0), |(max, squares), g| {
                    let r = groups.residual(theta, g);
                    (max.max(r.abs()), squares + groups.weight[g] * r * r)
                })
            })
            .collect();
        let communicator = self.graph.communicator();
        let max = partial.iter().fold(0.0_f64, |a, &(b, _)| a.max(b));
        let squares = partial.iter().map(|&(_, squares)| squares).sum();
        let mean = communicator.sum_scalar(squares) / self.graph.votes();
        ResidualScale { max: communicator.max_scalar(max), rms: mean.sqrt() }
    }

    /// Sets z to its value at time t, at which no group has entered yet.
    pub(super) fn skip_initial_phase(&mut self, t: f64) {
        self.gamma.skip_initial_phase(&self.theta, t);
    }

    /// Advances from step k to k + 1. The iteration has converged if every |y − Xθᵏ − γᵏ| is at most
    /// `max_residual`.
    pub(super) fn advance(&mut self, step: StepParams, max_residual: f64) -> Result<StepOutcome> {
        if self.algorithm == Algorithm::Exact {
            self.update_theta_exactly()?;
        }
        self.changes.clear();
        let Self { theta, gamma, flow, changes, .. } = self;
        let largest_visited = gamma.advance(theta, step, flow, changes);
        let communicator = self.graph.communicator();
        communicator.sum(flow);
        let mut maxima = [largest_visited, f64::from(u8::from(!changes.is_empty()))];
        communicator.max(&mut maxima);
        // The residuals of groups that the step did not visit are computed only if they matter.
        let converged = maxima[0] <= max_residual
            && communicator.max_scalar(gamma.largest_residual(theta, largest_visited))
                <= max_residual;
        if self.algorithm == Algorithm::Gradient {
            let h = step.kappa * step.dt;
            theta.iter_mut().zip(&*flow).for_each(|(theta, flow)| *theta += h * flow);
        }
        sort_changes(changes);
        Ok(StepOutcome { converged, any_change: maxima[1] > 0.0 })
    }

    /// Saves θᵏ, zᵏ and the flow, from which the next step continues.
    pub(super) fn save(&self, state: &mut StateWriter) {
        state.numbers(self.theta.iter());
        state.numbers(self.flow.iter());
        self.gamma.save(state);
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        state.numbers_into(&mut self.theta)?;
        state.numbers_into(&mut self.flow)?;
        self.gamma.restore(state)
    }

    /// θᵏ⁺¹ = θᵏ + L†XᵀW(γᵏ⁻¹ − γᵏ). Solving for the change saves iterations of an iterative backend.
    fn update_theta_exactly(&mut self) -> Result<()> {
        let flow_norm = norm(&self.flow);
        if flow_norm > 0.0 {
            let tolerance = self.rule.tolerance * self.rhs_norm / flow_norm;
            let tolerance =
                tolerance.clamp(self.rule.tolerance.min(MAX_SOLVE_TOLERANCE), MAX_SOLVE_TOLERANCE);
            let rule = StoppingRule { tolerance, ..self.rule };
            let (change, _) = self.system.solve(&self.flow, &rule)?;
            self.theta.iter_mut().zip(change).for_each(|(theta, change)| *theta += change);
        }
        Ok(())
    }

    /// Returns γᵏ = κ shrink(zᵏ), one number per group.
    pub(super) fn gamma(&self, kappa: f64) -> Vec<f64> {
        self.gamma.gamma(kappa)
    }
}

/// Sorts groups that leave before those that enter, and these by residual, the largest first.
fn sort_changes(changes: &mut [(u32, Change)]) {
    let size = |change: &Change| match change {
        Change::Entered(r) => r.abs(),
        Change::Left => f64::INFINITY,
    };
    changes.sort_unstable_by(|(g, a), (h, b)| size(b).total_cmp(&size(a)).then(g.cmp(h)));
}
