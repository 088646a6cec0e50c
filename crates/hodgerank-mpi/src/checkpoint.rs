//! Checkpoints: the saved state of a solver, from which a killed run can be resumed.

mod fingerprint;
mod folder;
mod options;
mod state_file;

pub use fingerprint::Fingerprint;
pub use folder::CheckpointFolder;
pub use options::CheckpointOptions;
