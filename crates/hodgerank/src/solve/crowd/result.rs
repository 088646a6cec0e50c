//! The result: scores, what is known about the annotators, and which votes are bad.

use rayon::prelude::*;

use super::FittedPeople;
use super::flagged;
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::communicator::Communicator;
use crate::comparison::positive_zero;
use crate::graph::ComparisonGraph;
use crate::model::behaviour::{Behaviour, OfBehaviours, POINTS, Population, sum_of_behaviours};
use crate::model::graded::GradedNoise;
use crate::model::people::{Evidence, LikelihoodTable};
use crate::model::votes::{Voice, VoteModel};
use crate::model::{AnnotatorClass, Decision, Link, Prior, PriorKind, Refinement};
use crate::solve::Solution;

/// Behaviours that are less probable than this do not count.
const MIN_PROBABILITY: f32 = 1e-5;
/// The normal distribution function is that of the logistic with this factor, within 0.01.
const LOGISTIC: f64 = 1.702;

/// Scores, and what is known about the annotators.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// Scores in log-odds, mean zero on each component; in the unit of the outcomes if votes are graded.
    pub solution: Solution,
    /// What was estimated about the crowd as a whole.
    pub estimates: CrowdEstimates,
    /// One entry for each annotator (of this process), by index.
    pub annotators: Vec<AnnotatorEstimate>,
    behaviours: Vec<Behaviour>,
    graded: Option<GradedNoise>,
}

/// Parameters of the crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdEstimates {
    /// The prior of the scores.
    pub prior: Prior,
    /// ν, the odds of a tie between equal items against either side.
    pub tie_odds: f64,
    /// b, the advantage of the left side in log-odds; 0 if it is not in the model.
    pub side_advantage: f64,
    /// The standard deviation of the outcomes of a typical honest annotator, if votes are graded.
    pub noise: Option<f64>,
    /// The standard deviation of the logarithm of the sharpness of honest annotators.
    pub sharpness_sd: f64,
    /// The standard deviation of their side preferences, in log-odds.
    pub side_preference_sd: f64,
    /// The share of annotators of each class.
    pub class_shares: Vec<(AnnotatorClass, f64)>,
    /// The number of annotators whose most probable class it is.
    pub class_counts: Vec<(AnnotatorClass, u64)>,
    /// What was tried, and what it gains.
    pub decisions: Vec<Decision>,
    /// From differences of scores to the probabilities of votes of this crowd; none for graded votes.
    pub link: Option<Link>,
    /// The log-likelihood of the annotators' votes, each judged by the others.
    pub log_likelihood: f64,
    /// The same if everyone were typical.
    pub log_likelihood_careful: f64,
    /// Whether nearly as many annotators vote against the ranking as for it.
    pub is_direction_uncertain: bool,
    /// Votes by unknown people.
    pub unknown_votes: u64,
    /// Iterations of the last search for scores.
    pub iterations: usize,
}

impl CrowdEstimates {
    /// What is known about people; everything else is that of no votes. Collective.
    pub(crate) fn of_people(
        graph: &ComparisonGraph,
        votes: &AnnotatorVotes,
        people: &FittedPeople,
    ) -> Self {
        let communicator = graph.communicator();
        let unknown = votes.unsorted_of(votes.annotators()).iter();
        let unknown: u64 = unknown.map(|vote| u64::from(vote.count)).sum();
        // Numbers of votes are exact in sums of all processes.
        let mut sums = [unknown as f64, people.log_likelihood, people.log_likelihood_typical];
        communicator.sum(&mut sums);
        let [unknown, log_likelihood, log_likelihood_careful] = sums;
        let shares = people.population.shares();
        let behaviours = &people.population.behaviours;
        let share = |class: AnnotatorClass| {
            let of_class = |k: usize| if behaviours[k].class() == class { shares[k] } else { 0.0 };
            positive_zero(sum_of_behaviours(of_class, behaviours.len()))
        };
        Self {
            prior: Prior { kind: PriorKind::Differences, precision: 0.0 },
            tie_odds: 0.0,
            side_advantage: 0.0,
            noise: None,
            sharpness_sd: people.population.sharpness_sd,
            side_preference_sd: people.population.side_sd,
            class_shares: AnnotatorClass::ALL.iter().map(|&class| (class, share(class))).collect(),
            class_counts: class_counts(people, communicator),
            decisions: Vec::new(),
            link: None,
            log_likelihood,
            log_likelihood_careful,
            is_direction_uncertain: people.is_direction_uncertain(communicator),
            unknown_votes: unknown as u64,
            iterations: 0,
        }
    }

