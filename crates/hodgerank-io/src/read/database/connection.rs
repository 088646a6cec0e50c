//! Opening a database for reading only, in one read transaction.
//!
//! | database | how it is opened |
//! |---|---|
//! | without a write-ahead log | with SQLite's locks |
//! | with a log, which another program writes or has left behind | with SQLite's locks; rows in the log are read |
//! | made for a log, but there is none | without locks: nobody has it open, and the locks would create files next to it, also where the folder cannot be written. The file must be the same afterwards |

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, Error as SqlError, ErrorCode, OpenFlags};

use super::FORMAT;
use crate::error::{DatabaseProblem, Error, Result};
use crate::read::catch_panics::damaged;
use crate::read::source::OpenedFile;

/// How long another program may hold a lock. A commit takes far less.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// A database that was opened.
pub(super) struct OpenedDatabase {
    pub(super) connection: Connection,
    pub(super) file_bytes: u64,
    /// Whether there is a log to which another program may write.
    pub(super) is_in_use: bool,
    /// The file before it was read, if it is read without locks.
    pub(super) unlocked: Option<FileState>,
}

/// Opens a database and starts a read transaction.
pub(super) fn open(file: OpenedFile) -> Result<OpenedDatabase> {
    /// The byte of the header that says how the file is read, and its value for a log.
    const READ_VERSION: (usize, Option<u8>) = (19, Some(2));
    let name = Arc::clone(&file.name);
    if !file.has_path() {
        return Err(Error::Database { file: name, problem: DatabaseProblem::Stream });
    }
    let is_for_log = file.byte(READ_VERSION.0) == READ_VERSION.1;
    // Before SQLite opens the file: closing any handle of it would release SQLite's locks.
    drop(file);
    let cannot_open = |source| Error::Open { file: Arc::clone(&name), source };
    let path = fs::canonicalize(&*name).map_err(cannot_open)?;
    let is_in_use = log_bytes(&path).is_some();
    let state = FileState::of(&path).map_err(cannot_open)?;
    let file_bytes = state.bytes;
    let unlocked = (is_for_log && !is_in_use).then_some(state);
    let connection = connect(&path, unlocked.is_some()).map_err(|error| explain(&name, &error))?;
    Ok(OpenedDatabase { connection, file_bytes, is_in_use, unlocked })
}

fn connect(path: &Path, is_unlocked: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let path = path.to_string_lossy();
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let parameter = if is_unlocked { "?immutable=1" } else { "" };
    let connection = Connection::open_with_flags(format!("file:{path}{parameter}"), flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // The file may come from a stranger: its views cannot call functions with side effects, and pages are
    // checked when they are read.
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON; BEGIN",
    )?;
    Ok(connection)
}

/// Whether some rows of a file are in the write-ahead log of a database.
pub(in crate::read) fn has_log(file: &Path) -> bool {
    fs::canonicalize(file).is_ok_and(|path| log_bytes(&path).is_some_and(|bytes| bytes > 0))
}

/// The size of the log; `None` if there is none.
fn log_bytes(path: &Path) -> Option<u64> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(PathBuf::from(log)).ok().map(|log| log.len())
}

/// What shows whether another program has written to a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileState {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        Ok(Self { path: path.to_owned(), bytes: file.len(), modified: file.modified().ok() })
    }

    /// Whether the file is still the same.
    pub(super) fn is_unchanged(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}

/// An error of SQLite that is not due to the caller's statement.
pub(super) fn explain(file: &Arc<str>, error: &SqlError) -> Error {
    let other = || io::Error::other(reason(error));
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            damaged(file, FORMAT, reason(error))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Database { file: Arc::clone(file), problem: DatabaseProblem::Locked }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            Error::Open { file: Arc::clone(file), source: other() }
        }
        _ => Error::read(file, other()),
    }
}

/// What SQLite says about an error, without the statement.
pub(super) fn reason(error: &SqlError) -> String {
    match error {
        SqlError::SqlInputError { msg, .. } | SqlError::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    }
}
