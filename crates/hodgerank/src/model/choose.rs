//! Which model the votes support, by what it predicts.
//!
//! Each candidate is judged by the mean logarithm of the probability of every vote, were it left out
//! (`leave_one_out.rs`).
//!
//! | decision | candidates | chosen |
//! |---|---|---|
//! | kind of the prior | differences, scores | scores, if the best of them predicts better than the best on differences by more than `doubt_of_scores` standard errors: where only similar items were compared, it fails |
//! | its precision | `difference_precisions`, `score_precisions` | the strongest within one standard error of the best |
//! | side advantage b | with and without | with, if it predicts better by more than one standard error |
//! | lapse rate ε | `lapse_rates` | the best one, if it predicts better than none, after what its scores predict worse, by more than chance (`lapse_evidence`) |
//!
//! Scores alone are compared by one link from their differences to probabilities for the whole crowd ([`link_gain`]).
//!
//! Where items have so many votes that leaving one out changes nothing, no prior predicts better than another, and the
//! weakest on differences is used.
//!
//! With more than [`FEW_ITEMS`] items lapses are not tried: votes are left out less accurately there, and clean studies would
//! seem to have lapses.
//!
//! Lapses shrink the scores, and so the prior that is chosen without them: with lapses, its precision is chosen again.
//!
//! Failure mode: where pairs were chosen by earlier outcomes, the other votes know about the one that is left
//! out, and weak priors seem better than they are. So there is a weakest candidate.

use super::leave_one_out::{
    FEW_ITEMS, LeftOutVote, PairSample, gain, has_small_leverages, leave_out, link_gain, mean_log,
};
use super::newton::{Newton, TO_COMPARE};
use super::prior::{Prior, PriorKind};
use super::tuning::TUNING;
use super::votes::{PairVotes, VoteModel, VotesByPair};
use crate::communicator::Communicator;
use crate::error::Result;

/// Smaller gains are those of searches that did not end at the same point.
const RESOLUTION: f64 = 1e-5;
/// How often prior and lapse rate are chosen in turn.
const MAX_ROUNDS: usize = 3;

/// Something that may be part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Refinement {
    /// An advantage of the left side.
    Sides,
    /// Answers that do not depend on the items.
    Lapses,
    /// People of different reliability.
    People,
}

/// Whether a refinement is part of the model, and what it gains.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// What was tried.
    pub refinement: Refinement,
    /// The gain in the mean log-probability of a vote that is left out.
    pub gain: f64,
    /// Its standard error.
    pub gain_error: f64,
    /// Whether it is part of the model.
    pub is_used: bool,
}

/// What is given, and so not chosen.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Given {
    pub(crate) kind: Option<PriorKind>,
    pub(crate) precision: Option<f64>,
    pub(crate) lapse_rate: Option<f64>,
}

/// A model that was chosen. The search has its scores and parameters.
#[derive(Debug)]
pub(crate) struct Chosen<'a> {
    pub(crate) votes: PairVotes<'a>,
    pub(crate) decisions: Vec<Decision>,
}

impl Chosen<'_> {
    pub(crate) fn has_advantage(&self) -> bool {
        self.votes.has_advantage()
    }
}

/// The scores and parameters of a fit.
type Fitted = (Vec<f64>, VoteModel);

/// Chooses prior, side advantage and lapse rate. `by_side` are the votes by side, if that is known. Collective.
pub(crate) fn choose<'a>(
    newton: &mut Newton<'_>,
    votes: PairVotes<'a>,
    by_side: Option<PairVotes<'a>>,
    given: Given,
) -> Result<Chosen<'a>> {
    let mut chosen = Chosen { votes, decisions: Vec::new() };
    newton.model.lapse_rate = given.lapse_rate.unwrap_or(0.0);
    match given.precision {
        Some(precision) => {
            let kind = given.kind.unwrap_or(PriorKind::Differences);
            newton.prior = Prior { kind, precision }.term(newton.graph);
            newton.maximise(&chosen.votes, TO_COMPARE)?;
        }
        None => choose_prior(newton, &chosen.votes, given.kind)?,
    }
    if let Some(by_side) = by_side {
        choose_sides(newton, &mut chosen, by_side)?;
    }
    if given.lapse_rate.is_none() && newton.graph.items() <= FEW_ITEMS {
        for _ in 0..MAX_ROUNDS {
            if !choose_lapses(newton, &mut chosen)? || given.precision.is_some() {
                break;
            }
            let before = newton.prior.prior;
            choose_prior(newton, &chosen.votes, Some(before.kind))?;
            if newton.prior.prior == before {
                break;
            }
        }
    }
    Ok(chosen)
}

/// Fits the present model, and leaves out each vote.
pub(crate) fn fit_and_leave_out<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
) -> Result<Vec<LeftOutVote>> {
    newton.maximise(votes, TO_COMPARE)?;
    left_out_of(newton, votes)
}

