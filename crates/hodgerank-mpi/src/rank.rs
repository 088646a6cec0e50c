//! `hodgerank-mpi rank`: votes in many places, one ranking out.

use std::sync::Arc;

use hodgerank::fit::{FitOptions, Method};
use hodgerank::select::OutlierRule;
use hodgerank::team::{Checkpoint, Team};
use hodgerank_cli::{Failure, RankArguments, write_ranking};
use hodgerank_commands::rank::{Ranked, check_connected};
use hodgerank_commands::{MethodOptions, Watch, judge, places};
use hodgerank_io::write::RejectedSummary;
use hodgerank_report::words::thousands;

use crate::agree::{Failed, agree};
use crate::checkpoint::Checkpoints;
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::session::Session;
use crate::shards::Plan;
use crate::{MpiTeam, memory, reading, studies};

/// Ranks the items of all files; rank 0 writes.
///
/// # Errors
/// If anyone fails, on all ranks.
pub fn run(
    session: &Session,
    arguments: &RankArguments,
    checkpoint: &CheckpointOptions,
    options: Fingerprint,
) -> Result<(), Failed> {
    let Session { world, voice, threads } = session;
    let voice: &dyn Watch = &**voice;
    let votes = arguments.files.votes();
    // Everything that can be refused is refused before the work.
    let fit = agree(world, fit_options(&arguments.options.method))?;
    let format = agree(world, arguments.output.format())?;
    let mut output = None;
    let mut prepare = || {
        if world.is_first() {
            places::check_inputs(votes.files(), voice)?;
            output = Some(arguments.output.create()?);
        }
        Ok::<_, Failure>(())
    };
    agree(world, prepare())?;
    let input_format = arguments.options.input.read_options(*threads).format;
    let plan = Plan::make(world, votes.files(), input_format)?;
    let fingerprint = options.with_plan(&plan, world.size());
    let kept = Checkpoints::open(session, checkpoint, fingerprint)?.map(Arc::new);
    let keeper = kept.clone().map(|kept| kept as Arc<dyn Checkpoint>);
    let team: Arc<dyn Team> = Arc::new(MpiTeam::new(Arc::clone(world), keeper));

    let input = reading::read(world, &plan, &arguments.options.input, *threads, voice)?;
    let rejected = RejectedSummary::from(&input.rejected);
    let studies = studies::share(world, &team, input.studies)?;
    if arguments.options.require_connected {
        for study in &studies {
            agree(world, check_connected(&study.graph, &study.items, study.by.as_deref()))?;
        }
    }
    let mut tables = Vec::with_capacity(studies.len());
    for (number, study) in studies.into_iter().enumerate() {
        if let Some(kept) = &kept {
            kept.begin_study(number);
        }
        tables.push(agree(world, judge(study, rejected.rows, &fit, voice))?.table);
    }
    let ranked = Ranked { tables, rejected };
    let written = match output {
        Some(output) => write_ranking(&ranked, format, &arguments.output, output),
        None => Ok(()),
    };
    agree(world, written)?;
    if let Some(kept) = kept {
        kept.remove();
    }
    if let Some(bytes) = memory::most_bytes_of_a_rank(world) {
        let megabytes = thousands(bytes.div_ceil(1_000_000));
        voice.note(&format!("{} ranks, each of which held at most {megabytes} MB", world.size()));
    }
    Ok(())
}

/// The options of the fit, for methods and rules that ranks can share.
///
/// # Errors
/// If an option makes no sense, or the method or the rule needs all votes in one place.
pub fn fit_options(options: &MethodOptions) -> Result<FitOptions, Failure> {
    let mut fit = options.fit_options()?;
    if let Some(method) = fit.method.filter(|method| !method.can_be_shared()) {
        return Err(Failure::usage(
            format!("--method {} needs all votes on one machine", method.as_str()),
            "use l2, ridge, lbi or hlasso, or run `hodgerank rank` on one machine",
        ));
    }
    if matches!(fit.outliers, OutlierRule::CrossValidation(_)) {
        return Err(Failure::usage(
            "--outliers cv needs all votes on one machine",
            "use a share (5%), a count (200), lambda=L, time=T, scaled or scaled=M, or run \
             `hodgerank rank` on one machine",
        ));
    }
    // λ is a point on the path of Huber-LASSO, as on one machine.
    let by_lambda = matches!(fit.outliers, OutlierRule::Lambda(_));
    fit.method.get_or_insert(if by_lambda { Method::HuberLasso } else { Method::Bregman });
    Ok(fit)
}
