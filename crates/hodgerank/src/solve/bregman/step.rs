//! One step: a single pass over the groups, and θ.

use super::chunks::{Chunk, Chunks};
use super::options::{Algorithm, BregmanOptions};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::laplacian::{LaplacianSystem, StoppingRule};
use crate::path::Change;
use crate::team::{StateReader, StateWriter};

/// A linear system for a change of θ is never solved worse than this, however small the change.
const LOOSEST: f64 = 0.01;

/// θᵏ and zᵏ; γᵏ = κ shrink(zᵏ) is not stored.
pub(super) struct Iterate<'a> {
    pub(super) graph: &'a ComparisonGraph,
    system: &'a LaplacianSystem,
    algorithm: Algorithm,
    rule: StoppingRule,
    /// ‖XᵀWy‖, which the tolerance is relative to.
    scale: f64,
    pub(super) theta: Vec<f64>,
    chunks: Chunks<State>,
    /// XᵀW f of the last pass.
    flow: Vec<f64>,
    /// What the last step changed in the set of outliers, larger residuals first.
    pub(super) changes: Vec<(u32, Change)>,
}

/// What a chunk keeps for its groups.
struct State {
    z: Vec<f64>,
    changes: Vec<(u32, Change)>,
    /// Largest |y − Xθ − γ| of the last pass.
    largest: f64,
    /// Σ w r² at the start.
    squares: f64,
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
    /// The largest |y − Xθᵏ − γᵏ|.
    pub(super) residual: f64,
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
        let (mut theta, _) = system.solve(&xt_w_y, &rule)?;
        graph.components().centre(&mut theta);
        let state = |range: std::ops::Range<usize>| State {
            z: vec![0.0; range.len()],
            changes: Vec::new(),
            largest: 0.0,
            squares: 0.0,
        };
        let chunks = Chunks::new(graph.items(), graph.groups(), state);
        let (algorithm, scale) = (options.algorithm, norm(&xt_w_y));
        let flow = vec![0.0; graph.items()];
        Ok(Self { graph, system, algorithm, rule, scale, theta, chunks, flow, changes: Vec::new() })
    }

    /// The largest |r| and the root of the mean r² of the votes, with r = y − Xθ.
    pub(super) fn residuals(&mut self) -> Residuals {
        let (groups, theta) = (self.graph.groups(), &self.theta);
        self.chunks.each(|chunk| {
            chunk.state.largest = 0.0;
            chunk.state.squares = 0.0;
            for g in chunk.groups.clone() {
                let r = residual(groups, theta, g);
                chunk.state.largest = chunk.state.largest.max(r.abs());
                chunk.state.squares += groups.weight[g] * r * r;
            }
        });
        let squares = self.chunks.0.iter().map(|chunk| chunk.state.squares).sum();
        let team = self.graph.team();
        let mean = team.sum_of(squares) / self.graph.votes();
        Residuals { largest: team.max_of(self.largest()), typical: mean.sqrt() }
    }

    fn largest(&self) -> f64 {
        self.chunks.0.iter().fold(0.0, |largest, chunk| chunk.state.largest.max(largest))
    }

    /// z = t·r, true as long as nothing has entered.
    pub(super) fn skip_silent_start(&mut self, t: f64) {
        let (groups, theta) = (self.graph.groups(), &self.theta);
        self.chunks.each(|chunk| {
            for (z, g) in chunk.state.z.iter_mut().zip(chunk.groups.clone()) {
                *z = (t * residual(groups, theta, g)).clamp(-1.0, 1.0);
            }
        });
    }

    /// From step k to k + 1.
    pub(super) fn advance(&mut self, kappa: f64, dt: f64) -> Result<Advance> {
        if self.algorithm == Algorithm::Exact {
            self.follow_gamma()?;
        }
        let (groups, theta) = (self.graph.groups(), &self.theta);
        match self.algorithm {
            Algorithm::Gradient => {
                self.chunks.each(|chunk| pass::<false>(chunk, groups, theta, kappa, dt));
            }
            Algorithm::Exact => {
                self.chunks.each(|chunk| pass::<true>(chunk, groups, theta, kappa, dt));
            }
        }
        self.chunks.add_up(&mut self.flow);
        let team = self.graph.team();
        team.sum(&mut self.flow);
        if self.algorithm == Algorithm::Gradient {
            let h = kappa * dt;
            self.theta.iter_mut().zip(&self.flow).for_each(|(theta, flow)| *theta += h * flow);
        }
        self.collect_changes();
        let mut found = [self.largest(), f64::from(u8::from(!self.changes.is_empty()))];
        team.max(&mut found);
        Ok(Advance { residual: found[0], any_change: found[1] > 0.0 })
    }

    /// θᵏ, zᵏ and the flow that the next step needs.
    pub(super) fn save(&self, state: &mut StateWriter) {
        state.numbers(self.theta.iter());
        state.numbers(self.flow.iter());
        for chunk in &self.chunks.0 {
            state.numbers(chunk.state.z.iter());
        }
    }

    pub(super) fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        state.numbers_into(&mut self.theta)?;
        state.numbers_into(&mut self.flow)?;
        self.chunks.0.iter_mut().try_for_each(|chunk| state.numbers_into(&mut chunk.state.z))
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
        let z = self.chunks.0.iter().flat_map(|chunk| &chunk.state.z);
        z.map(|&z| kappa * shrink(z)).collect()
    }

    fn collect_changes(&mut self) {
        self.changes.clear();
        for chunk in &mut self.chunks.0 {
            self.changes.append(&mut chunk.state.changes);
        }
        let size = |change: &Change| match change {
            Change::Entered(r) => r.abs(),
            Change::Left => f64::INFINITY,
        };
        self.changes.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    }
}

