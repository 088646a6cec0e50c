//! Least squares with signs, from one event to the next.

use std::collections::BTreeMap;

use super::inliers::Inliers;
use super::sweep::{self, State};
use crate::graph::{Chunks, ComparisonGraph};
use crate::numeric::largest_magnitude;
use crate::path::Change;

/// Residuals below this share of the largest outcome are zero.
const ZERO: f64 = 1e-9;
/// Events within this share of the time are one event.
const SAME_TIME: f64 = 1e-10;
/// Signs that break within this share of a step break together.
const SAME_PLACE: f64 = 1e-9;
/// XᵀWṗ above this share of Σ|XᵀWy| is drift: the fit is refined, at most so many times.
const DRIFT: f64 = 1e-11;
const MAX_REFINEMENTS: usize = 3;
/// Rounds of dropping and trusting again at one event. The loss falls with each, so that they end;
/// a handful is usual.
const MAX_ROUNDS: usize = 10_000;

/// How the search for the new fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Fitted,
    Disconnected,
    NotSettled,
}

/// θ, the flagged groups and p.
pub(super) struct Fit<'a> {
    pub(super) graph: &'a ComparisonGraph,
    pub(super) theta: Vec<f64>,
    /// θ before the last event.
    pub(super) last_theta: Vec<f64>,
    inliers: Inliers<'a>,
    chunks: Chunks<State>,
    zero: f64,
    drift: f64,
    /// Whether each group touched by the last event was flagged before it.
    before: BTreeMap<u32, bool>,
    b: Vec<f64>,
    change: Vec<f64>,
    trial: Vec<f64>,
}

impl<'a> Fit<'a> {
    /// Nothing flagged, p = 0; `theta` is the fit of all votes.
    pub(super) fn start(graph: &'a ComparisonGraph, theta: Vec<f64>, tolerance: f64) -> Self {
        let groups = graph.groups();
        let zeros = vec![0.0; graph.items()];
        let largest = largest_magnitude(&groups.y);
        let total: f64 = groups.y.iter().zip(&groups.weight).map(|(y, w)| y.abs() * w).sum();
        let mut new = Self {
            graph,
            last_theta: theta.clone(),
            theta,
            inliers: Inliers::all(graph, tolerance),
            chunks: Chunks::new(graph.items(), groups, State::new),
            zero: ZERO * largest,
            drift: DRIFT.max(tolerance / 10.0) * total / graph.items().max(1) as f64,
            before: BTreeMap::new(),
            b: zeros.clone(),
            change: zeros.clone(),
            trial: zeros,
        };
        new.sweep();
        new
    }

    pub(super) fn time_to_next_event(&self) -> f64 {
        self.chunks.0.iter().fold(f64::INFINITY, |next, chunk| chunk.state.next.min(next))
    }

    /// p from time `t` to `next`; the groups that enter there, and their residuals.
    pub(super) fn advance(&mut self, t: f64, next: f64) -> Vec<(u32, f64)> {
        let zero = self.zero;
        self.chunks.each(|chunk| sweep::advance(chunk, next - t, SAME_TIME * next, zero));
        self.found(|state| &state.entering)
    }

    /// The fit without the groups `entering`, and with the right signs.
    pub(super) fn settle(&mut self, entering: &[(u32, f64)]) -> Outcome {
        self.before.clear();
        self.last_theta.copy_from_slice(&self.theta);
        if !self.drop_all(entering) {
            return Outcome::Disconnected;
        }
        for _ in 0..MAX_ROUNDS {
            // `theta` has the right signs, `trial` is the fit of all groups in use.
            std::mem::swap(&mut self.theta, &mut self.trial);
            self.sweep_refined();
            let broken = self.found(|state| &state.broken);
            if !broken.is_empty() {
                self.trust_first_broken(&broken);
                continue;
            }
            let outward = self.found(|state| &state.outward);
            if outward.is_empty() {
                self.graph.components().centre(&mut self.theta);
                return Outcome::Fitted;
            }
            if !self.drop_all(&outward) {
                return Outcome::Disconnected;
            }
        }
        Outcome::NotSettled
    }

