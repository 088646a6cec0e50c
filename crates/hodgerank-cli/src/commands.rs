//! One file for each subcommand.

pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod decompose;
pub(crate) mod demo;
pub(crate) mod diagnose;
pub(crate) mod experiment;
pub(crate) mod outliers;
pub(crate) mod path;
pub(crate) mod rank;
pub(crate) mod report;
pub(crate) mod simulate;
