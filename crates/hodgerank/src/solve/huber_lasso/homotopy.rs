//! The exact path: from knot to knot.
//!
//! With inliers I, outliers O and s = XᵀW_O sign(r), optimality reads L_I θ = XᵀW_I y + λs. While
//! the sets stand still, λ → λ − h moves
//!
//!   θ → θ − hv,   v = L_I† s,   r → r + hu,   u = Xv.
//!
//! With σ = sign(r), |r| − λ grows at the rate q = 1 + σu. So an inlier reaches λ after
//! h = (λ − σr)/q for either σ with q > 0, and an outlier after h = (σr − λ)/(−q) if q < 0. The
//! smallest h is the next knot. There all groups with |r| = λ must be told apart anew: q ≥ 0 for
//! outliers, q ≤ 0 for inliers. Often one group changes sides and that is all; votes ±1 on a
//! symmetric graph bring many at a time. Telling them apart is a linear complementarity problem
//! with a positive (semi-)definite matrix, and Murty's rule solves it: of those on the wrong side
//! the one with the least index changes, again and again. A group that alone joins two parts of
//! the inlier graph stays: its |r| falls along with λ (see [`super`]).
//!
//! Cost of a knot: a pass over the groups, and n² for each group that changes sides.

use super::inverse::{Inverse, Update};
use crate::error::Result;
use crate::graph::{ComparisonGraph, Groups};
use crate::path::{Change, Path, Recorder, StopAt};
use crate::status::Status;

/// Rates, and distances from λ as a share of λ_max, that count as zero.
const FLAT: f64 = 1e-9;
const NEAR: f64 = 1e-10;
/// The path has arrived at zero where λ is this share of λ_max.
const ARRIVED: f64 = 1e-9;
/// Changes between two factorisations.
const CHANGES: usize = 64;
/// Knots in a row at which nothing moves, before the walk gives up.
const MAX_STANDSTILLS: usize = 20;

/// A point of the path and the direction from it.
struct Walk<'a> {
    graph: &'a ComparisonGraph,
    inverse: Inverse,
    changes: usize,
    lambda: f64,
    theta: Vec<f64>,
    r: Vec<f64>,
    v: Vec<f64>,
    /// sign(r) for outliers, 0 for inliers.
    sign: Vec<f64>,
}

/// Walks down from λ_max, for `most` knots at most.
pub(super) fn walk(
    graph: &ComparisonGraph,
    start: &[f64],
    lambda_max: f64,
    most: usize,
    mut recorder: Recorder,
    until: StopAt,
) -> Result<Path> {
    let groups = graph.groups();
    let end = if let StopAt::Value(value) = until { value.max(0.0) } else { 0.0 };
    let mut walk = Walk::new(graph, start, lambda_max)?;
    let mut standstills = 0;
    for _ in 0..most {
        let before = walk.sign.clone();
        if !walk.tell_apart(NEAR * lambda_max) || standstills > MAX_STANDSTILLS {
            return Ok(recorder.finish(Status::Disconnected));
        }
        let changes = changes(&before, &walk);
        if !changes.is_empty() {
            recorder.knot(walk.lambda, &walk.theta, changes, groups);
            if recorder.reached(until) {
                return Ok(recorder.finish(Status::Complete));
            }
        }
        if walk.worn() && walk.renew().is_err() {
            return Ok(recorder.finish(Status::Disconnected));
        }
        let h = walk.next_knot(NEAR * lambda_max);
        if walk.lambda - h <= end.max(ARRIVED * lambda_max) {
            walk.advance(walk.lambda - end);
            recorder.knot(walk.lambda, &walk.theta, [], groups);
            return Ok(recorder.finish(Status::Complete));
        }
        standstills = if h > NEAR * lambda_max { 0 } else { standstills + 1 };
        walk.advance(h);
    }
    Ok(recorder.finish(Status::IterationLimit))
}

impl<'a> Walk<'a> {
    fn new(graph: &'a ComparisonGraph, start: &[f64], lambda: f64) -> Result<Self> {
        let m = graph.groups().len();
        let mut walk = Self {
            graph,
            inverse: Inverse::new(graph, |_| true)?,
            changes: 0,
            lambda,
            theta: start.to_vec(),
            r: vec![0.0; m],
            v: vec![0.0; graph.items()],
            sign: vec![0.0; m],
        };
        walk.advance(0.0);
        Ok(walk)
    }