    /// The likelihood of a typical annotator's votes.
    pub(crate) fn vote_model(&self) -> VoteModel {
        let Self { side_advantage: advantage, tie_odds, .. } = *self;
        VoteModel { advantage, tie_odds, lapse_rate: 0.0, tie_share: 0.0 }
    }

    /// Whether how people vote is part of the model of the scores.
    #[must_use]
    pub fn uses_people(&self) -> bool {
        let people = self.decisions.iter().find(|own| own.refinement == Refinement::People);
        people.is_none_or(|own| own.is_used)
    }
}

/// What is known about an annotator.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnnotatorEstimate {
    /// The annotator's index.
    pub annotator: u32,
    /// The most probable class.
    pub class: AnnotatorClass,
    /// Its probability.
    pub probability: f64,
    /// The share of honest votes: its mean, and an interval with a probability of 95%.
    pub honest: f64,
    /// Lower end of the interval.
    pub honest_low: f64,
    /// Upper end of the interval.
    pub honest_high: f64,
    /// Log-odds per unit of the scores if the annotator is honest, or negative if they answer the opposite.
    pub sharpness: f64,
    /// Preference for the left side in log-odds, likewise.
    pub side_preference: f64,
    /// The probability of the honest answers to which `sharpness` belongs: how much the votes count.
    pub weight: f64,
    /// The standard deviation of the annotator's honest outcomes, if votes are graded.
    pub noise: Option<f64>,
    /// The probability of each behaviour.
    #[cfg_attr(feature = "serde", serde(with = "sequence"))]
    pub(super) behaviour: OfBehaviours,
}

/// An array as a sequence: serde knows no arrays of this length.
#[cfg(feature = "serde")]
mod sequence {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;

    use super::OfBehaviours;

    pub(super) fn serialize<S: Serializer>(
        array: &OfBehaviours,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(array)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<OfBehaviours, D::Error> {
        let values = Vec::deserialize(deserializer)?;
        values.try_into().map_err(|values: Vec<f32>| {
            D::Error::invalid_length(values.len(), &"one number for each behaviour")
        })
    }
}

impl AnnotatorEstimate {
    fn new(annotator: usize, people: &FittedPeople, graded: Option<&GradedNoise>) -> Self {
        let behaviours = &people.population.behaviours;
        let posterior = people.posterior[annotator];
        let judged = ClassEstimate::new(behaviours, &posterior);
        let ClassEstimate { class, probability, honest, honest_low, honest_high } = judged;
        let Voice { weight, sharpness, side } = people.voices[annotator];
        Self {
            annotator: annotator as u32,
            class,
            probability,
            honest,
            honest_low,
            honest_high,
            sharpness,
            side_preference: side,
            weight,
            noise: graded.map(|graded| graded.of(&people.voices[annotator])),
            behaviour: posterior,
        }
    }

    pub(super) fn voice(&self) -> Voice {
        Voice { weight: self.weight, sharpness: self.sharpness, side: self.side_preference }
    }
}

/// The class of an annotator and their share of honest votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClassEstimate {
    pub(crate) class: AnnotatorClass,
    pub(crate) probability: f64,
    pub(crate) honest: f64,
    pub(crate) honest_low: f64,
    pub(crate) honest_high: f64,
}

impl From<&AnnotatorEstimate> for ClassEstimate {
    fn from(own: &AnnotatorEstimate) -> Self {
        let AnnotatorEstimate { class, probability, honest, honest_low, honest_high, .. } = *own;
        Self { class, probability, honest, honest_low, honest_high }
    }
}

