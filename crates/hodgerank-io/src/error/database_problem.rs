//! What can be wrong with a SQLite database, or with what is read of it.

use super::column_problem::list;
use crate::text::visible_name;

/// What can be wrong with a SQLite database, or with what is read of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseProblem {
    /// The content is a stream or compressed. SQLite reads files, and the newest rows can be in a second one.
    #[error("a SQLite database cannot be read from standard input, a pipe or a compressed file")]
    Stream,
    /// There is no table and no view.
    #[error("the database has no tables")]
    NoTables,
    /// There are several tables or views, and the caller has named none.
    #[error("the database has several tables: {}", list(tables))]
    SeveralTables {
        /// The tables and views.
        tables: Vec<String>,
        /// The first one whose columns are those of votes, or else the first one.
        likely: String,
    },
    /// The table that the caller named does not exist.
    #[error("there is no table `{}`; the tables are {}", visible_name(table), list(tables))]
    NoTable {
        /// The table that the caller named.
        table: String,
        /// The tables and views.
        tables: Vec<String>,
    },
    /// The query cannot be run.
    #[error("the query cannot be run: {}", visible_name(.0))]
    Query(String),
    /// The query is not a single statement.
    #[error("the query has more than one statement")]
    SeveralStatements,
    /// The query would change the database.
    #[error("the query would change the database, which is only read")]
    Writes,
    /// The query is a statement that returns no table.
    #[error("the query returns no rows and columns")]
    NoColumns,
    /// The database of a study has no votes that count.
    #[error("the study has no votes yet")]
    NoVotes,
    /// The table or the result of the query has no rows.
    #[error("there are columns but no rows")]
    NoRows,
    /// Another program prevents reading.
    #[error("the database is locked by another program")]
    Locked,
}
