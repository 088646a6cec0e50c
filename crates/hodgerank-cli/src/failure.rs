//! Why a run failed, and with which exit code.

use std::io;

use hodgerank_commands as commands;
use hodgerank_study::Error as StudyError;

/// Why a run failed. Exit codes: 2 bad input or usage, 3 the data cannot answer the question,
/// 1 anything else.
#[derive(Debug, thiserror::Error)]
pub enum RunFailure {
    /// A command failed.
    #[error(transparent)]
    Command(commands::Failure),
    /// The threads could not be started.
    #[error("the threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The signals that end the program cannot be handled.
    #[error("signals cannot be handled: {0}")]
    Signals(io::Error),
    /// A study cannot be created, opened or served.
    #[error(transparent)]
    Study(#[from] hodgerank_study::Error),
}

impl From<commands::Failure> for RunFailure {
    fn from(failure: commands::Failure) -> Self {
        Self::Command(failure)
    }
}

impl From<hodgerank_io::Error> for RunFailure {
    fn from(error: hodgerank_io::Error) -> Self {
        Self::Command(error.into())
    }
}

impl From<hodgerank::Error> for RunFailure {
    fn from(error: hodgerank::Error) -> Self {
        Self::Command(error.into())
    }
}

impl From<hodgerank_report::figure::FigureError> for RunFailure {
    fn from(error: hodgerank_report::figure::FigureError) -> Self {
        Self::Command(error.into())
    }
}

impl From<hodgerank_experiment::Error> for RunFailure {
    fn from(error: hodgerank_experiment::Error) -> Self {
        use hodgerank_experiment::Error;
        let problem = error.to_string();
        match error {
            Error::Model(error) => error.into(),
            Error::Votes(error) => error.into(),
            Error::Threads(error) => Self::Threads(error),
            Error::NoData => {
                Self::usage(problem, "add --data DIR; docs/experiments.md says what must be in it")
            }
            Error::Image { .. } => Self::usage(problem, "without --image one is generated"),
            Error::PublishedTable { .. } => Self::usage(
                problem,
                "docs/experiments.md says what must be in the folder of --data",
            ),
        }
    }
}

impl RunFailure {
    /// Options that do not go together, and what to do.
    pub fn usage(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Command(commands::Failure::usage(problem, help))
    }

    /// The exit code of the program.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        use commands::Failure::{File, Model, Unanswerable, Usage};
        match self {
            Self::Command(File(
                hodgerank_io::Error::Write { .. }
                | hodgerank_io::Error::Memory { .. }
                | hodgerank_io::Error::Spool { .. },
            )) => 1,
            Self::Command(Model(hodgerank::Error::Factorisation { .. })) => 1,
            Self::Command(File(_) | Model(_) | Usage { .. }) => 2,
            Self::Command(Unanswerable { .. }) => 3,
            Self::Study(
                StudyError::Exists { .. }
                | StudyError::NoStudy { .. }
                | StudyError::Items { .. }
                | StudyError::Option { .. },
            ) => 2,
            Self::Study(StudyError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                2
            }
            Self::Command(_) | Self::Threads(_) | Self::Signals(_) | Self::Study(_) => 1,
        }
    }

    /// What the user can do about it, if the message does not say it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Command(failure) => failure.help(),
            Self::Study(StudyError::Exists { .. }) => {
                Some("choose a folder that does not exist yet".to_owned())
            }
            Self::Study(StudyError::NoStudy { .. }) => {
                Some("create one with `hodgerank study new`".to_owned())
            }
            Self::Study(StudyError::Listen { .. }) => {
                Some("choose another port with --listen ADDRESS:PORT".to_owned())
            }
            Self::Threads(_) | Self::Signals(_) | Self::Study(_) => None,
        }
    }

    /// The command that was given, with arguments that would solve the problem; none if none are known.
    pub(crate) fn suggested_command(&self) -> Option<String> {
        let Self::Command(failure) = self else { return None };
        let added = failure.suggested_arguments();
        if added.is_empty() {
            return None;
        }
        let mut given = std::env::args_os();
        let program = given.next().unwrap_or_default();
        let program = std::path::Path::new(&program).file_stem().unwrap_or(&program).to_owned();
        let given = [program].into_iter().chain(given);
        let given = given.map(|argument| argument.to_string_lossy().into_owned());
        Some(commands::shell_words(given.chain(added)))
    }

    /// The invalid row of the input, if that is the reason.
    pub(crate) fn bad_row(&self) -> Option<&hodgerank_io::BadRow> {
        match self {
            Self::Command(commands::Failure::File(hodgerank_io::Error::Row(row))) => Some(row),
            _ => None,
        }
    }

    /// Whether the reader of the output has closed the pipe (`| head`), which is not an error.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        let Self::Command(commands::Failure::File(hodgerank_io::Error::Write { source, .. })) =
            self
        else {
            return false;
        };
        source.kind() == io::ErrorKind::BrokenPipe
    }
}
