//! The parameter that indexes a path, and what depends on it.

/// The parameter that indexes a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// The penalty λ, decreasing from its largest value.
    Lambda,
    /// The time t, increasing from zero.
    Time,
}

impl Parameter {
    /// Returns its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lambda => "lambda",
            Self::Time => "time",
        }
    }

    /// Whether a path passes `a` before it passes `b`.
    pub(super) fn precedes(self, a: f64, b: f64) -> bool {
        match self {
            Self::Lambda => a > b,
            Self::Time => a < b,
        }
    }
}

/// How scores behave between two snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// They change linearly.
    Linear,
    /// They stay constant up to the next knot.
    Constant,
}

/// Where the computation of a path stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopAt {
    /// At the end of the path, as the method defines it.
    End,
    /// At this λ or t.
    Value(f64),
    /// At the first knot at which at least this many votes have been flagged.
    Flagged(f64),
    /// At the first knot at which at least this many votes have been flagged, or at the end of the
    /// path as the method defines it, whichever comes first.
    FlaggedOrEnd(f64),
}
