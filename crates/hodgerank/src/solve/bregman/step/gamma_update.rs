//! What the two strategies for updating γ have in common.

use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::path::Change;

/// κ, the length of a step, and the time at its end.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve::bregman) struct StepParams {
    pub(in crate::solve::bregman) kappa: f64,
    pub(in crate::solve::bregman) dt: f64,
    pub(in crate::solve::bregman) t: f64,
}

/// A strategy for updating z and γ = κ shrink(z) of all groups.
pub(super) trait GammaUpdate: Send {
    /// Sets z = t·r, its value as long as no group has entered.
    fn skip_initial_phase(&mut self, theta: &[f64], t: f64);

    /// Computes zᵏ⁺¹ from zᵏ and `theta`. Writes the flow from which θ is updated, appends the
    /// groups that enter or leave to `changes`, and returns the largest |y − Xθ − γᵏ| of the groups
    /// that it visited.
    fn advance(
        &mut self,
        theta: &[f64],
        step: StepParams,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64;

    /// Returns the largest |y − Xθ − γᵏ| of all groups in the last step; `visited` is that of the
    /// groups which the step visited.
    fn largest_residual(&self, theta: &[f64], visited: f64) -> f64;

    /// Returns γ, one number per group.
    fn gamma(&self, kappa: f64) -> Vec<f64>;

    /// Saves z to a checkpoint.
    fn save(&self, state: &mut StateWriter);

    /// Restores z from a checkpoint.
    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()>;
}

/// Moves the changes of all chunks to `changes` and returns the largest of their residuals.
pub(super) fn merge_chunks<'s>(
    chunks: impl Iterator<Item = (&'s mut Vec<(u32, Change)>, f64)>,
    changes: &mut Vec<(u32, Change)>,
) -> f64 {
    chunks.fold(0.0, |largest: f64, (chunk_changes, chunk_largest)| {
        changes.append(chunk_changes);
        largest.max(chunk_largest)
    })
}

/// sign(z) max(|z| − 1, 0).
#[inline]
pub(super) fn shrink(z: f64) -> f64 {
    z - z.clamp(-1.0, 1.0)
}
