//! Each rank reads its share, and all hear what was rejected.
//!
//! What one machine checks of all files together is checked here of all ranks together: whether
//! outcomes were read in ways that contradict each other, and whether any row was good. Of several
//! bad files the first in the order given is named, and in it the first bad row. One difference is
//! left: rank 0 opens all files before anyone reads, so that a missing file is told of even where
//! an earlier one has a bad row.

use std::sync::Arc;

use hodgerank_cli::Failure;
use hodgerank_commands::{InputOptions, Watch, Work};
use hodgerank_io::read::Progress;
use hodgerank_io::study::OutcomesSeen;
use hodgerank_io::{BadRow, Error, Input, Rejected, Sources};
use serde::{Deserialize, Serialize};

use crate::agree::{Failed, agree, agree_in_order};
use crate::shards::Plan;
use crate::text::{from_bytes, to_bytes};
use crate::world::World;

/// Reads what the plan gives to this rank. Studies and tables are those read here; rejected rows
/// and the outcomes seen are those of everyone.
///
/// # Errors
/// If anyone cannot read a share, or the shares do not go together.
pub fn read(
    world: &World,
    plan: &Plan,
    options: &InputOptions,
    threads: usize,
    observer: &dyn Observer,
) -> Result<Input, Failed> {
    let shares = plan.shares(world.rank());
    let sources = Sources::shares(&shares);
    let progress = Arc::new(Progress::default());
    let options = options.read_options(threads);
    let work = Task::Reading(plan.bytes(world.rank()), &progress);
    let input = observer.run(work, || sources.read_part(&options, &progress));
    let input = input.map_err(Failure::from).and_then(|input| Ok(input?));
    let mut input = agree_in_order(world, input, |failure| place(plan, failure))?;
    let heard = hear(world, &Said::new(&input));
    let Said { any_good, rejected, outcomes } = agree(world, heard)?;
    input.rejected = in_order(plan, rejected);
    input.outcomes = outcomes;
    let checked = input.outcomes.check().and_then(|()| input.rejected.check_left(any_good));
    agree(world, checked)?;
    observer.list_rejected(&input.rejected);
    Ok(input)
}

/// What others must know of what was read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Said {
    any_good: bool,
    rejected: Rejected,
    outcomes: OutcomesSeen,
}

impl Said {
    fn new(input: &Input) -> Self {
        Self {
            any_good: !input.studies.is_empty(),
            rejected: input.rejected.clone(),
            outcomes: input.outcomes.clone(),
        }
    }

    fn add(&mut self, other: Self) {
        self.any_good |= other.any_good;
        self.rejected.total += other.rejected.total;
        self.rejected.first.extend(other.rejected.first);
        self.outcomes.merge(&other.outcomes);
    }
}

/// What all say together.
fn hear(world: &World, said: &Said) -> Result<Said, Failure> {
    let mut all = Said::default();
    for bytes in world.all_gather(&to_bytes(said)) {
        all.add(from_bytes(&bytes)?);
    }
    Ok(all)
}

/// The first rejected rows of all, as one machine would have met them.
fn in_order(plan: &Plan, mut rejected: Rejected) -> Rejected {
    rejected.first.sort_by_key(|row| place_of_row(plan, row));
    rejected.first.truncate(Rejected::MAX_LISTED);
    rejected
}

/// Where a failure stands in the input: the file's number, and the row in it.
fn place(plan: &Plan, failure: &Failure) -> (u64, u64) {
    let Failure::Command(hodgerank_commands::Failure::File(error)) = failure else {
        return (u64::MAX, 0);
    };
    match error {
        Error::Row(row) => place_of_row(plan, row),
        other => (other.file().map_or(u64::MAX, |file| number_of(plan, file)), 0),
    }
}

fn place_of_row(plan: &Plan, row: &BadRow) -> (u64, u64) {
    (number_of(plan, &row.file), row.position.number())
}

fn number_of(plan: &Plan, file: &str) -> u64 {
    plan.files.iter().position(|known| known.path == file).map_or(u64::MAX, |k| k as u64)
}
