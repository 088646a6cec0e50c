//! The methods and outlier rules that can be distributed.

use hodgerank::uncertainty::IntervalEngine;
use hodgerank::{FitOptions, IntervalOptions, Method, OutlierRule};
use hodgerank_cli::RunFailure;
use hodgerank_commands::position_bias::CorrectionOptions;
use hodgerank_commands::{ItemOptions, or_list};

/// Returns the help of --method.
pub(super) fn help() -> String {
    format!(
        "How to compute the scores: {} [default: crowd if annotators are known, otherwise bt; lbi for \
         graded votes without annotators]",
        distributable_methods()
    )
}

/// Returns the names of the methods that can be distributed: `a, b or c`.
fn distributable_methods() -> String {
    let distributable = Method::ALL.iter().filter(|method| method.info().is_distributable);
    let names: Vec<&str> = distributable.map(|method| method.as_str()).collect();
    or_list(&names)
}

/// Refuses intervals: their covariance needs all votes of all annotators in one place.
pub(super) fn check_intervals(options: &IntervalOptions) -> Result<(), RunFailure> {
    options.validate()?;
    match options.intervals {
        None | Some(IntervalEngine::None) => Ok(()),
        Some(engine) => Err(RunFailure::usage(
            format!("--intervals {engine} needs all votes on one machine"),
            "leave it out, or run `hodgerank rank` on one machine",
        )),
    }
}

/// Refuses to leave out items: how many votes an item has is known only after all votes were distributed.
pub(super) fn check_items(options: ItemOptions) -> Result<(), RunFailure> {
    match options.min_votes {
        None => Ok(()),
        Some(votes) => Err(RunFailure::usage(
            format!("--min-votes {votes} needs all votes on one machine"),
            "leave it out, or run `hodgerank rank` on one machine",
        )),
    }
}

/// Refuses to take out position bias: who is biased is known only from all votes together.
pub(super) fn check_bias(options: &CorrectionOptions) -> Result<(), RunFailure> {
    match options.position_bias {
        None => Ok(()),
        Some(_) => Err(RunFailure::usage(
            "--position-bias correct needs all votes on one machine",
            "leave it out, or run `hodgerank rank` on one machine",
        )),
    }
}

/// Returns the options of the fit.
///
/// # Errors
/// If an option is invalid, or the method or the outlier rule needs all votes on one machine.
pub(super) fn fit_options(options: &FitOptions) -> Result<FitOptions, RunFailure> {
    options.validate()?;
    if let Some(method) = options.method.filter(|method| !method.info().is_distributable) {
        return Err(RunFailure::usage(
            format!("--method {method} needs all votes on one machine"),
            format!("use {}, or run `hodgerank rank` on one machine", distributable_methods()),
        ));
    }
    if matches!(options.rule(), OutlierRule::CrossValidation(_)) {
        return Err(RunFailure::usage(
            "--outliers cv needs all votes on one machine",
            "use a share (5%), a count (200), lambda=L, time=T, scaled or scaled=M, or run \
             `hodgerank rank` on one machine",
        ));
    }
    Ok(*options)
}
