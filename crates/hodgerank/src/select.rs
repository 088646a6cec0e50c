//! How many votes to flag: where to stop along a path.
//!
//! | rule | flags |
//! |---|---|
//! | [`OutlierRule::Share`], [`OutlierRule::Count`] | the most suspicious votes, this many |
//! | [`OutlierRule::Lambda`] | votes with a residual above λ |
//! | [`OutlierRule::Time`] | what has entered by time t |
//! | [`OutlierRule::Scaled`] | votes with a residual above M times the noise |
//! | [`OutlierRule::CrossValidation`] | votes with a residual above the λ that predicts best: see [`cross_validation`] |
//! | [`OutlierRule::Auto`] | votes that are likelier lapses than honest: see [`lapse`] |

pub mod cross_validation;
pub mod lapse;
mod rule;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::solve::bradley_terry::{self, BradleyTerryOptions};
use crate::solve::{L2Options, l2};

use cross_validation::CrossValidationOptions;
use lapse::LapseTest;

pub use rule::share;

/// How many votes to flag.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum OutlierRule {
    /// This share of all votes, above 0 and at most 1.
    Share(f64),
    /// This many votes.
    Count(u64),
    /// Votes with a residual above λ.
    Lambda(f64),
    /// What has entered by time t.
    Time(f64),
    /// Votes with a residual above Mσ, σ being Huber's concomitant scale.
    Scaled {
        /// M; 1.35 is Huber's choice.
        m: f64,
    },
    /// Votes with a residual above a λ found by cross-validation.
    CrossValidation(CrossValidationOptions),
    /// As many as the votes themselves call for.
    #[default]
    Auto,
}

impl OutlierRule {
    /// Checks that the values of the rule are in range for this many votes.
    ///
    /// # Errors
    /// [`Error::BadOption`] if they are not.
    pub fn validate(&self, votes: f64) -> Result<()> {
        let bad =
            |value: String, expected| Err(Error::BadOption { option: "outliers", value, expected });
        match *self {
            Self::Share(share) if !(share > 0.0 && share < 1.0) => {
                bad(format!("{}%", 100.0 * share), "a share above 0% and below 100%")
            }
            Self::Count(count) if count as f64 >= votes => {
                bad(count.to_string(), "fewer votes than there are")
            }
            Self::Lambda(value) if !(value > 0.0 && value.is_finite()) => {
                bad(format!("lambda={value}"), "a λ above 0")
            }
            Self::Time(value) if !(value > 0.0 && value.is_finite()) => {
                bad(format!("time={value}"), "a time above 0")
            }
            Self::Scaled { m } if !(m > 0.0 && m.is_finite()) => {
                bad(format!("scaled={m}"), "an M above 0, such as 1.35")
            }
            Self::CrossValidation(options) => options.validate(),
            _ => Ok(()),
        }
    }
}

/// Result of [`auto`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auto {
    /// Number of votes to flag.
    pub votes: f64,
    /// Whether there are lapses, and how clearly.
    pub test: LapseTest,
}

/// Estimates how many votes are lapses.
///
/// Votes of one size (±1, for example) have sides: those are flagged that are more likely lapses than honest
/// in the Bradley–Terry model. For graded votes scores and lapses are estimated in alternation, from residuals.
///
/// # Errors
/// If a fit fails.
pub fn auto(graph: &ComparisonGraph) -> Result<Auto> {
    if lapse::vote_size(graph).is_none() {
        return auto_graded(graph);
    }
    let found = bradley_terry::solve(graph, &BradleyTerryOptions::default())?;
    let lapses = found.lapse_probability.iter().zip(&graph.groups().weight);
    let flagged = lapses.filter(|(probability, _)| **probability > 0.5).map(|(_, weight)| weight);
    let votes = graph.communicator().sum_scalar(flagged.sum());
    Ok(Auto { votes, test: found.estimates.lapse_test(graph.votes()) })
}

/// Maximum number of rounds for graded votes.
const MAX_ROUNDS: usize = 10;

/// Votes are estimated again without the flagged ones if the largest residual of these is so many
/// times that of all others: bins that cover the one do not resolve the other.
const GROSS_RATIO: f64 = 100.0;

/// Flags graded votes, gross ones first.
///
/// Residuals are counted in bins that cover their whole range. Next to a gross vote, all others fall
/// into one bin, and no further lapse can be told from noise. So when the flagged votes are that much
/// farther from the scores than all others, the estimate is repeated without them.
fn auto_graded(graph: &ComparisonGraph) -> Result<Auto> {
    let mut found = flag_graded(graph)?;
    let mut rest = match found.rest.take() {
        Some(rest) => rest,
        None => return Ok(found.auto),
    };
    loop {
        let next = flag_graded(&rest)?;
        if next.auto.votes == 0.0 {
            return Ok(found.auto);
        }
        let votes = found.auto.votes + next.auto.votes;
        found.auto = Auto { votes, ..next.auto };
        rest = match next.rest {
            Some(rest) => rest,
            None => return Ok(found.auto),
        };
    }
}

