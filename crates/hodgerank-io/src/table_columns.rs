//! The columns of a table that is not read here, such as one in a data warehouse.

use crate::columns::{ColumnNames, Layout, Role};
use crate::error::Result;
use crate::outcome::OutcomeAs;

/// The columns of a table of votes, by role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumns {
    /// The item on the left, or the winner if there is no outcome.
    pub left: String,
    /// The item on the right, or the loser.
    pub right: String,
    /// The outcome.
    pub outcome: Option<String>,
    /// Whether outcomes are numbers that change their sign with the sides.
    pub is_signed: bool,
    /// The annotator.
    pub annotator: Option<String>,
    /// How many times the vote was cast.
    pub count: Option<String>,
    /// The columns that divide the votes into studies: none, one or two.
    pub by: Vec<String>,
}

impl TableColumns {
    /// Finds the columns of the table `name` among `columns`, as in a file with this header.
    ///
    /// # Errors
    /// [`crate::Error::Columns`] if a column is missing or ambiguous.
    pub fn find(name: &str, columns: Vec<String>, given: &ColumnNames) -> Result<Self> {
        let layout = Layout::find(&name.into(), columns, given)?;
        let of_role = |role| layout.column(role).map(|(_, name)| name);
        Ok(Self {
            left: of_role(Role::Left).unwrap_or_default(),
            right: of_role(Role::Right).unwrap_or_default(),
            outcome: of_role(Role::Outcome),
            is_signed: layout.outcome_as == OutcomeAs::Number,
            annotator: of_role(Role::Annotator),
            count: of_role(Role::Count),
            by: [Role::By, Role::SecondBy].into_iter().filter_map(of_role).collect(),
        })
    }
}
