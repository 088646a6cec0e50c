//! The first rows of all processes, as a table on process 0, which receives these rows only.

use std::io::Write as _;

use hodgerank_cli::{Failure, OutputFormat, OutputOptions, write_outliers};
use hodgerank_commands::outliers::Outliers;
use hodgerank_io::write::{Listing, Output, RejectedSummary, SuspectRow};

use crate::comm::{CollectiveError, World};

/// Prints the first `top` rows of each study, or all if it is 0. Collective.
pub(super) fn print(
    world: &World,
    mut lists: Vec<Listing<SuspectRow>>,
    rejected: &RejectedSummary,
    top: usize,
) -> Result<(), CollectiveError> {
    let mut totals: Vec<u64> = lists.iter().map(|list| list.rows.len() as u64).collect();
    world.sum_counts(&mut totals);
    if top > 0 {
        lists.iter_mut().for_each(|list| list.rows.retain(|row| row.order <= top as u64));
    }
    let rows: Vec<Vec<SuspectRow>> =
        lists.iter_mut().map(|list| std::mem::take(&mut list.rows)).collect();
    for part in world.gather(&rows) {
        lists.iter_mut().zip(part).for_each(|(list, rows)| list.rows.extend(rows));
    }
    let print_all = || {
        lists
            .into_iter()
            .zip(totals)
            .try_for_each(|(list, total)| print_list(list, rejected, total))
    };
    world.all_ok(if world.is_root() { print_all() } else { Ok(()) })
}

fn print_list(
    mut list: Listing<SuspectRow>,
    rejected: &RejectedSummary,
    total: u64,
) -> Result<(), Failure> {
    list.rows.sort_by_key(|row| row.order);
    let more = total - list.rows.len() as u64;
    let document = Outliers::votes(vec![list], rejected.clone());
    let options = OutputOptions { plain: true, ..OutputOptions::default() };
    write_outliers(&document, OutputFormat::Table, &options, Output::standard())?;
    if more > 0 {
        let mut out = Output::standard();
        let written = writeln!(out, "… and {more} more (--top 0 shows all; --output DIR has all)");
        written.map_err(|error| out.error(error))?;
        out.finish()?;
    }
    Ok(())
}
