//! Positions in a figure.

/// A position in pixels: x to the right, y down.
pub(super) type Position = (f64, f64);
