//! `--exclude-annotators` where several processes share the votes.

use std::sync::Arc;

use hodgerank::annotators::{StudyVotes, judge_shared};
use hodgerank::communicator::Communicator;
use hodgerank::{FitOptions, Method, RankedStudy};
use hodgerank_commands::exclude::{Exclusion, named, suspicious_of};
use hodgerank_commands::{InputOptions, Kept, annotators};
use hodgerank_io::ExcludedAnnotators;

use super::first_pass::solve;
use crate::comm::{CollectiveError, Exchange as _, MpiCommunicator};
use crate::input::{KeptColumns, ShardPlan, read, studies};
use crate::session::Session;

/// Returns whose votes are left out, if anybody's are. Collective.
pub(super) fn resolve(
    session: &Session,
    plan: &ShardPlan,
    input: &InputOptions,
) -> Result<Option<(Exclusion, Arc<ExcludedAnnotators>)>, CollectiveError> {
    let world = &session.world;
    // Process 0 alone reads the names, because their file can be a pipe.
    let exclusion = world.is_root().then(|| input.exclusion()).transpose();
    let exclusion: Option<Exclusion> = world.broadcast(world.all_ok(exclusion)?);
    let annotators = match &exclusion {
        None => return Ok(None),
        Some(Exclusion::Names { names, .. }) => named(names),
        Some(Exclusion::Suspicious) => suspicious(session, plan, input)?,
    };
    Ok(exclusion.zip(Some(Arc::new(annotators))))
}

/// Fits the crowd model to each study and judges the annotators over all studies.
fn suspicious(
    session: &Session,
    plan: &ShardPlan,
    input: &InputOptions,
) -> Result<ExcludedAnnotators, CollectiveError> {
    let Session { world, terminal, threads, .. } = session;
    // Checkpoints are those of the ranking.
    let communicator: Arc<dyn Communicator> =
        Arc::new(MpiCommunicator::new(Arc::clone(world), None));
    let kept = Kept { annotator_votes: true, sides: false };
    let files: Vec<String> = plan.files.iter().map(|file| file.path.clone()).collect();
    let options = kept.apply(world.all_ok(input.read_options(&files, *threads))?);
    let (read, _) = read::read(world, plan, &options, &**terminal)?;
    world.all_ok(annotators::check(&read.tables))?;
    let columns = KeptColumns::new(kept, &read.tables);
    let fit = FitOptions::new().method(Method::Crowd);
    let mut ranked: Vec<RankedStudy> = Vec::new();
    for study in studies::distribute(world, &communicator, read.studies, columns)? {
        let solved = solve(study, 0, &fit, "judging annotators", &**terminal);
        ranked.push(world.all_ok(solved)?);
    }
    let votes: Vec<StudyVotes<'_>> = ranked.iter().filter_map(annotators::study_votes).collect();
    let mut own = judge_shared(&votes, &*communicator);
    own.retain(|annotator| annotator.reason_to_exclude().is_some());
    Ok(suspicious_of(&world.all_gather(&own).concat()))
}
