//! Reasons why intervals and ranges of ranks may be too narrow, as far as the votes show them.
//!
//! Where they come from: `hodgerank experiment coverage`.

use super::FittedVotes;
use crate::annotator_votes::AnnotatorVotes;
use crate::fit::Model;

/// With fewer votes per item, careless annotators cannot be told from careful ones.
pub const FEW_VOTES: u64 = 30;
/// With fewer annotators, the spread between them is hardly known.
pub const FEW_ANNOTATORS: usize = 10;
/// Annotators with fewer votes cannot be judged.
pub const FEW_VOTES_OF_ANNOTATOR: u64 = 5;
/// Share of votes by annotators who cannot be judged from which some of the bad votes count.
const MAX_UNJUDGED: f64 = 0.25;

/// Share of careful votes that agree with the ranking below which careless annotators cannot be told from
/// careful ones: the items that are compared with each other are too similar.
pub const MIN_AGREEMENT: f64 = 0.72;

/// A reason why intervals may be too narrow.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// Nobody knows who voted: bad annotators cannot be found, and votes of one person count as independent.
    UnknownAnnotators,
    /// The votes are by so few annotators.
    FewAnnotators(usize),
    /// Half of the items have this number of votes or fewer.
    FewVotes(u64),
    /// This share of the votes is by annotators with fewer than [`FEW_VOTES_OF_ANNOTATOR`] votes.
    UnjudgedAnnotators(f64),
    /// Of careful votes, only this share agrees with the ranking, because the items that are compared with each
    /// other are similar.
    SimilarItems(f64),
}

/// The reasons that apply to a fit with votes of so many annotators.
pub(super) fn of_fit(fitted: &FittedVotes<'_>, clusters: Option<usize>) -> Vec<Caution> {
    let few_annotators = clusters.filter(|clusters| *clusters < FEW_ANNOTATORS);
    let median = median_votes(fitted);
    let is_crowd = matches!(fitted.fit.model, Some(Model::Crowd(_)));
    let unjudged = fitted.votes.filter(|_| is_crowd).map(unjudged_share);
    let unjudged = unjudged.filter(|share| *share > MAX_UNJUDGED);
    let agreement = careful_agreement(fitted).filter(|agreement| *agreement < MIN_AGREEMENT);
    let unknown = clusters.is_none().then_some(Caution::UnknownAnnotators);
    unknown
        .into_iter()
        .chain(few_annotators.map(Caution::FewAnnotators))
        .chain((median < FEW_VOTES).then_some(Caution::FewVotes(median)))
        .chain(unjudged.map(Caution::UnjudgedAnnotators))
        .chain(agreement.map(Caution::SimilarItems))
        .collect()
}

/// The median number of votes of an item.
fn median_votes(fitted: &FittedVotes<'_>) -> u64 {
    let pairs = fitted.graph.pairs();
    let mut votes = vec![0.0; fitted.graph.items()];
    for (p, weight) in pairs.weight.iter().enumerate() {
        votes[pairs.left[p] as usize] += weight;
        votes[pairs.right[p] as usize] += weight;
    }
    votes.sort_by(f64::total_cmp);
    votes.get(votes.len() / 2).map_or(0, |&votes| votes as u64)
}

/// The share of votes by annotators who cannot be judged.
fn unjudged_share(votes: &AnnotatorVotes) -> f64 {
    let (mut unjudged, mut all) = (0, 0);
    for annotator in 0..=votes.annotators() {
        let own = votes.unsorted_of(annotator).iter().map(|vote| u64::from(vote.count));
        let own: u64 = own.sum();
        let is_unknown = annotator == votes.annotators();
        unjudged += if is_unknown || own < FEW_VOTES_OF_ANNOTATOR { own } else { 0 };
        all += own;
    }
    unjudged as f64 / all.max(1) as f64
}

/// The expected share of careful votes that agree with the scores of a crowd.
fn careful_agreement(fitted: &FittedVotes<'_>) -> Option<f64> {
    let Some(Model::Crowd(flags)) = &fitted.fit.model else { return None };
    let (pairs, scores) = (fitted.graph.pairs(), &fitted.fit.scores);
    let per_unit = flags.crowd.log_odds_per_unit();
    let agreeing = |p: usize| {
        let d = scores[pairs.left[p] as usize] - scores[pairs.right[p] as usize];
        pairs.weight[p] / (1.0 + (-per_unit * d.abs()).exp())
    };
    let agreeing: f64 = (0..pairs.len()).map(agreeing).sum();
    Some(agreeing / fitted.graph.votes().max(1.0))
}
