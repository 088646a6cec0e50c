//! The methods that are compared.

use hodgerank::solve::bradley_terry::{self, BradleyTerryOptions};
use hodgerank::solve::crowd::{self, CrowdOptions};
use hodgerank::{ComparisonGraph, FitOptions, Method, OutlierRule, fit};

use super::simulated_crowd::SimulatedCrowd;
use crate::error::Result;

/// Number of votes above which iss is too slow for thousands of studies.
const MAX_ISS_VOTES: usize = 50_000;

/// A method that is compared; [`super`] describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Estimator {
    L2,
    Iss,
    Plain,
    BradleyTerry,
    Crowd,
    Oracle,
}

impl Estimator {
    pub(super) const ALL: [Self; 6] =
        [Self::L2, Self::Iss, Self::Plain, Self::BradleyTerry, Self::Crowd, Self::Oracle];

    /// The methods whose scores are in log-odds.
    pub(super) const IN_LOG_ODDS: [Self; 4] =
        [Self::Plain, Self::BradleyTerry, Self::Crowd, Self::Oracle];

    /// The methods between plain and the oracle, or below plain.
    pub(super) const WITH_GAP: [Self; 4] = [Self::L2, Self::Iss, Self::BradleyTerry, Self::Crowd];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Iss => "iss",
            Self::Plain => "plain",
            Self::BradleyTerry => "bt",
            Self::Crowd => "crowd",
            Self::Oracle => "oracle",
        }
    }

    /// Estimates scores; `None` if the method is not applied to a study of this size.
    pub(super) fn scores(
        self,
        study: &SimulatedCrowd,
        graph: &ComparisonGraph,
    ) -> Result<Option<Vec<f64>>> {
        let is_graded = study.is_graded();
        let plain = BradleyTerryOptions { lapse_rate: Some(0.0), ..Default::default() };
        let bradley_terry = |graph: &ComparisonGraph, options: &BradleyTerryOptions| {
            bradley_terry::solve(graph, options).map(|found| found.solution.scores)
        };
        Ok(Some(match self {
            Self::Iss if study.votes.len() > MAX_ISS_VOTES => return Ok(None),
            Self::L2 => fitted(graph, Method::L2)?,
            Self::Iss => fitted(graph, Method::InverseScaleSpace)?,
            Self::Plain if is_graded => fitted(graph, Method::L2)?,
            Self::Plain => bradley_terry(graph, &plain)?,
            Self::BradleyTerry => bradley_terry(graph, &BradleyTerryOptions::default())?,
            Self::Crowd => {
                let votes = study.annotator_votes();
                crowd::solve(graph, &votes, &CrowdOptions::default())?.solution.scores
            }
            Self::Oracle if is_graded => fitted(&study.honest_graph()?, Method::L2)?,
            Self::Oracle => bradley_terry(&study.honest_graph()?, &plain)?,
        }))
    }
}

/// Returns the scores of a method with the automatic outlier rule.
pub(super) fn fitted(graph: &ComparisonGraph, method: Method) -> Result<Vec<f64>> {
    Ok(fit(graph, &FitOptions::new().method(method).outliers(OutlierRule::Auto))?.scores)
}
