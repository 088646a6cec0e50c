//! The greedy choice for many items, from variances of single scores.
//!
//! The variance of a score is taken to be 1/(a + its information), as if all other items were known, and that
//! of a difference to be the sum of two. The item with the largest variance is asked next, with the most
//! informative of its neighbours in the ranking: others have less information because their answer is clear.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;

use super::design::shuffled;
use super::focus::Relevance;
use super::posterior::Posterior;
use super::{Batch, NextPairsOptions, design, expected_gain, vote_information};

/// How many neighbours in the ranking are considered, on each side.
const NEIGHBOURS: usize = 32;

/// An item with the weight that it had when it was last evaluated, which is no less than it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OpenItem {
    weight: f64,
    /// Place in the ranking.
    place: u32,
}

impl Eq for OpenItem {}

impl Ord for OpenItem {
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then_with(|| other.place.cmp(&self.place))
    }
}

impl PartialOrd for OpenItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Adds informative pairs to a batch. Returns the standard errors before and after.
pub(super) fn choose(
    posterior: &Posterior,
    options: &NextPairsOptions,
    batch: &mut Batch<'_>,
    rng: &mut ChaCha8Rng,
) -> (f64, f64) {
    let n = posterior.items();
    let mut precision = vec![posterior.prior(); n];
    for &(i, j, information) in posterior.information() {
        precision[i as usize] += information;
        precision[j as usize] += information;
    }
    let before = standard_error(&precision);
    if !posterior.has_votes() && options.top.is_none() {
        for (i, j) in design::connected(n, options.pairs, rng) {
            let gain = gain(posterior, &precision, i, j);
            if batch.offer(i, j, gain, rng) {
                add_vote(posterior, &mut precision, i, j);
            }
        }
        return (before, standard_error(&precision));
    }
    let variances: Vec<f64> = precision.iter().map(|precision| 1.0 / precision).collect();
    let relevance = Relevance::new(posterior, &variances, options.top);
    // Best first; equal scores in random order.
    let mut ranking = shuffled(n, rng);
    ranking.sort_by(|&i, &j| posterior.difference(j, i).total_cmp(&0.0));
    let weight = |precision: &[f64], place: u32| {
        let item = ranking[place as usize];
        relevance.of_item(item) / precision[item as usize]
    };
    let items = (0..n as u32).map(|place| OpenItem { weight: weight(&precision, place), place });
    let mut queue: BinaryHeap<OpenItem> = items.collect();
    while !batch.is_full() {
        let Some(old) = queue.pop() else { break };
        let now = OpenItem { weight: weight(&precision, old.place), ..old };
        if queue.peek().is_some_and(|next| *next > now) {
            queue.push(now);
            continue;
        }
        let place = old.place as usize;
        let item = ranking[place];
        let worth =
            |other: u32| relevance.of(item, other) * gain(posterior, &precision, item, other);
        let others = place.saturating_sub(NEIGHBOURS)..n.min(place + NEIGHBOURS + 1);
        let mut others: Vec<(f64, u32)> = others
            .filter(|other| *other != place)
            .map(|other| (worth(ranking[other]), ranking[other]))
            .collect();
        others.sort_by(|a, b| b.0.total_cmp(&a.0));
        // An item that nobody can be asked about leaves the queue.
        let asked = others.into_iter().find(|&(_, other)| {
            batch.offer(item, other, gain(posterior, &precision, item, other), rng)
        });
        if let Some((_, other)) = asked {
            add_vote(posterior, &mut precision, item, other);
            queue.push(OpenItem { weight: weight(&precision, old.place), ..old });
        }
    }
    (before, standard_error(&precision))
}

fn gain(posterior: &Posterior, precision: &[f64], i: u32, j: u32) -> f64 {
    let variance = 1.0 / precision[i as usize] + 1.0 / precision[j as usize];
    expected_gain(vote_information(posterior.difference(i, j)) * variance)
}

/// Adds the information of a vote to both items: that about the difference, as far as the other is known.
fn add_vote(posterior: &Posterior, precision: &mut [f64], i: u32, j: u32) {
    let information = vote_information(posterior.difference(i, j));
    let [first, second] = [precision[i as usize], precision[j as usize]];
    precision[i as usize] += 1.0 / (1.0 / information + 1.0 / second);
    precision[j as usize] += 1.0 / (1.0 / information + 1.0 / first);
}

/// The root mean square of the standard errors.
fn standard_error(precision: &[f64]) -> f64 {
    let total: f64 = precision.iter().map(|precision| 1.0 / precision).sum();
    (total / precision.len() as f64).sqrt()
}
