//! Passes over the groups: residuals, the next event, broken signs; and p over time.

use std::ops::Range;

use crate::graph::{Chunk, Groups};

/// What a chunk keeps for its groups, and what the last pass over them found.
pub(super) struct State {
    p: Vec<f64>,
    /// ṗ = y − Xθ − γ: the residual, 0 for flagged groups.
    rate: Vec<f64>,
    /// Time to the first |p| = 1.
    pub(super) next: f64,
    /// Flagged groups whose residual has the wrong sign, and the right sign.
    pub(super) broken: Vec<(u32, f64)>,
    /// Trusted groups with |p| = 1 that would move outwards, and their residual.
    pub(super) outward: Vec<(u32, f64)>,
    /// Groups that came to |p| = 1, and their residual.
    pub(super) entering: Vec<(u32, f64)>,
}

impl State {
    pub(super) fn new(range: Range<usize>) -> Self {
        Self {
            p: vec![0.0; range.len()],
            rate: vec![0.0; range.len()],
            next: f64::INFINITY,
            broken: Vec::new(),
            outward: Vec::new(),
            entering: Vec::new(),
        }
    }
}

/// Residuals at θ, what follows from them, and XᵀW ṗ into the flow. Residuals up to `zero` are none.
pub(super) fn sweep(
    chunk: &mut Chunk<State>,
    groups: &Groups,
    flagged: &[bool],
    theta: &[f64],
    zero: f64,
) {
    let Chunk { groups: range, state, first, flow } = chunk;
    flow.fill(0.0);
    state.broken.clear();
    state.outward.clear();
    state.next = f64::INFINITY;
    for (k, g) in range.clone().enumerate() {
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let r = groups.residual(theta, g);
        let p = state.p[k];
        if flagged[g] {
            state.rate[k] = 0.0;
            if p * r < -zero {
                state.broken.push((g as u32, p));
            }
            continue;
        }
        state.rate[k] = r;
        flow[i - *first] += groups.weight[g] * r;
        flow[j - *first] -= groups.weight[g] * r;
        if p.abs() == 1.0 && p * r > zero {
            state.outward.push((g as u32, r));
        }
        state.next = state.next.min(time_to_enter(p, r, zero));
    }
}

/// p over a time, and who enters: all whose time comes within `slack` of it.
pub(super) fn advance(chunk: &mut Chunk<State>, time: f64, slack: f64, zero: f64) {
    let State { p, rate, entering, .. } = &mut chunk.state;
    entering.clear();
    for (k, (p, &r)) in p.iter_mut().zip(&*rate).enumerate() {
        if time_to_enter(*p, r, zero) <= time + slack {
            *p = r.signum();
            entering.push(((chunk.groups.start + k) as u32, r));
        } else if p.abs() < 1.0 || *p * r < -zero {
            // Short of ±1, where only those who enter are: rounding must not put others there.
            *p = (*p + time * r).clamp(-1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
        }
    }
}

/// When p comes to ±1 at the rate r; never if it is there already and does not move away.
#[inline]
fn time_to_enter(p: f64, r: f64, zero: f64) -> f64 {
    if r.abs() <= zero || (p.abs() == 1.0 && p * r > 0.0) {
        return f64::INFINITY;
    }
    (1.0 - p * r.signum()) / r.abs()
}
