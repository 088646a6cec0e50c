//! Numerics that several modules share.
//!
//! Every function fixes the order of its floating-point operations, so that results have the same
//! bits for any number of threads.

mod conjugate_gradients;
mod disjoint_sets;
mod double_double;
mod sums;
mod vectors;

pub(crate) use conjugate_gradients::{
    ConjugateGradientRun, ConjugateGradientSystem, ConjugateGradientVectors, conjugate_gradients,
};
pub(crate) use disjoint_sets::DisjointSets;
pub(crate) use double_double::DoubleDouble;
pub(crate) use sums::{add_parts, sum, sum_tasks};
pub(crate) use vectors::{
    dot, dot_in_lanes, largest_magnitude, norm, power_of_two_below, residual,
};
