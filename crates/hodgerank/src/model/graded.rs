//! Graded votes: an honest outcome is the difference of the scores with normal noise.
//!
//! Outcomes are in units of their root mean square, and so are scores. With d = θ_left − θ_right, the density of
//! an outcome y relative to N(0, 1), that of answers that do not depend on the items, is
//!
//! | behaviour | relative density |
//! |---|---|
//! | honest, sharpness s | (1 − ε) N(y; d, σ²/s²)/N(y; 0, 1) + ε |
//! | contrary | the same at −d with s = ½ or 1 |
//! | random | 1 |
//! | one-sided | 2 F(b_a) for y > 0 and 2 F(−b_a) for y < 0 |
//!
//! σ is the noise of a typical annotator, and ε = `graded_lapses` the share of votes that are lapses: it bounds what one
//! gross outcome can do.
//!
//! The scores minimise Σ w_a h (s_a/σ)² (y ∓ d)² plus the penalty of the prior, h being the probability
//! that the vote is no lapse, and σ² is the mean square of the residuals, weighted in the same way. The search
//! alternates between people, h, σ and scores. Certificate: as for `newton.rs`.
//!
//! Cost: two exponentials for each vote and honest sharpness per iteration, and a Laplacian solve.

use rayon::prelude::*;

use super::behaviour::{Behaviour, OfBehaviours, POINTS, Population};
use super::newton::relative_violation;
use super::pair_sums::sum_ends;
use super::people_votes::PeopleVotes;
use super::prior::{Prior, PriorKind, PriorTerm};
use super::tuning::TUNING;
use super::votes::{Voice, VotesByPair as _};
use crate::annotator_votes::AnnotatorVotes;
use crate::error::Result;
use crate::graph::ComparisonGraph;
use crate::laplacian::{BackendChoice, StepSystem};
use crate::numeric::{largest_magnitude, sum_tasks};
use crate::solve::crowd::{Crowd, CrowdEstimates, FittedPeople, weighted};
use crate::solve::{Info, Solution};
use crate::status::Status;

/// Smallest probability of a vote: no vote excludes a behaviour on its own.
const MIN_RATIO: f64 = 1e-4;
const MAX_RATIO: f64 = 1e12;
/// Smallest σ² in squares of the unit: outcomes are rounded.
const MIN_NOISE: f64 = 1e-4;
const MAX_ITERATIONS: usize = 100;
/// Change of the scores at which the search for people and the whole search end, in units of the outcomes.
const PEOPLE_TOLERANCE: f64 = 1e-3;
const TOLERANCE: f64 = 1e-5;
const SOLVE_TOLERANCE: f64 = 1e-8;
const MIN_WEIGHT: f64 = 1e-12;
const PAIRS_PER_TASK: usize = 1 << 10;

/// The noise of graded votes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GradedNoise {
    /// σ, in units of the outcomes as they were given.
    sigma: f64,
    /// The root mean square of the outcomes.
    unit: f64,
}

/// What a vote adds to the estimating equations.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GradedVote {
    pub(crate) gradient: f64,
    pub(crate) information: f64,
    /// The weighted square of the residual in units of the annotator's noise, and its weight.
    square: f64,
    weight: f64,
}

impl GradedNoise {
    /// The noise of an annotator.
    pub(crate) fn of(&self, voice: &Voice) -> f64 {
        self.sigma / voice.sharpness.abs().max(f64::MIN_POSITIVE)
    }

    /// The density of an honest outcome relative to a lapse, if sharpness is positive.
    fn ratio(&self, sharpness: f64, d: f64, y: f64) -> f64 {
        let (d, y) = (d / self.unit * sharpness.signum(), y / self.unit);
        let precision = sharpness.abs() * self.unit / self.sigma;
        let exponent = 0.5 * (y * y - (precision * (y - d)).powi(2));
        (precision * exponent.exp()).min(MAX_RATIO)
    }

    /// The density of an outcome relative to that of an answer that does not depend on the items.
    fn density(&self, own: &Behaviour, d: f64, y: f64) -> f64 {
        if own.sharpness == 0.0 {
            let towards = if y == 0.0 { 0.0 } else { y.signum() };
            return 2.0 / (1.0 + (-own.side * towards).exp());
        }
        (1.0 - TUNING.graded_lapses) * self.ratio(own.sharpness, d, y) + TUNING.graded_lapses
    }

