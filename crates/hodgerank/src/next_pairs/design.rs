//! Pairs for items about which nothing is known.
//!
//! A cycle through all items in random order connects them with one pair for each; the union of a few such
//! cycles is close to the best graph with as many pairs. No pair is repeated before all have been asked.

use std::collections::HashSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The items in random order.
pub(super) fn shuffled(items: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..items as u32).collect();
    order.shuffle(rng);
    order
}

/// `pairs` pairs of two or more items, which connect all items if there are enough of them: at least one
/// fewer than items.
pub(super) fn connected(items: usize, pairs: usize, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    let all = items * (items - 1) / 2;
    let mut chosen = Vec::with_capacity(pairs);
    while chosen.len() < pairs {
        let wanted = (pairs - chosen.len()).min(all);
        chosen.extend(distinct(items, wanted, rng));
    }
    chosen
}

/// As many different pairs, no more than there are.
fn distinct(items: usize, pairs: usize, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
    let all = items * (items - 1) / 2;
    let mut known: HashSet<(u32, u32)> = HashSet::with_capacity(pairs);
    let mut chosen = Vec::with_capacity(pairs);
    let mut add = |i: u32, j: u32, chosen: &mut Vec<(u32, u32)>| {
        if chosen.len() < pairs && known.insert((i.min(j), i.max(j))) {
            chosen.push((i, j));
        }
    };
    // Random cycles rarely hit the last of the pairs that are left.
    while chosen.len() < pairs.min(all / 2 + 1) || chosen.len() + 1 < items.min(pairs + 1) {
        let order = shuffled(items, rng);
        for k in 0..items {
            add(order[k], order[(k + 1) % items], &mut chosen);
        }
    }
    if chosen.len() < pairs {
        let mut rest: Vec<(u32, u32)> =
            (0..items as u32).flat_map(|i| (i + 1..items as u32).map(move |j| (i, j))).collect();
        rest.shuffle(rng);
        rest.into_iter().for_each(|(i, j)| add(i, j, &mut chosen));
    }
    // Which item comes first means nothing.
    for pair in &mut chosen {
        if rng.random() {
            *pair = (pair.1, pair.0);
        }
    }
    chosen
}
