//! Errors of experiments.

use std::path::PathBuf;

use hodgerank_io::text::visible_path;

/// Result of the operations of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment failed. A claim that does not hold is a finding, not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library rejects votes or options, or a solver fails.
    #[error(transparent)]
    Model(#[from] hodgerank::Error),
    /// A file of votes cannot be read.
    #[error(transparent)]
    Votes(#[from] hodgerank_io::Error),
    /// An image cannot be read.
    #[error("{}: {problem}; expected a PGM (P2 or P5) or PNG file", visible_path(file))]
    Image {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A published table cannot be read, or the folder has no studies.
    #[error("{}: {problem}", visible_path(file))]
    PublishedTable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The experiment needs real studies, but no folder was given.
    #[error("this experiment needs a folder with the real studies")]
    NoData,
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