    pub(crate) fn vote(&self, voice: Voice, d: f64, y: f64) -> GradedVote {
        let Voice { weight, sharpness, .. } = voice;
        if weight == 0.0 || sharpness == 0.0 {
            return GradedVote::default();
        }
        let honest = (1.0 - TUNING.graded_lapses) * self.ratio(sharpness, d, y);
        let weight = weight * honest / (honest + TUNING.graded_lapses);
        let residual = y - sharpness.signum() * d;
        let per_square = weight * (sharpness / self.sigma).powi(2);
        GradedVote {
            gradient: sharpness.signum() * per_square * residual,
            information: per_square,
            square: weight * (sharpness * residual).powi(2),
            weight,
        }
    }

    /// The logarithms of the likelihoods of each annotator's behaviours.
    pub(crate) fn logs(
        &self,
        votes: &AnnotatorVotes,
        scores: &[f64],
        behaviours: &[Behaviour],
    ) -> Vec<[f64; POINTS]> {
        let of = |annotator: usize| {
            let mut logs = [0.0; POINTS];
            for vote in votes.of(annotator) {
                let d = scores[vote.left as usize] - scores[vote.right as usize];
                let y = votes.y(vote);
                for (log, own) in logs.iter_mut().zip(behaviours) {
                    *log += f64::from(vote.count) * self.density(own, d, y).max(MIN_RATIO).ln();
                }
            }
            logs
        };
        (0..votes.annotators()).into_par_iter().map(of).collect()
    }

    /// The probability that a vote is not honest.
    pub(crate) fn bad_probability(&self, voice: Voice, d: f64, y: f64) -> f64 {
        if voice.sharpness < 0.0 {
            return voice.weight;
        }
        1.0 - self.vote(voice, d, y).weight
    }
}

/// Sums over pairs.
struct Sums {
    /// Less the slope of half the penalty of the prior.
    gradient: Vec<f64>,
    /// The information of each pair.
    information: Vec<f64>,
    noise: f64,
}

fn sums(
    graph: &ComparisonGraph,
    votes: &PeopleVotes<'_>,
    prior: &PriorTerm,
    scores: &[f64],
    noise: &GradedNoise,
) -> Sums {
    let pairs = votes.pairs();
    let of_pair = |p: usize| {
        let d = scores[pairs.left[p] as usize] - scores[pairs.right[p] as usize];
        let mut sum = GradedVote::default();
        votes.for_each_vote(p, |voice, y, count| {
            let own = noise.vote(voice, d, y);
            sum.gradient += count * own.gradient;
            sum.information += count * own.information;
            sum.square += count * own.square;
            sum.weight += count * own.weight;
        });
        sum.gradient -= prior.pair_weight(p) * d;
        sum
    };
    let of_pairs: Vec<GradedVote> = (0..pairs.len()).into_par_iter().map(of_pair).collect();
    let mut gradient =
        sum_ends(graph.items(), pairs, |p| (of_pairs[p].gradient, -of_pairs[p].gradient));
    let mut totals = sum_tasks(of_pairs.par_chunks(PAIRS_PER_TASK), |own| {
        own.iter().fold([0.0; 2], |sum, own| [sum[0] + own.square, sum[1] + own.weight])
    });
    graph.communicator().sum(&mut gradient);
    graph.communicator().sum(&mut totals);
    let least = MIN_NOISE.sqrt() * noise.unit;
    let noise = (totals[0] / totals[1].max(f64::MIN_POSITIVE)).sqrt().max(least);
    Sums { gradient, information: of_pairs.iter().map(|own| own.information).collect(), noise }
}

/// The root mean square of the outcomes; 1 if all are ties. Collective.
fn unit(graph: &ComparisonGraph) -> f64 {
    let groups = graph.groups();
    let largest = groups.y.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
    let largest = graph.communicator().max_scalar(largest);
    if largest == 0.0 {
        return 1.0;
    }
    // Relative to the largest outcome, squares neither overflow nor vanish.
    let square = |(y, weight): (&f64, &f64)| weight * (y / largest).powi(2);
    let squares = groups.y.iter().zip(&groups.weight).map(square);
    largest * (graph.communicator().sum_scalar(squares.sum()) / graph.votes().max(1.0)).sqrt()
}

