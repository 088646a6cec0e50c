//! γ for Algorithm 3: a step visits only an active set, the groups that have entered or could enter.
//!
//! While γ = 0, z of a group is the sum of its residuals: z = t·y − (S_i − S_j) with S = Σ Δt θ, the
//! scores summed over time. Groups that have never entered therefore need no state, and no step has
//! to update them. Groups that have entered are stored in columns together with their z.
//!
//! When can a group enter? In m steps |z| grows by at most m Δt (|r| + δ), provided that its residual
//! changes by no more than δ. This holds while every score is within δ/4 of its value at the last
//! scan of all groups. That scan computes for each group the earliest step in which it could enter
//! and schedules it for a check in that step. After [`MAX_STEPS_BETWEEN_SCANS`] steps, or when a score
//! has changed too much, all groups are scanned again. The result does not depend on the schedule.
//!
//! Cost of a step: the groups that have entered, the scheduled ones (a few percent), and
//! occasionally a scan of all groups. Memory: 36 bytes for a group that has entered, 1 for any other, and 4 more
//! while it is scheduled.

use std::ops::Range;

use rayon::prelude::*;

use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::{Chunk, Chunks, ComparisonGraph, Groups};
use crate::numeric::residual;
use crate::path::Change;

use super::gamma_update::{GammaUpdate, StepParams, merge_chunks, shrink};

/// Maximum number of steps between two scans of all groups.
const MAX_STEPS_BETWEEN_SCANS: usize = 10;
/// Maximum contribution of changes of the residual to |z| between two scans. It defines
/// δ = `MAX_Z_DRIFT` / (`MAX_STEPS_BETWEEN_SCANS` Δt).
const MAX_Z_DRIFT: f64 = 0.08;
/// Relative margin for rounding errors in the bound on the growth of |z|.
const RATE_MARGIN: f64 = 1e-9;
/// Groups that are scanned together, so that the compiler vectorises the arithmetic.
const LANES: usize = 8;

/// The groups that have entered, and a schedule of those that could enter next.
pub(super) struct ActiveSet<'a> {
    groups: &'a Groups,
    chunks: Chunks<ActiveSetState>,
    /// Score and S of each item.
    items: Vec<[f64; 2]>,
    /// The scores at the last scan of all groups.
    scanned_theta: Vec<f64>,
    /// Steps since that scan.
    age: usize,
}

/// The state of the groups of a chunk.
struct ActiveSetState {
    entered: EnteredGroups,
    has_entered: Vec<bool>,
    /// `due[m]` holds the groups to check m steps after the last scan of all groups.
    due: Vec<Vec<u32>>,
    /// Residual and z of the groups that are checked.
    checked: Vec<(f64, f64)>,
    /// Groups that enter in this step, with residual and z.
    entering: Vec<(u32, f64, f64)>,
    /// The group with the largest |r| at the last scan, among those that have never entered.
    /// While its residual is large, the convergence test over all groups is skipped.
    worst: Option<u32>,
    changes: Vec<(u32, Change)>,
    /// Largest |y − Xθ − γ| of the groups visited in this step.
    largest: f64,
}

/// Groups that have entered at least once, in order of first entry.
#[derive(Default)]
struct EnteredGroups {
    group: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
    z: Vec<f64>,
}

impl EnteredGroups {
    /// Appends column by column, so that cache misses overlap.
    fn extend(&mut self, groups: &Groups, entering: impl Iterator<Item = (u32, f64)> + Clone) {
        let indices = entering.clone().map(|(group, _)| group as usize);
        self.group.extend(entering.clone().map(|(group, _)| group));
        self.left.extend(indices.clone().map(|g| groups.left[g]));
        self.right.extend(indices.clone().map(|g| groups.right[g]));
        self.y.extend(indices.clone().map(|g| groups.y[g]));
        self.weight.extend(indices.map(|g| groups.weight[g]));
        self.z.extend(entering.map(|(_, z)| z));
    }
}

/// What a step needs to evaluate groups that have never entered.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    groups: &'a Groups,
    items: &'a [[f64; 2]],
    step: StepParams,
    age: usize,
}

