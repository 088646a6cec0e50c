//! Positions in a figure.

/// A position in pixels: x to the right, y down.
pub(super) type Point = (f64, f64);
