//! `hodgerank-mpi rank`: votes in many places, one ranking out.
use hodgerank::select::OutlierRule;
use hodgerank::{FitOptions, Method};
use hodgerank_cli::{Failure, RankArguments, write_ranking};
use hodgerank_commands::rank::{Ranked, check_connected};
use hodgerank_commands::{CountedStudy, MethodOptions};
use hodgerank_io::write::RejectedSummary;

use crate::agree::{Failed, agree};
use crate::fingerprint::Fingerprint;
use crate::flags::CheckpointOptions;
use crate::look::Job;
use crate::session::Session;

/// Ranks the items of all files; rank 0 writes.
///
/// # Errors
/// If anyone fails, on all ranks.
pub fn run(
    session: &Session,
    arguments: &RankArguments,
    checkpoint: &CheckpointOptions,
    flags: Fingerprint,
) -> Result<(), Failed> {
    let world = &session.world;
    let RankArguments { files, options, output } = arguments;
    let votes = files.votes();
    // Everything that can be refused is refused before the work.
    let fit = agree(world, fit_options(&options.method))?;
    let format = agree(world, output.format())?;
    let file = if world.is_first() { output.create().map(Some) } else { Ok(None) };
    let file = agree(world, file)?;
    let (files, input, fit) = (votes.files(), &options.input, &fit);
    let job = Job { files, input, fit, checkpoint, flags, again: false };
    let connected = |study: &CountedStudy| match options.require_connected {
        true => Ok(check_connected(&study.graph, &study.items, study.by.as_deref())?),
        false => Ok(()),
    };
    let mut look = session.look(job, |_| Ok(()), connected)?;
    let rejected = RejectedSummary::from(&look.rejected);
    let tables = look.studies.drain(..).map(|study| study.table).collect();
    let ranked = Ranked { tables, rejected };
    agree(world, file.map_or(Ok(()), |file| write_ranking(&ranked, format, output, file)))?;
    look.done();
    session.tell_memory();
    Ok(())
}

/// The options of the fit, for methods and rules that ranks can share.
///
/// # Errors
/// If an option makes no sense, or the method or the rule needs all votes in one place.
pub fn fit_options(options: &MethodOptions) -> Result<FitOptions, Failure> {
    let mut fit = options.fit_options()?;
    if let Some(method) = fit.method.filter(|method| !method.info().is_distributable) {
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
