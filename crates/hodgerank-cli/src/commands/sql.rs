//! `hodgerank sql COMMAND`: the query that counts votes in a data warehouse.

use std::io::Write as _;

use hodgerank_commands::sql::{SqlArgs, sql};
use hodgerank_io::write::Outputs;

use crate::failure::RunFailure;

/// Writes the query to standard output.
pub(crate) fn run(args: &SqlArgs) -> Result<(), RunFailure> {
    let query = sql(args)?;
    let mut output = Outputs::new(&[]).standard()?;
    output.write_all(query.as_bytes()).map_err(|error| output.error(error))?;
    Ok(output.finish()?)
}
