//! One scan of all groups for [`super::active_set`].

use std::cmp::Ordering;

use super::multipliers::{Multipliers, Place};
use crate::graph::Chunk;

/// Margin for rounding errors in p.
const MULTIPLIER_MARGIN: f64 = 1e-6;

/// What a scan has found in a chunk.
#[derive(Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<u32>,
    pub(super) watched: Vec<u32>,
    pub(super) time_to_first: f64,
}

/// The scores θ₀, Q, H and δ.
pub(super) struct Scan<'a> {
    pub(super) multipliers: &'a Multipliers<'a>,
    pub(super) flagged: &'a [bool],
    pub(super) theta: &'a [f64],
    pub(super) ahead: &'a [f64],
    pub(super) horizon: f64,
    pub(super) max_change: f64,
}

impl Scan<'_> {
    /// Finds the candidates and the watched groups of a chunk.
    pub(super) fn run(&self, chunk: &mut Chunk<Found>) {
        let Found { candidates, watched, .. } = &mut chunk.state;
        candidates.clear();
        watched.clear();
        let groups = self.multipliers.groups;
        let time = self.multipliers.now + self.horizon;
        let bound = Bound::new(self.horizon, self.max_change);
        let range = chunk.groups.clone();
        let ends = groups.left[range.clone()].iter().zip(&groups.right[range.clone()]);
        let outcomes = groups.y[range.clone()].iter().zip(&self.multipliers.places[range.clone()]);
        for (g, ((&i, &j), (&y, &place))) in range.zip(ends.zip(outcomes)) {
            if place == Place::Inside {
                let p = time * y - (self.ahead[i as usize] - self.ahead[j as usize]);
                if bound.is_reached(p) {
                    candidates.push(g as u32);
                }
                continue;
            }
            let (p, r) = (self.multipliers.p(g), groups.residual(self.theta, g));
            if place == Place::Returned {
                if bound.is_reached(p + self.horizon * r) {
                    candidates.push(g as u32);
                }
            } else if self.flagged[g] && p * r <= self.max_change {
                watched.push(g as u32);
            }
        }
    }
}

/// The least |p + H r| of a candidate: 1 − H δ less the margin.
#[derive(Clone, Copy)]
pub(super) struct Bound(f64);

impl Bound {
    pub(super) fn new(horizon: f64, max_change: f64) -> Self {
        Self(1.0 - MULTIPLIER_MARGIN - horizon * max_change)
    }

    /// Whether |p| reaches the bound. True for NaN as well, where Q overflows: candidates are then
    /// evaluated exactly.
    #[inline]
    pub(super) fn is_reached(self, p: f64) -> bool {
        p.abs().partial_cmp(&self.0) != Some(Ordering::Less)
    }
}
