//! Which groups the next events have to look at.
//!
//! A scan of all groups, at scores θ₀ and time t₀, looks ahead by H. As long as no residual has changed
//! by more than δ, which holds if the changes θ − θ₀ of the scores differ by at most δ,
//!
//! - |p(t₀ + s)| ≤ |p + s r| + s δ. This is convex in s and below 1 at s = 0. So only groups with
//!   |p + H r| + H δ ≥ 1 can enter before t₀ + H: the candidates.
//! - Only flagged groups with r p ≤ δ can violate their sign constraint: they are watched.
//!
//! Events look at these groups only, and evaluate them exactly. All groups are scanned again when t₀ + H
//! is reached or the scores have changed too much, so that no event is missed and the path does not
//! depend on H and δ.
//!
//! With Q = P + Hθ, p + H r = (t + H) y − (Q_i − Q_j): a scan takes two numbers per group from the items.
//! H follows the number of candidates, which balances the cost of scans and of events.

use crate::graph::{Chunk, Chunks, ComparisonGraph, Groups};

use super::multipliers::Multipliers;
use super::scan::{Bound, Found, Scan};

/// δ t, where 1/t is the mean residual of a group that enters at time t. Larger values make scans
/// rarer if scores change fast, and lists longer.
const MAX_RELATIVE_CHANGE: f64 = 0.25;
/// H/t at the first event, and the smallest.
const FIRST_HORIZON: f64 = 1e-3;
const MIN_HORIZON: f64 = 1e-6;
/// Maximum factor between two values of H.
const MAX_HORIZON_FACTOR: f64 = 8.0;
/// Minimum number of candidates to aim at.
const MIN_TARGET: f64 = 8.0;
/// More candidates than this multiple of the target make H shrink at once.
const MAX_EXCESS: usize = 4;
/// Relative margin by which an event must precede t₀ + H, so that groups that enter together with it are
/// candidates, too.
const TIME_MARGIN: f64 = 1e-9;

/// Candidates and watched groups.
pub(super) struct ActiveSet {
    chunks: Chunks<Found>,
    /// θ₀, and δ; negative before the first scan.
    theta: Vec<f64>,
    max_change: f64,
    /// H, and t₀ + H.
    horizon: f64,
    until: f64,
    /// Q.
    ahead: Vec<f64>,
    target: usize,
    pub(super) candidates: Vec<u32>,
    pub(super) watched: Vec<u32>,
}

impl ActiveSet {
    pub(super) fn new(graph: &ComparisonGraph) -> Self {
        let groups = graph.groups();
        // The cost per event, groups/target + target, is smallest at the root.
        let target = (groups.len() as f64).sqrt().max(MIN_TARGET) as usize;
        Self {
            chunks: Chunks::new(graph.items(), groups, |_| Found::default()),
            theta: vec![0.0; graph.items()],
            max_change: -1.0,
            horizon: 0.0,
            until: 0.0,
            ahead: vec![0.0; graph.items()],
            target,
            candidates: Vec::new(),
            watched: Vec::new(),
        }
    }

    /// Whether the lists are complete at these scores.
    pub(super) fn covers(&self, theta: &[f64]) -> bool {
        let changes = || theta.iter().zip(&self.theta).map(|(theta, old)| theta - old);
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for change in changes() {
            // Not `f64::min`: its handling of NaN prevents vectorisation.
            least = if change < least { change } else { least };
            most = if change > most { change } else { most };
        }
        most - least <= self.max_change
    }

    /// Finds the next event: advances `multipliers` at most up to it and returns its time, or infinity
    /// if no group can enter any more. Afterwards all groups that enter there are candidates.
    pub(super) fn find_next_event(
        &mut self,
        multipliers: &mut Multipliers<'_>,
        flagged: &[bool],
        theta: &[f64],
        zero: f64,
    ) -> f64 {
        let next = multipliers.now + self.time_to_first_candidate(multipliers, theta, zero);
        if self.is_certain(next) {
            return next;
        }
        // At time 0 there is no scale for H yet.
        if multipliers.now > 0.0
            && let Some(next) = self.scan_for_next(multipliers, flagged, theta, zero)
        {
            return next;
        }
        let time = self.time_to_first(multipliers, theta, zero);
        if time.is_infinite() {
            return time;
        }
        multipliers.advance(theta, multipliers.now + time);
        loop {
            if let Some(next) = self.scan_for_next(multipliers, flagged, theta, zero) {
                return next;
            }
            // Rounding left the group that enters now outside the margin.
            self.horizon *= MAX_HORIZON_FACTOR;
        }
    }

    /// Scans all groups. Returns the time of the next event if it is before the new t₀ + H.
    fn scan_for_next(
        &mut self,
        multipliers: &Multipliers<'_>,
        flagged: &[bool],
        theta: &[f64],
        zero: f64,
    ) -> Option<f64> {
        self.scan(multipliers, flagged, theta);
        let time = self.time_to_first_candidate(multipliers, theta, zero);
        let next = multipliers.now + time;
        if !self.is_certain(next) {
            return None;
        }
        self.adapt_horizon(multipliers, theta, time);
        Some(next)
    }

