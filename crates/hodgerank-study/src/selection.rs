//! Which pair a voter is asked next.
//!
//! The most informative pairs come from [`hodgerank::next_pairs`]: each is judged as if those before it had
//! been asked, by rank-one updates of the posterior covariance. They wait in a queue that is filled anew after
//! each fit, so that a request costs no more than a look at its front. If the queue has nothing new for a
//! person, the items that were shown least often are compared.

use std::collections::VecDeque;

use hodgerank::next_pairs::{NextPairsOptions, Posterior, SideBalance, next_pairs};
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::store::Settings;
use crate::store::voters::{Shown, Voter, unordered};

/// Votes between a pair and its repetition, so that nobody remembers the first answer.
const MIN_DISTANCE: usize = 8;

/// Informative pairs, best first.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<(u32, u32)>);

impl Queue {
    /// The best `pairs` pairs, each given that those before it are asked.
    pub(crate) fn fill(
        posterior: &Posterior,
        pairs: usize,
        top: Option<usize>,
        seed: u64,
    ) -> hodgerank::Result<Self> {
        let top = top.filter(|_| posterior.has_votes());
        let options = NextPairsOptions { pairs, top, seed };
        let mut sides = SideBalance::new(posterior.items());
        let found = next_pairs(posterior, &mut sides, None, &options)?;
        Ok(Self(found.pairs.iter().map(|pair| unordered(pair.left, pair.right)).collect()))
    }

    /// Takes the first pair that the voter has not been shown.
    fn take(&mut self, voter: &Voter) -> Option<(u32, u32)> {
        let place = self.0.iter().position(|pair| !voter.asked.contains(pair))?;
        self.0.remove(place)
    }
}

/// The next pair for a voter, with its sides at random; none if there is nothing to ask.
pub(crate) fn next_pair(
    voter: &Voter,
    queue: &mut Queue,
    shown: &[u64],
    settings: &Settings,
    id: i64,
    rng: &mut ChaCha8Rng,
) -> Option<Shown> {
    let again = if rng.random_bool(settings.repeats) { repetition(voter, rng) } else { None };
    let is_repeat = again.is_some();
    let (i, j) = again.or_else(|| queue.take(voter)).or_else(|| least_shown(voter, shown, rng))?;
    let (left, right) = if rng.random() { (i, j) } else { (j, i) };
    Some(Shown { id, left, right, is_repeat })
}

/// A pair that the voter decided a while ago and has seen once.
fn repetition(voter: &Voter, rng: &mut ChaCha8Rng) -> Option<(u32, u32)> {
    let old = voter.votes.len().checked_sub(MIN_DISTANCE)?;
    let pairs = voter.votes[..old].iter().map(|(_, pair)| unordered(pair.left, pair.right));
    let once: Vec<(u32, u32)> = pairs.filter(|pair| !voter.repeated.contains(pair)).collect();
    once.choose(rng).copied()
}

/// An item that was shown least often, with the least often shown partner that is new to the voter.
fn least_shown(voter: &Voter, shown: &[u64], rng: &mut ChaCha8Rng) -> Option<(u32, u32)> {
    let mut order: Vec<(u64, u64, u32)> =
        shown.iter().zip(0..).map(|(times, item)| (*times, rng.random(), item)).collect();
    order.sort_unstable();
    order.iter().enumerate().find_map(|(place, &(_, _, i))| {
        let later = order[place + 1..].iter().map(|&(_, _, j)| unordered(i, j));
        later.into_iter().find(|pair| !voter.asked.contains(pair))
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn settings(repeats: f64) -> Settings {
        Settings { question: String::new(), ties: true, repeats, pairs: 10, until_top: None }
    }

    fn vote_on_all(items: usize, repeats: f64, limit: usize) -> Voter {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (mut voter, mut shown) = (Voter::default(), vec![0; items]);
        let mut queue = Queue::fill(&Posterior::without_votes(items), 7, None, 1).unwrap();
        for id in 0..limit as i64 {
            let settings = settings(repeats);
            let Some(pair) = next_pair(&voter, &mut queue, &shown, &settings, id, &mut rng) else {
                break;
            };
            shown[pair.left as usize] += 1;
            shown[pair.right as usize] += 1;
            let range = (shown.iter().min().unwrap(), shown.iter().max().unwrap());
            assert!(repeats > 0.0 || range.1 - range.0 <= 3, "{shown:?}");
            voter.show(pair);
            voter.pending.clear();
            voter.votes.push((id.to_string(), pair));
        }
        voter
    }

    #[test]
    fn nobody_gets_a_pair_twice_until_all_are_asked() {
        let voter = vote_on_all(8, 0.0, 100);
        assert_eq!((voter.votes.len(), voter.asked.len()), (28, 28));
        let left = voter.votes.iter().filter(|(_, pair)| pair.left < pair.right).count();
        assert!((6..=22).contains(&left), "{left}");
    }

    #[test]
    fn repetitions_come_later_and_once() {
        let voter = vote_on_all(20, 0.2, 100);
        let repeats: Vec<usize> = (0..100).filter(|&k| voter.votes[k].1.is_repeat).collect();
        assert!((10..=30).contains(&repeats.len()), "{}", repeats.len());
        for k in repeats {
            let pair = |k: usize| unordered(voter.votes[k].1.left, voter.votes[k].1.right);
            let times: Vec<usize> = (0..100).filter(|&other| pair(other) == pair(k)).collect();
            assert!(times.len() == 2 && times[1] - times[0] >= MIN_DISTANCE, "{times:?}");
        }
        assert_eq!(voter.asked.len() + voter.repeated.len(), 100);
    }
}
