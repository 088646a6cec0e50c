//! The multipliers p of the groups, computed when they are needed.
//!
//! p of a trusted group is the integral of its residual. With P = ∫θ dt, one number per item, a group
//! that has never reached ±1 has
//!
//! p = t·y − (P_i − P_j),
//!
//! so that such groups need no state and no event has to update them. A group that comes back from ±1
//! remembers t and P_i − P_j of that moment.

use rustc_hash::FxHashMap;

use crate::graph::Groups;

/// Where the multiplier of a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// |p| < 1, and it has never been 1.
    Inside,
    /// |p| < 1 after it was 1.
    Returned,
    /// p = 1.
    PlusOne,
    /// p = −1.
    MinusOne,
}

/// When and from where a multiplier left ±1.
#[derive(Debug, Clone, Copy)]
struct Return {
    p: f64,
    t: f64,
    /// P_i − P_j at t.
    integral: f64,
}

/// The multipliers of all groups.
pub(super) struct Multipliers<'a> {
    pub(super) groups: &'a Groups,
    /// The time t.
    pub(super) now: f64,
    /// P = ∫θ dt.
    pub(super) integral: Vec<f64>,
    pub(super) places: Vec<Place>,
    returns: FxHashMap<u32, Return>,
}

impl<'a> Multipliers<'a> {
    /// p = 0 at time 0.
    pub(super) fn new(items: usize, groups: &'a Groups) -> Self {
        Self {
            groups,
            now: 0.0,
            integral: vec![0.0; items],
            places: vec![Place::Inside; groups.len()],
            returns: FxHashMap::default(),
        }
    }

    /// Advances to the time `next`; the scores until then are `theta`.
    pub(super) fn advance(&mut self, theta: &[f64], next: f64) {
        let time = next - self.now;
        self.integral.iter_mut().zip(theta).for_each(|(sum, theta)| *sum += time * theta);
        self.now = next;
    }

    fn integral_of(&self, g: usize) -> f64 {
        self.integral[self.groups.left[g] as usize] - self.integral[self.groups.right[g] as usize]
    }

    /// p of a group.
    pub(super) fn p(&self, g: usize) -> f64 {
        let y = self.groups.y[g];
        match self.places[g] {
            Place::PlusOne => 1.0,
            Place::MinusOne => -1.0,
            Place::Inside => self.now * y - self.integral_of(g),
            Place::Returned => {
                let from = self.returns[&(g as u32)];
                from.p + ((self.now - from.t) * y - (self.integral_of(g) - from.integral))
            }
        }
    }

    /// Whether |p| < 1.
    pub(super) fn is_inside(&self, g: usize) -> bool {
        matches!(self.places[g], Place::Inside | Place::Returned)
    }

    /// Sets p = 1 or −1.
    pub(super) fn enter(&mut self, g: usize, is_positive: bool) {
        self.places[g] = if is_positive { Place::PlusOne } else { Place::MinusOne };
    }

    /// Lets p of a group move away from ±1 from now on.
    pub(super) fn release(&mut self, g: usize) {
        let from = Return { p: self.p(g), t: self.now, integral: self.integral_of(g) };
        self.returns.insert(g as u32, from);
        self.places[g] = Place::Returned;
    }

    /// Returns the time until |p| < 1 of a group reaches 1 at the rate r; infinity for |r| up to `zero`.
    pub(super) fn time_to_enter(&self, g: usize, r: f64, zero: f64) -> f64 {
        if r.abs() <= zero {
            return f64::INFINITY;
        }
        // Rounding may have moved p a little past 1.
        ((1.0 - self.p(g) * r.signum()) / r.abs()).max(0.0)
    }
}
