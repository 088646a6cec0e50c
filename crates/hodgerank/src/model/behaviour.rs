//! Behaviours of annotators, and how common each is in a crowd.
//!
//! | behaviour | log-odds for the left item | share |
//! |---|---|---|
//! | honest | s d + b + b_a | log s ~ N(0, σ_s²) and b_a ~ N(0, σ_b²), on a grid |
//! | random | 0 | its own |
//! | one-sided | b_a = ±1.5 or ±4, whatever the items | its own for each |
//! | contrary | s d + b, s = −½ or −1 | its own for each |
//!
//! σ_s, σ_b and the shares are estimated by EM from the likelihoods of all annotators. Priors worth
//! `population_people` people keep σ near `population_sd` and shares near zero where few people say little.
//!
//! Honest people differ in sharpness; only those of `careless_sharpness` or less are called careless.

use std::fmt;

use rayon::prelude::*;

use super::tuning::TUNING;
use super::votes::Voice;
use crate::communicator::Communicator;
use crate::numeric::sum_tasks;

/// What kind of annotator someone is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum AnnotatorClass {
    /// Votes honestly.
    Careful,
    /// Votes honestly, but pays little attention to the items.
    Careless,
    /// Votes at random.
    Coin,
    /// Prefers the worse item.
    Contrary,
    /// Prefers the left side, whatever the items.
    Left,
    /// Prefers the right side, whatever the items.
    Right,
}

impl AnnotatorClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Careful, Self::Careless, Self::Coin, Self::Contrary, Self::Left, Self::Right];

    /// Whether the annotator should not be trusted.
    #[must_use]
    pub fn is_suspicious(self) -> bool {
        self != Self::Careful
    }

    /// The name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Careful => "careful",
            Self::Careless => "careless",
            Self::Coin => "coin",
            Self::Contrary => "contrary",
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl fmt::Display for AnnotatorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Shares never vanish: EM could not raise them again.
const MIN_SHARE: f64 = 1e-9;

/// Room for all behaviours, a multiple of the width of a vector of processors in use.
pub(crate) const POINTS: usize = 48;
/// Behaviours that treat both sides alike come first, then those for the left, then those for the right.
const BOTH: usize = TUNING.log_sharpness.len() + 1 + TUNING.contrary_sharpness.len();
const SIDED: usize =
    TUNING.log_sharpness.len() * TUNING.honest_sides.len() + TUNING.one_sided.len();
const PEOPLE_PER_TASK: usize = 1 << 10;
const MAX_STEPS: usize = 30;
/// Change of the parameters of a population at which EM ends.
const TOLERANCE: f64 = 1e-3;

/// One number for each behaviour.
pub(crate) type OfBehaviours = [f32; POINTS];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Honest,
    Random,
    OneSided,
    Contrary,
}

/// A way to vote.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Behaviour {
    kind: Kind,
    /// Whether it is honest, but called careless.
    is_careless: bool,
    pub(crate) sharpness: f64,
    pub(crate) side: f64,
}

impl Behaviour {
    pub(crate) fn class(&self) -> AnnotatorClass {
        match self.kind {
            Kind::Honest if self.is_careless => AnnotatorClass::Careless,
            Kind::Honest => AnnotatorClass::Careful,
            Kind::Random => AnnotatorClass::Coin,
            Kind::Contrary => AnnotatorClass::Contrary,
            Kind::OneSided if self.side > 0.0 => AnnotatorClass::Left,
            Kind::OneSided => AnnotatorClass::Right,
        }
    }

    /// The share of votes that are honest: a careless annotator of sharpness s answers about as one with a
    /// share s of honest votes.
    pub(crate) fn honest(&self) -> f64 {
        match self.class() {
            AnnotatorClass::Careful => 1.0,
            AnnotatorClass::Careless => self.sharpness,
            _ => 0.0,
        }
    }

    /// The voice of someone with this behaviour.
    pub(crate) fn voice(&self) -> Voice {
        Voice { weight: 1.0, sharpness: self.sharpness, side: self.side }
    }

