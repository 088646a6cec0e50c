//! γ for Algorithm 3: only groups that have entered, or could enter next, are looked at.
//!
//! As long as a group has γ = 0, its z is what its residuals add up to: z = t·y − (S_i − S_j) with
//! S = Σ Δt θ, the scores added up over time. Groups that never entered so need no state of their own,
//! and no step has to touch them. Those that have entered once are kept side by side with their z.
//!
//! When can a group enter? In m steps z grows by at most m Δt (|r| + δ), as long as its residual
//! changes by no more than δ. That holds while no score is more than δ/4 away from where it was at
//! the last look at all groups. Such a look notes for each group the step before which it cannot
//! enter, and at that step the group is looked at again. After [`HORIZON`] steps, or when scores have
//! gone too far, all groups are looked at anew. What is found does not depend on when was looked.
//!
//! Cost of a step: the groups that have entered, those due (a few percent), and now and then a look
//! at all. State: 36 bytes for a group that has entered, 1 for any other, 4 more while it is noted.

use std::ops::Range;

use rayon::prelude::*;

use crate::communicator::{StateReader, StateWriter};
use crate::error::Result;
use crate::graph::{Chunk, Chunks, ComparisonGraph, Groups};
use crate::numeric::residual;
use crate::path::Change;

use super::{Outliers, Step, gather, shrink};

/// Steps between two looks at all groups, at most.
const HORIZON: usize = 10;
/// What changes of residuals may add to z within the horizon: δ = this / (HORIZON Δt).
const SLACK: f64 = 0.08;
/// Speeds are taken as larger by this share, for rounding.
const CAUTION: f64 = 1e-9;
/// Groups looked at side by side, for the processor to take several at once.
const BLOCK: usize = 8;

/// Those who have entered, and when the others could.
pub(super) struct WhoMoves<'a> {
    groups: &'a Groups,
    chunks: Chunks<State>,
    /// For each item its score and S.
    items: Vec<[f64; 2]>,
    /// The scores at the last look at all groups.
    looked_at: Vec<f64>,
    /// Steps since then.
    age: usize,
}

/// What a chunk keeps for its groups.
struct State {
    moved: Moved,
    has_moved: Vec<bool>,
    /// The groups to look at a number of steps after the last look at all.
    due: Vec<Vec<u32>>,
    /// Residual and z of those looked at.
    seen: Vec<(f64, f64)>,
    /// Those that enter in this step, with residual and z.
    entering: Vec<(u32, f64, f64)>,
    /// The group that never entered and had the largest |r| at the last look at all.
    witness: Option<u32>,
    changes: Vec<(u32, Change)>,
    /// The largest |y − Xθ − γ| seen in this step.
    largest: f64,
}

/// Groups that have entered, in order of entry.
#[derive(Default)]
struct Moved {
    group: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
    z: Vec<f64>,
}

impl Moved {
    /// Column by column: so that cache misses overlap.
    fn extend(&mut self, groups: &Groups, entering: impl Iterator<Item = (u32, f64)> + Clone) {
        let places = entering.clone().map(|(group, _)| group as usize);
        self.group.extend(entering.clone().map(|(group, _)| group));
        self.left.extend(places.clone().map(|g| groups.left[g]));
        self.right.extend(places.clone().map(|g| groups.right[g]));
        self.y.extend(places.clone().map(|g| groups.y[g]));
        self.weight.extend(places.map(|g| groups.weight[g]));
        self.z.extend(entering.map(|(_, z)| z));
    }
}

/// What a step looks at.
#[derive(Clone, Copy)]
struct Scene<'a> {
    groups: &'a Groups,
    items: &'a [[f64; 2]],
    step: Step,
    age: usize,
}

impl Scene<'_> {
    /// Residual and z of a group that never entered.
    #[inline]
    fn of(&self, g: usize) -> (f64, f64) {
        let [theta_i, sum_i] = self.items[self.groups.left[g] as usize];
        let [theta_j, sum_j] = self.items[self.groups.right[g] as usize];
        let y = self.groups.y[g];
        (residual(y, theta_i, theta_j), self.step.t * y - (sum_i - sum_j))
    }

    /// The most by which z can grow in a step, for |r| = 0 and for each unit of |r|.
    #[inline]
    fn speed(&self) -> (f64, f64) {
        let careful = 1.0 + CAUTION;
        (careful * SLACK / HORIZON as f64, careful * self.step.dt)
    }

    /// The age at which a group could enter, if that is within the horizon.
    #[inline]
    fn due(&self, r: f64, z: f64) -> Option<usize> {
        let (drift, dt) = self.speed();
        let steps = (1.0 - z.abs()) / (drift + dt * r.abs());
        let due = self.age + 1 + steps as usize;
        (due <= HORIZON).then_some(due)
    }
}