/// Leaves out each vote of the present fit.
pub(crate) fn left_out_of<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
) -> Result<Vec<LeftOutVote>> {
    let sample = PairSample::new(newton.graph, TUNING.evaluated_votes);
    left_out_of_sample(newton, votes, sample)
}

fn left_out_of_sample<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
    sample: PairSample,
) -> Result<Vec<LeftOutVote>> {
    let variances = newton.variances()?;
    let Newton { graph, scores, model, .. } = &*newton;
    let weight = |p: usize| newton.pair_weight(p);
    Ok(leave_out(graph, votes, (scores, model), (&variances, weight), sample))
}

/// The candidates, weakest first.
pub(crate) fn prior_candidates() -> impl Iterator<Item = Prior> {
    let of = |kind| move |precision| Prior { kind, precision };
    let scores = TUNING.score_precisions.into_iter().map(of(PriorKind::Scores));
    TUNING.difference_precisions.into_iter().map(of(PriorKind::Differences)).chain(scores)
}

/// Of candidates that were tried, in the order of [`prior_candidates`], the position of the one to choose.
fn chosen_prior(tried: &[(Prior, Vec<LeftOutVote>)], communicator: &dyn Communicator) -> usize {
    let means: Vec<f64> = tried.iter().map(|(_, votes)| mean_log(communicator, votes)).collect();
    let of_kind = |kind: PriorKind| (0..tried.len()).filter(move |&k| tried[k].0.kind == kind);
    let best_of =
        |kind| of_kind(kind).reduce(|best, k| if means[k] > means[best] { k } else { best });
    let best = match (best_of(PriorKind::Differences), best_of(PriorKind::Scores)) {
        (Some(differences), Some(scores)) => {
            let (gain, error) = gain(communicator, &tried[scores].1, &tried[differences].1);
            if gain > TUNING.doubt_of_scores * error { scores } else { differences }
        }
        (differences, scores) => differences.or(scores).unwrap_or(0),
    };
    let is_as_good = |k: &usize| {
        let (loss, error) = gain(communicator, &tried[best].1, &tried[*k].1);
        loss <= error
    };
    of_kind(tried[best].0.kind).filter(|&k| k > best).filter(is_as_good).last().unwrap_or(best)
}

/// Whether the last candidate of a kind predicts worse than the best one by more than a standard error: stronger ones
/// predict still worse.
fn is_beyond_best(
    tried: &[(Prior, Vec<LeftOutVote>)],
    kind: PriorKind,
    communicator: &dyn Communicator,
) -> bool {
    let mut of_kind = tried.iter().filter(|(prior, _)| prior.kind == kind).map(|(_, votes)| votes);
    let Some(last) = of_kind.next_back() else { return false };
    of_kind.any(|votes| {
        let (loss, error) = gain(communicator, votes, last);
        loss > error
    })
}

/// Chooses the prior for the present parameters, and fits with it.
pub(crate) fn choose_prior<V: VotesByPair>(
    newton: &mut Newton<'_>,
    votes: &V,
    kind: Option<PriorKind>,
) -> Result<()> {
    if has_small_leverages(newton.graph) {
        let kind = kind.unwrap_or(PriorKind::Differences);
        let precision =
            prior_candidates().find(|own| own.kind == kind).map_or(1.0, |own| own.precision);
        newton.prior = Prior { kind, precision }.term(newton.graph);
        newton.maximise(votes, TO_COMPARE)?;
        return Ok(());
    }
    let mut tried = Vec::new();
    let mut fits = Vec::new();
    for prior in prior_candidates().filter(|own| kind.is_none_or(|kind| own.kind == kind)) {
        if is_beyond_best(&tried, prior.kind, newton.graph.communicator()) {
            continue;
        }
        newton.prior = prior.term(newton.graph);
        let left_out = fit_and_leave_out(newton, votes)?;
        tried.push((prior, left_out));
        fits.push((newton.scores.clone(), newton.model));
    }
    let chosen = chosen_prior(&tried, newton.graph.communicator());
    newton.prior = tried[chosen].0.term(newton.graph);
    (newton.scores, newton.model) = fits.swap_remove(chosen);
    Ok(())
}

fn choose_sides<'a>(
    newton: &mut Newton<'_>,
    chosen: &mut Chosen<'a>,
    by_side: PairVotes<'a>,
) -> Result<()> {
    // The same votes in the same order, with and without an advantage.
    newton.model.advantage = 0.0;
    newton.evaluate(&by_side);
    let without = left_out_of(newton, &by_side)?;
    let start = (newton.scores.clone(), newton.model);
    let with = fit_and_leave_out(newton, &by_side)?;
    let (gain, gain_error) = gain(newton.graph.communicator(), &with, &without);
    let is_used = gain > gain_error.max(RESOLUTION);
    chosen.decisions.push(Decision { refinement: Refinement::Sides, gain, gain_error, is_used });
    if is_used {
        chosen.votes = by_side;
    } else {
        (newton.scores, newton.model) = start;
    }
    Ok(())
}

