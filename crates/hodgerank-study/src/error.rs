//! What can go wrong with a study.

use std::io;
use std::path::Path;

/// The result of an operation on a study.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a study cannot be created, opened or served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The folder of a new study exists.
    #[error("{path}: exists already")]
    Exists {
        /// The folder.
        path: String,
    },
    /// The folder has no study.
    #[error("{path}: no study here (study.db is missing)")]
    NoStudy {
        /// The folder.
        path: String,
    },
    /// Items that cannot be used.
    #[error("{path}: {problem}")]
    Items {
        /// The folder or file of items.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// An option with a value that cannot be used.
    #[error("{option}: {problem}")]
    Option {
        /// The option.
        option: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system has no random numbers.
    #[error("the system provides no random numbers")]
    Random,
    /// The database refuses.
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The votes cannot be ranked.
    #[error(transparent)]
    Model(#[from] hodgerank::Error),
}

impl Error {
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File { path: path.display().to_string(), source }
    }
}
