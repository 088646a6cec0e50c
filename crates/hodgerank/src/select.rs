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

use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::graph::ComparisonGraph;
use crate::solve::{L2Options, l2};

use cross_validation::CrossValidationOptions;
use lapse::{Lapse, LapseTest, SidedEstimate};
use likelihood::{MaximumLikelihood, Rate, maximise};
pub(crate) use likelihood::{SidedVotes, negligible_gain};

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
    /// The share of votes that are lapses. For votes with sides it is twice the share of reversed votes,
    /// because half of the lapses agree with the ranking by chance.
    pub lapse_rate: f64,
    /// The final estimate. For votes with sides its units are those of the maximum-likelihood scores.
    pub lapse: Lapse,
    /// Optimisation steps (votes with sides) or rounds (graded votes) until convergence.
    pub rounds: usize,
}

impl Auto {
    /// Whether there are lapses, and how clearly.
    #[must_use]
    pub fn test(&self) -> LapseTest {
        let is_supported = self.lapse.lambda.is_finite();
        LapseTest { rate: if is_supported { self.lapse_rate } else { 0.0 }, gain: self.lapse.gain }
    }
}

/// Estimates how many votes are lapses.
///
/// Votes of one size (±1, for example) have sides: scores and lapses are estimated together by
/// maximum likelihood, with lapses and without; see [`lapse`]. For graded votes they are estimated in
/// alternation, from residuals.
///
/// # Errors
/// If a fit fails.
pub fn auto(graph: &ComparisonGraph) -> Result<Auto> {
    match lapse::vote_size(graph) {
        Some(size) => Ok(auto_sided(graph, size)),
        None => auto_graded(graph),
    }
}

/// Smallest lapse rate to start the search from: from zero it would not move.
const MIN_START_RATE: f64 = 0.05;

/// Maximum number of restarts in rescaled units, minimum |log scale| for a restart, and minimum gain
/// of ℓ for another one.
const MAX_RESCALINGS: usize = 5;
const MIN_LOG_RESCALING: f64 = 0.01;
const MIN_RESCALING_GAIN: f64 = 0.1;

/// Relative accuracy of the gain: only its order of magnitude matters.
const GAIN_TOLERANCE: f64 = 0.01;

/// Counts the votes that are likelier lapses than honest.
fn auto_sided(graph: &ComparisonGraph, size: f64) -> Auto {
    let mut votes = SidedVotes::new(graph);
    let Some(found) = maximise_both(&mut votes, size) else {
        let start = likelihood::least_squares(&mut votes);
        let lapse = lapse::estimate_sided(&votes, &start, size).lapse;
        return Auto { votes: 0.0, lapse_rate: 0.0, lapse, rounds: 0 };
    };
    let LapseModel { scores, lapse, steps } = found;
    // A vote that agrees with the ranking is never a lapse, however different the scores.
    let flagged = votes.map_chunks(|pairs| {
        let far = pairs.agreement(&scores).filter(|&(d, ..)| d > lapse.lambda - size);
        far.map(|(_, _, against)| against).sum::<f64>()
    });
    let flagged = graph.communicator().sum_scalar(flagged.iter().sum());
    Auto { votes: flagged, lapse_rate: 2.0 * lapse.rate, lapse, rounds: steps }
}

/// Scores and lapses of maximum likelihood.
struct LapseModel {
    scores: Vec<f64>,
    /// Its gain is that of the likelihood by lapses.
    lapse: Lapse,
    steps: usize,
}

/// Maximises the likelihoods with lapses and without, from the least-squares scores; none if those
/// are all equal.
fn maximise_both(votes: &mut SidedVotes<'_>, size: f64) -> Option<LapseModel> {
    // From scores of zero the first step is a least-squares fit.
    let start = likelihood::least_squares(votes);
    let first = lapse::estimate_sided(votes, &start, size).lapse;
    if first.scale == 0.0 {
        return None;
    }
    let (start, rate) = (in_units(&start, first.scale), first.rate.max(MIN_START_RATE));
    let (best, estimate, was_rescaled) =
        maximise_with_rescaling(votes, size, start, rate, Rate::Free, negligible_gain);
    let SidedEstimate { lapse, honest_scale, .. } = estimate;
    let start = in_units(&best.scores, if honest_scale > 0.0 { honest_scale } else { 1.0 });
    let tolerance = |value: f64| negligible_gain(value).max(GAIN_TOLERANCE * (best.value - value));
    // If the first search needed no rescaling, neither does the second: its start has the right unit.
    let honest = if was_rescaled {
        maximise_with_rescaling(votes, size, start, 0.0, Rate::Fixed, tolerance).0
    } else {
        maximise(votes, start, 0.0, Rate::Fixed, tolerance)
    };
    let lapse = lapse.with_threshold(best.value - honest.value, size);
    let steps = best.steps + honest.steps;
    Some(LapseModel { scores: best.scores, lapse, steps })
}

