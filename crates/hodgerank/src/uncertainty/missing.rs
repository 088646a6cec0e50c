//! The information that is missing because it is not known for certain how an annotator behaves.
//!
//! H is the information of the votes if the behaviour of each annotator were known. What the votes say without
//! that knowledge is H − M (Louis 1982), M being the covariance, given the votes, of the slopes with known
//! behaviours:
//!
//! M = Σ_annotators Σ_k r_k (g_k − g)(g_k − g)ᵀ,
//!
//! g_k the sum of the annotator's slopes under behaviour k, r_k its probability and g = Σ r_k g_k.
//!
//! M is reduced if it takes more than [`MAX_SHARE`] of the information in some direction.
//!
//! Cost: for each annotator, behaviours in question times the square of the number of items compared.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::sandwich::product;
use super::vote_scores::VoteScores;
use crate::annotator_votes::AnnotatorVotes;
use crate::solve::crowd::CrowdSlopes;

/// Largest share of the information in any direction that may be missing.
const MAX_SHARE: f64 = 0.75;
/// Power iterations for the largest share.
const ITERATIONS: usize = 40;
/// What is not known about annotators with more votes is a negligible share of what they say.
const MAX_VOTES: u64 = 200;
/// Annotators are added up in so many parts, whatever the number of threads; fewer if matrices are large.
const PARTS: usize = 8;
const PARTS_OF_MANY_ITEMS: usize = 2;
const MANY_ITEMS: usize = 512;

/// M, reduced so that H − M has an inverse; none if nothing is missing. `inverse` is that of H.
pub(super) fn missing_information(
    votes: &AnnotatorVotes,
    scores: &VoteScores<'_>,
    inverse: &Mat<f64>,
) -> Option<Mat<f64>> {
    let crowd = scores.crowd()?;
    let (n, annotators) = (inverse.nrows(), votes.annotators());
    let parts = if n > MANY_ITEMS { PARTS_OF_MANY_ITEMS } else { PARTS };
    let of_part = |part: usize| {
        let mut sums = MissingSums { votes, crowd, matrix: vec![0.0; n * n], place: vec![0; n] };
        sums.add(annotators * part / parts..annotators * (part + 1) / parts);
        sums.matrix
    };
    let sums: Vec<Vec<f64>> = (0..parts).into_par_iter().map(of_part).collect();
    let matrix = Mat::from_fn(n, n, |i, j| sums.iter().map(|sum| sum[i * n + j]).sum::<f64>());
    let share = largest_eigenvalue(&product(inverse, &matrix));
    let factor = if share > MAX_SHARE { MAX_SHARE / share } else { 1.0 };
    (share > 0.0).then(|| Mat::from_fn(n, n, |i, j| factor * matrix[(i, j)]))
}

/// M of some annotators.
struct MissingSums<'a> {
    votes: &'a AnnotatorVotes,
    crowd: &'a CrowdSlopes<'a>,
    matrix: Vec<f64>,
    /// One more than the place of each item among those of the annotator; 0 for other items.
    place: Vec<usize>,
}

impl MissingSums<'_> {
    fn add(&mut self, annotators: Range<usize>) {
        let n = self.place.len();
        let (mut votes, mut items, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
        for annotator in annotators {
            let counts = self.votes.unsorted_of(annotator).iter().map(|vote| u64::from(vote.count));
            if counts.sum::<u64>() > MAX_VOTES {
                continue;
            }
            let Some(behaviours) = self.crowd.uncertain_behaviours(annotator as u32) else {
                continue;
            };
            self.votes.copy_sorted(annotator, &mut votes);
            items.clear();
            for item in votes.iter().flat_map(|vote| [vote.left as usize, vote.right as usize]) {
                if self.place[item] == 0 {
                    items.push(item);
                    self.place[item] = items.len();
                }
            }
            slopes.clear();
            // The first row is the mean.
            slopes.resize(items.len(), 0.0);
            for (probability, behaviour) in &behaviours {
                let first = slopes.len();
                slopes.resize(first + items.len(), 0.0);
                for vote in &votes {
                    let (y, count) = (self.votes.y(vote), f64::from(vote.count));
                    let (i, j) = (vote.left as usize, vote.right as usize);
                    let slope = count * behaviour.of_vote(vote.left, vote.right, y).gradient;
                    slopes[first + self.place[i] - 1] += slope;
                    slopes[first + self.place[j] - 1] -= slope;
                }
                let (mean, own) = slopes.split_at_mut(first);
                mean.iter_mut().zip(own).for_each(|(mean, own)| *mean += probability * *own);
            }
            let mut rest = 1.0;
            let (mean, rows) = slopes.split_at(items.len());
            for ((probability, _), own) in behaviours.iter().zip(rows.chunks_exact(items.len())) {
                rest -= probability;
                add_square(&mut self.matrix, n, &items, *probability, |k| own[k] - mean[k]);
            }
            add_square(&mut self.matrix, n, &items, rest.max(0.0), |k| mean[k]);
            items.iter().for_each(|&item| self.place[item] = 0);
        }
    }
}

/// Adds weight · x xᵀ at the rows and columns of some items.
fn add_square(
    matrix: &mut [f64],
    n: usize,
    items: &[usize],
    weight: f64,
    x: impl Fn(usize) -> f64,
) {
    if weight == 0.0 {
        return;
    }
    for (a, &i) in items.iter().enumerate() {
        let own = weight * x(a);
        for (b, &j) in items.iter().enumerate() {
            matrix[i * n + j] += own * x(b);
        }
    }
}

