//! Passes over the groups: residuals, the time of the next event, violated signs, and the update of p.

use std::ops::Range;

use crate::graph::{Chunk, Groups};

/// The multipliers of the groups of a chunk, and the results of the last pass over them.
pub(super) struct MultiplierState {
    p: Vec<f64>,
    /// ṗ = y − Xθ − γ: the residual, 0 for flagged groups.
    rate: Vec<f64>,
    /// Time until the first |p| reaches 1.
    pub(super) time_to_next: f64,
    /// Flagged groups that violate γ p ≥ 0, with p.
    pub(super) violated: Vec<(u32, f64)>,
    /// Trusted groups with |p| = 1 and r p > 0, with their residual.
    pub(super) outward: Vec<(u32, f64)>,
    /// Groups whose |p| reached 1, with their residual.
    pub(super) entering: Vec<(u32, f64)>,
}

impl MultiplierState {
    pub(super) fn new(range: Range<usize>) -> Self {
        Self {
            p: vec![0.0; range.len()],
            rate: vec![0.0; range.len()],
            time_to_next: f64::INFINITY,
            violated: Vec::new(),
            outward: Vec::new(),
            entering: Vec::new(),
        }
    }
}

/// Computes the residuals at θ, the lists above and the flow XᵀWṗ. Residuals up to `zero` count as
/// zero.
pub(super) fn evaluate(
    chunk: &mut Chunk<MultiplierState>,
    groups: &Groups,
    flagged: &[bool],
    theta: &[f64],
    zero: f64,
) {
    let Chunk { groups: range, state, first, flow } = chunk;
    flow.fill(0.0);
    state.violated.clear();
    state.outward.clear();
    state.time_to_next = f64::INFINITY;
    for (k, g) in range.clone().enumerate() {
        let (i, j) = (groups.left[g] as usize, groups.right[g] as usize);
        let r = groups.residual(theta, g);
        let p = state.p[k];
        if flagged[g] {
            state.rate[k] = 0.0;
            if p * r < -zero {
                state.violated.push((g as u32, p));
            }
            continue;
        }
        state.rate[k] = r;
        flow[i - *first] += groups.weight[g] * r;
        flow[j - *first] -= groups.weight[g] * r;
        if p.abs() == 1.0 && p * r > zero {
            state.outward.push((g as u32, r));
        }
        state.time_to_next = state.time_to_next.min(time_to_enter(p, r, zero));
    }
}

/// Advances p by `time` and finds the groups that enter: those whose |p| reaches 1 up to
/// `time_tolerance` later.
pub(super) fn advance(
    chunk: &mut Chunk<MultiplierState>,
    time: f64,
    time_tolerance: f64,
    zero: f64,
) {
    let MultiplierState { p, rate, entering, .. } = &mut chunk.state;
    entering.clear();
    for (k, (p, &r)) in p.iter_mut().zip(&*rate).enumerate() {
        if time_to_enter(*p, r, zero) <= time + time_tolerance {
            *p = r.signum();
            entering.push(((chunk.groups.start + k) as u32, r));
        } else if p.abs() < 1.0 || *p * r < -zero {
            // Rounding must not move p to ±1, which is reserved for groups that have entered.
            *p = (*p + time * r).clamp(-1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
        }
    }
}

/// Returns the time until p reaches ±1 at the rate r; infinity if it is there and does not move inwards.
#[inline]
fn time_to_enter(p: f64, r: f64, zero: f64) -> f64 {
    if r.abs() <= zero || (p.abs() == 1.0 && p * r > 0.0) {
        return f64::INFINITY;
    }
    (1.0 - p * r.signum()) / r.abs()
}
