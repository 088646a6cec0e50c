//! The result: scores, what is known about the annotators, and which votes are bad.

use rayon::prelude::*;

use super::behaviour::{AnnotatorClass, Behaviour};
use super::fans::{Fan, Fans, Favourite, PossibleFavourite};
use super::flagged;
use super::graded;
use super::likelihood::POINTS;
use super::search::Search;
use super::tastes::OtherTaste;
use crate::annotator_votes::{AnnotatorVote, AnnotatorVotes};
use crate::communicator::Communicator;
use crate::comparison::positive_zero;
use crate::graph::ComparisonGraph;
use crate::solve::Solution;

/// Behaviours that are less probable than this do not count in the probability that a vote is bad.
const MIN_PROBABILITY: f32 = 1e-5;
/// The probability of being careful from which no vote of an annotator can be more likely bad.
const CERTAINLY_CAREFUL: f32 = 0.9999;
/// Share of annotators with a known class that must be honest for the direction to be certain.
const CERTAIN_HONEST_SHARE: f64 = 0.6;
/// The normal distribution function is that of the logistic with this factor, within 0.01.
const LOGISTIC: f64 = 1.702;

/// Scores, and what is known about the annotators.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// Scores in log-odds, mean zero on each component.
    pub solution: Solution,
    /// What was estimated about the crowd as a whole.
    pub estimates: CrowdEstimates,
    /// One entry for each annotator (of this process) with votes enough to say anything, by index.
    pub annotators: Vec<AnnotatorEstimate>,
    points: Vec<Behaviour>,
    /// The probability of each behaviour of an unknown person.
    unknown: [f32; POINTS],
    /// The root mean square of graded outcomes; none for votes of one size.
    outcome_unit: Option<f64>,
    /// Items that may have fans.
    possible_favourites: Vec<PossibleFavourite>,
}

/// Parameters of the crowd.
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdEstimates {
    /// λ, the precision of the prior.
    pub prior: f64,
    /// ν, the odds of a tie between equal items against either side.
    pub tie_odds: f64,
    /// b, the advantage of the left side in log-odds; 0 if the votes do not speak for one.
    pub side_advantage: f64,
    /// The standard deviation of the outcomes of a typical honest annotator, if votes are graded.
    pub noise: Option<f64>,
    /// The share of annotators of each class.
    pub class_shares: Vec<(AnnotatorClass, f64)>,
    /// The number of annotators whose most probable class it is.
    pub class_counts: Vec<(AnnotatorClass, u64)>,
    /// The log-likelihood of the votes.
    pub log_likelihood: f64,
    /// The same at these scores if everyone is careful.
    pub log_likelihood_careful: f64,
    /// Whether nearly as many annotators vote against the ranking as for it.
    pub is_direction_uncertain: bool,
    /// Votes by unknown people.
    pub unknown_votes: u64,
    /// Iterations, each of two passes over the votes.
    pub iterations: usize,
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
    /// The standard deviation of the annotator's honest outcomes, if votes are graded.
    pub noise: Option<f64>,
    /// The item that the annotator prefers or rejects, whatever it is compared with.
    pub favourite: Option<FavouriteItem>,
    /// The probability of each behaviour; they sum to one with that of another taste.
    #[cfg_attr(feature = "serde", serde(with = "sequence"))]
    behaviour: [f32; POINTS],
    /// The probability of another taste than that of the ranking.
    taste: f64,
}

/// An item that an annotator prefers or rejects, whatever it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FavouriteItem {
    /// The item's index.
    pub item: u32,
    /// Whether the annotator prefers the item; otherwise the annotator rejects it.
    pub is_preferred: bool,
    /// The probability that the annotator votes so.
    pub probability: f64,
}

impl FavouriteItem {
    /// Whether a vote is on the item.
    pub(super) fn is_on(&self, left: u32, right: u32) -> bool {
        left == self.item || right == self.item
    }

    /// Whether a vote on items as they were shown is one that this annotator would cast anyway.
    fn explains(&self, left: u32, right: u32, y: f64) -> bool {
        let is_left = left == self.item;
        let prefers_item = if is_left { y > 0.0 } else { y < 0.0 };
        (is_left || right == self.item) && y != 0.0 && prefers_item == self.is_preferred
    }
}

