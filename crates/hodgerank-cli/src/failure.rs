//! Why a command failed, and with which exit code.

use std::error::Error;
use std::io;

/// A command's failure. Exit codes: 2 bad input or usage, 3 the data cannot answer the question,
/// 1 anything else.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] hodgerank_io::Error),
    /// Votes or options that the mathematics cannot accept.
    #[error(transparent)]
    Model(#[from] hodgerank::Error),
    /// Flags that do not go together.
    #[error("{problem}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
    /// The data cannot answer the question.
    #[error("{problem}")]
    Unanswerable {
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
    /// A figure that cannot be drawn or written.
    #[error(transparent)]
    Figure(hodgerank_report::figure::FigureError),
    /// The threads could not be started.
    #[error("the threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl From<hodgerank_report::figure::FigureError> for Failure {
    fn from(error: hodgerank_report::figure::FigureError) -> Self {
        match error {
            // Said like that of any other file.
            hodgerank_report::figure::FigureError::Write(error) => Self::File(error),
            other => Self::Figure(other),
        }
    }
}

impl From<hodgerank_experiment::Error> for Failure {
    fn from(error: hodgerank_experiment::Error) -> Self {
        use hodgerank_experiment::Error;
        let problem = error.to_string();
        match error {
            Error::Model(error) => Self::Model(error),
            Error::Votes(error) => Self::File(error),
            Error::Threads(error) => Self::Threads(error),
            Error::NoData => {
                Self::usage(problem, "add --data DIR; docs/experiments.md says what must be in it")
            }
            Error::Picture { .. } => Self::usage(problem, "without --image one is generated"),
            Error::PublishedTable { .. } => Self::usage(
                problem,
                "docs/experiments.md says what must be in the folder of --data",
            ),
        }
    }
}

impl Failure {
    pub(crate) fn usage(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), help: help.into() }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::File(hodgerank_io::Error::Write { .. }) | Self::Threads(_) | Self::Figure(_) => 1,
            Self::Model(hodgerank::Error::Factorisation { .. }) => 1,
            Self::File(_) | Self::Model(_) | Self::Usage { .. } => 2,
            Self::Unanswerable { .. } => 3,
        }
    }

    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::File(error) => error.help(),
            Self::Usage { help, .. } | Self::Unanswerable { help, .. } => Some(help.clone()),
            Self::Model(_) | Self::Threads(_) | Self::Figure(_) => None,
        }
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        let Self::File(hodgerank_io::Error::Write { source, .. }) = self else { return false };
        // Writers of CSV, Parquet and Arrow wrap the system's error in their own.
        let mut error: Option<&(dyn Error + 'static)> = Some(source);
        while let Some(this) = error {
            let system = this.downcast_ref::<io::Error>();
            if system.is_some_and(|system| system.kind() == io::ErrorKind::BrokenPipe) {
                return true;
            }
            error = this.source();
        }
        false
    }
}
