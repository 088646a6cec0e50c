//! Each process reads its shards, and all learn what was rejected.
//!
//! Checks that one machine makes of all files together are made over all processes: whether
//! outcomes were read in contradictory ways, and whether any row is left. If several files are bad,
//! the first one on the command line is reported, and in it the first bad row. One difference
//! remains: process 0 opens all files before any is read, so that a missing file is reported even
//! if an earlier file has a bad row.

use std::sync::Arc;

use hodgerank_cli::RunFailure;
use hodgerank_commands::{Observer, Task};
use hodgerank_io::read::Progress;
use hodgerank_io::study::OutcomesSeen;
use hodgerank_io::{
    BadRow, Error, ExcludedVotes, Input, PassedOver, ReadOptions, Rejected, Sources,
};
use serde::{Deserialize, Serialize};

use super::shard_plan::ShardPlan;
use crate::comm::{CollectiveError, Exchange as _, World};

/// Reads the shards of this process, and returns them for the second pass. Studies and tables are
/// those read here; rejected and excluded rows and the outcomes seen are those of all processes.
/// Collective.
///
/// # Errors
/// If any process cannot read a shard, or the shards contradict each other.
pub fn read(
    world: &World,
    plan: &ShardPlan,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<(Input, Sources), CollectiveError> {
    let shares = plan.shares(world.rank());
    let sources = Sources::shares(&shares);
    let progress = Arc::new(Progress::default());
    let work = Task::Reading(plan.bytes(world.rank()), &progress);
    let input = observer.run(work, || sources.read_part(options, &progress));
    let input = input.map_err(RunFailure::from).and_then(|input| Ok(input?));
    let mut input = world.all_ok_or_first(input, |failure| position(plan, failure))?;
    let ReadReport { any_good, rejected, passed_over, excluded, outcomes } =
        ReadReport::gather(world, &input);
    input.rejected = in_file_order(plan, rejected);
    input.passed_over = passed_over;
    input.excluded = excluded;
    input.outcomes = outcomes;
    let left = || input.rejected.check_left(any_good, input.excluded.as_ref(), &input.passed_over);
    world.all_ok(input.outcomes.check().and_then(|()| left()))?;
    Ok((input, sources))
}

/// What the other processes must know about the rows that a process read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ReadReport {
    any_good: bool,
    rejected: Rejected,
    passed_over: PassedOver,
    excluded: Option<ExcludedVotes>,
    outcomes: OutcomesSeen,
}

impl ReadReport {
    /// Combines the reports of all processes.
    fn gather(world: &World, input: &Input) -> Self {
        let local = Self {
            any_good: !input.studies.is_empty(),
            rejected: input.rejected.clone(),
            passed_over: input.passed_over,
            excluded: input.excluded.clone(),
            outcomes: input.outcomes.clone(),
        };
        let mut combined = Self::default();
        for report in world.all_gather(&local) {
            combined.any_good |= report.any_good;
            combined.rejected.total += report.rejected.total;
            combined.rejected.first.extend(report.rejected.first);
            combined.rejected.values.extend(report.rejected.values);
            combined.passed_over.merge(&report.passed_over);
            if let Some(excluded) = &report.excluded {
                combined.excluded.get_or_insert_default().merge(excluded);
            }
            combined.outcomes.merge(&report.outcomes);
        }
        combined
    }
}

/// Keeps the rejected rows that one machine would have listed. Processes read interleaved parts of a file,
/// so their rows are sorted before equal faults are joined under the first row that has them.
fn in_file_order(plan: &ShardPlan, mut rejected: Rejected) -> Rejected {
    rejected.first.sort_by_key(|row| row_position(plan, row));
    rejected.values.sort_by_key(|value| row_position(plan, &value.first));
    let mut ordered = Rejected::default();
    ordered.merge(rejected);
    ordered
}

/// Returns where in the input a failure happened: the file's number and the row in it.
fn position(plan: &ShardPlan, failure: &RunFailure) -> (u64, u64) {
    let RunFailure::Command(hodgerank_commands::Failure::File(error)) = failure else {
        return (u64::MAX, 0);
    };
    match error {
        Error::Row(row) => row_position(plan, row),
        other => (other.file().map_or(u64::MAX, |file| file_number(plan, file)), 0),
    }
}

fn row_position(plan: &ShardPlan, row: &BadRow) -> (u64, u64) {
    (file_number(plan, &row.file), row.position.number())
}

fn file_number(plan: &ShardPlan, file: &str) -> u64 {
    plan.files.iter().position(|planned| planned.path == file).map_or(u64::MAX, |k| k as u64)
}
