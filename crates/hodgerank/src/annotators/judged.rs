//! What the crowd model and exact tests say about each annotator.
//!
//! | question | test |
//! |---|---|
//! | Do they agree with the ranking less than a careful annotator would on the same pairs? | lower tail |
//! | Do they choose the left side more or less often than the ranking explains? | both tails |
//!
//! Under the null hypothesis of a careful annotator, each vote agrees (or falls on the left) with the
//! probability that the scores imply, independently: the number of such votes has a Poisson binomial
//! distribution. Its tails are exact up to [`super::MAX_EXACT_VOTES`] votes, and a normal approximation with a
//! correction for skewness beyond. The tests do not depend on flags. The scores come from the same votes,
//! in which one annotator among many has little weight.
//!
//! p-values are adjusted by Holm's method over all annotators.

use rayon::prelude::*;

use super::exact::holm;
use super::pooled::{Person, StudyVotes, classes};
use super::trials::Trials;
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::communicator::{Communicator, SingleProcess};
use crate::fit::CrowdFlags;
use crate::flag_reason::FlagReason;
use crate::labels::{Labels, natural_order};
use crate::solve::crowd::{AnnotatorClass, ClassEstimate, Crowd};

/// With fewer votes nothing is said about a person.
const MIN_VOTES: u64 = 3;
/// Share of votes on one side from which someone "always" chooses it.
const ALWAYS: f64 = 0.97;

/// What is known about an annotator. `L` is the annotator's index or label.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JudgedAnnotator<L = u32> {
    /// The annotator.
    pub annotator: L,
    /// Votes cast.
    pub votes: u64,
    /// Votes that are flagged.
    pub flagged: u64,
    /// The most probable class; none for people with too few votes.
    pub class: Option<AnnotatorClass>,
    /// Its probability.
    pub probability: Option<f64>,
    /// Share of honest votes.
    pub honest: Option<f64>,
    /// Lower end of its interval with a probability of 95%.
    pub honest_low: Option<f64>,
    /// Upper end of that interval.
    pub honest_high: Option<f64>,
    /// Share of votes other than ties that agree with the ranking.
    pub agreement: Option<f64>,
    /// The same as expected of a careful annotator on these pairs.
    pub expected_agreement: Option<f64>,
    /// Probability of so little agreement if the annotator were careful.
    pub agreement_p: Option<f64>,
    /// The same adjusted for the number of annotators.
    pub agreement_p_adjusted: Option<f64>,
    /// Share of votes other than ties for the left item, if sides are known.
    pub left_share: Option<f64>,
    /// The same as expected from the ranking.
    pub expected_left_share: Option<f64>,
    /// Probability of a left share so far from what is expected.
    pub left_p: Option<f64>,
    /// The same adjusted for the number of annotators.
    pub left_p_adjusted: Option<f64>,
    /// The judgement in words.
    pub verdict: String,
}

impl<L> JudgedAnnotator<L> {
    /// Whether something is wrong with the annotator's votes. A different taste is not wrong.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.class.is_some_and(AnnotatorClass::is_suspicious)
    }

    /// Whether the annotator always chooses the same side, up to a few votes.
    #[must_use]
    pub fn is_always_one_side(&self) -> bool {
        let is_always = |left: f64| left.max(1.0 - left) >= ALWAYS;
        let is_one_sided = matches!(self.class, Some(AnnotatorClass::Left | AnnotatorClass::Right));
        is_one_sided && self.left_share.is_some_and(is_always)
    }

    /// Why a ranking should leave out the annotator; none for careful and careless people. The votes
    /// of a careless person still say more about the items than nothing, and every method tolerates
    /// some lapses.
    #[must_use]
    pub fn reason_to_exclude(&self) -> Option<FlagReason> {
        self.class.and_then(FlagReason::of_class)
    }

    /// The expected number of votes that are not honest.
    fn bad_votes(&self) -> f64 {
        self.votes as f64 * (1.0 - self.honest.unwrap_or(1.0))
    }

    /// The same with another name of the annotator.
    #[must_use]
    pub fn with_name<M>(self, annotator: M) -> JudgedAnnotator<M> {
        let Self { votes, flagged, class, probability, honest, honest_low, honest_high, .. } = self;
        let Self { agreement, expected_agreement, agreement_p, agreement_p_adjusted, .. } = self;
        let Self { left_share, expected_left_share, left_p, left_p_adjusted, verdict, .. } = self;
        JudgedAnnotator {
            annotator,
            votes,
            flagged,
            class,
            probability,
            honest,
            honest_low,
            honest_high,
            agreement,
            expected_agreement,
            agreement_p,
            agreement_p_adjusted,
            left_share,
            expected_left_share,
            left_p,
            left_p_adjusted,
            verdict,
        }
    }
}

