//! Why a command failed.

use hodgerank_report::figure::FigureError;

use crate::advice::advice;

/// A command's failure: what is wrong, and in [`Failure::help`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file or table that cannot be read or written.
    #[error(transparent)]
    File(#[from] hodgerank_io::Error),
    /// Votes or options that the mathematics cannot accept.
    #[error(transparent)]
    Model(#[from] hodgerank::Error),
    /// Options that do not go together.
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
    Figure(FigureError),
    /// Whoever watches wanted no more work done.
    #[error("the work was interrupted")]
    Interrupted,
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        match error {
            // Said like that of any other file.
            FigureError::Write(error) => Self::File(error),
            other => Self::Figure(other),
        }
    }
}

impl Failure {
    /// Options that do not go together, and what to do.
    pub fn usage(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), help: help.into() }
    }

    /// What the user can do about it, where that is not already said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File(error) => advice(error),
            Self::Usage { help, .. } | Self::Unanswerable { help, .. } => Some(help.clone()),
            Self::Model(_) | Self::Figure(_) | Self::Interrupted => None,
        }
    }
}
