//! What the crowd model and exact tests say about each annotator.
//!
//! | question | test |
//! |---|---|
//! | Do they agree with the ranking less than a careful annotator would on the same pairs? | lower tail |
//! | Do they choose the left side more or less often than the ranking explains? | both tails |
//!
//! Under the null hypothesis of a careful annotator, each vote agrees (or falls on the left) with the
//! probability that the scores imply, independently: the number of such votes has a Poisson binomial
//! distribution. Its tails are exact up to [`MAX_EXACT_VOTES`] votes, and a normal approximation with a
//! correction for skewness beyond. The tests do not depend on flags. The scores come from the same votes,
//! in which one annotator among many has little weight.
//!
//! p-values are adjusted by Holm's method over all annotators.

use rayon::prelude::*;

use super::exact::holm;
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::labels::{Labels, natural_order};
use crate::solve::crowd::{AnnotatorClass, Crowd};

/// Number of votes up to which tests are exact.
pub const MAX_EXACT_VOTES: usize = 1000;
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
    /// Whether the annotator should not be trusted.
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

    /// The expected number of votes that are not honest.
    fn bad_votes(&self) -> f64 {
        self.votes as f64 * (1.0 - self.honest.unwrap_or(1.0))
    }

    /// The same with another name of the annotator.
    #[must_use]
    pub fn with_name<M>(self, annotator: M) -> JudgedAnnotator<M> {
        let Self { votes, class, probability, honest, honest_low, honest_high, .. } = self;
        let Self { agreement, expected_agreement, agreement_p, agreement_p_adjusted, .. } = self;
        let Self { left_share, expected_left_share, left_p, left_p_adjusted, verdict, .. } = self;
        JudgedAnnotator {
            annotator,
            votes,
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

/// Judges every annotator, those with the most bad votes first.
#[must_use]
pub fn judge(
    crowd: &Crowd,
    votes: &AnnotatorVotes,
    labels: &Labels,
) -> Vec<JudgedAnnotator<String>> {
    let mut judged: Vec<JudgedAnnotator> =
        (0..votes.annotators()).into_par_iter().map(|a| judge_one(crowd, votes, a)).collect();
    judged.retain(|annotator| annotator.votes > 0);
    let adjust = |judged: &mut [JudgedAnnotator],
                  p: fn(&JudgedAnnotator) -> Option<f64>,
                  set: fn(&mut JudgedAnnotator, f64)| {
        let known: Vec<usize> = (0..judged.len()).filter(|&k| p(&judged[k]).is_some()).collect();
        let values: Vec<f64> = known.iter().filter_map(|&k| p(&judged[k])).collect();
        for (k, adjusted) in known.into_iter().zip(holm(&values)) {
            set(&mut judged[k], adjusted);
        }
    };
    adjust(&mut judged, |a| a.agreement_p, |a, p| a.agreement_p_adjusted = Some(p));
    adjust(&mut judged, |a| a.left_p, |a, p| a.left_p_adjusted = Some(p));
    judged.sort_by(|a, b| {
        let name = |annotator: &JudgedAnnotator| labels.name(annotator.annotator);
        b.is_suspicious()
            .cmp(&a.is_suspicious())
            .then(b.bad_votes().total_cmp(&a.bad_votes()))
            .then_with(|| natural_order(name(a), name(b)))
    });
    let named = |judged: JudgedAnnotator| {
        let name = labels.name(judged.annotator).to_owned();
        judged.with_name(name)
    };
    judged.into_iter().map(named).collect()
}

/// Votes that agree or fall on the left, and the probability of each.
#[derive(Default)]
struct Trials {
    successes: u64,
    probabilities: Vec<f64>,
}

impl Trials {
    fn add(&mut self, succeeds: bool, probability: f64, count: u32) {
        self.successes += if succeeds { u64::from(count) } else { 0 };
        self.probabilities.extend(std::iter::repeat_n(probability, count as usize));
    }

    fn share(&self) -> Option<f64> {
        let trials = self.probabilities.len();
        (trials > 0).then(|| self.successes as f64 / trials as f64)
    }

    fn expected_share(&self) -> Option<f64> {
        let trials = self.probabilities.len() as f64;
        (trials > 0.0).then(|| self.probabilities.iter().sum::<f64>() / trials)
    }

    /// P(at most this many) and P(at least this many).
    fn tails(&self) -> Option<(f64, f64)> {
        (!self.probabilities.is_empty())
            .then(|| tails(&self.probabilities, self.successes as usize))
    }
}

fn judge_one(crowd: &Crowd, votes: &AnnotatorVotes, annotator: usize) -> JudgedAnnotator {
    /// A count in one row stands for so many votes at most in the tests.
    const MAX_COUNT: u32 = 1000;
    let (mut agreement, mut left) = (Trials::default(), Trials::default());
    let mut number = 0;
    for vote in votes.of(annotator) {
        number += u64::from(vote.count);
        let y = votes.y(vote);
        let AnnotatorVote { left: first, right: second, count, .. } = *vote;
        if y == 0.0 {
            continue;
        }
        let (p, count) = (crowd.left_probability(first, second), count.min(MAX_COUNT));
        if p != 0.5 {
            agreement.add((y > 0.0) == (p > 0.5), p.max(1.0 - p), count);
        }
        if votes.has_sides() {
            left.add(y > 0.0, p, count);
        }
    }
    let position = crowd.position(annotator as u32).filter(|_| number >= MIN_VOTES);
    let estimate = position.map(|a| &crowd.annotators[a]);
    let class = estimate.map(|estimate| estimate.class);
    let two_sided = |(below, above): (f64, f64)| (2.0 * below.min(above)).min(1.0);
    JudgedAnnotator {
        annotator: annotator as u32,
        votes: number,
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
        Some(AnnotatorClass::Taste) => "different taste".to_owned(),
        Some(AnnotatorClass::Right) => side("right", 1.0 - left_share.unwrap_or(0.0)),
    }
}

/// P(X ≤ k) and P(X ≥ k) of a sum X of independent trials with these probabilities.
fn tails(probabilities: &[f64], k: usize) -> (f64, f64) {
    if probabilities.len() > MAX_EXACT_VOTES {
        return approximate_tails(probabilities, k);
    }
    let mut distribution = vec![0.0; probabilities.len() + 1];
    distribution[0] = 1.0;
    for (trials, &p) in probabilities.iter().enumerate() {
        for successes in (0..=trials).rev() {
            let stays = distribution[successes];
            distribution[successes + 1] += p * stays;
            distribution[successes] = (1.0 - p) * stays;
        }
    }
    let below: f64 = distribution[..=k].iter().sum();
    let above: f64 = distribution[k..].iter().sum();
    (below.min(1.0), above.min(1.0))
}

/// The refined normal approximation: Φ(x) + γ (1 − x²) φ(x) / 6, with a correction for continuity.
fn approximate_tails(probabilities: &[f64], k: usize) -> (f64, f64) {
    let mean: f64 = probabilities.iter().sum();
    let variance: f64 = probabilities.iter().map(|p| p * (1.0 - p)).sum();
    let third: f64 = probabilities.iter().map(|p| p * (1.0 - p) * (1.0 - 2.0 * p)).sum();
    if variance <= 0.0 {
        let at = (mean - k as f64).abs() < 0.5;
        return if at { (1.0, 1.0) } else { (0.0, 0.0) };
    }
    let sigma = variance.sqrt();
    let below = |k: f64| {
        let x = (k + 0.5 - mean) / sigma;
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let skew = third / (6.0 * sigma.powi(3)) * (1.0 - x * x) * density;
        (super::exact::normal_below(x) + skew).clamp(0.0, 1.0)
    };
    (below(k as f64), 1.0 - below(k as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_all_outcomes() {
        let probabilities = [0.1, 0.5, 0.9, 0.3, 0.7];
        for k in 0..=5 {
            let (mut below, mut above) = (0.0, 0.0);
            for outcome in 0_u32..32 {
                let chance: f64 = (0..5)
                    .map(|i| {
                        let p = probabilities[i];
                        if outcome >> i & 1 == 1 { p } else { 1.0 - p }
                    })
                    .product();
                let successes = outcome.count_ones() as usize;
                below += if successes <= k { chance } else { 0.0 };
                above += if successes >= k { chance } else { 0.0 };
            }
            let found = tails(&probabilities, k);
            assert!((found.0 - below).abs() < 1e-14 && (found.1 - above).abs() < 1e-14, "{k}");
        }
    }

    #[test]
    fn many_votes_are_approximated_well() {
        let probabilities: Vec<f64> =
            (0..1000).map(|k| 0.5 + 0.45 * f64::from(k) / 1000.0).collect();
        let mean: f64 = probabilities.iter().sum();
        for offset in [-30, -10, 0, 15, 25] {
            let k = (mean as i64 + offset) as usize;
            let (exact, near) = (tails(&probabilities, k), approximate_tails(&probabilities, k));
            assert!((exact.0 - near.0).abs() < 5e-3 * exact.0.max(0.01), "{exact:?} {near:?}");
            assert!((exact.1 - near.1).abs() < 5e-3 * exact.1.max(0.01), "{exact:?} {near:?}");
        }
    }

    #[test]
    fn verdicts_are_words() {
        let of = |class, honest, left| verdict(Some(class), honest, Some(left));
        assert_eq!(of(AnnotatorClass::Careless, 0.69, 0.5), "careless: 31% lapses");
        assert_eq!(of(AnnotatorClass::Left, 0.0, 1.0), "always left");
        assert_eq!(of(AnnotatorClass::Right, 0.0, 0.2), "mostly right (80%)");
        assert_eq!(verdict(None, 1.0, None), "too few votes");
    }
}
