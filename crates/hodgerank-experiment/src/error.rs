//! Why an experiment could not be done.

use std::path::PathBuf;

/// Result of the operations of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment could not be done. A claim that does not hold is a finding, not an error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Votes or options that the mathematics cannot accept.
    #[error(transparent)]
    Model(#[from] hodgerank::Error),
    /// A file of votes that cannot be read.
    #[error(transparent)]
    Votes(#[from] hodgerank_io::Error),
    /// A picture that cannot be read.
    #[error("{}: {problem}; expected a PGM (P2 or P5) or a PNG", file.display())]
    Picture {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A published table that cannot be read.
    #[error("{}: {problem}", file.display())]
    PublishedTable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The experiment needs real studies, and no folder was named.
    #[error("this experiment needs the folder of the real studies")]
    NoData,
    /// Threads could not be started.
    #[error("the threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