impl<'a> WhoMoves<'a> {
    pub(super) fn new(graph: &'a ComparisonGraph, theta: &[f64]) -> Self {
        let state = |range: Range<usize>| State {
            moved: Moved::default(),
            has_moved: vec![false; range.len()],
            due: vec![Vec::new(); HORIZON + 1],
            seen: Vec::new(),
            entering: Vec::new(),
            witness: None,
            changes: Vec::new(),
            largest: 0.0,
        };
        let groups = graph.groups();
        Self {
            groups,
            chunks: Chunks::new(graph.items(), groups, state),
            items: theta.iter().map(|&theta| [theta, 0.0]).collect(),
            looked_at: theta.to_vec(),
            age: HORIZON,
        }
    }

    /// S at the next step, and whether all groups have to be looked at there.
    fn move_on(&mut self, theta: &[f64], dt: f64) -> bool {
        for (item, &theta) in self.items.iter_mut().zip(theta) {
            *item = [theta, item[1] + dt * theta];
        }
        let limit = SLACK / (4.0 * HORIZON as f64 * dt);
        let is_near = |(now, then): (&f64, &f64)| (now - then).abs() <= limit;
        let near = theta.iter().zip(&self.looked_at).all(is_near);
        let at_all = self.age >= HORIZON || !near;
        if at_all {
            self.looked_at.copy_from_slice(theta);
        }
        self.age = if at_all { 0 } else { self.age + 1 };
        at_all
    }
}

impl Outliers for WhoMoves<'_> {
    fn skip_silent_start(&mut self, theta: &[f64], t: f64) {
        self.items.iter_mut().zip(theta).for_each(|(item, &theta)| *item = [theta, t * theta]);
    }

    /// The flow is XᵀW(γᵏ − γᵏ⁺¹).
    fn advance(
        &mut self,
        theta: &[f64],
        step: Step,
        flow: &mut [f64],
        changes: &mut Vec<(u32, Change)>,
    ) -> f64 {
        let at_all = self.move_on(theta, step.dt);
        let scene = Scene { groups: self.groups, items: &self.items, step, age: self.age };
        self.chunks.each(|chunk| {
            chunk.flow.fill(0.0);
            chunk.state.largest = 0.0;
            if at_all {
                look_at_all(chunk, scene);
            } else {
                look_at_due(chunk, scene);
            }
            advance_moved(chunk, scene);
            let_in(chunk, scene);
        });
        self.chunks.add_up(flow);
        let states = self.chunks.0.iter_mut().map(|chunk| &mut chunk.state);
        gather(states.map(|state| (&mut state.changes, state.largest)), changes)
    }

    fn largest_residual(&self, theta: &[f64], seen: f64) -> f64 {
        let of_chunk = |chunk: &Chunk<State>| {
            let quiet =
                chunk.groups.clone().zip(&chunk.state.has_moved).filter(|(_, moved)| !**moved);
            quiet.fold(0.0_f64, |most, (g, _)| most.max(self.groups.residual(theta, g).abs()))
        };
        seen.max(self.chunks.0.par_iter().map(of_chunk).reduce(|| 0.0, f64::max))
    }

    fn at(&self, kappa: f64) -> Vec<f64> {
        let mut gamma = vec![0.0; self.groups.len()];
        for Moved { group, z, .. } in self.chunks.0.iter().map(|chunk| &chunk.state.moved) {
            group.iter().zip(z).for_each(|(&g, &z)| gamma[g as usize] = kappa * shrink(z));
        }
        gamma
    }

    fn save(&self, state: &mut StateWriter) {
        state.numbers(self.items.iter().map(|[_, sum]| sum));
        for Moved { group, z, .. } in self.chunks.0.iter().map(|chunk| &chunk.state.moved) {
            state.indices(group);
            state.numbers(z.iter());
        }
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result<()> {
        let mut sums = vec![0.0; self.items.len()];
        state.numbers_into(&mut sums)?;
        self.items.iter_mut().zip(sums).for_each(|(item, sum)| item[1] = sum);
        for chunk in &mut self.chunks.0 {
            let entered = state.indices()?;
            let mut z = vec![0.0; entered.len()];
            state.numbers_into(&mut z)?;
            chunk.state.moved = Moved::default();
            for &g in &entered {
                let place = (g as usize).checked_sub(chunk.groups.start);
                let moved = place.and_then(|place| chunk.state.has_moved.get_mut(place));
                *moved.ok_or_else(|| state.unusable())? = true;
            }
            chunk.state.moved.extend(self.groups, entered.into_iter().zip(z));
        }
        self.age = HORIZON;
        Ok(())
    }
}

