//! `hodgerank-mpi rank`: all processes rank, process 0 writes.

use clap::Args;
use hodgerank::RankedStudy;
use hodgerank::annotators::judge_parts;
use hodgerank_cli::{DocumentCommand, DocumentOutput};
use hodgerank_commands::rank::{
    AnnotatorList, AnnotatorLists, Linked, RankArgs, RankDocument, check_connected,
};
use hodgerank_commands::{Observer, UncountedRows, annotators};
use hodgerank_io::write::Outputs;

use super::method::{check_bias, check_intervals, check_items, fit_options};
use crate::checkpoint::{CheckpointOptions, Fingerprint};
use crate::comm::{CollectiveError, World};
use crate::input::DistributedStudy;
use crate::passes::Job;
use crate::session::Session;

/// Arguments of `rank`.
#[derive(Debug, Args)]
pub struct MpiRankArgs {
    /// Those of `hodgerank rank`.
    #[command(flatten)]
    rank: DocumentCommand<RankArgs>,
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
    let MpiRankArgs { rank: DocumentCommand { files, args, mut output }, checkpoint } = args;
    // mpirun gives every process a terminal of width zero, wherever its output goes.
    output.plain = true;
    let votes = files.votes();
    // All checks that need no votes come before reading.
    let fit = world.all_ok(fit_options(&args.method))?;
    world.all_ok(args.scale.validate())?;
    world.all_ok(check_intervals(&args.uncertainty))?;
    world.all_ok(check_items(args.kept_items))?;
    world.all_ok(check_bias(&args.bias))?;
    let earlier = || args.earlier_ranking(&votes);
    let earlier = world.all_ok(world.is_root().then(earlier).transpose())?.flatten();
    let inputs: Vec<String> =
        args.input.files(&votes).into_iter().chain(args.against.clone()).collect();
    let open = || {
        let mut outputs = Outputs::new(&inputs);
        checkpoint.claim(&mut outputs)?;
        output.open(&mut outputs)
    };
    let output = world.all_ok(world.is_root().then(open).transpose())?;
    let job = Job {
        files: votes.files(),
        input: &args.input,
        fit: &fit,
        checkpoint: &checkpoint,
        fingerprint,
        has_second_pass: false,
    };
    let check_study = |study: &DistributedStudy| {
        args.scale.check_items(&study.items, study.by.as_deref())?;
        match args.require_connected {
            true => {
                let components = study.graph.components();
                Ok(check_connected(components, Linked::ByVotes, &study.items, study.by.as_deref())?)
            }
            false => Ok(()),
        }
    };
    let mut first = session.first_pass(job, |_| Ok(()), check_study)?;
    let uncounted = UncountedRows::new(&first.rejected, first.excluded.as_ref())
        .with_passed_over(first.passed_over);
    // Process 0 knows the format.
    let with_annotators = output.as_ref().is_some_and(DocumentOutput::is_json);
    let with_annotators = world.broadcast(world.is_root().then_some(with_annotators));
    let annotators = match with_annotators {
        true => AnnotatorLists::Known(
            first.studies.iter().filter_map(|study| judged_annotators(world, study)).collect(),
        ),
        false => AnnotatorLists::None,
    };
    let mut studies = Vec::with_capacity(first.studies.len());
    for study in first.studies.drain(..) {
        studies.push(world.all_ok(args.scale.apply(study))?);
    }
    let write = |output: DocumentOutput| {
        let observer: &dyn Observer = &*session.terminal;
        let document = RankDocument::new(studies, earlier.as_ref(), uncounted, observer)?;
        let provenance = session.provenance::<RankArgs>(votes.files());
        output.write(&RankDocument { annotators, ..document }, &provenance)
    };
    world.all_ok(output.map_or(Ok(()), write))?;
    first.finish();
    session.report_peak_memory();
    Ok(())
}

/// Returns the annotators of all processes, the most problematic first, on process 0; `None` if the
/// method does not judge them. Collective.
fn judged_annotators(world: &World, study: &RankedStudy) -> Option<AnnotatorList> {
    let own = annotators::judged_annotators(study)?;
    Some(AnnotatorList::Judged(judge_parts(world.gather(&own))))
}
