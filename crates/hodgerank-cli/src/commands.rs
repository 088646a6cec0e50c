//! What the program adds to the commands: their formatted text, and the commands that only it has.

mod certify;
mod compare;
mod decompose;
pub(crate) mod demo;
mod diagnose;
pub(crate) mod experiment;
mod outliers;
mod path;
pub(crate) mod predict;
mod rank;
pub(crate) mod simulate;
