//! One file for each subcommand.

pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod path;
pub(crate) mod rank;
pub(crate) mod simulate;