    /// λ → λ − h.
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

    /// How far λ may fall before a group changes sides.
    fn next_knot(&self, near: f64) -> f64 {
        let mut h = f64::INFINITY;
        for (g, (&r, &sign)) in self.r.iter().zip(&self.sign).enumerate() {
            let u = self.u(g);
            let reach = if sign != 0.0 {
                let q = 1.0 + sign * u;
                if q < -FLAT { (sign * r - self.lambda) / -q } else { f64::INFINITY }
            } else {
                let towards = |sigma: f64| {
                    let (q, room) = (1.0 + sigma * u, self.lambda - sigma * r);
                    // At λ already and told to be an inlier there: it slides along.
                    if q > FLAT && room > near { room / q } else { f64::INFINITY }
                };
                towards(1.0).min(towards(-1.0))
            };
            h = h.min(reach.max(0.0));
        }
        h
    }

    /// Puts the groups with |r| = λ on their sides. False if that came to no end.
    fn tell_apart(&mut self, near: f64) -> bool {
        let at_lambda = |&g: &usize| (self.r[g].abs() - self.lambda).abs() <= near;
        let at_lambda: Vec<usize> = (0..self.r.len()).filter(at_lambda).collect();
        let mut held = vec![false; at_lambda.len()];
        let most = 1000 + 50 * at_lambda.len();
        for _ in 0..most {
            let wrong = |&k: &usize| !held[k] && self.on_wrong_side(at_lambda[k]);
            let Some(k) = (0..at_lambda.len()).find(wrong) else { return true };
            if self.change_sides(at_lambda[k]) {
                held.fill(false);
            } else {
                held[k] = true;
            }
        }
        false
    }

    fn on_wrong_side(&self, g: usize) -> bool {
        let q = 1.0 + self.r[g].signum() * self.u(g);
        if self.sign[g] == 0.0 { q > FLAT } else { q < -FLAT }
    }

    /// Moves a group between I and O; P and v follow. False for a group that must stay.
    fn change_sides(&mut self, g: usize) -> bool {
        let Groups { left, right, weight, .. } = self.graph.groups();
        let (i, j, w) = (left[g] as usize, right[g] as usize, weight[g]);
        let enters = self.sign[g] == 0.0;
        let sign = self.r[g].signum();
        let Some(Update { c, leverage }) = self.inverse.change(i, j, if enters { -w } else { w })
        else {
            return false;
        };
        // s gains or loses ±w x.
        let gain = if enters { w * sign } else { -w * self.sign[g] };
        let factor = c * (self.v[i] - self.v[j]) + gain * (1.0 + c * leverage);
        for (v, z) in self.v.iter_mut().zip(self.inverse.z()) {
            *v += factor * z;
        }
        self.sign[g] = if enters { sign } else { 0.0 };
        self.changes += 1;
        true
    }

    fn worn(&self) -> bool {
        self.changes >= CHANGES || self.inverse.ill
    }

    /// P, v and θ from scratch: L_I v = s, L_I θ = XᵀW_I y + λs.
    fn renew(&mut self) -> Result<()> {
        let Self { graph, inverse, changes, lambda, theta, v, sign, .. } = self;
        *inverse = Inverse::new(graph, |g| sign[g] == 0.0)?;
        *changes = 0;
        inverse.times(&graph.divergence(sign), v);
        let pull = graph.groups().y.iter().zip(sign.iter());
        let pull: Vec<f64> =
            pull.map(|(&y, &sign)| if sign == 0.0 { y } else { *lambda * sign }).collect();
        inverse.times(&graph.divergence(&pull), theta);
        self.advance(0.0);
        Ok(())
    }
}

/// Groups that changed sides, larger |r| first, then by index.
fn changes(before: &[f64], walk: &Walk<'_>) -> Vec<(u32, Change)> {
    let changed = |g: &usize| (before[*g] == 0.0) != (walk.sign[*g] == 0.0);
    let mut changed: Vec<usize> = (0..before.len()).filter(changed).collect();
    changed.sort_by(|&a, &b| walk.r[b].abs().total_cmp(&walk.r[a].abs()).then(a.cmp(&b)));
    let change = |g: usize| {
        let left = walk.sign[g] == 0.0;
        (g as u32, if left { Change::Left } else { Change::Entered(walk.r[g]) })
    };
    changed.into_iter().map(change).collect()
}
