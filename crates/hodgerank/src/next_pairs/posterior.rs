//! What the votes tell about the scores.
//!
//! Scores of a fit are not used as they are: they are unbiased, so that with few votes those of items that
//! hardly ever lost are far too large, and pairs with them would look decided. The posterior mean maximises
//!
//! Σ (s ln p + (w − s) ln(1 − p)) − ½ a Σ μ²,
//!
//! where the sum is over pairs, w counts the votes that are good and s those for the first item, a tie half. The
//! optimality condition is Σ x (s − wp) = aμ. The precision a of the prior is that of the scores themselves,
//! n/(Σ μ² + tr S), by a few steps of the EM algorithm. With many items, where S is not computed, scores of
//! the fit are multiplied by the share of the votes in their precision instead.

use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Mat, Side};

use super::{MAX_EXACT_ITEMS, vote_information};
use crate::error::{Error, Result};
use crate::laplacian::Backend;
use crate::predict::{Predictor, logistic};
use crate::ranked_study::RankedStudy;
use crate::scale::NoFactor;

/// The precision of the prior before anything is known: scores have a standard deviation of 1.8 log-odds.
const START_PRIOR: f64 = 0.3;
/// The smallest precision: a standard deviation of 3 log-odds is wide for any study.
const MIN_PRIOR: f64 = 0.1;
/// Steps of the EM algorithm: the precision matters little once there are many votes.
const PRIOR_STEPS: usize = 3;
/// Newton steps. The objective is concave and the prior keeps it well conditioned, so that a few are enough.
const MAX_NEWTON_STEPS: usize = 50;
/// The change of means at which Newton's method ends, in log-odds.
const TOLERANCE: f64 = 1e-9;

/// Good votes on a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairVotes {
    /// The first item.
    pub first: u32,
    /// The second item.
    pub second: u32,
    /// Votes for the first item; a tie counts half.
    pub wins: f64,
    /// All votes.
    pub votes: f64,
}

/// Means of the scores in log-odds, and the information of the votes about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    means: Vec<f64>,
    /// Pairs with the information of their votes.
    information: Vec<(u32, u32, f64)>,
    /// a, the precision of the prior.
    prior: f64,
}

impl Posterior {
    /// The posterior of items without votes.
    #[must_use]
    pub fn without_votes(items: usize) -> Self {
        Self::new(vec![0.0; items], Vec::new(), START_PRIOR)
    }

    /// The posterior with these means, pairs of items with the information of their votes, and this precision
    /// of the prior.
    #[must_use]
    pub fn new(means: Vec<f64>, information: Vec<(u32, u32, f64)>, prior: f64) -> Self {
        Self { means, information, prior }
    }

    /// The posterior of votes on up to [`MAX_EXACT_ITEMS`] items.
    ///
    /// # Errors
    /// If a matrix cannot be factorised.
    pub fn of_votes(items: usize, votes: &[PairVotes]) -> Result<Self> {
        let (mut means, mut prior) = (vec![0.0; items], START_PRIOR);
        for _ in 0..PRIOR_STEPS {
            maximise(votes, prior, &mut means)?;
            let inverse = factor(&precision(votes, prior, &means))?.inverse();
            let trace: f64 = (0..items).map(|i| inverse[(i, i)]).sum();
            let squares: f64 = means.iter().map(|mean| mean * mean).sum();
            prior = (items as f64 / (squares + trace)).max(MIN_PRIOR);
        }
        maximise(votes, prior, &mut means)?;
        Ok(Self::new(means.clone(), information(votes, &means), prior))
    }

