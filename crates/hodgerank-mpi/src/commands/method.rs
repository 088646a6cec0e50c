//! The methods and outlier rules that can be distributed.

use hodgerank::{FitOptions, Method, OutlierRule};
use hodgerank_cli::RunFailure;
use hodgerank_commands::or_list;

/// The method without --method.
const DEFAULT_METHOD: Method = Method::Bregman;

/// Returns the help of --method.
pub(super) fn help() -> String {
    format!("How to compute the scores: {} [default: {DEFAULT_METHOD}]", distributable_methods())
}

/// Returns the names of the methods that can be distributed: `a, b or c`.
fn distributable_methods() -> String {
    let distributable = Method::ALL.iter().filter(|method| method.info().is_distributable);
    let names: Vec<&str> = distributable.map(|method| method.as_str()).collect();
    or_list(&names)
}

/// Returns the options of the fit.
///
/// # Errors
/// If an option is invalid, or the method or the outlier rule needs all votes on one machine.
pub(super) fn fit_options(options: &FitOptions) -> Result<FitOptions, RunFailure> {
    options.validate()?;
    let mut fit = *options;
    if let Some(method) = fit.method.filter(|method| !method.info().is_distributable) {
        return Err(RunFailure::usage(
            format!("--method {method} needs all votes on one machine"),
            format!("use {}, or run `hodgerank rank` on one machine", distributable_methods()),
        ));
    }
    if matches!(fit.rule(), OutlierRule::CrossValidation(_)) {
        return Err(RunFailure::usage(
            "--outliers cv needs all votes on one machine",
            "use a share (5%), a count (200), lambda=L, time=T, scaled or scaled=M, or run \
             `hodgerank rank` on one machine",
        ));
    }
    // As on one machine, λ selects a point on the path of Huber-LASSO.
    let by_lambda = matches!(fit.rule(), OutlierRule::Lambda(_));
    fit.method.get_or_insert(if by_lambda { Method::HuberLasso } else { DEFAULT_METHOD });
    Ok(fit)
}
