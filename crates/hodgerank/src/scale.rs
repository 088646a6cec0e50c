//! The scale of the scores that a ranking shows: that of its method, or Elo points.
//!
//! On the Elo scale a difference of 400 points means odds of ten to one that the better item is
//! preferred: a point is ln 10 / 400 log-odds. Scores of methods that model how people vote are log-odds
//! already. Scores of all other methods have the unit of the outcomes; the factor that turns them into
//! log-odds is the most likely one for the votes, given the scores.
//!
//! Scores are known up to a shift of each component, so every component has a mean of 1000. An anchor
//! shifts its own component.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::graph::ComparisonGraph;
use crate::labels::Labels;
use crate::select::lapse::{LogOddsPerUnit, log_odds_per_unit};

/// Points per log-odds: 400 points are odds of ten to one.
pub const ELO_POINTS_PER_LOG_ODDS: f64 = 400.0 / std::f64::consts::LN_10;

/// The mean of a component without an anchor.
pub const ELO_MEAN: f64 = 1000.0;

/// The scale of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ScoreScale {
    /// As the method computes them, with a mean of zero
    #[default]
    Natural,
    /// Elo points: 400 are odds of ten to one, and the mean is 1000
    Elo,
}

impl ScoreScale {
    /// The name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Natural => "natural",
            Self::Elo => "elo",
        }
    }
}

/// An item and the score that it is to have.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Anchor {
    /// The label of the item.
    pub item: String,
    /// Its score.
    pub value: f64,
}

impl FromStr for Anchor {
    type Err = Error;

    /// Reads `ITEM=VALUE`. An item may contain equals signs: the last one counts.
    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let parts = text.rsplit_once('=').filter(|(item, _)| !item.is_empty());
        let anchor = parts
            .and_then(|(item, value)| Some(Self { item: item.to_owned(), value: number(value)? }));
        let value = text.to_owned();
        anchor.ok_or(Error::BadOption { option: "anchor", value, expected: Self::EXPECTED })
    }
}

impl Anchor {
    /// What [`Anchor::from_str`] reads.
    pub const EXPECTED: &'static str = "ITEM=VALUE, such as gpt-4=1200";
}

/// Why scores cannot be turned into log-odds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoFactor {
    /// No votes but lapses are against the scores, so nothing limits the factor.
    Separable,
    /// The votes agree with the scores no more often than by chance.
    Random,
}

/// The Elo scale of the scores of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct EloScale {
    /// Log-odds per unit of the fit's scores; `None` if compared items have equal scores, so that no
    /// factor makes a difference.
    pub log_odds_per_unit: Option<f64>,
    /// The anchor, if there is one.
    pub anchor: Option<Anchor>,
    /// The component of the anchor, counted from 1, and the anchor's score in the fit.
    anchored: Option<(u32, f64)>,
}

impl EloScale {
    /// The Elo scale of a fit to the votes of `graph`.
    ///
    /// # Errors
    /// [`Error::UnknownItem`] if the anchor is not among `items`, [`Error::NoEloScale`] if no finite
    /// factor turns the scores into log-odds.
    pub fn new(
        graph: &ComparisonGraph,
        items: &Labels,
        fit: &Fit,
        anchor: Option<&Anchor>,
    ) -> Result<Self> {
        let anchored = anchor.map(|anchor| {
            let item = items.get(anchor.item.as_bytes());
            let item =
                item.ok_or_else(|| Error::UnknownItem { item: anchor.item.clone() })? as usize;
            Ok((fit.components.of[item] + 1, fit.scores[item]))
        });
        let anchored = anchored.transpose()?;
        // Scores of graded votes have the unit of the outcomes, whatever the method.
        let is_graded = fit.crowd().is_some_and(|crowd| crowd.estimates.noise.is_some());
        let log_odds_per_unit = match fit.model {
            Some(_) if !is_graded => Some(1.0),
            _ => fitted_factor(graph, fit)?,
        };
        Ok(Self { log_odds_per_unit, anchor: anchor.cloned(), anchored })
    }

    /// A score of the fit in Elo points; components are counted from 1.
    #[must_use]
    pub fn points(&self, score: f64, component: u32) -> f64 {
        // Relative to the anchor, so that its own value is exact.
        let (at, value) = match (&self.anchor, self.anchored) {
            (Some(anchor), Some((anchored, at))) if anchored == component => (at, anchor.value),
            _ => (0.0, ELO_MEAN),
        };
        let factor = self.log_odds_per_unit.unwrap_or(0.0);
        value + ELO_POINTS_PER_LOG_ODDS * factor * (score - at)
    }

    /// The mean of a component.
    #[must_use]
    pub fn mean(&self, component: u32) -> f64 {
        self.points(0.0, component)
    }
}