    /// The posterior of a ranked study, or why its scores have no log-odds. Votes count as far as they are not
    /// flagged, or with the probability that they are good where the method estimates it.
    ///
    /// # Errors
    /// As [`Predictor::new`] and [`Posterior::of_votes`].
    pub fn of_study(study: &RankedStudy) -> Result<std::result::Result<Self, NoFactor>> {
        let votes = good_votes(study);
        if study.graph.items() <= MAX_EXACT_ITEMS {
            return Self::of_votes(study.graph.items(), &votes).map(Ok);
        }
        let factor = match Predictor::new(study)?.factor() {
            Ok(factor) => factor,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut means: Vec<f64> = study.fit.scores.iter().map(|score| factor * score).collect();
        let mut known = vec![0.0; means.len()];
        for (i, j, information) in information(&votes, &means) {
            known[i as usize] += information;
            known[j as usize] += information;
        }
        for (mean, known) in means.iter_mut().zip(known) {
            *mean *= known / (known + START_PRIOR);
        }
        let information = information(&votes, &means);
        Ok(Ok(Self::new(means, information, START_PRIOR)))
    }

    /// The posterior with more items, about which nothing is known; they follow the others.
    #[must_use]
    pub fn with_more_items(mut self, more: usize) -> Self {
        self.means.resize(self.means.len() + more, 0.0);
        self
    }

    /// The posterior of `items` items, of which this one's are those at these places; nothing is known about the
    /// others.
    #[must_use]
    pub fn placed(self, items: usize, places: &[u32]) -> Self {
        let mut means = vec![0.0; items];
        for (&place, mean) in places.iter().zip(self.means) {
            means[place as usize] = mean;
        }
        let place = |(i, j, own): (u32, u32, f64)| (places[i as usize], places[j as usize], own);
        let information = self.information.into_iter().map(place).collect();
        Self { means, information, prior: self.prior }
    }

    /// Number of items.
    #[must_use]
    pub fn items(&self) -> usize {
        self.means.len()
    }

    /// Whether there is information besides the prior.
    #[must_use]
    pub fn has_votes(&self) -> bool {
        !self.information.is_empty()
    }

    /// Moves the means.
    pub(super) fn shift(&mut self, shift: &[f64]) {
        self.means.iter_mut().zip(shift).for_each(|(mean, shift)| *mean += shift);
    }

    pub(super) fn means(&self) -> &[f64] {
        &self.means
    }

    pub(super) fn information(&self) -> &[(u32, u32, f64)] {
        &self.information
    }

    pub(super) fn prior(&self) -> f64 {
        self.prior
    }

    pub(super) fn difference(&self, i: u32, j: u32) -> f64 {
        self.means[i as usize] - self.means[j as usize]
    }
}

/// The good votes on each pair of a study.
fn good_votes(study: &RankedStudy) -> Vec<PairVotes> {
    let (pairs, groups) = (study.graph.pairs(), study.graph.groups());
    let good = |g: usize| match &study.fit.bad_probability {
        Some(bad) => groups.weight[g] * (1.0 - bad[g]),
        None => groups.weight[g] - study.fit.flagged[g],
    };
    // Votes for the first item, a tie half.
    let share = |y: f64| 0.5 * (1.0 + if y == 0.0 { 0.0 } else { y.signum() });
    let of_pair = |p: usize| {
        let own = pairs.first_group[p] as usize..pairs.first_group[p + 1] as usize;
        let wins = own.clone().map(|g| good(g) * share(groups.y[g])).sum();
        let votes = own.map(good).sum();
        PairVotes { first: pairs.left[p], second: pairs.right[p], wins, votes }
    };
    (0..pairs.len()).map(of_pair).collect()
}

fn difference(pair: &PairVotes, means: &[f64]) -> f64 {
    means[pair.first as usize] - means[pair.second as usize]
}

/// The information of the votes on each pair at these means.
fn information(votes: &[PairVotes], means: &[f64]) -> Vec<(u32, u32, f64)> {
    let of = |pair: &PairVotes| {
        let information = pair.votes * vote_information(difference(pair, means));
        (pair.first, pair.second, information)
    };
    votes.iter().map(of).collect()
}

/// H at these means.
fn precision(votes: &[PairVotes], prior: f64, means: &[f64]) -> Mat<f64> {
    dense_precision(means.len(), prior, &information(votes, means))
}

/// a I plus the Laplacian of the information.
pub(super) fn dense_precision(
    items: usize,
    prior: f64,
    information: &[(u32, u32, f64)],
) -> Mat<f64> {
    let mut matrix = Mat::<f64>::zeros(items, items);
    (0..items).for_each(|i| matrix[(i, i)] = prior);
    for &(i, j, information) in information {
        let (i, j) = (i as usize, j as usize);
        matrix[(i, i)] += information;
        matrix[(j, j)] += information;
        matrix[(i, j)] -= information;
        matrix[(j, i)] -= information;
    }
    matrix
}

pub(super) fn factor(matrix: &Mat<f64>) -> Result<Llt<f64>> {
    matrix.llt(Side::Lower).map_err(|error| Error::Factorisation {
        backend: Backend::Dense.as_str(),
        items: matrix.nrows(),
        reason: error.to_string(),
    })
}

/// Moves the means to the maximum. Steps are shortened while the objective falls.
fn maximise(votes: &[PairVotes], prior: f64, means: &mut [f64]) -> Result<()> {
    let n = means.len();
    let mut value = objective(votes, prior, means);
    for _ in 0..MAX_NEWTON_STEPS {
        let mut step = Mat::from_fn(n, 1, |i, _| -prior * means[i]);
        for pair in votes {
            let slope = pair.wins - pair.votes * logistic(difference(pair, means));
            step[(pair.first as usize, 0)] += slope;
            step[(pair.second as usize, 0)] -= slope;
        }
        factor(&precision(votes, prior, means))?.solve_in_place(&mut step);
        let largest = (0..n).fold(0.0_f64, |largest, i| largest.max(step[(i, 0)].abs()));
        let mut length = 1.0;
        let moved = loop {
            let moved: Vec<f64> = (0..n).map(|i| means[i] + length * step[(i, 0)]).collect();
            let found = objective(votes, prior, &moved);
            // Close to the maximum, rounding decides whether the objective grows.
            if found >= value || length * largest < TOLERANCE {
                value = found;
                break moved;
            }
            length *= 0.5;
        };
        means.copy_from_slice(&moved);
        if length * largest < TOLERANCE {
            break;
        }
    }
    Ok(())
}

/// The logarithm of the posterior density, up to a constant.
fn objective(votes: &[PairVotes], prior: f64, means: &[f64]) -> f64 {
    let squares: f64 = means.iter().map(|mean| mean * mean).sum();
    let of = |pair: &PairVotes| {
        let d = difference(pair, means);
        // ln p = −ln(1 + e^−d), without overflow.
        let log_p = -(-d.abs()).exp().ln_1p() + d.min(0.0);
        pair.wins * log_p + (pair.votes - pair.wins) * (log_p - d)
    };
    votes.iter().map(of).sum::<f64>() - 0.5 * prior * squares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ x (s − wp) = aμ, with an item that never lost and one that never won.
    #[test]
    fn means_meet_the_optimality_condition() {
        let pair = |first, second, wins, votes| PairVotes { first, second, wins, votes };
        let votes = [
            pair(0, 1, 9.0, 9.0),
            pair(1, 2, 3.5, 5.0),
            pair(0, 2, 4.0, 4.0),
            pair(2, 3, 2.0, 2.0),
        ];
        let found = Posterior::of_votes(4, &votes).unwrap();
        let mut slopes: Vec<f64> = found.means.iter().map(|mean| -found.prior * mean).collect();
        for pair in &votes {
            let slope = pair.wins - pair.votes * logistic(difference(pair, &found.means));
            slopes[pair.first as usize] += slope;
            slopes[pair.second as usize] -= slope;
        }
        assert!(slopes.iter().all(|slope| slope.abs() < 1e-7), "{slopes:?}");
        assert!(found.means.windows(2).all(|two| two[0] > two[1]), "{:?}", found.means);
        assert!(found.prior >= MIN_PRIOR);
    }
}
