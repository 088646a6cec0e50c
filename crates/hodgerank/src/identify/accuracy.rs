//! Whether a figure is exact or estimated.

/// How a maximum over all votes was computed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "way", rename_all = "lowercase"))]
pub enum Accuracy {
    /// From dense matrices, up to rounding.
    Exact,
    /// The largest of several candidates that random sketches proposed, each of them computed
    /// exactly: at most the true maximum, and close to it.
    Sketched {
        /// Number of random sketches.
        sketches: u32,
        /// Number of candidates computed exactly.
        checked: u32,
        /// Relative standard error of the sketches: how far a missed candidate may exceed the value.
        relative_error: f64,
    },
}