/// Scores of a model with lapses, in log-odds.
#[derive(Debug, Clone)]
pub(crate) struct ScoresWithLapses {
    pub(crate) scores: Vec<f64>,
    /// The share of flipped votes: half of the lapses, because the other half agrees by chance.
    pub(crate) rate: f64,
    /// The gain of the log-likelihood by lapses; 0 if the rate was given.
    pub(crate) gain: f64,
}

/// Scores by maximum likelihood with a weak prior and lapses: with this rate of flipped votes, or the
/// most likely one. Only the sides of the votes count.
pub(crate) fn scores_with_lapses(
    votes: &mut SidedVotes<'_>,
    rate: Option<f64>,
) -> ScoresWithLapses {
    let found = match rate {
        None => maximise_both(votes, 1.0)
            .map(|found| (found.scores, found.lapse.rate, found.lapse.gain)),
        Some(rate) => {
            let start = likelihood::least_squares(votes);
            let scale = lapse::estimate_sided(votes, &start, 1.0).lapse.scale;
            (scale > 0.0).then(|| {
                let start = in_units(&start, scale);
                (maximise(votes, start, rate, Rate::Fixed, negligible_gain).scores, rate, 0.0)
            })
        }
    };
    let (scores, rate, gain) = found.unwrap_or_else(|| (vec![0.0; votes.items()], 0.0, 0.0));
    ScoresWithLapses { scores, rate, gain }
}

/// The scale and the rate of flipped votes at which agreement over distance is most likely.
///
/// `penalty` is that of a prior on scores in these units: with few votes, scores that were fitted to
/// them agree with them too well, and the likelihood alone would stretch them without end.
pub(crate) fn agreement_curve(votes: &SidedVotes<'_>, scores: &[f64], penalty: f64) -> Lapse {
    lapse::estimate_with_prior(votes, scores, penalty)
}

/// The same where distances depend on the side on which an item was shown: `list` has each distance with
/// the votes that agree with the favoured item and those against, in this process.
pub(crate) fn agreement_curve_of_list(
    list: &[(f64, f64, f64)],
    communicator: &dyn Communicator,
    penalty: f64,
) -> Lapse {
    lapse::estimate_of_list(list, communicator, penalty)
}

/// Returns the optimum, the binned estimate, and whether the search was restarted.
///
/// With few votes per item the search converges slowly along the scale of the scores. The binned
/// estimate at the optimum shows by which factor the scale is off, so the search restarts from
/// scores rescaled by that factor.
fn maximise_with_rescaling(
    votes: &mut SidedVotes<'_>,
    size: f64,
    start: Vec<f64>,
    rate: f64,
    which: Rate,
    tolerance: impl Fn(f64) -> f64,
) -> (MaximumLikelihood, SidedEstimate, bool) {
    let mut best = maximise(votes, start, rate, which, &tolerance);
    let mut estimate = lapse::estimate_sided(votes, &best.scores, size);
    let mut was_rescaled = false;
    for _ in 0..MAX_RESCALINGS {
        let (scale, rate) = match which {
            Rate::Free => (estimate.lapse.scale, estimate.lapse.rate),
            Rate::Fixed => (estimate.honest_scale, rate),
        };
        let is_stuck = scale == 0.0 || (which == Rate::Free && rate == 0.0);
        if is_stuck || scale.ln().abs() < MIN_LOG_RESCALING {
            break;
        }
        was_rescaled = true;
        let mut next = maximise(votes, in_units(&best.scores, scale), rate, which, &tolerance);
        next.steps += best.steps;
        let gain = next.value - best.value;
        if gain > 0.0 {
            best = next;
            estimate = lapse::estimate_sided(votes, &best.scores, size);
        }
        if gain < tolerance(best.value).max(MIN_RESCALING_GAIN) {
            break;
        }
    }
    (best, estimate, was_rescaled)
}

fn in_units(scores: &[f64], scale: f64) -> Vec<f64> {
    scores.iter().map(|score| score / scale).collect()
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
        let rounds = found.auto.rounds + next.auto.rounds;
        found.auto = Auto { votes, rounds, ..next.auto };
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
        let auto = Auto { votes, lapse_rate: lapse.rate, lapse, rounds };
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