/// The gain of the log-likelihood of all votes by which lapses are in the model.
pub(crate) fn lapse_gain_needed(votes: f64) -> f64 {
    TUNING.lapse_evidence.max(RESOLUTION * votes)
}

/// Chooses the lapse rate, and says whether there is one.
fn choose_lapses(newton: &mut Newton<'_>, chosen: &mut Chosen<'_>) -> Result<bool> {
    let communicator = newton.graph.communicator();
    let start = (newton.scores.clone(), newton.model);
    newton.model.lapse_rate = 0.0;
    let without = fit_and_leave_out(newton, &chosen.votes)?;
    (newton.scores, newton.model) = start.clone();
    let mut largest = mean_log(communicator, &without);
    let mut best: Option<(Vec<LeftOutVote>, Fitted)> = None;
    for rate in TUNING.lapse_rates {
        newton.model.lapse_rate = rate;
        let left_out = fit_and_leave_out(newton, &chosen.votes)?;
        let mean = mean_log(communicator, &left_out);
        // Beyond the maximum it only falls: for given scores, it is concave.
        if mean <= largest {
            break;
        }
        largest = mean;
        best = Some((left_out, (newton.scores.clone(), newton.model)));
    }
    let has_sides = chosen.has_advantage();
    // The gain less what the scores themselves clearly lose, and its standard error.
    let gains = |with: &[LeftOutVote]| {
        let (of_scores, their_error) = link_gain(communicator, [with, &without], has_sides);
        let (gain, error) = gain(communicator, with, &without);
        (gain - (-of_scores - their_error).max(0.0), error)
    };
    let found = best.map(|(left_out, fit)| (gains(&left_out), fit));
    let (gain, gain_error) = found.as_ref().map_or((0.0, 0.0), |found| found.0);
    let votes = newton.graph.votes();
    let is_used = votes * gain > lapse_gain_needed(votes);
    chosen.decisions.retain(|known| known.refinement != Refinement::Lapses);
    chosen.decisions.push(Decision { refinement: Refinement::Lapses, gain, gain_error, is_used });
    (newton.scores, newton.model) = match found.filter(|_| is_used) {
        Some((_, fit)) => fit,
        None => (start.0, VoteModel { lapse_rate: 0.0, ..start.1 }),
    };
    Ok(is_used)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laplacian::BackendChoice;
    use crate::simulate::{Noise, SimulateOptions, Simulation};
    use crate::{Comparison, ComparisonGraph, Groups};

    /// Every candidate by the votes of all pairs, and by those of a quarter of them.
    fn tried_twice(graph: &ComparisonGraph) -> [Vec<(Prior, Vec<LeftOutVote>)>; 2] {
        let votes = PairVotes::new(graph);
        let backend = BackendChoice::default();
        let mut newton = Newton::new(graph, &votes, TUNING.first_prior, backend).unwrap();
        let samples =
            [graph.votes(), 0.25 * graph.votes()].map(|wanted| PairSample::new(graph, wanted));
        let mut tried = [Vec::new(), Vec::new()];
        for prior in prior_candidates() {
            newton.prior = prior.term(graph);
            newton.maximise(&votes, TO_COMPARE).unwrap();
            for (tried, sample) in tried.iter_mut().zip(samples) {
                let left_out = left_out_of_sample(&mut newton, &votes, sample).unwrap();
                tried.push((prior, left_out));
            }
        }
        tried
    }

    #[test]
    fn a_sample_of_pairs_chooses_as_all_of_them() {
        for (seed, flips) in [(1, 0.0), (2, 0.1), (3, 0.3)] {
            let options = SimulateOptions {
                items: 150,
                votes: 10_000,
                noise: Noise::BradleyTerry { scale: 0.2 },
                flips,
                seed,
                ..Default::default()
            };
            let votes: Vec<Comparison> =
                Simulation::new(&options).unwrap().map(|vote| vote.comparison()).collect();
            let groups = Groups::merge(150, &votes).unwrap().groups;
            let graph = ComparisonGraph::new(150, groups).unwrap();
            let communicator = graph.communicator();
            let [all, sample] = tried_twice(&graph);
            assert!(sample[0].1.len() < all[0].1.len() / 3, "{}", sample[0].1.len());
            for k in 1..all.len() {
                let [(expected, _), (found, error)] =
                    [&all, &sample].map(|tried| gain(communicator, &tried[k].1, &tried[0].1));
                assert!(
                    (found - expected).abs() < 3.0 * error,
                    "{k}: {found} ± {error} {expected}"
                );
            }
            // By all votes, what the sample chooses is as good as what they choose.
            let [by_all, by_sample] =
                [&all, &sample].map(|tried| chosen_prior(tried, communicator));
            let (loss, error) = gain(communicator, &all[by_all].1, &all[by_sample].1);
            assert!(loss <= 2.0 * error, "{by_all} {by_sample}: {loss} ± {error}");
        }
    }
}
