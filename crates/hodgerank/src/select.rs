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
mod likelihood;
mod rule;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::solve::{L2Options, l2};

use cross_validation::CrossValidationOptions;
use lapse::Lapse;
use likelihood::{SidedVotes, small_rise};

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
    /// Checks that the rule makes sense for this many votes.
    ///
    /// # Errors
    /// [`Error::BadOption`] if it does not.
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

/// What [`auto`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auto {
    /// Votes to flag.
    pub votes: f64,
    /// The last estimate. For votes with sides its units are those of the likeliest scores.
    pub lapse: Lapse,
    /// Rounds made until the estimate, or the flags, stood still.
    pub rounds: usize,
}

/// Rounds after which what still changes is taken as it is.
const MOST_ROUNDS: usize = 10;

/// How many votes are lapses.
///
/// Votes of one size (±1, say) have sides. Scores and lapses are estimated together by greatest
/// likelihood, with lapses and without; see [`lapse`]. Graded votes: in rounds, from residuals.
///
/// # Errors
/// If a fit fails.
pub fn auto(graph: &ComparisonGraph) -> Result<Auto> {
    let scores = l2::solve(graph, &L2Options::default())?.scores;
    match lapse::vote_size(graph.groups()) {
        Some(size) => auto_sided(graph, &scores, size),
        None => auto_graded(graph, scores),
    }
}

/// Lapse rate from which the search starts at least: at a rate of zero it would not leave.
const FIRST_RATE: f64 = 0.05;

/// Uphill in the scores and in (ε, s) by turns, from the least-squares scores.
fn auto_sided(graph: &ComparisonGraph, l2_scores: &[f64], size: f64) -> Result<Auto> {
    let groups = graph.groups();
    let votes = SidedVotes::new(graph.items(), groups);
    let mut lapse = lapse::estimate(groups, l2_scores);
    if lapse.scale == 0.0 {
        return Ok(Auto { votes: 0.0, lapse, rounds: 1 });
    }
    let mut scores: Vec<f64> = l2_scores.iter().map(|score| score / lapse.scale).collect();
    let honest = votes.likeliest(0.0, &scores)?.value;
    let mut rate = lapse.rate.max(FIRST_RATE);
    let mut value = f64::NEG_INFINITY;
    let mut rounds = 0;
    loop {
        rounds += 1;
        let found = votes.likeliest(rate, &scores)?;
        lapse = lapse::estimate(groups, &found.scores);
        let rise = found.value - value;
        value = value.max(found.value);
        if rise < small_rise(found.value).max(0.1) || lapse.rate == 0.0 || rounds == MOST_ROUNDS {
            scores = found.scores;
            break;
        }
        rate = lapse.rate;
        scores = found.scores.iter().map(|score| score / lapse.scale).collect();
    }
    lapse = lapse.tested(value - honest, size);
    // A vote with the ranking is never a lapse, however far the items are apart.
    let against = graph.gradient(&scores).into_iter().zip(&groups.y).map(|(d, y)| -d * y / size);
    let flagged = against.zip(&groups.weight).filter(|(a, _)| *a > lapse.lambda - size);
    Ok(Auto { votes: flagged.map(|(_, w)| w).sum(), lapse, rounds })
}

/// Fit, estimate, leave out what was flagged, fit again.
///
/// The first fit counts every vote, so lapses shrink its scores; each round without the flagged
/// votes gives back some of what they took. The estimate itself always sees all votes.
fn auto_graded(graph: &ComparisonGraph, mut scores: Vec<f64>) -> Result<Auto> {
    let groups = graph.groups();
    let mut flagged: Vec<bool> = vec![false; groups.len()];
    let mut rounds = 1;
    loop {
        let lapse = lapse::estimate(groups, &scores);
        let residual = groups.y.iter().zip(graph.gradient(&scores)).map(|(y, d)| (y - d).abs());
        let now: Vec<bool> = residual.map(|r| r > lapse.lambda).collect();
        let votes = now.iter().zip(&groups.weight).filter(|(flag, _)| **flag).map(|(_, w)| w).sum();
        let settled = now == flagged || rounds == MOST_ROUNDS;
        flagged = now;
        let found = Auto { votes, lapse, rounds };
        if settled {
            return Ok(found);
        }
        let kept = flagged.iter().zip(&groups.weight).map(|(flag, w)| if *flag { 0.0 } else { *w });
        let rest = groups.reweighted(&kept.collect::<Vec<_>>());
        let rest = ComparisonGraph::new(graph.items(), rest)?;
        if rest.components().len() > graph.components().len() {
            return Ok(found);
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
    fn clean_studies_have_next_to_no_lapse() {
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
    fn rules_that_make_no_sense_are_refused() {
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
