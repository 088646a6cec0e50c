//! γ for Algorithm 2: one pass over all groups, which the gradient step in θ needs anyway.

use crate::communicator::{StateReader, StateWriter};
use crate::graph::{Chunk, Chunks, ComparisonGraph, Groups};
use crate::numeric::residual;
use crate::path::Change;

use super::gamma_update::{GammaUpdate, StepParams, merge_chunks, shrink};
use crate::error::Result;

/// zᵏ of every group; γᵏ = κ shrink(zᵏ) is not stored.
pub(super) struct FullPass<'a> {
    groups: &'a Groups,
    chunks: Chunks<FullPassState>,
}

/// The state of the groups of a chunk.
struct FullPassState {
    z: Vec<f64>,
    changes: Vec<(u32, Change)>,
    /// Largest |y − Xθ − γ| of the last pass.
    largest: f64,
}

impl<'a> FullPass<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let state = |range: std::ops::Range<usize>| FullPassState {
            z: vec![0.0; range.len()],
            changes: Vec::new(),
            largest: 0.0,
        };
        let groups = graph.groups();
        Self { groups, chunks: Chunks::new(graph.items(), groups, state) }
    }
}

impl GammaUpdate for FullPass<'_> {
    fn skip_initial_phase(&mut self, theta: &[f64], t: f64) {
        let groups = self.groups;
        self.chunks.each(|chunk| {
            for (z, g) in chunk.state.z.iter_mut().zip(chunk.groups.clone()) {
                *z = (t * groups.residual(theta, g)).clamp(-1.0, 1.0);
            }
        });
    }

    /// The flow is XᵀW(y − Xθᵏ − γᵏ).
    fn advance(
        &mut self,
        theta: &[f64],
        step: StepParams,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64 {
        let groups = self.groups;
        self.chunks.each(|chunk| pass(chunk, groups, theta, step));
        self.chunks.add_up(flow);
        let states = self.chunks.0.iter_mut().map(|chunk| &mut chunk.state);
        merge_chunks(states.map(|state| (&mut state.changes, state.largest)), changes)
    }

    fn largest_residual(&self, _: &[f64], visited: f64) -> f64 {
        visited
    }

    fn gamma(&self, kappa: f64) -> Vec<f64> {
        let z = self.chunks.0.iter().flat_map(|chunk| &chunk.state.z);
        z.map(|&z| kappa * shrink(z)).collect()
    }

    fn save(&self, state: &mut StateWriter) {
        for chunk in &self.chunks.0 {
            state.numbers(chunk.state.z.iter());
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        self.chunks.0.iter_mut().try_for_each(|chunk| state.numbers_into(&mut chunk.state.z))
    }
}

/// Groups that are processed together, so that the compiler vectorises the arithmetic.
const LANES: usize = 8;

/// Computes zᵏ⁺¹ from zᵏ and θᵏ, the groups whose |z| crosses 1, and the flow XᵀW(y − Xθᵏ − γᵏ).
fn pass(chunk: &mut Chunk<FullPassState>, groups: &Groups, theta: &[f64], step: StepParams) {
    let Chunk { groups: range, state, first, flow } = chunk;
    let FullPassState { z, changes, largest } = state;
    let (left, right) = (&groups.left[range.clone()], &groups.right[range.clone()]);
    let (y, weight) = (&groups.y[range.clone()], &groups.weight[range.clone()]);
    flow.fill(0.0);
    let mut block = LaneBlock::default();
    for start in (0..z.len()).step_by(LANES) {
        let lanes = start..z.len().min(start + LANES);
        let (left, right) = (&left[lanes.clone()], &right[lanes.clone()]);
        for (r, ((&i, &j), &y)) in
            block.r.iter_mut().zip(left.iter().zip(right).zip(&y[lanes.clone()]))
        {
            *r = residual(y, theta[i as usize], theta[j as usize]);
        }
        block.old.iter_mut().zip(&z[lanes.clone()]).for_each(|(old, z)| *old = *z);
        let any_outlier = block.advance(step);
        z[lanes.clone()].iter_mut().zip(&block.new).for_each(|(z, new)| *z = *new);
        for (k, (&i, &j)) in left.iter().zip(right).enumerate() {
            let wf = weight[start + k] * block.error[k];
            flow[i as usize - *first] += wf;
            flow[j as usize - *first] -= wf;
        }
        if any_outlier {
            for k in 0..left.len() {
                let [was_flagged, is_flagged] = [block.old[k], block.new[k]].map(|z| z.abs() > 1.0);
                if was_flagged != is_flagged {
                    let change =
                        if is_flagged { Change::Entered(block.r[k]) } else { Change::Left };
                    changes.push(((range.start + start + k) as u32, change));
                }
            }
        }
    }
    *largest = block.largest.iter().fold(0.0, |a, &b| b.max(a));
}

/// A few groups, in columns. In the last block the unused lanes hold values of the block before it;
/// they do not change any result.
#[derive(Default)]
struct LaneBlock {
    r: [f64; LANES],
    old: [f64; LANES],
    new: [f64; LANES],
    /// y − Xθ − γ.
    error: [f64; LANES],
    largest: [f64; LANES],
}

impl LaneBlock {
    /// Computes zᵏ⁺¹ and y − Xθᵏ − γᵏ. Returns whether some group is or becomes an outlier, which is
    /// not the case in most blocks.
    #[inline]
    fn advance(&mut self, StepParams { kappa, dt, .. }: StepParams) -> bool {
        let mut max_z = [0.0_f64; LANES];
        for (k, max_z) in max_z.iter_mut().enumerate() {
            let (r, old) = (self.r[k], self.old[k]);
            let error = r - kappa * shrink(old);
            let new = old + dt * error;
            self.new[k] = new;
            self.error[k] = error;
            self.largest[k] = self.largest[k].max(error.abs());
            *max_z = old.abs().max(new.abs());
        }
        max_z.iter().any(|&z| z > 1.0)
    }
}
