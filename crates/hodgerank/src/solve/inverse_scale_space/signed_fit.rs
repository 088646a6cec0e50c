//! Least squares with sign constraints, updated from one event to the next.

use std::collections::BTreeMap;

use super::active_set::ActiveSet;
use super::inliers::Inliers;
use super::multipliers::Multipliers;
use super::outcome_scale::OutcomeScale;
use crate::graph::ComparisonGraph;
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
/// Drift is checked at every fit of a small study. A fit may go unchecked for each so many groups, up to
/// this number of fits: a check is a pass over all groups.
const GROUPS_PER_UNCHECKED_FIT: usize = 2048;
const MAX_UNCHECKED_FITS: usize = 128;
/// It is also checked when rounding errors may have grown by this factor.
const MAX_ERROR_GROWTH: f64 = 16.0;
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
    multipliers: Multipliers<'a>,
    active_set: ActiveSet,
    /// Trusted groups with |p| = 1.
    at_bound: Vec<u32>,
    scale: OutcomeScale,
    max_drift_ratio: f64,
    /// Residuals up to this size count as zero.
    zero: f64,
    /// Entries of XᵀWṗ up to this size count as zero.
    max_drift: f64,
    /// Fits since drift was checked, and how many may pass.
    unchecked_fits: usize,
    max_unchecked_fits: usize,
    /// Whether each group that the last event changed was flagged before it.
    was_flagged: BTreeMap<u32, bool>,
    /// XᵀWṗ at θ as far as it is known, and the solution of the linear system for a change of θ.
    flow: Vec<f64>,
    change: Vec<f64>,
    /// See [`SignedFit::resolve_event`].
    trial: Vec<f64>,
    /// XᵀWṗ at the point from which the last unconstrained fit was computed.
    start_flow: Vec<f64>,
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
            multipliers: Multipliers::new(graph.items(), groups),
            active_set: ActiveSet::new(graph),
            at_bound: Vec::new(),
            scale: OutcomeScale::new(groups),
            max_drift_ratio: MAX_DRIFT_RATIO.max(tolerance / 10.0),
            zero: 0.0,
            max_drift: 0.0,
            unchecked_fits: 0,
            max_unchecked_fits: (groups.len() / GROUPS_PER_UNCHECKED_FIT).min(MAX_UNCHECKED_FITS),
            was_flagged: BTreeMap::new(),
            flow: zeros.clone(),
            change: zeros.clone(),
            trial: zeros.clone(),
            start_flow: zeros,
        };
        new.set_tolerances();
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
            self.active_set.watched.push(g as u32);
        } else {
            self.inliers.trust(g);
            self.at_bound.push(g as u32);
        }
        if self.scale.set_flag(self.graph.groups(), g, flagged) {
            self.set_tolerances();
        }
    }

    fn residual(&self, g: u32) -> f64 {
        self.graph.groups().residual(&self.theta, g as usize)
    }

    /// Returns the time of the next event; infinity if there is none.
    pub(super) fn next_event(&mut self) -> f64 {
        let Self { active_set, multipliers, inliers, theta, zero, .. } = self;
        active_set.find_next_event(multipliers, &inliers.flagged, theta, *zero)
    }

    /// Advances p to the time `next` of the next event. Returns the groups that enter there, with their
    /// residuals.
    pub(super) fn advance(&mut self, next: f64) -> Vec<(u32, f64)> {
        let (now, zero) = (self.multipliers.now, self.zero);
        let latest = next - now + EVENT_TIME_TOLERANCE * next;
        let candidates = self.active_set.candidates.iter().map(|&g| (g, self.residual(g)));
        let enters =
            |&(g, r): &(u32, f64)| self.multipliers.time_to_enter(g as usize, r, zero) <= latest;
        let entering = sorted(candidates.filter(enters).collect());
        self.multipliers.advance(&self.theta, next);
        entering.iter().for_each(|&(g, r)| self.multipliers.enter(g as usize, r > 0.0));
        let multipliers = &self.multipliers;
        self.active_set.candidates.retain(|&g| multipliers.is_inside(g as usize));
        entering
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
            self.refine();
            self.active_set.cover(&self.multipliers, &self.inliers.flagged, &self.theta);
            let violated = self.violated();
            if !violated.is_empty() {
                self.trust_first_violated(&violated);
                continue;
            }
            let outward = self.outward();
            if outward.is_empty() {
                self.graph.components().centre(&mut self.theta);
                self.release_inward();
                return FitOutcome::Fitted;
            }
            if !self.flag_all(&outward) {
                return FitOutcome::Disconnected;
            }
        }
        FitOutcome::RoundLimit
    }

    /// Returns the flagged groups that violate γ p ≥ 0, with p.
    fn violated(&self) -> Vec<(u32, f64)> {
        let watched = self.active_set.watched.iter().filter(|&&g| self.inliers.flagged[g as usize]);
        let with_p = watched.map(|&g| (g, self.multipliers.p(g as usize)));
        sorted(with_p.filter(|&(g, p)| p * self.residual(g) < -self.zero).collect())
    }

    /// Returns the trusted groups with |p| = 1 and r p > 0, with their residuals.
    fn outward(&self) -> Vec<(u32, f64)> {
        let with_r = self.at_bound.iter().map(|&g| (g, self.residual(g)));
        sorted(with_r.filter(|&(g, r)| self.multipliers.p(g as usize) * r > self.zero).collect())
    }

    /// Lets the multipliers of trusted groups move inwards from ±1 where their residuals require it.
    fn release_inward(&mut self) {
        let at_bound = std::mem::take(&mut self.at_bound);
        for g in at_bound {
            if self.multipliers.p(g as usize) * self.residual(g) < -self.zero {
                self.multipliers.release(g as usize);
                self.active_set.candidates.push(g);
            } else {
                self.at_bound.push(g);
            }
        }
    }

    /// Flags groups and computes the fit without them from `theta` into `trial`. Removing them leaves
    /// XᵀWr = −Σ w r x, so θ changes by −M Σ w r x. Returns false if the fit is not unique.
    fn flag_all(&mut self, groups: &[(u32, f64)]) -> bool {
        let columns = self.graph.groups();
        for &(g, r) in groups {
            self.was_flagged.entry(g).or_insert(false);
            let g = g as usize;
            self.set_flag(g, true);
            self.flow[columns.left[g] as usize] -= columns.weight[g] * r;
            self.flow[columns.right[g] as usize] += columns.weight[g] * r;
        }
        let flagged = &self.inliers.flagged;
        self.at_bound.retain(|&g| !flagged[g as usize]);
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
        let fraction = |&(g, sign): &(u32, f64)| {
            let ends = [&self.trial, &self.theta];
            let [from, to] = ends.map(|theta| sign * columns.residual(theta, g as usize));
            (from / (from - to)).clamp(0.0, 1.0)
        };
        let first = violated.iter().map(fraction).fold(1.0, f64::min);
        let trusted: Vec<u32> = violated
            .iter()
            .filter(|b| fraction(b) <= first + SIGN_CHANGE_TOLERANCE)
            .map(|&(g, _)| g)
            .collect();
        let ends = self.theta.iter_mut().zip(&self.trial);
        ends.for_each(|(to, from)| *to = from + first * (*to - from));
        // The flow of the trusted groups is linear between the two points.
        let flows = self.flow.iter_mut().zip(&self.start_flow);
        flows.for_each(|(to, from)| *to = from + first * (*to - from));
        for g in trusted {
            self.was_flagged.entry(g).or_insert(true);
            let r = self.residual(g);
            let g = g as usize;
            self.set_flag(g, false);
            self.flow[columns.left[g] as usize] += columns.weight[g] * r;
            self.flow[columns.right[g] as usize] -= columns.weight[g] * r;
        }
        self.update_trial();
    }

    /// trial = θ + M·flow. Afterwards `flow` is that at the trial point.
    fn update_trial(&mut self) {
        self.start_flow.copy_from_slice(&self.flow);
        self.trial.copy_from_slice(&self.theta);
        for _ in 0..MAX_REFINEMENTS {
            self.inliers.solve(&mut self.flow, &mut self.change);
            self.trial.iter_mut().zip(&self.change).for_each(|(trial, change)| *trial += change);
            if self.flow_is_negligible() {
                return;
            }
        }
    }

    fn flow_is_negligible(&self) -> bool {
        self.flow.iter().all(|flow| flow.abs() <= self.max_drift)
    }

    /// From time to time, corrects θ ← θ + M XᵀWṗ until drift is negligible.
    fn refine(&mut self) {
        self.unchecked_fits += 1;
        let is_due = self.unchecked_fits >= self.max_unchecked_fits
            || self.inliers.error_growth() > MAX_ERROR_GROWTH;
        if !is_due {
            return;
        }
        self.unchecked_fits = 0;
        for refinement in 0..MAX_REFINEMENTS {
            let (groups, flagged) = (self.graph.groups(), &self.inliers.flagged);
            self.active_set.flow(groups, flagged, &self.theta, &mut self.flow);
            let is_negligible = self.flow_is_negligible();
            if refinement == 0 {
                self.inliers.report_accuracy(is_negligible);
            }
            if is_negligible {
                break;
            }
            self.inliers.solve(&mut self.flow, &mut self.change);
            self.theta.iter_mut().zip(&self.change).for_each(|(theta, change)| *theta += change);
        }
        self.flow.fill(0.0);
    }

    /// Returns the groups that left, then those that entered at the last event, larger residuals first.
    pub(super) fn changes(&self) -> Vec<(u32, Change)> {
        let (mut changes, mut entered) = (Vec::new(), Vec::new());
        for (&group, &was_flagged) in &self.was_flagged {
            match (was_flagged, self.inliers.flagged[group as usize]) {
                (true, false) => changes.push((group, Change::Left)),
                (false, true) => entered.push((group, self.residual(group))),
                _ => {}
            }
        }
        entered.sort_by(|(_, a), (_, b)| b.abs().total_cmp(&a.abs()));
        changes.extend(entered.into_iter().map(|(group, r)| (group, Change::Entered(r))));
        changes
    }
}

/// Groups in ascending order, each once: the order must not depend on when all groups were scanned.
fn sorted(mut groups: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    groups.sort_unstable_by_key(|&(g, _)| g);
    groups.dedup_by_key(|(g, _)| *g);
    groups
}
