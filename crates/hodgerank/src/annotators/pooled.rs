//! The class of an annotator who votes in several studies.
//!
//! A person's behaviour is taken to be the same in all studies. The probability of each vote under a
//! behaviour follows from the scores of its own study, as in the crowd model:
//!
//! P(left) = h p + c (1 − p) + l,  p the probability that an honest vote prefers the left item.
//!
//! Ties say nothing. The shares of the behaviours among all people are estimated by EM, with the
//! scores of the studies fixed: this is the crowd model of all studies together, without its search for
//! scores. A few votes in each of many studies can so show together what no study shows alone.
//!
//! | pseudo-count of people | why |
//! |---|---|
//! | [`CAREFUL_COUNT`] careful ones | with few people, most are careful unless their votes say otherwise |
//! | [`OTHER_COUNT`] of each other class | no class is impossible |

use rayon::prelude::*;

use crate::annotator_votes::AnnotatorVotes;
use crate::communicator::Communicator;
use crate::labels::Labels;
use crate::solve::crowd::{AnnotatorClass, AnnotatorEstimate, Crowd, FavouriteItem};

const CAREFUL_COUNT: f64 = 2.5;
const OTHER_COUNT: f64 = 0.5;
/// Steps of EM.
const STEPS: usize = 60;
/// No vote is impossible: scores are estimates.
const MIN_PROBABILITY: f64 = 1e-6;
/// Factors that are multiplied before a logarithm is taken; their product cannot underflow.
const FACTORS: usize = 32;

/// The votes of a study and what the crowd model says about them.
#[derive(Debug, Clone, Copy)]
pub struct StudyVotes<'a> {
    /// Scores and annotators.
    pub crowd: &'a Crowd,
    /// The votes that the crowd was fitted to.
    pub votes: &'a AnnotatorVotes,
    /// The names of the annotators.
    pub labels: &'a Labels,
    /// The names of the items.
    pub items: &'a Labels,
    /// Votes are flagged if the probability that they are bad is above this.
    pub threshold: f64,
}

/// The class of an annotator and their share of honest votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClassEstimate {
    pub(super) class: AnnotatorClass,
    pub(super) probability: f64,
    pub(super) honest: f64,
    pub(super) honest_low: f64,
    pub(super) honest_high: f64,
}

impl From<&AnnotatorEstimate> for ClassEstimate {
    fn from(estimate: &AnnotatorEstimate) -> Self {
        Self {
            class: estimate.class,
            probability: estimate.probability,
            honest: estimate.honest,
            honest_low: estimate.honest_low,
            honest_high: estimate.honest_high,
        }
    }
}

/// A person: study and index in it, for each study with votes of theirs.
pub(super) type Person = Vec<(usize, u32)>;