    /// The linear predictor towards the left item.
    #[inline]
    pub(crate) fn predictor(&self, d: f64, advantage: f64) -> f64 {
        // People who do not look at the items have no advantage either.
        let advantage = if self.sharpness == 0.0 { 0.0 } else { advantage };
        self.sharpness * d + self.side + advantage
    }
}

/// All behaviours; those with sides only where sides are known.
pub(crate) fn behaviours(has_sides: bool) -> Vec<Behaviour> {
    let mut found = Vec::with_capacity(POINTS);
    let honest = || TUNING.log_sharpness.map(f64::exp).into_iter();
    let mut add = |kind, sharpness: f64, side| {
        let is_careless = kind == Kind::Honest && sharpness <= TUNING.careless_sharpness;
        found.push(Behaviour { kind, is_careless, sharpness, side });
    };
    honest().for_each(|s| add(Kind::Honest, s, 0.0));
    add(Kind::Random, 0.0, 0.0);
    TUNING.contrary_sharpness.into_iter().for_each(|s| add(Kind::Contrary, s, 0.0));
    for direction in if has_sides { &[1.0, -1.0][..] } else { &[] } {
        for side in TUNING.honest_sides {
            honest().for_each(|s| add(Kind::Honest, s, direction * side));
        }
        TUNING.one_sided.into_iter().for_each(|side| add(Kind::OneSided, 0.0, direction * side));
    }
    found
}

/// Σ over the behaviours. Those of the left and of the right are added up apart: if sides are swapped, so are
/// the two sums, and the total has the same bits.
#[inline]
pub(crate) fn sum_of_behaviours(value: impl Fn(usize) -> f64, number: usize) -> f64 {
    let sum = |range: std::ops::Range<usize>| range.map(&value).sum::<f64>();
    let (both, left) = (BOTH.min(number), (BOTH + SIDED).min(number));
    sum(0..both) + (sum(both..left) + sum(left..number))
}

/// How common each behaviour is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Population {
    pub(crate) behaviours: Vec<Behaviour>,
    /// σ_s and σ_b.
    pub(crate) sharpness_sd: f64,
    pub(crate) side_sd: f64,
    /// The share of each behaviour that is not honest, in the order of behaviours.
    others: Vec<f64>,
}

impl Population {
    /// A crowd of which nothing is known.
    pub(crate) fn new(has_sides: bool) -> Self {
        let behaviours = behaviours(has_sides);
        let others = behaviours.iter().filter(|own| own.kind != Kind::Honest).count();
        let (sharpness_sd, side_sd) = (TUNING.population_sd, TUNING.population_sd);
        Self { behaviours, sharpness_sd, side_sd, others: vec![TUNING.first_share; others] }
    }

    /// What is estimated, as numbers.
    pub(crate) fn parameters(&self) -> Vec<f64> {
        [self.sharpness_sd, self.side_sd].iter().chain(&self.others).copied().collect()
    }

