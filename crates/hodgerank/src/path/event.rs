//! Events along a path: groups that enter or leave the set of flagged groups.

/// A group that enters or leaves the set of flagged groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// Index of the knot at which it happens.
    pub knot: u32,
    /// The group.
    pub group: u32,
    /// Whether it enters or leaves.
    pub change: Change,
}

/// A group's change at a knot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// The group becomes flagged. The value is its residual; the sign is the direction of the error.
    Entered(f64),
    /// The group is trusted again.
    Left,
}

/// A group's first entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// The group.
    pub group: u32,
    /// λ or t at which it entered.
    pub at: f64,
    /// Its residual there.
    pub residual: f64,
    /// λ or t at which it left for the first time, if it did.
    pub left_at: Option<f64>,
}