fn fitted_factor(graph: &ComparisonGraph, fit: &Fit) -> Result<Option<f64>> {
    let found = if fit.components.len() > graph.components().len() {
        // Flagged votes between components say nothing: their scores do not compare.
        let groups = graph.groups();
        let component = |item: u32| fit.components.of[item as usize];
        let is_within = |g: usize| component(groups.left[g]) == component(groups.right[g]);
        let weight = groups.weight.iter().enumerate();
        let weight: Vec<f64> = weight.map(|(g, &w)| if is_within(g) { w } else { 0.0 }).collect();
        let within = groups.reweighted(&weight);
        let within =
            ComparisonGraph::distributed(graph.items(), within, graph.communicator_handle())?;
        log_odds_per_unit(&within, &fit.scores)
    } else {
        log_odds_per_unit(graph, &fit.scores)
    };
    let none = |reason| Err(Error::NoEloScale { method: fit.method.as_str(), reason });
    match found {
        LogOddsPerUnit::Factor(factor) => Ok(Some(factor)),
        LogOddsPerUnit::Any => Ok(None),
        LogOddsPerUnit::Infinite => none(NoFactor::Separable),
        LogOddsPerUnit::Zero => none(NoFactor::Random),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, FitOptions, Groups, Method, fit};

    /// `votes` are (winner, loser, count) on items a, b, c, ….
    fn fitted(votes: &[(u32, u32, u64)], method: Method) -> (ComparisonGraph, Labels, Fit) {
        let items = 1 + votes.iter().map(|vote| vote.0.max(vote.1)).max().unwrap();
        let vote = |&(winner, loser, count): &(u32, u32, u64)| {
            Comparison::new(winner, loser, 1.0).with_count(count)
        };
        let votes: Vec<Comparison> = votes.iter().map(vote).collect();
        let groups = Groups::merge(items as usize, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(items as usize, groups).unwrap();
        let mut labels = Labels::new();
        for item in 0..items {
            labels.intern(&char::from(b'a' + item as u8).to_string());
        }
        let fit = fit(&graph, &FitOptions::new().method(method)).unwrap();
        (graph, labels, fit)
    }

    #[test]
    fn odds_of_ten_are_400_points() {
        // Two items: every method's factor reproduces the odds of the votes, as long as no vote is
        // flagged.
        let votes = [(0, 1, 1000), (1, 0, 100)];
        let (graph, labels, fit) = fitted(&votes, Method::L2);
        let elo = EloScale::new(&graph, &labels, &fit, None).unwrap();
        let points: Vec<f64> = fit.scores.iter().map(|&score| elo.points(score, 1)).collect();
        assert!(
            (points[0] - 1200.0).abs() < 1e-3 && (points[1] - 800.0).abs() < 1e-3,
            "{points:?}"
        );
    }

    #[test]
    fn an_anchor_shifts_its_component_only() {
        let votes = [(0, 1, 3), (1, 0, 1), (2, 3, 5), (3, 2, 2)];
        let (graph, labels, fit) = fitted(&votes, Method::BradleyTerry);
        let anchor = "d=1500".parse().unwrap();
        let elo = EloScale::new(&graph, &labels, &fit, Some(&anchor)).unwrap();
        assert_eq!(elo.log_odds_per_unit, Some(1.0));
        let component = |item: usize| fit.components.of[item] + 1;
        let points: Vec<f64> =
            (0..4).map(|item| elo.points(fit.scores[item], component(item))).collect();
        assert_eq!(points[3], 1500.0);
        assert!((points[0] + points[1] - 2000.0).abs() < 1e-9, "{points:?}");
        let difference = ELO_POINTS_PER_LOG_ODDS * (fit.scores[2] - fit.scores[3]);
        assert!((points[2] - points[3] - difference).abs() < 1e-9, "{points:?}");
        let unknown = Anchor { item: "e".to_owned(), value: 0.0 };
        let refused = EloScale::new(&graph, &labels, &fit, Some(&unknown));
        assert_eq!(refused, Err(Error::UnknownItem { item: "e".to_owned() }));
    }

    #[test]
    fn separable_and_random_votes_have_no_scale() {
        let reason = |votes: &[(u32, u32, u64)]| {
            let (graph, labels, fit) = fitted(votes, Method::L2);
            match EloScale::new(&graph, &labels, &fit, None) {
                Err(Error::NoEloScale { reason, .. }) => Some(reason),
                _ => None,
            }
        };
        for votes in [&[(0, 1, 1)][..], &[(0, 1, 4), (1, 2, 4), (0, 2, 4)], &[(0, 1, 1 << 40)]] {
            assert_eq!(reason(votes), Some(NoFactor::Separable), "{votes:?}");
        }
        assert_eq!(reason(&[(0, 1, 5000), (1, 0, 4999)]), Some(NoFactor::Random));
    }

    #[test]
    fn items_that_are_all_equal_have_the_mean() {
        let (graph, labels, fit) = fitted(&[(0, 1, 3), (1, 0, 3)], Method::L2);
        let elo = EloScale::new(&graph, &labels, &fit, None).unwrap();
        assert_eq!((elo.log_odds_per_unit, elo.points(fit.scores[0], 1)), (None, ELO_MEAN));
    }

    #[test]
    fn anchors() {
        let anchor = |text: &str| text.parse::<Anchor>().ok().map(|a| (a.item, a.value));
        assert_eq!(anchor("gpt-4=1200"), Some(("gpt-4".to_owned(), 1200.0)));
        assert_eq!(anchor("a=b= -3.5"), Some(("a=b".to_owned(), -3.5)));
        for bad in ["", "x", "=3", "x=", "x=nan", "x=inf", "x=one"] {
            assert_eq!(anchor(bad), None, "{bad}");
        }
    }
}
