//! γ for Algorithm 2: a single pass over all groups, which the flow for θ needs anyway.

use crate::communicator::{StateReader, StateWriter};
use crate::graph::{Chunk, Chunks, ComparisonGraph, Groups};
use crate::numeric::residual;
use crate::path::Change;

use super::{Outliers, Step, gather, shrink};
use crate::error::Result;

/// zᵏ of every group; γᵏ = κ shrink(zᵏ) is not stored.
pub(super) struct EveryVote<'a> {
    groups: &'a Groups,
    chunks: Chunks<State>,
}

/// What a chunk keeps for its groups.
struct State {
    z: Vec<f64>,
    changes: Vec<(u32, Change)>,
    /// Largest |y − Xθ − γ| of the last pass.
    largest: f64,
}

impl<'a> EveryVote<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph) -> Self {
        let state = |range: std::ops::Range<usize>| State {
            z: vec![0.0; range.len()],
            changes: Vec::new(),
            largest: 0.0,
        };
        let groups = graph.groups();
        Self { groups, chunks: Chunks::new(graph.items(), groups, state) }
    }
}

impl Outliers for EveryVote<'_> {
    fn skip_silent_start(&mut self, theta: &[f64], t: f64) {
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
        step: Step,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64 {
        let groups = self.groups;
        self.chunks.each(|chunk| pass(chunk, groups, theta, step));
        self.chunks.add_up(flow);
        let states = self.chunks.0.iter_mut().map(|chunk| &mut chunk.state);
        gather(states.map(|state| (&mut state.changes, state.largest)), changes)
    }

    fn largest_residual(&self, _: &[f64], seen: f64) -> f64 {
        seen
    }

    fn at(&self, kappa: f64) -> Vec<f64> {
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

/// Groups worked on side by side, for the processor to take several at once.
const BLOCK: usize = 8;

/// zᵏ⁺¹ from zᵏ and θᵏ, who crosses ±1, and XᵀW(y − Xθᵏ − γᵏ) into the flow.
fn pass(chunk: &mut Chunk<State>, groups: &Groups, theta: &[f64], step: Step) {
    let Chunk { groups: range, state, first, flow } = chunk;
    let State { z, changes, largest } = state;
    let (left, right) = (&groups.left[range.clone()], &groups.right[range.clone()]);
    let (y, weight) = (&groups.y[range.clone()], &groups.weight[range.clone()]);
    flow.fill(0.0);
    let mut block = Block::default();
    for start in (0..z.len()).step_by(BLOCK) {
        let here = start..z.len().min(start + BLOCK);
        let (left, right) = (&left[here.clone()], &right[here.clone()]);
        for (r, ((&i, &j), &y)) in
            block.r.iter_mut().zip(left.iter().zip(right).zip(&y[here.clone()]))
        {
            *r = residual(y, theta[i as usize], theta[j as usize]);
        }
        block.old.iter_mut().zip(&z[here.clone()]).for_each(|(old, z)| *old = *z);
        let any_outlier = block.advance(step);
        z[here.clone()].iter_mut().zip(&block.new).for_each(|(z, new)| *z = *new);
        for (k, (&i, &j)) in left.iter().zip(right).enumerate() {
            let wf = weight[start + k] * block.rest[k];
            flow[i as usize - *first] += wf;
            flow[j as usize - *first] -= wf;
        }
        if any_outlier {
            for k in 0..left.len() {
                let (was, is) = (block.old[k].abs() > 1.0, block.new[k].abs() > 1.0);
                if was != is {
                    let change = if is { Change::Entered(block.r[k]) } else { Change::Left };
                    changes.push(((range.start + start + k) as u32, change));
                }
            }
        }
    }
    *largest = block.largest.iter().fold(0.0, |a, &b| b.max(a));
}

/// A few groups side by side, in columns. Behind the last group stand old ones, which add nothing.
#[derive(Default)]
struct Block {
    r: [f64; BLOCK],
    old: [f64; BLOCK],
    new: [f64; BLOCK],
    rest: [f64; BLOCK],
    largest: [f64; BLOCK],
}

impl Block {
    /// zᵏ⁺¹ and y − Xθᵏ − γᵏ; whether a group is or becomes an outlier, which in most blocks none
    /// does.
    #[inline]
    fn advance(&mut self, Step { kappa, dt, .. }: Step) -> bool {
        let mut outermost = [0.0_f64; BLOCK];
        for (k, outermost) in outermost.iter_mut().enumerate() {
            let (r, old) = (self.r[k], self.old[k]);
            let rest = r - kappa * shrink(old);
            let new = old + dt * rest;
            self.new[k] = new;
            self.rest[k] = rest;
            self.largest[k] = self.largest[k].max(rest.abs());
            *outermost = old.abs().max(new.abs());
        }
        outermost.iter().any(|&z| z > 1.0)
    }
}