/// Groups worked on side by side, for the processor to take several at once.
const BLOCK: usize = 8;

/// zᵏ⁺¹ from zᵏ and θ, who crosses ±1, and XᵀW f into the flow: f = y − Xθᵏ − γᵏ for the gradient
/// step, f = γᵏ − γᵏ⁺¹ (zero for most groups) where θ is solved for in the next step.
fn pass<const EXACT: bool>(
    chunk: &mut Chunk<State>,
    groups: &Groups,
    theta: &[f64],
    kappa: f64,
    dt: f64,
) {
    let Chunk { groups: range, state, first_item, flow } = chunk;
    let State { z, changes, largest, .. } = state;
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
            *r = y - (theta[i as usize] - theta[j as usize]);
        }
        block.old.iter_mut().zip(&z[here.clone()]).for_each(|(old, z)| *old = *z);
        let outside = block.advance::<EXACT>(kappa, dt);
        z[here.clone()].iter_mut().zip(&block.new).for_each(|(z, new)| *z = *new);
        if EXACT && !outside {
            continue;
        }
        for (k, (&i, &j)) in left.iter().zip(right).enumerate() {
            let wf = weight[start + k] * block.f[k];
            flow[i as usize - *first_item] += wf;
            flow[j as usize - *first_item] -= wf;
            let (was, is) = (block.old[k].abs() > 1.0, block.new[k].abs() > 1.0);
            if was != is {
                let change = if is { Change::Entered(block.r[k]) } else { Change::Left };
                changes.push(((range.start + start + k) as u32, change));
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
    f: [f64; BLOCK],
    largest: [f64; BLOCK],
}

impl Block {
    /// zᵏ⁺¹ and f; whether a group is or becomes an outlier, which in most blocks none does.
    #[inline]
    fn advance<const EXACT: bool>(&mut self, kappa: f64, dt: f64) -> bool {
        let mut outermost = [0.0_f64; BLOCK];
        for (k, outermost) in outermost.iter_mut().enumerate() {
            let (r, old) = (self.r[k], self.old[k]);
            let gamma = kappa * shrink(old);
            let rest = r - gamma;
            let new = old + dt * rest;
            self.new[k] = new;
            self.f[k] = if EXACT { gamma - kappa * shrink(new) } else { rest };
            self.largest[k] = self.largest[k].max(rest.abs());
            *outermost = old.abs().max(new.abs());
        }
        outermost.iter().any(|&z| z > 1.0)
    }
}

/// sign(z) max(|z| − 1, 0).
#[inline]
fn shrink(z: f64) -> f64 {
    z - z.clamp(-1.0, 1.0)
}

#[inline]
fn residual(groups: &Groups, theta: &[f64], g: usize) -> f64 {
    groups.y[g] - (theta[groups.left[g] as usize] - theta[groups.right[g] as usize])
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}
