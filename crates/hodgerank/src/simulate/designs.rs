//! Designs other than random pairs, and an exact number of bad votes.
//!
//! | design | pairs |
//! |---|---|
//! | [`bipartite`] | each item of one cluster with each of the other, some votes on each |
//! | [`neighbourhoods`] | each pixel of an image with all pixels nearby |
//!
//! Careful votes are generated first; [`flip_votes`] and [`add_offsets`] then make a given share of
//! them bad, chosen at random without replacement. Other votes are unchanged.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{SimulatedVote, below, chance, stream};
use crate::error::{Error, Result};

/// Numbers of the random streams; they must not change, so that a seed always gives the same votes.
const COUNTS: u64 = 10;
const NOISE: u64 = 11;
const PLACES: u64 = 12;
const SIGNS: u64 = 13;

/// Votes in which items `0..cluster` beat items `cluster..2·cluster`, with outcome 1. The number of
/// votes on each such pair is uniform on `min_votes..=max_votes`.
///
/// # Errors
/// [`Error::BadOption`] if `cluster` is not from 1 to 10,000 or `max_votes` < `min_votes`.
pub fn bipartite(
    cluster: u32,
    min_votes: u32,
    max_votes: u32,
    seed: u64,
) -> Result<Vec<SimulatedVote>> {
    let bad = |option, value: u32, expected| Error::BadOption {
        option,
        value: value.to_string(),
        expected,
    };
    if cluster == 0 || cluster > 10_000 {
        return Err(bad("cluster", cluster, "a number from 1 to 10000"));
    }
    if max_votes < min_votes {
        return Err(bad("max_votes", max_votes, "a number that is not below `min_votes`"));
    }
    let mut rng = stream(seed, COUNTS);
    let pairs =
        (0..cluster).flat_map(|left| (cluster..2 * cluster).map(move |right| (left, right)));
    let mut votes = Vec::new();
    for (left, right) in pairs {
        let count = min_votes as usize + below(&mut rng, (max_votes - min_votes) as usize + 1);
        let vote = SimulatedVote { annotator: None, left, right, y: 1.0, bad: false };
        votes.extend(std::iter::repeat_n(vote, count));
    }
    Ok(votes)
}

/// Differences between each pixel of an image and all pixels at most `reach` away in each
/// direction, each pair once, with normal noise of standard deviation `sigma`. `grey` holds the image
/// row by row.
///
/// # Errors
/// [`Error::BadOption`] if `width` does not divide the number of pixels, or `sigma` is negative or
/// not finite.
pub fn neighbourhoods(
    grey: &[f64],
    width: usize,
    reach: usize,
    sigma: f64,
    seed: u64,
) -> Result<Vec<SimulatedVote>> {
    if width == 0 || !grey.len().is_multiple_of(width) || grey.len() > u32::MAX as usize {
        let expected = "a width that divides the number of pixels";
        return Err(Error::BadOption { option: "width", value: width.to_string(), expected });
    }
    if !(sigma >= 0.0 && sigma.is_finite()) {
        let expected = "a finite number, 0 or more";
        return Err(Error::BadOption { option: "sigma", value: sigma.to_string(), expected });
    }
    let height = grey.len() / width;
    let mut rng = stream(seed, NOISE);
    let mut votes = Vec::new();
    for here in 0..grey.len() {
        let (x, y) = (here % width, here / width);
        for v in y..height.min(y + reach + 1) {
            for u in x.saturating_sub(reach)..width.min(x + reach + 1) {
                let there = v * width + u;
                if there > here {
                    let epsilon: f64 = StandardNormal.sample(&mut rng);
                    let flow = grey[here] - grey[there] + sigma * epsilon;
                    let (left, right) = (here as u32, there as u32);
                    votes.push(SimulatedVote { annotator: None, left, right, y: flow, bad: false });
                }
            }
        }
    }
    Ok(votes)
}

/// Flips a share of the votes, rounded up to a whole vote. They become bad, except ties.
pub fn flip_votes(votes: &mut [SimulatedVote], share: f64, seed: u64) {
    for vote in sample(votes.len(), share, &mut stream(seed, PLACES)) {
        let vote = &mut votes[vote as usize];
        vote.y = crate::comparison::positive_zero(-vote.y);
        vote.bad = vote.y != 0.0;
    }
}

/// Adds `size` or −`size`, with equal probability, to a share of the votes, rounded up to a whole
/// vote. They become bad.
pub fn add_offsets(votes: &mut [SimulatedVote], share: f64, size: f64, seed: u64) {
    let mut signs = stream(seed, SIGNS);
    for vote in sample(votes.len(), share, &mut stream(seed, PLACES)) {
        let vote = &mut votes[vote as usize];
        vote.y += if chance(&mut signs, 0.5) { size } else { -size };
        vote.bad = true;
    }
}

/// A random subset, in ascending order.
fn sample(count: usize, share: f64, rng: &mut ChaCha8Rng) -> Vec<u32> {
    // 0.1 · 100 may be rounded to a number just above 10, which must not add a vote.
    let wanted = (share * count as f64 - 1e-9).ceil().clamp(0.0, count as f64) as usize;
    let mut places: Vec<u32> = (0..count as u32).collect();
    for k in 0..wanted {
        places.swap(k, k + below(rng, count - k));
    }
    places.truncate(wanted);
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_flipped_votes_is_exact() {
        let mut votes = bipartite(20, 5, 100, 3).unwrap();
        assert!(votes.iter().all(|vote| vote.left < 20 && (20..40).contains(&vote.right)));
        assert!((400 * 45..400 * 60).contains(&votes.len()));
        flip_votes(&mut votes, 0.1, 3);
        let bad = votes.iter().filter(|vote| vote.bad).count();
        assert_eq!(bad, votes.len().div_ceil(10));
        assert!(votes.iter().all(|vote| vote.bad == (vote.y == -1.0)));
        assert!(bipartite(0, 5, 15, 0).is_err() && bipartite(3, 5, 4, 0).is_err());
    }

    #[test]
    fn the_image_of_the_paper_has_its_number_of_comparisons() {
        let grey = vec![0.5; 181 * 162];
        let mut votes = neighbourhoods(&grey, 181, 2, 0.05, 1).unwrap();
        assert_eq!(votes.len(), 346_737);
        add_offsets(&mut votes, 0.1, 0.5, 1);
        let (bad, good): (Vec<_>, Vec<_>) = votes.iter().partition(|vote| vote.bad);
        assert_eq!(bad.len(), 34_674);
        let mean = |v: &[&SimulatedVote]| v.iter().map(|v| v.y.abs()).sum::<f64>() / v.len() as f64;
        assert!((mean(&bad) - 0.5).abs() < 0.01 && mean(&good) < 0.05);
        assert!(neighbourhoods(&grey, 7, 2, 0.05, 1).is_err());
    }
}