/// The estimate of each person; none if nothing is known.
pub(super) fn classes(
    studies: &[StudyVotes<'_>],
    people: &[&Person],
    communicator: &dyn Communicator,
) -> Vec<Option<ClassEstimate>> {
    if let [StudyVotes { crowd, .. }] = studies {
        let estimate = |person: &&Person| {
            let position = person.first().and_then(|&(_, annotator)| crowd.position(annotator));
            position.map(|position| ClassEstimate::from(&crowd.annotators[position]))
        };
        return people.iter().map(estimate).collect();
    }
    let behaviours = behaviours(studies.iter().any(|study| study.votes.has_sides()));
    let likelihoods: Vec<Vec<f64>> =
        people.par_iter().map(|person| likelihoods(studies, person, &behaviours)).collect();
    let shares = shares(&behaviours, &likelihoods, communicator);
    let of_person = |(person, likelihoods): (&&Person, &Vec<f64>)| {
        let estimate = estimate(&behaviours, &posterior(&shares, likelihoods));
        Some(with_favourite(studies, person, estimate))
    };
    people.iter().zip(&likelihoods).map(of_person).collect()
}

/// The estimate of someone who may be a fan of an item in one of the studies.
fn with_favourite(
    studies: &[StudyVotes<'_>],
    person: &Person,
    estimate: ClassEstimate,
) -> ClassEstimate {
    match favourite(studies, person) {
        Some((favourite, _)) if !estimate.class.is_suspicious() => ClassEstimate {
            class: AnnotatorClass::Fan,
            probability: favourite.probability,
            ..estimate
        },
        _ => estimate,
    }
}

/// The item that a person prefers or rejects, whatever it is compared with, and its name.
pub(super) fn favourite<'a>(
    studies: &[StudyVotes<'a>],
    person: &Person,
) -> Option<(FavouriteItem, &'a str)> {
    person.iter().find_map(|&(study, annotator)| {
        let StudyVotes { crowd, items, .. } = studies[study];
        let favourite = crowd.annotators[crowd.position(annotator)?].favourite?;
        Some((favourite, items.name(favourite.item)))
    })
}

/// The likelihood of each behaviour of a person, relative to the largest.
fn likelihoods(studies: &[StudyVotes<'_>], person: &Person, behaviours: &[Behaviour]) -> Vec<f64> {
    let mut log = vec![0.0; behaviours.len()];
    for &(study, annotator) in person {
        add_log_likelihood(&studies[study], annotator as usize, behaviours, &mut log);
    }
    let largest = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    log.iter().map(|log| (log - largest).exp()).collect()
}

/// The share of each behaviour among the people of all processes. People are added up in their order, so
/// that sums do not depend on the number of threads.
fn shares(
    behaviours: &[Behaviour],
    likelihoods: &[Vec<f64>],
    communicator: &dyn Communicator,
) -> Vec<f64> {
    let count = |behaviour: &Behaviour| {
        let same = behaviours.iter().filter(|other| other.class == behaviour.class).count();
        let of_class = match behaviour.class {
            AnnotatorClass::Careful => CAREFUL_COUNT,
            _ => OTHER_COUNT,
        };
        of_class / same as f64
    };
    let counts: Vec<f64> = behaviours.iter().map(count).collect();
    let normalised = |counts: Vec<f64>| -> Vec<f64> {
        let total: f64 = counts.iter().sum();
        counts.into_iter().map(|count| count / total).collect()
    };
    let mut shares = normalised(counts.clone());
    for _ in 0..STEPS {
        let mut sums = vec![0.0; counts.len()];
        for likelihoods in likelihoods {
            for (sum, p) in sums.iter_mut().zip(posterior(&shares, likelihoods)) {
                *sum += p;
            }
        }
        communicator.sum(&mut sums);
        sums.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
        shares = normalised(sums);
    }
    shares
}

fn posterior(shares: &[f64], likelihoods: &[f64]) -> Vec<f64> {
    let mut posterior: Vec<f64> = shares.iter().zip(likelihoods).map(|(s, l)| s * l).collect();
    let total: f64 = posterior.iter().sum();
    posterior.iter_mut().for_each(|probability| *probability /= total);
    posterior
}

/// Adds the logarithms of the probabilities of a person's votes in a study.
fn add_log_likelihood(
    study: &StudyVotes<'_>,
    annotator: usize,
    behaviours: &[Behaviour],
    log: &mut [f64],
) {
    let decided = || study.votes.of(annotator).iter().filter(|vote| study.votes.y(vote) != 0.0);
    let mut product = vec![1.0; behaviours.len()];
    let mut factors = 0;
    for vote in decided() {
        let p = study.crowd.left_probability(vote.left, vote.right);
        let is_left = study.votes.y(vote) > 0.0;
        for ((behaviour, product), log) in behaviours.iter().zip(&mut product).zip(&mut *log) {
            let left = behaviour.left_probability(p);
            let probability = if is_left { left } else { 1.0 - left }.max(MIN_PROBABILITY);
            match vote.count {
                1 => *product *= probability,
                count => *log += f64::from(count) * probability.ln(),
            }
        }
        factors += 1;
        if factors == FACTORS {
            factors = 0;
            for (log, product) in log.iter_mut().zip(&mut product) {
                *log += std::mem::replace(product, 1.0).ln();
            }
        }
    }
    log.iter_mut().zip(product).for_each(|(log, product)| *log += product.ln());
}

fn estimate(behaviours: &[Behaviour], posterior: &[f64]) -> ClassEstimate {
    let of_class = |class: AnnotatorClass| -> f64 {
        let points = behaviours.iter().zip(posterior);
        points.filter(|(behaviour, _)| behaviour.class == class).map(|(_, p)| p).sum()
    };
    // The first of equally probable classes.
    let (mut class, mut probability) = (AnnotatorClass::Careful, 0.0);
    for other in AnnotatorClass::ALL {
        if of_class(other) > probability {
            (class, probability) = (other, of_class(other));
        }
    }
    let mut shares: Vec<(f64, f64)> =
        behaviours.iter().zip(posterior).map(|(behaviour, &p)| (behaviour.honest, p)).collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |level: f64| {
        let mut below = 0.0;
        let reaches = |(_, p): &&(f64, f64)| {
            below += p;
            below >= level
        };
        shares.iter().find(reaches).or(shares.last()).map_or(1.0, |(honest, _)| *honest)
    };
    let honest: f64 = shares.iter().map(|(honest, p)| honest * p).sum::<f64>().min(1.0);
    // The mean of a few points can be below all but the last of them.
    let (honest_low, honest_high) = (quantile(0.025).min(honest), quantile(0.975).max(honest));
    ClassEstimate { class, probability: probability.min(1.0), honest, honest_low, honest_high }
}

/// Shares of honest and contrary answers, and of answers on the left; the rest is on the right.
#[derive(Debug, Clone, Copy)]
struct Behaviour {
    class: AnnotatorClass,
    honest: f64,
    contrary: f64,
    left: f64,
}

impl Behaviour {
    fn left_probability(&self, p: f64) -> f64 {
        self.honest * p + self.contrary * (1.0 - p) + self.left
    }
}

/// The behaviours that are told apart; one-sided ones only if items have sides.
fn behaviours(has_sides: bool) -> Vec<Behaviour> {
    let mut behaviours = Vec::new();
    let mut add = |class, honest: f64, contrary: f64, left: f64| {
        behaviours.push(Behaviour { class, honest, contrary, left });
    };
    // What is neither honest nor contrary falls on both sides equally.
    let half = |rest: f64| 0.5 * (1.0 - rest);
    for honest in [1.0, 0.97, 0.94] {
        add(AnnotatorClass::Careful, honest, 0.0, half(honest));
    }
    for honest in [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3] {
        add(AnnotatorClass::Careless, honest, 0.0, half(honest));
    }
    for (honest, contrary) in [(0.15, 0.0), (0.0, 0.0), (0.0, 0.15)] {
        add(AnnotatorClass::Coin, honest, contrary, half(honest + contrary));
    }
    for contrary in [1.0, 0.9, 0.8, 0.6] {
        add(AnnotatorClass::Contrary, 0.0, contrary, half(contrary));
    }
    if has_sides {
        for honest in [0.4, 0.2, 0.0] {
            add(AnnotatorClass::Left, honest, 0.0, 1.0 - honest);
            add(AnnotatorClass::Right, honest, 0.0, 0.0);
        }
        // Mostly honest is not one-sided, as in the crowd model.
        for honest in [0.8, 0.6] {
            add(AnnotatorClass::Careless, honest, 0.0, 1.0 - honest);
            add(AnnotatorClass::Careless, honest, 0.0, 0.0);
        }
        for other in [0.05, 0.2] {
            add(AnnotatorClass::Left, 0.0, 0.0, 1.0 - other);
            add(AnnotatorClass::Right, 0.0, 0.0, other);
        }
    }
    behaviours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::SingleProcess;

    #[test]
    fn behaviours_are_probabilities() {
        for has_sides in [false, true] {
            for behaviour in behaviours(has_sides) {
                for p in [0.0, 0.3, 1.0] {
                    let left = behaviour.left_probability(p);
                    assert!((-1e-12..=1.0 + 1e-12).contains(&left), "{behaviour:?}");
                }
                let is_one_sided =
                    matches!(behaviour.class, AnnotatorClass::Left | AnnotatorClass::Right);
                assert!(has_sides || !is_one_sided);
            }
        }
    }

    #[test]
    fn shares_follow_the_people() {
        let behaviours = behaviours(true);
        let sure_of = |class: AnnotatorClass| -> Vec<f64> {
            behaviours.iter().map(|b| if b.class == class { 1.0 } else { 0.0 }).collect()
        };
        let mut people = vec![sure_of(AnnotatorClass::Careful); 60];
        people.extend(vec![sure_of(AnnotatorClass::Left); 34]);
        // Nobody knows this one, who is probably as most others are.
        people.push(vec![1.0; behaviours.len()]);
        let shares = shares(&behaviours, &people, &SingleProcess);
        let of_class = |class| -> f64 {
            let points = behaviours.iter().zip(&shares).filter(|(b, _)| b.class == class);
            points.map(|(_, share)| share).sum()
        };
        assert!((of_class(AnnotatorClass::Careful) - 0.63).abs() < 0.01);
        assert!((of_class(AnnotatorClass::Left) - 0.35).abs() < 0.01);
        let unknown = estimate(&behaviours, &posterior(&shares, &people[94]));
        assert_eq!(unknown.class, AnnotatorClass::Careful);
        assert!(unknown.honest_low < 0.5 && unknown.honest_high > 0.9, "{unknown:?}");
    }
}
