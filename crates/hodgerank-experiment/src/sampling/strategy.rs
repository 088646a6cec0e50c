//! How pairs are chosen, and what has been asked so far.

use hodgerank::next_pairs::{NextPairsOptions, PairVotes, Posterior, SideBalance, next_pairs};
use hodgerank::solve::bradley_terry::{self, BradleyTerryOptions};
use hodgerank::{Comparison, ComparisonGraph, Groups};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::error::Result;

/// Steps of the power method: an approximate Fiedler vector is enough.
const POWER_STEPS: usize = 200;

/// How the next pair is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Random,
    Unsupervised,
    Supervised,
}

impl Strategy {
    pub(super) const ALL: [Self; 3] = [Self::Random, Self::Unsupervised, Self::Supervised];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Unsupervised => "unsupervised",
            Self::Supervised => "supervised",
        }
    }

    pub(super) fn choose(self, asked: &Asked, rng: &mut ChaCha8Rng) -> Result<(u32, u32)> {
        match self {
            Self::Random => {
                let n = asked.items as u32;
                let i = rng.random_range(0..n);
                Ok((i, (i + rng.random_range(1..n)) % n))
            }
            Self::Unsupervised => Ok(asked.weakest_link(rng)),
            Self::Supervised => {
                let posterior = asked.posterior()?;
                let options = NextPairsOptions { pairs: 1, top: None, seed: rng.random() };
                let mut sides = SideBalance::new(asked.items);
                let pair = next_pairs(&posterior, &mut sides, None, &options)?.pairs[0];
                Ok((pair.left, pair.right))
            }
        }
    }
}

/// The votes so far.
pub(super) struct Asked {
    items: usize,
    votes: Vec<Comparison>,
    /// Votes on each pair, row by row.
    counts: Vec<f64>,
    /// Those that prefer the item of the row.
    wins: Vec<f64>,
}

impl Asked {
    pub(super) fn new(items: usize) -> Self {
        let zeros = || vec![0.0; items * items];
        Self { items, votes: Vec::new(), counts: zeros(), wins: zeros() }
    }

    pub(super) fn add(&mut self, i: u32, j: u32, prefers_first: bool) {
        self.votes.push(Comparison::new(i, j, if prefers_first { 1.0 } else { -1.0 }));
        let (i, j) = (i as usize, j as usize);
        self.counts[i * self.items + j] += 1.0;
        self.counts[j * self.items + i] += 1.0;
        let (winner, loser) = if prefers_first { (i, j) } else { (j, i) };
        self.wins[winner * self.items + loser] += 1.0;
    }

    /// Scores of Bradley–Terry without lapses.
    pub(super) fn scores(&self) -> Result<Vec<f64>> {
        let graph =
            ComparisonGraph::new(self.items, Groups::merge(self.items, &self.votes)?.groups)?;
        let options = BradleyTerryOptions { lapse_rate: Some(0.0), ..Default::default() };
        Ok(bradley_terry::solve(&graph, &options)?.solution.scores)
    }

    fn posterior(&self) -> Result<Posterior> {
        if self.votes.is_empty() {
            return Ok(Posterior::without_votes(self.items));
        }
        let mut pairs = Vec::new();
        for i in 0..self.items {
            for j in i + 1..self.items {
                let votes = self.counts[i * self.items + j];
                if votes > 0.0 {
                    let wins = self.wins[i * self.items + j];
                    pairs.push(PairVotes { first: i as u32, second: j as u32, wins, votes });
                }
            }
        }
        Ok(Posterior::of_votes(self.items, &pairs)?)
    }

    /// The pair with the largest (v(i) − v(j))², v the Fiedler vector: the largest eigenvector of cI − L that
    /// is orthogonal to the constant one.
    fn weakest_link(&self, rng: &mut ChaCha8Rng) -> (u32, u32) {
        let n = self.items;
        let degree: Vec<f64> = self.counts.chunks(n).map(|row| row.iter().sum()).collect();
        let c = 2.0 * degree.iter().fold(0.0_f64, |a, b| a.max(*b)) + 1.0;
        let mut v: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
        for _ in 0..POWER_STEPS {
            let product = |i: usize| {
                let row = &self.counts[i * n..][..n];
                (c - degree[i]) * v[i] + row.iter().zip(&v).map(|(w, v)| w * v).sum::<f64>()
            };
            let next: Vec<f64> = (0..n).map(product).collect();
            let mean = next.iter().sum::<f64>() / n as f64;
            let size = next.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
            v = next.iter().map(|x| (x - mean) / size).collect();
        }
        let (mut low, mut high) = (0, 0);
        for i in 1..n {
            low = if v[i] < v[low] { i } else { low };
            high = if v[i] > v[high] { i } else { high };
        }
        (low as u32, high as u32)
    }
}