/// The scores and behaviours of a crowd with graded votes. Collective.
pub(crate) fn solve(
    graph: &ComparisonGraph,
    votes: &AnnotatorVotes,
    mut people_votes: PeopleVotes<'_>,
    weights: Option<&[f64]>,
    prior: Option<f64>,
    backend: BackendChoice,
) -> Result<Crowd> {
    let unit = unit(graph);
    let mut system = StepSystem::new(graph, backend)?;
    let mut noise = GradedNoise { sigma: unit, unit };
    let mut scores = vec![0.0; graph.items()];
    // One-sided votes have no direction of their own without sides.
    let mut population = Population::of_graded_votes(votes.has_sides());
    let mut voices = vec![Voice::TYPICAL; votes.annotators()];
    let (mut likelihoods, mut iterations, mut converged) = (Vec::new(), 0, false);
    let mut term = Prior { kind: PriorKind::Differences, precision: 1.0 }.term(graph);
    let (mut gradient, mut are_people_known) = (Vec::new(), false);
    while iterations < MAX_ITERATIONS && !converged {
        iterations += 1;
        let precision = prior.unwrap_or(TUNING.graded_precision / (noise.sigma * noise.sigma));
        term = term.with_precision(precision);
        let sums = sums(graph, &people_votes, &term, &scores, &noise);
        gradient = sums.gradient;
        let smallest = MIN_WEIGHT / (noise.sigma * noise.sigma);
        let weight = |p: usize| (sums.information[p] + term.pair_weight(p)).max(smallest);
        let step = system.solve(weight, term.shift(), &gradient, SOLVE_TOLERANCE, true)?;
        scores.iter_mut().zip(&step).for_each(|(score, step)| *score += step);
        let change = largest_magnitude(&step) / unit;
        converged = change < TOLERANCE && (sums.noise / noise.sigma).ln().abs() < TOLERANCE;
        noise.sigma = sums.noise;
        are_people_known |= change < PEOPLE_TOLERANCE;
        // The first step is from scores of zero, which say nothing about people.
        if iterations > 1 && !are_people_known {
            likelihoods = noise.logs(votes, &scores, &population.behaviours);
            let number = population.behaviours.len();
            let relative = |logs: &[f64; POINTS]| -> OfBehaviours {
                let largest = logs[..number].iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
                std::array::from_fn(
                    |k| if k < number { (logs[k] - largest).exp() as f32 } else { 0.0 },
                )
            };
            let relative: Vec<OfBehaviours> = likelihoods.iter().map(relative).collect();
            population.improve(&relative, weights, graph.communicator());
            let shares = population.shares();
            let voice = |own: &OfBehaviours| population.voice(&population.posterior(&shares, own));
            voices = relative.iter().map(voice).collect();
            people_votes.set_voices(&weighted(&voices, weights));
        }
    }
    if likelihoods.is_empty() {
        likelihoods = noise.logs(votes, &scores, &population.behaviours);
    }
    let pairs = graph.pairs();
    let mut per_item = sum_ends(graph.items(), pairs, |p| (pairs.weight[p], pairs.weight[p]));
    graph.communicator().sum(&mut per_item);
    // In units of the outcomes, as the residual of least squares.
    let scale = noise.sigma * noise.sigma / unit;
    let gradient: Vec<f64> = gradient.iter().map(|own| scale * own).collect();
    let people = FittedPeople::new(population, &likelihoods, voices);
    let baseline = -graph.votes() * (0.5 * (1.0 + (2.0 * std::f64::consts::PI).ln()) + unit.ln());
    let of_people = CrowdEstimates::of_people(graph, votes, &people);
    let estimates = CrowdEstimates {
        prior: term.prior,
        noise: Some(noise.sigma),
        iterations,
        log_likelihood: of_people.log_likelihood + baseline,
        log_likelihood_careful: of_people.log_likelihood_careful + baseline,
        ..of_people
    };
    let info = Info {
        backends: system.backends(),
        iterations,
        residual: relative_violation(&gradient, &per_item),
        error_bound: None,
        time: Default::default(),
    };
    let status = if converged { Status::Solved } else { Status::IterationLimit };
    let solution = Solution { scores, status, info };
    Ok(Crowd::new(solution, estimates, votes, people, Some(noise)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gross_outcome_moves_nothing() {
        let noise = GradedNoise { sigma: 0.5, unit: 1.0 };
        let near = noise.vote(Voice::TYPICAL, 1.0, 1.2);
        assert!((near.gradient - 0.8 * near.weight).abs() < 1e-12 && near.weight > 0.9);
        let gross = noise.vote(Voice::TYPICAL, 1.0, 1e6);
        assert!(gross.gradient.abs() < 1e-9 && gross.weight < 1e-9);
        assert!(noise.bad_probability(Voice::TYPICAL, 1.0, 1e6) > 0.999);
        let contrary = Voice { sharpness: -1.0, ..Voice::TYPICAL };
        assert!(noise.vote(contrary, 1.0, -1.0).gradient.abs() < 1e-12);
    }
}