/// The largest eigenvalue of a matrix that has no negative ones.
fn largest_eigenvalue(matrix: &Mat<f64>) -> f64 {
    let n = matrix.nrows();
    // Any start will do that is not orthogonal to the eigenvector.
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + ((i * 7919) % 97) as f64 / 97.0).collect();
    let mut value = 0.0;
    for _ in 0..ITERATIONS {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        let mut next = vec![0.0; n];
        for (j, x) in x.iter().enumerate() {
            let x = x / norm;
            matrix.col(j).iter().zip(&mut next).for_each(|(entry, next)| *next += entry * x);
        }
        value = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        x = next;
    }
    value
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::fit::fit_with_annotators;
    use crate::laplacian::pseudo_inverse;
    use crate::{Comparison, ComparisonGraph, FitOptions, Groups, Method};

    const ITEMS: u32 = 6;
    const ANNOTATORS: u32 = 30;

    /// Votes of annotators, every third of whom answers at random; graded ones have sizes up to three.
    fn study(is_graded: bool) -> Vec<Comparison> {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut votes = Vec::new();
        for k in 0..ANNOTATORS * 15 {
            let annotator = k % ANNOTATORS;
            let left = random.random_range(0..ITEMS);
            let right = (left + random.random_range(1..ITEMS)) % ITEMS;
            let honest = 0.7 * (f64::from(left) - f64::from(right));
            let d = if annotator.is_multiple_of(3) { 0.0 } else { honest };
            let side = if random.random::<f64>() < 1.0 / (1.0 + (-d).exp()) { 1.0 } else { -1.0 };
            let size = if is_graded { f64::from(random.random_range(1..4)) } else { 1.0 };
            let vote = Comparison::new(left, right, side * size);
            votes.push(Comparison { annotator: Some(annotator), ..vote });
        }
        votes
    }

    /// M, vote by vote and behaviour by behaviour.
    fn slow(votes: &[Comparison], crowd: &CrowdSlopes<'_>) -> Vec<Vec<f64>> {
        let n = ITEMS as usize;
        let mut m = vec![vec![0.0; n]; n];
        for annotator in 0..ANNOTATORS {
            let Some(behaviours) = crowd.uncertain_behaviours(annotator) else { continue };
            let own = || votes.iter().filter(move |vote| vote.annotator == Some(annotator));
            let mut mean = vec![0.0; n];
            for (r, behaviour) in &behaviours {
                let mut g = vec![0.0; n];
                for vote in own() {
                    let (i, j) = (vote.left as usize, vote.right as usize);
                    let slope = behaviour.of_vote(vote.left, vote.right, vote.y).gradient;
                    g[i] += slope;
                    g[j] -= slope;
                }
                for i in 0..n {
                    mean[i] += r * g[i];
                    (0..n).for_each(|j| m[i][j] += r * g[i] * g[j]);
                }
            }
            // E[g gᵀ] − E[g] E[g]ᵀ.
            for i in 0..n {
                (0..n).for_each(|j| m[i][j] -= mean[i] * mean[j]);
            }
        }
        m
    }

    #[test]
    fn it_is_the_covariance_of_the_slopes_given_the_votes() {
        for is_graded in [false, true] {
            let votes = study(is_graded);
            let n = ITEMS as usize;
            let graph = ComparisonGraph::new(n, Groups::merge(n, &votes).unwrap().groups).unwrap();
            let annotated = AnnotatorVotes::from_comparisons(ANNOTATORS as usize, &votes, true);
            let options = FitOptions::default().method(Method::Crowd);
            let fit = fit_with_annotators(&graph, Some(&annotated), &options).unwrap();
            let scores = VoteScores::of_fit(&graph, &fit).unwrap();
            // The information of far more votes: nothing has to be reduced.
            let weights = vec![1e3; graph.pairs().len()];
            let inverse = pseudo_inverse(graph.pairs(), &weights, graph.components()).unwrap();
            let inverse = Mat::from_fn(n, n, |i, j| inverse[i * n + j]);
            let found = missing_information(&annotated, &scores, &inverse).unwrap();
            let expected = slow(&votes, scores.crowd().unwrap());
            // Probabilities of behaviours are in single precision.
            let size = (0..n).map(|i| expected[i][i]).fold(0.0, f64::max);
            assert!(size > 0.1, "something is missing: {size}");
            for i in 0..n {
                for j in 0..n {
                    let error = (found[(i, j)] - expected[i][j]).abs();
                    assert!(error < 1e-6 * size, "{i} {j}: {} {}", found[(i, j)], expected[i][j]);
                }
            }
        }
    }

    #[test]
    fn it_never_takes_all_information() {
        let diagonal = |x: f64| Mat::from_fn(3, 3, |i, j| if i == j { x } else { 0.1 * x });
        assert!((largest_eigenvalue(&diagonal(2.0)) - 2.4).abs() < 1e-6);
        let votes = study(false);
        let n = ITEMS as usize;
        let graph = ComparisonGraph::new(n, Groups::merge(n, &votes).unwrap().groups).unwrap();
        let annotated = AnnotatorVotes::from_comparisons(ANNOTATORS as usize, &votes, true);
        let options = FitOptions::default().method(Method::Crowd);
        let fit = fit_with_annotators(&graph, Some(&annotated), &options).unwrap();
        let scores = VoteScores::of_fit(&graph, &fit).unwrap();
        // As if the votes said next to nothing.
        let weights = vec![1e-3; graph.pairs().len()];
        let inverse = pseudo_inverse(graph.pairs(), &weights, graph.components()).unwrap();
        let inverse = Mat::from_fn(n, n, |i, j| inverse[i * n + j]);
        let found = missing_information(&annotated, &scores, &inverse).unwrap();
        let share = largest_eigenvalue(&product(&inverse, &found));
        assert!((share - MAX_SHARE).abs() < 1e-6, "{share}");
    }
}
