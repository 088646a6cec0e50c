//! The first rows of all processes, as a table on process 0, which receives these rows only.

use std::io::Write as _;

use hodgerank_cli::{OutputOptions, RunFailure};
use hodgerank_commands::Provenance;
use hodgerank_commands::listing::{Listings, SuspectVote};
use hodgerank_commands::outliers::OutliersDocument;
use hodgerank_io::write::Outputs;

use crate::comm::{CollectiveError, World};

/// Prints the first `top` rows of each study, or all if it is 0. Collective.
pub(super) fn print(
    world: &World,
    OutliersDocument { votes, keep }: OutliersDocument,
    top: usize,
    mut outputs: Outputs,
) -> Result<(), CollectiveError> {
    let Listings { mut lists, uncounted } = votes;
    let mut totals: Vec<u64> = lists.iter().map(|list| list.rows.len() as u64).collect();
    world.sum_counts(&mut totals);
    if top > 0 {
        lists.iter_mut().for_each(|list| list.rows.retain(|row| row.order <= top as u64));
    }
    let rows: Vec<Vec<SuspectVote>> =
        lists.iter_mut().map(|list| std::mem::take(&mut list.rows)).collect();
    for part in world.gather(&rows) {
        lists.iter_mut().zip(part).for_each(|(list, rows)| list.rows.extend(rows));
    }
    let print_all = || {
        lists.into_iter().zip(totals).try_for_each(|(mut list, total)| {
            list.rows.sort_by_key(|row| row.order);
            let more = total - list.rows.len() as u64;
            let votes = Listings { lists: vec![list], uncounted: uncounted.clone() };
            let document = OutliersDocument { votes, keep: keep.clone() };
            print_list(&document, more, &mut outputs)
        })
    };
    world.all_ok(if world.is_root() { print_all() } else { Ok(()) })
}

/// Prints a list of which `more` rows are not shown.
fn print_list(
    document: &OutliersDocument,
    more: u64,
    outputs: &mut Outputs,
) -> Result<(), RunFailure> {
    let options = OutputOptions { plain: true, ..OutputOptions::default() };
    // A table says nothing about files and options.
    options.to_output(outputs.standard()?)?.write(document, &Provenance::default())?;
    if more > 0 {
        let mut out = outputs.standard()?;
        let written =
            writeln!(out, "… and {more} more (--top 0 shows all; --output DIR contains all)");
        written.map_err(|error| out.error(error))?;
        out.finish()?;
    }
    Ok(())
}