/// An array as a sequence: serde knows no arrays of this length.
#[cfg(feature = "serde")]
mod sequence {
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;

    use super::POINTS;

    pub(super) fn serialize<S: Serializer>(
        array: &[f32; POINTS],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(array)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[f32; POINTS], D::Error> {
        let values = Vec::deserialize(deserializer)?;
        values.try_into().map_err(|values: Vec<f32>| D::Error::invalid_length(values.len(), &"40"))
    }
}

impl Crowd {
    /// The result of a search that has ended.
    pub(super) fn new(
        search: Search<'_>,
        other: Option<&OtherTaste>,
        fans: &Fans,
        solution: impl FnOnce(Vec<f64>) -> Solution,
    ) -> Self {
        let mut estimates = estimates(&search, other);
        let mut annotators = annotator_estimates(&search, other);
        fans.favourites.iter().for_each(|favourite| name_fans(&mut annotators, favourite));
        estimates.class_counts = class_counts(&annotators, search.communicator());
        let unknown = unknown_behaviour(&search);
        let outcome_unit = search.answers.graded().map(|_| search.unit);
        let in_units = |own: &PossibleFavourite| PossibleFavourite {
            change: own.change * search.unit,
            ..*own
        };
        let possible_favourites = fans.possible.iter().map(in_units).collect();
        let Search { scores, points, .. } = search;
        let solution = solution(scores);
        estimates.iterations = solution.info.iterations;
        Self { solution, estimates, annotators, points, unknown, outcome_unit, possible_favourites }
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
        self.voter(annotator).bad_probability(self, (left, right), y)
    }

    pub(super) fn points(&self) -> &[Behaviour] {
        &self.points
    }

    /// The root mean square of graded outcomes; 1 for votes of one size.
    pub(super) fn outcome_unit(&self) -> f64 {
        self.outcome_unit.unwrap_or(1.0)
    }

    /// The probabilities of the behaviours of an annotator, the noise of graded votes, and the favourite.
    pub(super) fn behaviour_of(
        &self,
        position: Option<usize>,
    ) -> (&[f32; POINTS], Option<f64>, Option<FavouriteItem>) {
        match position.map(|a| &self.annotators[a]) {
            Some(own) => (&own.behaviour, own.noise, own.favourite),
            None => (&self.unknown, self.estimates.noise, None),
        }
    }

    /// Items that may have fans: the variance that this adds to their scores.
    pub(crate) fn variance_by_fans(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.possible_favourites.iter().map(|own| {
            (own.item, own.probability * (1.0 - own.probability) * own.change * own.change)
        })
    }

    /// The smallest noise of an annotator's graded votes.
    pub(crate) fn smallest_noise(&self) -> Option<f64> {
        let own = self.annotators.iter().filter_map(|annotator| annotator.noise);
        self.estimates.noise.map(|noise| own.fold(noise, f64::min))
    }

    /// Behaviours that are likely enough to count, with their probabilities.
    pub(super) fn likely(&self, behaviour: &[f32; POINTS]) -> Vec<(&Behaviour, f64)> {
        let likely = self.points.iter().zip(behaviour).filter(|(_, r)| **r >= MIN_PROBABILITY);
        likely.map(|(point, &r)| (point, f64::from(r))).collect()
    }

