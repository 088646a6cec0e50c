//! The pairs that a simulated study asks.

use super::crowds::Design;
use super::random::Random;

/// Draws the pairs that are asked; sides are random.
pub(super) struct Pairs {
    /// Probability that an item is at most the k-th.
    cumulative: Vec<f64>,
    /// Distance over which matched pairs become e times as rare; none in other designs.
    distance: Option<f64>,
    random: Random,
}

impl Pairs {
    pub(super) fn new(design: Design, truth: &[f64], spread: f64, mut random: Random) -> Self {
        let exponent = if design == Design::LongTail { -0.8 } else { 0.0 };
        let mut popularity: Vec<f64> =
            (1..=truth.len()).map(|k| (k as f64).powf(exponent)).collect();
        random.shuffle(&mut popularity);
        let all: f64 = popularity.iter().sum();
        let sum = |sum: &mut f64, p: f64| {
            *sum += p / all;
            Some(*sum)
        };
        let cumulative = popularity.into_iter().scan(0.0, sum).collect();
        let distance = (design == Design::Matched).then_some(0.5 * spread);
        Self { cumulative, distance, random }
    }

    fn item(&mut self) -> usize {
        let u = self.random.uniform();
        self.cumulative.partition_point(|&c| c <= u).min(self.cumulative.len() - 1)
    }

    pub(super) fn next(&mut self, truth: &[f64]) -> (usize, usize) {
        loop {
            let (left, right) = (self.item(), self.item());
            let is_asked = left != right
                && self.distance.is_none_or(|distance| {
                    let d = (truth[left] - truth[right]).abs();
                    self.random.chance((-d / distance).exp() + 0.02)
                });
            if is_asked {
                return (left, right);
            }
        }
    }
}