/// Judges every annotator of a study, those with the most bad votes first. `labels` are the names of the
/// annotators.
#[must_use]
pub fn judge(
    crowd: &Crowd,
    votes: &AnnotatorVotes,
    labels: &Labels,
) -> Vec<JudgedAnnotator<String>> {
    let threshold = CrowdFlags::MORE_LIKELY_BAD;
    judge_all(&[StudyVotes { crowd, votes, labels, threshold }])
}

/// Judges every annotator over several studies, those with the most bad votes first: votes add up,
/// and tests are over all votes of a person. `pooled.rs` says how classes are combined.
#[must_use]
pub fn judge_all(studies: &[StudyVotes<'_>]) -> Vec<JudgedAnnotator<String>> {
    judge_shared(studies, &SingleProcess)
}

/// [`judge_all`] where several processes share the votes, each with all votes of its annotators in all
/// studies. Returns those of this process; [`judge_parts`] combines the lists. Collective.
#[must_use]
pub fn judge_shared(
    studies: &[StudyVotes<'_>],
    communicator: &dyn Communicator,
) -> Vec<JudgedAnnotator<String>> {
    let people = people(studies);
    let persons: Vec<&Person> = people.iter().map(|(_, person)| person).collect();
    let estimates = classes(studies, &persons, communicator);
    let mut judged: Vec<JudgedAnnotator<String>> = people
        .par_iter()
        .zip(estimates)
        .map(|((name, person), class)| {
            judge_one(studies, person, class).with_name((*name).to_owned())
        })
        .collect();
    judged.retain(|annotator| annotator.votes > 0);
    in_order(judged)
}

/// The annotators of a study whose votes several processes share, the most problematic first: `parts`
/// are the lists of [`judge`] on each process, every annotator in one of them.
#[must_use]
pub fn judge_parts(parts: Vec<Vec<JudgedAnnotator<String>>>) -> Vec<JudgedAnnotator<String>> {
    in_order(parts.into_iter().flatten().collect())
}

/// Adjusts p-values for the number of annotators, and sorts.
fn in_order(mut judged: Vec<JudgedAnnotator<String>>) -> Vec<JudgedAnnotator<String>> {
    adjust(&mut judged, |a| a.agreement_p, |a, p| a.agreement_p_adjusted = Some(p));
    adjust(&mut judged, |a| a.left_p, |a, p| a.left_p_adjusted = Some(p));
    judged.sort_by(|a, b| {
        b.is_suspicious()
            .cmp(&a.is_suspicious())
            .then(b.bad_votes().total_cmp(&a.bad_votes()))
            .then_with(|| natural_order(&a.annotator, &b.annotator))
    });
    judged
}

/// The indices of each person in the studies in which they voted, in the order of the studies.
fn people<'a>(studies: &[StudyVotes<'a>]) -> Vec<(&'a str, Person)> {
    let mut names = Labels::new();
    let mut people: Vec<(&str, Person)> = Vec::new();
    for (s, study) in studies.iter().enumerate() {
        for (name, annotator) in study.labels.iter().zip(0..study.votes.annotators() as u32) {
            let person = names.intern(name) as usize;
            if person == people.len() {
                people.push((name, Vec::new()));
            }
            people[person].1.push((s, annotator));
        }
    }
    people
}

