//! The exact path: a homotopy from knot to knot.
//!
//! With inliers I, outliers O and s = XᵀW_O sign(r), optimality reads L_I θ = XᵀW_I y + λs. While I
//! and O do not change, λ → λ − h gives
//!
//!   θ → θ − hv,   v = L_I† s,   r → r + hu,   u = Xv.
//!
//! With σ = sign(r), |r| − λ grows at the rate q = 1 + σu. An inlier reaches λ after h = (λ − σr)/q,
//! for either σ with q > 0, and an outlier after h = (σr − λ)/(−q) if q < 0. The smallest h gives the
//! next knot. There the groups with |r| = λ (ties) have to be assigned to I and O again: q ≥ 0 for
//! outliers, q ≤ 0 for inliers. Often a single group switches; with ±1 votes on a symmetric graph
//! many do. The assignment is a linear complementarity problem with a positive (semi-)definite
//! matrix, which Murty's rule solves: repeatedly switch the misassigned group with the smallest index.
//! A bridge of the inlier graph stays an inlier: its |r| decreases along with λ (see [`super`]).
//!
//! Cost per knot: a pass over the groups, and n² for each group that switches.

use super::inlier_inverse::{InlierInverse, RankOneUpdate};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::path::{Change, Path, Recorder, StopAt};
use crate::status::Status;

/// Rates q up to this size count as zero.
const RATE_TOLERANCE: f64 = 1e-9;
/// Differences between |r| and λ up to this fraction of λ_max count as zero.
const TIE_TOLERANCE: f64 = 1e-10;
/// The path ends where λ is this fraction of λ_max.
const END_LAMBDA_RATIO: f64 = 1e-9;
/// Maximum number of rank-one updates between two factorisations.
const MAX_UPDATES: usize = 64;
/// Maximum number of consecutive knots at which λ does not decrease.
const MAX_STALLED_KNOTS: usize = 20;

/// A point of the path and the direction of the next segment.
struct PathState<'a> {
    graph: &'a ComparisonGraph,
    inverse: InlierInverse,
    /// Updates of `inverse` since the last factorisation.
    updates: usize,
    lambda: f64,
    theta: Vec<f64>,
    r: Vec<f64>,
    v: Vec<f64>,
    /// sign(r) for outliers, 0 for inliers.
    sign: Vec<f64>,
}

/// Follows the path down from λ_max, for at most `max_knots` knots.
pub(super) fn compute_path(
    graph: &ComparisonGraph,
    start: &[f64],
    lambda_max: f64,
    max_knots: usize,
    mut recorder: Recorder,
    stop: StopAt,
) -> Result<Path> {
    let groups = graph.groups();
    let smallest = END_LAMBDA_RATIO * lambda_max;
    // Below `smallest`, ties cannot be told from rounding errors: a requested λ is not reached.
    let end = if let StopAt::Value(value) = stop { value.max(smallest) } else { 0.0 };
    let mut state = PathState::new(graph, start, lambda_max)?;
    let mut stalled_knots = 0;
    for _ in 0..max_knots {
        let previous_sign = state.sign.clone();
        if !state.resolve_ties(TIE_TOLERANCE * lambda_max) || stalled_knots > MAX_STALLED_KNOTS {
            return Ok(recorder.finish(Status::Disconnected, stop));
        }
        let changes = changes(&previous_sign, &state);
        if !changes.is_empty() {
            recorder.record_knot(state.lambda, &state.theta, changes, groups);
            if recorder.reached(stop) {
                return Ok(recorder.finish(Status::Complete, stop));
            }
        }
        if state.needs_refactor() && state.refactor().is_err() {
            return Ok(recorder.finish(Status::Disconnected, stop));
        }
        let h = state.distance_to_next_knot(TIE_TOLERANCE * lambda_max);
        if state.lambda - h <= end.max(smallest) {
            state.advance(state.lambda - end);
            // The difference rounds.
            state.lambda = end;
            recorder.record_knot(state.lambda, &state.theta, [], groups);
            return Ok(recorder.finish(Status::Complete, stop));
        }
        stalled_knots = if h > TIE_TOLERANCE * lambda_max { 0 } else { stalled_knots + 1 };
        state.advance(h);
    }
    Ok(recorder.finish(Status::IterationLimit, stop))
}

impl<'a> PathState<'a> {
    fn new(graph: &'a ComparisonGraph, start: &[f64], lambda: f64) -> Result<Self> {
        let m = graph.groups().len();
        let mut state = Self {
            graph,
            inverse: InlierInverse::new(graph, |_| true)?,
            updates: 0,
            lambda,
            theta: start.to_vec(),
            r: vec![0.0; m],
            v: vec![0.0; graph.items()],
            sign: vec![0.0; m],
        };
        state.advance(0.0);
        Ok(state)
    }

    /// Moves along the current segment: λ → λ − h.
    fn advance(&mut self, h: f64) {
        self.lambda -= h;
        for (theta, v) in self.theta.iter_mut().zip(&self.v) {
            *theta -= h * v;
        }
        self.graph.components().centre(&mut self.theta);
        for (g, r) in self.r.iter_mut().enumerate() {
            *r = self.graph.groups().residual(&self.theta, g);
        }
    }