/// Looks at every group that never entered.
fn look_at_all(chunk: &mut Chunk<State>, scene: Scene<'_>) {
    let Chunk { groups: range, state, .. } = chunk;
    let State { has_moved, due, entering, witness, largest, .. } = state;
    due.iter_mut().for_each(Vec::clear);
    *witness = None;
    let (drift, dt) = scene.speed();
    let (drift, dt) = (drift * HORIZON as f64, dt * HORIZON as f64);
    let Scene { groups, items, step, .. } = scene;
    let (left, right) = (&groups.left[range.clone()], &groups.right[range.clone()]);
    let y = &groups.y[range.clone()];
    let (mut r, mut z, mut reach) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    for start in (0..y.len()).step_by(BLOCK) {
        let block = start..y.len().min(start + BLOCK);
        // Behind the last group stand old ones, whose reach counts twice and is not used.
        let ends = left[block.clone()].iter().zip(&right[block.clone()]);
        let outcomes = y[block.clone()].iter().zip(&has_moved[block.clone()]);
        for (((&i, &j), (&y, &has_moved)), (r, z)) in
            ends.zip(outcomes).zip(r.iter_mut().zip(&mut z))
        {
            let ([theta_i, sum_i], [theta_j, sum_j]) = (items[i as usize], items[j as usize]);
            // Those who have moved get zeros, by a product: whether they have cannot be foreseen.
            let never = f64::from(u8::from(!has_moved));
            *r = never * residual(y, theta_i, theta_j);
            *z = never * (step.t * y - (sum_i - sum_j));
        }
        let (mut most, mut nearest) = (0.0_f64, 0.0_f64);
        for ((r, z), reach) in r.iter().zip(&z).zip(&mut reach) {
            *reach = z.abs() + dt * r.abs() + drift;
            // Not `f64::max`, which has to mind what is no number.
            most = if r.abs() > most { r.abs() } else { most };
            nearest = if *reach > nearest { *reach } else { nearest };
        }
        if most > *largest {
            *largest = most;
            let place = r.iter().position(|r| r.abs() == most).unwrap_or(0);
            *witness = Some((range.start + start + place) as u32);
        }
        if nearest >= 1.0 {
            for (k, g) in block.enumerate().filter(|&(k, _)| reach[k] >= 1.0) {
                sort_in(due, entering, scene, (range.start + g) as u32, r[k], z[k]);
            }
        }
    }
}

/// Looks at the groups that could enter in this step, and at one with a large residual.
fn look_at_due(chunk: &mut Chunk<State>, scene: Scene<'_>) {
    let State { due, seen, entering, witness, largest, .. } = &mut chunk.state;
    let mut now = std::mem::take(&mut due[scene.age]);
    // All are fetched before any is judged: so that cache misses overlap.
    seen.clear();
    seen.extend(now.iter().map(|&g| scene.of(g as usize)));
    for (&g, &(r, z)) in now.iter().zip(&*seen) {
        *largest = largest.max(r.abs());
        sort_in(due, entering, scene, g, r, z);
    }
    now.clear();
    due[scene.age] = now;
    // The order of entry must not depend on when was looked.
    entering.sort_unstable_by_key(|&(group, ..)| group);
    if let Some(g) = *witness {
        *largest = largest.max(scene.of(g as usize).0.abs());
    }
}

/// Lets a group enter, or notes when it could.
#[inline]
fn sort_in(
    due: &mut [Vec<u32>],
    entering: &mut Vec<(u32, f64, f64)>,
    scene: Scene<'_>,
    group: u32,
    r: f64,
    z: f64,
) {
    if z.abs() > 1.0 {
        entering.push((group, r, z));
    } else if let Some(step) = scene.due(r, z) {
        due[step].push(group);
    }
}

/// zᵏ⁺¹ of the groups that have entered, who leaves and comes back, and XᵀW(γᵏ − γᵏ⁺¹).
fn advance_moved(chunk: &mut Chunk<State>, Scene { items, step, .. }: Scene<'_>) {
    let Chunk { state: State { moved, changes, largest, .. }, first, flow, .. } = chunk;
    let Moved { group, left, right, y, weight, z } = moved;
    let ends = left.iter().zip(&*right).zip(y.iter().zip(&*weight));
    for ((z, &group), ((&i, &j), (&y, &weight))) in z.iter_mut().zip(&*group).zip(ends) {
        let (i, j) = (i as usize, j as usize);
        let r = y - (items[i][0] - items[j][0]);
        let (old, gamma) = (*z, step.kappa * shrink(*z));
        let rest = r - gamma;
        *z = old + step.dt * rest;
        *largest = largest.max(rest.abs());
        let wf = weight * (gamma - step.kappa * shrink(*z));
        flow[i - *first] += wf;
        flow[j - *first] -= wf;
        let (was, is) = (old.abs() > 1.0, z.abs() > 1.0);
        if was != is {
            changes.push((group, if is { Change::Entered(r) } else { Change::Left }));
        }
    }
}

/// Puts those that enter beside those that have.
fn let_in(chunk: &mut Chunk<State>, Scene { groups, step, .. }: Scene<'_>) {
    let Chunk { groups: range, state, first, flow } = chunk;
    let State { moved, has_moved, entering, witness, changes, .. } = state;
    let known = moved.z.len();
    moved.extend(groups, entering.iter().map(|&(group, _, z)| (group, z)));
    let Moved { left, right, weight, .. } = moved;
    let ends = left[known..].iter().zip(&right[known..]).zip(&weight[known..]);
    for ((group, r, z), ((&i, &j), weight)) in entering.drain(..).zip(ends) {
        changes.push((group, Change::Entered(r)));
        has_moved[group as usize - range.start] = true;
        *witness = witness.filter(|&witness| witness != group);
        let wf = -weight * step.kappa * shrink(z);
        flow[i as usize - *first] += wf;
        flow[j as usize - *first] -= wf;
    }
}