impl StepContext<'_> {
    /// Returns residual and z of a group that has never entered.
    #[inline]
    fn residual_and_z(&self, g: usize) -> (f64, f64) {
        let [theta_i, sum_i] = self.items[self.groups.left[g] as usize];
        let [theta_j, sum_j] = self.items[self.groups.right[g] as usize];
        let y = self.groups.y[g];
        (residual(y, theta_i, theta_j), self.step.t * y - (sum_i - sum_j))
    }

    /// Bounds the growth of |z| in a step: returns its value for r = 0 and its slope in |r|.
    #[inline]
    fn max_growth(&self) -> (f64, f64) {
        let margin = 1.0 + RATE_MARGIN;
        (margin * MAX_Z_DRIFT / MAX_STEPS_BETWEEN_SCANS as f64, margin * self.step.dt)
    }

    /// Returns the number of steps after the last scan at which a group could enter, if that is
    /// before the next scan.
    #[inline]
    fn earliest_entry(&self, r: f64, z: f64) -> Option<usize> {
        let (drift, dt) = self.max_growth();
        let steps = (1.0 - z.abs()) / (drift + dt * r.abs());
        let due = self.age + 1 + steps as usize;
        (due <= MAX_STEPS_BETWEEN_SCANS).then_some(due)
    }
}

impl<'a> ActiveSet<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, theta: &[f64]) -> Self {
        let state = |range: Range<usize>| ActiveSetState {
            entered: EnteredGroups::default(),
            has_entered: vec![false; range.len()],
            due: vec![Vec::new(); MAX_STEPS_BETWEEN_SCANS + 1],
            checked: Vec::new(),
            entering: Vec::new(),
            worst: None,
            changes: Vec::new(),
            largest: 0.0,
        };
        let groups = graph.groups();
        Self {
            groups,
            chunks: Chunks::new(graph.items(), groups, state),
            items: theta.iter().map(|&theta| [theta, 0.0]).collect(),
            scanned_theta: theta.to_vec(),
            age: MAX_STEPS_BETWEEN_SCANS,
        }
    }

    /// Adds `theta` to S. Returns whether this step has to scan all groups.
    fn accumulate(&mut self, theta: &[f64], dt: f64) -> bool {
        for (item, &theta) in self.items.iter_mut().zip(theta) {
            *item = [theta, item[1] + dt * theta];
        }
        let limit = MAX_Z_DRIFT / (4.0 * MAX_STEPS_BETWEEN_SCANS as f64 * dt);
        let is_near = |(theta, scanned): (&f64, &f64)| (theta - scanned).abs() <= limit;
        let all_near = theta.iter().zip(&self.scanned_theta).all(is_near);
        let scan_everything = self.age >= MAX_STEPS_BETWEEN_SCANS || !all_near;
        if scan_everything {
            self.scanned_theta.copy_from_slice(theta);
        }
        self.age = if scan_everything { 0 } else { self.age + 1 };
        scan_everything
    }
}

