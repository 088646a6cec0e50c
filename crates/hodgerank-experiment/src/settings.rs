//! The settings of an experiment.

use std::path::PathBuf;

/// The settings of an experiment.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Whether to use the paper's sizes instead of small ones.
    pub full: bool,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Folder with the real studies; required by `tables` and `real`, used by `accuracy`, `position-bias` and
    /// `sampling` if given.
    pub data: Option<PathBuf>,
    /// PGM or PNG file for `image`; by default an image is generated.
    pub image: Option<PathBuf>,
}