/// Adjusts the p-values that are known.
fn adjust(
    judged: &mut [JudgedAnnotator<String>],
    p: fn(&JudgedAnnotator<String>) -> Option<f64>,
    set: fn(&mut JudgedAnnotator<String>, f64),
) {
    let known: Vec<usize> = (0..judged.len()).filter(|&k| p(&judged[k]).is_some()).collect();
    let values: Vec<f64> = known.iter().filter_map(|&k| p(&judged[k])).collect();
    for (k, adjusted) in known.into_iter().zip(holm(&values)) {
        set(&mut judged[k], adjusted);
    }
}

fn judge_one(
    studies: &[StudyVotes<'_>],
    person: &Person,
    class: Option<ClassEstimate>,
) -> JudgedAnnotator<()> {
    let (mut agreement, mut left) = (Trials::default(), Trials::default());
    let (mut number, mut flagged) = (0, 0);
    for &(study, annotator) in person {
        let StudyVotes { crowd, votes, threshold, .. } = studies[study];
        let position = crowd.position(annotator);
        for vote in votes.of(annotator as usize) {
            number += u64::from(vote.count);
            let y = votes.y(vote);
            let AnnotatorVote { left: first, right: second, count, .. } = *vote;
            if crowd.bad_probability(position, (first, second), y) > threshold {
                flagged += u64::from(count);
            }
            if y == 0.0 {
                continue;
            }
            let p = crowd.left_probability(first, second);
            if p != 0.5 {
                agreement.add((y > 0.0) == (p > 0.5), p.max(1.0 - p), count);
            }
            if votes.has_sides() {
                left.add(y > 0.0, p, count);
            }
        }
    }
    let estimate = class.filter(|_| number >= MIN_VOTES);
    let class = estimate.map(|estimate| estimate.class);
    let two_sided = |(below, above): (f64, f64)| (2.0 * below.min(above)).min(1.0);
    JudgedAnnotator {
        annotator: (),
        votes: number,
        flagged,
        class,
        probability: estimate.map(|estimate| estimate.probability),
        honest: estimate.map(|estimate| estimate.honest),
        honest_low: estimate.map(|estimate| estimate.honest_low),
        honest_high: estimate.map(|estimate| estimate.honest_high),
        agreement: agreement.share(),
        expected_agreement: agreement.expected_share(),
        agreement_p: agreement.tails().map(|(below, _)| below),
        agreement_p_adjusted: None,
        left_share: left.share(),
        expected_left_share: left.expected_share(),
        left_p: left.tails().map(two_sided),
        left_p_adjusted: None,
        verdict: verdict(class, estimate.map_or(1.0, |estimate| estimate.honest), left.share()),
    }
}

fn verdict(class: Option<AnnotatorClass>, honest: f64, left_share: Option<f64>) -> String {
    let side = |name: &str, share: f64| match share >= ALWAYS {
        true => format!("always {name}"),
        false => format!("mostly {name} ({:.0}%)", 100.0 * share),
    };
    match class {
        None => "too few votes".to_owned(),
        Some(AnnotatorClass::Careful) => "fine".to_owned(),
        Some(AnnotatorClass::Careless) => {
            format!("careless: {:.0}% lapses", 100.0 * (1.0 - honest))
        }
        Some(AnnotatorClass::Coin) => "random".to_owned(),
        Some(AnnotatorClass::Contrary) => "answers the opposite".to_owned(),
        Some(AnnotatorClass::Left) => side("left", left_share.unwrap_or(1.0)),
        Some(AnnotatorClass::Right) => side("right", 1.0 - left_share.unwrap_or(0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_words() {
        let of = |class, honest, left| verdict(Some(class), honest, Some(left));
        assert_eq!(of(AnnotatorClass::Careless, 0.69, 0.5), "careless: 31% lapses");
        assert_eq!(of(AnnotatorClass::Left, 0.0, 1.0), "always left");
        assert_eq!(of(AnnotatorClass::Right, 0.0, 0.2), "mostly right (80%)");
        assert_eq!(verdict(None, 1.0, None), "too few votes");
    }
}
