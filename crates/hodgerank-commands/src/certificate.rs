//! What was checked about a fit, in JSON and in words.

use hodgerank::certificate::{MAX_ERROR, MAX_VIOLATION};
use hodgerank::path::Parameter;
use hodgerank::{Asked, Certificate, RankedStudy, Status};
use hodgerank_report::words::thousands;
use serde::Serialize;

/// The certificate in JSON: what was asked for and what was reached, in votes, λ or time, and the
/// violation of the optimality conditions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CertificateSummary {
    /// What the outlier rule asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<Point>,
    /// What was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached: Option<Point>,
    /// Largest relative violation of the optimality conditions; `null` for methods without them.
    pub violation: Option<f64>,
    /// The largest violation with which a result counts as solved.
    pub max_violation: f64,
    /// Bound of the error of any difference of scores, relative to their spread; `null` if unknown.
    pub error_bound: Option<f64>,
    /// The largest error bound with which a result counts as solved.
    pub max_error: f64,
    /// Number of components that the votes that count connect.
    pub components: usize,
}

/// A number of flagged votes or a point of a path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// Flagged votes.
    Votes(f64),
    /// λ.
    Lambda(f64),
    /// Time.
    Time(f64),
}

impl CertificateSummary {
    /// The certificate of a fit.
    #[must_use]
    pub fn new(certificate: &Certificate) -> Self {
        let point: fn(f64) -> Point = match certificate.asked {
            Some(Asked::Value(Parameter::Lambda, _)) => Point::Lambda,
            Some(Asked::Value(Parameter::Time, _)) => Point::Time,
            Some(Asked::Votes(_) | Asked::AtMostVotes(_)) | None => Point::Votes,
        };
        let asked = certificate.asked.map(|asked| match asked {
            Asked::Votes(value) | Asked::AtMostVotes(value) | Asked::Value(_, value) => value,
        });
        Self {
            asked: asked.map(point),
            reached: certificate.reached.map(point),
            violation: certificate.violation,
            max_violation: MAX_VIOLATION,
            error_bound: certificate.error_bound,
            max_error: MAX_ERROR,
            components: certificate.components,
        }
    }
}

/// One sentence on what was checked; none if the warnings say more.
#[must_use]
pub(crate) fn confirmation(ranked: &RankedStudy) -> Option<String> {
    let is_confirmed = matches!(ranked.fit.status, Status::Solved | Status::Complete);
    let Certificate { violation, error_bound, .. } = ranked.fit.certificate;
    match error_bound.or(violation) {
        Some(error) if is_confirmed => {
            let digits = -error.max(f64::EPSILON).log10();
            Some(format!("scores checked to {digits:.0} digits"))
        }
        _ => None,
    }
}

/// Why the result is not what was asked for, if it is not.
#[must_use]
pub(crate) fn objection(ranked: &RankedStudy) -> Option<String> {
    let fit = &ranked.fit;
    let certificate = &fit.certificate;
    match fit.status {
        Status::Solved | Status::Complete => None,
        Status::IterationLimit => Some(match fit.linear {
            Some(linear) => format!(
                "the solver stopped at its iteration limit with a relative residual of {:.1e}; \
                 raise --max-iterations or try --backend sparse",
                linear.residual
            ),
            None if fit.model.is_some() => {
                "the search for the scores stopped at its limit of steps; \
                                            they may still change in the second digit"
                    .to_owned()
            }
            None => "the method reached its iteration limit before the requested number of votes \
                     was flagged"
                .to_owned(),
        }),
        Status::Disconnected if fit.components.len() > ranked.input.components => Some(format!(
            "without the flagged votes, the items fall into {} components; each is ranked on \
                 its own, and ranks and scores of different components do not compare. Flag fewer \
                 votes (--outliers), or use --method iss, which stops before items come apart",
            fit.components.len()
        )),
        Status::Disconnected => Some(
            "the votes that are still trusted no longer connect all items, so no more votes were \
             flagged"
                .to_owned(),
        ),
        Status::NotReached => Some(not_reached(certificate)),
        Status::Inaccurate => {
            let error = certificate.error_bound.or(certificate.violation).unwrap_or(f64::NAN);
            Some(format!(
                "the scores of {} may be off by {error:.0e} of their spread ({MAX_ERROR:.0e} is \
                 accepted): do not rely on them. Outcomes or counts that differ by many powers of \
                 ten are the usual cause; try --backend dense or sparse, or another --method",
                fit.method,
            ))
        }
        // Future statuses have no words yet.
        status => Some(format!("the method ended with status {status}")),
    }
}

fn not_reached(certificate: &Certificate) -> String {
    let reached = certificate.reached.unwrap_or(0.0);
    match certificate.asked {
        Some(Asked::Value(parameter, asked)) => format!(
            "the path ended at {} {reached:.4e}, before the requested {asked:.4e}: below that, \
             residuals are rounding errors",
            parameter.as_str()
        ),
        Some(Asked::Votes(asked) | Asked::AtMostVotes(asked)) => format!(
            "{} votes were to be flagged, but the method can flag only {}: the scores fit all \
             other votes",
            thousands(asked.ceil() as u64),
            thousands(reached as u64)
        ),
        None => "the path ended before the requested point".to_owned(),
    }
}