    /// What the probabilities of all votes of an annotator depend on.
    fn voter(&self, annotator: Option<usize>) -> Voter<'_> {
        let (behaviour, noise, favourite) = self.behaviour_of(annotator);
        let taste = annotator.map_or(0.0, |a| self.annotators[a].taste);
        let likely = self.likely(behaviour);
        Voter { likely, taste, noise, favourite }
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
        let voter = self.voter(self.position(annotator as u32));
        votes.unsorted_of(annotator).iter().map(move |vote| {
            let y = votes.y(vote);
            (vote, voter.bad_probability(self, (vote.left, vote.right), y))
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
        // Single votes of careful people can be bad only if votes are graded.
        let can_skip = threshold >= 0.5 && self.outcome_unit.is_none();
        let is_careful = |a: usize| {
            let AnnotatorEstimate { behaviour, favourite, .. } = &self.annotators[a];
            behaviour[0] > CERTAINLY_CAREFUL && favourite.is_none()
        };
        let of_annotator = |annotator: usize| {
            let position = self.position(annotator as u32);
            let is_skipped = can_skip && position.is_some_and(is_careful);
            let own = votes.unsorted_of(annotator);
            let own = &own[..if is_skipped { 0 } else { own.len() }];
            let voter = self.voter(position);
            let limits = FlagLimits::new(self, &voter, own.len(), threshold);
            let is_flagged = move |vote: &&AnnotatorVote| {
                let (pair, y) = ((vote.left, vote.right), votes.y(vote));
                let known = limits.is_flagged(self.difference(pair.0, pair.1), y);
                known.unwrap_or_else(|| voter.bad_probability(self, pair, y) > threshold)
            };
            own.iter().filter(is_flagged).map(|vote| {
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
        let d = self.difference(left, right);
        let log_odds = self.estimates.noise.map_or(d, |noise| LOGISTIC * d / noise);
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// The log-odds that a careful annotator prefers an item, per unit of the difference of scores, without
    /// the advantage of the left side.
    #[must_use]
    pub fn log_odds_per_unit(&self) -> f64 {
        self.estimates.noise.map_or(1.0, |noise| LOGISTIC / noise)
    }

    /// The difference of the scores with the advantage of the left side.
    pub(super) fn difference(&self, left: u32, right: u32) -> f64 {
        let scores = &self.solution.scores;
        scores[left as usize] - scores[right as usize] + self.estimates.side_advantage
    }
}

/// What the probabilities of all votes of an annotator depend on.
struct Voter<'a> {
    /// Behaviours with their probabilities.
    likely: Vec<(&'a Behaviour, f64)>,
    taste: f64,
    noise: Option<f64>,
    favourite: Option<FavouriteItem>,
}

impl Voter<'_> {
    /// As [`Crowd::bad_probability`].
    fn bad_probability(&self, crowd: &Crowd, (left, right): (u32, u32), y: f64) -> f64 {
        if let Some(favourite) = self.favourite.filter(|own| own.explains(left, right, y)) {
            return favourite.probability;
        }
        let d = crowd.difference(left, right);
        if let (Some(unit), Some(noise)) = (crowd.outcome_unit, self.noise) {
            let noise = (noise / unit).powi(2);
            let likely = self.likely.iter().copied();
            let honest = graded::honest_probability(likely, d / unit, y / unit, noise);
            return (1.0 - self.taste - honest).clamp(0.0, 1.0);
        }
        self.bad_at(d, y)
    }

    /// The probability that a vote of one size is bad, if it is not for a favourite.
    fn bad_at(&self, d: f64, y: f64) -> f64 {
        let p = 1.0 / (1.0 + (-d).exp());
        // A vote by another taste is honest.
        let mut honest = self.taste;
        for &(point, r) in &self.likely {
            let (slope, offset) = point.line();
            let q = (slope * p + offset).clamp(1e-9, 1.0 - 1e-9);
            honest += r * match y {
                y if y > 0.0 => point.honest * p / q,
                y if y < 0.0 => point.honest * (1.0 - p) / (1.0 - q),
                _ => (point.honest - point.contrary).abs(),
            };
        }
        (1.0 - honest).clamp(0.0, 1.0)
    }
}

/// Differences of scores below which an annotator's votes are flagged: the less likely an honest answer is
/// the same, the more likely is the vote bad.
struct FlagLimits {
    /// For votes for the left item and for the right one, in the direction of the vote; none if every vote
    /// must be examined.
    limits: Option<[f64; 2]>,
}

impl FlagLimits {
    /// With fewer votes, finding the limits would take longer than examining the votes.
    const MIN_VOTES: usize = 200;
    /// Votes at differences beyond this are all alike.
    const MAX_DIFFERENCE: f64 = 40.0;
    /// Votes nearer to the limit than this are examined.
    const MARGIN: f64 = 1e-6;

    fn new(crowd: &Crowd, voter: &Voter<'_>, votes: usize, threshold: f64) -> Self {
        let is_simple = crowd.outcome_unit.is_none() && voter.favourite.is_none();
        if !is_simple || votes < Self::MIN_VOTES {
            return Self { limits: None };
        }
        let limit = |y: f64| {
            let (mut low, mut high) = (-Self::MAX_DIFFERENCE, Self::MAX_DIFFERENCE);
            while high - low > 0.5 * Self::MARGIN {
                let middle = 0.5 * (low + high);
                match voter.bad_at(y * middle, y) > threshold {
                    true => low = middle,
                    false => high = middle,
                }
            }
            low
        };
        Self { limits: Some([limit(1.0), limit(-1.0)]) }
    }

    /// Whether a vote at this difference of scores is flagged; none if it must be examined.
    #[inline]
    fn is_flagged(&self, difference: f64, y: f64) -> Option<bool> {
        let [left, right] = self.limits?;
        let (limit, towards) = match y {
            y if y > 0.0 => (left, difference),
            y if y < 0.0 => (right, -difference),
            _ => return None,
        };
        let is_clear = (towards - limit).abs() > Self::MARGIN
            && towards.abs() < Self::MAX_DIFFERENCE - Self::MARGIN;
        is_clear.then_some(towards < limit)
    }
}

fn estimates(search: &Search<'_>, other: Option<&OtherTaste>) -> CrowdEstimates {
    let annotators = search.annotators();
    let taste: f64 = other.map_or(0.0, |other| other.probability.iter().sum());
    let (mut honest, mut against) = (0.0, 0.0);
    for row in &search.responsibility[..annotators] {
        for (point, &r) in search.points.iter().zip(row) {
            let slope = point.line().0;
            honest += f64::from(r) * slope.max(0.0);
            against += f64::from(r) * (-slope).max(0.0);
        }
    }
    let unknown = (annotators..search.blocks.len()).flat_map(|block| search.blocks.block(block));
    let unknown_votes: u64 = unknown.map(|vote| u64::from(vote.count)).sum();
    let log_careful: f64 = search.likelihoods.logs.iter().map(|logs| logs.careful).sum();
    // Numbers of votes are exact in sums of all processes.
    let mut sums = [honest, against, unknown_votes as f64, log_careful, taste, annotators as f64];
    search.communicator().sum(&mut sums);
    let [honest, against, unknown_votes, log_likelihood_careful, taste, annotators] = sums;
    let taste = taste / annotators.max(1.0);
    let share = |class: AnnotatorClass| match class {
        AnnotatorClass::Taste => taste,
        _ => {
            let points = search.points.iter().zip(&search.shares.of);
            let of_class = points.filter(|(point, _)| point.class() == class);
            // A sum of nothing is −0.
            positive_zero((1.0 - taste) * of_class.map(|(_, share)| share).sum::<f64>())
        }
    };
    // Likelihoods of graded votes are relative to N(0, unit²), and the mean square is unit².
    let votes = search.communicator().sum_scalar(search.blocks.total());
    let log_density = -0.5 * (1.0 + (2.0 * std::f64::consts::PI).ln()) - search.unit.ln();
    let baseline = if search.answers.graded().is_some() { votes * log_density } else { 0.0 };
    CrowdEstimates {
        prior: search.lambda / (search.unit * search.unit),
        tie_odds: search.tie_odds,
        side_advantage: search.side_advantage * search.unit,
        noise: search.answers.graded().map(|model| model.noise.sqrt() * search.unit),
        class_shares: AnnotatorClass::ALL.iter().map(|&class| (class, share(class))).collect(),
        class_counts: Vec::new(),
        log_likelihood: search.shares.value(&search.evidence()) + baseline,
        log_likelihood_careful: log_likelihood_careful + baseline,
        is_direction_uncertain: against > 0.0 && honest < CERTAIN_HONEST_SHARE * (honest + against),
        unknown_votes: unknown_votes as u64,
        iterations: 0,
    }
}

fn annotator_estimates(search: &Search<'_>, other: Option<&OtherTaste>) -> Vec<AnnotatorEstimate> {
    let classes: Vec<AnnotatorClass> = search.points.iter().map(Behaviour::class).collect();
    let rows = search.blocks.annotator.par_iter().zip(&search.responsibility).enumerate();
    rows.map(|(block, (&annotator, &behaviour))| {
        let taste = other.map_or(0.0, |other| other.probability[block]);
        let of_class = AnnotatorClass::ALL.map(|class| {
            let points = classes.iter().zip(&behaviour).filter(|(own, _)| **own == class);
            let sum: f64 = points.map(|(_, &r)| f64::from(r)).sum();
            (class, if class == AnnotatorClass::Taste { taste } else { sum })
        });
        let most = of_class.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let (class, probability) = most.unwrap_or((AnnotatorClass::Careful, 0.0));
        let (honest, honest_low, honest_high) = honest_share(&search.points, &behaviour, taste);
        AnnotatorEstimate {
            annotator,
            class,
            probability: probability.min(1.0),
            honest,
            honest_low,
            honest_high,
            noise: search.answers.graded().map(|model| model.own_noise[block].sqrt() * search.unit),
            favourite: None,
            behaviour,
            taste,
        }
    })
    .collect()
}

/// Adds the fans of an item to what is known about annotators.
fn name_fans(
    annotators: &mut [AnnotatorEstimate],
    Favourite { item, is_preferred, fans }: &Favourite,
) {
    for Fan { block, probability, vote_share } in fans {
        let annotator = &mut annotators[*block];
        let is_new = annotator.favourite.is_none_or(|known| known.probability < *probability);
        if *probability < 0.5 || !is_new {
            continue;
        }
        let (item, is_preferred, probability) = (*item, *is_preferred, *probability);
        annotator.favourite = Some(FavouriteItem { item, is_preferred, probability });
        let others = 1.0 - probability * vote_share;
        annotator.honest *= others;
        annotator.honest_low *= 1.0 - vote_share;
        annotator.honest_high *= others;
        // Someone who is random or contrary about all items is not called a fan.
        if matches!(annotator.class, AnnotatorClass::Careful | AnnotatorClass::Careless) {
            (annotator.class, annotator.probability) = (AnnotatorClass::Fan, probability);
        }
    }
}

/// The number of annotators of each class, of all processes.
fn class_counts(
    annotators: &[AnnotatorEstimate],
    communicator: &dyn Communicator,
) -> Vec<(AnnotatorClass, u64)> {
    let mut counts = AnnotatorClass::ALL.map(|class| {
        let of_class = annotators.iter().filter(|annotator| annotator.class == class);
        of_class.count() as f64
    });
    communicator.sum(&mut counts);
    AnnotatorClass::ALL.into_iter().zip(counts.map(|count| count as u64)).collect()
}

/// The mean share of honest votes, and an interval with a probability of 95%.
fn honest_share(points: &[Behaviour], behaviour: &[f32; POINTS], taste: f64) -> (f64, f64, f64) {
    let mut shares: Vec<(f64, f64)> =
        points.iter().zip(behaviour).map(|(p, &r)| (p.honest, f64::from(r))).collect();
    shares.push((1.0, taste));
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |level: f64| {
        let mut below = 0.0;
        let reaches = |(_, r): &&(f64, f64)| {
            below += r;
            below >= level
        };
        shares.iter().find(reaches).or(shares.last()).map_or(1.0, |(honest, _)| *honest)
    };
    let honest: f64 = shares.iter().map(|(honest, r)| honest * r).sum();
    // The mean of a few points can be below all but the last of them.
    (honest, quantile(0.025).min(honest), quantile(0.975).max(honest))
}

/// The mean over the blocks of unknown people; careful if there are none.
fn unknown_behaviour(search: &Search<'_>) -> [f32; POINTS] {
    // The last sum is the number of blocks.
    let mut sums = [0.0; POINTS + 1];
    let rows = &search.responsibility[search.annotators()..];
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, &r)| *sum += f64::from(r));
    }
    sums[POINTS] = rows.len() as f64;
    search.communicator().sum(&mut sums);
    let blocks = sums[POINTS];
    let mut mean = [0.0; POINTS];
    if blocks == 0.0 {
        mean[0] = 1.0;
        return mean;
    }
    mean.iter_mut().zip(&sums).for_each(|(mean, sum)| *mean = (sum / blocks) as f32);
    mean
}
