//! How many votes to flag: where to stop along a path.
//!
//! | rule | flags |
//! |---|---|
//! | [`OutlierRule::Share`], [`OutlierRule::Count`] | the most suspicious votes, this many |
//! | [`OutlierRule::Lambda`] | votes with a residual above λ |
//! | [`OutlierRule::Time`] | what has entered by time t |
//! | [`OutlierRule::Scaled`] | votes with a residual above M times the noise |
//! | [`OutlierRule::Auto`] | votes that are likelier lapses than honest: see [`lapse`] |

pub mod lapse;

use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::solve::{L2Options, l2};

use lapse::Lapse;

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
            _ => Ok(()),
        }
    }
}

/// What [`auto`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Auto {
    /// Votes to flag.
    pub votes: f64,
    /// The last estimate.
    pub lapse: Lapse,
    /// Fits made until flags stood still.
    pub rounds: usize,
}

/// Rounds after which flags that still change are taken as they are.
const MOST_ROUNDS: usize = 10;

/// How many votes are lapses, in rounds: fit, estimate, leave out what was flagged, fit again.
///
/// The first fit counts every vote, so lapses shrink its scores; each round without the flagged
/// votes gives back some of what they took. The estimate itself always sees all votes.
///
/// # Errors
/// If a fit fails.
pub fn auto(graph: &ComparisonGraph) -> Result<Auto> {
    let groups = graph.groups();
    let options = L2Options::default();
    let mut scores = l2::solve(graph, &options)?.scores;
    let mut flagged: Vec<bool> = vec![false; groups.len()];
    let mut rounds = 1;
    loop {
        let lapse = lapse::estimate(groups, &scores);
        let difference = graph.gradient(&scores);
        let now: Vec<bool> =
            groups.y.iter().zip(difference).map(|(y, d)| (y - d).abs() > lapse.lambda).collect();
        let votes_of = |flags: &[bool]| -> f64 {
            flags.iter().zip(&groups.weight).filter(|(flag, _)| **flag).map(|(_, w)| w).sum()
        };
        let settled = now == flagged || rounds == MOST_ROUNDS;
        flagged = now;
        let found = Auto { votes: votes_of(&flagged), lapse, rounds };
        if settled {
            return Ok(found);
        }
        let kept = flagged.iter().zip(&groups.weight).map(|(flag, w)| if *flag { 0.0 } else { *w });
        let rest = groups.reweighted(&kept.collect::<Vec<_>>());
        let rest = ComparisonGraph::new(graph.items(), rest)?;
        if rest.components().len() > graph.components().len() {
            return Ok(found);
        }
        scores = l2::solve(&rest, &options)?.scores;
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
        ] {
            assert!(rule.validate(100.0).is_err(), "{rule:?}");
        }
        assert!(OutlierRule::Share(0.05).validate(100.0).is_ok());
        assert!(OutlierRule::Count(99).validate(100.0).is_ok());
    }
}
