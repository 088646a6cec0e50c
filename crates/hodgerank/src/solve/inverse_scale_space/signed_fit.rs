//! Least squares with sign constraints, updated from one event to the next.

use std::collections::BTreeMap;

use super::inliers::Inliers;
use super::outcome_scale::OutcomeScale;
use super::pass::{self, MultiplierState};
use crate::graph::{Chunks, ComparisonGraph};
use crate::path::Change;

/// Residuals up to this fraction of the largest trusted outcome count as zero.
const ZERO_RESIDUAL_RATIO: f64 = 1e-9;
/// Relative difference in time up to which two entries are one event.
const EVENT_TIME_TOLERANCE: f64 = 1e-10;
/// Fraction of a step up to which two sign changes count as simultaneous.
const SIGN_CHANGE_TOLERANCE: f64 = 1e-9;
/// Maximum entry of XᵀWṗ relative to the mean of Σ w|y| per item, over the trusted votes. A fit with a
/// larger one is refined.
const MAX_DRIFT_RATIO: f64 = 1e-11;
const MAX_REFINEMENTS: usize = 3;
/// Maximum number of rounds of flagging and trusting groups at one event. Each decreases the loss, so
/// the loop terminates; usually a handful is enough.
const MAX_ROUNDS: usize = 10_000;

/// How the computation of a new fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FitOutcome {
    /// All optimality conditions hold.
    Fitted,
    /// The trusted groups no longer connect the items.
    Disconnected,
    /// [`MAX_ROUNDS`] was reached.
    RoundLimit,
}

/// θ, the flagged groups and p.
pub(super) struct SignedFit<'a> {
    pub(super) graph: &'a ComparisonGraph,
    pub(super) theta: Vec<f64>,
    /// θ before the last event.
    pub(super) last_theta: Vec<f64>,
    inliers: Inliers<'a>,
    chunks: Chunks<MultiplierState>,
    scale: OutcomeScale,
    max_drift_ratio: f64,
    /// Residuals up to this size count as zero.
    zero: f64,
    /// Entries of XᵀWṗ up to this size count as zero.
    max_drift: f64,
    /// Whether each group that the last event changed was flagged before it.
    was_flagged: BTreeMap<u32, bool>,
    /// Right-hand side and solution of the linear system for a change of θ.
    b: Vec<f64>,
    change: Vec<f64>,
    /// See [`SignedFit::resolve_event`].
    trial: Vec<f64>,
}

impl<'a> SignedFit<'a> {
    /// Starts without flagged groups at p = 0; `theta` is the fit of all votes.
    pub(super) fn start(graph: &'a ComparisonGraph, theta: Vec<f64>, tolerance: f64) -> Self {
        let groups = graph.groups();
        let zeros = vec![0.0; graph.items()];
        let mut new = Self {
            graph,
            last_theta: theta.clone(),
            theta,
            inliers: Inliers::all(graph, tolerance),
            chunks: Chunks::new(graph.items(), groups, MultiplierState::new),
            scale: OutcomeScale::new(groups),
            max_drift_ratio: MAX_DRIFT_RATIO.max(tolerance / 10.0),
            zero: 0.0,
            max_drift: 0.0,
            was_flagged: BTreeMap::new(),
            b: zeros.clone(),
            change: zeros.clone(),
            trial: zeros,
        };
        new.set_tolerances();
        new.evaluate();
        new
    }

    fn set_tolerances(&mut self) {
        self.zero = ZERO_RESIDUAL_RATIO * self.scale.largest();
        let mean = self.scale.total() / self.graph.items().max(1) as f64;
        self.max_drift = self.max_drift_ratio * mean;
    }

    fn set_flag(&mut self, g: usize, flagged: bool) {
        if flagged {
            self.inliers.flag(g);
        } else {
            self.inliers.trust(g);
        }
        if self.scale.set_flag(self.graph.groups(), g, flagged) {
            self.set_tolerances();
        }
    }

    pub(super) fn time_to_next_event(&self) -> f64 {
        self.chunks.0.iter().fold(f64::INFINITY, |next, chunk| chunk.state.time_to_next.min(next))
    }

    /// Advances p from time `t` to `next`. Returns the groups that enter there, with their residuals.
    pub(super) fn advance(&mut self, t: f64, next: f64) -> Vec<(u32, f64)> {
        let zero = self.zero;
        self.chunks.each(|chunk| pass::advance(chunk, next - t, EVENT_TIME_TOLERANCE * next, zero));
        self.collect(|state| &state.entering)
    }