/// The result of [`flag_graded`].
struct GradedFlags {
    auto: Auto,
    /// The votes that are not flagged, if the flagged ones are gross and the others still connect
    /// the items.
    rest: Option<ComparisonGraph>,
}

/// Alternates fits without the flagged votes and estimates of lapses.
///
/// The first fit includes every vote, so lapses shrink its scores; fits without the flagged votes
/// undo some of that. The estimate itself always uses all votes.
fn flag_graded(graph: &ComparisonGraph) -> Result<GradedFlags> {
    let mut scores = l2::solve(graph, &L2Options::default())?.scores;
    let (groups, communicator) = (graph.groups(), graph.communicator());
    let mut flagged: Vec<bool> = vec![false; groups.len()];
    let mut rounds = 1;
    loop {
        let lapse = lapse::estimate_graded(graph, &scores);
        let residuals = || groups.residuals(&scores).map(f64::abs);
        let now: Vec<bool> = residuals().map(|r| r > lapse.lambda).collect();
        let votes = now.iter().zip(&groups.weight).filter(|(flag, _)| **flag).map(|(_, w)| w).sum();
        let votes = communicator.sum_scalar(votes);
        let changed = communicator.max_scalar(if now == flagged { 0.0 } else { 1.0 });
        let is_final = changed == 0.0 || rounds == MAX_ROUNDS;
        let largest = |of: bool| {
            let these = residuals().zip(&now).filter(|&(_, &flag)| flag == of).map(|(r, _)| r);
            communicator.max_scalar(these.fold(0.0, f64::max))
        };
        let is_gross = votes > 0.0 && largest(true) > GROSS_RATIO * largest(false);
        flagged = now;
        let auto = Auto { votes, test: lapse.test(lapse.rate) };
        if is_final && !is_gross {
            return Ok(GradedFlags { auto, rest: None });
        }
        let kept = flagged.iter().zip(&groups.weight).map(|(flag, w)| if *flag { 0.0 } else { *w });
        let rest = groups.reweighted(&kept.collect::<Vec<_>>());
        let rest = ComparisonGraph::distributed(graph.items(), rest, graph.communicator_handle())?;
        if rest.components().len() > graph.components().len() {
            return Ok(GradedFlags { auto, rest: None });
        }
        if is_final {
            return Ok(GradedFlags { auto, rest: Some(rest) });
        }
        scores = l2::solve(&rest, &L2Options::default())?.scores;
        rounds += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, SimulateOptions, Simulation};
    use crate::{Comparison, Groups};

    fn auto_of(options: &SimulateOptions) -> (Auto, f64) {
        let mut simulation = Simulation::new(options).unwrap();
        let votes: Vec<_> = simulation.by_ref().collect();
        let bad = votes.iter().filter(|vote| vote.bad).count() as f64;
        let votes: Vec<Comparison> = votes.iter().map(|vote| vote.comparison()).collect();
        let groups = Groups::merge(options.items, &votes).unwrap().groups;
        let graph = ComparisonGraph::new(options.items, groups).unwrap();
        (auto(&graph).unwrap(), bad)
    }

    #[test]
    fn clean_studies_have_almost_no_lapses() {
        let mut flagged = 0.0;
        for seed in 0..20 {
            let noise = Noise::BradleyTerry { scale: 0.2 };
            let options = SimulateOptions { votes: 2000, noise, seed, ..Default::default() };
            flagged += auto_of(&options).0.votes;
        }
        assert!(flagged <= 0.002 * 20.0 * 2000.0, "{flagged} of 40,000 clean votes were flagged");
    }

    #[test]
    fn flips_are_counted() {
        for (flips, noise) in [
            (0.05, Noise::None),
            (0.2, Noise::None),
            (0.1, Noise::BradleyTerry { scale: 0.05 }),
            (0.1, Noise::Gaussian { sigma: 0.1 }),
        ] {
            let options =
                SimulateOptions { votes: 5000, flips, noise, seed: 1, ..Default::default() };
            let (auto, bad) = auto_of(&options);
            let share = auto.votes / bad;
            assert!((0.5..1.3).contains(&share), "{flips} {noise:?}: {auto:?}, {bad} bad");
        }
    }

    #[test]
    fn invalid_rules_are_rejected() {
        for rule in [
            OutlierRule::Share(0.0),
            OutlierRule::Share(1.0),
            OutlierRule::Share(f64::NAN),
            OutlierRule::Count(100),
            OutlierRule::Lambda(0.0),
            OutlierRule::Time(-1.0),
            OutlierRule::CrossValidation(CrossValidationOptions { folds: 1, seed: 0 }),
        ] {
            assert!(rule.validate(100.0).is_err(), "{rule:?}");
        }
        assert!(OutlierRule::Share(0.05).validate(100.0).is_ok());
        assert!(OutlierRule::Count(99).validate(100.0).is_ok());
    }
}
