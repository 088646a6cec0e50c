//! Runs the program under `mpirun` and compares its results with those of one machine.

mod checkpoints;
mod clean;
mod crowd;
mod failures;
mod mpirun;
mod outliers;
mod outputs;
mod peak_memory;
mod rank;
mod support;