    /// Computes the fit without the groups `entering`, subject to the sign constraints.
    ///
    /// At the start of a round `theta` satisfies the sign constraints and `trial` is the unconstrained
    /// fit of the trusted groups.
    pub(super) fn resolve_event(&mut self, entering: &[(u32, f64)]) -> FitOutcome {
        self.was_flagged.clear();
        self.last_theta.copy_from_slice(&self.theta);
        if !self.flag_all(entering) {
            return FitOutcome::Disconnected;
        }
        for _ in 0..MAX_ROUNDS {
            std::mem::swap(&mut self.theta, &mut self.trial);
            self.evaluate_refined();
            let violated = self.collect(|state| &state.violated);
            if !violated.is_empty() {
                self.trust_first_violated(&violated);
                continue;
            }
            let outward = self.collect(|state| &state.outward);
            if outward.is_empty() {
                self.graph.components().centre(&mut self.theta);
                return FitOutcome::Fitted;
            }
            if !self.flag_all(&outward) {
                return FitOutcome::Disconnected;
            }
        }
        FitOutcome::RoundLimit
    }

    /// Flags groups and computes the fit without them from `theta` into `trial`. Removing them leaves
    /// XᵀWr = −Σ w r x, so θ changes by −M Σ w r x. Returns false if the fit is not unique.
    fn flag_all(&mut self, groups: &[(u32, f64)]) -> bool {
        let columns = self.graph.groups();
        self.b.fill(0.0);
        for &(g, r) in groups {
            self.was_flagged.entry(g).or_insert(false);
            let g = g as usize;
            self.set_flag(g, true);
            self.b[columns.left[g] as usize] -= columns.weight[g] * r;
            self.b[columns.right[g] as usize] += columns.weight[g] * r;
        }
        let connected = self.inliers.are_connected();
        if connected {
            self.update_trial();
        }
        connected
    }

    /// Moves from `trial`, which satisfies the sign constraints, towards `theta` until the first of these
    /// constraints becomes active, and trusts its groups again. `theta` becomes that point and `trial`
    /// the new unconstrained fit.
    fn trust_first_violated(&mut self, violated: &[(u32, f64)]) {
        let columns = self.graph.groups();
        let residual = |theta: &[f64], g: usize| {
            columns.y[g] - (theta[columns.left[g] as usize] - theta[columns.right[g] as usize])
        };
        let fraction = |&(g, sign): &(u32, f64)| {
            let ends = [&self.trial, &self.theta].map(|theta| sign * residual(theta, g as usize));
            (ends[0] / (ends[0] - ends[1])).clamp(0.0, 1.0)
        };
        let first = violated.iter().map(fraction).fold(1.0, f64::min);
        let trusted: Vec<u32> = violated
            .iter()
            .filter(|b| fraction(b) <= first + SIGN_CHANGE_TOLERANCE)
            .map(|&(g, _)| g)
            .collect();
        let ends = self.theta.iter_mut().zip(&self.trial);
        ends.for_each(|(to, from)| *to = from + first * (*to - from));
        for g in trusted {
            self.was_flagged.entry(g).or_insert(true);
            self.set_flag(g as usize, false);
        }
        self.evaluate();
        self.chunks.add_up(&mut self.b);
        self.update_trial();
    }

    /// trial = θ + M b.
    fn update_trial(&mut self) {
        self.inliers.solve(&self.b, &mut self.change);
        let sums = self.theta.iter().zip(&self.change);
        self.trial
            .iter_mut()
            .zip(sums)
            .for_each(|(trial, (theta, change))| *trial = theta + change);
    }

    /// Evaluates the groups at θ, after corrections θ ← θ + M XᵀWṗ until drift is negligible.
    fn evaluate_refined(&mut self) {
        for _ in 0..MAX_REFINEMENTS {
            self.evaluate();
            self.chunks.add_up(&mut self.b);
            if self.b.iter().all(|b| b.abs() <= self.max_drift) {
                return;
            }
            self.inliers.solve(&self.b, &mut self.change);
            self.theta.iter_mut().zip(&self.change).for_each(|(theta, change)| *theta += change);
        }
        self.evaluate();
    }

    fn evaluate(&mut self) {
        let (groups, flagged) = (self.graph.groups(), &self.inliers.flagged);
        let (theta, zero) = (&self.theta, self.zero);
        self.chunks.each(|chunk| pass::evaluate(chunk, groups, flagged, theta, zero));
    }

    fn collect(&self, list: impl Fn(&MultiplierState) -> &Vec<(u32, f64)>) -> Vec<(u32, f64)> {
        self.chunks.0.iter().flat_map(|chunk| list(&chunk.state)).copied().collect()
    }

    /// Returns the groups that left, then those that entered at the last event, larger residuals first.
    pub(super) fn changes(&self) -> Vec<(u32, Change)> {
        let groups = self.graph.groups();
        let (mut changes, mut entered) = (Vec::new(), Vec::new());
        for (&group, &was_flagged) in &self.was_flagged {
            let g = group as usize;
            let ends = (groups.left[g] as usize, groups.right[g] as usize);
            let r = groups.y[g] - (self.theta[ends.0] - self.theta[ends.1]);
            match (was_flagged, self.inliers.flagged[g]) {
                (true, false) => changes.push((group, Change::Left)),
                (false, true) => entered.push((group, r)),
                _ => {}
            }
        }
        entered.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        changes.extend(entered.into_iter().map(|(group, r)| (group, Change::Entered(r))));
        changes
    }
}