impl ClassEstimate {
    /// From the probability of each behaviour.
    pub(crate) fn new(behaviours: &[Behaviour], posterior: &OfBehaviours) -> Self {
        let of_class = AnnotatorClass::ALL.map(|class| {
            let own = |k: usize| match behaviours[k].class() == class {
                true => f64::from(posterior[k]),
                false => 0.0,
            };
            (class, sum_of_behaviours(own, behaviours.len()))
        });
        let most = of_class.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let (class, probability) = most.unwrap_or((AnnotatorClass::Careful, 0.0));
        let mut shares: Vec<(f64, f64)> = behaviours
            .iter()
            .zip(posterior)
            .map(|(own, &r)| (own.honest(), f64::from(r)))
            .collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let quantile = |level: f64| {
            let mut below = 0.0;
            let reaches = |(_, r): &&(f64, f64)| {
                below += r;
                below >= level
            };
            shares.iter().find(reaches).or(shares.last()).map_or(1.0, |(honest, _)| *honest)
        };
        let honest: f64 = shares.iter().map(|(honest, r)| honest * r).sum::<f64>().min(1.0);
        Self {
            class,
            probability: probability.min(1.0),
            honest,
            // The mean of a few points can be outside the points themselves.
            honest_low: quantile(0.025).min(honest),
            honest_high: quantile(0.975).max(honest),
        }
    }
}

impl Crowd {
    pub(crate) fn new(
        solution: Solution,
        estimates: CrowdEstimates,
        votes: &AnnotatorVotes,
        people: FittedPeople,
        graded: Option<GradedNoise>,
    ) -> Self {
        let of = |a: usize| AnnotatorEstimate::new(a, &people, graded.as_ref());
        let has_votes = |a: &usize| !votes.unsorted_of(*a).is_empty();
        let annotators =
            (0..votes.annotators()).into_par_iter().filter(has_votes).map(of).collect();
        let behaviours = people.population.behaviours;
        Self { solution, estimates, annotators, behaviours, graded }
    }

    /// The probability that a vote on items as they were shown is not honest. `y` is positive if the
    /// left item was preferred; `annotator` is the position in [`Crowd::annotators`], none for people
    /// who are not in it.
    #[must_use]
    pub fn bad_probability(
        &self,
        annotator: Option<usize>,
        (left, right): (u32, u32),
        y: f64,
    ) -> f64 {
        let d = self.difference(left, right);
        let Some(own) =
            annotator.map(|a| &self.annotators[a]).filter(|_| self.estimates.uses_people())
        else {
            return 0.0;
        };
        if let Some(graded) = &self.graded {
            return graded.bad_probability(own.voice(), d, y);
        }
        let likely = self.behaviours.iter().zip(&own.behaviour);
        let honest = likely.filter(|(_, r)| **r >= MIN_PROBABILITY).map(|(behaviour, &r)| {
            // A careless annotator is one whose votes are honest or answers by chance.
            let share = behaviour.honest();
            let same = match y {
                y if y > 0.0 => logistic(d),
                y if y < 0.0 => logistic(-d),
                _ => 0.5,
            };
            let by_chance = 0.5 * (1.0 - share);
            f64::from(r) * if share > 0.0 { share * same / (share * same + by_chance) } else { 0.0 }
        });
        (1.0 - honest.sum::<f64>()).clamp(0.0, 1.0)
    }

    /// The logarithms of the likelihoods of each annotator's behaviours at these scores.
    pub(crate) fn behaviour_logs(
        &self,
        votes: &AnnotatorVotes,
        population: &Population,
    ) -> Vec<[f64; POINTS]> {
        let scores = &self.solution.scores;
        if let Some(graded) = &self.graded {
            return graded.logs(votes, scores, &population.behaviours);
        }
        let table = LikelihoodTable::new(&population.behaviours, self.estimates.side_advantage);
        let model = self.estimates.vote_model();
        let evidence = Evidence { votes, scores, unit: 1.0, model, variances: None };
        evidence.logs(&table, &vec![Voice::TYPICAL; votes.annotators()])
    }

    pub(super) fn behaviours(&self) -> &[Behaviour] {
        &self.behaviours
    }

    pub(super) fn graded(&self) -> Option<&GradedNoise> {
        self.graded.as_ref()
    }

    /// The smallest noise of an annotator's graded votes.
    pub(crate) fn smallest_noise(&self) -> Option<f64> {
        let own = self.annotators.iter().filter_map(|annotator| annotator.noise);
        self.estimates.noise.map(|noise| own.fold(noise, f64::min))
    }

    /// The position of an annotator in [`Crowd::annotators`], if they are in it.
    #[must_use]
    pub fn position(&self, annotator: u32) -> Option<usize> {
        self.annotators.binary_search_by_key(&annotator, |estimate| estimate.annotator).ok()
    }

