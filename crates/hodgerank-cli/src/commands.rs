//! What the program adds to the commands: their formatted text, and the commands that only it has.

mod certify;
mod compare;
pub(crate) mod completions;
mod decompose;
pub(crate) mod demo;
mod diagnose;
pub(crate) mod experiment;
pub(crate) mod man;
pub(crate) mod next;
mod outliers;
mod path;
pub(crate) mod predict;
mod rank;
pub(crate) mod simulate;
pub(crate) mod sql;
pub(crate) mod study;
