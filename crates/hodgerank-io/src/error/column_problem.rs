//! What can be wrong with the columns of a file.

use super::bad_row::Problem;
use crate::column_guess::ColumnGuess;
use crate::text::visible_name;

/// What can be wrong with the columns of a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// No pair of columns has names that are known for items.
    #[error("no pair of item columns was found among {}", list(columns))]
    NoItems {
        /// The columns of the file.
        columns: Vec<String>,
        /// Whether some column name is a number: the file probably lacks a header.
        has_numbers: bool,
        /// Which columns the values suggest.
        guess: Option<Box<ColumnGuess>>,
    },
    /// No column has a name that is known for outcomes.
    #[error("there is no outcome column among {}", list(columns))]
    NoOutcome {
        /// The columns of the file.
        columns: Vec<String>,
        /// Which columns the values suggest.
        guess: Option<Box<ColumnGuess>>,
    },
    /// Two columns have names that are known for outcomes.
    #[error(
        "two columns could be the outcome: `{}` and `{}`",
        visible_name(first),
        visible_name(second)
    )]
    TwoOutcomes {
        /// One of the columns.
        first: String,
        /// The other column.
        second: String,
    },
    /// Two pairs of columns have names that are known for items.
    #[error(
        "two pairs of columns could be the items: `{}` and `{}`, or `{}` and `{}`",
        visible_name(&pairs[0].0),
        visible_name(&pairs[0].1),
        visible_name(&pairs[1].0),
        visible_name(&pairs[1].1)
    )]
    TwoItemPairs {
        /// The pairs.
        pairs: Box<[(String, String); 2]>,
        /// Whether the first pair is winner and loser, not left and right.
        has_winner: bool,
    },
    /// Two columns have names that are known for a role.
    #[error(
        "two columns could be the {role}: `{}` and `{}`",
        visible_name(first),
        visible_name(second)
    )]
    TwoColumns {
        /// The role: a field of [`ColumnNames`](crate::ColumnNames).
        role: &'static str,
        /// One of the columns.
        first: String,
        /// The other column.
        second: String,
    },
    /// A column that the caller named does not exist.
    #[error(
        "there is no column `{}` ({role}); the columns are {}",
        visible_name(name),
        list(columns)
    )]
    NotFound {
        /// The name of the column.
        name: String,
        /// What it was named for: a field of [`ColumnNames`](crate::ColumnNames).
        role: &'static str,
        /// The columns of the file.
        columns: Vec<String>,
    },
    /// Several columns have the same name.
    #[error("the column `{}` appears more than once", visible_name(.0))]
    Duplicate(String),
    /// One column was named for two of left item, right item and outcome.
    #[error("the column `{}` was given twice", .0.escape_debug())]
    GivenTwice(String),
    /// A column name in the header cannot be read.
    #[error("the header, column {column}: {problem}: \"{}\"", value.escape_debug())]
    Header {
        /// The number of the column, from 1.
        column: usize,
        /// The bad name.
        value: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A column has a type that does not fit its role.
    #[error(
        "column {column} (`{}`) has the type {data_type}, but {expected} are needed",
        visible_name(name)
    )]
    WrongType {
        /// The number of the column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// Its type.
        data_type: String,
        /// Types that fit.
        expected: &'static str,
    },
    /// A column has a type that cannot be read.
    #[error("a column has the type {0}, which cannot be read")]
    UnsupportedType(String),
    /// A table in memory cannot be read.
    #[error("the table cannot be read: {0}")]
    Table(String),
}

/// Column names for a message.
pub(super) fn list(columns: &[String]) -> String {
    const MAX_LISTED: usize = 20;
    let listed = columns.iter().take(MAX_LISTED);
    let mut list =
        listed.map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
    if columns.len() > MAX_LISTED {
        list.push_str(&format!(" and {} more", columns.len() - MAX_LISTED));
    }
    list
}
