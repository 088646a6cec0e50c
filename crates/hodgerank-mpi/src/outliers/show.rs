//! The first lines of all, as a table on rank 0. Only what is shown travels.

use std::io::Write as _;

use hodgerank_cli::{Failure, OutputFormat, OutputOptions, write_outliers};
use hodgerank_commands::outliers::Outliers;
use hodgerank_io::write::{Listing, Output, RejectedSummary, SuspectRow};

use crate::agree::{Failed, agree};
use crate::text::{from_bytes, to_bytes};
use crate::world::World;

/// Shows the lines up to `top` of each study, all for 0.
pub(super) fn table(
    world: &World,
    mut lists: Vec<Listing<SuspectRow>>,
    rejected: &RejectedSummary,
    top: usize,
) -> Result<(), Failed> {
    let mut lines: Vec<u64> = lists.iter().map(|list| list.rows.len() as u64).collect();
    world.count(&mut lines);
    if top > 0 {
        lists.iter_mut().for_each(|list| list.rows.retain(|row| row.order <= top as u64));
    }
    let shown: Vec<&[SuspectRow]> = lists.iter().map(|list| &list.rows[..]).collect();
    let parts = world.gather(&to_bytes(&shown));
    let draw = || -> Result<(), Failure> {
        let mut whole: Vec<Vec<SuspectRow>> = vec![Vec::new(); lists.len()];
        for part in &parts {
            let part: Vec<Vec<SuspectRow>> = from_bytes(part)?;
            whole.iter_mut().zip(part).for_each(|(rows, more)| rows.extend(more));
        }
        for ((list, mut rows), lines) in lists.into_iter().zip(whole).zip(lines) {
            rows.sort_by_key(|row| row.order);
            let more = lines - rows.len() as u64;
            let list = Outliers::votes(vec![Listing { rows, ..list }], rejected.clone());
            let options = OutputOptions { plain: true, ..OutputOptions::default() };
            write_outliers(&list, OutputFormat::Table, &options, Output::standard())?;
            if more > 0 {
                let mut out = Output::standard();
                let said =
                    writeln!(out, "… and {more} more (--top 0 shows all; --output DIR has all)");
                said.map_err(|error| out.error(error))?;
                out.finish()?;
            }
        }
        Ok(())
    };
    agree(world, if world.is_first() { draw() } else { Ok(()) })
}
