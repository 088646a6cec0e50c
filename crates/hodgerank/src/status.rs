//! How a computation ended.

use std::fmt;

/// How a fit, a path or a linear solve ended. Stopping early is a status, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// A single fit met its tolerance, or reached the limit of double precision.
    Solved,
    /// A path reached the point that was requested.
    Complete,
    /// A path ended early because the votes that are still trusted no longer connect the items.
    /// Everything up to there is valid.
    Disconnected,
    /// The iteration limit was reached first. The result is the best one found so far.
    IterationLimit,
    /// A path ended before the requested point, because no more votes can be flagged. The result is
    /// valid for the point that was reached.
    NotReached,
    /// The result violates its optimality conditions by more than rounding errors explain.
    Inaccurate,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] = [
        Self::Solved,
        Self::Complete,
        Self::Disconnected,
        Self::IterationLimit,
        Self::NotReached,
        Self::Inaccurate,
    ];

    /// The name used in JSON and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Complete => "complete",
            Self::Disconnected => "disconnected",
            Self::IterationLimit => "iteration-limit",
            Self::NotReached => "not-reached",
            Self::Inaccurate => "inaccurate",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
