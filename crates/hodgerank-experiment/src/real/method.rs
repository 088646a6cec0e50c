//! The methods that are compared.

use hodgerank::fit::fit_with_annotators;
use hodgerank::model::PriorKind;
use hodgerank::solve::crowd::{self, CrowdOptions, UsePeople};
use hodgerank::{AnnotatorVotes, ComparisonGraph, Fit, FitOptions, Method};

use crate::error::Result;

/// A method that is compared; [`super`] describes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RealMethod {
    Default,
    People,
    BradleyTerry,
    Scores,
    Differences,
    Plain,
    L2,
    Iss,
}

impl RealMethod {
    pub(super) const ALL: [Self; 8] = [
        Self::Default,
        Self::People,
        Self::BradleyTerry,
        Self::Scores,
        Self::Differences,
        Self::Plain,
        Self::L2,
        Self::Iss,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::People => "people",
            Self::BradleyTerry => "bt",
            Self::Scores => "scores",
            Self::Differences => "differences",
            Self::Plain => "plain",
            Self::L2 => "l2",
            Self::Iss => "iss",
        }
    }

    fn options(self) -> FitOptions {
        let bt = FitOptions::new().method(Method::BradleyTerry);
        match self {
            Self::Default | Self::People => FitOptions::new(),
            Self::BradleyTerry => bt,
            Self::Scores => bt.prior_kind(PriorKind::Scores),
            Self::Differences => bt.prior_kind(PriorKind::Differences),
            Self::Plain => bt.prior(1.0).lapse_rate(0.0),
            Self::L2 => FitOptions::new().method(Method::L2),
            Self::Iss => FitOptions::new().method(Method::InverseScaleSpace),
        }
    }

    /// Fits the method. `votes` are those of the graph with their annotators.
    pub(super) fn fit(
        self,
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
    ) -> Result<Fit> {
        Ok(fit_with_annotators(graph, votes, &self.options())?)
    }

    /// Estimates scores.
    pub(super) fn scores(
        self,
        graph: &ComparisonGraph,
        votes: Option<&AnnotatorVotes>,
    ) -> Result<Vec<f64>> {
        let known = votes.filter(|votes| votes.annotators() > 0);
        match (self, known) {
            (Self::People, Some(votes)) => {
                let options = CrowdOptions { people: UsePeople::Always, ..Default::default() };
                Ok(crowd::solve(graph, votes, &options)?.solution.scores)
            }
            _ => Ok(self.fit(graph, votes)?.scores),
        }
    }
}