    /// The probability that each vote of an annotator is not honest.
    fn bad_probabilities<'a>(
        &'a self,
        votes: &'a AnnotatorVotes,
        annotator: usize,
    ) -> impl Iterator<Item = (&'a AnnotatorVote, f64)> + 'a {
        let position = self.position(annotator as u32);
        votes.unsorted_of(annotator).iter().map(move |vote| {
            (vote, self.bad_probability(position, (vote.left, vote.right), votes.y(vote)))
        })
    }

    /// Number of votes of each group that are bad with a probability above `threshold`. Where several
    /// processes share the votes, `votes` are those of this process's annotators, and the groups those
    /// that it owns. Collective.
    ///
    /// # Panics
    /// If the votes are not those of the graph.
    #[must_use]
    pub fn flagged(
        &self,
        graph: &ComparisonGraph,
        votes: &AnnotatorVotes,
        threshold: f64,
    ) -> Vec<f64> {
        // Whoever is certainly careful has no bad votes, unless votes are graded.
        let can_skip = threshold >= 0.5 && self.graded.is_none();
        let is_skipped = |annotator: usize| {
            let known = self.position(annotator as u32).map(|a| &self.annotators[a]);
            can_skip
                && known.is_none_or(|own| {
                    own.class == AnnotatorClass::Careful && own.probability > 1.0 - 0.1 * threshold
                        || !self.estimates.uses_people()
                })
        };
        let of_annotator = |annotator: usize| {
            let all = (!is_skipped(annotator)).then(|| self.bad_probabilities(votes, annotator));
            all.into_iter().flatten().filter(|(_, bad)| *bad > threshold).map(|(vote, _)| {
                let y = votes.y(vote);
                let y = if vote.left < vote.right { y } else { positive_zero(-y) };
                ((vote.left.min(vote.right), vote.left.max(vote.right)), y, vote.count)
            })
        };
        let ranges = votes.split(rayon::current_num_threads());
        let lists = ranges.into_par_iter().with_max_len(1);
        let lists = lists.map(|range| range.flat_map(of_annotator));
        flagged::count_by_group(graph, votes.outcomes(), lists)
    }

    /// The threshold above which there are at least this many votes: more if several are equally bad.
    /// Collective.
    #[must_use]
    pub fn threshold_of(
        &self,
        graph: &ComparisonGraph,
        votes: &AnnotatorVotes,
        wanted: f64,
    ) -> f64 {
        let of_annotator = |annotator: usize| -> Vec<(f64, u32)> {
            let all = self.bad_probabilities(votes, annotator);
            all.map(|(vote, probability)| (probability, vote.count)).collect()
        };
        let lists: Vec<Vec<(f64, u32)>> =
            (0..=votes.annotators()).into_par_iter().map(of_annotator).collect();
        let probabilities = lists.into_iter().flatten().collect();
        flagged::threshold_of(graph.communicator(), probabilities, wanted)
    }

    /// The probability that a careful annotator prefers the left of two items.
    #[must_use]
    pub fn left_probability(&self, left: u32, right: u32) -> f64 {
        logistic(self.log_odds_per_unit() * self.difference(left, right))
    }

    /// The log-odds that a careful annotator prefers an item, per unit of the difference of scores, without
    /// the advantage of the left side.
    #[must_use]
    pub fn log_odds_per_unit(&self) -> f64 {
        self.estimates.noise.map_or(1.0, |noise| LOGISTIC / noise)
    }

    /// The difference of the scores with the advantage of the left side.
    pub(crate) fn difference(&self, left: u32, right: u32) -> f64 {
        let scores = &self.solution.scores;
        scores[left as usize] - scores[right as usize] + self.estimates.side_advantage
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The number of annotators of each class, of all processes.
fn class_counts(
    people: &FittedPeople,
    communicator: &dyn Communicator,
) -> Vec<(AnnotatorClass, u64)> {
    let mut counts = [0.0; AnnotatorClass::ALL.len()];
    for posterior in &people.posterior {
        let found = ClassEstimate::new(&people.population.behaviours, posterior).class;
        for (count, class) in counts.iter_mut().zip(AnnotatorClass::ALL) {
            *count += if class == found { 1.0 } else { 0.0 };
        }
    }
    communicator.sum(&mut counts);
    AnnotatorClass::ALL.into_iter().zip(counts.map(|count| count as u64)).collect()
}
