//! What is read of a database: the votes of a study, a table, a view or the result of a query.

use std::sync::Arc;

use rusqlite::{Connection, Error as SqlError, ErrorCode};

use super::STUDY_VIEW;
use super::connection::{explain, reason};
use crate::columns::{ColumnNames, Layout};
use crate::error::{DatabaseProblem, Error, Result};
use crate::read::options::DatabaseRows;

/// What is read of a database, and its columns.
#[derive(Debug)]
pub(super) struct Selection {
    origin: Origin,
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// Whether the rows are the votes of a study.
    is_study: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    Table(String),
    View(String),
    Query(String),
}

impl Selection {
    /// The same rows, which were copied to a table with other names of columns.
    pub(super) fn of_copy(self, table: &str) -> Self {
        Self { origin: Origin::Query(format!("SELECT * FROM {table}")), ..self }
    }

    /// What the caller wants, or else the votes of a study, or else the only table or view.
    pub(super) fn choose(
        file: &Arc<str>,
        connection: &Connection,
        wanted: Option<&DatabaseRows>,
        columns: &ColumnNames,
    ) -> Result<Self> {
        let origin = match wanted {
            Some(DatabaseRows::Query(sql)) => {
                check_query(file, connection, sql)?;
                Origin::Query(sql.clone())
            }
            Some(DatabaseRows::Table(name)) => named(file, &tables(file, connection)?, name)?,
            None => only(file, connection, tables(file, connection)?, columns)?,
        };
        let names = origin.names(connection).map_err(|error| explain(file, &error))?;
        let is_study = origin == Origin::View(STUDY_VIEW.to_owned());
        Ok(Self { origin, names, is_study })
    }

    /// A statement that returns these columns, which are sorted, and their positions in its result.
    pub(super) fn statement(&self, columns: &[usize]) -> (String, Vec<usize>) {
        match &self.origin {
            // Values of other columns can be long, and would be read too.
            Origin::Table(name) if columns.len() < self.names.len() => {
                let list: Vec<String> =
                    columns.iter().map(|&column| quoted(&self.names[column])).collect();
                (select(&list.join(", "), name), (0..columns.len()).collect())
            }
            origin => (origin.statement(), columns.to_vec()),
        }
    }

    /// What is wrong if there are no rows.
    pub(super) fn nothing_found(&self) -> DatabaseProblem {
        if self.is_study { DatabaseProblem::NoVotes } else { DatabaseProblem::NoRows }
    }
}

impl Origin {
    fn name(&self) -> &str {
        match self {
            Self::Table(name) | Self::View(name) => name,
            Self::Query(_) => "",
        }
    }

    fn statement(&self) -> String {
        match self {
            Self::Table(name) => select("*", name),
            Self::View(name) => format!("SELECT * FROM {}", quoted(name)),
            Self::Query(sql) => sql.clone(),
        }
    }

    fn names(&self, connection: &Connection) -> rusqlite::Result<Vec<String>> {
        let statement = connection.prepare(&self.statement())?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }
}

/// Rows of a table are read in the order of the table. An index that has all columns would be faster for
/// some columns and slower for others, and the rows of two passes would have different numbers.
fn select(columns: &str, table: &str) -> String {
    format!("SELECT {columns} FROM {} NOT INDEXED", quoted(table))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The tables and views, sorted by name, without those of SQLite itself.
fn tables(file: &Arc<str>, connection: &Connection) -> Result<Vec<Origin>> {
    const SQL: &str =
        "SELECT name, type = 'view' FROM sqlite_schema WHERE type IN ('table', 'view')
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let list = || {
        let mut statement = connection.prepare(SQL)?;
        let origin = |row: &rusqlite::Row<'_>| {
            let name: String = row.get(0)?;
            Ok(if row.get(1)? { Origin::View(name) } else { Origin::Table(name) })
        };
        statement.query_map([], origin)?.collect::<rusqlite::Result<Vec<_>>>()
    };
    list().map_err(|error| explain(file, &error))
}

/// The table of this name. SQL does not distinguish upper and lower case.
fn named(file: &Arc<str>, tables: &[Origin], name: &str) -> Result<Origin> {
    let exact = tables.iter().find(|table| table.name() == name);
    let found = exact.or_else(|| tables.iter().find(|t| t.name().eq_ignore_ascii_case(name)));
    found.cloned().ok_or_else(|| {
        let problem = match tables.is_empty() {
            true => DatabaseProblem::NoTables,
            false => DatabaseProblem::NoTable { table: name.to_owned(), tables: names(tables) },
        };
        Error::Database { file: Arc::clone(file), problem }
    })
}

/// The view of a study, or the only table.
fn only(
    file: &Arc<str>,
    connection: &Connection,
    mut tables: Vec<Origin>,
    columns: &ColumnNames,
) -> Result<Origin> {
    let is_study = |table: &Origin| *table == Origin::View(STUDY_VIEW.to_owned());
    if let Some(place) = tables.iter().position(is_study) {
        return Ok(tables.swap_remove(place));
    }
    if tables.len() == 1 {
        return Ok(tables.swap_remove(0));
    }
    let has_votes = |table: &&Origin| {
        let names = table.names(connection);
        names.is_ok_and(|names| Layout::find(file, names, columns).is_ok())
    };
    let problem = match tables.iter().find(has_votes).or(tables.first()) {
        None => DatabaseProblem::NoTables,
        Some(likely) => DatabaseProblem::SeveralTables {
            likely: likely.name().to_owned(),
            tables: names(&tables),
        },
    };
    Err(Error::Database { file: Arc::clone(file), problem })
}

fn names(tables: &[Origin]) -> Vec<String> {
    tables.iter().map(|table| table.name().to_owned()).collect()
}

/// Refuses what is not a single statement that returns a table and changes nothing.
fn check_query(file: &Arc<str>, connection: &Connection, sql: &str) -> Result<()> {
    let problem = match connection.prepare(sql) {
        Ok(statement) if !statement.readonly() => DatabaseProblem::Writes,
        Ok(statement) if statement.column_count() == 0 => DatabaseProblem::NoColumns,
        Ok(_) => return Ok(()),
        Err(SqlError::MultipleStatement) => DatabaseProblem::SeveralStatements,
        // The statement is at fault, not the database.
        Err(error) if matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown)) => {
            DatabaseProblem::Query(reason(&error))
        }
        Err(error) => return Err(explain(file, &error)),
    };
    Err(Error::Database { file: Arc::clone(file), problem })
}