    /// Drops groups from the fit `theta`; `trial` is the fit without them, unless that is not
    /// unique. Without them XᵀWr is minus what they held: θ changes by −M Σ w r x.
    fn drop_all(&mut self, groups: &[(u32, f64)]) -> bool {
        let columns = self.graph.groups();
        self.b.fill(0.0);
        for &(g, r) in groups {
            self.before.entry(g).or_insert(false);
            let g = g as usize;
            self.inliers.remove(g);
            self.b[columns.left[g] as usize] -= columns.weight[g] * r;
            self.b[columns.right[g] as usize] += columns.weight[g] * r;
        }
        let connected = self.inliers.connected();
        if connected {
            self.try_change();
        }
        connected
    }

    /// Goes from `trial`, which has the right signs, towards `theta` to the place where the first
    /// of these signs breaks, and takes those groups back into use. `trial` is then the new fit.
    fn trust_first_broken(&mut self, broken: &[(u32, f64)]) {
        let columns = self.graph.groups();
        let place = |&(g, sign): &(u32, f64)| {
            let ends =
                [&self.trial, &self.theta].map(|theta| sign * columns.residual(theta, g as usize));
            (ends[0] / (ends[0] - ends[1])).clamp(0.0, 1.0)
        };
        let first = broken.iter().map(place).fold(1.0, f64::min);
        let back: Vec<u32> =
            broken.iter().filter(|b| place(b) <= first + SAME_PLACE).map(|&(g, _)| g).collect();
        let ends = self.theta.iter_mut().zip(&self.trial);
        ends.for_each(|(to, from)| *to = from + first * (*to - from));
        for g in back {
            self.before.entry(g).or_insert(true);
            self.inliers.restore(g as usize);
        }
        self.sweep();
        self.chunks.add_up(&mut self.b);
        self.try_change();
    }

    /// trial = θ + M b.
    fn try_change(&mut self) {
        self.inliers.solve(&self.b, &mut self.change);
        let sums = self.theta.iter().zip(&self.change);
        self.trial
            .iter_mut()
            .zip(sums)
            .for_each(|(trial, (theta, change))| *trial = theta + change);
    }

    /// A sweep at θ, after as many corrections θ ← θ + M XᵀWṗ as it takes to be rid of drift.
    fn sweep_refined(&mut self) {
        for _ in 0..MAX_REFINEMENTS {
            self.sweep();
            self.chunks.add_up(&mut self.b);
            if self.b.iter().all(|b| b.abs() <= self.drift) {
                return;
            }
            self.inliers.solve(&self.b, &mut self.change);
            self.theta.iter_mut().zip(&self.change).for_each(|(theta, change)| *theta += change);
        }
        self.sweep();
    }

    fn sweep(&mut self) {
        let (groups, flagged) = (self.graph.groups(), &self.inliers.flagged);
        let (theta, zero) = (&self.theta, self.zero);
        self.chunks.each(|chunk| sweep::sweep(chunk, groups, flagged, theta, zero));
    }

    fn found(&self, list: impl Fn(&State) -> &Vec<(u32, f64)>) -> Vec<(u32, f64)> {
        self.chunks.0.iter().flat_map(|chunk| list(&chunk.state)).copied().collect()
    }

    /// What the last event changed in the set of outliers, larger residuals first.
    pub(super) fn changes(&self) -> Vec<(u32, Change)> {
        let groups = self.graph.groups();
        let (mut changes, mut entered) = (Vec::new(), Vec::new());
        for (&group, &before) in &self.before {
            let g = group as usize;
            let ends = (groups.left[g] as usize, groups.right[g] as usize);
            let r = groups.y[g] - (self.theta[ends.0] - self.theta[ends.1]);
            match (before, self.inliers.flagged[g]) {
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