impl GammaUpdate for ActiveSet<'_> {
    fn skip_initial_phase(&mut self, theta: &[f64], t: f64) {
        self.items.iter_mut().zip(theta).for_each(|(item, &theta)| *item = [theta, t * theta]);
    }

    /// The flow is XᵀW(γᵏ − γᵏ⁺¹).
    fn advance(
        &mut self,
        theta: &[f64],
        step: StepParams,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64 {
        let scan_everything = self.accumulate(theta, step.dt);
        let context = StepContext { groups: self.groups, items: &self.items, step, age: self.age };
        self.chunks.each(|chunk| {
            chunk.flow.fill(0.0);
            chunk.state.largest = 0.0;
            if scan_everything {
                scan_all(chunk, context);
            } else {
                scan_due(chunk, context);
            }
            advance_entered(chunk, context);
            admit(chunk, context);
        });
        self.chunks.add_up(flow);
        let states = self.chunks.0.iter_mut().map(|chunk| &mut chunk.state);
        merge_chunks(states.map(|state| (&mut state.changes, state.largest)), changes)
    }

    fn largest_residual(&self, theta: &[f64], visited: f64) -> f64 {
        let max_of_chunk = |chunk: &Chunk<ActiveSetState>| {
            let groups = chunk.groups.clone().zip(&chunk.state.has_entered);
            let never_entered = groups.filter(|(_, has_entered)| !**has_entered);
            never_entered.fold(0.0_f64, |max, (g, _)| max.max(self.groups.residual(theta, g).abs()))
        };
        visited.max(self.chunks.0.par_iter().map(max_of_chunk).reduce(|| 0.0, f64::max))
    }

    fn gamma(&self, kappa: f64) -> Vec<f64> {
        let mut gamma = vec![0.0; self.groups.len()];
        for EnteredGroups { group, z, .. } in self.chunks.0.iter().map(|chunk| &chunk.state.entered)
        {
            group.iter().zip(z).for_each(|(&g, &z)| gamma[g as usize] = kappa * shrink(z));
        }
        gamma
    }

    fn save(&self, state: &mut StateWriter) {
        state.numbers(self.items.iter().map(|[_, sum]| sum));
        for EnteredGroups { group, z, .. } in self.chunks.0.iter().map(|chunk| &chunk.state.entered)
        {
            state.indices(group);
            state.numbers(z.iter());
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        let mut sums = vec![0.0; self.items.len()];
        state.numbers_into(&mut sums)?;
        self.items.iter_mut().zip(sums).for_each(|(item, sum)| item[1] = sum);
        for chunk in &mut self.chunks.0 {
            let groups = state.indices()?;
            let mut z = vec![0.0; groups.len()];
            state.numbers_into(&mut z)?;
            chunk.state.entered = EnteredGroups::default();
            for &g in &groups {
                let index = (g as usize).checked_sub(chunk.groups.start);
                let has_entered = index.and_then(|index| chunk.state.has_entered.get_mut(index));
                *has_entered.ok_or_else(|| state.unusable())? = true;
            }
            chunk.state.entered.extend(self.groups, groups.into_iter().zip(z));
        }
        // The schedule is not saved: the next step scans all groups.
        self.age = MAX_STEPS_BETWEEN_SCANS;
        Ok(())
    }
}

/// Evaluates every group that has never entered, and schedules those that could enter soon.
fn scan_all(chunk: &mut Chunk<ActiveSetState>, context: StepContext<'_>) {
    let Chunk { groups: range, state, .. } = chunk;
    let ActiveSetState { has_entered, due, entering, worst, largest, .. } = state;
    due.iter_mut().for_each(Vec::clear);
    *worst = None;
    let (drift, dt) = context.max_growth();
    let (drift, dt) = (drift * MAX_STEPS_BETWEEN_SCANS as f64, dt * MAX_STEPS_BETWEEN_SCANS as f64);
    let StepContext { groups, items, step, .. } = context;
    let (left, right) = (&groups.left[range.clone()], &groups.right[range.clone()]);
    let y = &groups.y[range.clone()];
    let (mut r, mut z, mut bound) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for start in (0..y.len()).step_by(LANES) {
        let block = start..y.len().min(start + LANES);
        // In the last block the unused lanes hold values of the block before it; they are ignored.
        let ends = left[block.clone()].iter().zip(&right[block.clone()]);
        let outcomes = y[block.clone()].iter().zip(&has_entered[block.clone()]);
        for (((&i, &j), (&y, &has_entered)), (r, z)) in
            ends.zip(outcomes).zip(r.iter_mut().zip(&mut z))
        {
            let ([theta_i, sum_i], [theta_j, sum_j]) = (items[i as usize], items[j as usize]);
            // Groups that have entered get zeros. A product, because a branch would mispredict.
            let mask = f64::from(u8::from(!has_entered));
            *r = mask * residual(y, theta_i, theta_j);
            *z = mask * (step.t * y - (sum_i - sum_j));
        }
        let (mut max_r, mut max_bound) = (0.0_f64, 0.0_f64);
        for ((r, z), bound) in r.iter().zip(&z).zip(&mut bound) {
            *bound = z.abs() + dt * r.abs() + drift;
            // Not `f64::max`: its handling of NaN prevents vectorisation.
            max_r = if r.abs() > max_r { r.abs() } else { max_r };
            max_bound = if *bound > max_bound { *bound } else { max_bound };
        }
        if max_r > *largest {
            *largest = max_r;
            let lane = r.iter().position(|r| r.abs() == max_r).unwrap_or(0);
            *worst = Some((range.start + start + lane) as u32);
        }
        if max_bound >= 1.0 {
            for (k, g) in block.enumerate().filter(|&(k, _)| bound[k] >= 1.0) {
                schedule(due, entering, context, (range.start + g) as u32, r[k], z[k]);
            }
        }
    }
}

/// Evaluates the groups that could enter in this step, and the one with the largest known residual.
fn scan_due(chunk: &mut Chunk<ActiveSetState>, context: StepContext<'_>) {
    let ActiveSetState { due, checked, entering, worst, largest, .. } = &mut chunk.state;
    let mut due_now = std::mem::take(&mut due[context.age]);
    // All are evaluated before any is scheduled, so that cache misses overlap.
    checked.clear();
    checked.extend(due_now.iter().map(|&g| context.residual_and_z(g as usize)));
    for (&g, &(r, z)) in due_now.iter().zip(&*checked) {
        *largest = largest.max(r.abs());
        schedule(due, entering, context, g, r, z);
    }
    due_now.clear();
    due[context.age] = due_now;
    // The order of entry must not depend on the schedule.
    entering.sort_unstable_by_key(|&(group, ..)| group);
    if let Some(g) = *worst {
        *largest = largest.max(context.residual_and_z(g as usize).0.abs());
    }
}

/// Lets a group enter, or schedules it for the step in which it could.
#[inline]
fn schedule(
    due: &mut [Vec<u32>],
    entering: &mut Vec<(u32, f64, f64)>,
    context: StepContext<'_>,
    group: u32,
    r: f64,
    z: f64,
) {
    if z.abs() > 1.0 {
        entering.push((group, r, z));
    } else if let Some(step) = context.earliest_entry(r, z) {
        due[step].push(group);
    }
}

/// Computes zᵏ⁺¹ of the groups that have entered, the changes among them, and their part of the flow.
fn advance_entered(
    chunk: &mut Chunk<ActiveSetState>,
    StepContext { items, step, .. }: StepContext<'_>,
) {
    let Chunk { state: ActiveSetState { entered, changes, largest, .. }, first, flow, .. } = chunk;
    let EnteredGroups { group, left, right, y, weight, z } = entered;
    let ends = left.iter().zip(&*right).zip(y.iter().zip(&*weight));
    for ((z, &group), ((&i, &j), (&y, &weight))) in z.iter_mut().zip(&*group).zip(ends) {
        let (i, j) = (i as usize, j as usize);
        let r = y - (items[i][0] - items[j][0]);
        let (old, gamma) = (*z, step.kappa * shrink(*z));
        let error = r - gamma;
        *z = old + step.dt * error;
        *largest = largest.max(error.abs());
        let wf = weight * (gamma - step.kappa * shrink(*z));
        flow[i - *first] += wf;
        flow[j - *first] -= wf;
        let (was_flagged, is_flagged) = (old.abs() > 1.0, z.abs() > 1.0);
        if was_flagged != is_flagged {
            changes.push((group, if is_flagged { Change::Entered(r) } else { Change::Left }));
        }
    }
}

/// Adds the entering groups to those that have entered, and their γᵏ⁺¹ to the flow.
fn admit(chunk: &mut Chunk<ActiveSetState>, StepContext { groups, step, .. }: StepContext<'_>) {
    let Chunk { groups: range, state, first, flow } = chunk;
    let ActiveSetState { entered, has_entered, entering, worst, changes, .. } = state;
    let first_new = entered.z.len();
    entered.extend(groups, entering.iter().map(|&(group, _, z)| (group, z)));
    let EnteredGroups { left, right, weight, .. } = entered;
    let ends = left[first_new..].iter().zip(&right[first_new..]).zip(&weight[first_new..]);
    for ((group, r, z), ((&i, &j), weight)) in entering.drain(..).zip(ends) {
        changes.push((group, Change::Entered(r)));
        has_entered[group as usize - range.start] = true;
        *worst = worst.filter(|&worst| worst != group);
        let wf = -weight * step.kappa * shrink(z);
        flow[i as usize - *first] += wf;
        flow[j as usize - *first] -= wf;
    }
}