    /// Sets what [`Population::parameters`] returned.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        if let [sharpness_sd, side_sd, others @ ..] = parameters {
            (self.sharpness_sd, self.side_sd) = (*sharpness_sd, *side_sd);
            self.others.copy_from_slice(others);
        }
    }

    /// The same for graded votes, where a small sharpness is noise, and not carelessness.
    pub(crate) fn of_graded_votes(has_sides: bool) -> Self {
        let mut population = Self::new(has_sides);
        population.behaviours.iter_mut().for_each(|own| own.is_careless = false);
        population
    }

    /// The share of each behaviour.
    pub(crate) fn shares(&self) -> [f64; POINTS] {
        let mut shares = [0.0; POINTS];
        let density = |x: f64, sd: f64| (-0.5 * (x / sd).powi(2)).exp();
        let mut others = self.others.iter();
        for (share, own) in shares.iter_mut().zip(&self.behaviours) {
            *share = match own.kind {
                Kind::Honest => {
                    density(own.sharpness.ln(), self.sharpness_sd) * density(own.side, self.side_sd)
                }
                _ => 0.0,
            };
        }
        let number = self.behaviours.len();
        let honest = sum_of_behaviours(|k| shares[k], number);
        let rest = 1.0 - self.others.iter().sum::<f64>();
        for (share, own) in shares.iter_mut().zip(&self.behaviours) {
            *share = match own.kind {
                Kind::Honest => *share * rest / honest,
                _ => others.next().copied().unwrap_or(0.0),
            };
        }
        shares
    }

    /// Improves the shares by EM; `likelihoods` has those of each annotator relative to the largest, and
    /// `weights` how much each counts. Collective.
    pub(crate) fn improve(
        &mut self,
        likelihoods: &[OfBehaviours],
        weights: Option<&[f64]>,
        communicator: &dyn Communicator,
    ) {
        for _ in 0..MAX_STEPS {
            let before = (self.sharpness_sd, self.side_sd, self.others.clone());
            let sums = self.expected(likelihoods, weights, communicator);
            self.set(&sums);
            let changes = self.others.iter().zip(&before.2).map(|(a, b)| (a - b).abs());
            let change = changes
                .chain([(self.sharpness_sd - before.0).abs(), (self.side_sd - before.1).abs()])
                .fold(0.0, f64::max);
            if change < TOLERANCE {
                break;
            }
        }
    }

    /// The mean of the logarithm of honest people's sharpness, with the prior people at zero. Collective.
    pub(crate) fn mean_log_sharpness(
        &self,
        likelihoods: &[OfBehaviours],
        weights: Option<&[f64]>,
        communicator: &dyn Communicator,
    ) -> f64 {
        let numbers = self.expected(likelihoods, weights, communicator);
        let honest = |of: &dyn Fn(&Behaviour) -> f64| {
            let own = |k: usize| match self.behaviours[k].kind {
                Kind::Honest => numbers[k] * of(&self.behaviours[k]),
                _ => 0.0,
            };
            sum_of_behaviours(own, self.behaviours.len())
        };
        honest(&|own| own.sharpness.ln()) / (honest(&|_| 1.0) + TUNING.population_people)
    }

    /// The expected number of annotators with each behaviour. Collective.
    fn expected(
        &self,
        likelihoods: &[OfBehaviours],
        weights: Option<&[f64]>,
        communicator: &dyn Communicator,
    ) -> [f64; POINTS] {
        let shares = self.shares();
        let tasks = likelihoods.par_chunks(PEOPLE_PER_TASK).enumerate();
        let mut sums = sum_tasks(tasks, |(task, rows)| {
            let mut sums = [0.0; POINTS];
            for (k, row) in rows.iter().enumerate() {
                let weight = weights.map_or(1.0, |own| own[task * PEOPLE_PER_TASK + k]);
                let posterior = self.posterior(&shares, row);
                sums.iter_mut()
                    .zip(posterior)
                    .for_each(|(sum, own)| *sum += weight * f64::from(own));
            }
            sums
        });
        communicator.sum(&mut sums);
        sums
    }

    /// The parameters at these expected numbers.
    fn set(&mut self, numbers: &[f64; POINTS]) {
        let sum = |of: &dyn Fn(&Behaviour) -> f64| {
            sum_of_behaviours(|k| numbers[k] * of(&self.behaviours[k]), self.behaviours.len())
        };
        let is_honest = |own: &Behaviour| if own.kind == Kind::Honest { 1.0 } else { 0.0 };
        let people = sum(&|_| 1.0);
        let honest = sum(&is_honest);
        let sd = |of: &dyn Fn(&Behaviour) -> f64| {
            let squares = sum(&|own| if own.kind == Kind::Honest { of(own).powi(2) } else { 0.0 });
            let prior = TUNING.population_people * TUNING.population_sd * TUNING.population_sd;
            ((squares + prior) / (honest + TUNING.population_people)).sqrt()
        };
        let (sharpness_sd, side_sd) = (sd(&|own| own.sharpness.ln()), sd(&|own| own.side));
        let others =
            self.behaviours.iter().zip(numbers).filter(|(own, _)| own.kind != Kind::Honest);
        let share =
            |(_, number): (_, &f64)| (number / (people + TUNING.population_people)).max(MIN_SHARE);
        let others = others.map(share).collect();
        (self.sharpness_sd, self.side_sd, self.others) = (sharpness_sd, side_sd, others);
    }

    /// The probability of each behaviour of an annotator with these likelihoods.
    #[inline]
    pub(crate) fn posterior(
        &self,
        shares: &[f64; POINTS],
        likelihood: &OfBehaviours,
    ) -> OfBehaviours {
        let weight = |k: usize| f64::from(likelihood[k]) * shares[k];
        let total = sum_of_behaviours(weight, self.behaviours.len()).max(f64::MIN_POSITIVE);
        std::array::from_fn(|k| (weight(k) / total) as f32)
    }

    /// How an annotator with these probabilities of behaviours votes, as far as the votes depend on the items:
    /// as an honest one, or the other way round, whichever is more probable.
    pub(crate) fn voice(&self, posterior: &OfBehaviours) -> Voice {
        let of = |kind: Kind| {
            let mean = |of: &dyn Fn(&Behaviour) -> f64| {
                let own = |k: usize| match self.behaviours[k].kind == kind {
                    true => f64::from(posterior[k]) * of(&self.behaviours[k]),
                    false => 0.0,
                };
                sum_of_behaviours(own, self.behaviours.len())
            };
            let weight = mean(&|_| 1.0);
            let per_weight = 1.0 / weight.max(f64::MIN_POSITIVE);
            let (sharpness, side) = (mean(&|own| own.sharpness), mean(&|own| own.side));
            Voice { weight, sharpness: per_weight * sharpness, side: per_weight * side }
        };
        let [honest, contrary] = [Kind::Honest, Kind::Contrary].map(of);
        if contrary.weight > honest.weight { contrary } else { honest }
    }
}