    /// Whether the first candidate at `next` is the first of all groups.
    fn is_certain(&self, next: f64) -> bool {
        next * (1.0 + TIME_MARGIN) < self.until
    }

    /// Updates the lists and H if `theta` is too far from the scores of the last scan.
    pub(super) fn cover(&mut self, multipliers: &Multipliers<'_>, flagged: &[bool], theta: &[f64]) {
        if !self.covers(theta) {
            self.scan(multipliers, flagged, theta);
            self.horizon *= self.horizon_factor();
        }
    }

    fn scan(&mut self, multipliers: &Multipliers<'_>, flagged: &[bool], theta: &[f64]) {
        let now = multipliers.now;
        if self.horizon == 0.0 {
            self.horizon = FIRST_HORIZON * now;
        }
        self.horizon = self.horizon.max(MIN_HORIZON * now);
        self.until = now + self.horizon;
        self.max_change = MAX_RELATIVE_CHANGE / now;
        self.theta.copy_from_slice(theta);
        let horizon = self.horizon;
        let values = multipliers.integral.iter().zip(theta);
        self.ahead.iter_mut().zip(values).for_each(|(q, (sum, theta))| *q = sum + horizon * theta);
        let scan = Scan {
            multipliers,
            flagged,
            theta,
            ahead: &self.ahead,
            horizon,
            max_change: self.max_change,
        };
        self.chunks.each(|chunk| scan.run(chunk));
        self.candidates.clear();
        self.watched.clear();
        for chunk in &self.chunks.0 {
            self.candidates.extend(&chunk.state.candidates);
            self.watched.extend(&chunk.state.watched);
        }
    }

    /// Chooses H for the next scan. If there are far too many candidates, H shrinks at once, but not
    /// below twice the time to the next event.
    fn adapt_horizon(&mut self, multipliers: &Multipliers<'_>, theta: &[f64], time_to_next: f64) {
        if self.candidates.len() > MAX_EXCESS * self.target {
            let now = multipliers.now;
            let ratio = self.target as f64 / self.candidates.len() as f64;
            let horizon = (ratio * self.horizon).max(2.0 * time_to_next).max(MIN_HORIZON * now);
            if horizon < self.horizon {
                let bound = Bound::new(horizon, self.max_change);
                let groups = multipliers.groups;
                self.candidates.retain(|&g| {
                    let g = g as usize;
                    let p = multipliers.p(g) + horizon * groups.residual(theta, g);
                    bound.is_reached(p)
                });
                self.until = now + horizon;
                self.horizon = horizon;
                return;
            }
        }
        self.horizon *= self.horizon_factor();
    }

    /// By how much H should change to get the number of candidates aimed at.
    fn horizon_factor(&self) -> f64 {
        let ratio = self.target as f64 / self.candidates.len().max(1) as f64;
        ratio.clamp(1.0 / MAX_HORIZON_FACTOR, MAX_HORIZON_FACTOR)
    }

    /// Returns the time until the first candidate enters.
    fn time_to_first_candidate(
        &self,
        multipliers: &Multipliers<'_>,
        theta: &[f64],
        zero: f64,
    ) -> f64 {
        let groups = multipliers.groups;
        let time = |&g: &u32| {
            multipliers.time_to_enter(g as usize, groups.residual(theta, g as usize), zero)
        };
        self.candidates.iter().map(time).fold(f64::INFINITY, f64::min)
    }

    /// Returns the time until the first of all groups enters.
    fn time_to_first(&mut self, multipliers: &Multipliers<'_>, theta: &[f64], zero: f64) -> f64 {
        let groups = multipliers.groups;
        self.chunks.each(|chunk| {
            let mut first = f64::INFINITY;
            for g in chunk.groups.clone().filter(|&g| multipliers.is_inside(g)) {
                let r = groups.residual(theta, g);
                first = first.min(multipliers.time_to_enter(g, r, zero));
            }
            chunk.state.time_to_first = first;
        });
        self.chunks
            .0
            .iter()
            .fold(f64::INFINITY, |first, chunk| first.min(chunk.state.time_to_first))
    }

    /// Computes the flow XᵀWṗ of the trusted groups.
    pub(super) fn flow(
        &mut self,
        groups: &Groups,
        flagged: &[bool],
        theta: &[f64],
        out: &mut [f64],
    ) {
        self.chunks.each(|Chunk { groups: range, first, flow, .. }| {
            flow.fill(0.0);
            for g in range.clone().filter(|&g| !flagged[g]) {
                let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
                let wr = groups.weight[g] * groups.residual(theta, g);
                flow[i - *first] += wr;
                flow[j - *first] -= wr;
            }
        });
        self.chunks.add_up(out);
    }
}