    /// u_g = (Xv)_g.
    fn u(&self, g: usize) -> f64 {
        let groups = self.graph.groups();
        self.v[groups.left[g] as usize] - self.v[groups.right[g] as usize]
    }

    /// Returns by how much λ can decrease before a group reaches |r| = λ.
    fn distance_to_next_knot(&self, tie_tolerance: f64) -> f64 {
        let mut h = f64::INFINITY;
        for (g, (&r, &sign)) in self.r.iter().zip(&self.sign).enumerate() {
            let u = self.u(g);
            let distance = if sign != 0.0 {
                let q = 1.0 + sign * u;
                if q < -RATE_TOLERANCE { (sign * r - self.lambda) / -q } else { f64::INFINITY }
            } else {
                let distance_to = |sigma: f64| {
                    let (q, gap) = (1.0 + sigma * u, self.lambda - sigma * r);
                    // A group that is an inlier with |r| = λ stays there while λ decreases.
                    if q > RATE_TOLERANCE && gap > tie_tolerance { gap / q } else { f64::INFINITY }
                };
                distance_to(1.0).min(distance_to(-1.0))
            };
            h = h.min(distance.max(0.0));
        }
        h
    }

    /// Assigns the groups with |r| = λ to inliers and outliers by Murty's rule. Returns false if the
    /// iteration limit is reached.
    fn resolve_ties(&mut self, tie_tolerance: f64) -> bool {
        let ties = |&g: &usize| (self.r[g].abs() - self.lambda).abs() <= tie_tolerance;
        let ties: Vec<usize> = (0..self.r.len()).filter(ties).collect();
        let mut is_bridge = vec![false; ties.len()];
        let max_switches = 1000 + 50 * ties.len();
        for _ in 0..max_switches {
            let misassigned = |&k: &usize| !is_bridge[k] && self.is_misassigned(ties[k]);
            let Some(k) = (0..ties.len()).find(misassigned) else { return true };
            if self.switch(ties[k]) {
                is_bridge.fill(false);
            } else {
                is_bridge[k] = true;
            }
        }
        false
    }

    fn is_misassigned(&self, g: usize) -> bool {
        let q = 1.0 + self.r[g].signum() * self.u(g);
        if self.sign[g] == 0.0 { q > RATE_TOLERANCE } else { q < -RATE_TOLERANCE }
    }

    /// Moves a group between I and O and updates P and v. Returns false for a bridge, which stays.
    fn switch(&mut self, g: usize) -> bool {
        let Groups { left, right, weight, .. } = self.graph.groups();
        let (i, j, w) = (left[g] as usize, right[g] as usize, weight[g]);
        let enters = self.sign[g] == 0.0;
        let sign = self.r[g].signum();
        let Some(RankOneUpdate { c, leverage }) =
            self.inverse.add_weight(i, j, if enters { -w } else { w })
        else {
            return false;
        };
        // The change of s is a multiple of x.
        let s_change = if enters { w * sign } else { -w * self.sign[g] };
        let factor = c * (self.v[i] - self.v[j]) + s_change * (1.0 + c * leverage);
        for (v, z) in self.v.iter_mut().zip(self.inverse.z()) {
            *v += factor * z;
        }
        self.sign[g] = if enters { sign } else { 0.0 };
        self.updates += 1;
        true
    }

    fn needs_refactor(&self) -> bool {
        self.updates >= MAX_UPDATES || self.inverse.ill_conditioned
    }

    /// Recomputes P, v and θ: L_I v = s, L_I θ = XᵀW_I y + λs.
    fn refactor(&mut self) -> Result<()> {
        let Self { graph, inverse, updates, lambda, theta, v, sign, .. } = self;
        *inverse = InlierInverse::new(graph, |g| sign[g] == 0.0)?;
        *updates = 0;
        inverse.multiply(&graph.divergence(sign), v);
        let rhs = graph.groups().y.iter().zip(sign.iter());
        let rhs: Vec<f64> =
            rhs.map(|(&y, &sign)| if sign == 0.0 { y } else { *lambda * sign }).collect();
        inverse.multiply(&graph.divergence(&rhs), theta);
        self.advance(0.0);
        Ok(())
    }
}

/// Returns the groups that switched, by decreasing |r|, then by index.
fn changes(previous_sign: &[f64], state: &PathState<'_>) -> Vec<(u32, Change)> {
    let changed = |g: &usize| (previous_sign[*g] == 0.0) != (state.sign[*g] == 0.0);
    let mut changed: Vec<usize> = (0..previous_sign.len()).filter(changed).collect();
    changed.sort_by(|&a, &b| state.r[b].abs().total_cmp(&state.r[a].abs()).then(a.cmp(&b)));
    let change = |g: usize| {
        let left = state.sign[g] == 0.0;
        (g as u32, if left { Change::Left } else { Change::Entered(state.r[g]) })
    };
    changed.into_iter().map(change).collect()
}
