//! An opened database, and the copy of its rows for later passes.
//!
//! While another program writes, a second pass would find other rows than the first. A transaction that stays
//! open between passes would help, but everything else in this process that opens and closes the file would
//! release its locks, and another program could then discard the log with rows in it. So the rows are copied to
//! a temporary database, which nobody else knows.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Statement};

use super::FORMAT;
use super::connection::{self, FileState, OpenedDatabase, explain, reason};
use super::row_block::RowBlock;
use super::selection::Selection;
use crate::column_guess::SAMPLE_ROWS;
use crate::error::{Error, Result};
use crate::read::catch_panics::decode;
use crate::read::options::ReadOptions;
use crate::read::source::OpenedFile;

/// A database, and what is read of it.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) file: Arc<str>,
    pub(super) selection: Selection,
    pub(super) file_bytes: u64,
    connection: Connection,
    unlocked: Option<FileState>,
    is_copy: bool,
}

impl Database {
    /// Opens a database. If it is read more than once and another program may write to it, the rows are copied.
    pub(super) fn open(file: OpenedFile, options: &ReadOptions, read_again: bool) -> Result<Self> {
        let name = Arc::clone(&file.name);
        let OpenedDatabase { connection, file_bytes, is_in_use, unlocked } =
            connection::open(file)?;
        let wanted = options.database_rows.as_ref();
        // The library panics if the name of a column is not UTF-8.
        let selection = decode(&name, FORMAT, || {
            Selection::choose(&name, &connection, wanted, &options.columns)
        })?;
        let database =
            Self { file: name, selection, file_bytes, connection, unlocked, is_copy: false };
        if read_again && is_in_use { database.copied() } else { Ok(database) }
    }

    /// The first rows as text, from which columns are judged; those before an error.
    pub(super) fn sample(&self) -> Vec<Vec<String>> {
        let all: Vec<usize> = (0..self.selection.names.len()).collect();
        let (sql, positions) = self.selection.statement(&all);
        let mut sample = Vec::new();
        let mut add = |block: RowBlock| {
            let text = |row: super::row_block::BlockRow<'_>| {
                row.cells().map(|cell| String::from_utf8_lossy(cell.text).into_owned()).collect()
            };
            sample.extend(block.rows().map(text));
            sample.len() < SAMPLE_ROWS
        };
        // The pass itself reports an error.
        let _ = self.each_block(&sql, &positions, &mut add);
        sample
    }

    /// Calls `each` with blocks of the values at some positions of a statement's rows, until it returns `false`.
    pub(super) fn each_block(
        &self,
        sql: &str,
        positions: &[usize],
        each: &mut impl FnMut(RowBlock) -> bool,
    ) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut block = RowBlock::new(positions.len());
        while let Some(row) = rows.next()? {
            for &position in positions {
                block.push(row.get_ref(position)?);
            }
            if block.is_full() {
                let full = std::mem::replace(&mut block, RowBlock::new(positions.len()));
                if !each(full) {
                    return Ok(());
                }
            }
        }
        if !block.is_empty() {
            each(block);
        }
        Ok(())
    }

    /// Checks that nobody wrote to a database that is read without locks.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        match &self.unlocked {
            Some(state) if !state.is_unchanged() => Err(Error::Changed {
                file: Arc::clone(&self.file),
                difference: "another program wrote to it".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// The selected rows in a temporary database.
    fn copied(self) -> Result<Self> {
        const TABLE: &str = "votes";
        let failed = |error: rusqlite::Error| Error::Spool {
            file: Arc::clone(&self.file),
            folder: std::env::temp_dir().display().to_string(),
            source: io::Error::other(reason(&error)),
        };
        let names = self.selection.names.clone();
        // Without a name, the database is a temporary file of SQLite's own. Columns without a type keep values
        // as they are.
        let copy = Connection::open("").map_err(failed)?;
        let columns: Vec<String> = (0..names.len()).map(|column| format!("c{column}")).collect();
        copy.execute_batch(&format!(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE {TABLE}({}); BEGIN",
            columns.join(", ")
        ))
        .map_err(failed)?;
        let values = vec!["?"; names.len()].join(", ");
        {
            let insert = copy.prepare(&format!("INSERT INTO {TABLE} VALUES ({values})"));
            self.copy_rows(insert.map_err(failed)?, failed)?;
        }
        copy.execute_batch("COMMIT").map_err(failed)?;
        let selection = self.selection.of_copy(TABLE);
        Ok(Self { selection, connection: copy, is_copy: true, ..self })
    }

    fn copy_rows(
        &self,
        mut insert: Statement<'_>,
        failed: impl Fn(rusqlite::Error) -> Error + Copy,
    ) -> Result<()> {
        let broken = |error: rusqlite::Error| explain(&self.file, &error);
        let all: Vec<usize> = (0..self.selection.names.len()).collect();
        let mut statement =
            self.connection.prepare(&self.selection.statement(&all).0).map_err(broken)?;
        let mut rows = statement.query([]).map_err(broken)?;
        while let Some(row) = rows.next().map_err(broken)? {
            for &column in &all {
                let value = ToSqlOutput::Borrowed(row.get_ref(column).map_err(broken)?);
                insert.raw_bind_parameter(column + 1, value).map_err(failed)?;
            }
            insert.raw_execute().map_err(failed)?;
        }
        Ok(())
    }
}

/// The rows of a database that is read more than once, if they were copied.
#[derive(Debug, Default)]
pub(in crate::read) struct DatabaseCopy(Mutex<Option<Box<Database>>>);

impl DatabaseCopy {
    /// The copy, for one pass.
    pub(super) fn take(&self) -> Option<Database> {
        let copy = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        copy.map(|database| *database)
    }

    /// Keeps a copy for the next pass; any other database is closed, which releases its locks.
    pub(super) fn keep(&self, database: Database) {
        if database.is_copy {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(database));
        }
    }
}