/// The number of people whose votes agree with the ranking, and of those whose votes contradict it.
pub(crate) fn directions(voices: &[Voice]) -> [f64; 2] {
    let weight = |is_in: fn(&Voice) -> bool| {
        voices.iter().filter(|voice| is_in(voice)).map(|voice| voice.weight).sum()
    };
    [weight(|voice| voice.sharpness > 0.0), weight(|voice| voice.sharpness < 0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::SingleProcess;

    /// Someone who certainly has this behaviour.
    fn sure(k: usize) -> OfBehaviours {
        std::array::from_fn(|own| if own == k { 1.0 } else { 0.0 })
    }

    #[test]
    fn behaviours_of_both_sides_mirror_each_other() {
        let all = behaviours(true);
        assert_eq!(all.len(), BOTH + 2 * SIDED);
        assert!(all.len() <= POINTS && behaviours(false).len() == BOTH);
        for k in 0..SIDED {
            let (left, right) = (all[BOTH + k], all[BOTH + SIDED + k]);
            assert!(left.side > 0.0 && left.side == -right.side);
            assert_eq!((left.kind, left.sharpness), (right.kind, right.sharpness));
        }
    }

    #[test]
    fn shares_follow_the_people() {
        let mut population = Population::new(true);
        let behaviours = population.behaviours.clone();
        let left = behaviours.iter().position(|own| own.side == 4.0).unwrap();
        let mut people = vec![sure(0); 60];
        people.extend(vec![sure(left); 34]);
        for _ in 0..5 {
            population.improve(&people, None, &SingleProcess);
        }
        let shares = population.shares();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((shares[left] - 34.0 / 97.0).abs() < 1e-3, "{}", shares[left]);
        // All honest people are alike.
        assert!(population.sharpness_sd < 0.15, "{}", population.sharpness_sd);
        // Somebody of whom nothing is known is as most others are.
        let unknown = population.posterior(&shares, &[1.0; POINTS]);
        assert!((f64::from(unknown[left]) - shares[left]).abs() < 1e-6);
        let voice = population.voice(&unknown);
        assert!((voice.weight - 0.62).abs() < 0.05 && (voice.sharpness - 1.0).abs() < 0.1);
    }

    #[test]
    fn people_who_answer_the_opposite_count_the_other_way_round() {
        let population = Population::new(false);
        let contrary = population.behaviours.iter().position(|own| own.sharpness == -1.0).unwrap();
        let voice = population.voice(&sure(contrary));
        assert_eq!((voice.weight, voice.sharpness), (1.0, -1.0));
        assert_eq!(directions(&[voice, Voice::TYPICAL, Voice::TYPICAL]), [2.0, 1.0]);
        assert_eq!(population.behaviours[contrary].class(), AnnotatorClass::Contrary);
    }
}
