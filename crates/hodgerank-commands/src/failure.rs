//! Why a command failed.

use hodgerank_report::figure::FigureError;

use crate::advice::{file_advice, library_advice};
use crate::suggestion::suggested_arguments;
use crate::text::or_list;

/// A command's failure: what is wrong, and in [`Failure::help`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file or table that cannot be read or written.
    #[error(transparent)]
    File(hodgerank_io::Error),
    /// Votes or options that the library refuses.
    #[error(transparent)]
    Model(hodgerank::Error),
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
    /// The observer stopped the command.
    #[error("the work was interrupted")]
    Interrupted,
}

impl From<hodgerank_io::Error> for Failure {
    fn from(error: hodgerank_io::Error) -> Self {
        use hodgerank_io::Error::{ReplacesInput, SameOutput};
        match (&error, file_advice(&error)) {
            (ReplacesInput { .. } | SameOutput { .. }, Some(help)) => {
                Self::usage(error.to_string(), help)
            }
            _ => Self::File(error),
        }
    }
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        match error {
            // Reported like any other file.
            FigureError::Write(error) => error.into(),
            other => Self::Figure(other),
        }
    }
}

impl From<hodgerank::Error> for Failure {
    fn from(error: hodgerank::Error) -> Self {
        match error {
            hodgerank::Error::UnusedOption { option, methods } => {
                let flag = option.replace('_', "-");
                Self::usage(
                    format!("--{flag} is an option of --method {}", or_list(&methods)),
                    format!("add --method {}, or leave --{flag} out", methods[0]),
                )
            }
            hodgerank::Error::UnusedSeed => Self::usage(
                "--seed is an option of --outliers cv: nothing else here is random",
                "add --outliers cv, or leave --seed out",
            ),
            hodgerank::Error::NoAnnotators => Self::usage(
                "--method crowd needs the annotator of each vote",
                "name the column with --annotator (known names are annotator, rater, worker, judge, \
                 subject, participant, user_id and more), or use --method bt",
            ),
            hodgerank::Error::NoSides => Self::usage(
                "position bias needs the side on which each item was shown, and winner and loser have none",
                "use a file with columns left, right and winner (or name them with --left, --right and \
                 --outcome), where left and right are the sides on the screen",
            ),
            hodgerank::Error::NoEloScale { .. } => Self::Unanswerable {
                problem: error.to_string(),
                help: "use --method bt, whose scores are log-odds with a prior that keeps them \
                       finite, or leave --scale elo out"
                    .to_owned(),
            },
            other => Self::Model(other),
        }
    }
}

impl Failure {
    /// Options that do not go together, and what to do.
    pub fn usage(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { problem: problem.into(), help: help.into() }
    }

    /// Arguments that would solve the problem if they were added to the command, as far as the input shows
    /// which; otherwise empty.
    #[must_use]
    pub fn suggested_arguments(&self) -> Vec<String> {
        match self {
            Self::File(error) => suggested_arguments(error),
            _ => Vec::new(),
        }
    }

    /// What the user can do about it, if the message does not say it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::File(error) => file_advice(error),
            Self::Usage { help, .. } | Self::Unanswerable { help, .. } => Some(help.clone()),
            Self::Model(error) => library_advice(error),
            Self::Figure(_) | Self::Interrupted => None,
        }
    }
}
