//! `hodgerank-mpi rank`: all processes rank, process 0 writes.

use clap::Args;
use hodgerank_cli::{RankArguments, write_ranking};
use hodgerank_commands::CountedStudy;
use hodgerank_commands::rank::{Ranked, check_connected};
use hodgerank_io::write::RejectedSummary;

use super::method::fit_options;
use crate::checkpoint::{CheckpointOptions, Fingerprint};
use crate::comm::CollectiveError;
use crate::passes::Job;
use crate::session::Session;

/// Arguments of `rank`.
#[derive(Debug, Args)]
pub struct MpiRankArgs {
    /// Those of `hodgerank rank`.
    #[command(flatten)]
    rank: RankArguments,
    /// Checkpoints.
    #[command(flatten)]
    checkpoint: CheckpointOptions,
}

/// Ranks the items of all files. Collective.
pub(super) fn run(
    session: &Session,
    args: MpiRankArgs,
    fingerprint: Fingerprint,
) -> Result<(), CollectiveError> {
    let world = &session.world;
    let MpiRankArgs { rank: RankArguments { files, options, mut output }, checkpoint } = args;
    // mpirun gives every process a terminal of width zero, wherever its output goes.
    output.plain = true;
    let votes = files.votes();
    // All checks that need no votes come before reading.
    let fit = world.all_ok(fit_options(&options.method))?;
    let format = world.all_ok(output.format())?;
    let file = world.is_root().then(|| output.create()).transpose();
    let file = world.all_ok(file)?;
    let job = Job {
        files: votes.files(),
        input: &options.input,
        fit: &fit,
        checkpoint: &checkpoint,
        fingerprint,
        has_second_pass: false,
    };
    let connected = |study: &CountedStudy| match options.require_connected {
        true => Ok(check_connected(&study.graph, &study.items, study.by.as_deref())?),
        false => Ok(()),
    };
    let mut first = session.first_pass(job, |_| Ok(()), connected)?;
    let rejected = RejectedSummary::from(&first.rejected);
    let tables = first.studies.drain(..).map(|study| study.table).collect();
    let ranked = Ranked { tables, rejected };
    world.all_ok(file.map_or(Ok(()), |file| write_ranking(&ranked, format, &output, file)))?;
    first.finish();
    session.report_peak_memory();
    Ok(())
}
