//! One file for each subcommand.

pub(crate) mod demo;
pub(crate) mod rank;
pub(crate) mod simulate;
