//! What `certify` says about one study, with names of items and annotators.

use hodgerank::certify::{Certified, FoundSet, Question, SearchResult, Standing};
use hodgerank::{InputSummary, Study};
use serde::Serialize;

use crate::document::StudyFigures;

/// The JSON of `certify` for one study; docs/certify.md explains its keys.
#[derive(Debug, Serialize)]
pub struct StudyCertificate {
    /// What was read.
    #[serde(skip)]
    pub input: InputSummary,
    /// The number of first places that were examined; none for a pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// The pair that was examined, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<[String; 2]>,
    /// The robust ranking, then the plain one, unless they are the same.
    pub rankings: Vec<RankingCertificate>,
}

/// What is known about one ranking.
#[derive(Debug, Serialize)]
pub struct RankingCertificate {
    /// `robust` or `plain`.
    pub ranking: &'static str,
    /// The method.
    pub method: &'static str,
    /// How the fit of all votes ended.
    pub status: &'static str,
    /// The items in the first places, or the item of the pair that is above, by all votes, the best
    /// first; empty if items are tied there.
    pub result: Vec<String>,
    /// Items with equal scores, if they are the reason that there is no result.
    pub tied: Vec<String>,
    /// The smallest set of votes that was found.
    pub votes: SetSearch<VoteInSet>,
    /// The smallest set of annotators that was found, where annotators are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotators: Option<SetSearch<AnnotatorInSet>>,
}

/// The smallest set that was found.
#[derive(Debug, Serialize)]
pub struct SetSearch<M> {
    /// Whether a set was found. If none was, that does not prove that there is none.
    pub found: bool,
    /// Whether the votes were ranked again without the set, and the result was another one.
    pub verified: bool,
    /// Whether all smaller sets were tried, so that this one is the smallest.
    pub smallest: bool,
    /// Number of members of the set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Number of all votes, or all annotators.
    pub of: u64,
    /// Number of votes that are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed_votes: Option<u64>,
    /// Their share of all votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The result without the set, the best item first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Vec<String>>,
    /// An item that is then above the item `below`, and was not before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// The other item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// The members.
    pub set: Vec<M>,
    /// All sets of up to this size were tried.
    pub all_tried_up_to: u64,
    /// Larger sets were not tried.
    pub max_removed: u64,
    /// Number of sets that were tried, each by ranking the votes without it.
    pub tried: usize,
}

/// Equal votes, some or all of which are in a set.
#[derive(Debug, Serialize)]
pub struct VoteInSet {
    /// Who cast them, if the method distinguishes votes by annotator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotator: Option<String>,
    /// The item on the left, if the method distinguishes sides.
    pub left: String,
    /// The other item.
    pub right: String,
    /// How much the left item is preferred.
    pub outcome: f64,
    /// How many of these votes are in the set.
    pub removed: u64,
    /// How many there are.
    pub of: u64,
}

/// An annotator in a set.
#[derive(Debug, Serialize)]
pub struct AnnotatorInSet {
    /// The annotator.
    pub annotator: String,
    /// The number of their votes.
    pub votes: u64,
}

impl StudyFigures for StudyCertificate {
    fn input(&self) -> InputSummary {
        self.input
    }
}

impl StudyCertificate {
    pub(super) fn new(
        input: InputSummary,
        question: Question,
        study: &Study,
        robust: &Certified,
        plain: Option<&Certified>,
    ) -> Self {
        let (places, pair) = match question {
            Question::Places(places) => (Some(places), None),
            Question::Pair(a, b) => {
                (None, Some([a, b].map(|item| study.items.name(item).to_owned())))
            }
        };
        let robust_name = if plain.is_some() { "robust" } else { "plain" };
        let mut rankings = vec![RankingCertificate::new(robust_name, study, robust)];
        rankings.extend(plain.map(|plain| RankingCertificate::new("plain", study, plain)));
        Self { input, places, pair, rankings }
    }
}

impl RankingCertificate {
    fn new(ranking: &'static str, study: &Study, found: &Certified) -> Self {
        let (result, tied) = match &found.standing {
            Standing::Ordered(target) => (names(study, &target.upper), Vec::new()),
            Standing::Tied(items) => (Vec::new(), names(study, items)),
            _ => (Vec::new(), Vec::new()),
        };
        let annotator = |annotator: u32| study.annotators.name(annotator).to_owned();
        let votes = |found: &FoundSet| {
            let vote = |vote: &hodgerank::certify::RemovedVote| VoteInSet {
                annotator: vote.annotator.map(annotator),
                left: study.items.name(vote.left).to_owned(),
                right: study.items.name(vote.right).to_owned(),
                // Minus zero would be printed with its sign.
                outcome: vote.y + 0.0,
                removed: vote.removed,
                of: vote.of,
            };
            found.votes.iter().map(vote).collect()
        };
        let people = |found: &FoundSet| {
            let one = |gone: &hodgerank::certify::RemovedAnnotator| AnnotatorInSet {
                annotator: annotator(gone.annotator),
                votes: gone.votes,
            };
            found.annotators.iter().map(one).collect()
        };
        Self {
            ranking,
            method: found.method.as_str(),
            status: found.fit.status.as_str(),
            result,
            tied,
            votes: SetSearch::new(&found.votes, study, votes),
            annotators: found
                .annotators
                .as_ref()
                .map(|result| SetSearch::new(result, study, people)),
        }
    }
}

impl<M> SetSearch<M> {
    fn new(result: &SearchResult, study: &Study, members: impl Fn(&FoundSet) -> Vec<M>) -> Self {
        let found = result.found.as_ref();
        let name = |item: u32| study.items.name(item).to_owned();
        let share = |votes: u64| votes as f64 / study.comparisons.max(1) as f64;
        Self {
            found: found.is_some(),
            // Only sets that were verified are returned.
            verified: found.is_some(),
            smallest: found.is_some_and(|found| found.is_smallest),
            removed: found.map(|found| found.removed),
            of: result.members,
            removed_votes: found.map(|found| found.removed_votes),
            share: found.map(|found| share(found.removed_votes)),
            result: found.map(|found| names(study, &found.upper)),
            above: found.map(|found| name(found.above)),
            below: found.map(|found| name(found.below)),
            set: found.map_or_else(Vec::new, members),
            all_tried_up_to: result.exhausted,
            max_removed: result.max_removed,
            tried: result.fits,
        }
    }
}

fn names(study: &Study, items: &[u32]) -> Vec<String> {
    items.iter().map(|&item| study.items.name(item).to_owned()).collect()
}
